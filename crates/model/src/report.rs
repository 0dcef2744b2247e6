//! What a search found out.

use crate::{Fault, Trail};

/// What the search says of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// All of it was searched, and nothing is wrong.
    Holds,
    /// Something is wrong, and the trail shows it.
    Violated,
    /// Nothing wrong was found, but not all of it was searched.
    Incomplete,
}

/// Why a search was cut short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cut {
    /// There are more states than allowed.
    States {
        /// How many are allowed.
        limit: u32,
    },
    /// There are longer ways than allowed.
    Depth {
        /// How many steps are allowed.
        limit: u32,
    },
    /// The states need more memory than allowed.
    Memory {
        /// How many bytes are allowed.
        limit: u64,
    },
    /// The user asked it to end.
    Interrupted,
    /// States are known by their hashes alone, so one may have been taken for
    /// another one.
    Hashes,
    /// Only some of the runs were looked at.
    Sampled,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// A step goes wrong, or a state is wrong.
    Fault(Fault),
    /// Nobody can go on, in a state that is no end.
    Deadlock,
    /// A run that goes on for ever and must not.
    Cycle {
        /// What it violates.
        message: String,
    },
}

/// What a search found out.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// What is wrong, the first that was found, and the way to it.
    pub finding: Option<(Finding, Trail)>,
    /// Why not everything was searched.
    pub cut: Option<Cut>,
    /// Different states that were reached.
    pub states: u64,
    /// Arrivals at states, that at the initial one included.
    pub transitions: u64,
    /// The most steps on the way to a state.
    pub depth: u32,
    /// What the states took of memory.
    pub memory_bytes: u64,
}

impl Report {
    /// Nothing was searched yet.
    pub(crate) fn empty() -> Report {
        Report::default()
    }

    /// What it comes to.
    pub fn verdict(&self) -> Verdict {
        match (&self.finding, self.cut) {
            (Some(_), _) => Verdict::Violated,
            (None, Some(_)) => Verdict::Incomplete,
            (None, None) => Verdict::Holds,
        }
    }
}
