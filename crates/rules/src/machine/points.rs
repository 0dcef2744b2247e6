//! Breakpoints and watchpoints: definitions 5.17 and 5.19.

use crate::{Access, AccessMode};
use juror_event::EventKind;

/// Whose a point is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// The developer's (`dev`): the program stops there.
    Developer,
    /// The scenario's (`scn`): it reacts.
    Scenario,
    /// The monitors' (`evt`): it is an event.
    Monitor,
}

/// Which accesses a watchpoint is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Watched {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Both.
    Access,
}

/// Where a point is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// At an instruction: a breakpoint.
    Instruction(u64),
    /// At a value: a watchpoint.
    Value(u64, Watched),
}

/// A breakpoint or a watchpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point {
    /// Whose it is.
    pub owner: Owner,
    /// Where it is.
    pub place: Place,
}

impl Point {
    /// A breakpoint.
    pub fn breakpoint(owner: Owner, address: u64) -> Point {
        Point {
            owner,
            place: Place::Instruction(address),
        }
    }

    /// A watchpoint.
    pub fn watchpoint(owner: Owner, address: u64, watched: Watched) -> Point {
        Point {
            owner,
            place: Place::Value(address, watched),
        }
    }

    /// Whether this is a watchpoint that an access triggers (`match`).
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

/// What has to be watched for a kind of event (`evt2pts`, figure 6); nothing for
/// calls, which are breakpoints, and for kinds that the paper does not have.
pub(super) fn watched_for(kind: EventKind) -> Option<Watched> {
    match kind {
        EventKind::Read => Some(Watched::Read),
        EventKind::Write | EventKind::Change => Some(Watched::Write),
        EventKind::Access => Some(Watched::Access),
        _ => None,
    }
}
