//! Each execution is reported once, where debuggers lose some or report some
//! twice: the rows of `juror_testing::exact`, in all builds.

mod support;

use juror_testing::Build;
use juror_testing::exact::{ROWS, Row, Watched, program_says};
use support::Batch;

/// Counts without stopping; the first stop sets the count of those to pass.
fn run(row: &Row, build: &Build) {
    let point = match row.watched {
        Watched::Point => "break *point",
        Watched::Stores => "watch watched",
        Watched::Changes => "change watched",
    };
    let mut batch = Batch::new().command(point).command("run");
    if row.expected > 1 {
        batch = batch.command("continue 1000000000");
    } else {
        batch = batch.command("continue");
    }
    let executable = row.fixture().compile(build);
    let report = batch
        .command("info breakpoints")
        .run(executable, row.arguments);
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

/// No row without a test.
#[test]
fn all_rows_are_run() {
    let source = include_str!("exactly_once.rs");
    for row in ROWS.iter().filter(|row| row.watched == Watched::Point) {
        let call = format!("check(\"{}\")", row.program);
        assert!(source.contains(&call), "{}", row.program);
    }
}
