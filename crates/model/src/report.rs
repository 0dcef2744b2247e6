//! The result of a search.

use crate::{Fault, Trail};

/// The verdict of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// All states were searched, and there is no error.
    Holds,
    /// There is an error; the trail shows it.
    Violated,
    /// No error was found, but not all states were searched.
    Incomplete,
}

/// The reason that a search was cut short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cut {
    /// The limit on the number of states was reached.
    States {
        /// The limit.
        limit: u32,
    },
    /// The depth limit was reached.
    Depth {
        /// The limit in steps.
        limit: u32,
    },
    /// The memory limit was reached.
    Memory {
        /// The limit in bytes.
        limit: u64,
    },
    /// The user interrupted the search.
    Interrupted,
    /// Only hashes of states were stored, so different states may have been treated as
    /// one.
    Hashes,
    /// Only some runs were explored.
    Sampled,
}

/// An error in a system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// A step or a state has a fault.
    Fault(Fault),
    /// No process can make a step, and the state is not a valid end state.
    Deadlock,
    /// A forbidden infinite run.
    Cycle {
        /// The property that it violates.
        message: String,
    },
}

/// The result of a search.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The first error found, with its trail.
    pub finding: Option<(Finding, Trail)>,
    /// The reason that not everything was searched.
    pub cut: Option<Cut>,
    /// Number of distinct states reached.
    pub states: u64,
    /// Number of arrivals at states, including that at the initial state.
    pub transitions: u64,
    /// Maximum number of steps on the path to a state.
    pub depth: u32,
    /// Memory taken by the states, in bytes.
    pub memory_bytes: u64,
}

impl Report {
    /// Returns a report of a search that has not started.
    pub(crate) fn empty() -> Report {
        Report::default()
    }

    /// Returns the verdict.
    pub fn verdict(&self) -> Verdict {
        match (&self.finding, self.cut) {
            (Some(_), _) => Verdict::Violated,
            (None, Some(_)) => Verdict::Incomplete,
            (None, None) => Verdict::Holds,
        }
    }
}
