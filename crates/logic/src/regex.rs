//! Abstract syntax of regular expressions over letters.

use std::sync::Arc;

/// A condition on a letter: a conjunction of literals (a cube).
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
    /// Matches no word.
    Nothing,
    /// Matches only the empty word.
    Empty,
    /// Matches one letter that the guard accepts.
    Letter(Guard),
    /// Concatenation.
    Sequence(Arc<Regex>, Arc<Regex>),
    /// Alternation.
    Choice(Arc<Regex>, Arc<Regex>),
    /// Intersection.
    Both(Arc<Regex>, Arc<Regex>),
    /// Complement.
    Complement(Arc<Regex>),
    /// Repetition; `to` is `None` if it is unbounded.
    Repeat {
        /// The repeated expression.
        expression: Arc<Regex>,
        /// Minimum number of repetitions.
        from: u32,
        /// Maximum number of repetitions.
        to: Option<u32>,
    },
}

/// How a match of an expression determines the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Meaning {
    /// No segment of the run that ends now may match: a violation as soon as one does,
    /// wherever it began.
    MatchViolates,
    /// The whole run must match when it ends; violated as soon as no continuation can
    /// match.
    MatchRequired,
}
