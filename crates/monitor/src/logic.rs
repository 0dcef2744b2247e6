//! A formula or an expression as states of instances.
//!
//! The state of an instance is where the machine of the formula is, and which
//! of its persistent propositions are true. Such pairs are numbered as they
//! are met, and so are the *actions*: what the effects of an event do to the
//! propositions of an instance, all in one step. A step is then a look into a
//! table of states and actions, which is filled when it is first needed.
//!
//! Invariant: two instances in the same state cannot be told apart by anything
//! that is still to come. A decided state is one of two, satisfied or violated,
//! whatever is true in it.

use crate::machine::LetterMachine;
use crate::plan::{StateNeed, effects_of};
use hashbrown::HashTable;
use juror_event::{EventId, Value, Verdict};
use juror_language::{
    Demand, Effect, EffectAction, Environment, EvaluationError, Logic, Property, StateId, truth,
};
use juror_logic::Letter;

/// An entry of the table that is not known yet.
const UNKNOWN: u32 = u32::MAX;

/// What happens to the propositions of an instance in one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Action {
    clear: u64,
    set: u64,
    pulse: u64,
}

impl Action {
    fn then(mut self, action: EffectAction, proposition: u8) -> Action {
        let bit = 1_u64 << (proposition & 63);
        match action {
            EffectAction::Set => {
                self.set |= bit;
                self.clear &= !bit;
            }
            EffectAction::Clear => {
                self.clear |= bit;
                self.set &= !bit;
            }
            EffectAction::Pulse => self.pulse |= bit,
        }
        self
    }
}

/// How an instance can be in a state, the shortest way that was met.
#[derive(Debug, Clone)]
enum Origin {
    /// By this letter from that state.
    Step { from: u32, letter: Letter },
    /// By these letters from the beginning, as a snapshot says.
    Restored(Box<[Letter]>),
}

#[derive(Debug, Clone)]
struct State {
    machine: u32,
    valuation: u64,
    verdict: Verdict,
    origin: Option<Origin>,
    /// What it needs, when that has been asked.
    needs: Option<Vec<StateNeed>>,
}

/// The effects of one event.
#[derive(Debug, Clone)]
struct EventEffects {
    effects: Vec<Effect>,
    guarded: bool,
    /// All effects: bit n is the n-th.
    all: u64,
    /// The actions of sets of effects that were met.
    actions: Vec<(u64, u32)>,
}

/// The states of a formula's instances, as far as they were met.
#[derive(Debug, Clone)]
pub(crate) struct LogicStates {
    machine: Box<dyn LetterMachine>,
    states: Vec<State>,
    known: HashTable<u32>,
    actions: Vec<Action>,
    /// Row by row of states: the next state for each action.
    table: Vec<u32>,
    /// How many actions a row has room for.
    width: usize,
    events: Vec<EventEffects>,
    variables: Vec<Value>,
    span: std::ops::Range<usize>,
}

impl LogicStates {
    pub(crate) fn new(
        property: &Property,
        logic: &Logic,
        machine: Box<dyn LetterMachine>,
    ) -> LogicStates {
        let events = (0..property.events.len()).map(|event| {
            let effects = effects_of(&logic.effects, EventId(event as u16));
            let effects: Vec<Effect> = effects.take(64).cloned().collect();
            EventEffects {
                guarded: effects.iter().any(|effect| effect.guard.is_some()),
                all: ones(effects.len()),
                actions: Vec::new(),
                effects,
            }
        });
        let mut states = LogicStates {
            states: Vec::new(),
            known: HashTable::new(),
            actions: Vec::new(),
            table: Vec::new(),
            width: 8,
            events: events.collect(),
            variables: property
                .variables
                .iter()
                .map(|v| v.initial.clone())
                .collect(),
            span: property.span.clone(),
            machine,
        };
        let initial = states.machine.initial();
        states.intern(initial, 0, None);
        states
    }

    /// The state that nothing has happened to.
    pub(crate) fn initial(&self) -> StateId {
        StateId(0)
    }

    pub(crate) fn verdict(&self, state: StateId) -> Verdict {
        let state = self.states.get(state.index());
        state.map_or(Verdict::PresumablySatisfied, |state| state.verdict)
    }

    /// Where the machine is in a state, and which propositions are true.
    pub(crate) fn meaning(&self, state: StateId) -> Option<(u32, Letter)> {
        let state = self.states.get(state.index())?;
        Some((state.machine, Letter(state.valuation)))
    }

    pub(crate) fn machine(&self) -> &dyn LetterMachine {
        &*self.machine
    }

    /// Which effects of an event take place by its values, in whatever
    /// instance has their role.
    pub(crate) fn applying(
        &self,
        event: EventId,
        captures: &[Value],
    ) -> Result<u64, EvaluationError> {
        let Some(of_event) = self.events.get(usize::from(event.0)) else {
            return Ok(0);
        };
        if !of_event.guarded {
            return Ok(of_event.all);
        }
        let frame = Frame {
            variables: &self.variables,
            captures,
        };
        let mut applying = 0;
        for (number, effect) in of_event.effects.iter().enumerate() {
            let holds = match &effect.guard {
                Some(guard) => truth(guard, &frame)?,
                None => true,
            };
            applying |= u64::from(holds) << number;
        }
        Ok(applying)
    }

    /// The action of these effects of an event, when it is known.
    #[inline]
    pub(crate) fn known_action(&self, event: EventId, effects: u64) -> Option<u32> {
        let actions = &self.events.get(usize::from(event.0))?.actions;
        let found = actions.iter().find(|(known, _)| *known == effects);
        found.map(|(_, action)| *action)
    }

    /// The next state by an action, when it is known.
    #[inline]
    pub(crate) fn known_step(&self, state: StateId, action: u32) -> Option<StateId> {
        let position = state.index() * self.width + action as usize;
        let next = self.table.get(position).copied();
        next.filter(|&next| next != UNKNOWN).map(StateId)
    }

    /// The action of these effects.
    pub(crate) fn action(&mut self, event: EventId, effects: u64) -> u32 {
        if let Some(action) = self.known_action(event, effects) {
            return action;
        }
        let mut action = Action::default();
        let Some(of_event) = self.events.get_mut(usize::from(event.0)) else {
            return 0;
        };
        for (number, effect) in of_event.effects.iter().enumerate() {
            if effects >> number & 1 == 1 {
                action = action.then(effect.action, effect.proposition);
            }
        }
        let known = self.actions.iter().position(|other| *other == action);
        let number = known.unwrap_or_else(|| {
            self.actions.push(action);
            self.actions.len() - 1
        });
        let number = number as u32;
        of_event.actions.push((effects, number));
        if self.actions.len() > self.width {
            self.widen();
        }
        number
    }

    /// Makes the rows of the table longer.
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

    /// The next state of an instance to which these effects happen.
    ///
    /// # Errors
    /// When the formula has more states than are kept.
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
            let valuation = current.valuation & !action.clear | action.set;
            let letter = Letter(valuation | action.pulse);
            let machine = self.machine.step(current.machine, letter);
            let machine = machine.map_err(|message| EvaluationError {
                span: self.span.clone(),
                message,
            })?;
            let origin = Origin::Step {
                from: state.0,
                letter,
            };
            self.intern(machine, valuation, Some(origin))
        };
        let position = state.index() * self.width + number as usize;
        if let Some(entry) = self.table.get_mut(position) {
            *entry = next.0;
        }
        Ok(next)
    }

    fn intern(&mut self, machine: u32, valuation: u64, origin: Option<Origin>) -> StateId {
        let verdict = self.machine.verdict(machine);
        // What is decided is one state, whatever is true in it.
        let valuation = if is_decided(verdict) { 0 } else { valuation };
        let hash =
            |machine: u32, valuation: u64| crate::hashing::mix(u64::from(machine), valuation);
        let same = |&number: &u32| {
            let state = self.states.get(number as usize);
            state.is_some_and(|state| match is_decided(verdict) {
                true => state.verdict == verdict,
                false => state.machine == machine && state.valuation == valuation,
            })
        };
        let key = match is_decided(verdict) {
            true => hash(verdict as u32, u64::MAX),
            false => hash(machine, valuation),
        };
        if let Some(&known) = self.known.find(key, same) {
            return StateId(known);
        }
        let number = self.states.len() as u32;
        self.states.push(State {
            machine,
            valuation,
            verdict,
            origin,
            needs: None,
        });
        self.table.resize(self.states.len() * self.width, UNKNOWN);
        let states = &self.states;
        self.known.insert_unique(key, number, |&number| {
            states
                .get(number as usize)
                .map_or(0, |state| match is_decided(state.verdict) {
                    true => hash(state.verdict as u32, u64::MAX),
                    false => hash(state.machine, state.valuation),
                })
        });
        StateId(number)
    }

    /// What an instance in this state waits for.
    pub(crate) fn describe(&self, logic: &Logic, state: StateId) -> String {
        let Some(state) = self.states.get(state.index()) else {
            return String::new();
        };
        match state.verdict {
            Verdict::Satisfied => "satisfied".to_owned(),
            Verdict::Violated => "violated".to_owned(),
            _ => self.machine.waits_for(state.machine, &|proposition| {
                let known = logic.propositions.get(usize::from(proposition));
                known.map_or_else(String::new, |known| known.name.to_string())
            }),
        }
    }

    /// The letters by which an instance gets into a state.
    pub(crate) fn letters_to(&self, state: StateId) -> Vec<Letter> {
        let mut letters = Vec::new();
        let mut next = state.index();
        // Each origin is an older state than what came of it.
        while let Some(origin) = self
            .states
            .get(next)
            .and_then(|state| state.origin.as_ref())
        {
            match origin {
                Origin::Step { from, letter } => {
                    letters.push(*letter);
                    next = *from as usize;
                }
                Origin::Restored(before) => {
                    letters.extend(before.iter().rev());
                    break;
                }
            }
        }
        letters.reverse();
        letters
    }

    /// The state that these letters lead to, with these propositions true.
    ///
    /// # Errors
    /// When the formula has more states than are kept.
    pub(crate) fn state_by(
        &mut self,
        letters: &[Letter],
        valuation: Letter,
    ) -> Result<StateId, String> {
        let mut machine = self.machine.initial();
        for &letter in letters {
            machine = self.machine.step(machine, letter)?;
        }
        let origin = (!letters.is_empty()).then(|| Origin::Restored(letters.into()));
        Ok(self.intern(machine, valuation.0, origin))
    }

    /// How many states were met.
    pub(crate) fn count(&self) -> usize {
        self.states.len()
    }

    pub(crate) fn effects(&self, event: EventId) -> &[Effect] {
        let of_event = self.events.get(usize::from(event.0));
        of_event.map_or(&[], |of_event| &of_event.effects)
    }

    /// What a state needs, when that was asked.
    pub(crate) fn known_needs(&self, state: StateId) -> Option<&[StateNeed]> {
        self.states.get(state.index())?.needs.as_deref()
    }

    pub(crate) fn set_needs(&mut self, state: StateId, needs: Vec<StateNeed>) {
        if let Some(state) = self.states.get_mut(state.index()) {
            state.needs = Some(needs);
        }
    }
}

/// True for the verdicts that nothing changes any more.
pub(crate) fn is_decided(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Satisfied | Verdict::Violated)
}

/// So many ones.
fn ones(count: usize) -> u64 {
    (0..count.min(64)).fold(0, |mask, bit| mask | 1 << bit)
}

/// What a guard sees.
struct Frame<'a> {
    variables: &'a [Value],
    captures: &'a [Value],
}

impl Environment for Frame<'_> {
    fn variable(&self, slot: u16) -> Option<&Value> {
        self.variables.get(usize::from(slot))
    }

    fn capture(&self, slot: u8) -> Option<&Value> {
        self.captures.get(usize::from(slot))
    }
}
