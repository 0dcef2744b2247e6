//! Which functions of a unit contain inlined copies of which others.
//!
//! The search for the copies of one function walks the functions that contain them. Without
//! this table it would walk the whole unit for each name, and a program that is one large
//! unit as often as names are asked for.

use super::{DebugInfo, DieRef, Visit};
use crate::names::tail as tail_of;
use rustc_hash::FxHashMap;

/// The inlined copies in the functions of a unit.
#[derive(Debug, Default)]
pub(crate) struct Inlinings {
    /// By the last component of the callee's name.
    by_tail: FxHashMap<Box<str>, Vec<Inlining>>,
}

/// The copies of one function.
#[derive(Debug)]
pub(crate) struct Inlining {
    /// The abstract origin of the copies.
    pub origin: DieRef,
    /// The functions that contain them, in the order of the unit.
    pub callers: Vec<DieRef>,
}

impl Inlinings {
    /// Returns the functions that are inlined in the unit and whose name has the last
    /// component of a name as written.
    pub fn like(&self, written: &str) -> &[Inlining] {
        let found = self.by_tail.get(tail_of(written));
        found.map_or(&[], Vec::as_slice)
    }
}

/// Reads the inlined copies of a unit.
pub(super) fn read(info: &DebugInfo, unit: u32) -> Inlinings {
    let mut callers: FxHashMap<DieRef, Vec<DieRef>> = FxHashMap::default();
    let functions = info.facts(unit).map(|facts| facts.function_dies());
    for caller in functions.into_iter().flatten() {
        info.walk(caller, |_, _, entry| {
            if entry.tag() == gimli::DW_TAG_inlined_subroutine
                && let Some(origin) = info.origin(unit, entry)
            {
                let of_origin = callers.entry(origin).or_default();
                if of_origin.last() != Some(&caller) {
                    of_origin.push(caller);
                }
            }
            Visit::Descend
        });
    }
    let mut by_tail: FxHashMap<Box<str>, Vec<Inlining>> = FxHashMap::default();
    for (origin, callers) in callers {
        if let Some(name) = info.abstract_name(origin) {
            let of_tail = by_tail.entry(tail_of(name).into()).or_default();
            of_tail.push(Inlining { origin, callers });
        }
    }
    for of_tail in by_tail.values_mut() {
        of_tail.sort_unstable_by_key(|inlining| inlining.origin);
    }
    Inlinings { by_tail }
}
