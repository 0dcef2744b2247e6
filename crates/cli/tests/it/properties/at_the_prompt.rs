//! Properties that are added, removed and drawn during a session.

use crate::support::{Batch, Report};
use juror_testing::Fixture;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Calls `f` seven times, and `mark` before each of them.
const CALLS: u64 = 7;

fn fixture() -> PathBuf {
    let source = format!(
        "__attribute__((noinline)) void f(int n) {{ __asm__ volatile(\"\" : : \"r\"(n)); }}
         __attribute__((noinline)) void mark(int k) {{ __asm__ volatile(\"\" : : \"r\"(k)); }}
         int main(void) {{
             for (int n = 1; n <= {CALLS}; n++) {{ mark(n); f(n); }}
             return 0;
         }}"
    );
    Fixture::c("calls", &source).compile_plain()
}

/// A property that this many calls violate.
fn limit(calls: u64) -> String {
    format!(
        "property limit \"fewer than {calls} calls\"
         event call = before f(n)
         var seen = 0
         state init accepting {{
             on call when seen + 1 < {calls} {{ seen += 1 }} else {{ seen += 1 }} -> many
         }}
         state many non-accepting"
    )
}

fn property_file(directory: &TempDir, text: &str) -> PathBuf {
    let file = directory.path().join("limit.prop");
    fs::write(&file, text).expect("a file");
    file
}

/// Adds the property before call `position`, and runs to the end.
fn added_at(executable: &Path, calls: u64, position: u64, option: &str) -> Report {
    let directory = TempDir::with_prefix("juror-added-").expect("a directory");
    let file = property_file(&directory, &limit(calls));
    let trace = directory.path().join("run.jsonl");
    Batch::new()
        .option("--trace")
        .option(&trace)
        .option("--record")
        .option("before f(n)")
        .command(&format!("break mark if k == {position}"))
        .command("run")
        .command(&format!("property add {} {option}", file.display()))
        .command("delete 1")
        .command("continue")
        .command("continue")
        .run(executable, &[])
}

fn violations(report: &Report) -> u64 {
    report.summary("limit")["violations"]
        .as_u64()
        .expect("a number")
}

/// What was said when the property was added.
fn said(report: &Report) -> &Value {
    let outcomes = report.kind("outcome");
    let mut added = outcomes.filter(|line| line["type"] == "properties");
    &added.next().expect("it was added")["value"][0]
}

#[test]
fn what_is_added_is_judged_by_what_follows_or_by_the_whole_run() {
    let executable = fixture();
    for position in [1, 3, 7] {
        let before = position - 1;
        for calls in [1, 2, 3, 5, 7, 8] {
            let now = added_at(&executable, calls, position, "");
            let expected = u64::from(CALLS - before >= calls);
            assert_eq!(
                violations(&now),
                expected,
                "{position} {calls} {}",
                now.all()
            );
            assert_eq!(said(&now)["since"], "addition");
            let whole = added_at(&executable, calls, position, "--from-start");
            let case = format!("{position} {calls} {}", whole.all());
            assert_eq!(violations(&whole), u64::from(CALLS >= calls), "{case}");
            assert_eq!(said(&whole)["since"], "trace", "{case}");
            assert_eq!(said(&whole)["recorded_events"], before, "{case}");
            // What had happened already is told at once.
            let told = said(&whole)["violations"].as_array().map(Vec::len);
            assert_eq!(told, Some(usize::from(before >= calls)), "{case}");
        }
    }
}

#[test]
fn a_violation_says_the_same_whenever_the_property_came() {
    let executable = fixture();
    let directory = TempDir::with_prefix("juror-added-").expect("a directory");
    let file = property_file(&directory, &limit(5));
    let from_start = Batch::new()
        .option("--property")
        .option(&file)
        .run(&executable, &[]);
    let added = added_at(&executable, 5, 3, "--from-start");
    let violation = |report: &Report| {
        let mut violation = report.stop()["violations"][0].clone();
        violation["file"] = Value::Null;
        violation
    };
    let stopped = added.kind("stop").find(|it| it["reason"] == "violation");
    let mut there = stopped.expect("it is violated")["violations"][0].clone();
    there["file"] = Value::Null;
    assert_eq!(there, violation(&from_start), "{}", added.all());
}

#[test]
fn properties_are_switched_off_and_on_and_removed() {
    let executable = fixture();
    let directory = TempDir::with_prefix("juror-added-").expect("a directory");
    let file = property_file(&directory, &limit(4));
    let run = |commands: &[&str]| {
        let mut batch = Batch::new().option("--property").option(&file);
        for command in ["break mark if k == 3", "run"].iter().chain(commands) {
            batch = batch.command(command);
        }
        batch.run(&executable, &[])
    };
    // Two calls before, and from the sixth on two more.
    let report = run(&[
        "property disable limit",
        "info breakpoints",
        "tbreak mark if k == 6",
        "continue",
        "property enable limit",
        "property",
        "info graph limit",
        "delete",
        "continue",
    ]);
    assert_eq!(violations(&report), 1, "{}", report.all());
    let points = report.outcome("info breakpoints").as_array().cloned();
    let points = points.expect("a list");
    let point = points.iter().find(|it| it["owner"] == "monitor");
    assert_eq!(point.expect("its event")["enabled"], false);
    let listed = &report.outcome("property")[0];
    assert_eq!(listed["enabled"], true, "{listed}");
    assert_eq!(listed["since"], "start", "{listed}");
    let graph = &report.outcome("info graph limit")[0]["states"];
    assert_eq!(graph[0]["current"], true, "{graph}");
    assert_eq!(graph[1]["sort"], "violation", "{graph}");
    let report = run(&["property remove limit", "delete", "continue"]);
    report.assert_code(0);
    let end = report.end()["summaries"].as_array().map(Vec::len);
    assert_eq!(end, Some(0), "{}", report.all());
}

/// It might have been fulfilled after that.
#[test]
fn the_end_decides_nothing_about_what_is_off() {
    let executable = fixture();
    let directory = TempDir::with_prefix("juror-added-").expect("a directory");
    let file = directory.path().join("never.prop");
    let text = "property never event e = before mark(k)
        state open non-accepting { on e when k > 100 -> done } state done accepting";
    fs::write(&file, text).expect("a file");
    let run = |commands: &[&str]| {
        let mut batch = Batch::new().option("--property").option(&file);
        for command in ["break mark if k == 3", "run"].iter().chain(commands) {
            batch = batch.command(command);
        }
        batch.run(&executable, &[])
    };
    run(&["delete", "continue"]).assert_code(1);
    let report = run(&["property disable never", "delete", "continue"]);
    report.assert_code(0);
    let text = &report.output.stdout;
    let expected = "OPEN      never: presumably violated when it was disabled";
    assert!(text.contains(expected), "{text}");
}

/// What was watched for one that is gone is nobody's, whatever comes and goes.
#[test]
fn what_was_removed_can_be_added_again() {
    let executable = fixture();
    let directory = TempDir::with_prefix("juror-added-").expect("a directory");
    let file = property_file(&directory, &limit(4));
    let other = directory.path().join("other.prop");
    let second = "property other event e = before mark(k) state all accepting { on e }";
    fs::write(&other, second).expect("a file");
    let add = format!("property add {}", file.display());
    let add_other = format!("property add {}", other.display());
    for before in [&[][..], &["break mark if k == 3", "run", "delete"]] {
        let mut batch = Batch::new();
        for command in before {
            batch = batch.command(command);
        }
        for command in [
            &*add,
            "property remove limit",
            &add,
            &add_other,
            "property remove limit",
            "property remove other",
            &add_other,
            &add,
            if before.is_empty() { "run" } else { "continue" },
        ] {
            batch = batch.command(command);
        }
        let report = batch.run(&executable, &[]);
        assert_eq!(violations(&report), 1, "{}", report.all());
    }
}

#[test]
fn mistakes_are_told_and_change_nothing() {
    let executable = fixture();
    let directory = TempDir::with_prefix("juror-added-").expect("a directory");
    let wrong = [
        ("absent", "property p event e = before g ltl always not e"),
        ("broken", "property p state s { on nothing }"),
        ("other", "property q event e = before mark ltl always e"),
        ("good", &limit(9)),
    ];
    for (name, text) in wrong {
        let file = directory.path().join(name);
        fs::write(file, text).expect("a file");
    }
    let at = |name: &str| directory.path().join(name).display().to_string();
    for (command, words) in [
        (format!("property add {}", at("absent")), "no function `g`"),
        (
            format!("property add {}", at("broken")),
            "no event `nothing`",
        ),
        (format!("property add {}", at("none")), "cannot be read"),
        (
            format!("property add {} --from-start", at("good")),
            "the run is not recorded",
        ),
        (
            "property add".to_owned(),
            "the name of a property file is missing",
        ),
        ("property remove p".to_owned(), "no property is monitored"),
        ("property frob".to_owned(), "is unknown"),
        ("info graph".to_owned(), "no property is monitored"),
    ] {
        let report = Batch::new()
            .command("break mark")
            .command("run")
            .command(&command)
            .run(&executable, &[]);
        assert!(report.all().contains(words), "{command}: {}", report.all());
        report.assert_code(2);
    }
    // A trace that has other events.
    let report = Batch::new()
        .option("--trace")
        .option(directory.path().join("run.jsonl"))
        .option("--record")
        .option("before f(n)")
        .command("break mark if k == 2")
        .command("run")
        .command(&format!("property add {} --from-start", at("other")))
        .run(&executable, &[]);
    let words = "the trace does not record `before mark`";
    assert!(report.all().contains(words), "{}", report.all());
}

#[test]
fn a_picture_marks_where_slices_stand() {
    let executable = fixture();
    let directory = TempDir::with_prefix("juror-graph-").expect("a directory");
    let sliced = "property odd
        slice on n
        event call = before f(n)
        event mark = before mark(n = arg 1)
        state init accepting { on mark -> marked }
        state marked accepting { on call -> called }
        state called accepting";
    let formula = "property answered
        event mark = before mark
        event call = before f
        ltl always (mark implies eventually call)";
    let report = Batch::watching(sliced)
        .property(formula)
        .directory(directory.path())
        .command("break f if n == 4")
        .command("run")
        .command("info graph odd")
        .command("show-graph answered")
        .command("info graph odd odd.svg")
        .command("info graph odd odd.dot")
        .command("info graph odd odd.mmd")
        .run(&executable, &[]);
    let slices = |graph: &Value| -> Vec<(Value, Value)> {
        let states = graph[0]["states"].as_array().cloned().expect("a list");
        let told = states.into_iter();
        told.map(|it| (it["current"].clone(), it["slices"].clone()))
            .collect()
    };
    // The breakpoint stands behind the first instruction: the event has been.
    let odd = report.outcome("info graph odd");
    assert_eq!(
        slices(odd),
        [
            (true.into(), 0.into()),
            (false.into(), 0.into()),
            (true.into(), 4.into())
        ],
        "{odd}"
    );
    let picture = odd[0]["picture"].as_str().expect("a text");
    assert!(picture.contains("\n*  called  4 slices\n"), "{picture}");
    let answered = slices(report.outcome("show-graph answered"));
    let current = answered.iter().filter(|(current, _)| *current == true);
    assert_eq!(current.count(), 1, "{}", report.all());
    for (file, words) in [
        ("odd.svg", "<svg"),
        ("odd.dot", "called (4)"),
        ("odd.mmd", "flowchart TD"),
    ] {
        let text = fs::read_to_string(directory.path().join(file)).expect("it was written");
        assert!(text.contains(words), "{text}");
    }
}
