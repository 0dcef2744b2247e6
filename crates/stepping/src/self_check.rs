//! Checks whether the inputs and operations of an engine in a live run are a
//! path of this very machine.
//!
//! Two witnesses, which share nothing: a second engine gets the same inputs and
//! must order the same, so that the log has no gap and no stray operation; and
//! a [`referee`] looks at the operations alone, and knows the rules but not how
//! the engine keeps them.
//!
//! A log is one JSON object per line, [`begin_line`] first and then an
//! [`input_line`] for each input. Several engines may write to one log.

mod referee;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Engine, Input, Operation, StepBy};
use referee::Referee;

/// A violation in the operations of an engine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// The second engine orders something else.
    #[error("on {input:?} the engine orders {expected:?}, not {ordered:?}")]
    Differs {
        /// The input.
        input: Input,
        /// The operations in the log.
        ordered: Vec<Operation>,
        /// The expected operations.
        expected: Vec<Operation>,
    },
    /// An operation breaks a rule.
    #[error("on {input:?}: {broken}")]
    Broken {
        /// The input.
        input: Input,
        /// The rule.
        broken: String,
    },
}

/// The check of one engine.
#[derive(Debug, Clone)]
pub struct Checker {
    replica: Engine,
    referee: Referee,
    expected: Vec<Operation>,
    inputs: u64,
}

impl Checker {
    /// Returns the check of an engine that has had no input yet.
    pub fn new(step_by: StepBy) -> Checker {
        Checker {
            replica: Engine::stepping_by(step_by),
            referee: Referee::default(),
            expected: Vec::new(),
            inputs: 0,
        }
    }

    /// Returns the number of inputs that have been checked.
    pub fn inputs(&self) -> u64 {
        self.inputs
    }

    /// Checks one input with all operations ordered for it.
    ///
    /// # Errors
    /// The operations are not those of this engine, or break a rule.
    pub fn follow(&mut self, input: &Input, ordered: &[Operation]) -> Result<(), Violation> {
        self.inputs = self.inputs.saturating_add(1);
        self.referee
            .follow(input, ordered)
            .map_err(|broken| Violation::Broken {
                input: *input,
                broken,
            })?;
        self.expected.clear();
        self.replica.handle(*input, &mut self.expected);
        if self.expected == ordered {
            return Ok(());
        }
        Err(Violation::Differs {
            input: *input,
            ordered: ordered.to_vec(),
            expected: self.expected.clone(),
        })
    }
}

/// A line of a log.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Line {
    Begin {
        engine: u32,
        step_by: StepBy,
    },
    #[serde(rename = "told")]
    Input {
        engine: u32,
        input: Input,
        orders: Vec<Operation>,
    },
}

/// The reason why a log is not one of this engine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct LogError {
    /// The line, counted from 1.
    pub line: usize,
    /// The reason.
    pub reason: String,
}

/// Returns the line with which the log of an engine begins.
pub fn begin_line(engine: u32, step_by: StepBy) -> String {
    text(&Line::Begin { engine, step_by })
}

/// Returns the line for an input.
pub fn input_line(engine: u32, input: &Input, orders: &[Operation]) -> String {
    text(&Line::Input {
        engine,
        input: *input,
        orders: orders.to_vec(),
    })
}

fn text(line: &Line) -> String {
    // Numbers and names only: serializing them cannot fail.
    serde_json::to_string(line).unwrap_or_default()
}

/// Checks a log; returns the number of its inputs.
///
/// # Errors
/// The first line that does not belong to a log of this engine.
pub fn check_log(lines: impl IntoIterator<Item = impl AsRef<str>>) -> Result<u64, LogError> {
    let mut checkers = BTreeMap::new();
    let mut inputs = 0;
    for (index, text) in lines.into_iter().enumerate() {
        check_line(&mut checkers, text.as_ref(), &mut inputs).map_err(|reason| LogError {
            line: index + 1,
            reason,
        })?;
    }
    Ok(inputs)
}

fn check_line(
    checkers: &mut BTreeMap<u32, Checker>,
    text: &str,
    inputs: &mut u64,
) -> Result<(), String> {
    let line = serde_json::from_str(text).map_err(|error| error.to_string())?;
    match line {
        Line::Begin { engine, step_by } => match checkers.insert(engine, Checker::new(step_by)) {
            None => Ok(()),
            Some(_) => Err(format!("engine {engine} begins twice")),
        },
        Line::Input {
            engine,
            input,
            orders,
        } => {
            *inputs += 1;
            let checker = checkers
                .get_mut(&engine)
                .ok_or_else(|| format!("engine {engine} has not begun"))?;
            checker
                .follow(&input, &orders)
                .map_err(|violation| violation.to_string())
        }
    }
}
