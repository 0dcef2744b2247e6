//! Breakpoints and watchpoints: definitions 5.17 and 5.19.

use crate::{Access, AccessMode};
pub use juror_control::decision::Owner;
use juror_event::EventKind;

/// The accesses that trigger a watchpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Watched {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Reads and writes.
    Access,
}

/// The location of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// An instruction: the point is a breakpoint.
    Instruction(u64),
    /// A value: the point is a watchpoint.
    Value(u64, Watched),
}

/// A breakpoint or a watchpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point {
    /// The owner.
    pub owner: Owner,
    /// The location.
    pub place: Place,
}

impl Point {
    /// Creates a breakpoint.
    pub fn breakpoint(owner: Owner, address: u64) -> Point {
        Point {
            owner,
            place: Place::Instruction(address),
        }
    }

    /// Creates a watchpoint.
    pub fn watchpoint(owner: Owner, address: u64, watched: Watched) -> Point {
        Point {
            owner,
            place: Place::Value(address, watched),
        }
    }

    /// Returns true if this is a watchpoint that the access triggers (`match`).
    pub fn matches(&self, access: &Access) -> bool {
        let Place::Value(address, watched) = self.place else {
            return false;
        };
        let is_meant = match watched {
            Watched::Read => access.mode == AccessMode::Read,
            Watched::Write => access.mode == AccessMode::Write,
            Watched::Access => true,
        };
        address == access.address && is_meant
    }
}

/// Returns the accesses to watch for a kind of event (`evt2pts`, figure 6); `None` for
/// calls, which are breakpoints, and for kinds that the paper does not have.
pub(super) fn watched_for(kind: EventKind) -> Option<Watched> {
    match kind {
        EventKind::Read => Some(Watched::Read),
        EventKind::Write | EventKind::Change => Some(Watched::Write),
        EventKind::Access => Some(Watched::Access),
        _ => None,
    }
}
