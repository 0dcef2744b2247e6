//! The table: one range of 64-bit words, addressed by byte offsets.
//!
//! ```text
//! header | constants | base slot | stripes | journals | ring | free places, slots
//! ```
//!
//! The last part moves when the table grows ([`HeaderWord::Free`], [`StripeWord::Slots`]
//! and [`StripeWord::Mask`] say where it is); everything else stays, so its offsets are
//! constants of emitted code. Only the general step moves it, while no thread is in a
//! step.
//!
//! - *Constants* are written once. For each event there are [`Layout::row`]s: by state,
//!   what the event does.
//! - The *base slot* is that of the slice that binds nothing. It has no keys, and is the
//!   only one without parameters.
//! - A slice's *stripe* is chosen by the hash of its keys, and has a lock, counts, and a
//!   part of the slots. Slots are searched linearly from the hash; a slot with `Id` 0 is
//!   empty and ends the search, one with `Id` [`Layout::GONE`] was removed and does not.
//! - The *ring* has one record for each transition that is remembered.

/// The words of the header, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HeaderWord {
    /// The lock of the table.
    Lock,
    /// The number of events that [`HeaderWord::Drawn`] does not count.
    EventsBefore,
    /// The number of records that [`HeaderWord::Drawn`] does not count.
    RecordsBefore,
    /// The number of places ever given to slices, including the base.
    Places,
    /// The number of live slices, including the base.
    Live,
    /// The maximum number of live slices.
    Peak,
    /// The byte offset of the list of free places: identifiers for their next slices.
    Free,
    /// The number of free places; the last of the list is the next to be used.
    FreeCount,
    /// The number of events in the upper half, that of records in the lower one, so that a
    /// step draws both at once ([`Layout::EVENT_DRAWN`]). It has a cache line for itself,
    /// since every step changes it.
    Drawn,
}

impl HeaderWord {
    /// The number of words: two cache lines.
    pub const COUNT: u32 = 16;

    /// Returns the offset from the table, in bytes.
    pub fn offset(self) -> u32 {
        self as u32 * 8
    }
}

/// The first words of a stripe; the counts of states and of events follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StripeWord {
    /// The lock of the stripe and its slots.
    Lock,
    /// The byte offset of the stripe's slots.
    Slots,
    /// The number of the stripe's slots, minus 1; the number is a power of two.
    Mask,
    /// The number of slots that are not empty.
    Used,
    /// The number of slots that may be in use.
    Limit,
}

impl StripeWord {
    /// The number of words.
    pub const COUNT: u32 = 5;

    /// Returns the offset from the stripe, in bytes.
    pub fn offset(self) -> u32 {
        self as u32 * 8
    }
}

/// The first words of a slot; the keys and the variables follow. With one of each a slot
/// is half a cache line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SlotWord {
    /// The identifier of the slice; 0 if the slot is empty, and for the base.
    Id,
    /// The state in the lower 16 bits, with [`Layout::HAS_OTHERS`]; above them the number of
    /// the last record modulo 2⁴⁸, all ones if there is none.
    Last,
}

impl SlotWord {
    /// The number of words.
    pub const COUNT: u32 = 2;

    /// Returns the offset from the slot, in bytes.
    pub fn offset(self) -> u32 {
        self as u32 * 8
    }
}

/// The first words of a journal; the variables and the captured values follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JournalWord {
    /// 0, or [`super::Journaled::word`] while the step must be finished.
    Committed,
    /// The number of the thread, written when the journal is given to it.
    Thread,
    /// The code address of the event.
    Address,
    /// The byte offset of the slot.
    Slot,
    /// The identifier of the slice.
    Id,
    /// 1 if the slice is new.
    Born,
    /// The event and the states before and after: [`JournalWord::transition`].
    Transition,
    /// [`SlotWord::Last`] before the step; that of the parent for a new slice.
    Previous,
    /// The word [`HeaderWord::Drawn`] with this event, and its record; 0 until they are
    /// drawn.
    Drawn,
    /// The captures that were not made; bit n is slot n. It is not written by an event
    /// whose captures are always made.
    Absent,
    /// The number of occurrences of the event in the stripe, with this one.
    Occurrences,
}

impl JournalWord {
    /// The number of words.
    pub const COUNT: u32 = 11;

    /// Returns the offset from the journal, in bytes.
    pub fn offset(self) -> u32 {
        self as u32 * 8
    }
}

/// The first words of a record; the captured values follow. With three of them it fills a
/// cache line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecordWord {
    /// The number of the record plus 1, modulo 2³², in the upper half, and the thread. It is
    /// stored last: while the record is written, it is that of a record that is forgotten.
    Owner,
    /// [`JournalWord::Previous`]: the number of the slice's previous record is in the upper
    /// 48 bits.
    Previous,
    /// The number of the event.
    Sequence,
    /// The event and the states before and after: [`JournalWord::transition`]. If no event
    /// has more than [`Layout::MASKED_MAX`] captures, the upper bytes are
    /// [`RecordWord::Absent`] and [`RecordWord::Others`].
    Transition,
    /// The code address.
    Address,
    /// The values that were not captured; bit n is slot n.
    Absent,
    /// The values whose words are numbers in the table of other values; bit n is slot n.
    Others,
}

impl RecordWord {
    /// Returns the offset from the record, in bytes.
    pub fn offset(self) -> u32 {
        self as u32 * 8
    }
}

/// The sizes from which a layout follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sizes {
    /// The number of slice parameters.
    pub parameters: u32,
    /// The number of variables.
    pub variables: u32,
    /// The number of states.
    pub states: u32,
    /// The maximum number of captures of an event.
    pub captures: u32,
    /// By event: the number of rows.
    pub rows: Vec<u32>,
    /// The number of stripes, a power of two.
    pub stripes: u32,
    /// The number of journals.
    pub journals: u32,
    /// The number of records that are remembered.
    pub records: u32,
}

/// The offsets of the parts of a table, in bytes, and the sizes of their elements, as
/// powers of two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// The sizes from which the layout follows.
    pub sizes: Sizes,
    /// By state: the number of stripes with slices in it, plus 1 for the base. Unused
    /// without parameters.
    pub occupied: u32,
    /// One bit for each state that has slices, 64 to a word.
    pub bits: u32,
    /// By state: its bit in its word.
    pub state_bit: u32,
    /// By event: its first row.
    rows: Vec<u32>,
    /// The slot of the base.
    pub base: u32,
    /// The first stripe.
    pub stripes: u32,
    /// The first journal.
    pub journals: u32,
    /// The first record.
    pub ring: u32,
    /// The end of the parts that do not move.
    pub end: u32,
    /// The size of a stripe is 2 to this power, in bytes.
    pub stripe_shift: u8,
    /// The size of a slot.
    pub slot_shift: u8,
    /// The size of a journal.
    pub journal_shift: u8,
    /// The size of a record.
    pub record_shift: u8,
    /// The number of records for which the ring has room, minus 1; at least that of the
    /// remembered ones.
    pub ring_mask: u32,
}

fn shift_of(words: u32) -> u8 {
    // At most 2^31 bytes; sizes beyond are not lowered.
    (words * 8).next_power_of_two().trailing_zeros() as u8
}

/// Returns the number of words of a record before the captured values.
fn record_values(sizes: &Sizes) -> u32 {
    match sizes.captures {
        0..=Layout::MASKED_MAX => RecordWord::Absent as u32,
        _ => RecordWord::Others as u32 + 1,
    }
}

impl Layout {
    /// In [`SlotWord::Last`]: the bits of the state.
    pub const STATE: u64 = 0x7fff;
    /// In [`SlotWord::Last`]: words of variables are numbers in the table of other values.
    pub const HAS_OTHERS: u64 = 0x8000;
    /// In [`SlotWord::Last`]: the first bit of the number of the record.
    pub const RECORD_SHIFT: u32 = 16;
    /// The identifier of a slot whose slice was removed.
    pub const GONE: u64 = u64::MAX;
    /// In a row: the next state.
    pub const TARGET: u64 = 0xff_ffff;
    /// In a row: the event does nothing in this state.
    pub const IGNORED: u64 = 1 << 24;
    /// In a row: guards or updates must be evaluated.
    pub const GUARDED: u64 = 1 << 25;
    /// In a row: the event needs a general step in this state, for the [`super::Why`]
    /// in the low half.
    pub const GATE: u64 = 1 << 26;
    /// In [`HeaderWord::Drawn`]: one event.
    pub const EVENT_DRAWN: u64 = 1 << 32;
    /// In [`HeaderWord::Drawn`]: one event and one record.
    pub const RECORD_DRAWN: u64 = Layout::EVENT_DRAWN | 1;
    /// The maximum number of captures whose masks are in [`RecordWord::Transition`].
    pub const MASKED_MAX: u32 = 8;
    /// In [`RecordWord::Transition`]: the first bit of the captures that were not made.
    pub const ABSENT_SHIFT: u32 = 48;
    /// In [`RecordWord::Transition`]: the first bit of the captures that are other values.
    pub const OTHERS_SHIFT: u32 = 56;
    /// Values of parameters from this number on, and those that are no number, are kept
    /// in a table of the debugger, and have this bit in their key.
    pub const OTHER: u64 = 1 << 63;

    /// Computes a layout; `None` if its constant parts exceed 2 GiB.
    pub fn new(sizes: Sizes) -> Option<Layout> {
        let ring = match sizes.records {
            0 => 0,
            records => records.checked_next_power_of_two()?,
        };
        let mut at = u64::from(HeaderWord::COUNT);
        let mut take = |words: u64| {
            let start = at;
            at += words;
            u32::try_from(start * 8).ok().filter(|at| at >> 31 == 0)
        };
        let states = u64::from(sizes.states);
        let occupied = take(states)?;
        let bits = take(states.div_ceil(64))?;
        let state_bit = take(states)?;
        let rows: Option<Vec<u32>> = sizes
            .rows
            .iter()
            .map(|&rows| take(u64::from(rows) * states))
            .collect();
        let of_slot = SlotWord::COUNT + sizes.parameters + sizes.variables;
        let of_stripe = StripeWord::COUNT + sizes.states + sizes.rows.len() as u32;
        let of_journal = JournalWord::COUNT + sizes.variables + sizes.captures;
        let of_record = record_values(&sizes) + sizes.captures;
        let shifts = [of_slot, of_stripe, of_journal, of_record].map(shift_of);
        let [slot_shift, stripe_shift, journal_shift, record_shift] = shifts;
        // The parts begin at cache lines.
        let mut array = |count: u64, shift: u8| {
            take(7)?;
            let start = take((count << shift) / 8)?;
            Some(start / 64 * 64)
        };
        let base = array(1, slot_shift)?;
        let stripes = array(u64::from(sizes.stripes), stripe_shift)?;
        let journals = array(u64::from(sizes.journals), journal_shift)?;
        let ring_start = array(u64::from(ring), record_shift)?;
        let end = array(1, 6)?;
        Some(Layout {
            rows: rows?,
            sizes,
            occupied,
            bits,
            state_bit,
            base,
            stripes,
            journals,
            ring: ring_start,
            end,
            stripe_shift,
            slot_shift,
            journal_shift,
            record_shift,
            ring_mask: ring.saturating_sub(1),
        })
    }

    /// Returns true if all steps take the same lock, that of the first stripe: nothing
    /// else changes then while it is held, and no operation needs to be atomic.
    pub fn has_one_lock(&self) -> bool {
        self.sizes.parameters == 0 || self.sizes.stripes == 1
    }

    /// Returns the offset of a row: by state, one of `TARGET`, `IGNORED`, `GUARDED` and
    /// `GATE` words.
    pub fn row(&self, event: u16, row: u32) -> Option<u32> {
        let first = self.rows.get(usize::from(event))?;
        Some(first + row * self.sizes.states * 8)
    }

    /// Returns the offset of a journal.
    pub fn journal(&self, number: u32) -> u64 {
        u64::from(self.journals) + (u64::from(number) << self.journal_shift)
    }

    /// Returns the offset of a stripe.
    pub fn stripe(&self, number: u32) -> u64 {
        u64::from(self.stripes) + (u64::from(number) << self.stripe_shift)
    }

    /// Returns the offset of the record with this number.
    pub fn record(&self, number: u64) -> u64 {
        u64::from(self.ring) + ((number & u64::from(self.ring_mask)) << self.record_shift)
    }

    /// Returns the offset of a key in its slot.
    pub fn key(&self, parameter: u32) -> u32 {
        (SlotWord::COUNT + parameter) * 8
    }

    /// Returns the offset of a variable in its slot.
    pub fn variable(&self, variable: u32) -> u32 {
        (SlotWord::COUNT + self.sizes.parameters + variable) * 8
    }

    /// Returns the offset of the count of slices in state 0 in a stripe; those of the
    /// other states follow.
    pub fn stripe_states(&self) -> u32 {
        StripeWord::COUNT * 8
    }

    /// Returns the offset of the number of occurrences of an event in a stripe.
    pub fn occurrences(&self, event: u16) -> u32 {
        (StripeWord::COUNT + self.sizes.states + u32::from(event)) * 8
    }

    /// Returns the offset of the new value of a variable in a journal.
    pub fn journal_variable(&self, variable: u32) -> u32 {
        (JournalWord::COUNT + variable) * 8
    }

    /// Returns the offset of a captured value in a journal.
    pub fn journal_value(&self, slot: u32) -> u32 {
        (JournalWord::COUNT + self.sizes.variables + slot) * 8
    }

    /// Returns the offset of a captured value in a record.
    pub fn record_value(&self, slot: u32) -> u32 {
        (record_values(&self.sizes) + slot) * 8
    }

    /// Returns true if the masks of a record are in [`RecordWord::Transition`].
    pub fn has_packed_masks(&self) -> bool {
        self.sizes.captures <= Layout::MASKED_MAX
    }
}

impl JournalWord {
    /// Packs a transition into the lower three quarters of a word; states beyond 16 bits are
    /// not lowered.
    pub fn transition(event: u16, from: u32, to: u32) -> u64 {
        u64::from(event) << 32 | u64::from(from & 0xffff) << 16 | u64::from(to & 0xffff)
    }

    /// Unpacks a transition: the event, the state before and the state after.
    pub fn parts(transition: u64) -> (u16, u32, u32) {
        let state = |word: u64| (word & 0xffff) as u32;
        (
            (transition >> 32) as u16,
            state(transition >> 16),
            state(transition),
        )
    }
}
