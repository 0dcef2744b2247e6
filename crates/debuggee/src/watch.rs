//! Watched memory: which memory, by which tier, and the reported accesses.
//!
//! Three tiers, chosen by need and shown: debug registers while they suffice;
//! protected pages; single steps of every thread. Each reports an access after
//! it has happened, once for each execution of the accessing instruction (a
//! repeated string instruction reports once for its pass over the bytes).
//! `watched_calls` adds the writes of the kernel for the program.
//! `docs/design/watchpoints.md` describes the mechanism as a whole.
//!
//! Invariant: tiers change only while every thread is stopped.

mod fault_action;
pub(crate) mod hardware;
mod kernel_reach;
mod kernel_writes;
pub(crate) mod page_faults;
mod page_openings;
pub(crate) mod pages;
mod tiers;
mod watched_calls;
pub(crate) mod watched_steps;

use std::ops::Range;

use juror_stepping::{AccessKinds, Owner};

use crate::memory::Memory;
use crate::watch::hardware::Hardware;
use crate::watch::pages::Pages;

/// The number of a watch, which is never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WatchId(pub u32);

/// The way in which memory is watched, cheapest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WatchTier {
    /// By debug registers: costs nothing until it is accessed.
    Hardware,
    /// By page protection: every access to the page costs.
    Page,
    /// By single steps: every instruction of every thread costs.
    Stepping,
}

/// The kind of an access to watched memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// It was read.
    Read,
    /// It was written, whatever the value.
    Write,
    /// One of the two: the processor does not say which.
    Either,
}

/// One access to watched memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryAccess {
    /// The watch.
    pub watch: WatchId,
    /// The owner of the watch.
    pub owner: Owner,
    /// The kind of access.
    pub kind: AccessKind,
    /// The instruction, if it is known: a debug register traps after it.
    pub instruction: Option<u64>,
    /// The number of the system call by which the kernel made the access.
    pub system_call: Option<u64>,
    /// The first of the watched bytes that were accessed, and their number;
    /// none if unknown. A debug register only says that it was some of its
    /// bytes.
    pub bytes: Option<(u64, u64)>,
}

impl MemoryAccess {
    /// Extends the access by more bytes.
    pub(crate) fn extend(&mut self, more: Option<(u64, u64)>) {
        self.bytes = joined_bytes(self.bytes, more);
    }
}

/// Returns the bytes from the first to the last of both.
pub(crate) fn joined_bytes(
    some: Option<(u64, u64)>,
    others: Option<(u64, u64)>,
) -> Option<(u64, u64)> {
    let (Some((first, length)), Some((second, more))) = (some, others) else {
        return some.or(others);
    };
    let end = first
        .saturating_add(length)
        .max(second.saturating_add(more));
    let start = first.min(second);
    Some((start, end - start))
}

/// One watch.
#[derive(Debug, Clone)]
pub(crate) struct Watch {
    pub(crate) id: WatchId,
    pub(crate) owner: Owner,
    pub(crate) ranges: Vec<Range<u64>>,
    pub(crate) kinds: AccessKinds,
    /// The cheapest tier that was requested.
    least: WatchTier,
    pub(crate) tier: WatchTier,
    /// The bytes as last read, by range.
    snapshot: Vec<Vec<u8>>,
}

/// All watches and the resources of their tiers.
#[derive(Debug, Default)]
pub(crate) struct Watches {
    pub(crate) list: Vec<Watch>,
    /// Execute breakpoints in debug registers, counted.
    pub(crate) execute: Vec<(u64, u32)>,
    pub(crate) hardware: Hardware,
    pub(crate) pages: Pages,
    pub(crate) last_id: u32,
}

impl Watches {
    /// Returns the watches of a forked copy of the process, with the numbers they have.
    pub(crate) fn for_fork(&self) -> Watches {
        Watches {
            list: self.list.clone(),
            execute: self.execute.clone(),
            hardware: Hardware {
                is_refused: self.hardware.is_refused,
                ..Hardware::default()
            },
            pages: self.pages.for_fork(),
            last_id: self.last_id,
        }
    }

    /// Returns true if any memory is watched: then system calls are traced.
    #[inline]
    pub(crate) fn is_live(&self) -> bool {
        !self.list.is_empty()
    }

    /// Returns true if debug registers may be in use, for accesses or for
    /// execution.
    pub(crate) fn is_any(&self) -> bool {
        self.is_live() || !self.execute.is_empty()
    }

    /// Returns true if any watch needs every instruction to be stepped.
    pub(crate) fn has_stepping(&self) -> bool {
        self.list
            .iter()
            .any(|watch| watch.tier == WatchTier::Stepping)
    }

    /// Returns true if a watch covers any of these bytes.
    pub(crate) fn covers(&self, bytes: &Range<u64>) -> bool {
        self.list.iter().any(|watch| watch.touches(bytes))
    }
}

impl Watch {
    pub(crate) fn touches(&self, bytes: &Range<u64>) -> bool {
        self.ranges
            .iter()
            .any(|range| range.start < bytes.end && bytes.start < range.end)
    }

    /// Returns the part of these bytes that is watched.
    pub(crate) fn part_of(&self, bytes: &Range<u64>) -> Option<(u64, u64)> {
        let parts = self.ranges.iter().filter_map(|range| {
            let (start, end) = (range.start.max(bytes.start), range.end.min(bytes.end));
            (start < end).then(|| (start, end - start))
        });
        parts.fold(None, |joined, part| joined_bytes(joined, Some(part)))
    }

    /// Returns true if the memory differs from the snapshot, which is updated.
    pub(crate) fn look(&mut self, memory: &Memory) -> bool {
        let mut has_changed = false;
        for (range, seen) in self.ranges.iter().zip(&mut self.snapshot) {
            let mut now = vec![0; seen.len()];
            // Unmapped memory has no value; it may be mapped again.
            if memory.read(range.start, &mut now).is_ok() && now != *seen {
                *seen = now;
                has_changed = true;
            }
        }
        has_changed
    }
}

impl Watch {
    pub(crate) fn access(&self, kind: AccessKind) -> MemoryAccess {
        MemoryAccess {
            watch: self.id,
            owner: self.owner,
            kind,
            instruction: None,
            system_call: None,
            bytes: None,
        }
    }
}
