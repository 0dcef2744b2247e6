//! What reacts: section 6.5.

use super::monitors::Transition;
use super::points::Point;
use juror_event::Verdict;

/// A command of the developer or of a scenario: table 1.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Command {
    /// Nothing: a scenario has no more to say.
    Nothing,
    /// Shows the value at an address.
    GetAddress(u64),
    /// Changes the value at an address.
    SetAddress(u64, i64),
    /// Shows the value of a variable.
    GetSymbol(String),
    /// Changes the value of a variable.
    SetSymbol(String, i64),
    /// Shows which instruction is next.
    GetProgramCounter,
    /// Makes another instruction the next.
    SetProgramCounter(u64),
    /// Keeps the program and the monitors.
    Checkpoint,
    /// Brings back both.
    Restore(usize),
    /// Lets the program run.
    Continue,
    /// Stops it.
    Interrupt,
    /// Executes one instruction.
    Step,
    /// Sets a point.
    SetPoint(Point),
    /// Removes a point.
    RemovePoint(Point),
}

/// What a command answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reply {
    /// It is done.
    Done,
    /// A value.
    Value(i64),
    /// The number of a checkpoint.
    Checkpoint(usize),
}

/// What happened at an event, as a scenario is told.
#[derive(Debug, Clone, Copy)]
pub struct Told<'a> {
    /// The transitions that the monitors made.
    pub transitions: &'a [Transition],
    /// The verdicts of all properties.
    pub verdicts: &'a [Verdict],
}

/// Reactions. Each gives one command, and is told what that answers, until there
/// is nothing more to do.
pub trait Scenario {
    /// An event, or the beginning, which has no transitions.
    fn on_verdict(&mut self, told: &Told<'_>) -> Command;

    /// One of its own points was reached.
    fn on_point(&mut self, point: Point) -> Command;

    /// Its last command has been done.
    fn on_reply(&mut self, reply: Reply) -> Command;
}

/// A scenario that does nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Silent;

impl Scenario for Silent {
    fn on_verdict(&mut self, _told: &Told<'_>) -> Command {
        Command::Nothing
    }

    fn on_point(&mut self, _point: Point) -> Command {
        Command::Nothing
    }

    fn on_reply(&mut self, _reply: Reply) -> Command {
        Command::Nothing
    }
}
