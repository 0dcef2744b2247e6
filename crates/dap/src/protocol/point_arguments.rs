//! The arguments of requests that set points.
//!
//! A field that a client may leave out may also be null.

use super::arguments::Source;
use serde::Deserialize;

/// A breakpoint of a source file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceBreakpoint {
    /// The line.
    pub line: i64,
    /// The column of a statement of the line.
    pub column: Option<i64>,
    /// The condition.
    pub condition: Option<String>,
    /// Which hits stop.
    pub hit_condition: Option<String>,
    /// The text to write instead of a stop.
    pub log_message: Option<String>,
}

/// The arguments of `setBreakpoints`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SetBreakpoints {
    /// The file.
    pub source: Source,
    /// Its breakpoints.
    pub breakpoints: Option<Vec<SourceBreakpoint>>,
    /// The lines of its breakpoints, as old clients give them.
    pub lines: Option<Vec<i64>>,
}

/// A breakpoint of a function.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FunctionBreakpoint {
    /// The function.
    pub name: String,
    /// The condition.
    pub condition: Option<String>,
    /// Which hits stop.
    pub hit_condition: Option<String>,
}

/// The arguments of `setFunctionBreakpoints`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct SetFunctionBreakpoints {
    /// All breakpoints of functions.
    pub breakpoints: Option<Vec<FunctionBreakpoint>>,
}

/// A breakpoint of an instruction.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InstructionBreakpoint {
    /// The address.
    pub instruction_reference: String,
    /// The distance from it, in bytes.
    pub offset: Option<i64>,
    /// The condition.
    pub condition: Option<String>,
    /// Which hits stop.
    pub hit_condition: Option<String>,
}

/// The arguments of `setInstructionBreakpoints`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct SetInstructionBreakpoints {
    /// All breakpoints of instructions.
    pub breakpoints: Option<Vec<InstructionBreakpoint>>,
}

/// A watchpoint.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DataBreakpoint {
    /// The identifier of the watched memory, from `dataBreakpointInfo`.
    pub data_id: String,
    /// Which accesses stop.
    pub access_type: Option<String>,
    /// The condition.
    pub condition: Option<String>,
    /// Which hits stop.
    pub hit_condition: Option<String>,
}

/// The arguments of `setDataBreakpoints`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct SetDataBreakpoints {
    /// All watchpoints.
    pub breakpoints: Option<Vec<DataBreakpoint>>,
}

/// The arguments of `dataBreakpointInfo`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DataBreakpointInfo {
    /// The container of the variable.
    pub variables_reference: Option<i64>,
    /// The variable, an expression, or an address.
    pub name: String,
    /// The frame of the expression.
    pub frame_id: Option<i64>,
    /// The number of bytes.
    pub bytes: Option<i64>,
    /// Whether the name is an address.
    pub as_address: Option<bool>,
}

/// An exception filter with its condition.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FilterOptions {
    /// The filter.
    pub filter_id: String,
    /// The condition.
    pub condition: Option<String>,
}

/// The arguments of `setExceptionBreakpoints`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SetExceptionBreakpoints {
    /// The filters without conditions.
    pub filters: Option<Vec<String>>,
    /// The filters with conditions.
    pub filter_options: Option<Vec<FilterOptions>>,
}
