//! `run` with redirections of the standard streams, as in a shell.

use crate::support::{Batch, Report, program};
use std::fs;
use tempfile::TempDir;

/// Runs these commands where a file `in` has `words`; the run, and what the
/// other file holds then.
#[track_caller]
fn run(commands: &[&str], file: &str) -> (Report, String) {
    let directory = TempDir::with_prefix("juror-redirections-").expect("a directory");
    fs::write(directory.path().join("in"), "words\n").expect("a file");
    let mut batch = Batch::new().directory(directory.path());
    for command in commands {
        batch = batch.command(command);
    }
    let report = batch.run(program("copies.c").compile_plain(), &["first"]);
    let written = fs::read_to_string(directory.path().join(file)).unwrap_or_default();
    (report, written)
}

#[track_caller]
fn check(commands: &[&str], file: &str, expected: &str) {
    let (report, written) = run(commands, file);
    report.assert_code(0);
    assert_eq!(written, expected, "{commands:?} {}", report.all());
}

#[test]
fn the_standard_streams_may_be_files() {
    check(&["run < in > out"], "out", "words\n");
    check(&["run 'a b' c<in 2>errors"], "errors", "[a b][c]");
    check(&["run a < in &> all"], "all", "[a]words\n");
    check(
        &["run < in > out", "run < in >> out"],
        "out",
        "words\nwords\n",
    );
    // Alone it takes the line before; a line replaces the one before.
    check(&["run < in >> out", "run"], "out", "words\nwords\n");
    check(&["run x < in 2>> out", "run y < in"], "out", "[x]");
    check(&["start < in > out", "continue"], "out", "words\n");
}

#[test]
fn an_argument_with_quotes_is_no_redirection() {
    let (report, _) = run(&["run '<' in"], "out");
    report.assert_code(0);
    assert!(report.output.stderr.contains("[<][in]"), "{}", report.all());
}

#[test]
fn a_file_that_is_not_there_stops_nothing_that_runs() {
    let (report, written) = run(&["start > out", "run < nothing > other"], "other");
    report.assert_code(2);
    let expected = "cannot read from `nothing`: No such file or directory";
    assert!(report.output.stdout.contains(expected), "{}", report.all());
    assert_eq!(written, "");
    assert!(!report.output.stdout.contains("exited"), "{}", report.all());
}
