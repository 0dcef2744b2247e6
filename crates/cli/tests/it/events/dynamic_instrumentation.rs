//! Dynamic instrumentation: events that a property does not need in its state have no
//! breakpoints, and do not stop the program.

use crate::support::{Batch, Counts, Report, juror, program, property_file};
use juror_testing::{Build, Fixture};
use serde_json::Value;

const PHASES: &str = "
    property phases
    event opened = before open_phase(n)
    event closed = before close_phase
    event tick   = before tick(n)
    event ticked = after  tick(n) returns result
    var ticks = 0
    state init accepting { on opened -> open }
    state open accepting {
        on tick { ticks += 1 }
        on ticked
        on closed -> init
    }";

/// The events whose breakpoints are planted, as `info breakpoints` says.
fn planted(report: &Report, command: &str) -> Vec<String> {
    let points = report.outcome(command).as_array().expect("a list");
    points
        .iter()
        .filter(|point| point["owner"] == "monitor")
        .filter(|point| {
            let locations = point["locations"].as_array().expect("a list");
            assert_eq!(point["enabled"], !locations.is_empty(), "{point}");
            !locations.is_empty()
        })
        .map(|point| {
            // `phases: tick = before tick`
            let words = point["for_what"].as_str().expect("text");
            let words = words.split(": ").nth(1).expect("the property's name");
            words.split(' ').next().expect("the event").to_owned()
        })
        .collect()
}

#[test]
fn the_program_is_stopped_only_for_calls_that_the_state_needs() {
    for build in Build::all() {
        let report = Batch::watching(PHASES).run(program("phases.c").compile(&build), &[]);
        report.assert_code(0);
        let needed = report.printed("between");
        assert_eq!(needed, 12, "{build}");
        let check = |event: &str, occurrences: u64, stops: u64| {
            let expected = Counts { occurrences, stops };
            assert_eq!(report.counts(event), expected, "{build}: {event}");
        };
        check("opened", 2, 2);
        check("closed", 2, 2);
        check("tick", needed, needed);
        // A call and its return.
        check("ticked", needed, 2 * needed);
    }
}

#[test]
fn breakpoints_follow_the_state() {
    for build in Build::all() {
        let report = Batch::watching(PHASES)
            .command("break open_phase")
            .command("break close_phase")
            .command("run")
            // Before the first opening: the event is this very instruction.
            .command("info breakpoints")
            .command("info monitors")
            .command("continue")
            .command("info  breakpoints")
            .command("info  monitors")
            .command("continue")
            .command("info   breakpoints")
            .run(program("phases.c").compile(&build), &[]);
        let stops: Vec<&Value> = report.kind("stop").collect();
        assert_eq!(stops.len(), 3, "{build}: {}", report.all());
        // juror's own breakpoint stands after the prologue.
        assert_eq!(
            planted(&report, "info breakpoints"),
            ["closed", "tick", "ticked"]
        );
        assert_eq!(planted(&report, "info  breakpoints"), ["opened"]);
        assert_eq!(
            planted(&report, "info   breakpoints"),
            ["closed", "tick", "ticked"]
        );
        let needed = &report.outcome("info monitors")[0]["needed"];
        assert_eq!(*needed, serde_json::json!(["closed", "tick", "ticked"]));
        let needed = &report.outcome("info  monitors")[0]["needed"];
        assert_eq!(*needed, serde_json::json!(["opened"]));
    }
}

#[test]
fn nothing_but_the_first_event_is_watched_at_the_start() {
    let executable = Fixture::example("queue").compile_plain();
    let report = Batch::watching_file(property_file("examples/queue/queue.prop"))
        .command("start")
        .command("info breakpoints")
        .run(executable, &[]);
    assert_eq!(planted(&report, "info breakpoints"), ["new"]);
}

#[test]
fn a_property_that_is_decided_watches_nothing_more() {
    let property = "
        property first_tick
        event tick = before tick(n)
        state init accepting { on tick -> done }
        state done accepting";
    for build in Build::all() {
        let report = Batch::watching(property).run(program("phases.c").compile(&build), &[]);
        report.assert_code(0);
        let expected = Counts {
            occurrences: 1,
            stops: 1,
        };
        assert_eq!(report.counts("tick"), expected, "{build}");
    }
}

/// What makes the end of a call needed may happen in that very call: an access of its
/// first instruction, a system call, a signal. It has begun before.
#[test]
fn the_call_in_which_its_end_becomes_needed_counts() {
    let source = "
        #include <signal.h>
        #include <unistd.h>
        #include <sys/syscall.h>
        long read_once = 5, stored;
        static void handle(int signal) { (void)signal; }
        __attribute__((noinline)) long look(void) {
            long now = read_once;
            stored = now;
            return now + 2;
        }
        __attribute__((noinline)) long ask(void) { return syscall(SYS_getppid) > 0; }
        __attribute__((noinline)) int tell(void) {
            int failed = raise(SIGUSR1);
            stored += failed;
            return failed;
        }
        int main(void) {
            signal(SIGUSR1, handle);
            long sum = look();
            sum += ask();
            sum += tell();
            return sum != 8;
        }";
    for (event, function) in [
        ("read read_once", "look"),
        ("entry getppid", "ask"),
        ("signal SIGUSR1", "tell"),
    ] {
        let property = format!(
            "property ends
             event inside = {event}
             event over = after {function}() returns result
             state init non-accepting {{ on inside -> waits }}
             state waits non-accepting {{ on over -> done }}
             state done accepting"
        );
        for build in Build::all() {
            let executable = Fixture::c("ends", source).compile(&build);
            let report = Batch::watching(&property).run(executable, &[]);
            report.assert_code(0);
            assert_eq!(report.occurrences("over"), 1, "{function} {build}");
        }
    }
}

#[test]
fn two_properties_need_their_events_independently() {
    let second = "
        property all_ticks
        event tick_always = before tick(n)
        state init accepting { on tick_always }";
    let executable = program("phases.c").compile_plain();
    let report = Batch::watching(PHASES)
        .property(second)
        .run(executable, &[]);
    report.assert_code(0);
    assert_eq!(report.occurrences("tick_always"), 2012);
    assert_eq!(report.occurrences("tick"), 12);
    assert_eq!(report.occurrences("ticked"), 12);
}

#[test]
fn what_is_planted_is_shown_at_the_prompt() {
    let executable = Fixture::example("queue").compile_plain();
    let output = juror(&["run", "--color=never", "--property"])
        .args([property_file("examples/queue/queue.prop")])
        .args([executable])
        .input("info breakpoints\nquit\n")
        .run();
    let line = |event: &str| {
        let found = output.stdout.lines().find(|line| line.contains(event));
        found.unwrap_or_else(|| panic!("no `{event}` in {}", output.stdout))
    };
    // At the overflow: one queue may still be filled, others made.
    assert!(line("letter = before queue_push_letter").contains("queue.c:"));
    assert!(line("new = after queue_new").contains("queue.c:"));
}
