//! Hit counts of breakpoints: in steps, in several threads, in batch runs.

use crate::support::{Batch, Report, program};
use juror_testing::{Build, Language, Optimization};

fn unoptimized() -> Vec<Build> {
    let is_meant = |build: &Build| build.optimization == Optimization::None;
    Build::all_of(Language::C)
        .into_iter()
        .filter(is_meant)
        .collect()
}

/// How often breakpoints were hit, as a command `info breakpoints` has it.
fn hits(report: &Report, command: &str) -> Vec<u64> {
    let points = report.outcome(command).as_array().expect("a list");
    let hits = points.iter().map(|point| point["hits"].as_u64());
    hits.map(|hits| hits.expect("a number")).collect()
}

/// What a command printed each time that it was executed.
fn values<'a>(report: &'a Report, command: &str) -> Vec<&'a str> {
    let given = report.kind("outcome").filter(|it| it["command"] == command);
    given
        .filter_map(|it| it["value"]["value"].as_str())
        .collect()
}

/// Why the program stopped, each time.
fn reasons(report: &Report) -> Vec<&str> {
    let stops = report.kind("stop");
    stops.filter_map(|stop| stop["reason"].as_str()).collect()
}

#[test]
fn a_step_over_breakpoints_that_stop_nothing_counts_each_pass_once() {
    for build in unoptimized() {
        let executable = program("stepped.c").compile(&build);
        let report = Batch::new()
            .command("tbreak walk")
            .command("run")
            .command("break stepped.c:22")
            .command("ignore 2 1000")
            .command("break stepped.c:23 if sum == -1")
            .command("next 30")
            .command("print i")
            .command("info breakpoints")
            .command("advance 25")
            .command("info  breakpoints")
            .run(executable, &[]);
        report.assert_code(0);
        let rounds: u64 = report.outcome("print i")["value"]
            .as_str()
            .and_then(|value| value.parse().ok())
            .expect("a number");
        let [counted, _] = hits(&report, "info breakpoints")[..] else {
            panic!("{}", report.all());
        };
        // The step may stand in the middle of a round.
        assert!(counted == rounds || counted == rounds + 1, "{build}");
        assert_eq!(hits(&report, "info  breakpoints"), [100, 0], "{build}");
    }
}

#[test]
fn a_line_that_waits_for_another_thread_lets_it_run() {
    for build in unoptimized() {
        let executable = program("stepped.c").compile(&build);
        let report = Batch::new()
            .command("break 30")
            .command("run")
            .command("break work")
            .command("ignore 2 1000")
            .command("next 4")
            .command("info line")
            .command("info breakpoints")
            .run(executable, &["other"]);
        report.assert_code(0);
        assert_eq!(hits(&report, "info breakpoints")[0], 1, "{build}");
        let line = &report.outcome("info line")[0]["line"];
        assert_eq!(*line, 34, "{build}: {}", report.all());
        assert_eq!(reasons(&report), ["breakpoint", "step"], "{build}");
    }
}

#[test]
fn a_hit_of_another_thread_ends_a_step() {
    for build in unoptimized() {
        let executable = program("stepped.c").compile(&build);
        let report = Batch::new()
            .command("break 33")
            .command("run")
            .command("break work if n == 499")
            .command("next")
            .command("thread")
            .command("next 2")
            .command("info breakpoints")
            .run(executable, &["other"]);
        let found = reasons(&report);
        // The other thread may have been through before the first stop.
        let is_seen = found == ["breakpoint", "breakpoint", "step"];
        assert!(
            is_seen || found == ["breakpoint", "step", "step"],
            "{found:?}"
        );
        if is_seen {
            assert_eq!(hits(&report, "info breakpoints"), [1, 1], "{build}");
            let thread = &report.outcome("thread")["number"];
            assert_eq!(*thread, 2, "{thread}");
        }
    }
}

#[test]
fn a_thread_may_have_a_breakpoint_of_its_own() {
    let executable = program("stepped.c").compile_plain();
    let report = Batch::new()
        .command("break work")
        .command("run")
        .command("delete 1")
        .command("break work thread 1")
        .command("break work thread 2")
        .command("ignore 3 1000")
        .command("break 34")
        .command("continue")
        .command("tbreak 37")
        .command("continue")
        .command("info breakpoints")
        .run(executable, &["other"]);
    report.assert_code(0);
    // It goes with its thread. The first pass was the stop.
    let expected = "breakpoint 3 is deleted: its thread 2 has ended; hits: 499";
    assert!(report.output.stderr.contains(expected), "{}", report.all());
    assert_eq!(hits(&report, "info breakpoints").len(), 2);
    assert_eq!(hits(&report, "info breakpoints")[0], 0);
}

#[test]
fn commands_are_executed_in_a_batch_run() {
    let executable = program("stepped.c").compile_plain();
    let report = Batch::new()
        .command("tbreak walk")
        .command("commands")
        .command("print rounds")
        // The last `end` may be left out.
        .run(&executable, &[]);
    report.assert_code(0);
    assert_eq!(values(&report, "print rounds"), ["100"]);
    assert!(report.output.stdout.contains("Temporary breakpoint 1"));
    let report = Batch::new()
        .command("break stepped.c:22 if i % 10 == 0")
        .command("commands 1")
        .command("silent")
        .command("print i")
        .command("continue")
        .command("end")
        .run(&executable, &[]);
    report.assert_code(0);
    let printed = values(&report, "print i");
    assert_eq!(printed.len(), 10, "{}", report.all());
    assert_eq!(printed.last(), Some(&"90"));
    assert!(
        !report.output.stdout.contains("Breakpoint 1"),
        "{}",
        report.all()
    );
}

#[test]
fn a_condition_that_cannot_be_evaluated_fails_a_batch_run() {
    let executable = program("stepped.c").compile_plain();
    let report = Batch::new()
        .command("break stepped.c:22 if i == 3 && *(int *)0 == 1")
        .run(executable, &[]);
    report.assert_code(2);
    let expected = "the condition of breakpoint 1 cannot be evaluated: memory at 0x0";
    assert!(report.output.stdout.contains(expected), "{}", report.all());
}

#[test]
fn a_breakpoint_may_stop_a_number_of_times() {
    let executable = program("stepped.c").compile_plain();
    let report = Batch::new()
        .command("break stepped.c:22")
        .command("enable count 2 1")
        .command("run")
        .command("continue")
        .command("info breakpoints")
        .command("enable once 1")
        .command("continue")
        .command("enable delete 1")
        .command("continue")
        .command("info  breakpoints")
        .command("continue")
        .run(executable, &[]);
    report.assert_code(0);
    assert_eq!(reasons(&report), ["breakpoint"; 4]);
    let point = &report.outcome("info breakpoints")[0];
    assert_eq!(
        (&point["enabled"], &point["hits"]),
        (&false.into(), &2.into())
    );
    assert_eq!(
        report.outcome("info  breakpoints").as_array().map(Vec::len),
        Some(0)
    );
}

/// Counts the calls of an indirect function between two lines of its program:
/// `before` is what is done until the first.
#[track_caller]
fn check_indirect(point: &str, before: &[&str]) {
    for build in unoptimized() {
        let executable = program("indirect.c").compile(&build);
        let mut batch = Batch::new();
        for command in before {
            batch = batch.command(command);
        }
        let report = batch
            .command("info breakpoints")
            .command("tbreak indirect.c:15")
            .command("continue")
            .command("info  breakpoints")
            .run(executable, &[]);
        let all = |command: &str| -> u64 { hits(&report, command).iter().sum() };
        let counted = all("info  breakpoints") - all("info breakpoints");
        assert_eq!(counted, 4, "{point} {build}: {}", report.all());
    }
}

#[test]
fn a_function_that_the_library_chooses_is_stopped_at_in_each_call() {
    let ignored = "ignore 1 10000";
    // In the middle of the run; before it; when the program is loaded anew.
    check_indirect("break", &["start", "break strlen", ignored]);
    check_indirect("break", &["break strlen", ignored, "start"]);
    check_indirect("break", &["break strlen", ignored, "start", "start"]);
    check_indirect("hbreak", &["start", "hbreak strlen", ignored]);
}

#[test]
fn an_address_where_no_instruction_begins_is_refused() {
    for (command, expected) in [
        ("break *((long)$pc + 1)", "is inside the instruction at 0x"),
        ("hbreak *((long)$pc + 1)", "is inside the instruction at 0x"),
        ("break *$sp", "is not in code"),
        ("break *16", "is not in the program's memory"),
    ] {
        let executable = program("stepped.c").compile_plain();
        // The body begins with a call or a store, of several bytes.
        let report = Batch::new()
            .command("start")
            .command(command)
            .run(executable, &[]);
        report.assert_code(2);
        assert!(report.output.stdout.contains(expected), "{}", report.all());
    }
}

/// Also where statements of several lines, and inlined calls, begin at one instruction. The
/// end of a function may have no instruction of its own.
#[test]
fn a_breakpoint_at_a_line_says_that_line() {
    for (file, language, lines) in [
        ("optimized.c", Language::C, 25),
        ("inlined.c", Language::C, 30),
        ("overloads.cpp", Language::Cpp, 50),
    ] {
        for optimization in [Optimization::Light, Optimization::Full] {
            let build = Build {
                optimization,
                ..Build::plain(language)
            };
            let mut batch = Batch::new().command("run");
            for line in 1..=lines {
                batch = batch.command(&format!("break {file}:{line}"));
            }
            let report = batch.run(program(file).compile(&build), &[]);
            let source = std::fs::read_to_string(
                std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
                    .join("tests/programs")
                    .join(file),
            );
            let source = source.expect("the program is there");
            let is_end = |line: usize| source.lines().nth(line - 1) == Some("}");
            for line in (1..=lines).filter(|line| !is_end(*line)) {
                let set = report.outcome(&format!("break {file}:{line}"));
                let is_elsewhere = !set["moved_to_line"].is_null() || set["place"].is_null();
                let is_there = set["place"]["line"] == line;
                assert!(is_elsewhere || is_there, "{set} ({optimization:?})");
            }
        }
    }
}
