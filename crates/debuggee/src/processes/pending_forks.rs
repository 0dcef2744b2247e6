//! Processes and threads that the debuggee makes.
//!
//! A forked process has a copy of the memory, including traps: the engine
//! orders their removal before it runs, and it runs free, unless it is to be
//! followed. A process that shares the memory (`vfork`, `posix_spawn`) would be
//! killed by the traps, so it stays traced and is stepped over them silently,
//! as one more thread of the engine, until it runs another program or ends.
//!
//! Its parent waits in the kernel all that time and answers no request to stop.
//! It executes nothing either; so for the engine it is parked, and so is a
//! parent that is stopped until juror knows whether its child can be followed.

mod handling;

use juror_stepping::{Input, ThreadId};

use crate::memory::Memory;

/// A new process whose first stop has not been seen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PendingFork {
    is_vfork: bool,
    parent: ThreadId,
    /// Whether the child can be followed: the parent is still where it made it,
    /// or has ended there. A parent that went on is no longer the child's past:
    /// then it is too late for `set follow`.
    may_be_followed: bool,
    /// Whether the parent is stopped until juror knows whether the child can be
    /// followed: what it did meanwhile would be reported as the debuggee's, or
    /// be taken for the child's past.
    holds_parent: bool,
}

impl PendingFork {
    /// Returns true if it has a copy of the memory, as far as its parent
    /// reported, and can be followed.
    pub(crate) fn is_followable_fork(&self) -> bool {
        !self.is_vfork && self.may_be_followed
    }

    /// Returns true if it shares the memory, as its parent reported.
    pub(crate) fn is_vfork_child(&self) -> bool {
        self.is_vfork
    }

    /// Returns true if no report of it has come.
    pub(crate) fn is_unreported(&self) -> bool {
        !self.is_vfork && self.may_be_followed && !self.holds_parent
    }

    /// Returns true if its parent is stopped until it is seen.
    pub(crate) fn holds_parent(&self) -> bool {
        self.holds_parent
    }

    /// Returns the thread that made it.
    pub(crate) fn parent(&self) -> ThreadId {
        self.parent
    }
}

/// A forked process that is stopped, and that the engine has not released.
#[derive(Debug)]
pub(crate) struct ForkCopy {
    pub(crate) memory: Memory,
    /// The state of one that is to be debugged, too.
    pub(crate) kept: Option<KeptFork>,
}

/// A process that is to be debugged, too.
#[derive(Debug)]
pub(crate) struct KeptFork {
    /// The thread that made it.
    pub(crate) parent: ThreadId,
    /// The inputs that an engine of its own has to get about its past.
    pub(crate) inheritance: Vec<Input>,
}
