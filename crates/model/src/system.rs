//! What can be explored.
//!
//! A state is a sequence of bytes, so that one compact store serves all
//! systems. Two states are the same if and only if their bytes are: a system
//! writes equal states in one way.
//!
//! While searching, a successor is its bytes and a number. What happened in a
//! step, in words, is asked for afterwards, for the steps of a trail alone
//! ([`System::steps`]).

use juror_logic::Letter;
use std::ops::Range;

/// A place in one of the texts that a system was made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The number of the text; 0 is the first one.
    pub source: u32,
    /// Where it begins, in bytes.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
}

impl Span {
    /// A place in a text.
    pub fn new(source: u32, range: Range<usize>) -> Span {
        // Texts of four gigabytes are refused when they are read.
        let narrow = |position: usize| u32::try_from(position).unwrap_or(u32::MAX);
        Span {
            source,
            start: narrow(range.start),
            end: narrow(range.end),
        }
    }

    /// The bytes of its text.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// From the beginning of this one to the end of the other one.
    #[must_use]
    pub fn to(self, end: Span) -> Span {
        match self.source == end.source {
            true => Span {
                end: end.end.max(self.end),
                ..self
            },
            false => self,
        }
    }
}

/// Which actors take part in a step: bit n is actor n. Actors from 63 on have one bit
/// together, [`Participants::OTHERS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Participants(pub u64);

impl Participants {
    /// An actor that is not told from some others.
    pub const OTHERS: u64 = 1 << 63;

    /// One actor.
    pub fn one(actor: usize) -> Participants {
        Participants(1 << actor.min(63))
    }

    /// These and another one.
    #[must_use]
    pub fn with(self, actor: usize) -> Participants {
        Participants(self.0 | Participants::one(actor).0)
    }
}

/// What is wrong in the system itself: an assertion that fails, a division by
/// zero, a value that does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// A stable word for this sort of fault (`assertion`).
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// Where.
    pub span: Option<Span>,
    /// Other places that matter, each with what it is.
    pub labels: Vec<(Span, String)>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Fault {
    /// A fault at a place.
    pub fn new(code: &'static str, message: impl Into<String>, span: Option<Span>) -> Fault {
        Fault {
            code,
            message: message.into(),
            span,
            labels: Vec::new(),
            help: None,
        }
    }

    /// The same with another place pointed at.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Fault {
        self.labels.push((span, text.into()));
        self
    }

    /// The same with advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Fault {
        self.help = Some(help.into());
        self
    }
}

/// Takes the successors of a state, in a fixed order.
pub trait Visitor {
    /// One successor. Gives whether more of them are wanted.
    fn next(&mut self, state: &[u8], participants: Participants) -> bool;

    /// A step that goes wrong. It counts as a successor of its number, and has
    /// no state. Gives whether more are wanted.
    fn fault(&mut self, fault: Fault) -> bool;

    /// One successor of which it is certain that it is found in another way, too; only
    /// [`System::successors_after`] tells of it so. Gives whether more are wanted.
    fn known(&mut self) -> bool {
        true
    }
}

/// A value that a step has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What it is called.
    pub name: String,
    /// What it is now.
    pub value: String,
}

/// One visible part of a step: an atomic step has several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Who acts, as an index into [`System::actors`]; nobody for the system as
    /// a whole.
    pub actor: Option<usize>,
    /// Who else takes part (the receiver of a rendezvous).
    pub partner: Option<usize>,
    /// What is done, as it is written in the source.
    pub text: String,
    /// Where that is written.
    pub span: Option<Span>,
    /// What it changed.
    pub changes: Vec<Change>,
    /// What it printed.
    pub printed: String,
}

/// A system that can be explored.
///
/// All functions are deterministic: the same state gives the same successors
/// in the same order.
pub trait System: Sync {
    /// What a search keeps to work with, such as buffers; one for each thread.
    type Scratch: Send;

    /// New scratch.
    fn scratch(&self) -> Self::Scratch;

    /// What it remembers of its own states, in bytes, which a search has to count.
    fn memory_bytes(&self) -> u64 {
        0
    }

    /// The same of what one search remembers.
    fn scratch_bytes(&self, _scratch: &Self::Scratch) -> u64 {
        0
    }

    /// The states it may begin in, at least one.
    fn initial(&self, scratch: &mut Self::Scratch, visitor: &mut impl Visitor);

    /// The states after each step that is possible, in a fixed order.
    fn successors(&self, scratch: &mut Self::Scratch, state: &[u8], visitor: &mut impl Visitor);

    /// The same for a state that was found as a successor of another one. A search that
    /// goes layer by layer, takes all successors of each state in this way, and ends with
    /// the first fault finds all states, each in its layer, although it is only told of
    /// some successors that there are more of them ([`Visitor::known`]).
    fn successors_after(
        &self,
        scratch: &mut Self::Scratch,
        _before: &[u8],
        state: &[u8],
        visitor: &mut impl Visitor,
    ) {
        self.successors(scratch, state, visitor);
    }

    /// Some of the successors that stand for all: steps of one actor that touch
    /// nothing that another one could see or change, and that nobody asks about.
    /// Gives whether any were left out; otherwise these are all. Deadlocks and
    /// faults are found with them, if a search takes all successors where none
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

    /// Whether the system may stay for ever in a state that has no successors.
    fn may_end(&self, scratch: &mut Self::Scratch, state: &[u8]) -> bool;

    /// What is wrong with a state: an invariant that does not hold.
    fn wrong(&self, _scratch: &mut Self::Scratch, _state: &[u8]) -> Option<Fault> {
        None
    }

    /// Which propositions are true in a state.
    fn letter(&self, _scratch: &mut Self::Scratch, _state: &[u8]) -> Result<Letter, Fault> {
        Ok(Letter(0))
    }

    /// What happens on the way to the successor with a number, counted from 0
    /// and with the faults. Empty when there is no such successor.
    fn steps(&self, state: &[u8], number: usize) -> Vec<Step>;

    /// The names of those who act, up to this state.
    fn actors(&self, state: &[u8]) -> Vec<String>;

    /// What the state is, in words: names and values.
    fn values(&self, state: &[u8]) -> Vec<Change>;
}
