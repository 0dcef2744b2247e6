//! The effects of a reaction, and its access to the program.

use juror_event::Value;
use juror_language::{EvaluationError, PointWord, ReactionBlock, StateName};
use juror_monitoring::listeners::ContextValues;
use std::ops::Range;

/// The program as a reaction reads it.
pub trait World {
    /// Evaluates an expression of the prompt.
    ///
    /// # Errors
    /// It has no value; the reason.
    fn read(&mut self, code: &str) -> Result<Value, String>;
}

/// The block of a point, with the values at the time when it was set.
#[derive(Debug, Clone, PartialEq)]
pub struct PointBlock {
    /// The statements.
    pub block: ReactionBlock,
    /// The local variables.
    pub locals: Vec<Value>,
    /// The parameters of the slice.
    pub parameters: ContextValues,
}

/// An effect of a reaction.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Show a line.
    Print(String),
    /// Write a line to the report.
    Report(String),
    /// Stop for the user after the reactions.
    Stop(Option<String>),
    /// Do not stop for the event.
    Continue,
    /// Show this many frames of the stack.
    Backtrace(Option<u64>),
    /// Save the program and the monitors; the number is the reply.
    Checkpoint,
    /// Restore a checkpoint.
    Restore(u64),
    /// Assign to a location in the program: `place = value`.
    Set(String),
    /// Set a point; its number is the reply.
    Point {
        /// Its kind.
        word: PointWord,
        /// The argument of its command.
        place: String,
        /// The states of the slice during which it stays.
        lasting: Vec<StateName>,
        /// The block to run when it is hit.
        reaction: Option<PointBlock>,
    },
    /// Remove a point by its number.
    Remove(u64),
    /// Enable or disable a property.
    Switch {
        /// Its name.
        property: Box<str>,
        /// Whether it is enabled.
        is_enabled: bool,
    },
    /// Run a command of the prompt.
    Command(String),
}

/// An error of a reaction, with its place in the text of the scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The place, in bytes.
    pub span: Range<usize>,
    /// The message.
    pub message: String,
    /// The help.
    pub help: Option<String>,
}

impl From<EvaluationError> for Failure {
    fn from(error: EvaluationError) -> Failure {
        Failure {
            span: error.span,
            message: error.message,
            help: None,
        }
    }
}
