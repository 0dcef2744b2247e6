//! Regular expressions over letters, as they are written.

use std::sync::Arc;

/// Which letters one step of an expression takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Guard {
    /// Propositions that must be true.
    pub required: u64,
    /// Propositions that must be false.
    pub forbidden: u64,
}

/// A regular expression over letters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Regex {
    /// Matches nothing at all.
    Nothing,
    /// Matches no letter: the empty word.
    Empty,
    /// One letter.
    Letter(Guard),
    /// One after the other.
    Sequence(Arc<Regex>, Arc<Regex>),
    /// One or the other.
    Choice(Arc<Regex>, Arc<Regex>),
    /// Both match the same letters.
    Both(Arc<Regex>, Arc<Regex>),
    /// Matches what the other does not.
    Complement(Arc<Regex>),
    /// So many times; nothing has no end.
    Repeat {
        /// What is repeated.
        expression: Arc<Regex>,
        /// At least so often.
        from: u32,
        /// At most so often.
        to: Option<u32>,
    },
}

/// What it means that an expression matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Meaning {
    /// No part of the run that ends now may match: a violation as soon as
    /// one does, wherever it began.
    MatchViolates,
    /// The whole run must match when it ends; it is violated as soon as no
    /// continuation can.
    MatchRequired,
}
