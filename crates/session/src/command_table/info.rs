//! The subjects of `info`: names, abbreviations, help.

use crate::command_table::Unclear;
use juror_control::Modes;

/// The subjects of `info`, with their summaries.
pub const INFO_SUBJECTS: &[(&str, &str)] = &[
    (
        "address",
        "the address or register of a variable or function",
    ),
    ("args", "the arguments of the selected frame"),
    (
        "auxv",
        "the auxiliary vector, which the kernel passed to the program",
    ),
    (
        "breakpoints",
        "all points: yours, and the monitors' current ones",
    ),
    ("checkpoints", "the checkpoints, and where they were made"),
    (
        "communication",
        "the steps by which threads under a schedule communicate, side by side",
    ),
    ("display", "the expressions that are shown at every stop"),
    (
        "evaluations",
        "evaluations that stopped in a function they called",
    ),
    (
        "events",
        "the events of the properties, and where each is bound",
    ),
    (
        "frame",
        "the selected frame's addresses, caller and saved registers",
    ),
    (
        "functions",
        "the functions, or those that match a regular expression",
    ),
    (
        "graph",
        "the states of the properties, and how many slices are in each",
    ),
    (
        "line",
        "the source line of the selected frame, or the addresses of a line",
    ),
    ("locals", "the local variables of the selected frame"),
    (
        "monitors",
        "the monitors with their slices, states and variables",
    ),
    (
        "proc",
        "the process; info proc mappings its memory, status, files, environ, limits",
    ),
    (
        "processes",
        "the debugged processes, and where they are stopped",
    ),
    (
        "program",
        "the process, and where its selected thread is stopped",
    ),
    (
        "registers",
        "the registers of the current thread, or the named ones",
    ),
    (
        "scenarios",
        "the scenarios, their variables and what they have done",
    ),
    (
        "scope",
        "the variables in scope at a location, and where they are stored",
    ),
    ("sharedlibrary", "the loaded modules"),
    ("signals", "the signals, and how each is handled"),
    ("skip", "the functions and files that step skips"),
    (
        "source",
        "the source file of the selected frame, and how it was compiled",
    ),
    ("stack", "the frames, as backtrace shows them"),
    ("symbol", "the symbol at an address"),
    ("threads", "the threads, and where they are stopped"),
    (
        "types",
        "the types, or those that match a regular expression",
    ),
    (
        "variables",
        "the global variables, or those that match a regular expression",
    ),
    ("views", "the pretty-printer files"),
    (
        "watchpoints",
        "the watchpoints, how each is implemented, and its hits",
    ),
];

/// Finds the subject of `info` for a word.
pub fn find_info_subject(word: &str) -> Result<&'static str, Unclear> {
    match word {
        "b" | "catch" => return Ok("breakpoints"),
        // gdb's names.
        "all-registers" => return Ok("registers"),
        "dll" | "files" | "modules" => return Ok("sharedlibrary"),
        "inferiors" => return Ok("processes"),
        "s" => return Ok("stack"),
        "handle" => return Ok("signals"),
        "target" => return Ok("program"),
        _ => {}
    }
    if let Some((name, _)) = INFO_SUBJECTS.iter().find(|(name, _)| *name == word) {
        return Ok(name);
    }
    let candidates: Vec<_> = INFO_SUBJECTS
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| !word.is_empty() && name.starts_with(word))
        .collect();
    match candidates.as_slice() {
        [name] => Ok(name),
        [] => Err(Unclear::Unknown),
        several => Err(Unclear::Ambiguous(several.to_vec())),
    }
}

/// Returns whether a subject of `info` has an argument.
pub(crate) fn takes_argument(subject: &str) -> bool {
    matches!(
        subject,
        "address"
            | "breakpoints"
            | "communication"
            | "events"
            | "functions"
            | "graph"
            | "line"
            | "proc"
            | "registers"
            | "scenarios"
            | "scope"
            | "signals"
            | "stack"
            | "symbol"
            | "threads"
            | "types"
            | "variables"
    )
}

/// Returns the modes in which a subject of `info` can be shown.
pub fn info_modes(subject: &str) -> Modes {
    match subject {
        "args" | "frame" | "line" | "locals" | "source" | "stack" => Modes::Begun,
        "address" | "auxv" | "communication" | "evaluations" | "events" | "proc" | "processes"
        | "program" | "registers" | "sharedlibrary" | "symbol" | "threads" => Modes::Program,
        _ => Modes::Always,
    }
}
