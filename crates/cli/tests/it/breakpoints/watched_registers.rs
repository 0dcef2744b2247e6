//! Watchpoints of variables that optimized code keeps in registers.

use crate::support::{Batch, Report, program};
use juror_testing::{Build, Compiler, Fixture, Language, Optimization};
use serde_json::Value;

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

/// The line of `registers.c` in which a text stands.
fn line_with(text: &str) -> u64 {
    let source = include_str!("../../programs/registers.c");
    let position = source.lines().position(|line| line.contains(text));
    position.expect("the line is there") as u64 + 1
}

/// The accesses at stops, each with its value and line.
fn accesses(report: &Report) -> Vec<(&str, &str, u64)> {
    let stops = report.kind("stop");
    let accesses = stops
        .filter_map(|stop| stop["accesses"].as_array())
        .flatten();
    accesses
        .map(|access| {
            let of = |key: &str| access[key].as_str().unwrap_or_default();
            let line = access["place"]["line"].as_u64().unwrap_or_default();
            (of("access"), of("value"), line)
        })
        .collect()
}

#[test]
fn reads_of_a_register_are_told_once_for_each_instruction() {
    let (reads, writes) = (line_with("four reads"), line_with("three stores"));
    for build in optimized().filter(|build| build.compiler == Compiler::Gcc) {
        for (command, expected) in [("rwatch kept", 0), ("awatch kept", 3)] {
            let report = run(&build, "counted", &[command], 12);
            let message = format!("{build} {command} {}", report.all());
            let given = accesses(&report);
            let at = |line: u64, access: &str| {
                let own = given.iter().filter(|it| it.2 == line && it.0 == access);
                own.map(|it| it.1.to_owned()).collect::<Vec<_>>()
            };
            assert_eq!(at(reads, "read"), ["2"; 4], "{message}");
            assert_eq!(at(reads, "write"), [""; 0], "{message}");
            assert_eq!(at(writes, "write").len(), expected, "{message}");
            // The compiler copies the value before it is changed.
            assert!(at(writes, "read").len() <= 1, "{message}");
            let is_read = |it: &(&str, &str, u64)| it.0 == "read";
            assert!(expected > 0 || given.iter().all(is_read), "{message}");
            assert_eq!(ends(&report), [("[\"kept\"]".into(), "\"counted\"".into())]);
            assert_eq!(report.end()["ending"]["status"], 0, "{message}");
        }
    }
}

#[test]
fn stores_of_the_same_value_to_a_register_are_told() {
    let (same, change) = (line_with("four same values"), line_with("one change"));
    for build in optimized().filter(|build| build.compiler == Compiler::Gcc) {
        for (command, expected) in [("watch kept", 4), ("change kept", 0)] {
            let report = run(&build, "rewritten", &[command], 8);
            let message = format!("{build} {command} {}", report.all());
            let given = accesses(&report);
            let at = |line: u64| given.iter().filter(move |it| it.2 == line);
            assert_eq!(at(same).count(), expected, "{message}");
            assert!(at(same).all(|it| it.1 == "2"), "{message}");
            let changes: Vec<_> = at(change).collect();
            let kind = if expected == 0 { "change" } else { "write" };
            assert_eq!(changes, [&(kind, "3", change)], "{message}");
            assert_eq!(given.len(), expected + 1, "{message}");
            assert_eq!(
                ends(&report),
                [("[\"kept\"]".into(), "\"rewritten\"".into())]
            );
            assert_eq!(report.end()["ending"]["status"], 0, "{message}");
        }
    }
}

/// A variable that is nowhere for a while, since the instruction that reads it begins to compute
/// the next value in its register.
const NOWHERE: &str = r#"#include <stdio.h>

int main(int argc, char **argv)
{
    int kept = argc;
    for (int i = 0; i < 5; i++) {
        kept = kept * 3 + i;
        printf("%d\n", kept);
    }
    return argv[0] == NULL;
}
"#;

#[test]
fn a_read_before_a_register_has_the_value_no_more_is_none_for_a_watchpoint_of_stores() {
    for build in optimized() {
        for command in ["watch kept", "change kept", "rwatch kept"] {
            let mut batch = Batch::new().command("tbreak main").command("run");
            batch = batch.command(command);
            for _ in 0..12 {
                batch = batch.command("continue");
            }
            let executable = Fixture::c("nowhere", NOWHERE).compile(&build);
            let report = batch.run(executable, &[]);
            let message = format!("{build} {command} {}", report.all());
            let given = accesses(&report);
            let are_reads = command.starts_with('r');
            let is_meant = |it: &(&str, &str, u64)| (it.0 == "read") == are_reads;
            assert!(given.iter().all(is_meant), "{message}");
            let values: Vec<&str> = given.iter().map(|it| it.1).collect();
            assert!(
                are_reads || values.ends_with(&["3", "10", "32", "99", "301"]),
                "{message}"
            );
        }
    }
}

#[test]
fn a_variable_that_goes_to_memory_and_back_is_followed_there() {
    for build in optimized().filter(|build| build.compiler == Compiler::Gcc) {
        let report = run(&build, "spilled", &["awatch kept"], 12);
        let message = format!("{build} {}", report.all());
        let stops = report.kind("stop");
        let stops: Vec<_> = stops
            .filter_map(|stop| stop["accesses"].as_array())
            .flatten()
            .collect();
        let is = |access: &Value, kind: &str, value: &str, function: &str| {
            access["access"] == kind
                && access["value"] == value
                && access["place"]["function"] == function
        };
        let stored = stops.iter().position(|it| is(it, "write", "8", "store"));
        let read = stops.iter().position(|it| is(it, "read", "8", "spilled"));
        assert!(stored.is_some() && stored < read, "{message}");
        assert_eq!(report.end()["ending"]["status"], 0, "{message}");
    }
}

#[test]
fn what_a_register_points_to_is_followed_too() {
    for build in optimized().filter(|build| build.compiler == Compiler::Gcc) {
        let report = run(&build, "store", &["awatch *to"], 6);
        let message = format!("{build} {}", report.all());
        let given = changes(&report);
        // Before, the memory holds anything.
        let [(_, after, function)] = given.as_slice() else {
            panic!("{message}");
        };
        assert_eq!((*after, *function), ("8", "store"), "{message}");
        assert_eq!(report.end()["ending"]["status"], 0, "{message}");
    }
}

#[test]
fn what_cannot_be_watched_is_refused_with_the_way_to_do_it() {
    for build in optimized().filter(|build| build.compiler == Compiler::Gcc) {
        for (command, expected) in [
            (
                "watch -location n",
                "`n` is in a register here, and has no address",
            ),
            ("watch $rbx", "`$rbx` is not a variable"),
            ("watch 3", "`3` is a constant"),
        ] {
            let report = run(&build, "total", &[command], 0);
            report.assert_code(2);
            let text = &report.output.stdout;
            assert!(text.contains(expected), "{build} {}", report.all());
        }
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
    // Optimizing, clang says that the instruction after the call of `setjmp`
    // belongs to no line (it is line 0 in its table).
    let is_clang = build.compiler == Compiler::Clangpp;
    let may_lack_line = is_clang && build.optimization != Optimization::None && function == "jumps";
    let has_line = match place["line"].as_u64() {
        Some(line) => lines.contains(&line),
        None => {
            let near = place["near"]["line"].as_u64();
            may_lack_line && near.is_some_and(|line| lines.contains(&line))
        }
    };
    assert!(is_there && has_line, "{build} {place} {message}");
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

#[test]
fn what_another_thread_stores_is_told_of_that_thread() {
    for build in optimized() {
        for kind in ["watch", "change"] {
            let mut batch = Batch::new()
                .command("tbreak hold")
                .command("run")
                .command(&format!("{kind} queue->count"))
                .command("info watchpoints");
            for _ in 0..16 {
                batch = batch.command("continue");
            }
            let report = batch.run(program("shared.c").compile(&build), &[]);
            let mut expected = vec![("0".to_owned(), "1".to_owned(), "hold")];
            expected.extend((0..10).map(|round| {
                let (before, value) = (1 + 3 * round, 4 + 3 * round);
                (before.to_string(), value.to_string(), "store")
            }));
            expected.push(("31".to_owned(), "131".to_owned(), "hold"));
            let expected: Vec<(&str, &str, &str)> =
                expected.iter().map(|it| (&*it.0, &*it.1, it.2)).collect();
            let case = format!("{kind} {build} {}", report.all());
            assert_eq!(changes(&report), expected, "{case}");
            let point = &report.outcome("info watchpoints")[0];
            assert_eq!(point["passage"], "steps", "{case}");
            assert_eq!(report.end()["ending"]["status"], 0, "{case}");
        }
    }
}
