//! What a reaction knows, asks and wants.

use juror_event::Value;
use juror_language::{ContextValue, EvaluationError, PointWord, ReactionBlock, StateName};
use std::ops::Range;

/// What is known about what has happened.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts(Vec<(ContextValue, Value)>);

impl Facts {
    /// Notes something.
    pub fn note(&mut self, fact: ContextValue, value: Value) {
        self.0.push((fact, value));
    }

    /// Notes something in words.
    pub fn note_text(&mut self, fact: ContextValue, text: &str) {
        self.note(fact, Value::String(text.into()));
    }

    /// The parameters of the slice alone.
    pub fn parameters(&self) -> Facts {
        let known = self.0.iter();
        let parameters = known.filter(|(fact, _)| matches!(fact, ContextValue::Parameter(_)));
        Facts(parameters.cloned().collect())
    }

    /// Adds what else is known.
    pub fn extend(&mut self, other: &Facts) {
        self.0.extend_from_slice(&other.0);
    }

    /// What is known of it.
    pub fn get(&self, wanted: &ContextValue) -> Option<&Value> {
        let found = self.0.iter().find(|(fact, _)| fact == wanted);
        found.map(|(_, value)| value)
    }
}

/// What a reaction can ask.
pub trait World {
    /// The value of an expression of the prompt.
    ///
    /// # Errors
    /// It has none; why.
    fn read(&mut self, code: &str) -> Result<Value, String>;
}

/// What is done when a point is hit, with what is known when it is set.
#[derive(Debug, Clone, PartialEq)]
pub struct PointBlock {
    /// The statements.
    pub block: ReactionBlock,
    /// The local variables.
    pub locals: Vec<Value>,
    /// The parameters of the slice.
    pub parameters: Facts,
}

/// What a reaction wants done.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Show a line.
    Print(String),
    /// Write a line to the report.
    Report(String),
    /// Stop for the user, when the reactions are done.
    Stop(Option<String>),
    /// Do not stop for what has happened.
    Continue,
    /// Show so many frames of the stack.
    Backtrace(Option<u64>),
    /// Save the program and the monitors; the number is the reply.
    Checkpoint,
    /// Bring a checkpoint back.
    Restore(u64),
    /// Give a place in the program a value: `place = value`.
    Set(String),
    /// Set a point; its number is the reply.
    Point {
        /// Its kind.
        word: PointWord,
        /// What the command of that name takes.
        place: String,
        /// It stays while the slice is in one of these states.
        lasting: Vec<StateName>,
        /// What is done when it is hit.
        reaction: Option<PointBlock>,
    },
    /// Remove a point by its number.
    Remove(u64),
    /// Switch a property on or off.
    Switch {
        /// Its name.
        property: Box<str>,
        /// Whether it is switched on.
        is_enabled: bool,
    },
    /// Run a command of the prompt.
    Command(String),
}

/// What is wrong with a reaction, and where in the text of its scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Where, in bytes.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
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
