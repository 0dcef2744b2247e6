//! Read access to a native monitor: its slices, their results, and the needed events.

use super::WordMemory;
use super::layout::HeaderWord;
use super::monitor::WordMonitor;
use super::reasons::WordKind;
use super::table::Slot;
use crate::needs::EventNeed;
use crate::slices::SliceId;
use crate::violations::ViolationGroup;
use juror_event::{EventId, Unavailability, Value, Verdict};
use juror_language::StateId;

/// A slice, by value.
#[derive(Debug, Clone, PartialEq)]
pub struct WordSlice {
    /// The identifier.
    pub id: SliceId,
    /// The values of the slice parameters, in their order; `None` for an unbound
    /// parameter.
    pub binding: Vec<Option<Value>>,
    /// The current state.
    pub state: StateId,
    /// The values of the variables, by slot.
    pub environment: Vec<Value>,
    /// The verdict of the slice.
    pub verdict: Verdict,
    /// True if the slice was violated in a final state and is kept only for reports.
    pub ended: bool,
}

impl<M: WordMemory> WordMonitor<M> {
    /// Returns the needs of the occupied states, by event. May be called while threads are
    /// in steps.
    pub fn needs(&self) -> Vec<EventNeed> {
        self.needs_of(&self.table.occupied())
    }

    /// Returns the needs of these states, one bit each.
    pub(super) fn needs_of(&self, occupied: &[u64]) -> Vec<EventNeed> {
        let declared = self.lowered.plan.declared.iter();
        let unneeded = |&captures: &u64| EventNeed {
            needed: false,
            captures,
        };
        let mut needs: Vec<EventNeed> = declared.map(unneeded).collect();
        for state in states_of(occupied) {
            for of_state in self.lowered.behaviour.needs(state) {
                if let Some(need) = needs.get_mut(usize::from(of_state.event.0)) {
                    need.needed = true;
                    need.captures |= of_state.hoisted;
                }
            }
        }
        needs
    }

    /// Returns the worst verdict of all slices; `Violated` if any slice was ever
    /// violated.
    pub fn verdict(&self) -> Verdict {
        let occupied = self.table.occupied();
        let has = |verdict: Verdict| {
            states_of(&occupied).any(|state| self.lowered.behaviour.verdict(state) == verdict)
        };
        let from_worst = [
            Verdict::PresumablyViolated,
            Verdict::PresumablySatisfied,
            Verdict::Satisfied,
        ];
        let worst = if self.violated {
            Verdict::Violated
        } else {
            from_worst
                .into_iter()
                .find(|verdict| has(*verdict))
                .unwrap_or(Verdict::Satisfied)
        };
        self.at_this_point(worst)
    }

    pub(super) fn at_this_point(&self, verdict: Verdict) -> Verdict {
        if self.finished {
            verdict.at_end()
        } else {
            verdict
        }
    }

    /// Returns the number of events that the monitor was given. May be called while threads
    /// are in steps.
    pub fn sequence(&self) -> u64 {
        self.table.sequence()
    }

    /// Returns the number of slices, including the base.
    pub fn slice_count(&self) -> u64 {
        self.table.header(HeaderWord::Live)
    }

    /// Returns the number of slices that were forgotten in final states.
    pub fn ended_count(&self) -> u64 {
        self.ended_count
    }

    /// Returns the maximum number of slices at one time.
    pub fn peak_count(&self) -> u64 {
        self.table.header(HeaderWord::Peak)
    }

    /// Returns the violations by events so far, grouped by kind and code address.
    pub fn violations(&self) -> &[ViolationGroup] {
        &self.violations.groups
    }

    /// Ends the run: undecided verdicts become decided. Returns the slices and their
    /// verdicts, in the order of [`WordMonitor::slices`].
    pub fn finish(&mut self) -> Vec<(SliceId, Verdict)> {
        self.finished = true;
        let slices = self.slices().into_iter();
        slices.map(|slice| (slice.id, slice.verdict)).collect()
    }

    /// Ends the run as [`WordMonitor::finish`] if no slice is violated by that, and returns
    /// true; otherwise does nothing. It costs some loads, however many slices there are.
    pub fn finish_quietly(&mut self) -> bool {
        let occupied = self.table.occupied();
        let is_open =
            |state: StateId| self.lowered.behaviour.verdict(state) == Verdict::PresumablyViolated;
        let is_quiet = !states_of(&occupied).any(is_open);
        self.finished |= is_quiet;
        is_quiet
    }

    /// Returns the slices, the base first, and then those that were violated in final
    /// states, as far as they are kept.
    pub fn slices(&self) -> Vec<WordSlice> {
        let addresses = self.addresses();
        let live = self.table.live().into_iter();
        let live = live.map(|slot| self.view(slot, addresses));
        let ended = self.ended.iter().map(|ended| WordSlice {
            id: ended.id,
            binding: ended.binding.clone(),
            state: ended.state,
            environment: ended.environment.clone(),
            verdict: self.at_this_point(self.lowered.behaviour.verdict(ended.state)),
            ended: true,
        });
        live.chain(ended).collect()
    }

    fn view(&self, slot: Slot, addresses: u32) -> WordSlice {
        let state = self.table.state(slot);
        WordSlice {
            id: SliceId(slot.id),
            binding: match slot.stripe {
                Some(_) => self.words.binding_as(addresses, &self.table.keys(slot)),
                None => vec![None; self.table.layout.sizes.parameters as usize],
            },
            state,
            environment: self.environment(slot),
            verdict: self.at_this_point(self.lowered.behaviour.verdict(state)),
            ended: false,
        }
    }

    /// Returns the parameters that have been seen as addresses; bit n is parameter n.
    pub(super) fn addresses(&self) -> u32 {
        let known = self.words.addresses();
        let events = (0..).map(EventId).zip(self.lowered.kinds.iter());
        events.fold(known, |all, (event, kinds)| {
            let slots = self.lowered.plan.whole_slots(event).unwrap_or(&[]);
            let is_address = |slot: u8| {
                let kind = kinds.get(usize::from(slot)).copied().flatten();
                kind == Some(WordKind::Address)
            };
            let bound = (0..32_u32).zip(slots);
            let bits = bound.filter(|(_, slot)| is_address(**slot));
            let bits = bits.fold(0_u32, |bits, (parameter, _)| bits | 1 << parameter);
            if bits & !all != 0 && self.occurrences(event) > 0 {
                all | bits
            } else {
                all
            }
        })
    }

    /// Returns the variables of a slice.
    pub(super) fn environment(&self, slot: Slot) -> Vec<Value> {
        self.environment_values(slot).collect()
    }

    pub(super) fn environment_values(&self, slot: Slot) -> impl Iterator<Item = Value> + '_ {
        let others = self.table.others(slot);
        let kinds = (0_u32..).zip(self.lowered.variables.iter());
        let value = move |(variable, kind): (u32, &WordKind)| {
            let at = slot.at + u64::from(self.table.layout.variable(variable));
            self.value(
                *kind,
                self.table.memory.load(at),
                others >> variable & 1 == 1,
            )
        };
        kinds.map(value)
    }

    /// Returns the value of a word, which may be the number of another value.
    pub(super) fn value(&self, kind: WordKind, word: u64, is_other: bool) -> Value {
        let missing = Value::Unavailable(Unavailability::NotCaptured);
        if is_other {
            let number = usize::try_from(word).unwrap_or(usize::MAX);
            self.others.get(number).cloned().unwrap_or(missing)
        } else {
            kind.value_of(word)
        }
    }

    /// Returns the word of a value, and whether it is the number of another value.
    pub(super) fn word(&mut self, kind: Option<WordKind>, value: &Value) -> (u64, bool) {
        match kind.and_then(|kind| kind.word_of(value)) {
            Some(word) => (word, false),
            None => {
                self.others.push(value.clone());
                (self.others.len() as u64 - 1, true)
            }
        }
    }

    /// Returns the last record of a slice.
    pub(super) fn last_record_of(&self, id: SliceId) -> Option<u64> {
        match self.table.slot_of(id.0) {
            Some(slot) => self.table.last_record(slot),
            None => {
                let ended = self.ended.iter().find(|ended| ended.id == id);
                ended.and_then(|ended| ended.last_record)
            }
        }
    }
}

/// Iterates over the states whose bits are set.
fn states_of(bits: &[u64]) -> impl Iterator<Item = StateId> + '_ {
    let numbered = (0_u32..).zip(bits);
    numbered.flat_map(|(word, bits)| {
        let set = (0..64_u32).filter(move |bit| bits >> bit & 1 == 1);
        set.map(move |bit| StateId(word * 64 + bit))
    })
}
