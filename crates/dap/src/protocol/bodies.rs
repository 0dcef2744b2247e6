//! The bodies of answers and events.

use serde::Serialize;

/// A source file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Source {
    /// The file's name.
    pub name: String,
    /// Its path.
    pub path: String,
}

impl Source {
    /// Creates the source of a path.
    pub fn of(path: &str) -> Source {
        Source {
            name: path.rsplit('/').next().unwrap_or(path).to_owned(),
            path: path.to_owned(),
        }
    }
}

/// A breakpoint as the adapter has set it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Breakpoint {
    /// Its number for the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    /// Whether it can stop the program.
    pub verified: bool,
    /// Why it cannot, or a remark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// Its line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<i64>,
    /// Its column, if one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<i64>,
    /// Its address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction_reference: Option<String>,
    /// `pending` or `failed`, if it is not verified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
}

/// A thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Thread {
    /// juror's number.
    pub id: i64,
    /// Its name.
    pub name: String,
}

/// A frame.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StackFrame {
    /// Its number until the program resumes.
    pub id: i64,
    /// Its function.
    pub name: String,
    /// Its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// Its line; 0 if unknown.
    pub line: i64,
    /// Its column; 0 if unknown.
    pub column: i64,
    /// The address of the instruction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction_pointer_reference: Option<String>,
    /// Whether its call can begin anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub can_restart: Option<bool>,
    /// The module.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module_id: Option<String>,
    /// `subtle` for frames that are not the user's, `label` for what is no frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presentation_hint: Option<&'static str>,
}

/// A scope of variables.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Scope {
    /// Its name.
    pub name: String,
    /// Its kind, for the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presentation_hint: Option<&'static str>,
    /// Its container.
    pub variables_reference: i64,
    /// The number of its named variables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub named_variables: Option<i64>,
    /// The number of its elements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indexed_variables: Option<i64>,
    /// Whether it is slow, and shown on demand.
    pub expensive: bool,
}

/// How a variable is presented.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PresentationHint {
    /// Its kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// Its attributes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<&'static str>,
    /// Whether reading it is delayed until the user asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lazy: Option<bool>,
}

/// A variable.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Its type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_name: Option<String>,
    /// How it is presented.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presentation_hint: Option<PresentationHint>,
    /// An expression for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluate_name: Option<String>,
    /// The container of its parts; 0 if it has none.
    pub variables_reference: i64,
    /// The number of its named parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub named_variables: Option<i64>,
    /// The number of its elements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indexed_variables: Option<i64>,
    /// Its address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_reference: Option<String>,
}

/// A value: the result of `evaluate`, or of an assignment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Evaluated {
    /// The value.
    pub result: String,
    /// Its type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_name: Option<String>,
    /// The container of its parts; 0 if it has none.
    pub variables_reference: i64,
    /// The number of its named parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub named_variables: Option<i64>,
    /// The number of its elements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indexed_variables: Option<i64>,
    /// Its address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_reference: Option<String>,
}

/// The value after an assignment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Assigned {
    /// The value.
    pub value: String,
    /// Its type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_name: Option<String>,
    /// The container of its parts; 0 if it has none.
    pub variables_reference: i64,
    /// The number of its named parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub named_variables: Option<i64>,
    /// The number of its elements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indexed_variables: Option<i64>,
    /// The memory to show for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_reference: Option<String>,
}

/// A module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Module {
    /// Its path, which identifies it.
    pub id: String,
    /// The file's name.
    pub name: String,
    /// Its path.
    pub path: String,
    /// Whether it has debug information.
    pub symbol_status: &'static str,
    /// The difference between an address in the process and in the file.
    pub address_range: String,
}

/// An instruction.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Instruction {
    /// Its address.
    pub address: String,
    /// Its bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction_bytes: Option<String>,
    /// Its text.
    pub instruction: String,
    /// The function that begins here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// The file of the line that begins here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Source>,
    /// The line that begins here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<i64>,
    /// `invalid` for what is no instruction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presentation_hint: Option<&'static str>,
}

/// A completion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CompletionItem {
    /// The word.
    pub label: String,
    /// The begin of the word that it replaces, in UTF-16 units.
    pub start: i64,
    /// The length of that word, in UTF-16 units.
    pub length: i64,
}

/// Why the program has stopped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stopped {
    /// The reason, as a word.
    pub reason: &'static str,
    /// The reason in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<i64>,
    /// More about the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Whether all threads have stopped.
    pub all_threads_stopped: bool,
    /// The breakpoints that stopped it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hit_breakpoint_ids: Vec<i64>,
}

/// A target of `goto`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GotoTarget {
    /// Its number.
    pub id: i64,
    /// Its name.
    pub label: String,
    /// Its line.
    pub line: i64,
    /// Its address.
    pub instruction_pointer_reference: String,
}

/// A call of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepInTarget {
    /// Its number.
    pub id: i64,
    /// The function.
    pub label: String,
    /// The line of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<i64>,
    /// Its column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<i64>,
}

/// A place where a breakpoint can stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BreakpointLocation {
    /// The line.
    pub line: i64,
    /// The column where the statement begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<i64>,
}
