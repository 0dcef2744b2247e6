//! The values of the present stop whose parts front ends may ask for.
//!
//! **Invariant**: no number is given twice. The values are forgotten when the program resumes, and
//! a number of an earlier stop is known to be one.

use juror_debuggee::ThreadId;
use juror_fault::CommandError;
use juror_values::format::Radix;
use juror_values::parts::Path;
use juror_values::pretty_printers::Walks;
use juror_values::typed::Typed;
use juror_view::nodes::NodeId;
use std::ops::Range;

/// The most changes of memory that are kept for front ends.
const WRITTEN_MAX: usize = 1024;

/// A value, and the frame in which its expression has a meaning.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    /// The number of its process.
    pub process: u32,
    /// The frame.
    pub frame: FrameOf,
    /// The value, or the group of values.
    pub content: Content,
}

/// A frame, by its thread and level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FrameOf {
    /// The thread.
    pub thread: ThreadId,
    /// The level; 0 is the innermost.
    pub level: usize,
}

/// The meaning of a node.
#[derive(Debug, Clone)]
pub(crate) enum Content {
    /// A value.
    Value(Box<Value>),
    /// Registers, by their names.
    Registers(&'static [&'static str]),
}

/// A value with its expression and format.
#[derive(Debug, Clone)]
pub(crate) struct Value {
    /// The value.
    pub typed: Typed,
    /// Its expression.
    pub path: Path,
    /// Whether it is a base class, which is not asked for the whole object.
    pub is_of_object: bool,
    /// The format of its numbers.
    pub radix: Radix,
}

/// The values of the present stop.
#[derive(Debug, Default)]
pub(crate) struct Nodes {
    /// The number before that of the first value.
    before: u64,
    known: Vec<Known>,
    /// The number of times that the program has resumed.
    pub resumes: u64,
    /// The value that the last call has returned.
    pub returned: Option<Returned>,
    /// The memory that the user has changed since the program stopped.
    written: Vec<Range<u64>>,
    /// Where walks through containers have come to.
    pub walks: Walks,
}

/// The value that a call has returned which `finish` has waited for.
#[derive(Debug, Clone)]
pub(crate) struct Returned {
    /// The thread.
    pub thread: ThreadId,
    /// The number in the value history.
    pub number: u32,
}

impl Nodes {
    /// Adds a value; returns its number.
    pub(crate) fn add(&mut self, known: Known) -> NodeId {
        self.known.push(known);
        NodeId(self.before + self.known.len() as u64)
    }

    /// Notes that the user has changed memory.
    pub(crate) fn note_written(&mut self, address: u64, size: usize) {
        self.walks.clear();
        if self.written.len() < WRITTEN_MAX {
            self.written
                .push(address..address.saturating_add(size as u64));
        }
    }

    /// Takes the memory that the user has changed.
    pub(crate) fn take_written(&mut self) -> Vec<Range<u64>> {
        std::mem::take(&mut self.written)
    }

    /// Returns a value by its number.
    pub(crate) fn get(&self, id: NodeId) -> Result<&Known, CommandError> {
        let position = match id.0.checked_sub(self.before) {
            Some(0) | None if id.0 > 0 => {
                return Err(CommandError::new("that value is of an earlier stop"));
            }
            position => position.and_then(|position| position.checked_sub(1)),
        };
        let position = position.and_then(|position| usize::try_from(position).ok());
        position
            .and_then(|position| self.known.get(position))
            .ok_or_else(|| CommandError::new(format!("there is no value with the number {}", id.0)))
    }

    /// Forgets the values because the program resumes.
    pub(crate) fn clear(&mut self) {
        self.before += self.known.len() as u64;
        self.known.clear();
        self.resumes += 1;
        self.returned = None;
        self.written.clear();
        self.walks.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Known {
        Known {
            process: 1,
            frame: FrameOf {
                thread: ThreadId(7),
                level: 0,
            },
            content: Content::Registers(&["rip"]),
        }
    }

    fn message(nodes: &Nodes, id: u64) -> String {
        match nodes.get(NodeId(id)) {
            Ok(_) => "there".to_owned(),
            Err(error) => error.message,
        }
    }

    #[test]
    fn no_number_is_given_twice() {
        let mut nodes = Nodes::default();
        assert_eq!(nodes.add(known()), NodeId(1));
        assert_eq!(nodes.add(known()), NodeId(2));
        assert_eq!(message(&nodes, 2), "there");
        assert_eq!(message(&nodes, 0), "there is no value with the number 0");
        assert_eq!(message(&nodes, 3), "there is no value with the number 3");
        nodes.clear();
        assert_eq!(message(&nodes, 2), "that value is of an earlier stop");
        assert_eq!(nodes.add(known()), NodeId(3));
        assert_eq!(message(&nodes, 3), "there");
        assert_eq!(message(&nodes, 1), "that value is of an earlier stop");
        nodes.clear();
        nodes.clear();
        assert_eq!(message(&nodes, 3), "that value is of an earlier stop");
        assert_eq!(nodes.add(known()), NodeId(4));
    }
}
