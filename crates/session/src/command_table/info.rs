//! The subjects of `info`: names, abbreviations, help.

use crate::command_table::Unclear;
use juror_rules::control::Modes;

/// The subjects of `info`, with what each shows.
pub const INFO_SUBJECTS: &[(&str, &str)] = &[
    ("address", "where a variable or function is in memory"),
    ("args", "the arguments of the selected frame"),
    (
        "auxv",
        "the auxiliary vector: what the kernel told the program",
    ),
    (
        "breakpoints",
        "all points: yours, and those the monitors need now",
    ),
    ("checkpoints", "the checkpoints, and where they were made"),
    ("display", "what is shown at every stop"),
    (
        "evaluations",
        "expressions that wait for functions which they call",
    ),
    (
        "frame",
        "where the selected frame is in memory, its caller, and the registers that it has saved",
    ),
    (
        "functions",
        "the functions, or those whose names match a regular expression",
    ),
    (
        "graph",
        "the states of the properties, and how many slices stand in each",
    ),
    (
        "line",
        "where the selected frame stands in the source, or where the code of a line is",
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
        "the processes that are debugged, and where they stand",
    ),
    (
        "program",
        "the process, and where its selected thread stands",
    ),
    (
        "registers",
        "the registers of the current thread, or those that are named",
    ),
    (
        "scenarios",
        "the scenarios, what they hold and what they have done",
    ),
    (
        "scope",
        "the variables that can be named at a place, and where they are kept",
    ),
    ("sharedlibrary", "the modules that are loaded"),
    ("signals", "the signals, and what is done about them"),
    ("skip", "the functions and files that step does not enter"),
    (
        "source",
        "the source file of the selected frame, and how it was compiled",
    ),
    ("stack", "the frames, as backtrace shows them"),
    ("symbol", "what stands at an address"),
    ("threads", "the threads and where they stand"),
    (
        "types",
        "the types, or those whose names match a regular expression",
    ),
    (
        "variables",
        "the global variables, or those whose names match a regular expression",
    ),
    ("views", "the files that say how values are shown"),
    (
        "watchpoints",
        "what is watched, how, and how often it was hit",
    ),
];

/// Finds the subject of `info` that a word stands for.
pub fn find_info_subject(word: &str) -> Result<&'static str, Unclear> {
    match word {
        "b" | "catch" => return Ok("breakpoints"),
        // As gdb calls them.
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

/// The modes in which a subject of `info` can be shown.
pub fn info_modes(subject: &str) -> Modes {
    match subject {
        "args" | "frame" | "line" | "locals" | "source" | "stack" => Modes::Begun,
        "address" | "auxv" | "evaluations" | "proc" | "processes" | "program" | "registers"
        | "sharedlibrary" | "symbol" | "threads" => Modes::Program,
        _ => Modes::Always,
    }
}
