//! `--self-check`: live runs are paths of the model of the breakpoint engine.

use crate::support::{Batch, juror, program, property_of};
use juror_testing::Build;
use serde_json::Value;
use std::fs;

#[test]
fn a_batch_run_says_what_was_checked() {
    for build in Build::all() {
        let executable = program("returns.c").compile(&build);
        let directory = tempfile::tempdir().expect("there is room");
        let log = directory.path().join("log");
        let events = "event enter = before work(n)\nevent leave = after work(n) returns result";
        let report = Batch::watching(&property_of(events))
            .option(format!("--self-check={}", log.display()))
            .run(executable, &[]);
        report.assert_code(0);
        let line = report.kind("self_check").next().expect("it is said");
        let inputs = line["inputs"].as_u64().expect("a number");
        assert!(inputs > 20, "{build}: {inputs}");
        let lines = fs::read_to_string(&log).expect("it was written");
        let told = lines.lines().filter(|line| line.contains("told")).count();
        assert_eq!(told as u64, inputs, "{build}");
        for line in lines.lines() {
            serde_json::from_str::<Value>(line).expect("it is JSON");
        }
    }
}

#[test]
fn at_the_prompt_it_is_said_at_the_end() {
    let executable = program("returns.c").compile_plain();
    let executable = executable.to_str().expect("it is text");
    let output = juror(&["run", "--self-check", executable])
        .input("break leaf\nrun\nprint leaf(4)\nstepi\nstep\nfinish\ncontinue\nkill\nrun\nquit\n")
        .run();
    let shown = &output.stderr;
    assert!(shown.contains("[self-check: "), "{shown}");
    assert!(shown.contains("a path of its model]"), "{shown}");
}
