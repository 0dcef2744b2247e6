//! What a session shows: plain data that front ends format.
//!
//! Invariant: nothing here is formatted for a terminal, and everything is
//! `Serialize`, so that the text and the JSON of one result cannot differ in
//! what they say.

mod code;
mod properties;

pub use code::{AssemblyLine, AssemblyView, MemoryRow, MemoryView, NameView, ShownLine};
pub use properties::{
    EventSummary, GraphState, GraphView, MonitorView, PathStep, PropertySummary, PropertyView,
    SliceView, StateChange, StoredValue, ViolationCount, ViolationView,
};

use juror_event::Value;
use serde::{Serialize, Serializer};
use std::sync::Arc;

/// Writes a monitor's value as JSON: numbers that JSON readers hold exactly as
/// numbers, everything else as text.
fn value_as_json<S: Serializer>(value: &Value, serializer: S) -> Result<S::Ok, S::Error> {
    const EXACT: i128 = 1 << 53;
    match value {
        Value::Int(number) if (-EXACT..=EXACT).contains(number) => {
            serializer.serialize_i64(*number as i64)
        }
        Value::Bool(truth) => serializer.serialize_bool(*truth),
        Value::Float(number) if number.is_finite() => serializer.serialize_f64(*number),
        Value::Text(text) => serializer.serialize_str(text),
        other => serializer.serialize_str(&other.to_string()),
    }
}

fn value_or_none_as_json<S: Serializer>(
    value: &Option<Value>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => value_as_json(value, serializer),
        None => serializer.serialize_none(),
    }
}

/// A named value of a monitor or an event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedValue {
    /// The name, as in the property.
    pub name: String,
    /// The value.
    #[serde(serialize_with = "value_as_json")]
    pub value: Value,
}

/// A place in the program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Location {
    /// The address in the debuggee.
    pub address: u64,
    /// The function, demangled.
    pub function: Option<String>,
    /// Bytes from the function's first instruction.
    pub offset: u64,
    /// The source file, as the debug information names it.
    pub file: Option<String>,
    /// The line in it, from 1.
    pub line: Option<u32>,
    /// For code that the compiler made, and that belongs to no line: the line
    /// before it in the function.
    pub near: Option<SourceLine>,
    /// The module's file name, without directories.
    pub module: Option<String>,
}

/// A line of a source file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceLine {
    /// The file, as the debug information names it.
    pub file: String,
    /// The line in it, from 1.
    pub line: u32,
}

/// A variable with its value as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VariableView {
    /// Its name.
    pub name: String,
    /// Its type, as the language writes it; empty when unknown.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Its value, safe for a terminal; or why there is none, in angle brackets.
    pub value: String,
}

/// A frame of a stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FrameView {
    /// 0 is the innermost.
    pub level: u32,
    /// Where it is: the call for outer frames.
    pub location: Location,
    /// The function's arguments; empty without debug information.
    pub arguments: Vec<VariableView>,
    /// Inlined into the next frame: it has no frame of its own in memory.
    pub inlined: bool,
    /// A frame that a signal interrupted.
    pub signal: bool,
    /// No frame of the program: juror called the one before it, in the
    /// evaluation of this number.
    pub evaluation: Option<u32>,
}

/// Lines of a source file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceView {
    /// The file.
    pub file: String,
    /// The number of the first line of `lines`.
    pub first_line: u32,
    /// The text of the lines, without line ends.
    pub lines: Vec<String>,
    /// The line to mark, if any.
    pub current: Option<u32>,
    /// A remark to show, such as that the file is newer than the program.
    pub remark: Option<String>,
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

/// One process of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ProcessName {
    /// juror's own number, from 1.
    pub number: u32,
    /// The kernel's number.
    pub id: u32,
    /// How many processes there are now.
    pub count: usize,
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

/// A process, as `info processes` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProcessView {
    /// juror's own number, from 1.
    pub number: u32,
    /// The kernel's number.
    pub id: u32,
    /// The program that it runs.
    pub program: String,
    /// Commands speak of it.
    pub current: bool,
    /// `stopped`, `running`, or `waiting` for a child that shares its memory.
    pub state: String,
    /// How many threads it has.
    pub thread_count: usize,
    /// Where its selected thread stands.
    pub location: Location,
}

/// A checkpoint, as `info checkpoints` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckpointView {
    /// Its number, from 1.
    pub number: u32,
    /// juror made it by itself.
    pub automatic: bool,
    /// Nobody has killed the process that keeps it.
    pub alive: bool,
    /// The kernel's number of the process.
    pub process: u32,
    /// The number of the thread that was selected.
    pub thread: u32,
    /// How many threads there were.
    pub thread_count: usize,
    /// Where the selected thread stood.
    pub location: Location,
    /// How many events the monitors had seen.
    pub events: u64,
    /// What a restore will not bring back, each in words.
    pub losses: Vec<String>,
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
    /// The source around it, where there is any.
    pub source: Option<SourceView>,
    /// The stack, innermost first; cut after some frames.
    pub backtrace: Vec<FrameView>,
    /// There are more frames than `backtrace` holds.
    pub more_frames: bool,
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

/// A point, as `info breakpoints` shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PointView {
    /// The developer's number; monitors' points have none.
    pub number: Option<u32>,
    /// `developer`, or `monitor` with the property's name in `for_what`.
    pub owner: String,
    /// `breakpoint`, `hardware breakpoint`, `watchpoint`, `catchpoint`, or
    /// `event` of a monitor.
    pub kind: &'static str,
    /// The place as written with its thread and condition, or the event.
    pub for_what: String,
    /// It is planted, or will be.
    pub enabled: bool,
    /// It goes away when hit.
    pub temporary: bool,
    /// Where it is now; empty while pending or not needed.
    pub locations: Vec<PointLocation>,
    /// How often it was hit.
    pub hits: u64,
    /// How a thread gets past at the first place: `emulated`, `copied`, `in
    /// place`.
    pub passage: Option<String>,
    /// What must be true there.
    pub condition: Option<String>,
    /// The only thread that it is for.
    pub thread: Option<u32>,
    /// juror's number of the process that it belongs to: of watchpoints, when
    /// there have been several.
    pub process: Option<u32>,
    /// How many hits are still to be passed.
    pub ignore: u64,
    /// After how many stops it is disabled.
    pub stops_left: Option<u64>,
    /// What is done when it has stopped the program.
    pub commands: Vec<String>,
}

/// One of the places where a point is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PointLocation {
    /// Where.
    #[serde(flatten)]
    pub place: Location,
    /// `2` in `1.2`.
    pub number: u32,
    /// It is planted, if the point is enabled.
    pub enabled: bool,
    /// How often it was hit there.
    pub hits: u64,
    /// How a thread gets past.
    pub passage: Option<String>,
}

/// A thread, as `info threads` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ThreadView {
    /// juror's own number, from 1.
    pub number: u32,
    /// The kernel id.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// Commands speak of it.
    pub current: bool,
    /// Where it stands.
    pub location: Location,
}

/// A register.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RegisterView {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: u64,
    /// What it points to or means, where that helps.
    pub meaning: Option<String>,
}

/// A signal, as `info signals` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SignalView {
    /// Its number.
    pub number: i32,
    /// Its name, `SIGUSR1`.
    pub name: String,
    /// What it says in words.
    pub description: String,
    /// The program stops for the user when it comes.
    pub stop: bool,
    /// It is told when it comes.
    pub print: bool,
    /// The program gets it.
    pub pass: bool,
}

/// Something that a scenario says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScenarioLine {
    /// The scenario's name.
    pub scenario: String,
    /// `print`, `report`, or `stop` for the reason of a stop.
    pub sort: &'static str,
    /// What it says.
    pub text: String,
}

/// A scenario, as `info scenarios` shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScenarioView {
    /// Its name.
    pub scenario: String,
    /// What it does, in words.
    pub description: Option<String>,
    /// Its file.
    pub file: String,
    /// It reacts.
    pub enabled: bool,
    /// The properties that it is for; all when there are none.
    pub properties: Vec<String>,
    /// How many of its reactions were carried out.
    pub reactions: u64,
    /// The values of its variables.
    pub variables: Vec<NamedValue>,
    /// The numbers of the points that it has set.
    pub points: Vec<u32>,
}

/// A value that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ValueView {
    /// `$1` and so on; 0 when it is not kept.
    pub number: u32,
    /// Its type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Its value, safe for a terminal.
    pub value: String,
}

/// An expression that waits for a function it calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EvaluationView {
    /// Its number.
    pub number: u32,
    /// juror's number of the thread that makes the call.
    pub thread: u32,
    /// The expression; empty for the condition of a breakpoint.
    pub expression: String,
    /// The function.
    pub function: String,
}

/// One command, for help.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CommandHelp {
    /// Its name.
    pub name: String,
    /// Its other names.
    pub aliases: Vec<String>,
    /// What it does, in a line.
    pub summary: String,
    /// Examples: what is typed, and what it does.
    pub examples: Vec<(String, String)>,
    /// More words.
    pub details: String,
    /// When it is possible, where it is not always so.
    pub possible: Option<String>,
}

/// What a command gives.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", content = "value", rename_all = "snake_case")]
pub enum Outcome {
    /// Done, nothing to show.
    Done,
    /// A sentence to show.
    Message(String),
    /// The debuggee ran and stands still again.
    Stopped(Box<StopView>),
    /// The debuggee ran and ended.
    Ended(Box<EndView>),
    /// A stack.
    Backtrace {
        /// The frames.
        frames: Vec<FrameView>,
        /// There are more.
        more: bool,
    },
    /// The selected frame, and its source.
    Frame(Box<FrameView>, Option<SourceView>),
    /// Source lines.
    Source(SourceView),
    /// Points.
    Points(Vec<PointView>),
    /// Threads.
    Threads(Vec<ThreadView>),
    /// A checkpoint has been made.
    Checkpoint(Box<CheckpointView>),
    /// Checkpoints.
    Checkpoints(Vec<CheckpointView>),
    /// Processes.
    Processes(Vec<ProcessView>),
    /// Signals.
    Signals(Vec<SignalView>),
    /// Registers.
    Registers(Vec<RegisterView>),
    /// Variables.
    Variables(Vec<VariableView>),
    /// Instructions.
    Assembly(AssemblyView),
    /// Memory.
    Memory(MemoryView),
    /// Functions, variables or types.
    Names(Vec<NameView>),
    /// Monitors.
    Monitors(Vec<MonitorView>),
    /// Properties.
    Properties(Vec<PropertyView>),
    /// Scenarios.
    Scenarios(Vec<ScenarioView>),
    /// Pictures of properties.
    Graphs(Vec<GraphView>),
    /// A path of one slice.
    Paths(Vec<ViolationView>),
    /// A value.
    Value(ValueView),
    /// Evaluations that are open.
    Evaluations(Vec<EvaluationView>),
    /// The list of commands.
    HelpIndex(Vec<CommandHelp>),
    /// One command.
    Help(CommandHelp),
    /// Leave.
    Quit,
}
