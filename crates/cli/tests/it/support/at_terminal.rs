//! juror at its prompt, at a terminal.

use super::{juror, program};
use juror_testing::{Juror, Terminal};
use std::path::Path;

/// The prompt.
pub const PROMPT: &str = "(juror) ";

/// Returns juror with a program of `tests/programs`, in the directory of that program.
pub fn prepared(file: &str) -> Juror {
    let executable = program(file).compile_plain();
    let directory = executable.parent().unwrap_or(Path::new("/")).to_owned();
    juror(&["run"]).args([executable]).directory(directory)
}

/// Types a line and returns the answer.
#[track_caller]
pub fn ask(terminal: &mut Terminal, line: &str) -> String {
    terminal.type_line(line);
    terminal.expect("\n");
    terminal.expect(PROMPT)
}

/// Types `quit`, and checks the status of the end.
#[track_caller]
pub fn quit(mut terminal: Terminal) {
    terminal.type_line("quit");
    let (_, status) = terminal.finish();
    assert_eq!(status, 0);
}
