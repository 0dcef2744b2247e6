//! Transition systems.
//!
//! A state is a sequence of bytes, so that one compact store serves all systems. Two
//! states are the same exactly if their bytes are: a system must encode equal states
//! equally.
//!
//! During a search, a successor is its bytes and its number. The description of a step is
//! requested later, for the steps of a trail alone ([`System::steps`]).

use juror_logic::Letter;
use std::ops::Range;

/// A range in one of the source texts of a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// Number of the text; 0 is the main one.
    pub source: u32,
    /// Start, in bytes.
    pub start: u32,
    /// End, in bytes.
    pub end: u32,
}

impl Span {
    /// Returns the span of a byte range of a text.
    pub fn new(source: u32, range: Range<usize>) -> Span {
        // Texts of 4 GiB or more are rejected when they are read.
        let narrow = |position: usize| u32::try_from(position).unwrap_or(u32::MAX);
        Span {
            source,
            start: narrow(range.start),
            end: narrow(range.end),
        }
    }

    /// Returns the byte range in the text.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Returns the span from the start of this one to the end of another.
    #[must_use]
    pub fn to(self, end: Span) -> Span {
        if self.source == end.source {
            Span {
                end: end.end.max(self.end),
                ..self
            }
        } else {
            self
        }
    }
}

/// The set of processes that take part in a step: bit n is process n. Processes from 63
/// on share one bit, [`Participants::OTHERS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Participants(pub u64);

impl Participants {
    /// The processes that are not distinguished.
    pub const OTHERS: u64 = 1 << 63;

    /// Returns the set of one process.
    pub fn one(actor: usize) -> Participants {
        Participants(1 << actor.min(63))
    }

    /// Returns the set with another process added.
    #[must_use]
    pub fn with(self, actor: usize) -> Participants {
        Participants(self.0 | Participants::one(actor).0)
    }
}

/// An error in the system itself: an assertion that fails, a division by zero, a value
/// out of range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Stable identifier of this kind of fault, for example `assertion`.
    pub code: &'static str,
    /// The message.
    pub message: String,
    /// The location.
    pub span: Option<Span>,
    /// Other relevant locations, each with a label.
    pub labels: Vec<(Span, String)>,
    /// Advice on what to do.
    pub help: Option<String>,
}

impl Fault {
    /// Returns a fault with a location.
    pub fn new(code: &'static str, message: impl Into<String>, span: Option<Span>) -> Fault {
        Fault {
            code,
            message: message.into(),
            span,
            labels: Vec::new(),
            help: None,
        }
    }

    /// Adds another labelled location.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Fault {
        self.labels.push((span, text.into()));
        self
    }

    /// Adds advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Fault {
        self.help = Some(help.into());
        self
    }
}

/// Receives the successors of a state, in a fixed order.
pub trait Visitor {
    /// Receives one successor. Returns whether to continue.
    fn next(&mut self, state: &[u8], participants: Participants) -> bool;

    /// Receives a faulty step. It is numbered as a successor but has no state. Returns
    /// whether to continue.
    fn fault(&mut self, fault: Fault) -> bool;

    /// Receives a successor that is certain to be found on another path too; called only
    /// by [`System::successors_after`]. Returns whether to continue.
    fn known(&mut self) -> bool {
        true
    }
}

/// A value changed by a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Name of the variable.
    pub name: String,
    /// The new value.
    pub value: String,
}

/// One visible part of a step; an atomic step has several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Index in [`System::actors`] of the process that makes the step; `None` for the
    /// system as a whole.
    pub actor: Option<usize>,
    /// Index of the second participant, for example the receiver of a rendezvous.
    pub partner: Option<usize>,
    /// The statement, as written in the source.
    pub text: String,
    /// Location of the statement.
    pub span: Option<Span>,
    /// Changes of values.
    pub changes: Vec<Change>,
    /// Printed output.
    pub printed: String,
}

/// A transition system.
///
/// All functions are deterministic: equal states have equal successors in the same order.
pub trait System: Sync {
    /// Working memory of a search, such as buffers; one for each thread.
    type Scratch: Send;

    /// Creates working memory.
    fn scratch(&self) -> Self::Scratch;

    /// Returns the size in bytes of the caches of the system, which a search counts.
    fn memory_bytes(&self) -> u64 {
        0
    }

    /// Returns the size in bytes of the caches in the working memory of one search.
    fn scratch_bytes(&self, _scratch: &Self::Scratch) -> u64 {
        0
    }

    /// Generates the initial states, at least one.
    fn initial(&self, scratch: &mut Self::Scratch, visitor: &mut impl Visitor);

    /// Generates the successors of a state, in a fixed order.
    fn successors(&self, scratch: &mut Self::Scratch, state: &[u8], visitor: &mut impl Visitor);

    /// Generates the successors of a state that was found as a successor of `before`.
    /// Some are reported only by count ([`Visitor::known`]). A search that proceeds layer
    /// by layer, generates the successors of every state in this way, and stops at the
    /// first fault still finds all states, each in its layer.
    fn successors_after(
        &self,
        scratch: &mut Self::Scratch,
        _before: &[u8],
        state: &[u8],
        visitor: &mut impl Visitor,
    ) {
        self.successors(scratch, state, visitor);
    }

    /// Generates a reduced set of successors (an ample set): steps of one process that
    /// touch nothing that another process could observe or change, and that no property
    /// observes. Returns whether any were left out; otherwise the set is complete. A
    /// search still finds deadlocks and faults if it takes all successors wherever none
    /// of these is new.
    fn reduced(
        &self,
        scratch: &mut Self::Scratch,
        state: &[u8],
        visitor: &mut impl Visitor,
    ) -> bool {
        self.successors(scratch, state, visitor);
        false
    }

    /// Returns whether a state is a valid end state, in which the system may stay
    /// forever.
    fn may_end(&self, scratch: &mut Self::Scratch, state: &[u8]) -> bool;

    /// Returns the fault of a state, if an invariant does not hold.
    fn wrong(&self, _scratch: &mut Self::Scratch, _state: &[u8]) -> Option<Fault> {
        None
    }

    /// Returns the propositions that are true in a state.
    fn letter(&self, _scratch: &mut Self::Scratch, _state: &[u8]) -> Result<Letter, Fault> {
        Ok(Letter(0))
    }

    /// Returns the visible parts of the step to a successor, by its number from 0, faults
    /// included; empty if there is no such successor.
    fn steps(&self, state: &[u8], number: usize) -> Vec<Step>;

    /// Returns the names of the processes up to this state.
    fn actors(&self, state: &[u8]) -> Vec<String>;

    /// Returns the variables of a state with their values.
    fn values(&self, state: &[u8]) -> Vec<Change>;
}
