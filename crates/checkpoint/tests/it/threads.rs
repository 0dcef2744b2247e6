//! Going back in the middle of a run of several threads, whose locks, counters,
//! pipe and file must come out as if nothing had been.
//!
//! `JUROR_CHECKPOINTS=nightly` makes it a hundred runs.

use crate::support::{Program, compile, restore, run_hits};
use juror_checkpoint::{Checkpoint, Settings};
use juror_debuggee::{Debuggee, StopEvent};
use juror_testing::{Numbers, may_choose_thread_numbers};

const SOURCE: &str = include_str!("../../../debuggee/tests/programs/kept.c");

#[test]
fn threads_go_on_as_if_nothing_had_been() {
    let runs = match std::env::var("JUROR_CHECKPOINTS").as_deref() {
        Ok("nightly") => 100,
        _ => 6,
    };
    let program = compile(SOURCE);
    if !may_choose_thread_numbers() {
        assert_refused_and_unharmed(&program);
    }
    for seed in 0..runs {
        let mut random = Numbers(seed + 1);
        let started = program.start_keeping_numbers_at("check", &["60", "shared"]);
        let Some(mut debuggee) = started else {
            return;
        };
        // The workers check some 3500 times together.
        let before = 1 + random.below(2000);
        assert_eq!(run_hits(&mut debuggee, before), None);
        let checkpoint = Checkpoint::take(&mut debuggee, &Settings::default(), None).unwrap();
        for _ in 0..3 {
            run_hits(&mut debuggee, 1 + random.below(1500));
            restore(&checkpoint, &mut debuggee);
        }
        assert_ends_whole(&program, &mut debuggee, &format!("seed {seed}"));
    }
}

#[track_caller]
fn assert_ends_whole(program: &Program, debuggee: &mut Debuggee, run: &str) {
    let end = run_hits(debuggee, 0);
    let said = program.output();
    assert_eq!(end, Some(StopEvent::Exited { status: 0 }), "{run}: {said}");
    assert!(said.ends_with("signals 1 same 1\n"), "{run}: {said}");
}

/// Outside of a PID namespace an ordinary user gets no checkpoint of threads; the program goes
/// on.
#[track_caller]
fn assert_refused_and_unharmed(program: &Program) {
    let mut debuggee = program.start_at("check", &["60", "shared"]);
    assert_eq!(run_hits(&mut debuggee, 1000), None);
    let refused = Checkpoint::take(&mut debuggee, &Settings::default(), None).map(drop);
    let message = refused.unwrap_err().to_string();
    let reason = "threads, and this user may not give a thread its old number";
    assert!(message.contains(reason), "{message}");
    assert!(message.contains("set checkpoint-namespace on"), "{message}");
    assert_ends_whole(program, &mut debuggee, "refused");
}
