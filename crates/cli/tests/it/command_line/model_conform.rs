//! `juror model conform`: records of sessions, and the model of the control.

use crate::support::{juror, program};
use juror_testing::repository_directory;
use std::fs;

const MODEL: &str = "models/debugger/control.asm";

/// Whether a record follows the model of the control: the status, and what is said.
fn conform(record: &[String], model: &str) -> (Option<i32>, String) {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("run.jsonl");
    fs::write(&file, record.join("\n") + "\n").expect("it is written");
    let model = repository_directory().join(model);
    let arguments = ["model", "conform"].map(str::to_owned);
    let files = [model, file].map(|it| it.display().to_string());
    let arguments: Vec<&str> = arguments.iter().chain(&files).map(String::as_str).collect();
    let output = juror(&arguments).run();
    let said = format!("{}{}", output.stdout, output.stderr);
    (output.status.code(), said)
}

/// The lines of a session in which these commands are typed.
fn recorded(commands: &str) -> Vec<String> {
    let executable = program("returns.c").compile_plain();
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("run.jsonl");
    let json = format!("--json={}", file.display());
    let executable = executable.to_str().expect("it is text");
    juror(&["run", &json, executable]).input(commands).run();
    let text = fs::read_to_string(&file).expect("it was written");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn sessions_follow_the_model_of_the_control() {
    for commands in [
        "break leaf\nrun\nprint leaf(4)\nbacktrace\nstepi\nstep\nfinish\ncontinue\nkill\nrun\n",
        "run\ncontinue\nrun\n",
        "step\ncontinue\nwhat\nrun\nbreak nowhere\n",
        "break leaf\nrun\nbreak work\nprint leaf(4)\ninfo evaluations\ncontinue\ncontinue\n",
        "start\ncheckpoint\nnext\nrestore 1\nnext\ndelete\nuntil\nadvance leaf\nkill\n",
        "tbreak leaf\nrun\nreturn\ncontinue\ndetach\n",
    ] {
        let lines = recorded(commands);
        let (status, said) = conform(&lines, MODEL);
        assert_eq!(status, Some(0), "{commands}\n{said}\n{}", lines.join("\n"));
    }
}

#[test]
fn a_stop_of_what_does_not_run_is_no_session() {
    let lines = recorded("break leaf\nrun\nbacktrace\ncontinue\n");
    let is_stop = |line: &&String| line.contains("\"kind\":\"stop\"");
    assert!(lines.iter().filter(is_stop).count() > 1, "{lines:?}");
    for (number, line) in lines.iter().enumerate().filter(|(_, line)| is_stop(line)) {
        let mut doubled = lines.clone();
        doubled.insert(number, line.clone());
        let (status, said) = conform(&doubled, MODEL);
        assert_eq!(status, Some(1), "{said}");
        let place = format!("line {} of ", number + 2);
        assert!(
            said.contains(&place) && said.contains("(stop, breakpoint)"),
            "{said}"
        );
        assert!(
            said.contains("`mode = Run` does not hold: `mode` is Break"),
            "{said}"
        );
    }
}

#[test]
fn what_the_record_does_not_tell_is_said() {
    let (status, said) = conform(&recorded("run\n"), "models/debugger/object.asm");
    assert_eq!(status, Some(2), "{said}");
    for words in [
        "`unloaded`",
        "no line of `record` sets this",
        "record { any place,",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}
