//! What a machine does not decide by itself: its environment.
//!
//! A step asks for a value where it reads a monitored or shared function, and
//! where it chooses; for nothing else, and for each thing once. Who answers is
//! all the same to the machine:
//!
//! - [`Possibilities`](super::Possibilities): every answer in turn, for checking; with some answers
//!   given, those of a recorded session;
//! - [`Random`]: any answer;
//! - [`Written`]: what a script says;
//! - [`Asked`]: a person, who is asked.

use super::program::{FunctionId, Model};
use super::types::{Type, VALUES_MAX};
use super::value::Value;
use crate::random::SplitMix;
use crate::{Fault, Span};
use std::collections::BTreeMap;

/// Why a step has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The model is wrong.
    Fault(Box<Fault>),
    /// The environment has no answer.
    NoAnswer(Box<Fault>),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        Stop::Fault(Box::new(fault))
    }
}

impl Stop {
    /// What is to be told.
    pub fn fault(self) -> Fault {
        match self {
            Stop::Fault(fault) | Stop::NoAnswer(fault) => *fault,
        }
    }
}

/// What a step asks for.
#[derive(Debug, Clone, Copy)]
pub enum Subject<'a> {
    /// The value of a function of the environment.
    Place {
        /// The function.
        function: FunctionId,
        /// Its arguments.
        arguments: &'a [Value],
        /// The value until now, of a shared function.
        before: Option<&'a Value>,
    },
    /// The value of a variable of `choose`.
    Choice {
        /// What the variable is called.
        name: &'a str,
    },
    /// The number of one of several rules, from 1.
    Alternative,
}

/// A question to the environment.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The model.
    pub model: &'a Model,
    /// What is asked for.
    pub subject: Subject<'a>,
    /// Where the model asks.
    pub span: Span,
    pub(super) of: &'a Type,
    pub(super) possible: Option<&'a [Value]>,
}

impl Question<'_> {
    /// What is asked for, in words.
    pub fn text(&self) -> String {
        match self.subject {
            Subject::Place {
                function,
                arguments,
                ..
            } => self.model.show_location(function, arguments),
            Subject::Choice { name } => name.to_owned(),
            Subject::Alternative => "one of the rules".to_owned(),
        }
    }

    /// The type of the answer, as it is written.
    pub fn type_text(&self) -> String {
        self.model.show_type(self.of)
    }

    /// The answers that are possible.
    pub fn candidates(&self) -> Result<Vec<Value>, Stop> {
        if let Some(possible) = self.possible {
            return Ok(possible.to_vec());
        }
        let values = self.of.values(&self.model.enumerations);
        values.ok_or_else(|| {
            let message = format!(
                "the values of `{}`, of type {}, cannot be listed",
                self.text(),
                self.model.show_type(self.of)
            );
            let help = format!(
                "write `possible {{ ... }}` after the type: at most {VALUES_MAX} values that the \
                 environment may give"
            );
            let fault = Fault::new("endless", message, Some(self.span)).help(help);
            Stop::Fault(Box::new(fault))
        })
    }

    /// Whether an answer is possible.
    pub fn allows(&self, value: &Value) -> bool {
        match self.possible {
            Some(possible) => possible.contains(value),
            None => self.of.has(value, &self.model.enumerations),
        }
    }

    /// The answer that a text means: a value as it is shown.
    pub fn answer(&self, text: &str) -> Option<Value> {
        let text = text.trim();
        let value = match self.candidates() {
            Ok(candidates) => candidates
                .into_iter()
                .find(|value| self.model.show(value) == text),
            Err(_) if text == "undef" => Some(Value::Undefined),
            Err(_) => match self.of.present() {
                Type::Integer | Type::Range(..) => text.parse().ok().map(Value::Integer),
                Type::Text => Some(Value::Text(text.trim_matches('"').into())),
                _ => None,
            },
        };
        value.filter(|value| self.allows(value))
    }

    pub(super) fn no_answer(&self, message: String) -> Stop {
        Stop::NoAnswer(Box::new(Fault::new("no-answer", message, Some(self.span))))
    }
}

/// Answers what a step asks.
pub trait Environment {
    /// The answer to a question.
    fn answer(&mut self, question: &Question<'_>) -> Result<Value, Stop>;

    /// How many answers it has given in this step, where a step is made again.
    fn asked(&self) -> usize {
        0
    }

    /// What it knows of a decision in a step that is made again, counted from 0, with
    /// how it was made before; nothing if it must be made anew.
    fn again(&mut self, _number: usize) -> Option<(Again, Decision)> {
        None
    }

    /// A decision was made, for whose candidates nothing was asked.
    fn keep(&mut self, _number: usize, _decision: Decision) {}
}

/// How a place of the environment, or what a rule chooses, has come to its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// It was asked for.
    pub asks: bool,
    /// The number of the next decision after it.
    pub next: usize,
    /// What it took to find the candidates.
    pub work: usize,
    /// The only candidate, if there was one.
    pub only: Option<Value>,
}

/// What comes of a decision that was made before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Again {
    /// This answer.
    Answered(Value),
    /// The only candidate, or nothing: there was no question.
    Alone(Option<Value>),
}

/// Answers that are known, by place.
pub type Settings = BTreeMap<(FunctionId, Vec<Value>), Value>;

pub(super) fn setting(settings: &Settings, question: &Question<'_>) -> Option<Value> {
    match question.subject {
        Subject::Place {
            function,
            arguments,
            ..
        } => settings.get(&(function, arguments.to_vec())).cloned(),
        Subject::Choice { .. } | Subject::Alternative => None,
    }
}

/// Any answer, the same ones again for the same seed.
#[derive(Debug, Clone)]
pub struct Random(SplitMix);

impl Random {
    /// Answers that depend on a seed.
    pub fn new(seed: u64) -> Random {
        Random(SplitMix(seed))
    }
}

impl Environment for Random {
    fn answer(&mut self, question: &Question<'_>) -> Result<Value, Stop> {
        let candidates = question.candidates()?;
        let chosen = self.0.below(candidates.len());
        candidates.into_iter().nth(chosen).ok_or_else(|| {
            question.no_answer(format!("nothing is possible for `{}`", question.text()))
        })
    }
}

/// What a script says: values by place, which stay until it says otherwise, and
/// choices, which are for one step.
#[derive(Debug, Default)]
pub struct Written {
    /// Values by place.
    pub settings: Settings,
    /// Values of variables of `choose`, by name; without one, the numbers of rules.
    pub picks: Vec<(String, Value)>,
}

impl Environment for Written {
    fn answer(&mut self, question: &Question<'_>) -> Result<Value, Stop> {
        if let Some(known) = setting(&self.settings, question) {
            return Ok(known);
        }
        match question.subject {
            Subject::Place {
                before: Some(before),
                ..
            } => return Ok(before.clone()),
            Subject::Choice { .. } | Subject::Alternative => {
                let name = match question.subject {
                    Subject::Choice { name } => name,
                    _ => "",
                };
                let position = self.picks.iter().position(|(picked, _)| picked == name);
                if let Some(position) = position {
                    return Ok(self.picks.remove(position).1);
                }
            }
            Subject::Place { before: None, .. } => {}
        }
        let candidates = question.candidates();
        match candidates.as_deref() {
            Ok([only]) => Ok(only.clone()),
            _ => {
                let what = question.text();
                let stop = question.no_answer(format!("the script does not say what `{what}` is"));
                let order = match question.subject {
                    Subject::Place { .. } => format!("set {what} = ..."),
                    Subject::Choice { .. } => format!("pick {what} = ..."),
                    Subject::Alternative => "pick rule = 1".to_owned(),
                };
                let help = format!("write `{order}` before the step");
                Err(Stop::NoAnswer(Box::new(stop.fault().help(help))))
            }
        }
    }
}

/// A person, who is asked where there is more than one answer.
pub struct Asked<F> {
    ask: F,
}

impl<F: FnMut(&Question<'_>) -> Option<Value>> Asked<F> {
    /// Asks by a function, which gives nothing when the person does not want to
    /// go on.
    pub fn new(ask: F) -> Asked<F> {
        Asked { ask }
    }
}

impl<F: FnMut(&Question<'_>) -> Option<Value>> Environment for Asked<F> {
    fn answer(&mut self, question: &Question<'_>) -> Result<Value, Stop> {
        match question.candidates().as_deref() {
            Ok([only]) => return Ok(only.clone()),
            Ok([]) => {
                let text = format!("nothing is possible for `{}`", question.text());
                return Err(question.no_answer(text));
            }
            _ => {}
        }
        (self.ask)(question).ok_or_else(|| question.no_answer("there was no answer".to_owned()))
    }
}
