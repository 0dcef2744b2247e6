//! A formula or an expression as states of instances.
//!
//! The state of an instance is a state of the formula's machine together with a
//! valuation of those persistent propositions that still matter. Such pairs are
//! numbered as they appear, and so are the *actions*: the combined effects of an event
//! on the propositions of an instance in one step. A step is then a look-up in a table
//! of states and actions, which is filled on demand.
//!
//! **Invariant:** no continuation distinguishes two instances in the same state. There
//! are two decided states, satisfied and violated, whatever propositions are true.

use crate::effects::{Action, Effects};
use crate::hashing;
use crate::machine::LetterMachine;
use crate::plan::StateNeed;
use hashbrown::HashTable;
use juror_event::{EventId, Verdict};
use juror_language::{EvaluationError, Logic, Property, StateId};
use juror_logic::{Letter, LogicError, MachineState};

/// An entry of the table that is not computed yet.
const UNKNOWN: u32 = u32::MAX;

/// How an instance can reach a state: by a letter from an earlier state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Origin {
    pub from: u32,
    pub letter: Letter,
}

#[derive(Debug, Clone)]
struct State {
    machine: MachineState,
    valuation: u64,
    /// The propositions that some later step depends on; the valuation is restricted to
    /// these.
    followed: u64,
    verdict: Verdict,
    origin: Option<Origin>,
    /// The needs of the state, once computed.
    needs: Option<Vec<StateNeed>>,
}

impl State {
    /// Returns a key that is equal for equal states; all decided states with one
    /// verdict are equal.
    fn identity(&self) -> (u64, u64) {
        if is_decided(self.verdict) {
            (u64::MAX, self.verdict as u64)
        } else {
            (u64::from(self.machine.0), self.valuation)
        }
    }
}

/// The states of a formula's instances that have appeared so far.
#[derive(Debug, Clone)]
pub(crate) struct LogicStates {
    machine: LetterMachine,
    states: Vec<State>,
    /// By state.
    verdicts: Vec<Verdict>,
    known: HashTable<u32>,
    actions: Vec<Action>,
    /// By state and action: the next state.
    table: Vec<u32>,
    /// The number of actions for which a row has room.
    width: usize,
    /// By state and event: the next state under all effects of the event, if it is
    /// known, none of them has a guard, and it causes no final verdict.
    quick: Vec<u32>,
    pub effects: Effects,
    /// By event: the actions of the sets of effects that have appeared.
    known_actions: Vec<Vec<(u64, u32)>>,
    /// By event: the action of all its effects; a number far beyond the table if they
    /// have guards, or if it is not known.
    whole_actions: Vec<u32>,
    span: std::ops::Range<usize>,
}

impl LogicStates {
    /// Returns true if all states and all steps between them are known.
    pub(crate) fn is_whole(&self) -> bool {
        self.machine.is_whole()
    }

    pub(crate) fn new(
        property: &Property,
        effects: Effects,
        machine: LetterMachine,
    ) -> LogicStates {
        let mut states = LogicStates {
            states: Vec::new(),
            verdicts: Vec::new(),
            known: HashTable::new(),
            actions: Vec::new(),
            table: Vec::new(),
            width: 8,
            quick: Vec::new(),
            effects,
            known_actions: vec![Vec::new(); property.events.len()],
            whole_actions: vec![UNKNOWN; property.events.len()],
            span: property.span.clone(),
            machine,
        };
        let initial = states.machine.initial();
        states.intern(initial, 0, None);
        states
    }

    /// Returns the initial state.
    pub(crate) fn initial(&self) -> StateId {
        StateId(0)
    }

    #[inline]
    pub(crate) fn verdict(&self, state: StateId) -> Verdict {
        let verdict = self.verdicts.get(state.index()).copied();
        verdict.unwrap_or(Verdict::PresumablySatisfied)
    }

    /// Returns the action of these effects of an event, if it is known.
    #[inline]
    pub(crate) fn known_action(&self, event: EventId, effects: u64) -> Option<u32> {
        let actions = self.known_actions.get(usize::from(event.0))?;
        let found = actions.iter().find(|(known, _)| *known == effects);
        found.map(|(_, action)| *action)
    }

    /// Returns the next state under an action, if it is known.
    #[inline]
    pub(crate) fn known_step(&self, state: StateId, action: u32) -> Option<StateId> {
        let position = state.index() * self.width + action as usize;
        let next = self.table.get(position).copied();
        next.filter(|&next| next != UNKNOWN).map(StateId)
    }

    /// Returns the next state under all effects of an event, if it is known, none of
    /// them has a guard, and it causes no final verdict.
    #[inline]
    pub(crate) fn quick(&self, state: StateId, event: EventId) -> Option<StateId> {
        let events = self.whole_actions.len();
        let column = usize::from(event.0);
        match self.quick.get(state.index() * events + column) {
            Some(&next) if next != UNKNOWN && column < events => Some(StateId(next)),
            _ => self.quick_by_action(state, event),
        }
    }

    /// Looks up the step by the action, which other events may share with this one.
    fn quick_by_action(&self, state: StateId, event: EventId) -> Option<StateId> {
        let action = *self.whole_actions.get(usize::from(event.0))?;
        let position = state.index() * self.width + action as usize;
        let next = *self.table.get(position)?;
        let (before, after) = (
            self.verdicts.get(state.index())?,
            self.verdicts.get(next as usize)?,
        );
        stays_open(*before, *after).then_some(StateId(next))
    }

    /// Returns the action of these effects.
    pub(crate) fn action(&mut self, event: EventId, effects: u64) -> u32 {
        if let Some(action) = self.known_action(event, effects) {
            return action;
        }
        let action = self.effects.action(event, effects);
        let known = self.actions.iter().position(|other| *other == action);
        let number = known.unwrap_or_else(|| {
            self.actions.push(action);
            self.actions.len() - 1
        });
        let number = number as u32;
        if let Some(known) = self.known_actions.get_mut(usize::from(event.0)) {
            known.push((effects, number));
        }
        if self.effects.whole(event) == Some(effects)
            && let Some(whole) = self.whole_actions.get_mut(usize::from(event.0))
        {
            *whole = number;
        }
        if self.actions.len() > self.width {
            self.widen();
        }
        number
    }

    /// Doubles the rows of the table.
    fn widen(&mut self) {
        let width = self.width * 2;
        let mut table = Vec::with_capacity(self.states.len() * width);
        for row in self.table.chunks(self.width) {
            table.extend_from_slice(row);
            table.resize(table.len() + width - row.len(), UNKNOWN);
        }
        self.table = table;
        self.width = width;
    }

    /// Returns the next state of an instance under these effects.
    ///
    /// # Errors
    /// If the formula has more states than are kept.
    pub(crate) fn step(
        &mut self,
        state: StateId,
        event: EventId,
        effects: u64,
    ) -> Result<StateId, EvaluationError> {
        let number = self.action(event, effects);
        if let Some(next) = self.known_step(state, number) {
            return Ok(next);
        }
        let action = self.actions.get(number as usize).copied();
        let action = action.unwrap_or_default();
        let Some(current) = self.states.get(state.index()) else {
            return Ok(state);
        };
        let next = if is_decided(current.verdict) {
            state
        } else {
            let (valuation, letter) = action.apply(current.valuation);
            let machine = self.machine.step(current.machine, letter);
            let machine = machine.map_err(|error| EvaluationError {
                span: self.span.clone(),
                message: error.to_string(),
            })?;
            let origin = Origin {
                from: state.0,
                letter,
            };
            self.intern(machine, valuation, Some(origin))
        };
        let position = state.index() * self.width + number as usize;
        if let Some(entry) = self.table.get_mut(position) {
            *entry = next.0;
        }
        let column = usize::from(event.0);
        let position = state.index() * self.whole_actions.len() + column;
        let is_quick = self.whole_actions.get(column) == Some(&number)
            && stays_open(self.verdict(state), self.verdict(next));
        if let Some(entry) = self.quick.get_mut(position).filter(|_| is_quick) {
            *entry = next.0;
        }
        Ok(next)
    }

    fn intern(&mut self, machine: MachineState, valuation: u64, origin: Option<Origin>) -> StateId {
        // Propositions that no later step depends on make no difference.
        let followed = self.machine.propositions_ahead(machine);
        let state = State {
            machine,
            valuation: valuation & followed,
            followed,
            verdict: self.machine.verdict(machine),
            origin,
            needs: None,
        };
        let identity = state.identity();
        let states = &self.states;
        let identity_of =
            |&number: &u32| states.get(number as usize).map_or((0, 0), State::identity);
        let hash = |(machine, valuation)| hashing::mix(machine, valuation);
        let is_it = |number: &u32| identity_of(number) == identity;
        if let Some(&known) = self.known.find(hash(identity), is_it) {
            return StateId(known);
        }
        let number = u32::try_from(self.states.len()).unwrap_or(UNKNOWN);
        self.verdicts.push(state.verdict);
        self.states.push(state);
        let (states, events) = (self.states.len(), self.whole_actions.len());
        self.table.resize(states * self.width, UNKNOWN);
        self.quick.resize(states * events, UNKNOWN);
        let states = &self.states;
        self.known.insert_unique(hash(identity), number, |&number| {
            let state = states.get(number as usize);
            hash(state.map_or((0, 0), State::identity))
        });
        StateId(number)
    }

    /// Describes what an instance in this state waits for.
    pub(crate) fn describe(&self, logic: &Logic, state: StateId) -> String {
        let Some(state) = self.states.get(state.index()) else {
            return String::new();
        };
        match state.verdict {
            Verdict::Satisfied => "satisfied".to_owned(),
            Verdict::Violated => "violated".to_owned(),
            _ => self.machine.explain(state.machine, &|proposition| {
                let known = logic.propositions.get(usize::from(proposition));
                known.map_or_else(String::new, |known| known.name.to_string())
            }),
        }
    }

    /// Describes a state briefly, for the steps of a path: its true persistent
    /// propositions.
    pub(crate) fn sketch(&self, logic: &Logic, state: StateId) -> String {
        let Some(state) = self.states.get(state.index()) else {
            return String::new();
        };
        let known = Known {
            valuation: state.valuation,
            propositions: state.followed,
        };
        known.words(logic, state.verdict)
    }

    /// Describes briefly the state right after this action in the state before,
    /// including the propositions that the action has made true, even if no later step
    /// depends on them.
    pub(crate) fn sketch_after(
        &self,
        logic: &Logic,
        from: StateId,
        action: Action,
        to: StateId,
    ) -> String {
        let Some(before) = self.states.get(from.index()) else {
            return self.sketch(logic, to);
        };
        let known = Known {
            valuation: action.apply(before.valuation).0,
            propositions: before.followed | action.decides(),
        };
        known.words(logic, self.verdict(to))
    }

    /// Returns the number of states that have appeared.
    pub(crate) fn count(&self) -> usize {
        self.states.len()
    }

    /// Iterates over the origin of each state and its true propositions.
    pub(crate) fn origins(&self) -> impl Iterator<Item = (Option<Origin>, u64)> + '_ {
        self.states
            .iter()
            .map(|state| (state.origin, state.valuation))
    }

    /// Returns one of the possibly many sequences of letters that lead from the initial
    /// state to this one.
    pub(crate) fn letters(&self, state: StateId) -> Vec<Letter> {
        let mut letters = Vec::new();
        let mut next = Some(state.0);
        // A state is numbered before all its successors.
        while let Some(at) = next {
            let origin = self.states.get(at as usize).and_then(|it| it.origin);
            letters.extend(origin.map(|origin| origin.letter));
            next = origin.map(|origin| origin.from);
        }
        letters.reverse();
        letters
    }

    /// Adds the states of another instance set of the same property; returns their
    /// numbers here.
    ///
    /// # Errors
    /// If the formula has more states than are kept.
    pub(crate) fn take_in(
        &mut self,
        origins: impl Iterator<Item = (Option<Origin>, u64)>,
    ) -> Result<Vec<StateId>, LogicError> {
        let mut numbers: Vec<StateId> = Vec::new();
        for (origin, valuation) in origins {
            let known = origin.and_then(|origin| {
                let from = numbers.get(origin.from as usize)?;
                Some((*from, origin.letter, self.states.get(from.index())?.machine))
            });
            let number = match known {
                None => self.initial(),
                Some((from, letter, machine)) => {
                    let machine = self.machine.step(machine, letter)?;
                    let from = from.0;
                    self.intern(machine, valuation, Some(Origin { from, letter }))
                }
            };
            numbers.push(number);
        }
        Ok(numbers)
    }

    /// Returns the needs of a state, if computed.
    #[inline]
    pub(crate) fn known_needs(&self, state: StateId) -> Option<&[StateNeed]> {
        self.states.get(state.index())?.needs.as_deref()
    }

    pub(crate) fn set_needs(&mut self, state: StateId, needs: Vec<StateNeed>) {
        if let Some(state) = self.states.get_mut(state.index()) {
            state.needs = Some(needs);
        }
    }
}

/// What is known about the propositions of an instance: events of propositions that no
/// later step depends on are not observed.
#[derive(Debug, Clone, Copy)]
struct Known {
    valuation: u64,
    /// The known propositions.
    propositions: u64,
}

impl Known {
    /// Lists the true persistent propositions; the verdict if there are none, or
    /// nothing depends on them.
    fn words(self, logic: &Logic, verdict: Verdict) -> String {
        let has = |mask: u64, bit: u32| mask >> bit & 1 == 1;
        let lasting = (0..64_u32).zip(&logic.propositions);
        let lasting = lasting.filter(|(_, proposition)| proposition.persistent);
        let mut lasting = lasting.peekable();
        if is_decided(verdict) || lasting.peek().is_none() {
            return verdict.to_string();
        }
        let mut knows_all = true;
        let mut names: Vec<&str> = Vec::new();
        for (bit, proposition) in lasting {
            knows_all &= has(self.propositions, bit);
            if has(self.valuation, bit) {
                names.push(&proposition.name);
            }
        }
        match (names.is_empty(), knows_all) {
            (false, _) => names.join(", "),
            (true, true) => "nothing holds".to_owned(),
            (true, false) => "nothing that still matters".to_owned(),
        }
    }
}

/// Returns true if a step causes no final verdict.
pub(crate) fn stays_open(before: Verdict, after: Verdict) -> bool {
    before == after || !is_decided(after)
}

/// Returns true for final verdicts.
pub(crate) fn is_decided(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Satisfied | Verdict::Violated)
}
