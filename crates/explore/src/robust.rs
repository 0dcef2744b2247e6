//! The robust futexes that a thread holds at its end (set_robust_list(2)).

use juror_debuggee::{Debuggee, ThreadId};

/// The most entries of a list: one that is longer is damaged.
const ENTRIES_MAX: usize = 2_048;

/// The lowest bit of an entry's address: the futex inherits priorities.
const IS_PI: u64 = 1;

/// A robust futex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Robust {
    /// The address of its word.
    pub(crate) address: u64,
    pub(crate) is_pi: bool,
}

/// Returns the futexes that a thread holds, and the one that it takes or gives back at the moment.
pub(crate) fn held(debuggee: &Debuggee, thread: ThreadId) -> Vec<Robust> {
    let Ok(head) = debuggee.robust_list(thread) else {
        return Vec::new();
    };
    let word = |address: u64| debuggee.read_u64(address).ok();
    let (Some(first), Some(offset), Some(pending)) = (
        word(head),
        word(head.wrapping_add(8)),
        word(head.wrapping_add(16)),
    ) else {
        return Vec::new();
    };
    let robust = |entry: u64| Robust {
        address: (entry & !IS_PI).wrapping_add(offset),
        is_pi: entry & IS_PI != 0,
    };
    let mut found = Vec::new();
    let mut entry = first;
    while entry & !IS_PI != head && found.len() < ENTRIES_MAX {
        found.push(robust(entry));
        let Some(next) = word(entry & !IS_PI) else {
            break;
        };
        entry = next;
    }
    if pending & !IS_PI != 0 && !found.contains(&robust(pending)) {
        found.push(robust(pending));
    }
    found
}
