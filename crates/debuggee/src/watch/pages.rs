//! Watching by page protection.
//!
//! A watched page may not be written (or not be accessed, for reads), so each
//! access to it faults. The faulting thread then executes its instruction
//! alone, with the pages as the program made them, and its accesses are
//! reported (`page_faults`).
//!
//! A protected page would make the kernel fail, too. So the pages are opened
//! for a system call that may access one, and for the frame of a signal
//! (`page_openings`).
//!
//! A page that the program unmaps stays listed: the call that maps it again
//! must find it open, and it is protected when that call is over. Pages that
//! the kernel does not protect (sealed or huge ones) are watched by steps, and
//! so are all once the program filters its system calls.
//!
//! Protecting a page needs no care: an access that is forbidden too early
//! faults, and is tried again.

mod protection;

use std::collections::BTreeMap;
use std::ops::Range;

use juror_stepping::ThreadId;

use crate::kernel::mapping::page_of;
use crate::watch::fault_action::FaultAction;

/// The protected pages.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    /// By address.
    pub(crate) pages: BTreeMap<u64, Page>,
    /// Threads in system calls for which the pages are open.
    pub(crate) callers: Vec<ThreadId>,
    /// Threads for whose signals the pages are open, until their frames have
    /// been written.
    pub(crate) deliveries: Vec<ThreadId>,
    /// Whether the pages are as the program made them.
    pub(crate) is_open: bool,
    /// Whether one thread is executing its instruction alone.
    pub(crate) is_stepping_access: bool,
    /// The program's handling of faults.
    pub(crate) fault_action: FaultAction,
}

/// The protection of a page as the program made it, and while it is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) original: i32,
    watched: i32,
    is_mapped: bool,
}

/// A page that the program has unmapped.
const UNMAPPED: Page = Page {
    original: libc::PROT_NONE,
    watched: libc::PROT_NONE,
    is_mapped: false,
};

impl Page {
    /// Returns a page as the program made it, not watched yet.
    fn made(original: i32) -> Page {
        Page {
            original,
            watched: original,
            is_mapped: true,
        }
    }
}

impl Pages {
    /// Returns true if the pages are as the program made them, for a system
    /// call.
    pub(crate) fn are_open(&self) -> bool {
        self.is_open
    }

    /// Returns true if a range overlaps one of them.
    pub(crate) fn overlap(&self, range: &Range<u64>) -> bool {
        let first = page_of(range.start);
        first < range.end && self.pages.range(first..range.end).next().is_some()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Returns true if one of them is unmapped: a call that maps memory at an
    /// address of the kernel's choice may map it again.
    pub(crate) fn have_gaps(&self) -> bool {
        self.pages.values().any(|page| !page.is_mapped)
    }

    /// Returns the pages of a forked copy of the process.
    pub(crate) fn for_fork(&self) -> Pages {
        Pages {
            pages: self.pages.clone(),
            ..Pages::default()
        }
    }
}
