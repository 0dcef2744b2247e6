//! A formula with bounds in time: states are values, not numbers of a table.
//!
//! What is left of such a formula speaks of points in time, so hardly two
//! instances are ever in equal states. A state lives as long as an instance is
//! in it, and its number is used again after it; equal ones are one. The two
//! decided states are always there.
//!
//! Time passes without events, too: [`TimedStates::next_deadline`] says when
//! something is decided by itself.

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

/// By verdict: what stands for a state in reports, and for the decided ones
/// altogether.
const SHOWN: [Verdict; 4] = [
    Verdict::Satisfied,
    Verdict::Violated,
    Verdict::PresumablySatisfied,
    Verdict::PresumablyViolated,
];
/// The state before any event, unless that is decided.
const INITIAL: StateId = StateId(4);

/// What stands for all states with this verdict.
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
    /// The smallest is used first.
    free: BTreeSet<u32>,
    known: HashTable<u32>,
    /// When something is decided without an event, and in which state.
    deadlines: BTreeSet<(u64, u32)>,
    /// States made since they were last looked through for those that no
    /// instance has come to.
    made: Vec<u32>,
    /// What a state that is not decided needs: everything.
    needs: Vec<StateNeed>,
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

    /// The same formula with no instance.
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

    /// What stands for a state in reports: it lives longer.
    pub(crate) fn shown(&self, state: StateId) -> StateId {
        shown(self.verdict(state))
    }

    pub(crate) fn entry(&self, state: StateId) -> Option<&Entry> {
        self.entries.get(state.index())?.as_ref()
    }

    /// Whether there is such a state.
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

    /// What a state waits for, in words.
    pub(crate) fn explain(&self, state: StateId, name: &dyn Fn(u8) -> String) -> Option<String> {
        let entry = self.entry(state)?;
        Some(self.machine.explain(&entry.state).describe(name))
    }

    /// The state of an instance to which these effects happen at a time.
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

    /// The number of a state.
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

    /// Forgets the states that were made and that no instance came to.
    pub(crate) fn sweep(&mut self, is_occupied: impl Fn(StateId) -> bool) {
        while let Some(number) = self.made.pop() {
            if !is_occupied(StateId(number)) {
                self.release(StateId(number));
            }
        }
    }

    /// When the first instance is decided, or nearer to it, without an event.
    pub(crate) fn next_deadline(&self) -> Option<u64> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// The states whose deadline is not after this time, with what becomes of
    /// them.
    pub(crate) fn advance(&mut self, time: u64) -> Vec<(StateId, StateId)> {
        let due = self.deadlines.range(..=(time, u32::MAX));
        let due: Vec<u32> = due.map(|(_, number)| *number).collect();
        let mut moves = Vec::new();
        for number in due {
            let Some(entry) = self.entry(StateId(number)) else {
                continue;
            };
            let mut state = entry.state.clone();
            let valuation = entry.valuation;
            self.machine.advance(&mut state, time);
            let next = self.intern(Entry { state, valuation });
            moves.push((StateId(number), next));
        }
        moves
    }

    /// What all states hold, for a snapshot.
    pub(crate) fn entries(&self) -> &[Option<Entry>] {
        &self.entries
    }

    /// The same states as a snapshot has, in their places.
    pub(crate) fn restore(&mut self, entries: Vec<Option<Entry>>) {
        self.entries = vec![None; entries.len().max(SHOWN.len())];
        self.known.clear();
        self.deadlines.clear();
        let reserved = SHOWN.len();
        let numbered = (0_u32..).zip(&entries).skip(reserved);
        for (number, entry) in numbered.clone() {
            if let Some(entry) = entry {
                // It takes the place that is free.
                self.free = BTreeSet::from([number]);
                self.intern(entry.clone());
            }
        }
        self.made.clear();
        let free = numbered.filter(|(_, entry)| entry.is_none());
        self.free = free.map(|(number, _)| number).collect();
    }
}
