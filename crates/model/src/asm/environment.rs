//! The environment: resolves what a machine leaves open.
//!
//! A step queries the environment when it reads a monitored or shared function, and when
//! it chooses; each location and choice at most once. All sources of answers have the
//! same interface:
//!
//! - [`Possibilities`](super::Possibilities): every answer in turn, for model checking;
//!   with some answers fixed, those of a recorded session;
//! - [`Random`]: random answers;
//! - [`Written`]: the answers of a script;
//! - [`Asked`]: the answers of a user.

use super::program::{FunctionId, Model};
use super::types::{Type, VALUES_MAX};
use super::value::Value;
use crate::random::SplitMix;
use crate::{Fault, Span};
use std::collections::BTreeMap;

/// The reason that a step has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The model is faulty.
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
    /// Returns the fault to report.
    pub fn fault(self) -> Fault {
        match self {
            Stop::Fault(fault) | Stop::NoAnswer(fault) => *fault,
        }
    }
}

/// The subject of a query.
#[derive(Debug, Clone, Copy)]
pub enum Subject<'a> {
    /// The value of a function of the environment.
    Place {
        /// The function.
        function: FunctionId,
        /// Its arguments.
        arguments: &'a [Value],
        /// The previous value, of a shared function.
        before: Option<&'a Value>,
    },
    /// The value of a variable of `choose`.
    Choice {
        /// Name of the variable.
        name: &'a str,
    },
    /// The number, from 1, of one of several alternative rules.
    Alternative,
}

/// A query to the environment.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The model.
    pub model: &'a Model,
    /// The subject.
    pub subject: Subject<'a>,
    /// Location of the query in the source.
    pub span: Span,
    pub(super) of: &'a Type,
    pub(super) possible: Option<&'a [Value]>,
}

impl Question<'_> {
    /// Returns the text of the subject.
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

    /// Returns the type of the answer, in source syntax.
    pub fn type_text(&self) -> String {
        self.model.show_type(self.of)
    }

    /// Returns the possible answers.
    pub fn candidates(&self) -> Result<Vec<Value>, Stop> {
        if let Some(possible) = self.possible {
            return Ok(possible.to_vec());
        }
        let values = self.of.values(&self.model.enumerations);
        values.ok_or_else(|| {
            let message = format!(
                "the values of `{}`, of type {}, cannot be enumerated",
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

    /// Returns whether an answer is possible.
    pub fn allows(&self, value: &Value) -> bool {
        match self.possible {
            Some(possible) => possible.contains(value),
            None => self.of.has(value, &self.model.enumerations),
        }
    }

    /// Parses an answer: a value as [`Model::show`] displays it.
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

/// Answers the queries of a step.
pub trait Environment {
    /// Returns the answer to a query.
    fn answer(&mut self, question: &Question<'_>) -> Result<Value, Stop>;

    /// Returns the number of answers given in this step; only for environments that
    /// re-execute steps.
    fn asked(&self) -> usize {
        0
    }

    /// Returns the cached decision of a re-executed step by its number from 0, with its
    /// result; `None` if it must be computed.
    fn again(&mut self, _number: usize) -> Option<(Again, Decision)> {
        None
    }

    /// Caches a decision whose candidates were computed without a query.
    fn keep(&mut self, _number: usize, _decision: Decision) {}
}

/// The cached record of a decision: how a location of the environment, or a choice, got
/// its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Whether the environment was queried.
    pub asks: bool,
    /// Number of the next decision after it.
    pub next: usize,
    /// Work units spent on computing the candidates.
    pub work: usize,
    /// The only candidate, if there was exactly one.
    pub only: Option<Value>,
}

/// The result of a cached decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Again {
    /// The answer to the query.
    Answered(Value),
    /// The only candidate, or `None` if there is none; there was no query.
    Alone(Option<Value>),
}

/// Fixed answers by location.
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

/// Pseudorandom answers, reproducible by their seed.
#[derive(Debug, Clone)]
pub struct Random(SplitMix);

impl Random {
    /// Returns the environment for a seed.
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

/// The answers of a script: values of locations, which persist until changed, and choices
/// for one step.
#[derive(Debug, Default)]
pub struct Written {
    /// Values by location.
    pub settings: Settings,
    /// Values of variables of `choose`, by name; numbers of rules have an empty name.
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

/// Queries a user if there is more than one answer.
pub struct Asked<F> {
    ask: F,
}

impl<F: FnMut(&Question<'_>) -> Option<Value>> Asked<F> {
    /// Returns an environment that asks by a function, which returns `None` if the user
    /// stops.
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
