//! A session of a few lines, which each front end answers alike.

use super::juror;
use juror_testing::{Fixture, repository_directory};
use std::path::PathBuf;

/// The lines: what is shown, what is wrong, and what lets the program run.
pub const LINES: [&str; 10] = [
    "backtrace",
    "print *queue",
    "info locals",
    "up",
    "info locals",
    "frob",
    "print nothing_here",
    "break queue_print",
    "continue",
    "info breakpoints",
];

/// Returns the program of the session and its property.
pub fn queue() -> (PathBuf, PathBuf) {
    let program = Fixture::example("queue").compile_plain();
    let property = repository_directory().join("examples/queue/queue.prop");
    (program, property)
}

/// Returns a line and its answer as the prompt shows them.
pub fn exchange(line: &str, answer: &str) -> String {
    format!("(juror) {line}\n{answer}\n")
}

/// Returns what the prompt shows for the lines.
pub fn at_the_prompt() -> String {
    let (program, property) = queue();
    let mut input: String = LINES.iter().map(|line| format!("{line}\n")).collect();
    input.push_str("quit\n");
    let output = juror(&["run", "--color=never", "--property"])
        .args([property.as_os_str(), program.as_os_str()])
        .directory(repository_directory())
        .input(input)
        .run();
    let shown = output.stdout.split_once("(juror) ").expect("a prompt").1;
    let shown = shown.split("(juror) quit").next().unwrap_or_default();
    format!("(juror) {shown}")
}

/// Returns the lines that are not empty.
pub fn plain(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim_end);
    let lines = lines.filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}
