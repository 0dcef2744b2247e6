//! `juror record`, and `juror replay` of what it wrote.

mod backwards;
mod check;
mod damaged;
mod jumps;
mod own_calls;
mod programs;
mod prompt;
mod why;

use crate::support::juror;
use juror_testing::Fixture;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The number of times that a run is made again.
const REPLAYS: usize = 3;

/// A run that was recorded.
struct Recorded {
    /// The standard output, without what juror says of the recording.
    text: String,
    directory: TempDir,
    file: PathBuf,
}

/// Returns a program of `tests/programs/record`.
fn program(file: &str) -> Fixture {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/record");
    let source = std::fs::read_to_string(directory.join(file)).expect("a program");
    let name = format!("recorded-{}", file.trim_end_matches(".c"));
    Fixture::c(&name, &source).argument("-pthread")
}

/// Records a run, and checks the exit status of juror.
#[track_caller]
fn recorded(executable: &Path, arguments: &[&str], input: &str, status: i32) -> Recorded {
    recorded_with(&[], executable, arguments, input, status)
}

/// Records a run with options, and checks the exit status of juror.
#[track_caller]
fn recorded_with(
    options: &[&str],
    executable: &Path,
    arguments: &[&str],
    input: &str,
    status: i32,
) -> Recorded {
    let directory = tempfile::tempdir().expect("a directory");
    let executable = executable.display().to_string();
    let words = [&["record"], options, &[&*executable], arguments].concat();
    let run = juror(&words).directory(directory.path());
    let output = run.input(input).run();
    assert_eq!(
        output.code(),
        Some(status),
        "{}{}",
        output.stdout,
        output.stderr
    );
    let (text, said) = output.stdout.split_once("recorded in ").expect("its file");
    let (name, _) = said.split_once(" (").expect("what is in it");
    Recorded {
        text: text.to_owned(),
        file: directory.path().join(name),
        directory,
    }
}

/// Checks that a recorded run is made again, each time with the same output and exit status.
#[track_caller]
fn check_again(recorded: &Recorded, status: i32) {
    let file = recorded.file.display().to_string();
    for _ in 0..REPLAYS {
        let output = juror(&["replay", "--batch", &file]).run();
        assert_eq!(output.stdout, recorded.text, "{}", output.stderr);
        assert_eq!(output.code(), Some(status), "{}", output.stderr);
    }
}
