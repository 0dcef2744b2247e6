//! The table as seen by general steps, which run while no thread is in a step.

use super::contents::Contents;
use super::lower::{SLOTS_FIRST, write_slots};
use super::{HeaderWord, Layout, SlotWord, StripeWord, WordMemory};
use crate::hashing;
use juror_language::StateId;
use std::collections::HashMap;

/// The maximum number of attempts to read the occupied states twice without a change.
const READS_MAX: u32 = 64;

/// The maximum number of slots for which room is reserved by a count in the table, which the
/// program may have overwritten.
const RESERVED_MAX: usize = 1 << 20;

/// A table in memory, with its layout.
#[derive(Debug, Clone)]
pub(super) struct Table<M> {
    pub layout: Layout,
    pub memory: M,
    /// By identifier of a slice with [`Layout::HAS_OTHERS`]: the variables whose words are
    /// numbers in the table of other values; bit n is variable n. Only general steps
    /// change them.
    others: HashMap<u64, u64>,
}

/// The place of a slice in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Slot {
    pub id: u64,
    /// The byte offset.
    pub at: u64,
    /// The stripe; `None` for the base.
    pub stripe: Option<u32>,
}

impl<M: WordMemory> Table<M> {
    /// Writes a new table into memory of zeros; `None` if there is no room.
    pub(super) fn new(layout: &Layout, mut memory: M, image: &[(u64, u64)]) -> Option<Table<M>> {
        let mut end = u64::from(layout.end);
        if layout.sizes.parameters > 0 {
            end = write_slots(layout, end, (SLOTS_FIRST, 1), &mut |_, _| {});
        }
        if !memory.grow(end) {
            return None;
        }
        for (at, word) in image {
            memory.store(*at, *word);
        }
        Some(Table {
            layout: layout.clone(),
            memory,
            others: HashMap::new(),
        })
    }

    pub(super) fn header(&self, word: HeaderWord) -> u64 {
        self.memory.load(word.offset().into())
    }

    pub(super) fn set_header(&mut self, word: HeaderWord, value: u64) {
        self.memory.store(word.offset().into(), value);
    }

    pub(super) fn base(&self) -> Slot {
        Slot {
            id: 0,
            at: self.layout.base.into(),
            stripe: None,
        }
    }

    pub(super) fn word(&self, slot: Slot, word: SlotWord) -> u64 {
        self.memory.load(slot.at + u64::from(word.offset()))
    }

    pub(super) fn set_word(&mut self, slot: Slot, word: SlotWord, value: u64) {
        self.memory.store(slot.at + u64::from(word.offset()), value);
    }

    pub(super) fn state(&self, slot: Slot) -> StateId {
        StateId((self.word(slot, SlotWord::Last) & Layout::STATE) as u32)
    }

    pub(super) fn last_record(&self, slot: Slot) -> Option<u64> {
        self.record_in(self.word(slot, SlotWord::Last))
    }

    /// Returns the number of the record in such a word.
    pub(super) fn record_in(&self, last: u64) -> Option<u64> {
        let none = u64::MAX >> Layout::RECORD_SHIFT;
        let number = last >> Layout::RECORD_SHIFT;
        // The words have the lower bits; no record that is remembered is 2^48 records old.
        let made = self.made();
        let age = made.wrapping_sub(number) & none;
        (number != none).then_some(made.wrapping_sub(age))
    }

    /// Sets the state and the last record of a slice, and the variables that have other
    /// values.
    pub(super) fn set_last(
        &mut self,
        slot: Slot,
        state: StateId,
        record: Option<u64>,
        others: u64,
    ) {
        self.set_word(slot, SlotWord::Last, last_word(state, record, others != 0));
        self.set_others(slot.id, others);
    }

    /// Remembers the variables of a slice that have other values.
    pub(super) fn set_others(&mut self, id: u64, others: u64) {
        match others {
            0 => self.others.remove(&id),
            _ => self.others.insert(id, others),
        };
    }

    /// Returns the variables of a slice that have other values; bit n is variable n.
    pub(super) fn others(&self, slot: Slot) -> u64 {
        match self.word(slot, SlotWord::Last) & Layout::HAS_OTHERS {
            0 => 0,
            _ => self.others.get(&slot.id).copied().unwrap_or(0),
        }
    }

    /// Forgets all slices' variables that have other values.
    pub(super) fn forget_others(&mut self) {
        self.others.clear();
    }

    pub(super) fn keys(&self, slot: Slot) -> Vec<u64> {
        self.key_words(slot).collect()
    }

    pub(super) fn key_words(&self, slot: Slot) -> impl Iterator<Item = u64> + '_ {
        let keys = 0..self.layout.sizes.parameters;
        keys.map(move |it| self.memory.load(slot.at + u64::from(self.layout.key(it))))
    }

    fn stripe_word(&self, stripe: u32, word: StripeWord) -> u64 {
        self.memory
            .load(self.layout.stripe(stripe) + u64::from(word.offset()))
    }

    fn stripe_of(&self, hash: u64) -> u32 {
        (hash >> 32) as u32 & (self.layout.sizes.stripes - 1)
    }

    /// Returns the stripe of a slot whose keys are written, and which may be empty; the
    /// first one for the base.
    pub(super) fn stripe_at(&self, slot: Slot) -> u64 {
        let stripe = match self.layout.sizes.parameters {
            0 => 0,
            _ => self.stripe_of(hash_of(&self.keys(slot))),
        };
        self.layout.stripe(stripe)
    }

    /// Returns the slot with these keys, or the empty one in which a search for them
    /// ends (its `id` is 0).
    pub(super) fn find(&self, keys: &[u64]) -> Slot {
        self.probe(hash_of(keys), |slot| {
            slot.id == 0 || slot.id != Layout::GONE && self.key_words(slot).eq(keys.iter().copied())
        })
    }

    /// Returns the first slot that ends a search for keys with this hash.
    fn probe(&self, hash: u64, ends: impl Fn(Slot) -> bool) -> Slot {
        let stripe = self.stripe_of(hash);
        let mask = self.stripe_word(stripe, StripeWord::Mask);
        let slots = self.stripe_word(stripe, StripeWord::Slots);
        let mut slot = self.base();
        for distance in 0..=mask {
            let number = hash.wrapping_add(distance) & mask;
            slot = Slot {
                id: 0,
                at: slots + (number << self.layout.slot_shift),
                stripe: Some(stripe),
            };
            slot.id = self.word(slot, SlotWord::Id);
            if ends(slot) {
                break;
            }
        }
        slot
    }

    /// Returns all slices, the base first, in the order of their places.
    pub(super) fn live(&self) -> Vec<Slot> {
        let mut live = Vec::new();
        self.each(|slot| live.push(slot));
        live.sort_unstable_by_key(|slot| slot.id as u32);
        live
    }

    /// Returns the words of a slice that tell what an event does to it: its state and its
    /// variables.
    pub(super) fn content(&self, slot: Slot) -> Vec<u64> {
        self.content_words(slot).collect()
    }

    /// Returns whether the state and the variables of a slice are these words.
    pub(super) fn has_content(&self, slot: Slot, words: &[u64]) -> bool {
        self.content_words(slot).eq(words.iter().copied())
    }

    fn content_words(&self, slot: Slot) -> impl Iterator<Item = u64> + '_ {
        let first = [u64::from(self.state(slot).0), self.others(slot)].into_iter();
        let variables = (0..self.layout.sizes.variables).map(move |variable| {
            let at = slot.at + u64::from(self.layout.variable(variable));
            self.memory.load(at)
        });
        first.chain(variables)
    }

    /// Visits all slices, the base first, in the order of their slots.
    pub(super) fn each(&self, mut visit: impl FnMut(Slot)) {
        visit(self.base());
        if self.layout.sizes.parameters == 0 {
            return;
        }
        for stripe in 0..self.layout.sizes.stripes {
            let slots = self.stripe_word(stripe, StripeWord::Slots);
            for number in 0..=self.stripe_word(stripe, StripeWord::Mask) {
                let at = slots + (number << self.layout.slot_shift);
                let id = self.memory.load(at + u64::from(SlotWord::Id.offset()));
                if id != 0 && id != Layout::GONE {
                    let stripe = Some(stripe);
                    visit(Slot { id, at, stripe });
                }
            }
        }
    }

    /// Returns the slot of a slice.
    pub(super) fn slot_of(&self, id: u64) -> Option<Slot> {
        self.live().into_iter().find(|slot| slot.id == id)
    }

    /// Returns the words with one bit for each state. Threads may be in steps: several
    /// words are read until nothing has changed between two times, since a slice that
    /// moves between states of different words might be missed in both.
    pub(super) fn occupied(&self) -> Vec<u64> {
        let count = self.layout.sizes.states.div_ceil(64);
        let read = || -> Vec<u64> {
            let words = 0..count;
            words
                .map(|it| self.memory.load(u64::from(self.layout.bits + it * 8)))
                .collect()
        };
        let mut occupied = read();
        for _ in 0..READS_MAX {
            if count < 2 {
                break;
            }
            let again = read();
            if again == occupied {
                break;
            }
            occupied = again;
        }
        occupied
    }

    /// Counts a slice that enters a state, or leaves it.
    pub(super) fn count(&mut self, slot: Slot, state: StateId, enters: bool) {
        let (step, edge) = if enters { (1, 1) } else { (u64::MAX, 0) };
        let of_state = u64::from(state.0) * 8;
        if self.layout.sizes.parameters > 0 {
            if let Some(stripe) = slot.stripe {
                let counts = self.layout.stripe(stripe) + u64::from(self.layout.stripe_states());
                let before = self.memory.xadd(counts + of_state, step);
                if before.wrapping_add(step) != edge {
                    return;
                }
            }
            let occupied = u64::from(self.layout.occupied) + of_state;
            if self.memory.xadd(occupied, step).wrapping_add(step) != edge {
                return;
            }
        }
        let word = u64::from(self.layout.bits) + u64::from(state.0 / 64) * 8;
        let flipped = self.memory.load(word) ^ 1 << (state.0 % 64);
        self.memory.store(word, flipped);
    }

    /// Makes an empty slot one of a new slice, whose state, keys and variables are
    /// written by the caller; returns it.
    pub(super) fn bear(&mut self, mut slot: Slot) -> Slot {
        let free = self.header(HeaderWord::FreeCount);
        slot.id = match free.checked_sub(1) {
            Some(last) => {
                self.set_header(HeaderWord::FreeCount, last);
                self.memory.load(self.header(HeaderWord::Free) + last * 8)
            }
            None => {
                let place = self.header(HeaderWord::Places);
                self.set_header(HeaderWord::Places, place + 1);
                place
            }
        };
        self.set_word(slot, SlotWord::Id, slot.id);
        if let Some(stripe) = slot.stripe {
            let used = self.layout.stripe(stripe) + u64::from(StripeWord::Used.offset());
            self.memory.xadd(used, 1);
        }
        let live = self.header(HeaderWord::Live) + 1;
        self.set_header(HeaderWord::Live, live);
        let peak = self.header(HeaderWord::Peak).max(live);
        self.set_header(HeaderWord::Peak, peak);
        slot
    }

    /// Removes a slice from its slot.
    pub(super) fn remove(&mut self, slot: Slot) {
        self.set_others(slot.id, 0);
        self.set_word(slot, SlotWord::Id, Layout::GONE);
        let free = self.header(HeaderWord::FreeCount);
        let at = self.header(HeaderWord::Free) + free * 8;
        // The next slice in this place gets another identifier.
        let next = (slot.id >> 32).wrapping_add(1) << 32 | slot.id & 0xffff_ffff;
        self.memory.store(at, next);
        self.set_header(HeaderWord::FreeCount, free + 1);
        let live = self.header(HeaderWord::Live);
        self.set_header(HeaderWord::Live, live.saturating_sub(1));
    }

    /// Returns true if the stripe of the slot has no room for another slice.
    pub(super) fn is_full(&self, slot: Slot) -> bool {
        slot.stripe.is_some_and(|stripe| {
            self.stripe_word(stripe, StripeWord::Used)
                >= self.stripe_word(stripe, StripeWord::Limit)
        })
    }

    /// Returns the words of all slices except the base, in the order of their slots.
    pub(super) fn contents(&self) -> Contents {
        let count = usize::try_from(self.header(HeaderWord::Live)).unwrap_or(0);
        let mut contents = self.no_contents(count.min(RESERVED_MAX));
        self.each(|slot| {
            if slot.stripe.is_some() {
                contents.push_words(|offset| self.memory.load(slot.at + offset));
            }
        });
        contents
    }

    /// Returns the contents of no slots, with room for those of this many.
    pub(super) fn no_contents(&self, count: usize) -> Contents {
        Contents::new(&self.layout, count)
    }

    /// Puts slices, which are all except the base, into empty slots: as many that no
    /// stripe is more than three quarters full. Returns false if there is no room.
    pub(super) fn rebuild(&mut self, contents: &Contents) -> bool {
        let sizes = &self.layout.sizes;
        let hashes = contents
            .slots()
            .map(|words| hash_of(contents.keys_of(words)));
        let hashes: Vec<u64> = hashes.collect();
        let mut members = vec![0_u64; sizes.stripes as usize];
        for hash in &hashes {
            if let Some(count) = members.get_mut(self.stripe_of(*hash) as usize) {
                *count += 1;
            }
        }
        let most = members.iter().copied().max().unwrap_or(0);
        // After growth there is room for as many again, but for a quarter.
        let needed = (most + most / 2)
            .next_power_of_two()
            .max(SLOTS_FIRST.into());
        let Ok(slots) = u32::try_from(needed) else {
            return false;
        };
        let free_count = self.header(HeaderWord::FreeCount);
        let free_at = self.header(HeaderWord::Free);
        let free: Vec<u64> = (0..free_count)
            .map(|it| self.memory.load(free_at + it * 8))
            .collect();
        let start = u64::from(self.layout.end);
        let mut words = Vec::new();
        let places = self.header(HeaderWord::Places);
        let end = write_slots(&self.layout, start, (slots, places), &mut |at, word| {
            words.push((at, word));
        });
        if !self.memory.grow(end) {
            return false;
        }
        for (at, word) in words {
            self.memory.store(at, word);
        }
        for (number, id) in (0_u64..).zip(&free) {
            self.memory.store(start + number * 8, *id);
        }
        for (stripe, used) in (0..).zip(&members) {
            let at = self.layout.stripe(stripe) + u64::from(StripeWord::Used.offset());
            self.memory.store(at, *used);
        }
        let mut at = self.stripe_word(0, StripeWord::Slots);
        while at < end {
            self.memory.store(at, 0);
            at += 1 << self.layout.slot_shift;
        }
        for (words, hash) in contents.slots().zip(hashes) {
            let slot = self.probe(hash, |slot| slot.id == 0);
            for (number, word) in (0_u64..).zip(words) {
                self.memory.store(slot.at + number * 8, *word);
            }
        }
        true
    }
}

/// Returns the word [`SlotWord::Last`].
pub(super) fn last_word(state: StateId, record: Option<u64>, has_others: bool) -> u64 {
    let flag = if has_others { Layout::HAS_OTHERS } else { 0 };
    let record = record.unwrap_or(u64::MAX) << Layout::RECORD_SHIFT;
    record | flag | u64::from(state.0) & Layout::STATE
}

/// Returns the hash of keys.
pub(super) fn hash_of(keys: &[u64]) -> u64 {
    keys.iter().fold(0, |hash, key| hashing::mix(hash, *key))
}
