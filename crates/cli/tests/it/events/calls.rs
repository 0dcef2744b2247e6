//! Events of calls are counted exactly and carry the right values, for each compiler and
//! optimization level. The programs count their calls and print the counts.

use crate::support::{Batch, Report, base_name, named, program, property_of};
use juror_testing::{Build, Language, Optimization};
use serde_json::{Value, json};
use std::collections::HashMap;

#[track_caller]
fn run(events: &str, file: &str, build: &Build, arguments: &[&str]) -> Report {
    let executable = program(file).compile(build);
    let report = Batch::watching(&property_of(events)).run(executable, arguments);
    report.assert_code(0);
    report
}

/// Checks the values that an event carried, each time that it happened.
#[track_caller]
fn check_values(report: &Report, event: &str, name: &str, expected: &[Value]) {
    assert_eq!(report.values(event, name), expected, "{event}.{name}");
}

const RETURNS: &str = "
    event enter_work   = before work(n)
    event leave_work   = after  work(n) returns result
    event enter_escape = before escape(n)
    event leave_escape = after  escape(n)
    event leave_leaf   = after  leaf(n) returns result
    event leave_tail   = after  tail(n) returns result";

#[test]
fn calls_return_by_recursion_tail_call_and_longjmp() {
    for build in Build::all() {
        let report = run(RETURNS, "returns.c", &build, &[]);
        let entered = report.occurrences("enter_work") + report.occurrences("enter_escape");
        assert_eq!(entered, report.printed("entered"), "{build}");
        let returned = report.occurrences("leave_work");
        assert_eq!(returned, report.printed("returned"), "{build}");
        assert_eq!(report.occurrences("leave_escape"), 0, "{build}");
        assert_eq!(report.occurrences("leave_tail"), 1, "{build}");
        // Called from the place that `escape` never came back to.
        check_values(
            &report,
            "leave_leaf",
            "result",
            &[1.into(), 2.into(), 3.into()],
        );
        check_values(&report, "leave_leaf", "n", &[0.into(), 1.into(), 2.into()]);
        // Inner calls end first, each with the argument of its own entry.
        let expected = [0, 0, 1, 0, 1, 2, 0, 1, 2].map(Value::from);
        check_values(&report, "leave_work", "n", &expected);
        check_values(&report, "leave_work", "result", &expected);
        check_values(&report, "leave_tail", "result", &[2.into()]);
    }
}

#[test]
fn calls_that_longjmp_leaves_are_dropped_without_events_before_calls() {
    let events = "event escaped = after escape\nevent worked = after work returns result";
    for build in Build::all() {
        let report = run(events, "returns.c", &build, &[]);
        assert_eq!(report.occurrences("worked"), report.printed("returned"));
        assert_eq!(report.occurrences("escaped"), 0, "{build}");
    }
}

#[test]
fn calls_that_longjmp_leaves_are_unwound_the_innermost_first() {
    let events = "
        event left   = unwound escape(n, by = caller)
        event never  = unwound work(n)
        event worked = after work returns result";
    for build in Build::all() {
        let report = run(events, "returns.c", &build, &[]);
        assert_eq!(report.occurrences("worked"), report.printed("returned"));
        assert_eq!(report.occurrences("never"), 0, "{build}");
        let expected = [0, 0, 1, 0, 1, 2].map(Value::from);
        check_values(&report, "left", "n", &expected);
        let outermost = report.values("left", "by").last().cloned();
        assert_ne!(outermost, Some("escape".into()), "{build}");
        assert_eq!(report.values("left", "by")[3], "escape", "{build}");
    }
}

#[test]
fn panics_unwind_calls() {
    let events = "
        event enter  = before panics::work(n)
        event leave  = after  panics::work(n)
        event thrown = unwound panics::work(n)
        event back   = after  panics::outer(n)
        event outer  = unwound panics::outer(n)";
    for build in Build::all_of(Language::Rust) {
        let report = run(events, "panics.rs", &build, &[]);
        assert_eq!(report.occurrences("enter"), report.printed("entered"));
        assert_eq!(report.occurrences("leave"), report.printed("returned"));
        check_values(&report, "back", "n", &[0, 2, 4].map(Value::from));
        let expected = [1, 3, 5, 7].map(Value::from);
        check_values(&report, "thrown", "n", &expected);
        check_values(&report, "outer", "n", &expected);
    }
}

#[test]
fn a_step_passes_a_call_of_which_the_panic_is_caught() {
    let source = include_str!("../../programs/panics.rs");
    let line = source
        .lines()
        .position(|line| line.contains("mark: caught"));
    let line = line.expect("the line is there") + 1;
    for build in Build::all_of(Language::Rust) {
        let report = Batch::new()
            .command(&format!("tbreak panics.rs:{line} if good == 3"))
            .command("run")
            .command("next")
            .run(program("panics.rs").compile(&build), &[]);
        let lines = report.kind("stop").map(|stop| &stop["location"]["line"]);
        let lines: Vec<&Value> = lines.collect();
        assert_eq!(lines, [&json!(line), &json!(line + 1)], "{build}");
    }
}

#[test]
fn a_stop_in_deeply_inlined_code_is_in_the_frame_that_stacks_begin_with() {
    for build in Build::all_of(Language::Rust) {
        let report = Batch::new()
            .command("tbreak panics::outer if n == 1")
            .command("run")
            .command("watch n")
            .command("continue")
            .command("backtrace")
            .run(program("panics.rs").compile(&build), &[]);
        let stop = report.kind("stop").nth(1).expect("the call ends");
        assert_eq!(stop["reason"], "watchpoint_ended", "{build}");
        let frames = report.outcome("backtrace")["frames"].clone();
        let place = |frame: &Value| frame["location"].clone();
        assert_eq!(place(&stop["backtrace"][0]), place(&frames[0]), "{build}");
    }
}

#[test]
fn exceptions_unwind_calls() {
    let events = "
        event enter  = before work(n)
        event leave  = after  work(n) returns result
        event thrown = unwound work(n, by = caller)
        event outer  = after  outer(n) returns result
        event left   = unwound outer(n)";
    for build in Build::all_of(Language::Cpp) {
        let report = run(events, "exceptions.cpp", &build, &[]);
        assert_eq!(report.occurrences("enter"), report.printed("entered"));
        assert_eq!(report.occurrences("leave"), report.printed("returned"));
        let expected = [0, 2, 4].map(Value::from);
        check_values(&report, "leave", "n", &expected);
        check_values(&report, "leave", "result", &expected);
        check_values(&report, "outer", "result", &expected);
        let expected = [1, 3, 5].map(Value::from);
        check_values(&report, "thrown", "n", &expected);
        check_values(&report, "left", "n", &expected);
    }
}

/// A value, or none where an optimised program does not keep it.
#[track_caller]
fn check_where_kept(report: &Report, build: &Build, event: &str, name: &str, expected: i64) {
    let values = report.values(event, name);
    let lost = build.optimization == Optimization::Full && values == ["<optimized out>"];
    assert!(
        lost || values == [expected],
        "{build}: {event}.{name} {values:?}"
    );
}

#[test]
fn values_are_read_by_their_names() {
    let events = "
        event mixed  = before mixed(a, b, c, d, e, f, g, h, i, j, place = &j)
        event summed = after  mixed(a, b) returns result
        event valued = before by_value(first = p.first, second = p.second, fifth = b.words[4], tail = b.tail, last)
        event enter  = before by_pointer(list, value = list->value, next = list->next->value, bits = list->flags, level = list->level, below = list->next->level, name = list->name, words: text = text, star = *out, out = **out, counter, place = &counter)
        event leave  = after  by_pointer(out = **out, counter, list, value = list->value) returns result
        event half   = before half(x, outer = ^inside, local = ^local)
        event halved = after  half(x) returns result
        event caller = after  caller(inside) returns result";
    for build in Build::all() {
        let report = run(events, "arguments.c", &build, &[]);
        let check = |event: &str, expected: Value| {
            let changes = report.changes(event);
            assert_eq!(changes.len(), 1, "{build}: {event}");
            for (name, value) in expected.as_object().expect("names") {
                let read = crate::support::named(&changes[0]["values"], name);
                assert_eq!(&read, value, "{build}: {event}.{name}");
            }
        };
        check(
            "mixed",
            json!({ "a": -1, "b": 2.5, "c": 99, "d": 0.5, "e": -4, "f": "18446744073709551615",
                    "g": true, "h": 8, "i": 9, "j": -10 }),
        );
        check("summed", json!({ "a": -1, "b": 2.5, "result": 103 }));
        check(
            "valued",
            json!({ "first": -5, "second": 6_000_000_000_i64, "fifth": 500, "tail": 77, "last": 3 }),
        );
        check(
            "enter",
            json!({ "value": 11, "next": 22, "bits": 2, "level": 7, "below": -3,
                    "name": "first", "words": "hello", "out": 0, "counter": 41 }),
        );
        // Memory is read at the return.
        check(
            "leave",
            json!({ "out": 22, "counter": 42, "value": 11, "result": 104 }),
        );
        assert_eq!(
            report.values("enter", "list"),
            report.values("leave", "list")
        );
        check("half", json!({ "x": 40.0 }));
        check_where_kept(&report, &build, "half", "outer", 4);
        check_where_kept(&report, &build, "half", "local", 40);
        check("halved", json!({ "x": 40.0, "result": 20.0 }));
        check("caller", json!({ "inside": 4, "result": 60 }));
    }
}

const BY_POSITION: &str = "
    event mixed  = before mixed(a: int = arg 1, b: double = arg 2, c: char = arg 3, d: float = arg 4, e: short = arg 5, f: u64 = arg 6, g: bool = arg 7, h: long = arg 8, i: i64 = arg 9, j: int = arg 10)
    event summed = after  mixed(a: i32 = arg 1) returns result: long
    event enter  = before by_pointer(list: address = arg 1, words: text = arg 2, star: address = *arg 3)
    event leave  = after  by_pointer returns result: int
    event half   = before half(x: double = arg 1)
    event halved = after  half returns result: double";

fn check_positions(report: &Report) {
    let check = |event: &str, expected: Value| {
        let changes = report.changes(event);
        assert_eq!(changes.len(), 1, "{event}: {}", report.all());
        for (name, value) in expected.as_object().expect("names") {
            let read = crate::support::named(&changes[0]["values"], name);
            assert_eq!(&read, value, "{event}.{name}");
        }
    };
    check(
        "mixed",
        json!({ "a": -1, "b": 2.5, "c": 99, "d": 0.5, "e": -4, "f": "18446744073709551615",
                "g": true, "h": 8, "i": 9, "j": -10 }),
    );
    check("summed", json!({ "a": -1, "result": 103 }));
    check("enter", json!({ "words": "hello" }));
    check("leave", json!({ "result": 104 }));
    check("half", json!({ "x": 40.0 }));
    check("halved", json!({ "result": 20.0 }));
}

#[test]
fn values_are_read_by_position_with_and_without_debug_information() {
    for build in Build::all() {
        check_positions(&run(BY_POSITION, "arguments.c", &build, &[]));
        let build = Build {
            debug: false,
            ..build
        };
        check_positions(&run(BY_POSITION, "arguments.c", &build, &[]));
    }
}

#[test]
fn a_stripped_program_is_known_by_the_functions_it_exports() {
    for build in Build::all() {
        let build = Build {
            debug: false,
            ..build
        };
        let stripped = program("arguments.c").argument("-s").argument("-rdynamic");
        let report = Batch::watching(&property_of(BY_POSITION)).run(stripped.compile(&build), &[]);
        report.assert_code(0);
        check_positions(&report);
    }
}

#[test]
fn a_stripped_program_calls_functions_of_libraries() {
    let events = "
        event open  = after  dlopen(path: text = arg 1, mode: int = arg 2) returns library: address
        event enter = before printf(format: text = arg 1, sum: int = arg 2)
        event leave = after  printf returns count: int";
    for build in Build::all() {
        let build = Build {
            debug: false,
            ..build
        };
        // Without lazy binding there is no PLT entry to go through.
        for binding in ["-Wl,-z,lazy", "-Wl,-z,now"] {
            let stripped = program("loader.c").argument("-s").argument(binding);
            let report =
                Batch::watching(&property_of(events)).run(stripped.compile(&build), &["/no/such"]);
            assert_eq!(report.occurrences("open"), 1, "{build} {binding}");
            check_values(&report, "open", "path", &["/no/such".into()]);
            check_values(&report, "open", "mode", &[2.into()]);
            check_values(&report, "open", "library", &["0x0".into()]);
            let report = Batch::watching(&property_of(events)).run(stripped.compile(&build), &[]);
            check_values(&report, "enter", "format", &["sum %d\n".into()]);
            check_values(&report, "enter", "sum", &[0.into()]);
            check_values(&report, "leave", "count", &[6.into()]);
        }
    }
}

#[test]
fn functions_that_the_library_chooses_at_the_start_are_found() {
    let events = "
        event enter = before strlen(word: text = arg 1)
        event leave = after  strlen(word: text = arg 1) returns length: size";
    for build in Build::all() {
        let report = run(events, "indirect.c", &build, &[]);
        // The library calls it too; the program's own calls are the ones from
        // its source.
        let own = |event: &str, name: &str| -> Vec<Value> {
            let changes = report.changes(event).into_iter();
            let own =
                changes.filter(|change| base_name(&change["location"]["file"]) == "indirect.c");
            own.map(|change| named(&change["values"], name)).collect()
        };
        assert_eq!(own("enter", "word"), ["a", "bc", "def", ""], "{build}");
        let lengths = own("leave", "length");
        assert_eq!(lengths, [1, 2, 3, 0], "{build}");
        assert_eq!(lengths.len() as u64, report.printed("calls"), "{build}");
    }
}

#[test]
fn static_programs_are_watched() {
    for build in Build::all() {
        for (link, pie) in [("-static", false), ("-static-pie", true)] {
            if build.pie != pie {
                continue;
            }
            let executable = program("returns.c").argument(link).compile(&build);
            let report = Batch::watching(&property_of(RETURNS)).run(executable, &[]);
            report.assert_code(0);
            let entered = report.occurrences("enter_work") + report.occurrences("enter_escape");
            assert_eq!(entered, report.printed("entered"), "{build} {link}");
            let returned = report.occurrences("leave_work");
            assert_eq!(returned, report.printed("returned"), "{build} {link}");
            assert_eq!(report.occurrences("leave_escape"), 0, "{build} {link}");
            assert_eq!(report.occurrences("leave_leaf"), 3, "{build} {link}");
        }
    }
}

#[test]
fn functions_are_found_by_every_sort_of_name() {
    let events = "
        event push   = before box::Queue::push(this, item)
        event number = before \"box::Queue<int>::push\"(item)
        event area   = before Shape::area(this, scale, sides = this->sides)
        event square = after  Square::area(scale) returns result
        event both   = before add(a)
        event whole  = before _ZL3addll(a, b)";
    for build in Build::all_of(Language::Cpp) {
        let report = run(events, "methods.cpp", &build, &[]);
        check_values(&report, "area", "scale", &[5.into()]);
        check_values(&report, "area", "sides", &[3.into()]);
        check_values(&report, "square", "result", &[25.into(), 25.into()]);
        check_values(&report, "both", "a", &[55.into(), json!(0.25)]);
        check_values(&report, "whole", "b", &[2.into()]);
        assert_eq!(
            report.occurrences("push"),
            report.printed("count"),
            "{build}"
        );
        check_values(&report, "number", "item", &[0.into(), 1.into(), 2.into()]);
    }
}

#[test]
fn only_the_events_of_the_parent_count() {
    let events = "event tick = before tick(n)\nevent ticked = after tick(n)";
    for build in Build::all() {
        let report = run(events, "forks.c", &build, &[]);
        assert_eq!(report.printed("failed"), 0, "{build}: {}", report.all());
        assert_eq!(report.occurrences("tick"), report.printed("calls"));
        assert_eq!(report.occurrences("ticked"), report.printed("calls"));
        assert_eq!(report.end()["ending"]["status"], 0, "{build}");
    }
}

#[test]
fn a_library_is_watched_at_every_load_from_its_constructor_on() {
    let events = "
        event enter = before plugin_work(n) in library
        event leave = after  plugin_work(n) returns result in library";
    for build in Build::all() {
        let plugin = program("plugin.c").argument("-shared").argument("-fPIC");
        let plugin = plugin.compile(&build);
        let plugin = plugin.to_str().expect("a path of text");
        let report = run(events, "loader.c", &build, &[plugin]);
        assert_eq!(report.printed("sum"), 103, "{build}");
        let calls = [100, 0, 1, 2, 100, 0, 1, 2].map(Value::from);
        check_values(&report, "enter", "n", &calls);
        check_values(&report, "leave", "n", &calls);
        let results = [100, 100, 101, 103, 100, 100, 101, 103].map(Value::from);
        check_values(&report, "leave", "result", &results);
    }
}

#[test]
fn threads_are_counted_exactly_each_in_its_slice() {
    let property = "
        property passes
        slice on thread
        event pass   = before pass(thread, round)
        event passed = after  pass(thread)
        var entered = 0
        var left = 0
        state init accepting {
            on pass when round == entered { entered += 1 } else -> lost
            on passed { left += 1 }
        }
        state lost non-accepting";
    for build in Build::all() {
        for (threads, rounds) in [(1, 60), (4, 40), (16, 15)] {
            let report = Batch::watching(property)
                .command("run")
                .command("info monitors")
                .run(
                    program("threads.c").compile(&build),
                    &[&threads.to_string(), &rounds.to_string()],
                );
            report.assert_code(0);
            let place = format!("{build} with {threads} threads");
            assert_eq!(report.printed("passes"), threads * rounds, "{place}");
            assert_eq!(report.occurrences("pass"), threads * rounds, "{place}");
            assert_eq!(report.occurrences("passed"), threads * rounds, "{place}");
            let monitors = report.outcome("info monitors");
            let slices = monitors[0]["slices"].as_array().expect("a list");
            let slices: Vec<&Value> = slices
                .iter()
                .filter(|slice| slice["binding"] != json!([]))
                .collect();
            assert_eq!(slices.len() as u64, threads, "{place}");
            for slice in slices {
                for name in ["entered", "left"] {
                    let count = crate::support::named(&slice["variables"], name);
                    assert_eq!(count, rounds, "{place}: {slice}");
                }
            }
        }
    }
}

#[test]
fn calls_that_are_active_when_their_return_becomes_needed_are_events() {
    let property = "
        property active
        event mark   = before mark
        event down   = after down(n) returns result
        event thread = after blocked(n) returns result
        state init accepting { on mark -> marked }
        state marked accepting { on down on thread }";
    for build in Build::all() {
        let report = Batch::watching(property).run(program("active.c").compile(&build), &[]);
        report.assert_code(0);
        assert_eq!(
            report.occurrences("down"),
            report.printed("returned"),
            "{build}"
        );
        check_values(
            &report,
            "down",
            "result",
            &[0, 1, 2, 3, 4, 0, 1].map(Value::from),
        );
        assert_eq!(report.occurrences("thread"), 1, "{build}");
        check_values(&report, "thread", "result", &[7.into()]);
    }
}

#[test]
fn calls_are_active_too_when_the_same_call_makes_their_return_needed() {
    // By its entry, or by the return of what it called.
    for event in ["before down(n)", "after mark"] {
        let property = format!(
            "property active
             event bottom = {event}
             event down   = after down(n) returns result
             var count = 0
             state init accepting {{
                 on bottom when count == 4 or not {is_entry} -> marked else {{ count += 1 }}
             }}
             state marked accepting {{ on down }}",
            is_entry = event.starts_with("before"),
        );
        for build in Build::all() {
            let executable = program("active.c").compile(&build);
            let report = Batch::watching(&property).run(executable, &[]);
            report.assert_code(0);
            let place = format!("{build} by {event}");
            let returned = report.occurrences("down");
            assert_eq!(returned, report.printed("returned"), "{place}");
            let results = [0, 1, 2, 3, 4, 0, 1].map(Value::from);
            check_values(&report, "down", "result", &results);
        }
    }
}

#[test]
fn returns_that_become_needed_again_and_again_are_counted_in_all_threads() {
    let property = "
        property toggling
        event pass   = before pass(round)
        event passed = after  pass(round)
        state init accepting {
            on pass when round % 4 == 0 -> asked else -> init
        }
        state asked accepting {
            on pass when round % 4 == 2 -> init else -> asked
            on passed -> asked
        }";
    for build in Build::all() {
        let executable = program("threads.c").compile(&build);
        let report = Batch::watching(property).run(executable, &["4", "30"]);
        report.assert_code(0);
        assert_eq!(report.printed("passes"), 120, "{build}");
        assert_eq!(report.occurrences("pass"), 120, "{build}");
        check_returns(&report, &build);
    }
}

/// Of each thread: no call returns twice, and none returns unseen while the
/// return was asked for all the time.
#[track_caller]
fn check_returns(report: &Report, build: &Build) {
    /// The call that a thread entered last.
    struct Call {
        returns: u64,
        asked_throughout: bool,
    }
    let mut calls: HashMap<u64, Call> = HashMap::new();
    let mut ended = 0;
    let end = |call: Call| {
        assert!(call.returns <= 1, "{build}: {} returns", call.returns);
        assert!(
            call.returns == 1 || !call.asked_throughout,
            "{build}: a return is missed"
        );
        call.returns
    };
    for change in report.kind("state_change") {
        let thread = change["thread"].as_u64().expect("a number");
        let is_asked = change["to"] == "asked";
        if change["event"] == "pass" {
            let call = Call {
                returns: 0,
                asked_throughout: is_asked,
            };
            if let Some(before) = calls.insert(thread, call) {
                ended += end(before);
            }
        } else {
            let call = calls.get_mut(&thread).expect("it was entered");
            call.returns += 1;
        }
        if !is_asked {
            calls
                .values_mut()
                .for_each(|call| call.asked_throughout = false);
        }
    }
    ended += calls.into_values().map(end).sum::<u64>();
    assert_eq!(ended, report.occurrences("passed"), "{build}");
}
