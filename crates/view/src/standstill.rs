//! Threads that do not go on, under a schedule.

use serde::Serialize;

/// What has happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StandstillKind {
    /// All threads wait for one another.
    Deadlock,
    /// Some threads wait for one another; others may go on.
    PartialDeadlock,
    /// The run does not end within its limits.
    Endless,
    /// The run has gone another way than the one that it repeats.
    Diverged,
}

impl StandstillKind {
    /// Returns the word for it in the JSON output.
    pub fn word(self) -> &'static str {
        match self {
            StandstillKind::Deadlock => "deadlock",
            StandstillKind::PartialDeadlock => "partial_deadlock",
            StandstillKind::Endless => "endless",
            StandstillKind::Diverged => "diverged",
        }
    }

    /// Returns the title of its report.
    pub fn title(self) -> &'static str {
        match self {
            StandstillKind::Deadlock | StandstillKind::PartialDeadlock => "DEADLOCK",
            StandstillKind::Endless => "DOES NOT END",
            StandstillKind::Diverged => "ANOTHER WAY",
        }
    }
}

/// A thread of a standstill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WaitingThreadView {
    /// Its number.
    pub number: u32,
    /// Where it stands: the function, and the file with the line, as far as they are known.
    pub place: String,
    /// What it waits for.
    pub object: Option<String>,
    /// The thread that has it.
    pub holder: Option<u32>,
}
