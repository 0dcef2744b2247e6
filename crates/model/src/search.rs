//! The search algorithms.

use crate::System;
use crate::breadth::{Options, breadth_first};
use crate::compact::compact;
use crate::depth::depth_first;
use crate::parallel::parallel;
use crate::report::Report;

/// A search algorithm. All find the same states; they differ in the order, in what is
/// stored for a state, and in the number of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Search {
    /// Breadth-first; trails are shortest.
    Breadth,
    /// Depth-first.
    Depth,
    /// As [`Search::Breadth`], with a number of threads.
    Parallel(usize),
    /// As [`Search::Breadth`], but stores only a hash of 8 bytes for each state. A search
    /// without a finding is incomplete.
    Compact,
}

/// Searches all states for errors. `go_on` is called from time to time with the number of
/// expanded and of known states; the search stops if it returns false.
pub fn search<S: System>(
    system: &S,
    kind: Search,
    options: &Options,
    go_on: &mut dyn FnMut(u64, u64) -> bool,
) -> Report {
    match kind {
        Search::Breadth => breadth_first(system, options, go_on),
        Search::Depth => depth_first(system, options, go_on),
        Search::Parallel(jobs) => parallel(system, jobs, options, go_on),
        Search::Compact => compact(system, options, go_on),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::Toy;
    use crate::{Cut, Finding, Verdict};

    const ALL: [Search; 5] = [
        Search::Breadth,
        Search::Depth,
        Search::Parallel(1),
        Search::Parallel(3),
        Search::Compact,
    ];

    fn run(toy: &Toy, kind: Search, options: &Options) -> Report {
        search(toy, kind, options, &mut |_, _| true)
    }

    #[test]
    fn all_find_the_same_states() {
        for kind in ALL {
            let report = run(&Toy::ring(5000), kind, &Options::default());
            assert_eq!(
                (report.states, report.transitions),
                (5000, 10_001),
                "{kind:?}"
            );
            let expected = match kind {
                Search::Compact => (Verdict::Incomplete, Some(Cut::Hashes)),
                _ => (Verdict::Holds, None),
            };
            assert_eq!((report.verdict(), report.cut), expected, "{kind:?}");
        }
    }

    #[test]
    fn all_find_what_is_wrong_with_a_way_to_it() {
        let stuck = Toy {
            stuck: Some(30),
            ..Toy::ring(100)
        };
        let faulty = Toy {
            fault: Some(70),
            ..Toy::ring(100)
        };
        for kind in ALL {
            let (finding, trail) = run(&stuck, kind, &Options::default()).finding.unwrap();
            assert_eq!(finding, Finding::Deadlock, "{kind:?}");
            assert_eq!(
                trail.end.as_deref(),
                Some(&30_u32.to_le_bytes()[..]),
                "{kind:?}"
            );
            let (finding, trail) = run(&faulty, kind, &Options::default()).finding.unwrap();
            assert!(matches!(finding, Finding::Fault(_)), "{kind:?}");
            assert_eq!(trail.end, None, "{kind:?}");
            if kind != Search::Depth {
                assert_eq!(trail.moves.len(), 30, "{kind:?}");
            }
        }
    }

    #[test]
    fn all_errors_of_runs_as_long_as_allowed_are_found() {
        // Both 30 and 70 are 30 steps away, and the path to one is explored first.
        for stuck in [30, 70] {
            let toy = Toy {
                stuck: Some(stuck),
                ..Toy::ring(100)
            };
            let of_depth = |depth_max| Options {
                depth_max,
                ..Options::default()
            };
            for kind in ALL.into_iter().filter(|kind| *kind != Search::Depth) {
                let verdict = |depth_max| run(&toy, kind, &of_depth(depth_max)).verdict();
                assert_eq!(verdict(30), Verdict::Violated, "{stuck} {kind:?}");
                assert_eq!(verdict(29), Verdict::Incomplete, "{stuck} {kind:?}");
            }
        }
    }

    #[test]
    fn a_limit_that_all_runs_keep_changes_nothing() {
        // Depth-first, the states are first reached by up to 999 steps.
        let toy = Toy::ring(1000);
        for depth_max in [500, 501, 700, 998, 999, 1000] {
            let options = Options {
                depth_max,
                ..Options::default()
            };
            for kind in ALL.into_iter().filter(|kind| *kind != Search::Compact) {
                let report = run(&toy, kind, &options);
                let counts = (report.states, report.transitions, report.cut);
                assert_eq!(counts, (1000, 2001, None), "{kind:?} {depth_max}");
            }
        }
    }

    #[test]
    fn all_runs_of_so_many_steps_are_looked_at_in_depth() {
        // The path upwards is explored first, to its end; the error is downwards.
        for fault in [70, 80, 95] {
            let toy = Toy {
                fault: Some(fault),
                ..Toy::ring(100)
            };
            for depth_max in [4, 19, 20, 29, 30, 60] {
                let options = Options {
                    depth_max,
                    ..Options::default()
                };
                let [breadth, depth] = [Search::Breadth, Search::Depth]
                    .map(|kind| run(&toy, kind, &options).verdict());
                assert_eq!(depth, breadth, "{fault} {depth_max}");
            }
        }
    }

    #[test]
    fn none_says_that_what_was_cut_short_holds() {
        let toy = Toy::ring(1000);
        let few_states = Options {
            states_max: 500,
            ..Options::default()
        };
        let few_steps = Options {
            depth_max: 100,
            ..Options::default()
        };
        for kind in ALL {
            for options in [few_states, few_steps] {
                let report = run(&toy, kind, &options);
                assert_eq!(
                    report.verdict(),
                    Verdict::Incomplete,
                    "{kind:?} {options:?}"
                );
            }
            let stopped = search(&toy, kind, &Options::default(), &mut |_, _| false);
            assert_eq!(stopped.cut, Some(Cut::Interrupted), "{kind:?}");
        }
    }
}
