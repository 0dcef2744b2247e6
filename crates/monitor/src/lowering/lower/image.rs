//! The words of a new table.

use super::events::row_word;
use super::{Lowering, Scalar};
use crate::lowering::table::last_word;
use crate::lowering::{HeaderWord, Layout, SlotWord, StripeWord, WordKind};
use juror_event::{EventId, Value};
use juror_language::StateId;

/// The number of slots of a stripe in a new table.
pub(in crate::lowering) const SLOTS_FIRST: u32 = 16;

/// Returns the words that are not 0: the offset in bytes, and the word.
pub(super) fn of(lowering: &Lowering<'_>) -> Vec<(u64, u64)> {
    let layout = lowering.layout;
    let mut words: Vec<(u64, u64)> = Vec::new();
    for word in [HeaderWord::Places, HeaderWord::Live, HeaderWord::Peak] {
        words.push((word.offset().into(), 1));
    }
    let initial = lowering.behaviour.initial();
    words.push((u64::from(layout.occupied) + u64::from(initial.0) * 8, 1));
    let of_initial = u64::from(layout.bits) + u64::from(initial.0 / 64) * 8;
    words.push((of_initial, 1 << (initial.0 % 64)));
    for state in 0..layout.sizes.states {
        let at = u64::from(layout.state_bit) + u64::from(state) * 8;
        words.push((at, 1 << (state % 64)));
    }
    for (event, &rows) in (0..).zip(&layout.sizes.rows) {
        for row in 0..rows {
            let Some(start) = layout.row(event, row) else {
                continue;
            };
            for state in 0..layout.sizes.states {
                let word = row_word(lowering, EventId(event), row, StateId(state));
                words.push((u64::from(start) + u64::from(state) * 8, word));
            }
        }
    }
    if layout.sizes.parameters > 0 {
        write_slots(
            layout,
            layout.end.into(),
            (SLOTS_FIRST, 1),
            &mut |at, word| {
                words.push((at, word));
            },
        );
    }
    words
}

/// Gives every stripe this many empty slots behind `start`; returns the end. The list of
/// free places comes first, with room for the places that exist and those of as many
/// slices. The words of the slots are not written.
pub(in crate::lowering) fn write_slots(
    layout: &Layout,
    start: u64,
    (slots, places): (u32, u64),
    store: &mut impl FnMut(u64, u64),
) -> u64 {
    store(HeaderWord::Free.offset().into(), start);
    let places = places + u64::from(slots) * u64::from(layout.sizes.stripes);
    let mut at = (start + places * 8).next_multiple_of(64);
    for stripe in 0..layout.sizes.stripes {
        let mut set = |word: StripeWord, value: u64| {
            store(layout.stripe(stripe) + u64::from(word.offset()), value);
        };
        set(StripeWord::Slots, at);
        set(StripeWord::Mask, u64::from(slots) - 1);
        set(StripeWord::Limit, u64::from(slots) / 8 * 7);
        at += u64::from(slots) << layout.slot_shift;
    }
    at
}

/// Writes the base; returns the values that are no words of their kind, and the variables
/// that have them.
pub(super) fn write_base(
    lowering: &Lowering<'_>,
    words: &mut Vec<(u64, u64)>,
) -> (Vec<Value>, u64) {
    let layout = lowering.layout;
    let base = u64::from(layout.base);
    let mut others = Vec::new();
    let mut mask = 0_u64;
    let variables = lowering.plan.property.variables.iter();
    for (slot, (variable, kind)) in (0_u32..).zip(variables.zip(lowering.kinds)) {
        let word = kind.word_kind().word_of(&variable.initial);
        let word = word.unwrap_or_else(|| {
            mask |= 1 << (slot & 63);
            others.push(variable.initial.clone());
            others.len() as u64 - 1
        });
        words.push((base + u64::from(layout.variable(slot)), word));
    }
    let initial = lowering.behaviour.initial();
    let at = |word: SlotWord| base + u64::from(word.offset());
    words.push((at(SlotWord::Last), last_word(initial, None, mask != 0)));
    (others, mask)
}

impl Scalar {
    /// Returns the kind of the words of such a variable.
    pub(super) fn word_kind(self) -> WordKind {
        match self {
            Scalar::Int => WordKind::Signed,
            Scalar::Address => WordKind::Address,
            Scalar::Bool => WordKind::Boolean,
        }
    }
}
