//! The processes that the debuggee makes, and which of them it follows.
//!
//! `pending_forks` handles new ones, `follow` becomes one of them, and
//! `fork_children` keeps those that are debugged, too.

use std::collections::BTreeMap;

use juror_stepping::ThreadId;

use crate::memory::Memory;
use crate::processes::fork_children::ForkChildren;
use crate::processes::keeper::Keeping;
use crate::processes::pending_forks::{ForkCopy, PendingFork};
use crate::state::descendants::Descendants;
use crate::state::life::Origin;

/// The process that stays the debuggee after a fork.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Follow {
    /// The parent; the child runs free.
    #[default]
    Parent,
    /// The child; the parent runs free.
    Child,
    /// Both: the child is another debuggee ([`Debuggee::adopt`](crate::Debuggee::adopt)).
    Both,
}

/// The processes that one debuggee has made.
#[derive(Debug)]
pub(crate) struct Forks {
    pub(crate) policy: Follow,
    pub(crate) switch: Switch,
    /// Whether [`crate::StopEvent::Forking`] is reported when a process is made.
    pub(crate) are_caught: bool,
    /// New processes whose first stop has not been seen.
    pub(crate) pending: BTreeMap<u32, PendingFork>,
    /// Forked processes that are stopped and still contain traps.
    pub(crate) copies: BTreeMap<u32, ForkCopy>,
    /// New processes that are stopped until they are adopted.
    pub(crate) children: ForkChildren,
    /// The new processes with this memory that have been made since all threads
    /// were told to stop, and do not run.
    pub(crate) made_halted: Vec<ThreadId>,
    /// The keeper of those that are let go.
    pub(crate) keeping: Keeping,
    /// Whether the process may have made others.
    pub(crate) has_made_processes: bool,
    /// Whether a thread has ended since the program began; it may have left an
    /// unreported child.
    pub(crate) has_lost_threads: bool,
}

/// Whether the debuggee is just becoming another process. New processes are
/// followed only while it is not.
#[derive(Debug, Default)]
pub(crate) enum Switch {
    /// The debuggee stays what it is.
    #[default]
    None,
    /// Pending forks are released rather than followed.
    Declining,
    /// The debuggee is becoming a forked child, which has this memory.
    ToForked { child: u32, memory: Memory },
    /// The debuggee is becoming a vfork child that runs another program.
    ToExecuted { child: u32 },
}

impl Switch {
    pub(crate) fn is_none(&self) -> bool {
        matches!(self, Switch::None)
    }

    /// Returns true if the debuggee is becoming a forked child.
    pub(crate) fn is_to_forked(&self) -> bool {
        matches!(self, Switch::ToForked { .. })
    }

    /// Returns the process that the debuggee is becoming.
    pub(crate) fn child(&self) -> Option<u32> {
        match self {
            Switch::None | Switch::Declining => None,
            Switch::ToForked { child, .. } | Switch::ToExecuted { child } => Some(*child),
        }
    }
}

impl Forks {
    pub(crate) fn new(origin: Origin) -> Forks {
        Forks {
            policy: Follow::default(),
            switch: Switch::None,
            are_caught: false,
            pending: BTreeMap::new(),
            copies: BTreeMap::new(),
            children: ForkChildren::default(),
            made_halted: Vec::new(),
            keeping: Keeping::default(),
            has_made_processes: origin == Origin::Attached,
            has_lost_threads: false,
        }
    }

    /// Sets what becomes of the processes that are let go.
    pub(crate) fn set_descendants(&mut self, descendants: Descendants) {
        self.keeping = Keeping::new(descendants);
    }

    /// Returns true if a thread is stopped until this child has been seen.
    pub(crate) fn hold_parent_of(&self, child: u32) -> bool {
        self.pending
            .get(&child)
            .is_some_and(PendingFork::holds_parent)
    }

    /// Returns true if a pending child shares the memory.
    pub(crate) fn have_pending_vfork(&self) -> bool {
        self.pending.values().any(PendingFork::is_vfork_child)
    }
}
