//! Threads under a schedule: which can go on, and those that do not.

use serde::Serialize;

/// The kind of a standstill.
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
    /// Its place: the function, and the file with the line, as far as they are known.
    pub place: String,
    /// The object that it waits for.
    pub object: Option<String>,
    /// The thread that has it.
    pub holder: Option<u32>,
    /// The place at which that thread has taken it, if it is known.
    pub taken_at: Option<String>,
}

/// The threads under a schedule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScheduleView {
    /// The number of schedule points so far.
    pub points: u64,
    /// Whether the run has left the order that it repeats, by the user's choice.
    pub is_branched: bool,
    /// The threads, by number.
    pub threads: Vec<ScheduledThreadView>,
}

/// A thread under a schedule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScheduledThreadView {
    /// Its number.
    pub number: u32,
    /// Its state.
    pub state: ScheduledState,
    /// The next operation, or the object that it waits for: `pthread_mutex_lock(bob)`.
    pub next: String,
    /// Its place: the function, and the file with the line, as far as they are known.
    pub place: String,
}

/// The state of a thread under a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ScheduledState {
    /// It goes on when the program is resumed.
    Runs,
    /// It could go on instead.
    Ready,
    /// It waits for another thread, or for a time.
    Waits,
    /// It waits in a system call.
    InKernel,
}

/// The communication of threads under a schedule, in the order of its steps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CommunicationView {
    /// The numbers of the threads that make the steps, in order.
    pub threads: Vec<u32>,
    /// The steps.
    pub steps: Vec<CommunicationStepView>,
    /// The number of older steps, which are not kept or not asked for.
    pub left_out: u64,
    /// The file to which a picture was written.
    pub file: Option<String>,
}

/// A step of the communication of threads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CommunicationStepView {
    /// The number of schedule points before it.
    pub point: u64,
    /// The number of the thread.
    pub thread: u32,
    /// The step in words: `pthread_mutex_lock(bob)`, `waits for bob`.
    pub step: String,
    /// The number of the thread that the step is an effect of.
    pub by: Option<u32>,
    /// The place of the call in the user's code; empty if it is not known.
    pub place: String,
}
