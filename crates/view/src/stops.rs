//! Why and where a run stopped or ended.

use crate::{
    DisplayView, FrameView, Location, NamedValue, Outcome, ProcessName, PropertySummary,
    SourceView, VariableView, ViolationView,
};
use serde::Serialize;
use std::sync::Arc;

/// A stack that is used up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StackOverflowView {
    /// The number of frames.
    pub frame_count: usize,
    /// The functions of the recursion, innermost first; empty if none was recognized.
    pub cycle: Vec<String>,
}

/// Why the debuggee stopped.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum StopReason {
    /// A property is violated.
    Violation {
        /// For which slices, of which properties.
        violations: Vec<ViolationView>,
    },
    /// A guard or update of a property could not be evaluated.
    MonitorError {
        /// The property's name.
        property: String,
        /// What is wrong, with the source line, rendered by the front end.
        message: String,
        /// Where in the property's source, in bytes.
        start: usize,
        /// The end of that place.
        end: usize,
        /// The file of the property.
        file: String,
        /// What that file says, for those who show the place.
        #[serde(skip)]
        text: Arc<str>,
    },
    /// A scenario wants the program to stop.
    Scenario {
        /// Its name.
        scenario: String,
        /// Why, when it says so.
        message: Option<String>,
    },
    /// A reaction of a scenario went wrong.
    ScenarioError {
        /// The scenario's name.
        scenario: Box<str>,
        /// What is wrong, with the source line, rendered by the front end.
        message: String,
        /// What to do about it.
        help: Option<Box<str>>,
        /// Where in the scenario's source, in bytes.
        start: usize,
        /// The end of that place.
        end: usize,
        /// The file of the scenario.
        file: Box<str>,
        /// What that file says, for those who show the place.
        #[serde(skip)]
        text: Arc<str>,
    },
    /// A breakpoint of the developer.
    Breakpoint {
        /// Its numbers.
        numbers: Vec<u32>,
        /// It was temporary and is gone.
        temporary: bool,
        /// Conditions that could not be evaluated, each in a sentence.
        errors: Vec<String>,
        /// Its commands ask for the stop not to be shown.
        silent: bool,
    },
    /// A catchpoint of the developer.
    Caught {
        /// Its numbers.
        numbers: Vec<u32>,
        /// It was temporary and is gone.
        temporary: bool,
        /// What was caught: `syscall_entry`, `syscall_exit`, `signal`, `fork`,
        /// `vfork`, `exec`, `load`, `unload`, `throw`, `rethrow`, `catch`.
        event: String,
        /// The same in words, with what it is about.
        description: String,
        /// Conditions that could not be evaluated, each in a sentence.
        errors: Vec<String>,
        /// Its commands ask for the stop not to be shown.
        silent: bool,
    },
    /// Watched memory was accessed; the thread stands behind the access.
    Watchpoint {
        /// By which watchpoints it was seen.
        accesses: Vec<WatchedAccess>,
        /// Conditions that could not be evaluated, each in a sentence.
        errors: Vec<String>,
        /// Its commands ask for the stop not to be shown.
        silent: bool,
    },
    /// The call is over for which local variables were watched. The
    /// watchpoints are gone.
    WatchpointEnded {
        /// Their numbers.
        numbers: Vec<u32>,
        /// What they watched.
        expressions: Vec<String>,
        /// The function that was left.
        function: String,
    },
    /// A step, `next` or `until` is done.
    Step,
    /// `finish` is done.
    Finished {
        /// The returned value, where known.
        returned: Option<VariableView>,
        /// The function that returned.
        function: String,
    },
    /// A signal that is about to be delivered.
    Signal {
        /// Its name, `SIGSEGV`.
        signal: String,
        /// What it says in words.
        description: String,
        /// The address it is about, for faults.
        fault_address: Option<u64>,
        /// The stack is used up: the cause of the fault.
        stack_overflow: Option<StackOverflowView>,
        /// It will end the program.
        fatal: bool,
    },
    /// Ctrl-C.
    Interrupted,
    /// The program has been started and stands at its main function.
    Started,
    /// juror has attached to a process that ran.
    Attached {
        /// Its number.
        process: u32,
    },
    /// An expression that was stopped in a function it called has its value;
    /// the thread stands where it stood before.
    Evaluated {
        /// The number of the evaluation.
        number: u32,
        /// The expression.
        expression: String,
        /// Its value; absent for `void`.
        returned: Option<VariableView>,
    },
    /// The program is back at a checkpoint.
    Restored {
        /// Its number.
        checkpoint: u32,
        /// What has not come back, each in words.
        losses: Vec<String>,
    },
    /// Evaluations were given up; the thread stands where it stood before.
    Abandoned {
        /// Their numbers.
        evaluations: Vec<u32>,
    },
}

impl StopReason {
    /// The word that stands for it in the JSON output.
    pub fn word(&self) -> &'static str {
        match self {
            StopReason::Violation { .. } => "violation",
            StopReason::MonitorError { .. } => "monitor_error",
            StopReason::Scenario { .. } => "scenario",
            StopReason::ScenarioError { .. } => "scenario_error",
            StopReason::Breakpoint { .. } => "breakpoint",
            StopReason::Caught { .. } => "caught",
            StopReason::Watchpoint { .. } => "watchpoint",
            StopReason::WatchpointEnded { .. } => "watchpoint_ended",
            StopReason::Step => "step",
            StopReason::Finished { .. } => "finished",
            StopReason::Signal { .. } => "signal",
            StopReason::Interrupted => "interrupted",
            StopReason::Started => "started",
            StopReason::Attached { .. } => "attached",
            StopReason::Evaluated { .. } => "evaluated",
            StopReason::Abandoned { .. } => "abandoned",
            StopReason::Restored { .. } => "restored",
        }
    }

    /// Whether a scenario may let the program run on instead. What could not be
    /// evaluated, and what the user has just asked for, is always shown.
    pub fn may_be_passed(&self) -> bool {
        self.condition_errors().is_empty()
            && matches!(
                self,
                StopReason::Violation { .. }
                    | StopReason::Breakpoint { .. }
                    | StopReason::Caught { .. }
                    | StopReason::Watchpoint { .. }
                    | StopReason::WatchpointEnded { .. }
                    | StopReason::Signal { .. }
            )
    }

    /// Conditions of the developer's points that could not be evaluated.
    pub fn condition_errors(&self) -> &[String] {
        match self {
            StopReason::Breakpoint { errors, .. }
            | StopReason::Caught { errors, .. }
            | StopReason::Watchpoint { errors, .. } => errors,
            _ => &[],
        }
    }

    /// Whether something could not be evaluated: what would have happened is not
    /// known.
    pub fn is_error(&self) -> bool {
        let is_failure = matches!(
            self,
            StopReason::MonitorError { .. } | StopReason::ScenarioError { .. }
        );
        is_failure || !self.condition_errors().is_empty()
    }

    /// Whether each violation was reported for another slice before.
    pub fn is_repetition(&self) -> bool {
        match self {
            StopReason::Violation { violations } => violations.iter().all(|it| it.repeated),
            _ => false,
        }
    }

    /// Whether the commands of a point ask for the stop not to be shown;
    /// nothing where no point of the developer stopped the program.
    pub fn is_silent(&self) -> Option<bool> {
        match self {
            StopReason::Breakpoint { silent, .. }
            | StopReason::Caught { silent, .. }
            | StopReason::Watchpoint { silent, .. } => Some(*silent),
            _ => None,
        }
    }
}

/// An access to watched memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WatchedAccess {
    /// The watchpoint's number.
    pub number: u32,
    /// What is watched, as it was written.
    pub expression: String,
    /// `write`, `change` or `read`.
    pub access: String,
    /// The value before a store, safe for a terminal.
    pub before: Option<String>,
    /// The value now, safe for a terminal.
    pub value: String,
    /// The instruction that did it.
    pub place: Location,
    /// The system call by which the kernel did it.
    pub system_call: Option<String>,
}

/// The debuggee stands still.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StopView {
    /// Why.
    #[serde(flatten)]
    pub reason: StopReason,
    /// The thread is in a function that juror called, in the evaluation of this
    /// number.
    pub evaluation: Option<u32>,
    /// The process, when there have been several.
    pub process: Option<ProcessName>,
    /// juror's number of the thread that stopped first; the one that commands
    /// speak of.
    pub thread: u32,
    /// How many threads there are.
    pub thread_count: usize,
    /// Where it stands.
    pub location: Location,
    /// The source around it, where there is any; or around `source_frame`.
    pub source: Option<SourceView>,
    /// Where `source` is that of a caller, because there is none of the place
    /// itself: that frame. Only at stops that a person will ask the reason of.
    pub source_frame: Option<FrameView>,
    /// The stack, innermost first; cut after some frames.
    pub backtrace: Vec<FrameView>,
    /// There are more frames than `backtrace` holds.
    pub more_frames: bool,
    /// What is shown at every stop.
    pub displays: Vec<DisplayView>,
}

/// A place in a recorded run that a reader wants to know of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TraceStop {
    /// Why.
    #[serde(flatten)]
    pub reason: StopReason,
    /// The number of the event in the run, where events are numbered.
    pub sequence: Option<u64>,
    /// When it happened, in nanoseconds since the start of the run.
    pub time_ns: Option<u64>,
    /// juror's number of the thread, from 1; 0 where it is not known.
    pub thread: u32,
    /// The event: `before queue_push`.
    pub what: String,
    /// It is about a call: then `location` is where that was made.
    pub is_call: bool,
    /// Where the call was made or where the instruction stands, where the trace
    /// tells.
    pub location: Option<Location>,
}

/// One stands at an event of a recording, or before the first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecordedStop {
    /// The name of the recording.
    pub recording: String,
    /// Which event of the recording, from 1; 0 before the first.
    pub event: u64,
    /// How many there are.
    pub events: u64,
    /// The line of the recording that tells it, from 1.
    pub line: Option<u64>,
    /// In a binary recording: the first byte that does.
    pub byte: Option<u64>,
    /// Why one stands there, in a word.
    pub reason: &'static str,
    /// The properties that are violated there.
    pub violations: Vec<ViolationView>,
    /// The breakpoints that stopped there.
    pub breakpoints: Vec<u32>,
    /// What could not be evaluated there, each in a sentence.
    pub errors: Vec<String>,
    /// Why one stands there, for those who show it.
    #[serde(skip)]
    pub why: StopReason,
    /// The number of the event in the run, where events are numbered.
    pub sequence: Option<u64>,
    /// When it happened, in nanoseconds since the start of the run.
    pub time_ns: Option<u64>,
    /// juror's number of the thread, from 1; 0 where it is not known.
    pub thread: u32,
    /// The event: `before queue_push`.
    pub what: String,
    /// It is about a call: then `location` is where that was made.
    pub is_call: bool,
    /// Where the call was made or where the instruction stands, where the recording
    /// tells.
    pub location: Option<Location>,
    /// The values that the event carries.
    pub values: Vec<NamedValue>,
    /// The source around its place, where there is any.
    pub source: Option<SourceView>,
}

/// The last event of a recording has been passed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecordedEnd {
    /// The name of the recording.
    pub recording: String,
    /// How many events there are.
    pub events: u64,
    /// How the recording ends: `exited`, `killed`, `detached`, `stopped`; absent
    /// where it does not tell.
    pub ended: Option<String>,
    /// What is wrong behind the last event.
    pub fault: Option<String>,
    /// The run is over, and with it what was undecided.
    pub decided: bool,
    /// The verdicts.
    pub end: EndView,
}

impl Outcome {
    /// Whether the program ran, or a recording was gone through.
    pub fn has_run(&self) -> bool {
        match self {
            Outcome::Stopped(stop) => !matches!(stop.reason, StopReason::Attached { .. }),
            Outcome::Ended(_) | Outcome::RecordedStop(_) | Outcome::RecordedEnd(_) => true,
            _ => false,
        }
    }

    /// Whether the program or the recording stopped or ended with a violation.
    pub fn is_violated(&self) -> bool {
        match self {
            Outcome::Stopped(stop) => matches!(stop.reason, StopReason::Violation { .. }),
            Outcome::RecordedStop(stop) => matches!(stop.why, StopReason::Violation { .. }),
            Outcome::Ended(end) => end.is_violated(),
            Outcome::RecordedEnd(end) => end.is_violated(),
            _ => false,
        }
    }

    /// Whether something could not be evaluated: what would have happened is not
    /// known.
    pub fn is_error(&self) -> bool {
        match self {
            Outcome::Stopped(stop) => stop.reason.is_error(),
            Outcome::RecordedStop(stop) => stop.why.is_error(),
            Outcome::RecordedEnd(end) => end.fault.is_some(),
            _ => false,
        }
    }
}

impl RecordedEnd {
    /// Whether a property is violated, after the last event.
    pub fn is_violated(&self) -> bool {
        self.end.violates(self.decided)
    }
}

/// How the debuggee ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum Ending {
    /// It exited.
    Exited {
        /// Its exit status.
        status: i32,
    },
    /// A signal ended it.
    Killed {
        /// The signal's number.
        signal: i32,
    },
    /// It goes on without juror.
    Detached {
        /// Its number.
        process: u32,
    },
}

impl Ending {
    /// The program itself is over, and with it what was undecided.
    pub fn is_final(self) -> bool {
        !matches!(self, Ending::Detached { .. })
    }
}

/// The end of a run: the verdicts as they stand.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EndView {
    /// How it ended; absent when it was detached or killed by the user.
    pub ending: Option<Ending>,
    /// The last process, when there have been several.
    pub process: Option<ProcessName>,
    /// It ended in this function, which juror had called: no verdict is final.
    pub called: Option<String>,
    /// Violations that the end itself brought.
    pub violations: Vec<ViolationView>,
    /// One entry a property.
    pub summaries: Vec<PropertySummary>,
}

impl EndView {
    /// Whether a property is violated: as one that has ended where the program has.
    pub fn is_violated(&self) -> bool {
        self.violates(self.ending.is_some_and(|ending| ending.is_final()))
    }

    /// Whether a property is violated, once the run is over or where it was left.
    pub fn violates(&self, is_over: bool) -> bool {
        !self.violations.is_empty() || self.summaries.iter().any(|it| it.is_violated(is_over))
    }
}

/// One of several processes has ended; the others go on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProcessEnd {
    /// juror's own number, from 1.
    pub number: u32,
    /// The kernel's number.
    pub id: u32,
    /// How it ended; absent when nobody knows.
    pub ending: Option<Ending>,
    /// Violations that the end itself brought.
    pub violations: Vec<ViolationView>,
}

/// Events of a recording with the same name and values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecordedEventView {
    /// The event: `before queue_push`.
    pub event: String,
    /// The names of its values.
    pub values: Vec<String>,
    /// How many there are.
    pub count: u64,
}

/// A checkpoint in a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecordedCheckpointView {
    /// Its number, from 1.
    pub number: u32,
    /// The number of the event.
    pub event: u64,
}
