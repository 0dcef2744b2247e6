//! The reasons and locations of stops and ends.

use crate::standstill::{StandstillKind, WaitingThreadView};
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

/// The reason for a stop.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum StopReason {
    /// A property is violated.
    Violation {
        /// The violated slices, with their properties.
        violations: Vec<ViolationView>,
    },
    /// A guard or update of a property could not be evaluated.
    MonitorError {
        /// The property's name.
        property: String,
        /// The error message; the front end adds the source line.
        message: String,
        /// The place in the property's source, in bytes.
        start: usize,
        /// The end of the place.
        end: usize,
        /// The file of the property.
        file: String,
        /// The text of the file.
        #[serde(skip)]
        text: Arc<str>,
    },
    /// A scenario wants the program to stop.
    Scenario {
        /// Its name.
        scenario: String,
        /// The reason, if given.
        message: Option<String>,
    },
    /// A reaction of a scenario failed.
    ScenarioError {
        /// The scenario's name.
        scenario: Box<str>,
        /// The error message; the front end adds the source line.
        message: String,
        /// The help.
        help: Option<Box<str>>,
        /// The place in the scenario's source, in bytes.
        start: usize,
        /// The end of the place.
        end: usize,
        /// The file of the scenario.
        file: Box<str>,
        /// The text of the file.
        #[serde(skip)]
        text: Arc<str>,
    },
    /// Breakpoints of the user.
    Breakpoint {
        /// Their numbers.
        numbers: Vec<u32>,
        /// Whether one was temporary and has been deleted.
        temporary: bool,
        /// Conditions that could not be evaluated, each in a sentence.
        errors: Vec<String>,
        /// Whether their commands suppress the display of the stop.
        silent: bool,
    },
    /// Catchpoints of the user.
    Caught {
        /// Their numbers.
        numbers: Vec<u32>,
        /// Whether one was temporary and has been deleted.
        temporary: bool,
        /// The event: `syscall_entry`, `syscall_exit`, `signal`, `fork`, `vfork`, `exec`, `load`,
        /// `unload`, `throw`, `rethrow`, `catch`.
        event: String,
        /// The event in words, with its subject.
        description: String,
        /// Conditions that could not be evaluated, each in a sentence.
        errors: Vec<String>,
        /// Whether their commands suppress the display of the stop.
        silent: bool,
    },
    /// Watched memory was accessed; the thread is after the access.
    Watchpoint {
        /// The accesses, by watchpoint.
        accesses: Vec<WatchedAccess>,
        /// Conditions that could not be evaluated, each in a sentence.
        errors: Vec<String>,
        /// Whether their commands suppress the display of the stop.
        silent: bool,
    },
    /// A call whose local variables were watched has ended, and the watchpoints are deleted.
    WatchpointEnded {
        /// Their numbers.
        numbers: Vec<u32>,
        /// Their expressions.
        expressions: Vec<String>,
        /// The function of the call.
        function: String,
    },
    /// A step, `next` or `until` is done.
    Step,
    /// `finish` is done.
    Finished {
        /// The returned value, if known.
        returned: Option<VariableView>,
        /// The function that returned.
        function: String,
    },
    /// A signal that is about to be delivered.
    Signal {
        /// Its name, `SIGSEGV`.
        signal: String,
        /// Its meaning in words.
        description: String,
        /// The faulting address.
        fault_address: Option<u64>,
        /// The stack is used up: the cause of the fault.
        stack_overflow: Option<StackOverflowView>,
        /// Whether it will end the program.
        fatal: bool,
    },
    /// Ctrl-C.
    Interrupted,
    /// Under a schedule, threads do not go on, or the run has gone another way.
    Standstill {
        /// The kind of the standstill.
        standstill: StandstillKind,
        /// The threads concerned.
        waiting: Vec<WaitingThreadView>,
    },
    /// The program was started and is stopped at its main function.
    Started,
    /// juror has attached to a running process.
    Attached {
        /// Its number.
        process: u32,
    },
    /// A core file has been opened: the process is no more.
    CoreFile {
        /// The program.
        program: String,
        /// The number that the process had.
        pid: u32,
        /// The name of the signal that ended it, `SIGSEGV`; none if it was written of a stopped
        /// process.
        signal: Option<String>,
        /// The signal's meaning in words.
        description: Option<String>,
        /// The faulting address.
        fault_address: Option<u64>,
        /// The stack is used up: the cause of the fault.
        stack_overflow: Option<StackOverflowView>,
    },
    /// An evaluation that stopped in a function it called has its value; the thread is back where
    /// it was before.
    Evaluated {
        /// The number of the evaluation.
        number: u32,
        /// The expression.
        expression: String,
        /// Its value; absent for `void`.
        returned: Option<VariableView>,
    },
    /// The program was restored from a checkpoint.
    Restored {
        /// Its number.
        checkpoint: u32,
        /// The state that was not restored, each in words.
        losses: Vec<String>,
    },
    /// Evaluations were abandoned; the thread is back where it was before.
    Abandoned {
        /// Their numbers.
        evaluations: Vec<u32>,
    },
}

impl StopReason {
    /// Returns the word for it in the JSON output.
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
            StopReason::Standstill { .. } => "standstill",
            StopReason::Started => "started",
            StopReason::Attached { .. } => "attached",
            StopReason::CoreFile { .. } => "core_file",
            StopReason::Evaluated { .. } => "evaluated",
            StopReason::Abandoned { .. } => "abandoned",
            StopReason::Restored { .. } => "restored",
        }
    }

    /// Returns whether a scenario may resume the program instead. Evaluation errors and results
    /// that the user has just requested are always shown.
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

    /// Returns the errors of conditions of the user's points.
    pub fn condition_errors(&self) -> &[String] {
        match self {
            StopReason::Breakpoint { errors, .. }
            | StopReason::Caught { errors, .. }
            | StopReason::Watchpoint { errors, .. } => errors,
            _ => &[],
        }
    }

    /// Returns whether something could not be evaluated, so that the result is unknown.
    pub fn is_error(&self) -> bool {
        let is_failure = matches!(
            self,
            StopReason::MonitorError { .. } | StopReason::ScenarioError { .. }
        );
        is_failure || !self.condition_errors().is_empty()
    }

    /// Returns whether all violations are repetitions for other slices.
    pub fn is_repetition(&self) -> bool {
        match self {
            StopReason::Violation { violations } => violations.iter().all(|it| it.repeated),
            _ => false,
        }
    }

    /// Returns whether the commands of a point suppress the display of the stop; `None` if no point
    /// of the user stopped the program.
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
    /// The watchpoint's number; 0 if the run has gone back to its last write.
    pub number: u32,
    /// The watched expression, as it was written.
    pub expression: String,
    /// `write`, `change` or `read`.
    pub access: String,
    /// The value before a store, safe for a terminal.
    pub before: Option<String>,
    /// The value now, safe for a terminal.
    pub value: String,
    /// The location of the accessing instruction.
    pub place: Location,
    /// The system call, if the kernel made the access.
    pub system_call: Option<String>,
}

/// A stop of the debuggee.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StopView {
    /// The reason.
    #[serde(flatten)]
    pub reason: StopReason,
    /// The evaluation whose called function the thread is in.
    pub evaluation: Option<u32>,
    /// The process, if there have been several.
    pub process: Option<ProcessName>,
    /// juror's number of the thread that stopped first, which is selected.
    pub thread: u32,
    /// The number of threads.
    pub thread_count: usize,
    /// The location of the thread.
    pub location: Location,
    /// The source around it, or around `source_frame`, if there is any.
    pub source: Option<SourceView>,
    /// The caller that `source` belongs to, if the location itself has no source. Only at stops
    /// whose reason the user will look for.
    pub source_frame: Option<FrameView>,
    /// The stack, innermost frame first, truncated at a limit.
    pub backtrace: Vec<FrameView>,
    /// Whether there are more frames than `backtrace` holds.
    pub more_frames: bool,
    /// The displays.
    pub displays: Vec<DisplayView>,
    /// The parts that the user wants to see at each stop, in this order.
    #[serde(skip)]
    pub context: Vec<ContextView>,
}

/// A part of the context of a stop.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextView {
    /// Which part it is.
    pub part: ContextPart,
    /// The outcome of the command that is about this part; nothing for the source and the stack,
    /// which are those of the stop.
    pub shown: Outcome,
}

/// The parts of the context of a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextPart {
    /// The source.
    Source,
    /// The local variables.
    Locals,
    /// The stack.
    Backtrace,
    /// The registers.
    Registers,
    /// The monitors.
    Monitors,
}

impl ContextPart {
    /// All parts.
    pub const ALL: [ContextPart; 5] = [
        ContextPart::Source,
        ContextPart::Locals,
        ContextPart::Backtrace,
        ContextPart::Registers,
        ContextPart::Monitors,
    ];

    /// Returns the word that `set context` takes.
    pub fn word(self) -> &'static str {
        match self {
            ContextPart::Source => "source",
            ContextPart::Locals => "locals",
            ContextPart::Backtrace => "backtrace",
            ContextPart::Registers => "registers",
            ContextPart::Monitors => "monitors",
        }
    }
}

impl StopView {
    /// Returns whether a part of the stop is shown in its context.
    pub fn has_context(&self, part: ContextPart) -> bool {
        self.context.iter().any(|it| it.part == part)
    }

    /// Returns whether the caller with source is the selected frame: the user did not ask for the
    /// stop, and no value of the innermost frame explains it.
    pub fn selects_caller(&self) -> bool {
        let is_meant = match &self.reason {
            StopReason::Signal { .. }
            | StopReason::Interrupted
            | StopReason::Standstill { .. }
            | StopReason::Attached { .. }
            | StopReason::CoreFile { .. } => true,
            StopReason::Caught { event, .. } => event == PANIC,
            _ => false,
        };
        is_meant && self.source_frame.is_some()
    }
}

/// The event of a panic in [`StopReason::Caught`].
pub const PANIC: &str = "panic";

/// An event of a recorded run that is reported.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TraceStop {
    /// The reason.
    #[serde(flatten)]
    pub reason: StopReason,
    /// The number of the event in the run, if events are numbered.
    pub sequence: Option<u64>,
    /// The time, in nanoseconds since the start of the run.
    pub time_ns: Option<u64>,
    /// juror's number of the thread, from 1; 0 if unknown.
    pub thread: u32,
    /// The event: `before queue_push`.
    pub what: String,
    /// Whether it is a call, whose location is `location`.
    pub is_call: bool,
    /// The location of the call or the instruction, if recorded.
    pub location: Option<Location>,
}

/// A position in a recording: at an event, or before the first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecordedStop {
    /// The name of the recording.
    pub recording: String,
    /// The number of the event in the recording, from 1; 0 before the first.
    pub event: u64,
    /// The number of events.
    pub events: u64,
    /// The line of the event in the recording, from 1.
    pub line: Option<u64>,
    /// The first byte of the event, in a binary recording.
    pub byte: Option<u64>,
    /// The reason for the stop, as a word.
    pub reason: &'static str,
    /// The properties that are violated there.
    pub violations: Vec<ViolationView>,
    /// The breakpoints that stopped there.
    pub breakpoints: Vec<u32>,
    /// Evaluation errors, each in a sentence.
    pub errors: Vec<String>,
    /// The reason for the stop, for front ends.
    #[serde(skip)]
    pub why: StopReason,
    /// The number of the event in the run, if events are numbered.
    pub sequence: Option<u64>,
    /// The time, in nanoseconds since the start of the run.
    pub time_ns: Option<u64>,
    /// juror's number of the thread, from 1; 0 if unknown.
    pub thread: u32,
    /// The event: `before queue_push`.
    pub what: String,
    /// Whether it is a call, whose location is `location`.
    pub is_call: bool,
    /// The location of the call or the instruction, if recorded.
    pub location: Option<Location>,
    /// The values of the event.
    pub values: Vec<NamedValue>,
    /// The source around its location, if there is any.
    pub source: Option<SourceView>,
    /// The parts that the user wants to see at each stop, in this order.
    #[serde(skip)]
    pub context: Vec<ContextView>,
}

impl RecordedStop {
    /// Returns the position as a stop of a program, for front ends that show it as one.
    pub fn into_stop(self) -> StopView {
        StopView {
            reason: self.why,
            evaluation: None,
            process: None,
            thread: self.thread,
            thread_count: 1,
            location: self.location.unwrap_or_default(),
            source: self.source,
            source_frame: None,
            backtrace: Vec::new(),
            more_frames: false,
            displays: Vec::new(),
            context: self.context,
        }
    }
}

/// The end of a recording: its last event has been passed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecordedEnd {
    /// The name of the recording.
    pub recording: String,
    /// The number of events.
    pub events: u64,
    /// The end of the run: `exited`, `killed`, `detached`, `stopped`; absent if not recorded.
    pub ended: Option<String>,
    /// The error after the last event.
    pub fault: Option<String>,
    /// Whether the run is over, which decides undecided verdicts.
    pub decided: bool,
    /// The verdicts.
    pub end: EndView,
}

impl Outcome {
    /// Returns whether the program ran, or the position in a recording moved.
    pub fn has_run(&self) -> bool {
        match self {
            Outcome::Stopped(stop) => !matches!(stop.reason, StopReason::Attached { .. }),
            Outcome::Ended(_) | Outcome::RecordedStop(_) | Outcome::RecordedEnd(_) => true,
            _ => false,
        }
    }

    /// Returns whether the program or the recording stopped or ended with a violation.
    pub fn is_violated(&self) -> bool {
        match self {
            Outcome::Stopped(stop) => matches!(stop.reason, StopReason::Violation { .. }),
            Outcome::RecordedStop(stop) => matches!(stop.why, StopReason::Violation { .. }),
            Outcome::Ended(end) => end.is_violated(),
            Outcome::RecordedEnd(end) => end.is_violated(),
            _ => false,
        }
    }

    /// Returns whether something could not be evaluated, so that the result is unknown.
    pub fn is_error(&self) -> bool {
        match self {
            Outcome::Stopped(stop) => stop.reason.is_error(),
            Outcome::RecordedStop(stop) => stop.why.is_error(),
            Outcome::Ended(end) => {
                end.is_undecided(end.ending.is_some_and(|ending| ending.is_final()))
            }
            Outcome::RecordedEnd(end) => end.fault.is_some() || end.end.is_undecided(end.decided),
            _ => false,
        }
    }
}

impl RecordedEnd {
    /// Returns whether a property is violated after the last event.
    pub fn is_violated(&self) -> bool {
        self.end.violates(self.decided)
    }
}

/// The ending of the debuggee.
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
    /// It was detached.
    Detached {
        /// Its number.
        process: u32,
    },
}

impl Ending {
    /// Returns whether the program itself has ended, which decides undecided verdicts.
    pub fn is_final(self) -> bool {
        !matches!(self, Ending::Detached { .. })
    }
}

/// The end of a run, with the present verdicts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EndView {
    /// How it ended; absent if it was detached or killed by the user.
    pub ending: Option<Ending>,
    /// The last process, if there have been several.
    pub process: Option<ProcessName>,
    /// The function called by juror in which it ended: no verdict is final then.
    pub called: Option<String>,
    /// The violations at the end.
    pub violations: Vec<ViolationView>,
    /// The summaries of the properties.
    pub summaries: Vec<PropertySummary>,
}

impl EndView {
    /// Returns whether a property is violated: decided if the program has ended.
    pub fn is_violated(&self) -> bool {
        self.violates(self.ending.is_some_and(|ending| ending.is_final()))
    }

    /// Returns whether a property is violated, at the end of the run or where it was left.
    pub fn violates(&self, is_over: bool) -> bool {
        !self.violations.is_empty() || self.summaries.iter().any(|it| it.is_violated(is_over))
    }

    /// Returns whether it is unknown if a property holds, after the end of the run.
    pub fn is_undecided(&self, is_over: bool) -> bool {
        self.summaries.iter().any(|it| it.is_undecided(is_over))
    }
}

/// The end of one of several processes; the others continue.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProcessEnd {
    /// juror's own number, from 1.
    pub number: u32,
    /// The kernel's ID.
    pub id: u32,
    /// How it ended; absent if unknown.
    pub ending: Option<Ending>,
    /// The violations at the end.
    pub violations: Vec<ViolationView>,
}

/// Events of a recording with the same name and values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecordedEventView {
    /// The event: `before queue_push`.
    pub event: String,
    /// The names of its values.
    pub values: Vec<String>,
    /// The number of such events.
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
