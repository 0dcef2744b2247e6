//! What commands return and observers are told: plain data that front ends
//! format.
//!
//! **Invariant**: nothing here is formatted for a terminal, and every result is
//! `Serialize`, so that the text and the JSON of one result say the same.

#![forbid(unsafe_code)]

mod code;
pub mod error;
pub mod location;
pub mod observer;
mod points;
mod program;
mod properties;
mod settings;
mod stops;
mod symbols;

pub use crate::code::{AssemblyLine, AssemblyView, MemoryRow, MemoryView, NameView, ShownLine};
pub use crate::points::{PointLocation, PointView, ScenarioLine, ScenarioView};
pub use crate::program::{
    AuxiliaryEntryView, AuxiliaryKind, MappingView, ModuleView, OpenFileView, ProcessInfoView,
    ProgramView,
};
pub use crate::properties::{
    EventSummary, GraphState, GraphView, MonitorView, PathStep, PropertySummary, PropertyView,
    SliceView, StateChange, StoredValue, ViolationCount, ViolationView,
};
pub use crate::settings::{
    CommandGroupView, CopyView, EnvironmentVariableView, PrettyPrinterView, SettingView,
    ShellEndView, SkipView, SubstitutionView,
};
pub use crate::stops::{
    EndView, Ending, ProcessEnd, RecordedCheckpointView, RecordedEnd, RecordedEventView,
    RecordedStop, StackOverflowView, StopReason, StopView, TraceStop, WatchedAccess,
};
pub use crate::symbols::{
    AddressView, CompilationUnitView, FrameCodeView, FrameInfoView, FrameKind, LabelView, LineView,
    SavedRegisterView, ScopeVariableView, ScopeView, SourceFileView, StorageKind, StorageView,
    SymbolView, TypeView,
};
use juror_event::Value;
use serde::{Serialize, Serializer};

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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
pub struct FrameView {
    /// 0 is the innermost.
    pub level: u32,
    /// Where it is: the call for outer frames.
    pub location: Location,
    /// The function's arguments; empty without debug information.
    pub arguments: Vec<VariableView>,
    /// Inlined into the next frame: it has no frame of its own in memory.
    pub inlined: bool,
    /// Its function has ended in a jump to that of the frame before it: there is
    /// nothing of it in memory any more.
    pub tail_call: bool,
    /// The frame that the kernel made for the handler of a signal: the next one is what
    /// the signal interrupted.
    pub signal: bool,
    /// The frame before it has no rules that lead to its caller: that it is this
    /// one is likely, not sure.
    pub guess: bool,
    /// It was called, and its caller cannot be found: the stack is cut here.
    pub cut: bool,
    /// No frame of the program: juror called the one before it, in the
    /// evaluation of this number.
    pub evaluation: Option<u32>,
    /// Its local variables, where they were asked for.
    pub locals: Option<Vec<VariableView>>,
}

/// The stack of one of several threads.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StackView {
    /// The thread.
    pub thread: ThreadView,
    /// The frames, innermost first.
    pub frames: Vec<FrameView>,
    /// There are more.
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

/// A thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ThreadName {
    /// juror's own number, from 1.
    pub number: u32,
    /// The kernel's number.
    pub id: u32,
    /// Its name.
    pub name: String,
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
    /// The innermost caller that has source, if the location itself has none: what the thread
    /// does in a library (waits for a lock, say) it does for this call.
    pub caller: Option<Location>,
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
    /// A format was asked for: the value says nothing of the type.
    #[serde(skip)]
    pub is_formatted: bool,
}

/// What is shown at every stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DisplayView {
    /// juror's number of it.
    pub number: u32,
    /// What was asked for, with its format: `/x flags`.
    pub expression: String,
    /// Its value, safe for a terminal.
    pub value: Option<String>,
    /// Why it has none now.
    pub error: Option<String>,
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

/// A group of commands, for help.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GroupHelp {
    /// Its name, as `help` takes it.
    pub name: String,
    /// What its commands are for.
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
    /// What it does, in a line.
    pub summary: String,
    /// Examples: what is typed, and what it does.
    pub examples: Vec<(String, String)>,
    /// More words.
    pub details: String,
    /// When it is possible, where it is not always so.
    pub possible: Option<String>,
}

/// A subject of `info`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SubjectHelp {
    /// Its name.
    pub name: String,
    /// What `info` shows of it.
    pub summary: String,
}

/// A list that is empty: the request matched nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EmptyView {
    /// What was listed.
    pub listed: Listed,
    /// The regular expression that nothing matches.
    pub pattern: Option<String>,
    /// The function has debug information, if its variables were listed.
    pub has_debug_info: Option<bool>,
}

/// What a list would hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Listed {
    /// Functions.
    Functions,
    /// Variables that are not local.
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

/// What a command gives.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", content = "value", rename_all = "snake_case")]
pub enum Outcome {
    /// Done, nothing to show.
    Done,
    /// A confirmation, a note, or text that the user wrote.
    Message(String),
    /// An empty list: nothing matched.
    Empty(EmptyView),
    /// The debuggee ran and stands still again.
    Stopped(Box<StopView>),
    /// The debuggee ran and ended.
    Ended(Box<EndView>),
    /// One stands at an event of a recording.
    RecordedStop(Box<RecordedStop>),
    /// The last event of a recording has been passed.
    RecordedEnd(Box<RecordedEnd>),
    /// A stack.
    Backtrace {
        /// The frames.
        frames: Vec<FrameView>,
        /// There are more.
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
    /// Skips.
    Skips(Vec<SkipView>),
    /// A skip was added.
    Skip(SkipView),
    /// Threads.
    Threads(Vec<ThreadView>),
    /// The selected thread.
    Thread(ThreadName),
    /// The thread that the next result is about.
    ThreadHeading(ThreadName),
    /// A checkpoint has been made.
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
    /// Pictures of properties.
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
    /// What is shown at every stop.
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
    /// Commands that have a name.
    CommandGroups(Vec<CommandGroupView>),
    /// The files of pretty-printers that were loaded.
    PrettyPrinters(Vec<PrettyPrinterView>),
    /// A shell command ended, and not with status 0.
    ShellEnded(ShellEndView),
    /// The subjects of `info`.
    InfoSubjects(Vec<SubjectHelp>),
    /// The list of commands.
    HelpIndex(Vec<CommandHelp>),
    /// The groups of commands.
    HelpGroups(Vec<GroupHelp>),
    /// One command.
    Help(CommandHelp),
    /// Leave.
    Quit,
}
