//! Which system calls stop the program: those that events need, by a filter, or every call. What
//! is reported is the same.

use crate::support::{Batch, Report, juror, program, property_file, property_of};
use juror_testing::Fixture;
use serde_json::Value;
use std::fs;

const EVENTS: &str = "event asks = entry getppid
    event asked = exit getppid returns parent
    event has_read = exit read(size = arg 3) returns count";

/// Asks ten times, and prints how often it has asked.
const ASKS: &str = r#"
    #include <stdio.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    int main(void) {
        int asked = 0, wrong = 0;
        for (int i = 0; i < 10; i++) {
            wrong += syscall(SYS_getppid) != getppid();
            syscall(SYS_getuid);
            asked += 2;
        }
        printf("asked %d wrong %d\n", asked, wrong);
        return 0;
    }"#;

#[track_caller]
fn run_by(property: &str, stops: &str, fixture: &Fixture, arguments: &[&str]) -> Report {
    let batch = Batch::watching(property).option("--system-calls");
    let report = batch.option(stops).run(fixture.compile_plain(), arguments);
    assert_eq!(report.output.status.code(), Some(0), "{}", report.all());
    report
}

/// Returns the part of a report that depends neither on the run nor on the filter: the values
/// of each event, in their order if one thread makes all of them.
fn told(report: &Report) -> Vec<Vec<Value>> {
    let values = [("asks", ""), ("has_read", "size"), ("has_read", "count")];
    let told = values.map(|(event, name)| match name {
        "" => vec![Value::from(report.changes(event).len())],
        name => report.values(event, name),
    });
    told.to_vec()
}

fn tier_of<'a>(report: &'a Report, event: &str) -> &'a str {
    let events = report.summary("watched")["events"].as_array();
    let found = events.into_iter().flatten().find(|it| it["event"] == event);
    found.and_then(|it| it["tier"].as_str()).unwrap_or_default()
}

#[test]
fn events_are_the_same_whichever_calls_stop() {
    let property = property_of(EVENTS);
    for arguments in [["1", "24"], ["4", "12"]] {
        let run = |stops| run_by(&property, stops, &program("occasions.c"), &arguments);
        let (filter, auto, all) = (run("filter"), run("auto"), run("all"));
        let rounds = all.printed("rounds");
        for report in [&filter, &auto, &all] {
            assert_eq!(told(report), told(&all), "{}", report.all());
            assert_eq!(report.occurrences("asks"), rounds);
            assert_eq!(report.occurrences("asked"), rounds);
            assert_eq!(report.occurrences("has_read"), rounds);
        }
        assert_eq!(tier_of(&filter, "asks"), "filter");
        assert_eq!(tier_of(&auto, "asked"), "filter");
        let every = "every call stops: --system-calls all";
        assert_eq!(tier_of(&all, "asks"), every);
    }
}

#[test]
fn a_checkpoint_keeps_the_filter() {
    let executable = Fixture::c("call_stops_asks", ASKS).compile_plain();
    let directory = tempfile::tempdir().expect("a directory");
    let property = directory.path().join("asks.prop");
    fs::write(&property, property_of("event asks = entry getppid")).expect("it is written");
    for stops in ["filter", "all"] {
        let commands = "tcatch syscall getuid\nrun\ncheckpoint\ncontinue\nrestore 1\ncontinue\n";
        let output = juror(&["run", "--system-calls", stops, "--property"])
            .args([&property, &executable])
            .input(commands)
            .run();
        let text = format!("{}{}", output.stdout, output.stderr);
        // The first run, the second, and the second from the checkpoint on.
        assert_eq!(
            text.matches("asked 20 wrong 0").count(),
            3,
            "{stops}: {text}"
        );
        // Both of its first round come before the checkpoint.
        let ends = text.matches("20 times").count();
        assert_eq!(ends, 3, "{stops}: {text}");
    }
}

#[test]
fn the_summary_says_which_calls_stop() {
    let executable = Fixture::c("call_stops_asks", ASKS).compile_plain();
    let directory = tempfile::tempdir().expect("a directory");
    let property = directory.path().join("asks.prop");
    fs::write(&property, property_of("event asks = entry getppid")).expect("it is written");
    let every = "every call stops: --system-calls all";
    let others = "every call stops: others than at the launch are needed";
    // The first run has no catchpoint; the second stops at the one that it was started with.
    for (stops, at_stop, said, count) in [
        ("auto", "info breakpoints", "filter\n", 3),
        ("filter", "info breakpoints", "filter\n", 3),
        ("all", "info breakpoints", every, 3),
        ("auto", "catch syscall close", others, 1),
    ] {
        let commands = format!("tcatch syscall getuid\nrun\n{at_stop}\ncontinue\n");
        let output = juror(&["run", "--system-calls", stops, "--property"])
            .args([&property, &executable])
            .input(commands)
            .run();
        let text = format!("{}{}", output.stdout, output.stderr);
        assert_eq!(text.matches(said).count(), count, "{stops}: {text}");
    }
}

/// Descriptors that a shell and its children open: the children run without juror.
#[test]
fn children_without_juror_make_the_calls_of_the_filter() {
    let property = property_file("properties/libc/descriptors.prop");
    let script = "for i in 1 2 3; do cat /dev/null | wc -c; (exec 3</dev/null); done";
    for stops in ["filter", "all"] {
        let report = Batch::watching_file(&property)
            .option("--system-calls")
            .option(stops)
            .run("/bin/sh", &["-c", script]);
        assert_eq!(
            report.output.stdout.matches("0\n").count(),
            3,
            "{}",
            report.all()
        );
    }
}
