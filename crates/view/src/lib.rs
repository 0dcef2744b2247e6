//! The results of commands and the arguments of observers: plain data that front ends format.
//!
//! **Invariant**: nothing here is formatted for a terminal, and every result is `Serialize`, so
//! that the text and the JSON of a result agree.

#![forbid(unsafe_code)]

pub mod changes;
mod code;
pub mod driver;
pub mod live;
pub mod location;
pub mod nodes;
pub mod observer;
mod origins;
mod points;
mod program;
mod properties;
pub mod queries;
mod settings;
mod standstill;
mod stops;
mod symbols;

pub use crate::code::{AssemblyLine, AssemblyView, MemoryRow, MemoryView, NameView, ShownLine};
pub use crate::origins::{OriginCallView, OriginKind, OriginStepView, OriginsView};
pub use crate::points::{
    CodePlaceView, PointLocation, PointView, ScenarioLine, ScenarioView, SetPointView,
};
pub use crate::program::{
    AuxiliaryEntryView, AuxiliaryKind, MappingView, ModuleView, OpenFileView, ProcessInfoView,
    ProgramView,
};
pub use crate::properties::{
    DeadlineView, EventBinding, EventSummary, EventView, GraphState, GraphView, MonitorView,
    PathStep, PropertySummary, PropertyView, SliceView, StateChange, StoredValue, ViolationCount,
    ViolationView,
};
pub use crate::settings::{
    CommandGroupView, CopyView, EnvironmentVariableView, Extent, PrettyPrinterView, QuitView,
    SettingView, ShellEndView, SkipView, SubstitutionView, TerminalSettings,
};
pub use crate::standstill::{
    CommunicationStepView, CommunicationView, ScheduleView, ScheduledState, ScheduledThreadView,
    StandstillKind, WaitingThreadView,
};
pub use crate::stops::{
    ContextPart, ContextView, EndView, Ending, PANIC, ProcessEnd, RecordedCheckpointView,
    RecordedEnd, RecordedEventView, RecordedStop, StackOverflowView, StopReason, StopView,
    TraceStop, WatchedAccess,
};
pub use crate::symbols::{
    AddressView, CompilationUnitView, FrameCodeView, FrameInfoView, FrameKind, LabelView, LineView,
    SavedRegisterView, ScopeVariableView, ScopeView, SourceFileView, StorageKind, StorageView,
    SymbolView, TypeView,
};
use juror_event::Value;
use juror_highlight::Span;
use serde::{Serialize, Serializer};

/// Writes a monitor's value as JSON: numbers that JSON readers represent exactly as numbers,
/// everything else as text.
fn value_as_json<S: Serializer>(value: &Value, serializer: S) -> Result<S::Ok, S::Error> {
    const EXACT: i128 = 1 << 53;
    match value {
        Value::Int(number) if (-EXACT..=EXACT).contains(number) => {
            serializer.serialize_i64(*number as i64)
        }
        Value::Bool(truth) => serializer.serialize_bool(*truth),
        Value::Float(number) if number.is_finite() => serializer.serialize_f64(*number),
        Value::String(text) => serializer.serialize_str(text),
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

/// A location in the program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Location {
    /// The address in the debuggee.
    pub address: u64,
    /// The function, demangled.
    pub function: Option<String>,
    /// The offset from the function's first instruction, in bytes.
    pub offset: u64,
    /// The source file, as the debug information names it.
    pub file: Option<String>,
    /// The line in it, from 1.
    pub line: Option<u32>,
    /// For compiler-generated code without a line: the preceding line in the function.
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
    /// Its type, in the syntax of the language; empty if unknown.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Its value, safe for a terminal; or the reason why there is none, in angle brackets.
    pub value: String,
}

/// A frame of a stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
pub struct FrameView {
    /// The level; 0 is the innermost.
    pub level: u32,
    /// The location: that of the call, for outer frames.
    pub location: Location,
    /// The function's arguments; empty without debug information.
    pub arguments: Vec<VariableView>,
    /// Whether it is inlined into the next frame, and has no frame of its own in memory.
    pub inlined: bool,
    /// Whether its function has ended in a jump to that of the preceding frame (a tail call):
    /// nothing of it is in memory.
    pub tail_call: bool,
    /// Whether the kernel made it for a signal handler: the next frame is the interrupted one.
    pub signal: bool,
    /// Whether the preceding frame has no unwind information: this frame is only likely.
    pub guess: bool,
    /// Whether its caller cannot be found: the backtrace ends here.
    pub cut: bool,
    /// Not a frame of the program: juror called the preceding frame, in the evaluation of this
    /// number.
    pub evaluation: Option<u32>,
    /// Its local variables, if requested.
    pub locals: Option<Vec<VariableView>>,
}

/// The stack of one of several threads.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StackView {
    /// The thread.
    pub thread: ThreadView,
    /// The frames, innermost first.
    pub frames: Vec<FrameView>,
    /// Whether there are more.
    pub more: bool,
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
    /// The tokens of each line, for colours; empty if they are not known or not wanted.
    #[serde(skip)]
    pub spans: Vec<Vec<Span>>,
}

/// One process of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ProcessName {
    /// juror's own number, from 1.
    pub number: u32,
    /// The kernel's ID.
    pub id: u32,
    /// The present number of processes.
    pub count: usize,
}

/// A thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ThreadName {
    /// juror's own number, from 1.
    pub number: u32,
    /// The kernel's ID.
    pub id: u32,
    /// Its name.
    pub name: String,
}

/// A process, as `info processes` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProcessView {
    /// juror's own number, from 1.
    pub number: u32,
    /// The kernel's ID.
    pub id: u32,
    /// The program that it executes.
    pub program: String,
    /// Whether it is the selected one.
    pub current: bool,
    /// `stopped`, `running`, or `waiting` for a child that shares its memory.
    pub state: String,
    /// The number of its threads.
    pub thread_count: usize,
    /// The location of its selected thread.
    pub location: Location,
}

/// A checkpoint, as `info checkpoints` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckpointView {
    /// Its number, from 1.
    pub number: u32,
    /// Whether it is an automatic checkpoint.
    pub automatic: bool,
    /// Whether the process that holds it is alive.
    pub alive: bool,
    /// The kernel's ID of the process.
    pub process: u32,
    /// The number of the selected thread.
    pub thread: u32,
    /// The number of threads.
    pub thread_count: usize,
    /// The location of the selected thread.
    pub location: Location,
    /// The number of events that the monitors had taken.
    pub events: u64,
    /// The state that cannot be restored, each in words.
    pub losses: Vec<String>,
}

/// A thread, as `info threads` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ThreadView {
    /// juror's own number, from 1.
    pub number: u32,
    /// The kernel's ID; 0 if it was not recorded.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// Whether it is the selected one.
    pub current: bool,
    /// Its location.
    pub location: Location,
    /// The innermost caller that has source, if the location itself has none: what the thread
    /// does in a library (waits for a lock, say) it does for this call.
    pub caller: Option<Location>,
    /// For what it waits, if it does.
    pub waits: Option<WaitView>,
}

/// For what a thread waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WaitView {
    /// It in words: `the mutex `journal``, `the end of thread 2`.
    pub what: String,
    /// The number of the thread that holds it, or that ends it, if that is known.
    pub holder: Option<u32>,
    /// The guards of a lock of Rust: whoever has one may hold the lock.
    pub guards: Vec<GuardView>,
}

/// A guard of a lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GuardView {
    /// The number of the thread that has it in a variable.
    pub thread: u32,
    /// The call that has the variable.
    pub location: Location,
}

/// A register.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RegisterView {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: u64,
    /// Its target or meaning, if that is useful.
    pub meaning: Option<String>,
}

/// A signal, as `info signals` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SignalView {
    /// Its number.
    pub number: i32,
    /// Its name, `SIGUSR1`.
    pub name: String,
    /// Its meaning in words.
    pub description: String,
    /// Whether the program stops for the user when it arrives.
    pub stop: bool,
    /// Whether it is reported when it arrives.
    pub print: bool,
    /// Whether the program receives it.
    pub pass: bool,
    /// Whether the program stops, and it is reported, if it would end the program.
    pub when_fatal: bool,
    /// Whether the program receives it only if it handles it.
    pub when_handled: bool,
}

/// A printed value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ValueView {
    /// The number in the value history, `$1` and so on; 0 if it is not in it.
    pub number: u32,
    /// Its type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Its value, safe for a terminal.
    pub value: String,
    /// Whether a format was given: the value does not show its type.
    #[serde(skip)]
    pub is_formatted: bool,
}

/// A display.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DisplayView {
    /// Its number.
    pub number: u32,
    /// The expression with its format: `/x flags`.
    pub expression: String,
    /// Its value, safe for a terminal.
    pub value: Option<String>,
    /// The reason why it has no value now.
    pub error: Option<String>,
}

/// An open evaluation.
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

/// A group of commands, for help.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GroupHelp {
    /// Its name, as `help` takes it.
    pub name: String,
    /// The purpose of its commands.
    pub summary: String,
    /// The names of its commands.
    pub commands: Vec<String>,
}

/// One command, for help.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CommandHelp {
    /// Its name.
    pub name: String,
    /// Its other names.
    pub aliases: Vec<String>,
    /// Its summary, in a line.
    pub summary: String,
    /// Examples: lines to type, and their effects.
    pub examples: Vec<(String, String)>,
    /// Details.
    pub details: String,
    /// When it is possible, unless always.
    pub possible: Option<String>,
}

/// A subject of `info`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SubjectHelp {
    /// Its name.
    pub name: String,
    /// The summary of the subject.
    pub summary: String,
}

/// A list that is empty: the request matched nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EmptyView {
    /// The kind of list.
    pub listed: Listed,
    /// The regular expression that nothing matches.
    pub pattern: Option<String>,
    /// Whether the function has debug information, if its variables were listed.
    pub has_debug_info: Option<bool>,
}

/// A kind of list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Listed {
    /// Functions.
    Functions,
    /// Global and static variables.
    Variables,
    /// Types.
    Types,
    /// The arguments of a frame.
    Arguments,
    /// The local variables of a frame.
    Locals,
    /// The values of an event.
    EventValues,
    /// Threads.
    Threads,
}

/// The outcome of a command.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", content = "value", rename_all = "snake_case")]
pub enum Outcome {
    /// Done, nothing to show.
    Done,
    /// A confirmation, a note, or text that the user wrote.
    Message(String),
    /// Text that the user has formatted (`printf`, `echo`). Its control characters are the
    /// user's own and reach the terminal; those of strings of the program are escaped.
    Printed(String),
    /// An empty list: nothing matched.
    Empty(EmptyView),
    /// The debuggee ran and stopped.
    Stopped(Box<StopView>),
    /// The debuggee ran and ended.
    Ended(Box<EndView>),
    /// The position is an event of a recording.
    RecordedStop(Box<RecordedStop>),
    /// The position is after the last event of a recording.
    RecordedEnd(Box<RecordedEnd>),
    /// A stack.
    Backtrace {
        /// The frames.
        frames: Vec<FrameView>,
        /// Whether there are more.
        more: bool,
    },
    /// The stacks of several threads.
    Stacks(Vec<StackView>),
    /// The selected frame, and its source.
    Frame(Box<FrameView>, Option<SourceView>),
    /// The selected frame in detail.
    FrameInfo(Box<FrameInfoView>),
    /// Source lines.
    Source(SourceView),
    /// A location in the source.
    Location(Box<Location>),
    /// Lines with the addresses of their code.
    Lines(Vec<LineView>),
    /// The source file of the selected frame.
    SourceFile(Box<SourceFileView>),
    /// Points.
    Points(Vec<PointView>),
    /// A point was set.
    PointSet(Box<SetPointView>),
    /// Skips.
    Skips(Vec<SkipView>),
    /// A skip was added.
    Skip(SkipView),
    /// Threads.
    Threads(Vec<ThreadView>),
    /// The selected thread.
    Thread(ThreadName),
    /// The thread of the next outcome.
    ThreadHeading(ThreadName),
    /// The threads under a schedule.
    Schedule(Box<ScheduleView>),
    /// The communication of threads under a schedule.
    Communication(Box<CommunicationView>),
    /// The origins of a value.
    Origins(Box<OriginsView>),
    /// A checkpoint was created.
    Checkpoint(Box<CheckpointView>),
    /// Checkpoints.
    Checkpoints(Vec<CheckpointView>),
    /// Checkpoints in a recording.
    RecordedCheckpoints(Vec<RecordedCheckpointView>),
    /// The events of a recording.
    RecordedEvents(Vec<RecordedEventView>),
    /// Processes.
    Processes(Vec<ProcessView>),
    /// The selected process.
    Process(ProcessName),
    /// The process as the kernel describes it.
    ProcessInfo(Box<ProcessInfoView>),
    /// The auxiliary vector.
    AuxiliaryVector(Vec<AuxiliaryEntryView>),
    /// The process and its selected thread.
    Program(Box<ProgramView>),
    /// Loaded modules.
    Modules(Vec<ModuleView>),
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
    /// The symbol at an address.
    Symbol(SymbolView),
    /// The address of a variable or function.
    Address(AddressView),
    /// The variables that are visible at a location.
    Scope(ScopeView),
    /// Types; several if functions share a name.
    Types(Vec<TypeView>),
    /// Monitors.
    Monitors(Vec<MonitorView>),
    /// Properties.
    Properties(Vec<PropertyView>),
    /// Scenarios.
    Scenarios(Vec<ScenarioView>),
    /// The events of properties, with their locations.
    Events(Vec<EventView>),
    /// Graphs of properties.
    Graphs(Vec<GraphView>),
    /// A path of one slice.
    Paths(Vec<ViolationView>),
    /// A value.
    Value(ValueView),
    /// A value to show without its number and type.
    PlainValue(ValueView),
    /// The value of a variable, register or memory after an assignment.
    Assigned(VariableView),
    /// Convenience variables, without their `$`.
    ConvenienceVariables(Vec<VariableView>),
    /// The last values of the value history.
    ValueHistory(Vec<ValueView>),
    /// Bytes were copied between memory and a file.
    Copied(CopyView),
    /// Displays.
    Displays(Vec<DisplayView>),
    /// Evaluations that are open.
    Evaluations(Vec<EvaluationView>),
    /// Settings.
    Settings(Vec<SettingView>),
    /// The environment of the program.
    Environment(Vec<EnvironmentVariableView>),
    /// juror's working directory.
    WorkingDirectory(String),
    /// juror's version.
    Version(String),
    /// Groups of commands.
    CommandGroups(Vec<CommandGroupView>),
    /// The files of pretty-printers that were loaded.
    PrettyPrinters(Vec<PrettyPrinterView>),
    /// A shell command ended with a status other than 0.
    ShellEnded(ShellEndView),
    /// The subjects of `info`.
    InfoSubjects(Vec<SubjectHelp>),
    /// The list of commands.
    HelpIndex(Vec<CommandHelp>),
    /// The groups of commands.
    HelpGroups(Vec<GroupHelp>),
    /// One command.
    Help(CommandHelp),
    /// Leave juror.
    Quit(QuitView),
}
