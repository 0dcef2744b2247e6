//! The numbers by which a client refers to frames and containers.
//!
//! **Invariant**: a number is never used again: what a client still knows from before the program
//! ran is refused instead of being mistaken for something else.

use crate::protocol::message::Failure;
use juror_view::nodes::{Group, NodeId};
use juror_view::queries::SelectionView;
use std::collections::HashMap;

/// A value, or a group of values, that has parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Container {
    /// A group of values of a frame.
    Scope(SelectionView, Group),
    /// A value with parts, and the frame that its name is for.
    Node(NodeId, SelectionView),
    /// All monitors.
    Monitors,
    /// The monitor of a property.
    Monitor(String),
    /// A slice of a monitor.
    Slice(Slice),
    /// The path of a slice.
    Path(Slice),
}

/// A slice of a monitor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slice {
    /// The property.
    pub(crate) property: String,
    /// The names and values of its parameters.
    pub(crate) binding: Vec<(String, String)>,
}

/// The numbers that have been given.
#[derive(Debug, Default)]
pub(crate) struct Identifiers {
    last: i64,
    frames: HashMap<i64, SelectionView>,
    containers: HashMap<i64, Container>,
    /// The numbers of parts of containers.
    counts: HashMap<i64, u64>,
}

impl Identifiers {
    /// Returns a new number.
    pub(crate) fn next(&mut self) -> i64 {
        self.last += 1;
        self.last
    }

    /// Returns the number of a frame.
    pub(crate) fn frame(&mut self, frame: SelectionView) -> i64 {
        let mut known = self.frames.iter();
        if let Some((number, _)) = known.find(|(_, known)| **known == frame) {
            return *number;
        }
        let number = self.next();
        self.frames.insert(number, frame);
        number
    }

    /// Returns the number of a container.
    pub(crate) fn container(&mut self, container: Container) -> i64 {
        let number = self.next();
        self.containers.insert(number, container);
        number
    }

    /// Notes how many parts a container has.
    pub(crate) fn note_count(&mut self, container: i64, parts: u64) {
        self.counts.insert(container, parts);
    }

    /// Returns how many parts a container has; 0 if it is not known.
    pub(crate) fn counts_of(&self, container: i64) -> u64 {
        self.counts.get(&container).copied().unwrap_or(0)
    }

    /// Returns the frame of a number.
    pub(crate) fn frame_of(&self, number: i64) -> Result<SelectionView, Failure> {
        let known = self.frames.get(&number).copied();
        known.ok_or_else(|| Failure::quiet("the frame is no longer there: the program has run"))
    }

    /// Returns the container of a number.
    pub(crate) fn container_of(&self, number: i64) -> Result<Container, Failure> {
        let known = self.containers.get(&number).cloned();
        known.ok_or_else(|| Failure::quiet("the value is no longer there: the program has run"))
    }

    /// Forgets all: the program resumes.
    pub(crate) fn forget(&mut self) {
        self.frames.clear();
        self.containers.clear();
        self.counts.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_from_before_the_program_ran_is_refused() {
        let mut all = Identifiers::default();
        let frame = SelectionView {
            thread: 1,
            level: 2,
        };
        let number = all.frame(frame);
        assert_eq!(all.frame(frame), number);
        let container = all.container(Container::Scope(frame, Group::Locals));
        assert_ne!(container, number);
        assert_eq!(all.frame_of(number), Ok(frame));
        assert_eq!(
            all.container_of(container),
            Ok(Container::Scope(frame, Group::Locals))
        );
        all.forget();
        assert!(all.frame_of(number).is_err());
        assert!(all.container_of(container).is_err());
        assert!(all.frame(frame) > container);
    }
}
