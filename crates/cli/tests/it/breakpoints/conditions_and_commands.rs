//! The features of all user points: conditions, ignore counts, commands, a number of stops.

use crate::support::{Batch, Report, program};
use serde_json::Value;
use std::path::PathBuf;

fn watched() -> PathBuf {
    program("watched.c").compile_plain()
}

/// The hits of all points, as a command `info breakpoints` has them.
fn hits(report: &Report, command: &str) -> Vec<u64> {
    let points = report.outcome(command).as_array().expect("a list");
    let hits = points.iter().map(|point| point["hits"].as_u64());
    hits.map(|hits| hits.expect("a number")).collect()
}

fn reasons(report: &Report) -> Vec<&str> {
    let stops = report.kind("stop");
    stops.filter_map(|stop| stop["reason"].as_str()).collect()
}

/// A condition that cannot be evaluated at the hit of a point is told.
#[track_caller]
fn check_error(point: &str, reason: &str, word: &str) {
    let report = Batch::new()
        .command("start")
        .command(point)
        .command("continue")
        .run(watched(), &[]);
    let stop = report.kind("stop").last().expect("a stop");
    assert_eq!(stop["reason"], reason, "{}", report.all());
    let expected = format!("the condition of {word} 1 cannot be evaluated: memory at 0x0");
    let told = stop["errors"][0].as_str().unwrap_or_default();
    assert!(told.starts_with(&expected), "{}", report.all());
    assert!(report.output.stdout.contains(&expected), "{}", report.all());
    // Nobody knows what would have been.
    report.assert_code(2);
}

#[test]
fn a_condition_that_cannot_be_evaluated_is_shown_at_points_of_every_kind() {
    check_error(
        "hbreak store if value == 3 && *(int *)0 == 1",
        "breakpoint",
        "breakpoint",
    );
    check_error(
        "watch stored if value == 3 && *(int *)0 == 1",
        "watchpoint",
        "watchpoint",
    );
    // The condition of a catchpoint is given afterwards.
    let report = Batch::new()
        .command("start")
        .command("catch syscall read")
        .command("condition 1 *(int *)0 == 1")
        .command("continue")
        .run(watched(), &[]);
    report.assert_code(2);
    let stop = report.kind("stop").last().expect("a stop");
    let told = stop["errors"][0].as_str().unwrap_or_default();
    let expected = "the condition of catchpoint 1 cannot be evaluated: memory at 0x0";
    assert!(told.starts_with(expected), "{}", report.all());
}

/// What a point is refused for.
#[track_caller]
fn check_refused(commands: &[&str], expected: &str) {
    let mut batch = Batch::new().command("start");
    for command in commands {
        batch = batch.command(command);
    }
    let report = batch.run(watched(), &[]);
    report.assert_code(2);
    assert!(
        report.output.stdout.contains(expected),
        "{expected}: {}",
        report.all()
    );
}

#[test]
fn what_cannot_be_or_is_senseless_is_refused_when_it_is_written() {
    let value = "there is no `valu` here; did you mean `value`?";
    check_refused(&["hbreak store if valu == 3"], value);
    check_refused(&["hbreak store", "condition 1 valu == 3"], value);
    check_refused(
        &["watch stored if stoored == 3"],
        "there is no `stoored` here; did you mean `stored`?",
    );
    check_refused(
        &["watch stored", "condition 1 nothing_like_it > 2"],
        "there is no `nothing_like_it` here",
    );
    check_refused(
        &["catch fork", "condition 1 nothing_like_it > 2"],
        "there is no `nothing_like_it` here",
    );
    let calls = "cannot call functions of the program";
    check_refused(&["hbreak store if fill(3) == 6"], calls);
    check_refused(&["watch stored if fill(3) == 6"], calls);
    check_refused(&["catch fork", "condition 1 fill(3) == 6"], calls);
    check_refused(&["watch stored", "disable 1.1"], "only breakpoints have");
    check_refused(&["hbreak store", "disable 1.1"], "as a whole");
    check_refused(&["watch stored", "commands 1.1"], "a whole breakpoint");
    check_refused(&["watch stored", "clear stored"], "delete 3");
    check_refused(&["condition 4 1 == 1"], "there is no breakpoint 4");
}

#[test]
fn hits_are_asked_counted_and_passed_at_points_of_every_kind() {
    let report = Batch::new()
        .command("start")
        // 9 values, 11 stores of each but the last, 1 of 9.
        .command("hbreak store if value == 3")
        .command("watch left if value == 4")
        .command("catch syscall write")
        .command("ignore 1 9")
        .command("ignore 2 10")
        .command("condition 3 $rdi == 77")
        .command("continue")
        .command("print value")
        .command("continue")
        .command("info breakpoints")
        .command("continue")
        .command("continue")
        .command("info  breakpoints")
        .run(watched(), &[]);
    assert_eq!(
        reasons(&report),
        ["started", "breakpoint", "breakpoint", "watchpoint"],
        "{}",
        report.all()
    );
    assert_eq!(hits(&report, "info breakpoints"), [11, 0, 0]);
    assert_eq!(hits(&report, "info  breakpoints"), [11, 11, 0]);
    report.assert_code(0);
}

#[test]
fn a_number_of_stops_is_for_points_of_every_kind() {
    for (point, reason) in [
        ("hbreak store", "breakpoint"),
        ("watch stored", "watchpoint"),
        ("catch syscall", "caught"),
    ] {
        let report = Batch::new()
            .command("start")
            .command(point)
            .command("enable count 2 1")
            .command("tbreak fill")
            .command("continue")
            .command("continue")
            .command("continue")
            .command("info breakpoints")
            .command("enable delete 1")
            .command("run")
            .command("info  breakpoints")
            .run(watched(), &[]);
        let expected = ["started", reason, reason, "breakpoint", reason];
        assert_eq!(reasons(&report), expected, "{point}: {}", report.all());
        let point = &report.outcome("info breakpoints")[0];
        assert_eq!(
            (&point["enabled"], &point["hits"]),
            (&Value::from(false), &Value::from(2))
        );
        let left = report.outcome("info  breakpoints").as_array();
        assert_eq!(left.map(Vec::len), Some(0), "{}", report.all());
    }
}

#[test]
fn commands_are_executed_at_points_of_every_kind() {
    for (point, printed) in [
        ("hbreak store if value == 5", 11),
        ("watch left if value == 5", 11),
        ("catch syscall read", 2),
    ] {
        let report = Batch::new()
            .command("break main")
            .command("run")
            .command("delete")
            .command(point)
            .command("commands")
            .command("silent")
            .command("print left")
            .command("continue")
            .command("end")
            .command("tbreak fill")
            .command("continue")
            .run(watched(), &[]);
        let given = report.kind("outcome");
        let given = given.filter(|it| it["command"] == "print left");
        // The line that is given is an outcome without a value.
        let values = given.filter(|it| it["value"]["value"].is_string());
        assert_eq!(values.count(), printed, "{point}: {}", report.all());
        assert!(
            !report.output.stdout.contains("Watchpoint"),
            "{}",
            report.all()
        );
    }
}

#[test]
fn breakpoints_in_debug_registers_are_cleared_by_their_place() {
    let report = Batch::new()
        .command("start")
        .command("break store")
        .command("hbreak store")
        .command("watch stored")
        .command("clear store")
        .command("info breakpoints")
        .run(watched(), &[]);
    let deleted = report.outcome("clear store").as_str();
    assert_eq!(deleted, Some("deleted breakpoints 1, 2"));
    assert_eq!(hits(&report, "info breakpoints").len(), 1);
}

#[test]
fn the_condition_of_a_local_variable_is_asked_in_its_call() {
    let report = Batch::new()
        .command("break watched.c:16 if i == 1")
        .command("run")
        .command("watch sum if i == 3")
        .command("delete 1")
        .command("continue")
        .command("print i")
        .run(watched(), &[]);
    assert_eq!(report.outcome("print i")["value"], "3", "{}", report.all());
}

#[test]
fn continue_with_a_number_passes_what_has_stopped_the_program() {
    let report = Batch::new()
        .command("start")
        .command("watch stored")
        .command("continue")
        .command("continue 3")
        .command("info watchpoints")
        .run(watched(), &[]);
    let stops = report.kind("stop").skip(1);
    assert_eq!(stops.count(), 2, "{}", report.all());
    assert_eq!(hits(&report, "info watchpoints"), [4], "{}", report.all());

    let report = Batch::new()
        .command("catch syscall write")
        .command("run")
        .command("continue 2")
        .command("info breakpoints")
        .run(watched(), &[]);
    let said = &report.output.stdout;
    assert!(!said.contains("says nothing"), "{}", report.all());
}
