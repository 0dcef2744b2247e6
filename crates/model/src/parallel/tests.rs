//! Parallel search finds what one thread finds, in large and in small layers.

use super::*;
use crate::breadth::breadth_first;
use crate::search::{Search, search};
use crate::system::{Change, Fault, Participants, Step, System, Visitor};
use crate::{Cut, Finding, Verdict};

/// Points of a cube; each step leads one further from the origin. So there are narrow and
/// wide layers, and every state has up to three predecessors.
struct Cube {
    size: u8,
    /// Steps to these points are faulty.
    faults: Vec<[u8; 3]>,
    /// These points have no successors.
    stuck: Vec<[u8; 3]>,
}

impl Cube {
    fn new(size: u8) -> Cube {
        Cube {
            size,
            faults: Vec::new(),
            stuck: Vec::new(),
        }
    }
}

impl System for Cube {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial(&self, (): &mut (), visitor: &mut impl Visitor) {
        visitor.next(&[0; 3], Participants::default());
    }

    fn successors(&self, (): &mut (), state: &[u8], visitor: &mut impl Visitor) {
        if self.stuck.iter().any(|point| point == state) {
            return;
        }
        for axis in 0..3 {
            let mut next: [u8; 3] = state.try_into().unwrap();
            next[axis] += 1;
            let goes_on = match next[axis] < self.size {
                false => true,
                true if self.faults.contains(&next) => {
                    visitor.fault(Fault::new("cube", "wrong point", None))
                }
                true => visitor.next(&next, Participants::one(axis)),
            };
            if !goes_on {
                return;
            }
        }
    }

    fn may_end(&self, (): &mut (), state: &[u8]) -> bool {
        state.iter().all(|at| at + 1 == self.size)
    }

    fn steps(&self, _state: &[u8], _number: usize) -> Vec<Step> {
        Vec::new()
    }

    fn actors(&self, _state: &[u8]) -> Vec<String> {
        Vec::new()
    }

    fn values(&self, _state: &[u8]) -> Vec<Change> {
        Vec::new()
    }
}

fn run(cube: &Cube, jobs: usize, options: &Options) -> Report {
    search(cube, Search::Parallel(jobs), options, &mut |_, _| true)
}

#[test]
fn threads_count_what_one_thread_counts() {
    // The widest layer of the larger cube has more than two thousand states.
    for size in [20, 60] {
        let cube = Cube::new(size);
        let one = breadth_first(&cube, &Options::default(), &mut |_, _| true);
        assert_eq!(one.states, u64::from(size).pow(3));
        for jobs in [1, 2, 3, 7] {
            let report = run(&cube, jobs, &Options::default());
            let counts = |report: &Report| (report.states, report.transitions, report.depth);
            assert_eq!(counts(&report), counts(&one), "{size} {jobs}");
            assert_eq!(report.verdict(), Verdict::Holds);
        }
    }
}

#[test]
fn a_search_that_is_cut_short_ends_where_that_of_one_thread_does() {
    let cube = Cube::new(60);
    for depth_max in [10, 80, 81, 82, 120, 176, 177] {
        let options = Options {
            depth_max,
            ..Options::default()
        };
        let one = breadth_first(&cube, &options, &mut |_, _| true);
        for jobs in [1, 2, 3] {
            let report = run(&cube, jobs, &options);
            let counts = |report: &Report| (report.states, report.transitions, report.cut);
            assert_eq!(counts(&report), counts(&one), "{jobs}");
            let cut = (depth_max < 177).then_some(Cut::Depth { limit: depth_max });
            assert_eq!((report.cut, report.depth), (cut, depth_max), "{jobs}");
        }
    }
    for states_max in [500, 100_000, 215_999, 216_000] {
        let options = Options {
            states_max,
            ..Options::default()
        };
        for jobs in [1, 2, 3] {
            let report = run(&cube, jobs, &options);
            let cut = (states_max < 216_000).then_some(Cut::States { limit: states_max });
            assert_eq!(report.cut, cut, "{jobs}");
        }
    }
}

#[test]
fn errors_are_found_in_their_layer() {
    let stuck = Cube {
        stuck: vec![[40, 3, 37]],
        ..Cube::new(60)
    };
    let faulty = Cube {
        faults: vec![[59, 30, 1], [30, 30, 30], [59, 58, 57]],
        ..Cube::new(60)
    };
    for jobs in [1, 2, 3] {
        let report = run(&stuck, jobs, &Options::default());
        let (finding, trail) = report.finding.unwrap();
        assert_eq!((finding, report.depth), (Finding::Deadlock, 80));
        assert_eq!(trail.end.as_deref(), Some(&[40, 3, 37][..]));
        assert_eq!(trail.moves.len(), 80);
        let report = run(&faulty, jobs, &Options::default());
        let (finding, trail) = report.finding.unwrap();
        assert!(matches!(finding, Finding::Fault(_)));
        assert_eq!((report.depth, trail.moves.len()), (89, 90));
        // All steps to those points are faulty, and the search does not continue behind
        // them.
        let all = Options {
            all: true,
            ..Options::default()
        };
        let report = run(&faulty, jobs, &all);
        assert_eq!(report.states, 216_000 - 3);
    }
}

#[test]
fn a_panic_of_a_thread_is_one_of_the_search() {
    struct Panics(Cube);
    impl System for Panics {
        type Scratch = ();
        fn scratch(&self) {}
        fn initial(&self, scratch: &mut (), visitor: &mut impl Visitor) {
            self.0.initial(scratch, visitor);
        }
        fn successors(&self, scratch: &mut (), state: &[u8], visitor: &mut impl Visitor) {
            assert_ne!(state, [30, 30, 30], "the point that is not there");
            self.0.successors(scratch, state, visitor);
        }
        fn may_end(&self, scratch: &mut (), state: &[u8]) -> bool {
            self.0.may_end(scratch, state)
        }
        fn steps(&self, _state: &[u8], _number: usize) -> Vec<Step> {
            Vec::new()
        }
        fn actors(&self, _state: &[u8]) -> Vec<String> {
            Vec::new()
        }
        fn values(&self, _state: &[u8]) -> Vec<Change> {
            Vec::new()
        }
    }
    for jobs in [2, 3] {
        let cube = Panics(Cube::new(60));
        let found = std::panic::catch_unwind(|| {
            let kind = Search::Parallel(jobs);
            search(&cube, kind, &Options::default(), &mut |_, _| true)
        });
        assert!(found.is_err());
    }
}
