//! Scenarios: section 6.5.

use super::monitors::Transition;
use super::points::Point;
use juror_event::Verdict;

/// A command of the developer or of a scenario: table 1.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Command {
    /// Nothing: the scenario is done.
    Nothing,
    /// Show the value at an address.
    GetAddress(u64),
    /// Change the value at an address.
    SetAddress(u64, i64),
    /// Show the value of a variable.
    GetSymbol(String),
    /// Change the value of a variable.
    SetSymbol(String, i64),
    /// Show the address of the next instruction.
    GetProgramCounter,
    /// Set the address of the next instruction.
    SetProgramCounter(u64),
    /// Create a checkpoint of the program and the monitors.
    Checkpoint,
    /// Restore a checkpoint of both.
    Restore(usize),
    /// Let the program run.
    Continue,
    /// Stop the program.
    Interrupt,
    /// Execute one instruction.
    Step,
    /// Set a point.
    SetPoint(Point),
    /// Remove a point.
    RemovePoint(Point),
}

/// The reply to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reply {
    /// The command is done.
    Done,
    /// A value.
    Value(i64),
    /// The number of the new checkpoint.
    Checkpoint(usize),
}

/// The notification of an event to a scenario.
#[derive(Debug, Clone, Copy)]
pub struct EventNotification<'a> {
    /// The transitions that the monitors made.
    pub transitions: &'a [Transition],
    /// The verdicts of all properties.
    pub verdicts: &'a [Verdict],
}

/// Reactions. Each call returns one command, whose reply is passed to `on_reply`, until
/// the command is [`Command::Nothing`].
pub trait Scenario {
    /// Reacts to an event, or to the beginning of the run, which has no transitions.
    fn on_verdict(&mut self, notification: &EventNotification<'_>) -> Command;

    /// Reacts to one of the scenario's own points.
    fn on_point(&mut self, point: Point) -> Command;

    /// Continues after the scenario's last command.
    fn on_reply(&mut self, reply: Reply) -> Command;
}

/// A scenario that does nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Silent;

impl Scenario for Silent {
    fn on_verdict(&mut self, _notification: &EventNotification<'_>) -> Command {
        Command::Nothing
    }

    fn on_point(&mut self, _point: Point) -> Command {
        Command::Nothing
    }

    fn on_reply(&mut self, _reply: Reply) -> Command {
        Command::Nothing
    }
}
