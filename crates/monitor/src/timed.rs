//! A formula with time bounds, whose states are values and not numbers of a table.
//!
//! The remainder of such a formula contains points in time, so two instances are rarely
//! in equal states. A state exists as long as an instance is in it, and its number is
//! then reused; equal states are shared. The two decided states always exist.
//!
//! Time also passes without events: [`TimedStates::next_deadline`] returns the time at
//! which something is decided without one.

use crate::effects::Effects;
use crate::hashing::Mixed;
use crate::plan::StateNeed;
use hashbrown::HashTable;
use juror_event::{EventId, Verdict};
use juror_language::StateId;
use juror_logic::{LogicError, TimedMachine, TimedState};
use std::collections::BTreeSet;
use std::hash::BuildHasher;
use std::sync::Arc;

/// By verdict: the state that represents all states with it in reports; for decided
/// verdicts it is the only state.
const SHOWN: [Verdict; 4] = [
    Verdict::Satisfied,
    Verdict::Violated,
    Verdict::PresumablySatisfied,
    Verdict::PresumablyViolated,
];
/// The state before any event, unless it is decided.
const INITIAL: StateId = StateId(4);

/// Returns the state that represents all states with this verdict.
fn shown(verdict: Verdict) -> StateId {
    let position = SHOWN.iter().position(|&known| known == verdict);
    StateId(position.unwrap_or(0) as u32)
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Entry {
    pub state: TimedState,
    /// The persistent propositions that are true.
    pub valuation: u64,
}

/// The states that instances are in.
#[derive(Debug, Clone)]
pub(crate) struct TimedStates {
    machine: Arc<TimedMachine>,
    pub effects: Arc<Effects>,
    entries: Vec<Option<Entry>>,
    /// Free numbers; the smallest is used first.
    free: BTreeSet<u32>,
    known: HashTable<u32>,
    /// The deadlines by time, with the state that is decided then.
    deadlines: BTreeSet<(u64, u32)>,
    /// States made since the last sweep, which forgets those that no instance has
    /// entered.
    made: Vec<u32>,
    /// The needs of an undecided state: every event.
    needs: Vec<StateNeed>,
}

/// A state that time has changed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expired {
    pub from: StateId,
    pub to: StateId,
    /// The last deadline that changed it.
    pub deadline: u64,
}

fn hash(entry: &Entry) -> u64 {
    Mixed.hash_one(entry)
}

impl TimedStates {
    pub(crate) fn new(
        machine: TimedMachine,
        effects: Effects,
        needs: Vec<StateNeed>,
    ) -> TimedStates {
        TimedStates::of(Arc::new(machine), Arc::new(effects), needs)
    }

    fn of(machine: Arc<TimedMachine>, effects: Arc<Effects>, needs: Vec<StateNeed>) -> TimedStates {
        let initial = Entry {
            state: machine.initial(),
            valuation: 0,
        };
        let mut states = TimedStates {
            machine,
            effects,
            entries: vec![None; SHOWN.len()],
            free: BTreeSet::new(),
            known: HashTable::new(),
            deadlines: BTreeSet::new(),
            made: Vec::new(),
            needs,
        };
        states.intern(initial);
        states
    }

    /// Returns the same formula without instances.
    pub(crate) fn restarted(&self) -> TimedStates {
        let (machine, effects) = (Arc::clone(&self.machine), Arc::clone(&self.effects));
        TimedStates::of(machine, effects, self.needs.clone())
    }

    pub(crate) fn initial(&self) -> StateId {
        match self.entry(INITIAL) {
            Some(_) => INITIAL,
            None => shown(self.machine.verdict(&self.machine.initial())),
        }
    }

    /// Returns the state that represents this one in reports, which outlives it.
    pub(crate) fn shown(&self, state: StateId) -> StateId {
        shown(self.verdict(state))
    }

    pub(crate) fn entry(&self, state: StateId) -> Option<&Entry> {
        self.entries.get(state.index())?.as_ref()
    }

    /// Returns true if the state exists.
    pub(crate) fn has(&self, state: StateId) -> bool {
        state.index() < SHOWN.len() || self.entry(state).is_some()
    }

    pub(crate) fn verdict(&self, state: StateId) -> Verdict {
        match self.entry(state) {
            Some(entry) => self.machine.verdict(&entry.state),
            None => SHOWN
                .get(state.index())
                .copied()
                .unwrap_or(Verdict::Satisfied),
        }
    }

    pub(crate) fn needs(&self, state: StateId) -> &[StateNeed] {
        match self.entry(state) {
            Some(_) => &self.needs,
            None => &[],
        }
    }

    /// Describes what a state waits for.
    pub(crate) fn explain(&self, state: StateId, name: &dyn Fn(u8) -> String) -> Option<String> {
        let entry = self.entry(state)?;
        Some(self.machine.explain(&entry.state).describe(name))
    }

    /// Returns the state of an instance after these effects at a time.
    pub(crate) fn step(
        &mut self,
        state: StateId,
        event: EventId,
        effects: u64,
        time: u64,
    ) -> Result<StateId, LogicError> {
        let Some(entry) = self.entry(state) else {
            return Ok(state);
        };
        let (valuation, letter) = self.effects.action(event, effects).apply(entry.valuation);
        let mut next = entry.state.clone();
        self.machine.step(&mut next, letter, time)?;
        Ok(self.intern(Entry {
            state: next,
            valuation,
        }))
    }

    /// Returns the number of a state.
    pub(crate) fn intern(&mut self, entry: Entry) -> StateId {
        let verdict = self.machine.verdict(&entry.state);
        if crate::logic::is_decided(verdict) {
            return shown(verdict);
        }
        let entries = &self.entries;
        let is_it = |&number: &u32| entries.get(number as usize) == Some(&Some(entry.clone()));
        if let Some(&known) = self.known.find(hash(&entry), is_it) {
            return StateId(known);
        }
        let number = self.free.pop_first().unwrap_or_else(|| {
            self.entries.push(None);
            u32::try_from(self.entries.len() - 1).unwrap_or(u32::MAX)
        });
        if let Some(deadline) = self.machine.next_deadline(&entry.state) {
            self.deadlines.insert((deadline, number));
        }
        let key = hash(&entry);
        if let Some(place) = self.entries.get_mut(number as usize) {
            *place = Some(entry);
        }
        let entries = &self.entries;
        self.known.insert_unique(key, number, |&number| {
            let entry = entries.get(number as usize);
            entry.and_then(Option::as_ref).map_or(0, hash)
        });
        self.made.push(number);
        StateId(number)
    }

    /// Forgets a state that no instance is in.
    pub(crate) fn release(&mut self, state: StateId) {
        let Some(entry) = self.entries.get_mut(state.index()).and_then(Option::take) else {
            return;
        };
        if let Ok(known) = self
            .known
            .find_entry(hash(&entry), |&number| number == state.0)
        {
            known.remove();
        }
        if let Some(deadline) = self.machine.next_deadline(&entry.state) {
            self.deadlines.remove(&(deadline, state.0));
        }
        self.free.insert(state.0);
    }

    /// Forgets the new states that no instance has entered.
    pub(crate) fn sweep(&mut self, is_occupied: impl Fn(StateId) -> bool) {
        while let Some(number) = self.made.pop() {
            if !is_occupied(StateId(number)) {
                self.release(StateId(number));
            }
        }
    }

    /// Returns the earliest time at which the state of some instance changes without an
    /// event.
    pub(crate) fn next_deadline(&self) -> Option<u64> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// Returns the distances in time between an event and a deadline that it can set.
    pub(crate) fn widths(&self) -> Vec<u64> {
        self.machine.widths()
    }

    /// Returns the states whose deadline is not after this time.
    pub(crate) fn advance(&mut self, time: u64) -> Vec<Expired> {
        let due = self.deadlines.range(..=(time, u32::MAX));
        let due: Vec<u32> = due.map(|(_, number)| *number).collect();
        let mut moves = Vec::new();
        for number in due {
            let Some(entry) = self.entry(StateId(number)) else {
                continue;
            };
            let mut state = entry.state.clone();
            let valuation = entry.valuation;
            // One deadline after the other: the one that decides is reported.
            let mut deadline = time;
            while let Some(next) = self.machine.next_deadline(&state).filter(|it| *it <= time) {
                deadline = next;
                self.machine.advance(&mut state, next);
            }
            self.machine.advance(&mut state, time);
            let to = self.intern(Entry { state, valuation });
            moves.push(Expired {
                from: StateId(number),
                to,
                deadline,
            });
        }
        moves
    }

    /// Returns the contents of all states, for a snapshot.
    pub(crate) fn entries(&self) -> &[Option<Entry>] {
        &self.entries
    }

    /// Restores the states of a snapshot under their numbers.
    pub(crate) fn restore(&mut self, entries: Vec<Option<Entry>>) {
        self.entries = vec![None; entries.len().max(SHOWN.len())];
        self.known.clear();
        self.deadlines.clear();
        let reserved = SHOWN.len();
        let numbered = (0_u32..).zip(&entries).skip(reserved);
        for (number, entry) in numbered.clone() {
            if let Some(entry) = entry {
                // The only free number is this one.
                self.free = BTreeSet::from([number]);
                self.intern(entry.clone());
            }
        }
        self.made.clear();
        let free = numbered.filter(|(_, entry)| entry.is_none());
        self.free = free.map(|(number, _)| number).collect();
    }
}
