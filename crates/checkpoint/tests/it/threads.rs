//! Going back in the middle of a run of several threads, whose locks, counters,
//! pipe and file must come out as if nothing had been.
//!
//! `JUROR_CHECKPOINTS=nightly` makes it a hundred runs.

use crate::support::{compile, restore, run_hits};
use juror_checkpoint::{Checkpoint, Settings};
use juror_debuggee::StopEvent;
use juror_testing::Numbers;

const SOURCE: &str = include_str!("../../../debuggee/tests/programs/kept.c");

#[test]
fn threads_go_on_as_if_nothing_had_been() {
    let runs = match std::env::var("JUROR_CHECKPOINTS").as_deref() {
        Ok("nightly") => 100,
        _ => 6,
    };
    let program = compile(SOURCE);
    for seed in 0..runs {
        let mut random = Numbers(seed + 1);
        let mut debuggee = program.start_at("check", &["60", "shared"]);
        // The workers check some 3500 times together.
        let before = 1 + random.below(2000);
        assert_eq!(run_hits(&mut debuggee, before), None);
        let checkpoint = Checkpoint::take(&mut debuggee, &Settings::default(), None).unwrap();
        for _ in 0..3 {
            run_hits(&mut debuggee, 1 + random.below(1500));
            restore(&checkpoint, &mut debuggee);
        }
        let end = run_hits(&mut debuggee, 0);
        let said = program.output();
        assert_eq!(
            end,
            Some(StopEvent::Exited { status: 0 }),
            "seed {seed}: {said}"
        );
        assert!(said.ends_with("signals 1 same 1\n"), "seed {seed}: {said}");
    }
}
