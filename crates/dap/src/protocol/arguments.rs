//! The arguments of requests.
//!
//! A field that a client may leave out may also be null.

use serde::Deserialize;
use serde_json::{Map, Value};

/// The client, as `initialize` describes it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Initialize {
    /// Whether lines begin at 1, as is usual.
    pub lines_start_at1: Option<bool>,
    /// Whether columns begin at 1, as is usual.
    pub columns_start_at1: Option<bool>,
    /// The form of paths.
    pub path_format: Option<String>,
    /// Whether the client can start a program in a terminal.
    pub supports_run_in_terminal_request: Option<bool>,
    /// Whether the client shows progress.
    pub supports_progress_reporting: Option<bool>,
    /// Whether the client asks again for what has become invalid.
    pub supports_invalidated_event: Option<bool>,
    /// Whether the client wants to know of changes of memory.
    pub supports_memory_event: Option<bool>,
    /// Whether output may have styles.
    #[serde(rename = "supportsANSIStyling")]
    pub supports_ansi_styling: Option<bool>,
}

/// The arguments that `launch` and `attach` share.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Start {
    /// The program.
    pub program: Option<String>,
    /// Its arguments.
    pub args: Option<Vec<String>>,
    /// Its working directory; files below are relative to it, too.
    pub cwd: Option<String>,
    /// Variables to set, or to remove if null.
    pub env: Option<Map<String, Value>>,
    /// The process to attach to: its number.
    pub pid: Option<Value>,
    /// The same, as other adapters call it.
    pub process_id: Option<Value>,
    /// The name of the process to attach to.
    pub name_of_process: Option<String>,
    /// The core file to debug instead of a process.
    pub core_file: Option<String>,
    /// The recording to replay instead of a program, or the file of a run of `juror explore`, whose
    /// program makes that run again.
    pub recording: Option<String>,
    /// The names of the values of an event in a recording in CSV: `EVENT=NAME,NAME`.
    pub columns: Option<Vec<String>>,
    /// Files of properties.
    pub properties: Option<Vec<String>>,
    /// Files of scenarios.
    pub scenarios: Option<Vec<String>>,
    /// Whether to stop at the main function, or where an attached process is.
    pub stop_on_entry: Option<bool>,
    /// Commands to execute before the program runs.
    pub init_commands: Option<Vec<String>>,
    /// When checkpoints are made: `start`, or a number of events.
    pub checkpoint: Option<Value>,
    /// How events of calls are taken: `auto`, `native`, `trap`.
    pub tier: Option<String>,
    /// The console of the program's input and output.
    pub console: Option<String>,
    /// A file for the standard input.
    pub stdin: Option<String>,
    /// Whether to run the program without properties.
    pub no_debug: Option<bool>,
    /// Whether each change of a property's state is an event.
    pub state_changes: Option<bool>,
    /// The token, which proves that the client may connect.
    pub token: Option<String>,
}

/// The arguments of `disconnect`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Disconnect {
    /// Whether the session starts again.
    pub restart: Option<bool>,
    /// Whether to end the program; if absent, it ends if it was launched.
    pub terminate_debuggee: Option<bool>,
}

/// The arguments of `restart`: the new ones of `launch`, if any.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Restart {
    /// The new arguments.
    pub arguments: Option<Start>,
}

/// A source file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Source {
    /// Its path.
    pub path: Option<String>,
}

/// The arguments of `breakpointLocations`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BreakpointLocations {
    /// The file.
    pub source: Source,
    /// The first line.
    pub line: i64,
    /// The first column, in the first line.
    pub column: Option<i64>,
    /// The last line.
    pub end_line: Option<i64>,
    /// The last column, in the last line.
    pub end_column: Option<i64>,
}

/// The arguments of requests that resume a thread.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Resume {
    /// The thread.
    pub thread_id: Option<i64>,
    /// Whether only this thread is to run.
    pub single_thread: Option<bool>,
    /// `statement`, `line` or `instruction`.
    pub granularity: Option<String>,
    /// The call to step into, of `stepInTargets`.
    pub target_id: Option<i64>,
}

/// The form of shown values.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ValueFormat {
    /// Whether numbers are hexadecimal.
    pub hex: Option<bool>,
}

/// The form of shown frames.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StackFrameFormat {
    /// Whether numbers are hexadecimal.
    pub hex: Option<bool>,
    /// Whether parameters are shown.
    pub parameters: Option<bool>,
    /// Whether their types are shown.
    pub parameter_types: Option<bool>,
    /// Whether their names are shown.
    pub parameter_names: Option<bool>,
    /// Whether their values are shown.
    pub parameter_values: Option<bool>,
    /// Whether the line is shown.
    pub line: Option<bool>,
    /// Whether the module is shown.
    pub module: Option<bool>,
}

/// The arguments of `stackTrace`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StackTrace {
    /// The thread.
    pub thread_id: i64,
    /// The first frame.
    pub start_frame: Option<i64>,
    /// The number of frames; 0 for all.
    pub levels: Option<i64>,
    /// The form of their names.
    pub format: Option<StackFrameFormat>,
}

/// The arguments of `scopes`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Scopes {
    /// The frame.
    pub frame_id: i64,
}

/// The arguments of `variables`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Variables {
    /// The container.
    pub variables_reference: i64,
    /// `indexed` or `named`, for only these.
    pub filter: Option<String>,
    /// The first.
    pub start: Option<i64>,
    /// The number; 0 for all.
    pub count: Option<i64>,
    /// The form of the values.
    pub format: Option<ValueFormat>,
}

/// The arguments of `setVariable`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SetVariable {
    /// The container.
    pub variables_reference: i64,
    /// The name in it.
    pub name: String,
    /// The expression of the new value.
    pub value: String,
    /// The form of the value.
    pub format: Option<ValueFormat>,
}

/// The arguments of `setExpression`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SetExpression {
    /// The place.
    pub expression: String,
    /// The expression of the new value.
    pub value: String,
    /// The frame.
    pub frame_id: Option<i64>,
    /// The form of the value.
    pub format: Option<ValueFormat>,
}

/// The arguments of `evaluate`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Evaluate {
    /// The expression, or the command line.
    pub expression: String,
    /// The frame.
    pub frame_id: Option<i64>,
    /// `repl`, `watch`, `hover`, `clipboard`, `variables`.
    pub context: Option<String>,
    /// The form of the value.
    pub format: Option<ValueFormat>,
}

/// The arguments of `completions`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Completions {
    /// The frame.
    pub frame_id: Option<i64>,
    /// The text.
    pub text: String,
    /// The column of the cursor, in UTF-16 units.
    pub column: i64,
    /// The line of the text that the cursor is in.
    pub line: Option<i64>,
}

/// The arguments of `source`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetSource {
    /// The file.
    pub source: Option<Source>,
}

/// The arguments of `modules`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Modules {
    /// The first module.
    pub start_module: Option<i64>,
    /// The number of modules; 0 for all.
    pub module_count: Option<i64>,
}

/// The arguments of `gotoTargets`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GotoTargets {
    /// The file.
    pub source: Source,
    /// The line.
    pub line: i64,
}

/// The arguments of `goto`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Goto {
    /// The thread.
    pub thread_id: i64,
    /// The target, of `gotoTargets`.
    pub target_id: i64,
}

/// The arguments of `restartFrame`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RestartFrame {
    /// The frame.
    pub frame_id: i64,
}

/// The arguments of `stepInTargets`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepInTargets {
    /// The frame.
    pub frame_id: i64,
}

/// The arguments of `disassemble`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Disassemble {
    /// The address.
    pub memory_reference: String,
    /// The distance from it, in bytes.
    pub offset: Option<i64>,
    /// The distance from there, in instructions.
    pub instruction_offset: Option<i64>,
    /// The number of instructions.
    pub instruction_count: i64,
}

/// The arguments of `readMemory`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadMemory {
    /// The address.
    pub memory_reference: String,
    /// The distance from it, in bytes.
    pub offset: Option<i64>,
    /// The number of bytes.
    pub count: i64,
}

/// The arguments of `writeMemory`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WriteMemory {
    /// The address.
    pub memory_reference: String,
    /// The distance from it, in bytes.
    pub offset: Option<i64>,
    /// Whether a part may be written.
    pub allow_partial: Option<bool>,
    /// The bytes in base64.
    pub data: String,
}

/// The arguments of requests for a thread.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OfThread {
    /// The thread.
    pub thread_id: i64,
}
