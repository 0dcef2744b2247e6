//! Native events under disturbances: the counts of the report are those of the program, which
//! runs as without juror, and the engine's decisions are checked.
//!
//! `disturbed.c` prints its own counts; each test is one of its disturbances.

use crate::support::{juror, program};
use juror_testing::{Build, Language};
use std::fs;
use std::path::PathBuf;

/// Counts the calls and the returns of a function, and checks its results.
const WORK: &str = "property counted
event entered  = before work(x: int = arg 1)
event returned = after work(x: int = arg 1) returns r: int
var n = 0
state s accepting {
    on entered { n = n + 1 } -> s
    on returned when r == x + 1 -> s
    on returned when r != x + 1 -> wrong
}
state wrong non-accepting
";

/// The output of a run.
struct Said {
    /// The program's counts of calls and returns.
    truth: (u64, u64),
    /// The report's counts.
    reported: (u64, u64),
    /// How often an event has stopped the program.
    stops: u64,
    all: String,
}

fn disturbed() -> PathBuf {
    program("disturbed.c").compile(&Build::plain(Language::C))
}

fn numbers_of(line: &str) -> Vec<u64> {
    let words = line.split_whitespace();
    words.filter_map(|word| word.parse().ok()).collect()
}

#[track_caller]
fn run_in(tier: &str, property: &str, arguments: &[&str]) -> Said {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("counted.prop");
    fs::write(&file, property).expect("it can be written");
    let file = file.to_string_lossy();
    let output = juror(&["run", "--batch", "--self-check"])
        .args(["--tier", tier, "--property", &file])
        .args([disturbed()])
        .args(arguments)
        .run();
    let all = format!("{arguments:?}, {tier}:\n{}{}", output.stdout, output.stderr);
    let line = |start: &str| {
        let found = output
            .stdout
            .lines()
            .find(|it| it.trim().starts_with(start));
        found.map_or(Vec::new(), numbers_of)
    };
    let pair = |numbers: Vec<u64>| match numbers[..] {
        [first, second, ..] => (first, second),
        _ => panic!("{all}"),
    };
    let (entered, returned) = (line("entered "), line("returned "));
    assert!(output.stdout.contains("HOLDS"), "{all}");
    assert!(
        all.contains("the engine's log is a path of its model"),
        "{all}"
    );
    Said {
        truth: pair(line("truth ")),
        reported: (
            entered.first().copied().unwrap_or(0),
            returned.first().copied().unwrap_or(0),
        ),
        stops: [entered, returned]
            .iter()
            .filter_map(|numbers| numbers.get(1))
            .sum(),
        all,
    }
}

/// Runs a disturbance natively. The program says nothing but its counts.
#[track_caller]
fn check(property: &str, arguments: &[&str]) -> Said {
    let said = run_in("native", property, arguments);
    assert_eq!(said.reported, said.truth, "{}", said.all);
    for complaint in [
        "a child ended",
        "failed",
        "wrong\n",
        "elsewhere",
        "was written",
    ] {
        assert!(!said.all.contains(complaint), "{}", said.all);
    }
    said
}

/// As [`check`], and few events stop the program.
#[track_caller]
fn check_native(arguments: &[&str]) {
    let said = check(WORK, arguments);
    let calls = said.truth.0 + said.truth.1;
    assert!(said.stops * 10 < calls, "{}", said.all);
}

#[test]
fn a_timer_whose_handler_calls_the_function() {
    check_native(&["storm"]);
}

#[test]
fn threads_that_signal_each_other() {
    check_native(&["between"]);
}

#[test]
fn threads_that_end() {
    check_native(&["short"]);
}

#[test]
fn threads_that_are_cancelled() {
    check_native(&["cancelled"]);
}

#[test]
fn forked_children_are_not_counted_and_run_unharmed() {
    check_native(&["forks"]);
}

#[test]
fn children_with_the_same_memory_are_not_counted() {
    check_native(&["vforks"]);
}

#[test]
fn processes_that_are_made_while_other_threads_call() {
    for _ in 0..4 {
        check_native(&["among"]);
    }
}

#[test]
fn a_program_that_executes_itself() {
    check_native(&["exec"]);
}

#[test]
fn fibers() {
    check_native(&["fibers"]);
}

#[test]
fn a_seccomp_filter_that_comes_later() {
    check_native(&["filter"]);
}

#[test]
fn a_first_instruction_that_faults() {
    let property = WORK
        .replace("work(x: int = arg 1)", "load(p: address = arg 1)")
        .replace("x + 1", "42");
    check(&property, &["faults"]);
}

#[test]
fn a_stack_without_room_for_the_stub() {
    check(&WORK.replace("work", "thin"), &["stack"]);
}

#[test]
fn a_captured_pointer_that_is_bad() {
    let property = "property counted
event entered  = before take(value: int = node->value)
event returned = after take returns r: int
state s accepting { on entered -> s on returned -> s }
";
    let said = check(property, &["pointers"]);
    assert!(said.stops < said.truth.0, "{}", said.all);
}

/// Whatever the program has there: nothing of it is read or written, and no event is lost.
#[test]
fn a_program_that_uses_gs() {
    for word in ["0", "1", "0x6a75726e"] {
        check(WORK, &["gs", word]);
    }
}
