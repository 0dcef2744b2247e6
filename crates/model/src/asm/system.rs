//! A model as a transition system: the environment enumerates all answers.

use super::environment::Stop;
use super::evaluate::{Changes, StepResult, undefined};
use super::memo::{Memo, ReadLog};
use super::possibilities::Possibilities;
use super::program::{Invariant, Model, Term};
use super::state::{Location, State, all_live};
use super::value::Value;
use crate::{Change, Fault, Participants, Span, Step, System, Visitor};
use juror_logic::Letter;
use std::sync::Arc;

/// Numbers of the actors: the environment and the machine.
const ENVIRONMENT: usize = 0;
const MACHINE: usize = 1;
/// Maximum number of combinations of answers in a step.
const POSSIBILITIES_MAX: usize = 1 << 16;

impl Model {
    /// Limits the memoized steps to a part of the memory that a search may use.
    pub fn limit_memory(&mut self, memory_bytes_max: u64) {
        let part = usize::try_from(memory_bytes_max / 8).unwrap_or(usize::MAX);
        self.known_bytes_max = self.known_bytes_max.min(part);
        if let Some(abstraction) = &mut self.abstraction {
            abstraction.model.limit_memory(memory_bytes_max);
        }
    }

    /// Decodes a state of a search of this model.
    pub fn state(&self, bytes: &[u8]) -> State {
        State::decode(bytes)
    }

    /// Returns the encoding of a state, which is unique to it.
    pub fn bytes(&self, state: &State) -> Vec<u8> {
        let mut bytes = Vec::new();
        state.encode(&mut bytes);
        bytes
    }

    /// Calls `each` with the result of every combination of answers, until it returns
    /// false.
    pub(super) fn all<T>(
        &self,
        possibilities: &mut Possibilities,
        mut step: impl FnMut(&mut Possibilities) -> Result<T, Stop>,
        mut each: impl FnMut(Result<T, Fault>) -> bool,
    ) {
        for _ in 0..POSSIBILITIES_MAX {
            let more = match step(possibilities) {
                Ok(stepped) => each(Ok(stepped)),
                Err(Stop::Fault(fault)) => each(Err(*fault)),
                // This combination of answers is impossible.
                Err(Stop::NoAnswer(_)) => true,
            };
            if !more || !possibilities.advance() {
                return;
            }
        }
        let message = format!("a step has more than {POSSIBILITIES_MAX} possibilities");
        each(Err(Fault::new("too-large", message, Some(self.main.span))
            .help("let the environment choose less in one step")));
    }

    /// Returns the outcomes of a state, memoized for all states with the same reads.
    pub(super) fn known_outcomes(&self, state: &State, known: &mut Known) -> Arc<Outcomes> {
        if let Some(outcomes) = known.steps.find(state) {
            return outcomes;
        }
        let (outcomes, log) = self.outcomes(state);
        let bytes = outcomes.iter().map(|outcome| match outcome {
            Ok(changes) => changes.iter().map(bytes_of_change).sum(),
            Err(_) => size_of::<Fault>(),
        });
        let (bytes, outcomes) = (bytes.sum(), Arc::new(outcomes));
        known.steps.keep(log, Arc::clone(&outcomes), bytes);
        outcomes
    }

    /// Returns the reason that a state, given by its bytes, has no successor; `None` if
    /// it has one.
    pub fn standstill(&self, bytes: &[u8]) -> Option<Fault> {
        match self.step(&self.state(bytes), &mut Possibilities::default()) {
            Err(Stop::NoAnswer(fault)) => Some(
                fault.help("without an answer of the environment, the machine cannot make a step"),
            ),
            _ => None,
        }
    }

    /// Returns whether a condition holds in a state.
    pub(super) fn holds(&self, state: &State, condition: &Term) -> Result<bool, Fault> {
        self.holds_logging(state, condition, &mut ReadLog::default())
    }

    fn holds_logging(
        &self,
        state: &State,
        condition: &Term,
        log: &mut ReadLog,
    ) -> Result<bool, Fault> {
        match self.evaluate_logging(state, condition, log) {
            Ok(Value::Undefined) => Err(undefined(condition.span)),
            Ok(value) => Ok(value == Value::Boolean(true)),
            Err(stop) => Err(stop.fault()),
        }
    }

    /// Returns the fault of the first invariant that a state violates.
    pub fn broken(&self, state: &State) -> Option<Fault> {
        let mut invariants = self.invariants.iter();
        invariants.find_map(|it| self.breaks(state, it, &mut ReadLog::default()))
    }

    fn breaks(&self, state: &State, invariant: &Invariant, log: &mut ReadLog) -> Option<Fault> {
        match self.holds_logging(state, &invariant.condition, log) {
            Ok(true) => None,
            Ok(false) => {
                let message = format!("the invariant `{}` does not hold", invariant.name);
                let span = invariant.condition.span;
                Some(Fault::new("invariant", message, Some(span)))
            }
            Err(fault) => Some(fault),
        }
    }

    /// Returns the propositions that hold in a state.
    pub fn letter_of(&self, state: &State) -> Result<Letter, Fault> {
        self.letter_logging(state, &mut ReadLog::default())
    }

    fn letter_logging(&self, state: &State, log: &mut ReadLog) -> Result<Letter, Fault> {
        let mut letter = 0;
        for (bit, proposition) in self.propositions.iter().enumerate() {
            letter |= u64::from(self.holds_logging(state, proposition, log)?) << bit;
        }
        Ok(Letter(letter))
    }

    /// Returns the source texts of the propositions, by bit.
    pub fn proposition_texts(&self) -> Vec<&str> {
        let propositions = self.propositions.iter();
        propositions.map(|term| self.source(term.span)).collect()
    }

    /// Returns the changes from one state to another.
    pub fn changes(&self, before: &State, after: &State) -> Vec<Change> {
        let mut changes = Vec::new();
        let live = after.live();
        for (place, old, new) in before.differences(after) {
            let (id, arguments) = place;
            // The loss of an object is not a change.
            if old != new
                && all_live(arguments, &live)
                && let Ok(value) = self.value_at(after, *id, arguments)
            {
                changes.push(Change {
                    name: self.show_location(*id, arguments),
                    value: self.show(&value),
                });
            }
        }
        changes
    }

    /// Describes a step: the actions of the environment and of the machine.
    pub fn describe(&self, before: &State, step: &StepResult) -> Vec<Step> {
        let mut environment_actions: Vec<String> = step
            .answers
            .iter()
            .map(|((id, arguments), value)| {
                format!(
                    "{} = {}",
                    self.show_location(*id, arguments),
                    self.show(value)
                )
            })
            .collect();
        environment_actions.extend(step.choices.iter().map(|(name, value)| match &**name {
            "" => format!("rule {}", self.show(value)),
            name => format!("{name} = {}", self.show(value)),
        }));
        let mut steps = Vec::new();
        if !environment_actions.is_empty() {
            steps.push(visible(
                ENVIRONMENT,
                environment_actions.join(", "),
                None,
                Vec::new(),
            ));
        }
        let mut names: Vec<&str> = Vec::new();
        for update in step.updates.values() {
            let rule = update.rule.and_then(|id| self.rules.get(id.0 as usize));
            let name = rule.map_or("main", |rule| &rule.name);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let span = step.updates.values().next().map(|update| update.span);
        let text = match &names[..] {
            [] => "nothing".to_owned(),
            names => names.join(", "),
        };
        let changes = self.changes(before, &step.state);
        steps.push(visible(MACHINE, text, span, changes));
        steps
    }
}

fn visible(actor: usize, text: String, span: Option<Span>, changes: Vec<Change>) -> Step {
    Step {
        actor: Some(actor),
        partner: None,
        text,
        span,
        changes,
        printed: String::new(),
    }
}

/// The result of a state for each combination of answers.
type Outcomes = Vec<Result<Changes, Fault>>;

/// Memoized results.
#[derive(Debug)]
pub struct Known {
    pub(super) steps: Memo<Outcomes>,
    /// By invariant: its fault.
    wrong: Vec<Memo<Option<Fault>>>,
    letters: Memo<Result<Letter, Fault>>,
}

impl Known {
    /// Returns an empty memo for a model.
    pub(super) fn new(model: &Model) -> Known {
        let invariants = model.invariants.len();
        let part = model.known_bytes_max / 3;
        let for_each = part / invariants.max(1);
        Known {
            steps: Memo::new(part),
            wrong: (0..invariants).map(|_| Memo::new(for_each)).collect(),
            letters: Memo::new(part),
        }
    }

    /// Returns the size in bytes.
    pub(super) fn bytes(&self) -> usize {
        let wrong = self.wrong.iter().map(Memo::bytes);
        self.steps.bytes() + wrong.sum::<usize>() + self.letters.bytes()
    }
}

fn bytes_of_change((place, value): &(Location, Option<Value>)) -> usize {
    let arguments = place.1.iter().map(Value::bytes).sum::<usize>();
    size_of::<(Location, Option<Value>)>() + arguments + value.as_ref().map_or(0, Value::bytes)
}

impl System for Model {
    type Scratch = Known;

    fn scratch(&self) -> Known {
        Known::new(self)
    }

    fn scratch_bytes(&self, known: &Known) -> u64 {
        known.bytes() as u64
    }

    fn initial(&self, _known: &mut Known, visitor: &mut impl Visitor) {
        let mut bytes = Vec::new();
        self.initial_states(|state| match state {
            Ok(state) => {
                bytes.clear();
                state.encode(&mut bytes);
                visitor.next(&bytes, Participants::one(MACHINE))
            }
            Err(fault) => visitor.fault(fault),
        });
    }

    fn successors(&self, known: &mut Known, state: &[u8], visitor: &mut impl Visitor) {
        let mut bytes = Vec::with_capacity(2 * state.len());
        let state = self.state(state);
        for outcome in self.known_outcomes(&state, known).iter() {
            let more = match outcome {
                Ok(changes) => {
                    bytes.clear();
                    self.after(&state, changes).encode(&mut bytes);
                    visitor.next(&bytes, Participants::one(MACHINE))
                }
                Err(fault) => visitor.fault(fault.clone()),
            };
            if !more {
                return;
            }
        }
    }

    /// Returns false: a machine always makes a step; if the environment has no answer,
    /// that is a deadlock.
    fn may_end(&self, _known: &mut Known, _state: &[u8]) -> bool {
        false
    }

    fn wrong(&self, known: &mut Known, state: &[u8]) -> Option<Fault> {
        if self.invariants.is_empty() {
            return None;
        }
        let state = self.state(state);
        let mut invariants = self.invariants.iter().zip(&mut known.wrong);
        invariants.find_map(|(invariant, known)| {
            if let Some(wrong) = known.find(&state) {
                return Option::clone(&wrong);
            }
            let mut log = ReadLog::default();
            let wrong = self.breaks(&state, invariant, &mut log);
            known.keep(log, Arc::new(wrong.clone()), 0);
            wrong
        })
    }

    fn letter(&self, known: &mut Known, state: &[u8]) -> Result<Letter, Fault> {
        let state = self.state(state);
        if let Some(letter) = known.letters.find(&state) {
            return Result::clone(&letter);
        }
        let mut log = ReadLog::default();
        let letter = self.letter_logging(&state, &mut log);
        known.letters.keep(log, Arc::new(letter.clone()), 0);
        letter
    }

    fn steps(&self, state: &[u8], number: usize) -> Vec<Step> {
        let before = self.state(state);
        let mut left = number;
        let mut steps = Vec::new();
        let mut possibilities = Possibilities::default();
        let step = |possibilities: &mut Possibilities| self.step(&before, possibilities);
        self.all(&mut possibilities, step, |stepped| {
            if left > 0 {
                left -= 1;
                return true;
            }
            steps = match stepped {
                Ok(stepped) => self.describe(&before, &stepped),
                Err(fault) => vec![visible(MACHINE, fault.message, fault.span, Vec::new())],
            };
            false
        });
        steps
    }

    fn actors(&self, _state: &[u8]) -> Vec<String> {
        vec!["environment".to_owned(), "machine".to_owned()]
    }

    fn values(&self, state: &[u8]) -> Vec<Change> {
        self.values_of(&self.state(state))
    }
}

impl Model {
    /// Returns the values of a state: all functions without arguments, and other
    /// locations that differ from their initial values.
    pub fn values_of(&self, state: &State) -> Vec<Change> {
        let mut values = Vec::new();
        for id in &self.dynamic {
            let is_nullary = self
                .function(*id)
                .is_some_and(|function| function.parameters.is_empty());
            let places: Vec<&[Value]> = if is_nullary {
                vec![&[]]
            } else {
                let entries = state.of(*id).iter();
                entries.map(|((_, arguments), _)| &arguments[..]).collect()
            };
            for arguments in places {
                if let Ok(value) = self.value_at(state, *id, arguments) {
                    values.push(Change {
                        name: self.show_location(*id, arguments),
                        value: self.show(&value),
                    });
                }
            }
        }
        values
    }
}
