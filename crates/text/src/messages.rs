//! Errors and notices as text.

use crate::diagnostics;
use crate::escape::safe;
use crate::page::{BAD, QUIET, STRONG};
use juror_fault::{CommandError, FileDiagnostics};

/// The address for bug reports.
const ISSUES: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/issues");

/// Returns an error of the user as text. The first line says what is wrong, further
/// lines are advice.
pub fn error(message: &str) -> String {
    let mut lines = message.lines();
    let first = lines.next().unwrap_or("something went wrong");
    let mut text = format!("{BAD}error:{BAD:#} {STRONG}{}{STRONG:#}\n", safe(first));
    for line in lines {
        text.push_str(&format!("{}\n", safe(line)));
    }
    text
}

/// Returns a bug in juror as text, with how to report it.
pub fn bug(message: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let message = message.lines().map(safe).collect::<Vec<_>>().join("\n  ");
    format!(
        "{BAD}This is a bug in juror:{BAD:#} {message}\n\
         Please report it at {ISSUES}\n\
         with this message, the command line, and what the program was doing (juror {version}).\n"
    )
}

/// Returns the error of a command as text.
pub fn command_error(error: &CommandError) -> String {
    command_error_in("", error)
}

/// Returns the error of a line as text. The words that are wrong are marked.
pub fn command_error_in(line: &str, error: &CommandError) -> String {
    let mut text = files(&error.found);
    for line in error.message.lines() {
        text.push_str(&format!("{}\n", safe(line)));
    }
    text.push_str(&marked(line, &error.wrong).unwrap_or_default());
    for line in error.help.iter().flat_map(|help| help.lines()) {
        text.push_str(&format!("{QUIET}help:{QUIET:#} {}\n", safe(line)));
    }
    text
}

/// Returns a line and marks below its end from the wrong words on; nothing if it does not end so.
fn marked(line: &str, wrong: &str) -> Option<String> {
    let line = line.trim();
    let before = line.strip_suffix(wrong).filter(|_| !wrong.is_empty())?;
    let word = wrong.split_whitespace().next().unwrap_or(wrong);
    let width = |text: &str| safe(text).chars().count();
    Some(format!(
        "{QUIET}  |{QUIET:#} {}\n{QUIET}  |{QUIET:#} {}{BAD}{}{BAD:#}\n",
        safe(line),
        " ".repeat(width(before)),
        "^".repeat(width(word).max(1))
    ))
}

/// Returns the diagnostics of files as text.
pub fn files(found: &[FileDiagnostics]) -> String {
    let files = found.iter();
    let shown = files.map(|it| diagnostics::render_all(&it.file, &it.text, &it.diagnostics));
    shown.collect()
}

/// Returns a notice in brackets: `[thread 2 started]`.
pub fn notice(text: &str) -> String {
    let lines = text.lines().map(safe).collect::<Vec<_>>().join("\n ");
    format!("{QUIET}[{lines}]{QUIET:#}\n")
}
