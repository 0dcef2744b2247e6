//! The way to what was found: states and the steps between them.

use crate::System;
use crate::system::{Fault, Participants, Step, Visitor};

/// One step of a trail, from a state to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    /// The state it begins in.
    pub from: Vec<u8>,
    /// Which of its successors is taken.
    pub number: usize,
    /// What happens, in words.
    pub steps: Vec<Step>,
}

/// A way through a system.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trail {
    /// The steps in their order.
    pub moves: Vec<Move>,
    /// The state at the end; nothing if the last step goes wrong.
    pub end: Option<Vec<u8>>,
    /// The first move of the part that goes round for ever; `moves.len()` when
    /// the run stays at its end.
    pub cycle: Option<usize>,
}

impl Trail {
    /// A trail through states that follow each other, the last one with a step
    /// that goes wrong if `fault` is its number.
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

    /// All visible steps.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.moves.iter().flat_map(|step| &step.steps)
    }
}

/// Which successor of a state another one is.
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

/// Which step of a state goes wrong in a way; nothing when the state itself is
/// wrong.
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
