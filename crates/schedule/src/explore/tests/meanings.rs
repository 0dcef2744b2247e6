//! Random programs end under the machine as they mean: in a search of its states beside the
//! specification, and in a search of schedules, run by run, without those that differ in the
//! order of independent steps only.

use super::{Case, explore, is_asked_for};
use crate::explore::kinds;
use crate::explore::meaning::{Meaning, Statement};
use crate::explore::program::Program;
use crate::explore::runs::{options, search};
use crate::{Exhaustive, Options};
use std::{format, println};

/// A search of more runs is left out.
const RUNS_MAX: u64 = 20_000;

#[derive(Debug, Default)]
struct Counts {
    programs: u64,
    /// Programs that need more runs than there may be.
    too_large: u64,
    runs: u64,
    known: u64,
    states: usize,
    ends: usize,
}

/// Compares the ends of random programs.
fn compare(seeds: std::ops::Range<u64>, threads: usize, blocks: usize) -> Counts {
    let mut counts = Counts::default();
    for seed in seeds {
        let meaning = Meaning::random(seed, threads, blocks);
        let program = meaning.program();
        let expected = meaning.ends();
        let chooses = Options {
            chooses_woken: true,
            ..options()
        };
        let searched = search(&program, chooses, Exhaustive::reduced(), RUNS_MAX);
        counts.runs += searched.runs;
        counts.known += searched.known;
        if searched.is_whole {
            counts.programs += 1;
            counts.ends += expected.len();
            assert_eq!(searched.ends, expected, "seed {seed}: {meaning:#?}");
        } else {
            counts.too_large += 1;
            let is_possible = searched.ends.is_subset(&expected);
            assert!(
                is_possible,
                "seed {seed}: {meaning:#?}: {:?}",
                searched.ends
            );
        }
        match explore(&Case::new(program)) {
            // Who came first is woken first there.
            Ok(explored) if signals(&meaning) => {
                counts.states += explored.states;
                assert!(
                    explored.ends.is_subset(&expected),
                    "seed {seed}: {meaning:#?}"
                );
            }
            Ok(explored) => {
                counts.states += explored.states;
                assert_eq!(explored.ends, expected, "seed {seed}: {meaning:#?}");
            }
            Err(violation) => panic!("seed {seed}: {meaning:#?}: {violation}"),
        }
    }
    counts
}

fn signals(meaning: &Meaning) -> bool {
    let mut statements = meaning.threads.iter().flatten();
    statements.any(|statement| matches!(statement, Statement::Signal(_)))
}

#[test]
fn random_programs_end_as_they_mean() {
    let counts = compare(0..50, 2, 2);
    println!("{counts:?}");
    assert!(counts.programs > 40);
    if is_asked_for(&["threads", "all"]) {
        println!("{:?}", compare(1_000..2_000, 2, 3));
        println!("{:?}", compare(2_000..2_300, 3, 1));
    }
}

/// The search that leaves out what differs in the order of independent steps only ends in all
/// the ways of the whole one.
#[test]
fn the_reduced_search_finds_what_the_full_one_does() {
    let is_whole = is_asked_for(&["threads", "all"]);
    let (seeds, runs_max) = if is_whole {
        (200, 200_000)
    } else {
        (20, 5_000)
    };
    let mut compared = 0;
    let mut check = |name: &str, program: &Program| {
        let full = search(program, options(), Exhaustive::full(), runs_max);
        let reduced = search(program, options(), Exhaustive::reduced(), runs_max);
        if !full.is_whole {
            return;
        }
        compared += 1;
        println!(
            "{name}: {} runs, {} and {} known ones reduced, ends {:?}",
            full.runs, reduced.runs, reduced.known, reduced.ends
        );
        assert!(reduced.is_whole, "{name}");
        assert_eq!(full.ends, reduced.ends, "{name}");
        let bounded = |preemptions| {
            let bounded = search(
                program,
                options(),
                Exhaustive::bounded(preemptions),
                runs_max,
            );
            assert!(bounded.is_whole && bounded.ends.is_subset(&full.ends));
            bounded
        };
        let [none, one, two] = [0, 1, 2].map(bounded);
        assert!(none.runs <= one.runs && one.runs <= two.runs && two.runs <= full.runs);
        assert!(one.ends.is_subset(&two.ends));
    };
    for seed in 0..seeds {
        let meaning = Meaning::random(seed, 2, 1);
        check(&format!("seed {seed}"), &meaning.program());
    }
    check("time-out first", &kinds::time_out_first());
    assert!(compared >= 3, "{compared} programs are small enough");
}
