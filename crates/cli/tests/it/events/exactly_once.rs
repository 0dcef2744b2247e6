//! Each execution is reported once, in cases in which debuggers lose or repeat reports: the
//! rows of `juror_testing::exact`, in all builds.

use crate::support::{Batch, program};
use juror_testing::Build;
use juror_testing::exact::{ROWS, Row, Watched, program_says};
use serde_json::Value;

/// Counts without stopping.
#[track_caller]
fn run(row: &Row, build: &Build) {
    let point = match row.watched {
        Watched::Point => "break *point",
        Watched::Stores => "watch watched",
        Watched::Changes => "change watched",
    };
    let report = Batch::new()
        .command(point)
        .command("ignore 1 1000000000")
        .command("run")
        .command("info breakpoints")
        .run(row.fixture().compile(build), row.arguments);
    report.assert_code(0);
    let hits = report.outcome("info breakpoints")[0]["hits"].as_u64();
    let case = format!("{}, {build}: {}", row.title, report.all());
    assert_eq!(hits, Some(row.expected), "{case}");
    assert_eq!(
        program_says(&report.output.stdout),
        Some(row.says),
        "{case}"
    );
}

/// Runs the rows about one program.
#[track_caller]
fn check(program: &str) {
    let rows: Vec<&Row> = ROWS.iter().filter(|row| row.program == program).collect();
    assert!(!rows.is_empty(), "{program}");
    for row in rows {
        for build in Build::all() {
            run(row, &build);
        }
    }
}

#[test]
fn threads() {
    check("threads");
}

#[test]
fn a_blocking_system_call_that_another_thread_ends() {
    check("blocked");
}

#[test]
fn an_instruction_that_branches_to_itself() {
    check("self_loop");
}

#[test]
fn a_repeated_string_instruction() {
    check("repeated");
}

#[test]
fn a_timer_signal_every_millisecond_and_faster() {
    check("timer");
}

#[test]
fn forked_children() {
    check("children");
}

#[test]
fn traps_of_the_program() {
    check("own_trap");
}

#[test]
fn what_the_kernel_writes_for_a_system_call() {
    check("received");
}

#[test]
fn every_store_and_every_change() {
    check("stores");
}

/// While a thread executes the copy of an instruction under a point, everybody
/// sees it in the program; and a second point there tells of the next arrival.
#[test]
fn a_thread_inside_a_copy_is_shown_in_the_program() {
    for build in Build::all() {
        let report = Batch::new()
            .command("break *point")
            .command("run")
            .command("break look")
            .command("continue")
            // In the system call, woken by nobody before the next command.
            .command("thread 1")
            .command("print $rip")
            .command("print (void *)$rcx")
            .command("backtrace")
            .command("break *point ")
            .command("continue ")
            .command("delete 2")
            .command("continue  ")
            .command("info breakpoints")
            .run(program("inside.c").compile(&build), &[]);
        report.assert_code(0);
        let case = || format!("{build}: {}", report.all());
        for register in ["print $rip", "print (void *)$rcx"] {
            let value = report.outcome(register)["value"].as_str().expect("text");
            assert!(value.ends_with(" <point+2>"), "{value}, {}", case());
        }
        let frames = report.outcome("backtrace")["frames"].as_array();
        let callers: Vec<&str> = frames
            .expect("a list")
            .iter()
            .map(|frame| frame["location"]["function"].as_str().expect("a name"))
            .skip(1)
            .collect();
        assert!(callers.ends_with(&["main"]), "{callers:?}, {}", case());
        assert!(callers.len() <= 2, "{callers:?}, {}", case());
        let hits: Vec<u64> = report
            .outcome("info breakpoints")
            .as_array()
            .expect("a list")
            .iter()
            .map(|point| point["hits"].as_u64().expect("a number"))
            .collect();
        assert_eq!(hits, [2, 1], "{}", case());
    }
}

/// Every event takes points away and sets others, while eight threads run
/// through the ones and the others.
#[test]
fn points_that_come_and_go_with_every_event() {
    let turns = "
        property turns
        event first  = before first(n)
        event second = before second(n)
        var taken = 0
        state wants_first accepting { on first { taken = n } -> wants_second }
        state wants_second non-accepting {
            on second when n == taken -> wants_first else -> mixed_up
        }
        state mixed_up non-accepting";
    let waits = "
        property waits
        event one   = before one(n)
        event other = before other(n)
        state wants_one accepting { on one -> wants_other }
        state wants_other accepting { on other -> wants_one }";
    for build in Build::all() {
        let report = Batch::new()
            .property(turns)
            .property(waits)
            .run(program("turns.c").compile(&build), &[]);
        report.assert_code(0);
        let case = || format!("{build}: {}", report.all());
        let taken = report.printed("turns");
        assert_eq!(report.occurrences("first"), taken, "{}", case());
        assert_eq!(report.occurrences("second"), taken, "{}", case());
        // Every stop for these events is one of them: a point is there only while it is needed.
        let stops = ["first", "second"].map(|event| report.counts(event).stops);
        assert_eq!(stops, [taken; 2], "{}", case());
        let (one, other) = (report.occurrences("one"), report.occurrences("other"));
        assert!(one.abs_diff(other) <= 1, "{one} {other}, {}", case());
    }
}

/// No row without a test.
#[test]
fn all_rows_are_run() {
    let source = include_str!("exactly_once.rs");
    for row in ROWS {
        let call = format!("check(\"{}\")", row.program);
        assert!(source.contains(&call), "{}", row.program);
    }
}

/// After a fault the same arrival comes back only where its handler does.
#[test]
fn an_instruction_whose_handler_jumps_away_or_comes_back() {
    let says = |threads: usize| {
        let [calls, inner, each] = [160, 150, 20].map(|count| threads * count);
        format!(
            "calls {calls}, inner {inner}, jumps {each}, repairs {}, skips {each}",
            2 * each
        )
    };
    for build in Build::all() {
        let faulting = program("faulting.c").compile(&build);
        for point in ["break", "hbreak"] {
            for arguments in [["1"].as_slice(), &["1", "x"], &["3"], &["3", "x"]] {
                let threads = arguments.iter().find_map(|it| it.parse().ok()).unwrap_or(1);
                let report = Batch::new()
                    .option("--self-check")
                    .command("handle SIGSEGV nostop noprint")
                    .command("handle SIGUSR1 nostop noprint")
                    .command(&format!("{point} *touch"))
                    .command("ignore 1 1000000000")
                    .command("break *inner")
                    .command("ignore 2 1000000000")
                    .command("run")
                    .command("info breakpoints")
                    .run(faulting.clone(), arguments);
                let case = format!("{point} {arguments:?}, {build}: {}", report.all());
                let points = report.outcome("info breakpoints");
                assert_eq!(points[0]["hits"], threads * 160, "{case}");
                assert_eq!(points[1]["hits"], threads * 150, "{case}");
                assert!(report.output.stdout.contains(&says(threads)), "{case}");
            }
        }
    }
}

/// A step over the handler's return leads to the instruction once more.
#[test]
fn a_step_back_to_an_instruction_that_has_faulted() {
    for build in Build::all() {
        let report = Batch::new()
            .command("handle SIGSEGV nostop noprint")
            .command("handle SIGUSR1 nostop noprint")
            .command("break *touch")
            .command("ignore 1 1")
            .command("run")
            .command("break __restore_rt")
            .command("continue")
            .command("stepi")
            .command("stepi")
            .command("info breakpoints")
            .command("delete 2")
            .command("stepi")
            .command("continue")
            .command("info breakpoints")
            .run(program("faulting.c").compile(&build), &["1"]);
        let told = report.kind("outcome");
        let told = told.filter(|it| it["command"] == "info breakpoints");
        let hits: Vec<&Value> = told.map(|it| &it["value"][0]["hits"]).collect();
        assert_eq!(hits, [2, 3], "{build}: {}", report.all());
    }
}
