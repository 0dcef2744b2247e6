//! The capabilities of the adapter.

use serde_json::{Map, Value, json};

/// The exception filters that do not depend on the properties: identifier, label, description,
/// and whether it is on at first.
pub const FILTERS: [(&str, &str, &str, bool); 6] = [
    (
        "violations",
        "Property is violated",
        "Stops where a monitored property is violated",
        true,
    ),
    (
        "throw",
        "C++: exception is thrown",
        "Stops where a C++ exception is thrown",
        false,
    ),
    (
        "catch",
        "C++: exception is caught",
        "Stops where a C++ exception is caught",
        false,
    ),
    (
        "panic",
        "Rust: panic",
        "Stops where a Rust program panics",
        true,
    ),
    (
        "abort",
        "abort()",
        "Stops where the program calls abort",
        false,
    ),
    (
        "signals",
        "Signals",
        "Stops at the signals of the table of `handle`; without it, at those that would end the \
         program",
        false,
    ),
];

/// Returns a filter as the client shows it.
pub fn filter(id: &str, label: &str, description: &str, is_default: bool) -> Value {
    json!({
        "filter": id,
        "label": label,
        "description": description,
        "default": is_default,
    })
}

/// Returns the filters that are always there.
pub fn filters() -> Vec<Value> {
    let all = FILTERS.iter();
    all.map(|(id, label, description, is_default)| filter(id, label, description, *is_default))
        .collect()
}

/// Returns the capabilities that do not depend on the program.
pub fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsFunctionBreakpoints": true,
        "supportsConditionalBreakpoints": true,
        "supportsHitConditionalBreakpoints": true,
        "supportsLogPoints": true,
        "supportsInstructionBreakpoints": true,
        "supportsDataBreakpoints": true,
        "supportsDataBreakpointBytes": true,
        "supportsBreakpointLocationsRequest": true,
        "supportsExceptionFilterOptions": true,
        "supportsExceptionInfoRequest": true,
        "exceptionBreakpointFilters": filters(),
        "supportsEvaluateForHovers": true,
        "supportsClipboardContext": true,
        "supportsSetVariable": true,
        "supportsSetExpression": true,
        "supportsValueFormattingOptions": true,
        "supportsCompletionsRequest": true,
        "completionTriggerCharacters": [" ", ".", ":", "$"],
        "supportsDelayedStackTraceLoading": true,
        "supportsModulesRequest": true,
        "supportsLoadedSourcesRequest": true,
        "supportsGotoTargetsRequest": true,
        "supportsRestartFrame": true,
        "supportsStepInTargetsRequest": true,
        "supportsSteppingGranularity": true,
        "supportsSingleThreadExecutionRequests": true,
        "supportsDisassembleRequest": true,
        "supportsReadMemoryRequest": true,
        "supportsWriteMemoryRequest": true,
        "supportsCancelRequest": true,
        "supportsRestartRequest": true,
        "supportsTerminateRequest": true,
        "supportTerminateDebuggee": true,
        "supportsANSIStyling": true,
    })
}

/// The capabilities that are about the program itself, which a recorded run does not have.
const ABSENT_IN_RECORDINGS: [&str; 17] = [
    "supportsConditionalBreakpoints",
    "supportsDataBreakpointBytes",
    "supportsDataBreakpoints",
    "supportsDisassembleRequest",
    "supportsGotoTargetsRequest",
    "supportsHitConditionalBreakpoints",
    "supportsInstructionBreakpoints",
    "supportsLogPoints",
    "supportsModulesRequest",
    "supportsReadMemoryRequest",
    "supportsRestartFrame",
    "supportsSetExpression",
    "supportsSetVariable",
    "supportsSingleThreadExecutionRequests",
    "supportsStepInTargetsRequest",
    "supportsSteppingGranularity",
    "supportsWriteMemoryRequest",
];

/// Returns the capabilities of a session with a recorded run that are not those of others.
pub fn of_recordings() -> Value {
    let absent = ABSENT_IN_RECORDINGS.iter();
    let mut all: Map<String, Value> = absent
        .map(|name| ((*name).to_owned(), false.into()))
        .collect();
    all.insert("supportsStepBack".to_owned(), true.into());
    Value::Object(all)
}

/// Returns the capabilities of a session with a run that can be made again, in addition.
pub fn of_runs_made_again() -> Value {
    json!({ "supportsStepBack": true })
}
