//! `juror model check` for models in PROMELA: its JSON lines, exit statuses, and options that
//! exclude one another.

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
    let error = lines.iter().find(|line| line["kind"] == "error");
    let found = &error.expect("an error")["diagnostics"][0];
    let message = found["message"].as_str().expect("a message");
    assert!(why.starts_with(message), "{why}");
    // The first place where somebody stands that is no end.
    assert_eq!(found["file"], "philosophers.pml");
    assert_eq!(found["line"], 26);
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
    let output = conform("{\"kind\":\"start\"}\n");
    let answer = lines(&output).pop().expect("a line");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(
        (&answer["kind"], &answer["verdict"], &answer["why"]),
        (&"model_verdict".into(), &"holds".into(), &Value::Null)
    );
    let output = conform("{\"kind\":\"resume\"}\n");
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

/// Runs `juror model` in a directory with these files; gives its status and all that
/// it has said.
fn model(files: &[(&str, &str)], arguments: &[&str], input: &str) -> (Option<i32>, String) {
    use std::io::Write as _;
    use std::process::Stdio;
    let directory = tempfile::tempdir().expect("a directory");
    for (name, text) in files {
        std::fs::write(directory.path().join(name), text).expect("a file");
    }
    let mut juror = Command::new(env!("CARGO_BIN_EXE_juror"))
        .arg("model")
        .args(arguments)
        .current_dir(directory.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("juror runs");
    let mut stdin = juror.stdin.take().expect("its input");
    // It may end before it has read everything.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = juror.wait_with_output().expect("juror ends");
    let said = [output.stdout, output.stderr].concat();
    (
        output.status.code(),
        String::from_utf8_lossy(&said).into_owned(),
    )
}

#[test]
fn options_of_programs_are_refused_for_machines() {
    let files = [("m.asm", "main { skip }")];
    for option in [
        "--fair",
        "--claim",
        "--acceptance",
        "--progress",
        "--symmetry",
        "--reduce",
        "--wrap",
        "-DN=1",
        "--ltl=",
    ] {
        let (status, said) = model(&files, &["check", option, "m.asm"], "");
        assert_eq!(status, Some(2), "{option}: {said}");
        assert!(said.contains("help: "), "{option}: {said}");
    }
}

/// A machine with a record of sessions.
const SWITCH: &str = "monitored button : Bool
    shared size : optional Int = undef
    controlled on : Bool = false
    main { if button { on := not on } if size = 3 { on := true } }
    record { when kind = \"press\" { set button = true set size = undef step check on } }";

#[test]
fn a_record_must_mean_something_to_the_model() {
    let conform = |record: &str, status: i32, words: &str| {
        let files = [("m.asm", SWITCH), ("r.jsonl", record)];
        let (found, said) = model(&files, &["conform", "m.asm", "r.jsonl"], "");
        assert_eq!(found, Some(status), "{record}: {said}");
        assert!(said.contains(words), "{record}: {said}");
    };
    conform(
        "{\"kind\": \"press\"}\n{\"kind\": \"end\"}\n",
        0,
        "1 of 2 lines",
    );
    conform(
        "{\"kind\": \"press\"}\n{\"kind\": \"press\"}\n",
        1,
        "line 2 of r.jsonl",
    );
    conform(
        "{\"kind\": \"other\"}\n",
        2,
        "none of the 1 lines of r.jsonl",
    );
    conform("", 2, "none of the 0 lines of r.jsonl");
    conform("[1]\n", 2, "line 1 of r.jsonl is not a JSON object");
    conform("press\n", 2, "line 1 of r.jsonl is not JSON");
}

#[test]
fn a_person_is_told_what_is_asked_for() {
    let files = [("m.asm", SWITCH)];
    let (status, said) = model(
        &files,
        &["simulate", "m.asm"],
        "maybe\n1\nmuch\n3\nfalse\nundef\nq\n",
    );
    assert_eq!(status, Some(0), "{said}");
    for words in [
        "button?  1 false  2 true\none of these, s, b or q\n",
        "size?  a value of type optional Int\nsuch a value, s, b or q\n",
        "button = false, size = 3\n",
        "on = true\n",
        "button = false, size = undef\n",
    ] {
        assert!(said.contains(words), "{words}\n{said}");
    }
}

#[test]
fn many_answers_and_large_values_are_shown_shortened() {
    let text = "monitored e : 0..9999 controlled s : {Int} = {}
        main { s := if e = 7 then 1..500 else {} assert size(s) < 100 }";
    let (status, said) = model(&[("m.asm", text)], &["simulate", "m.asm"], "q\n");
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("… 10000 in all"), "{said}");
    let text = "controlled s : {Int} = {} main { s := 1..500 assert size(s) < 100 }";
    let (status, said) = model(&[("m.asm", text)], &["check", "m.asm"], "");
    assert_eq!(status, Some(1), "{said}");
    let longest = said.lines().map(|line| line.chars().count()).max();
    assert!(longest < Some(500), "{said}");
    assert!(said.contains('…'), "{said}");
}

#[test]
fn a_fault_of_the_abstract_model_is_shown_there() {
    let files = [
        (
            "a.asm",
            "controlled left : 0..1 = 1
             controlled n : 0..1 = 0
             main { left := left - 1 n := 1 - n }",
        ),
        (
            "m.asm",
            "controlled n : 0..3 = 0
             main { n := (n + 1) % 4 }
             abstraction of \"a.asm\" { n = n % 2 }",
        ),
    ];
    let (status, said) = model(&files, &["check", "m.asm"], "");
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("--> a.asm:3:"), "{said}");
}

#[test]
fn a_walk_along_a_violation_comes_to_what_is_wrong() {
    let text = "byte x; active proctype P() { do :: x = 0 :: x < 3 -> x++ :: x == 3 -> assert(x == 0) od }";
    let files = [("m.pml", text)];
    let along = ["simulate", "--violation", "m.pml"];
    let (status, said) = model(&files, &along, &"\n".repeat(20));
    assert_eq!(status, Some(1), "{said}");
    for words in ["→  2  P 0: x < 3", "this assertion does not hold"] {
        assert!(said.contains(words), "{words}\n{said}");
    }
    // Who leaves the way has no mark, and comes back to it.
    let (status, said) = model(&files, &along, "1\n1\nb\nb\nq\n");
    assert_eq!(status, Some(0), "{said}");
    let last = said.rsplit("step ").next().unwrap_or("");
    assert!(last.starts_with("1\n") && last.contains("→"), "{said}");
    let fine = [("m.pml", "active proctype P() { skip }")];
    let (status, said) = model(&fine, &along, "");
    assert_eq!(status, Some(2), "{said}");
    assert!(
        said.contains("there is no violation to follow: the model holds"),
        "{said}"
    );
}

#[test]
fn a_walk_along_a_run_without_end_goes_round() {
    let text = "bool a; ltl p { <> a } active proctype P() { do :: skip; skip od }";
    let along = ["simulate", "--violation", "m.pml"];
    let (status, said) = model(&[("m.pml", text)], &along, &"\n".repeat(8));
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(said.matches("→  1  P 0: skip").count(), 9, "{said}");
}

#[test]
fn where_processes_stand_is_shown_in_the_source() {
    let text = "chan c = [0] of { byte };
        proctype waits() { byte x; c?x }
        active proctype other() { run waits(); run waits(); c?5 }";
    let (status, said) = model(&[("m.pml", text)], &["check", "m.pml"], "");
    assert_eq!(status, Some(1), "{said}");
    for words in [
        "deadlock: no process can continue, and this is not a valid end state",
        "--> m.pml:",
        "other 0 is here",
        "waits 1 and 2 are here",
        "c?5",
        "with `end`",
    ] {
        assert!(said.contains(words), "{words}\n{said}");
    }
    // Many processes at one place have one line.
    let text = "chan c = [0] of { byte };
        active [40] proctype waits() { byte x; c?x }";
    let (status, said) = model(&[("m.pml", text)], &["check", "m.pml"], "");
    assert_eq!(status, Some(1), "{said}");
    assert!(
        said.contains("waits 0, 1, 2, 3, 4, 5, 6, 7 and 32 others are here"),
        "{said}"
    );
}
