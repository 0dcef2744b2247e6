//! Files that cannot be made again, or only up to a place.

use super::{program, recorded};
use crate::support::juror;
use std::fs;
use std::path::Path;

/// Makes a run again in batch mode. Returns the exit status and what was said.
fn again(file: &Path) -> (Option<i32>, String) {
    let output = juror(&["replay", "--batch", &file.display().to_string()]).run();
    let text = format!("{}{}", output.stdout, output.stderr);
    (output.code(), text)
}

#[test]
fn a_file_that_was_cut_off_leads_up_to_there() {
    let executable = program("threads.c").compile_plain();
    let run = recorded(&executable, &[], "", 0);
    let bytes = fs::read(&run.file).expect("the file");
    let header = bytes.iter().position(|it| *it == b'\n').expect("a line") + 1;
    let cut = run.directory.path().join("cut.run");
    for length in [header, header + 1, header + 7, bytes.len() - 1] {
        fs::write(&cut, &bytes[..length]).expect("a file");
        let (status, text) = again(&cut);
        assert_eq!(status, Some(2), "{length}: {text}");
        assert!(
            text.contains("the run cannot be made further"),
            "{length}: {text}"
        );
    }
    for length in [0, 1, header / 2] {
        fs::write(&cut, &bytes[..length]).expect("a file");
        let (status, text) = again(&cut);
        assert_eq!(status, Some(2), "{length}: {text}");
        assert!(text.contains("damaged"), "{length}: {text}");
    }
}

#[test]
fn a_damaged_file_is_refused_or_leads_up_to_there() {
    let executable = program("inputs.c").compile_plain();
    let run = recorded(&executable, &[], "", 0);
    let bytes = fs::read(&run.file).expect("the file");
    let damaged = run.directory.path().join("damaged.run");
    for place in (0..bytes.len()).step_by(bytes.len() / 40) {
        let mut bytes = bytes.clone();
        bytes[place] ^= 1;
        fs::write(&damaged, &bytes).expect("a file");
        let (status, text) = again(&damaged);
        assert_eq!(status, Some(2), "{place}: {text}");
        assert!(!text.contains("juror is at fault"), "{place}: {text}");
    }
}

#[test]
fn a_changed_program_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let copy = directory.path().join("inputs");
    fs::copy(program("inputs.c").compile_plain(), &copy).expect("a copy");
    let run = recorded(&copy, &[], "", 0);
    fs::copy(program("alarm.c").compile_plain(), &copy).expect("a copy");
    let (status, text) = again(&run.file);
    assert_eq!(status, Some(2), "{text}");
    assert!(text.contains("is not the one that was run"), "{text}");
}

#[test]
fn a_file_that_cannot_be_written_is_said() {
    let executable = program("inputs.c").compile_plain().display().to_string();
    let output = juror(&["record", "-o", "/dev/full", &executable]).run();
    assert_eq!(output.code(), Some(2), "{}{}", output.stdout, output.stderr);
    assert!(output.stderr.contains("/dev/full"), "{}", output.stderr);
}
