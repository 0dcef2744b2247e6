//! `restart-frame`: a call of the stack begins anew. The program itself counts its calls.

use crate::support::dialog::dialog;
use crate::support::{Batch, Report, program, property_of};
use juror_testing::{Build, Language, Optimization};

/// The tiers in which events are taken.
const TIERS: [&str; 2] = ["trap", "auto"];

/// The words before the arguments whose values at the entry are not kept.
const PRESENT: &str = "the call begins with the present ones: ";

const EVENTS: &str = "
    event weigh = before weigh(n)
    event begin = before bottom(sum)
    event end = after bottom(sum)";

/// Builds without optimization and with it.
fn builds() -> [Build; 2] {
    [Optimization::None, Optimization::Full].map(|optimization| Build {
        optimization,
        ..Build::plain(Language::C)
    })
}

/// Runs the program with these commands, and then to its end.
fn watched(build: &Build, tier: &str, commands: &[&str]) -> Report {
    let batch = Batch::watching(&property_of(EVENTS));
    let batch = batch.option("--tier").option(tier);
    let lines = commands.iter().chain(&["continue"]);
    let batch = lines.fold(batch, |batch, line| batch.command(line));
    let executable = program("begun_again.c").compile(build);
    batch.run(executable, &[])
}

/// Checks how often `weigh` and `bottom` have begun, and `bottom` has ended.
#[track_caller]
fn check(report: &Report, expected: [u64; 3]) {
    let counts = ["weigh", "begin", "end"].map(|event| report.occurrences(event));
    assert_eq!(counts, expected, "{}", report.all());
}

/// Checks what the program prints: its results, and how often its functions were executed.
#[track_caller]
fn check_output(report: &Report, counts: &str) {
    let expected = format!("38 9 102 5 6 2 5\n{counts}\n");
    assert!(report.output.stdout.contains(&expected), "{}", report.all());
}

#[test]
fn a_call_that_begins_anew_is_an_event_again_and_ends_once() {
    let [plain, _] = builds();
    for tier in TIERS {
        let report = watched(&plain, tier, &["tbreak bottom", "run", "restart-frame"]);
        assert!(report.all().contains(PRESENT), "{}", report.all());
        check(&report, [4, 3, 2]);
        check_output(&report, "2 4 3 1 2");
    }
}

#[test]
fn a_call_of_which_nothing_was_executed_stays_as_it_is() {
    for build in builds() {
        for tier in TIERS {
            let report = watched(&build, tier, &["tbreak *bottom", "run", "restart-frame"]);
            assert!(!report.all().contains(PRESENT), "{}", report.all());
            check(&report, [4, 2, 2]);
            check_output(&report, "2 4 3 1 2");
        }
    }
}

#[test]
fn an_outer_call_of_a_recursion_begins_anew_at_the_entry_of_an_inner_one() {
    for build in builds() {
        for tier in TIERS {
            let at_entry = ["break *weigh if n == 0", "run", "delete", "restart-frame 2"];
            let report = watched(&build, tier, &at_entry);
            // The call in which the program stops is not executed, and those from the third on twice.
            check(&report, [7, 2, 2]);
            check_output(&report, "2 6 3 1 2");
        }
    }
}

#[test]
fn a_function_that_is_left_by_return_has_no_event_of_its_end() {
    let [plain, _] = builds();
    for tier in TIERS {
        let report = watched(&plain, tier, &["tbreak bottom", "run", "return 8"]);
        check(&report, [4, 2, 1]);
    }
}

#[test]
fn a_watchpoint_on_a_variable_of_the_call_is_deleted() {
    let executable = program("begun_again.c").compile_plain();
    let lines = [
        "tbreak bottom",
        "run",
        "watch sum",
        "restart-frame",
        "info watchpoints",
        "continue",
    ];
    let answers = dialog(&executable, &lines);
    assert!(
        answers[3].contains("#0  bottom (sum=16, share=0.5)"),
        "{answers:?}"
    );
    assert_eq!(answers[4], "No breakpoints.");
    assert!(answers[5].contains("exited with status 0"), "{answers:?}");
}
