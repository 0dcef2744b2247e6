//! Trails: paths through a system, as counterexamples.

use crate::System;
use crate::system::{Fault, Participants, Step, Visitor};

/// One transition of a trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    /// The source state.
    pub from: Vec<u8>,
    /// Number of the successor.
    pub number: usize,
    /// The visible parts of the transition.
    pub steps: Vec<Step>,
}

/// A path through a system.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trail {
    /// The transitions in order.
    pub moves: Vec<Move>,
    /// The final state; `None` if the last step is faulty.
    pub end: Option<Vec<u8>>,
    /// Index of the first move of the cycle; `moves.len()` if the run stutters in its
    /// last state.
    pub cycle: Option<usize>,
}

impl Trail {
    /// Returns the trail through consecutive states; `fault` is the number of a faulty
    /// step after the last one.
    pub(crate) fn through<S: System>(
        system: &S,
        states: &[Vec<u8>],
        fault: Option<usize>,
    ) -> Trail {
        let mut trail = Trail::default();
        for pair in states.windows(2) {
            let [from, to] = pair else { continue };
            if let Some(number) = successor_number(system, from, to) {
                trail.push(system, from, number);
            }
        }
        match (states.last(), fault) {
            (Some(from), Some(number)) => trail.push(system, from, number),
            (end, _) => trail.end = end.cloned(),
        }
        trail
    }

    pub(crate) fn push<S: System>(&mut self, system: &S, from: &[u8], number: usize) {
        self.moves.push(Move {
            from: from.to_vec(),
            number,
            steps: system.steps(from, number),
        });
    }

    /// Returns all visible steps.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.moves.iter().flat_map(|step| &step.steps)
    }
}

/// Returns the number of a successor of a state.
pub(crate) fn successor_number<S: System>(system: &S, from: &[u8], to: &[u8]) -> Option<usize> {
    struct Finder<'a> {
        to: &'a [u8],
        number: usize,
        found: bool,
    }
    impl Visitor for Finder<'_> {
        fn next(&mut self, state: &[u8], _participants: Participants) -> bool {
            self.found = state == self.to;
            self.number += usize::from(!self.found);
            !self.found
        }
        fn fault(&mut self, _fault: Fault) -> bool {
            self.number += 1;
            true
        }
    }
    let mut finder = Finder {
        to,
        number: 0,
        found: false,
    };
    system.successors(&mut system.scratch(), from, &mut finder);
    finder.found.then_some(finder.number)
}

/// Returns the number of the step of a state with a given fault; `None` if the state
/// itself is faulty.
pub(crate) fn fault_number<S: System>(system: &S, from: &[u8], fault: &Fault) -> Option<usize> {
    struct Finder<'a> {
        wanted: &'a Fault,
        number: usize,
        found: bool,
    }
    impl Visitor for Finder<'_> {
        fn next(&mut self, _state: &[u8], _participants: Participants) -> bool {
            self.number += 1;
            true
        }
        fn fault(&mut self, fault: Fault) -> bool {
            self.found = fault == *self.wanted;
            self.number += usize::from(!self.found);
            !self.found
        }
    }
    let mut finder = Finder {
        wanted: fault,
        number: 0,
        found: false,
    };
    system.successors(&mut system.scratch(), from, &mut finder);
    finder.found.then_some(finder.number)
}
