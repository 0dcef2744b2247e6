//! `juror model check` for programs: its JSON lines, its exit statuses, and the
//! options that exclude one another.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn check(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_juror"))
        .args(["model", "check"])
        .args(arguments)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models"))
        .output()
        .expect("juror runs")
}

fn lines(output: &Output) -> Vec<Value> {
    let text = std::str::from_utf8(&output.stdout).expect("text");
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

#[test]
fn answers_are_json_lines() {
    let output = check(&["--json", "--fair", "peterson.pml"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let lines = lines(&output);
    assert_eq!(lines[0]["kind"], "model_verdict");
    assert_eq!(lines[0]["question"], "steps and states");
    assert_eq!(lines[0]["model"], "peterson.pml");
    assert!(lines.len() > 1, "its formulas follow: {lines:?}");
    for line in &lines {
        assert_eq!(line["verdict"], "holds");
        assert!(line["states"].as_u64() > Some(0));
        assert_eq!(line["trail"], Value::Null);
    }
}

#[test]
fn an_error_comes_with_the_run_that_shows_it() {
    let output = check(&["--json", "philosophers.pml"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let lines = lines(&output);
    let last = lines.last().expect("a line");
    assert_eq!(last["verdict"], "violated");
    assert!(
        last["trail"]["rows"]
            .as_array()
            .is_some_and(|rows| !rows.is_empty())
    );
    let why = last["why"].as_str().expect("a reason");
    assert!(
        lines
            .iter()
            .any(|line| line["kind"] == "error" && line["message"] == why)
    );
}

#[test]
fn a_machine_is_answered_in_the_same_lines() {
    let output = check(&["--json", "debugger/control-published.asm"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let lines = lines(&output);
    let last = lines.last().expect("a line");
    assert_eq!(
        (&last["kind"], &last["verdict"]),
        (&"model_verdict".into(), &"violated".into())
    );
}

#[test]
fn a_machine_is_asked_about_a_formula_that_it_does_not_have() {
    let machine = "debugger/control.asm";
    let asked = |formula: &str| check(&["--json", "--ltl", formula, machine]);
    let output = asked("always (mode = Run or not (mode = Run))");
    let first = &lines(&output)[0];
    assert_eq!(first["verdict"], "holds", "{output:?}");
    assert_eq!(asked("never mode").status.code(), Some(2));
    let output = asked("unknown_name");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stdout).contains("no formula `unknown_name`"));
}

#[test]
fn whether_a_session_follows_a_machine_is_a_line() {
    let directory = tempfile::tempdir().expect("a directory");
    let record = directory.path().join("run.jsonl");
    let conform = |text: &str| {
        std::fs::write(&record, text).expect("a file");
        Command::new(env!("CARGO_BIN_EXE_juror"))
            .args(["model", "conform", "--json", "debugger/control.asm"])
            .arg(&record)
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models"))
            .output()
            .expect("juror runs")
    };
    let output = conform("{}\n");
    let answer = lines(&output).pop().expect("a line");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(
        (&answer["kind"], &answer["verdict"], &answer["why"]),
        (&"model_verdict".into(), &"holds".into(), &Value::Null)
    );
    let output = conform("{\"kind\":\"outcome\"}\n");
    let answer = lines(&output).pop().expect("a line");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(answer["verdict"], "violated");
    let why = answer["why"].as_str().expect("a reason");
    assert!(why.contains("line 1"), "{why}");
}

#[test]
fn what_would_not_be_done_is_refused() {
    for (arguments, word) in [
        (&["--compact", "--reduce", "peterson.pml"][..], "--reduce"),
        (&["--compact", "--jobs", "2", "peterson.pml"], "--jobs"),
        (
            &["--compact", "--order", "depth", "peterson.pml"],
            "--order",
        ),
        (&["--reduce", "--jobs", "2", "peterson.pml"], "--jobs"),
        (
            &["--order", "depth", "--jobs", "2", "peterson.pml"],
            "one thread",
        ),
        (&["--jobs", "0", "peterson.pml"], "a thread"),
        (&["--reduce", "--symmetry", "peterson.pml"], "--symmetry"),
        (&["--reduce", "--fair", "peterson.pml"], "--fair"),
        (&["--reduce", "--progress", "peterson.pml"], "--reduce"),
        (&["--reduce", "--ltl", "X true", "peterson.pml"], "next"),
        (&["--symmetry", "peterson.pml"], "--symmetry"),
        (
            &["--symmetry", "--ltl", "[] true", "peterson.pml"],
            "--symmetry",
        ),
        (&["--symmetry", "debugger/control.asm"], "--symmetry"),
        (
            &["--ltl", "[] true", "--compact", "peterson.pml"],
            "--compact",
        ),
    ] {
        let output = check(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(word), "{arguments:?}: {said}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn nothing_found_by_hashes_alone_is_incomplete() {
    let output = check(&["--json", "--compact", "sorting.pml"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let first = &lines(&output)[0];
    assert_eq!(first["verdict"], "incomplete");
    assert!(
        first["why"]
            .as_str()
            .is_some_and(|why| why.contains("hashes"))
    );
}
