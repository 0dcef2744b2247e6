//! Children of the debuggee that are debugged, too.
//!
//! A forked child is a copy: what was planned for its parent (sites,
//! out-of-line slots, modules) holds in it at the same addresses. It becomes a
//! debuggee of its own, with an engine of its own that gets the same sites. A
//! child that shares the memory (`vfork`) becomes one when it runs a program of
//! its own.
//!
//! Invariant: from its creation until it is adopted, such a process is stopped,
//! with no trap of juror's in its memory; and its parent's thread makes no step
//! before the child has been reported, so upper layers see the parent as it was
//! when it made the child.

mod adopting;

use std::collections::BTreeMap;

use juror_stepping::Input;

use crate::debuggee::Debuggee;
use crate::memory::Memory;
use crate::watch::pages::Pages;

/// The processes that wait to be adopted.
#[derive(Debug, Default)]
pub(crate) struct ForkChildren(BTreeMap<u32, ForkChild>);

#[derive(Debug)]
enum ForkChild {
    /// A copy of its parent.
    Forked(Box<Forked>),
    /// It has just started another program.
    Executed,
    /// A debuggee already, since its parent is no longer the program of which
    /// it is a copy.
    Adopted(Box<Debuggee>),
}

/// The state of a copy of its parent.
#[derive(Debug)]
struct Forked {
    memory: Memory,
    /// The pages that were protected.
    pages: Pages,
    /// The inputs that its engine has to get about its past.
    inheritance: Vec<Input>,
}

impl ForkChildren {
    pub(crate) fn contains(&self, process: u32) -> bool {
        self.0.contains_key(&process)
    }

    /// Removes a process that has ended; returns true if it was one of these.
    pub(crate) fn remove(&mut self, process: u32) -> bool {
        match self.0.remove(&process) {
            Some(ForkChild::Adopted(mut gone)) => {
                gone.life.end();
                true
            }
            removed => removed.is_some(),
        }
    }
}
