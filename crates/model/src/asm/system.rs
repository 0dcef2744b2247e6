//! A model as a system that can be explored: its environment does everything
//! that it can.

use super::environment::Stop;
use super::evaluate::{Stepped, undefined};
use super::possibilities::Possibilities;
use super::program::{Model, Term};
use super::state::{State, all_live};
use super::value::Value;
use crate::{Change, Fault, Participants, Span, Step, System, Visitor};
use juror_logic::Letter;

/// The environment and the machine.
const ENVIRONMENT: usize = 0;
const MACHINE: usize = 1;
/// The most possibilities that a step may have.
const POSSIBILITIES_MAX: usize = 1 << 16;

impl Model {
    /// The state of these bytes, which are from a search of this model.
    pub fn state(&self, bytes: &[u8]) -> State {
        State::decode(bytes, self.dynamic.len())
    }

    /// What tells a state from all others.
    pub fn bytes(&self, state: &State) -> Vec<u8> {
        let mut bytes = Vec::new();
        state.encode(&mut bytes);
        bytes
    }

    /// Gives each possibility to a function, until it has seen enough.
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
                // Nothing is possible on this way.
                Err(Stop::NoAnswer(_)) => true,
            };
            if !more || !possibilities.advance() {
                return;
            }
        }
        let message = format!("a step has more than {POSSIBILITIES_MAX} possibilities");
        each(Err(Fault::new("too-large", message, Some(self.main.span))
            .help("let the environment choose less at once")));
    }

    fn visit(&self, state: Option<&State>, visitor: &mut impl Visitor) {
        let mut bytes = Vec::new();
        let each = |state: Result<State, Fault>| match state {
            Ok(state) => {
                bytes.clear();
                state.encode(&mut bytes);
                visitor.next(&bytes, Participants::one(MACHINE))
            }
            Err(fault) => visitor.fault(fault),
        };
        let Some(state) = state else {
            return self.beginnings(each);
        };
        let step = |possibilities: &mut Possibilities| {
            self.step(state, possibilities).map(|step| step.state)
        };
        self.all(&mut Possibilities::default(), step, each);
    }

    /// Why nothing is possible in a state of these bytes; nothing if something is.
    pub fn standstill(&self, bytes: &[u8]) -> Option<Fault> {
        match self.step(&self.state(bytes), &mut Possibilities::default()) {
            Err(Stop::NoAnswer(fault)) => Some(fault.help(
                "what a step asks its environment must have an answer, or the machine stands \
                 still",
            )),
            _ => None,
        }
    }

    /// Whether a condition holds in a state.
    pub(super) fn holds(&self, state: &State, condition: &Term) -> Result<bool, Fault> {
        match self.evaluate(state, condition) {
            Ok(Value::Undefined) => Err(undefined(condition.span)),
            Ok(value) => Ok(value == Value::Boolean(true)),
            Err(stop) => Err(stop.fault()),
        }
    }

    /// The invariant that a state breaks.
    pub fn broken(&self, state: &State) -> Option<Fault> {
        self.invariants
            .iter()
            .find_map(|invariant| match self.holds(state, &invariant.condition) {
                Ok(true) => None,
                Ok(false) => {
                    let message = format!("the invariant `{}` does not hold", invariant.name);
                    Some(Fault::new(
                        "invariant",
                        message,
                        Some(invariant.condition.span),
                    ))
                }
                Err(fault) => Some(fault),
            })
    }

    /// What is true in a state.
    pub fn letter_of(&self, state: &State) -> Result<Letter, Fault> {
        let mut letter = 0;
        for (bit, proposition) in self.propositions.iter().enumerate() {
            letter |= u64::from(self.holds(state, proposition)?) << bit;
        }
        Ok(Letter(letter))
    }

    /// The propositions of the letters, as they are written.
    pub fn proposition_texts(&self) -> Vec<&str> {
        let propositions = self.propositions.iter();
        propositions.map(|term| self.source(term.span)).collect()
    }

    /// What is different in another state.
    pub fn changes(&self, before: &State, after: &State) -> Vec<Change> {
        let mut changes = Vec::new();
        let live = after.live();
        for (slot, id) in self.dynamic.iter().enumerate() {
            let (old, new) = (before.entries.get(slot), after.entries.get(slot));
            let mut places: Vec<&Vec<Value>> = old
                .into_iter()
                .chain(new)
                .flat_map(|entries| entries.keys())
                .collect();
            places.sort();
            places.dedup();
            for arguments in places {
                let changed = old.and_then(|old| old.get(arguments))
                    != new.and_then(|new| new.get(arguments));
                // What becomes of an object that is gone is no change.
                if changed
                    && all_live(arguments, &live)
                    && let Ok(value) = self.value_at(after, *id, arguments)
                {
                    changes.push(Change {
                        name: self.show_location(*id, arguments),
                        value: self.show(&value),
                    });
                }
            }
        }
        changes
    }

    /// A step in words: what the environment did, and what the machine did.
    pub fn describe(&self, before: &State, step: &Stepped) -> Vec<Step> {
        let mut said: Vec<String> = step
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
        said.extend(step.choices.iter().map(|(name, value)| match &**name {
            "" => format!("rule {}", self.show(value)),
            name => format!("{name} = {}", self.show(value)),
        }));
        let mut steps = Vec::new();
        if !said.is_empty() {
            steps.push(visible(ENVIRONMENT, said.join(", "), None, Vec::new()));
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

impl System for Model {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial(&self, (): &mut (), visitor: &mut impl Visitor) {
        self.visit(None, visitor);
    }

    fn successors(&self, (): &mut (), state: &[u8], visitor: &mut impl Visitor) {
        self.visit(Some(&self.state(state)), visitor);
    }

    /// A machine always makes a step; where the environment has no answer, it
    /// does not go on.
    fn may_end(&self, (): &mut (), _state: &[u8]) -> bool {
        false
    }

    fn wrong(&self, (): &mut (), state: &[u8]) -> Option<Fault> {
        self.broken(&self.state(state))
    }

    fn letter(&self, (): &mut (), state: &[u8]) -> Result<Letter, Fault> {
        self.letter_of(&self.state(state))
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
    /// The values of a state: all functions without arguments, and the places
    /// of others that are not as in the beginning.
    pub fn values_of(&self, state: &State) -> Vec<Change> {
        let mut values = Vec::new();
        for (slot, id) in self.dynamic.iter().enumerate() {
            let is_nullary = self
                .function(*id)
                .is_some_and(|function| function.parameters.is_empty());
            let mut places: Vec<Vec<Value>> = match state.entries.get(slot) {
                Some(entries) => entries.keys().cloned().collect(),
                None => Vec::new(),
            };
            if is_nullary {
                places = vec![Vec::new()];
            }
            for arguments in places {
                if let Ok(value) = self.value_at(state, *id, &arguments) {
                    values.push(Change {
                        name: self.show_location(*id, &arguments),
                        value: self.show(&value),
                    });
                }
            }
        }
        values
    }
}
