//! The steps by which threads that are under a control communicate, in their order.

use std::collections::VecDeque;

/// The maximum number of steps that are kept: the last ones.
const STEPS_MAX: usize = 10_000;

/// A step of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommunicationStep {
    /// The number of the thread, from 1 in the order in which the threads began.
    pub thread: u32,
    /// The number of schedule points before it.
    pub points: u64,
    /// The kind.
    pub kind: CommunicationKind,
    /// The return address of the function that is called; 0 if there is none.
    pub caller: u64,
}

/// The kind of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommunicationKind {
    /// The thread begins.
    Begins,
    /// It calls a function that synchronises threads.
    Calls {
        /// The function.
        function: u64,
        /// Its first argument.
        object: u64,
    },
    /// It makes a system call.
    SystemCall {
        /// Its number.
        number: u64,
    },
    /// It waits for a word to be woken at.
    Waits {
        /// The word.
        address: u64,
    },
    /// It goes on after such a wait.
    GoesOn {
        /// The number of the thread that has woken it; none if its time has passed.
        by: Option<u32>,
    },
    /// It ends.
    Ends,
}

/// The last steps of a run.
#[derive(Debug, Clone, Default)]
pub struct Communication {
    steps: VecDeque<CommunicationStep>,
    dropped: u64,
}

impl Communication {
    /// Notes a step. The oldest one is dropped if there are too many.
    pub fn push(&mut self, step: CommunicationStep) {
        if self.steps.len() == STEPS_MAX {
            self.steps.pop_front();
            self.dropped += 1;
        }
        self.steps.push_back(step);
    }

    /// Returns the steps, the oldest one first.
    pub fn steps(&self) -> impl Iterator<Item = &CommunicationStep> {
        self.steps.iter()
    }

    /// Returns the number of older steps, which are not kept.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_steps_are_kept() {
        let mut communication = Communication::default();
        for points in 0..STEPS_MAX as u64 + 3 {
            communication.push(CommunicationStep {
                thread: 1,
                points,
                kind: CommunicationKind::Begins,
                caller: 0,
            });
        }
        assert_eq!(communication.dropped(), 3);
        assert_eq!(communication.steps().count(), STEPS_MAX);
        let first = communication.steps().next();
        assert_eq!(first.map(|step| step.points), Some(3));
    }
}
