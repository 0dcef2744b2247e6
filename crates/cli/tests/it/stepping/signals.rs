//! Signals that arrive while a program is stepped.

use crate::support::dialog::dialog;
use crate::support::printed::plain_builds;
use crate::support::{Batch, program};
use juror_testing::{Build, Fixture, Language, Optimization};

/// `signals.c`, stopped at the line where it sends itself its first signal.
fn sending() -> Batch {
    Batch::new()
        .command("handle SIGUSR1 nostop noprint")
        .command("tbreak send")
        .command("run")
        // Its arguments are there then.
        .command("next")
}

fn signals() -> std::path::PathBuf {
    program("signals.c").compile(&Build::plain(Language::C))
}

#[test]
fn a_step_by_instruction_leads_into_the_handler() {
    let report = sending()
        .command("break on_signal")
        .command("stepi 40")
        .command("info breakpoints")
        .command("finish")
        .command("print first")
        .run(signals(), &[]);
    let points = report.outcome("info breakpoints");
    assert_eq!(points[0]["hits"], 1, "{}", report.all());
    assert_eq!(
        report.outcome("print first")["value"],
        "1",
        "{}",
        report.all()
    );
}

#[test]
fn a_step_by_line_runs_through_the_handler() {
    for step in ["next", "step"] {
        let report = sending()
            .command(&format!("{step} 1"))
            .command("print first")
            .run(signals(), &[]);
        assert_eq!(
            report.outcome("print first")["value"],
            "1",
            "{}",
            report.all()
        );
        let stop = report.kind("stop").last().expect("a stop");
        assert_eq!(stop["location"]["function"], "send", "{step}");
        assert_eq!(stop["location"]["line"], 23, "{step}");
    }
}

#[test]
fn a_stop_in_a_library_shows_the_nearest_caller_whose_source_is_there() {
    let source = include_str!("../../programs/crash.c");
    let line = source.lines().position(|line| line.contains("abort();"));
    let line = line.expect("the line is there") + 1;
    let plain = Build::plain(Language::C);
    let optimized = Build {
        optimization: Optimization::Full,
        ..plain
    };
    for build in [plain, optimized] {
        let crash = program("crash.c").compile(&build);
        let report = Batch::new()
            .command("handle SIGUSR1 nostop noprint")
            .command("run")
            .run(crash, &["abort"]);
        let stop = report.kind("stop").next().expect("a stop");
        let frame = &stop["source_frame"];
        assert_eq!(frame["location"]["function"], "main", "{}", report.all());
        assert_eq!(frame["location"]["line"], line, "{}", report.all());
        assert_eq!(stop["source"]["current"], line, "{}", report.all());
    }
}

#[test]
fn a_step_goes_on_where_a_handler_jumps_to() {
    let source = include_str!("../../programs/handler_jumps.c");
    let line = |words: &str| {
        let found = source.lines().position(|line| line.contains(words));
        found.expect("the line is there") + 1
    };
    let jumping = || program("handler_jumps.c").compile(&Build::plain(Language::C));
    let next_from = |place: usize, words: &str| {
        let report = Batch::new()
            .command("handle SIGSEGV nostop noprint")
            .command(&format!("break {place}"))
            .command("run")
            .command("delete")
            .command("next")
            .run(jumping(), &[]);
        let stop = report.kind("stop").last().expect("a stop");
        assert_eq!(stop["location"]["line"], line(words), "{}", report.all());
    };
    next_from(line("/* in its line */"), "/* and here */");
    next_from(line("poke(0);"), "/* goes on here */");
    next_from(line("/* faults */"), "/* goes on here */");

    // Neither there nor back to the caller: it ends where the jump leads.
    let report = Batch::new()
        .command("handle SIGSEGV nostop noprint")
        .command("break poke")
        .command("run")
        .command("delete")
        .command(&format!("advance {}", line("/* the end */")))
        .run(jumping(), &[]);
    let stop = report.kind("stop").last().expect("a stop");
    let here = stop["location"]["function"].as_str();
    assert_eq!(here, Some("main"), "{}", report.all());
}

const TRAPS: &str = "
int counter;
void once(void)
{
    counter++;
    __asm__ volatile(\"here: int3\\n nop\");
    counter++;
}
void twice(void)
{
    counter++;
    __asm__ volatile(\"there: .byte 0xcd, 0x03\\n nop\");
    counter++;
}
int main(void)
{
    once();
    once();
    twice();
    return counter;
}";

/// As in gdb: the trap is the breakpoint's while there is one.
#[test]
fn a_breakpoint_at_a_trap_of_the_programs_own_is_one_stop() {
    for build in plain_builds(Language::C) {
        let executable = Fixture::c("traps", TRAPS).compile(&build);
        for (commands, expected) in [
            (
                &[
                    "break *here",
                    "run",
                    "print counter",
                    "continue",
                    "print counter",
                    "continue",
                ][..],
                &["", "Breakpoint 1", "1", "Breakpoint 1", "3", "SIGTRAP"][..],
            ),
            (
                &[
                    "break *there",
                    "handle SIGTRAP nostop noprint",
                    "run",
                    "print counter",
                    "continue",
                ],
                &["", "", "Breakpoint 1", "5", "status 6"],
            ),
            (
                &[
                    "break *here",
                    "run",
                    "stepi",
                    "print counter",
                    "x/i $pc",
                    "delete",
                    "continue",
                    "print counter",
                ],
                &["", "Breakpoint 1", "", "1", "nop", "", "SIGTRAP", "3"],
            ),
            (
                &["break *here", "run", "next", "print counter", "info line"],
                &["", "Breakpoint 1", "", "1", "line 7"],
            ),
            // Without a breakpoint, or with one at another instruction, it is the signal.
            (&["run", "print counter"], &["SIGTRAP", "1"]),
            (
                &["break once", "run", "continue", "print counter"],
                &["", "Breakpoint 1", "SIGTRAP", "1"],
            ),
            (
                &[
                    "break *here if counter == 3",
                    "run",
                    "continue",
                    "print counter",
                    "continue",
                ],
                &["", "SIGTRAP", "Breakpoint 1", "3", "SIGTRAP"],
            ),
        ] {
            let mut typed = commands.to_vec();
            typed.push("kill");
            let answers = dialog(&executable, &typed);
            for (number, expected) in expected.iter().enumerate() {
                let answer = &answers[number];
                let what = commands[number];
                assert!(
                    answer.contains(expected),
                    "{build}: {what}: {answer}; {answers:?}"
                );
            }
        }
    }
}
