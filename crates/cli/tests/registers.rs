//! Watchpoints of variables that optimized code keeps in registers.

mod support;

use juror_testing::{Build, Compiler, Language, Optimization};
use serde_json::Value;
use support::{Batch, Report, program};

fn optimized() -> impl Iterator<Item = Build> {
    let builds = Build::all_of(Language::C).into_iter();
    builds.filter(|build| build.optimization != Optimization::None)
}

/// Runs to a function, does these commands there, and goes on `rounds` times.
#[track_caller]
fn run(build: &Build, function: &str, commands: &[&str], rounds: usize) -> Report {
    let mut batch = Batch::new()
        .command(&format!("tbreak {function}"))
        .command("run");
    for command in commands {
        batch = batch.command(command);
    }
    for _ in 0..rounds {
        batch = batch.command("continue");
    }
    batch.run(program("registers.c").compile(build), &[])
}

/// What each stop at a watchpoint says: the values before and after, and the
/// function that did it.
fn changes(report: &Report) -> Vec<(&str, &str, &str)> {
    let stops = report.kind("stop");
    let accesses = stops
        .filter_map(|stop| stop["accesses"].as_array())
        .flatten();
    accesses
        .map(|access| {
            let text = |value: &'_ Value| value.as_str().map(str::len).unwrap_or_default();
            assert!(text(&access["value"]) > 0, "{access}");
            let of = |key: &str| access[key].as_str().unwrap_or_default();
            let function = access["place"]["function"].as_str().unwrap_or_default();
            (of("before"), of("value"), function)
        })
        .collect()
}

/// The ends of calls, each with what had been watched.
fn ends(report: &Report) -> Vec<(String, String)> {
    let stops = report.kind("stop");
    let ended = stops.filter(|stop| stop["reason"] == "watchpoint_ended");
    ended
        .map(|stop| {
            (
                stop["expressions"].to_string(),
                stop["function"].to_string(),
            )
        })
        .collect()
}

#[test]
fn each_change_is_told_and_the_end_of_the_call() {
    for build in optimized() {
        let report = run(&build, "total", &["watch sum", "info watchpoints"], 8);
        let given = changes(&report);
        let all = [
            ("0", "3", "total"),
            ("3", "9", "total"),
            ("9", "18", "total"),
            ("18", "30", "total"),
            ("30", "45", "total"),
        ];
        match build.compiler {
            Compiler::Gcc => assert_eq!(given, all, "{build} {}", report.all()),
            // Where the compiler kept no place for a while, a change is told
            // when there is one again, with the last value that was seen.
            _ => assert!(
                given.iter().all(|it| all.iter().any(|one| one.1 == it.1)),
                "{build} {}",
                report.all()
            ),
        }
        assert_eq!(ends(&report), [("[\"sum\"]".into(), "\"total\"".into())]);
        assert_eq!(report.end()["ending"]["status"], 0, "{build}");
        let point = &report.outcome("info watchpoints")[0];
        assert_eq!(point["passage"], "steps", "{build}");
    }
}

#[test]
fn what_is_in_memory_too_is_seen_in_calls() {
    for build in optimized().filter(|build| build.compiler == Compiler::Gcc) {
        let report = run(&build, "total", &["watch passes + sum"], 5);
        let expected = [
            ("0", "1", "triple"),
            ("1", "4", "total"),
            ("4", "5", "triple"),
            ("5", "11", "total"),
            ("11", "12", "triple"),
        ];
        assert_eq!(changes(&report), expected, "{build} {}", report.all());
    }
}

#[test]
fn a_jump_back_into_the_call_is_followed() {
    for build in optimized().filter(|build| build.compiler == Compiler::Gcc) {
        let report = run(&build, "jumped", &["watch got"], 3);
        assert_eq!(
            changes(&report),
            [("0", "4", "jumped")],
            "{build} {}",
            report.all()
        );
        assert_eq!(ends(&report), [("[\"got\"]".into(), "\"jumped\"".into())]);
        assert_eq!(report.end()["ending"]["status"], 0, "{build}");
    }
}

#[test]
fn steps_see_the_changes_and_what_a_caller_has_is_kept() {
    for build in optimized().filter(|build| build.compiler == Compiler::Gcc) {
        // Set from a function that the call has called.
        let report = run(&build, "triple", &["up", "watch sum", "watch i"], 3);
        let given = changes(&report);
        assert!(
            given.contains(&("0", "3", "total")),
            "{build} {}",
            report.all()
        );
        assert!(
            given.contains(&("1", "2", "total")),
            "{build} {}",
            report.all()
        );
    }
}

#[test]
fn reads_of_registers_are_refused_with_the_reason() {
    for build in optimized().filter(|build| build.compiler == Compiler::Gcc) {
        let report = run(&build, "total", &["rwatch n"], 0);
        report.assert_code(2);
        let expected = "`n` is in a register here, where only changes can be seen";
        assert!(report.output.stdout.contains(expected), "{}", report.all());
    }
}

/// The end of a call without a return: told once, in this function, at one of
/// these lines, with no store of other code before or after it.
#[track_caller]
fn check_end(build: &Build, n: u32, variable: &str, function: &str, lines: std::ops::Range<u64>) {
    let report = Batch::new()
        .command(&format!("tbreak left if n == {n}"))
        .command("run")
        .command(&format!("watch {variable}"))
        .command("continue")
        .command("continue")
        .command("continue")
        .command("continue")
        .run(program("ends.cpp").compile(build), &[]);
    let message = report.all();
    let stops: Vec<&Value> = report.kind("stop").collect();
    let ended = |stop: &&&Value| stop["reason"] == "watchpoint_ended";
    assert_eq!(stops.iter().filter(ended).count(), 1, "{build} {message}");
    let last = stops.last().expect("a stop");
    assert_eq!(last["reason"], "watchpoint_ended", "{build} {message}");
    assert_eq!(last["function"], "left", "{build} {message}");
    let place = &last["location"];
    let is_there = place["function"]
        .as_str()
        .is_some_and(|name| name.starts_with(function));
    // Some compilers give no line to the instruction after `setjmp`.
    let line = place["line"].as_u64();
    assert!(
        is_there && line.is_none_or(|line| lines.contains(&line)),
        "{build} {place} {message}"
    );
    let own = |change: &(&str, &str, &str)| change.2.starts_with("left");
    assert!(changes(&report).iter().all(own), "{build} {message}");
    assert_eq!(report.end()["ending"]["status"], 0, "{build}");
}

#[test]
fn a_call_that_is_left_by_a_jump_or_an_exception_ends_once_where_it_goes_on() {
    for build in Build::all_of(Language::Cpp) {
        // In memory, and the parameter, which optimized code has in a register.
        for variable in ["local", "n"] {
            check_end(&build, 1, variable, "jumps", 30..35);
            check_end(&build, 2, variable, "catches", 38..46);
        }
    }
}
