//! Random programs end under the machine as they mean: in a search of its states beside the
//! specification, and in a search of schedules, run by run, without those that differ in the
//! order of independent steps only.

use super::{Case, End, Instruction, explore, is_asked_for, programs};
use crate::explore::kinds;
use crate::explore::meaning::{Meaning, Statement};
use crate::explore::program::Program;
use crate::explore::runs::{options, search};
use crate::{Exhaustive, Options};
use std::collections::BTreeSet;
use std::vec::Vec;
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
    let counts = compare(0..30, 2, 2);
    println!("{counts:?}");
    assert!(counts.programs > 25);
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
        let backtracking = search(program, options(), Exhaustive::backtracking(), runs_max);
        assert!(
            backtracking.is_whole && backtracking.ends == full.ends,
            "{name}"
        );
        assert!(backtracking.runs <= reduced.runs, "{name}");
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

/// With time-outs, spurious wake-ups and all operations: the search of schedules, run by run,
/// ends in all the ways of the search of states.
#[test]
fn the_reduced_search_finds_all_ends_of_states() {
    let programs = [
        ("wait", programs::plain_wait()),
        ("masks", programs::masks()),
        ("wake op", programs::wake_op()),
        ("inheriting", programs::inheriting(Some(10))),
        ("robust", programs::robust(false)),
        ("crossing", programs::crossing()),
        ("crossing, timed", programs::crossing_timed()),
        ("timed", programs::timed()),
        ("woken reader", programs::woken_reader()),
        ("late exchange", programs::late_exchange()),
        ("spinning", programs::spinning(Instruction::Turn)),
        ("lost wake-up", kinds::lost_wake_up()),
        ("without loop", kinds::wait_without_loop()),
        ("double-checked", kinds::double_checked()),
        ("time-out first", kinds::time_out_first()),
        ("gate", kinds::gate()),
    ];
    for (name, mut program) in programs {
        program.results = (0..6).collect();
        // With spurious wake-ups these have thousands of schedules.
        let large = [
            "lost wake-up",
            "without loop",
            "crossing",
            "crossing, timed",
            "timed",
        ];
        let is_large = large.contains(&name);
        let most = u32::from(!is_large || is_asked_for(&["threads", "all"]));
        for spurious in 0..=most {
            let case = Case {
                spurious,
                ..Case::new(program.clone())
            };
            let states = explore(&case).unwrap();
            let options = Options {
                spurious,
                share: u32::MAX,
                ..options()
            };
            let searched = search(&program, options, Exhaustive::reduced(), RUNS_MAX);
            println!(
                "{name}, {spurious}: {} states, {} runs and {} known ones, {} ends",
                states.states,
                searched.runs,
                searched.known,
                states.ends.len()
            );
            let (found, expected) = (as_seen(&searched.ends), as_seen(&states.ends));
            if searched.is_whole {
                assert_eq!(found, expected, "{name}, {spurious}");
            } else {
                assert!(found.is_subset(&expected), "{name}, {spurious}");
            }
        }
    }
}

/// A crash ends all threads wherever they are: of it only that it happened is the same in all
/// orders of independent steps.
fn as_seen(ends: &BTreeSet<(End, Vec<u32>)>) -> BTreeSet<(End, Vec<u32>)> {
    let seen = |(end, results): &(End, Vec<u32>)| match end {
        End::Crash => (End::Crash, Vec::new()),
        _ => (*end, results.clone()),
    };
    ends.iter().map(seen).collect()
}
