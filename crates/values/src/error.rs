//! The reasons for which a variable or expression has no value.

use juror_event::Unavailability;
use juror_symbols::{EntryUnavailable, LocationError};

/// The reason for which a variable or expression has no value: `Display` gives it as a sentence,
/// and [`ValueError::unavailability`] as monitors classify it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// Memory at this address cannot be read.
    #[error("memory at {0:#x} cannot be read")]
    Unreadable(u64),
    /// The compiler kept no copy at this address of the code.
    #[error("optimized out")]
    OptimizedOut,
    /// The compiler kept only some of the bits.
    #[error("partly optimized out")]
    PartlyOptimizedOut,
    /// The location cannot be computed.
    #[error("{0}")]
    Location(#[from] LocationError),
    /// The parameter is not passed in the way that its type calls for.
    #[error("{0}")]
    Argument(#[from] EntryUnavailable),
    /// The value that this is a part of has no value.
    #[error("{what}: {why}")]
    Within {
        /// The part, and the value that it belongs to.
        what: String,
        /// The reason for the whole value.
        why: Box<ValueError>,
    },
    /// A container has no element with this number or key; a sentence about it.
    #[error("{0}")]
    NoElement(String),
    /// Any other reason, as a sentence.
    #[error("{0}")]
    Other(String),
}

impl ValueError {
    /// Returns the error for a part of a value, if `self` is the error for the whole value.
    pub fn within(self, what: String) -> ValueError {
        let why = Box::new(self);
        ValueError::Within { what, why }
    }

    /// Returns the reason as monitors classify it.
    pub fn unavailability(&self) -> Unavailability {
        match self {
            ValueError::Unreadable(address) => Unavailability::Unreadable { address: *address },
            ValueError::OptimizedOut | ValueError::PartlyOptimizedOut => {
                Unavailability::OptimizedOut
            }
            ValueError::Location(error) => match error {
                LocationError::Unreadable { address } => {
                    Unavailability::Unreadable { address: *address }
                }
                LocationError::EntryValueLost | LocationError::RegisterUnknown { .. } => {
                    Unavailability::OptimizedOut
                }
                _ => Unavailability::NoValue,
            },
            ValueError::Argument(
                EntryUnavailable::Removed
                | EntryUnavailable::Unused
                | EntryUnavailable::ConventionChanged,
            ) => Unavailability::OptimizedOut,
            ValueError::Argument(_) => Unavailability::NoValue,
            ValueError::Within { why, .. } => why.unavailability(),
            ValueError::NoElement(_) => Unavailability::NoElement,
            ValueError::Other(_) => Unavailability::NoValue,
        }
    }
}

impl From<String> for ValueError {
    fn from(words: String) -> ValueError {
        ValueError::Other(words)
    }
}

impl From<&str> for ValueError {
    fn from(words: &str) -> ValueError {
        ValueError::Other(words.to_owned())
    }
}

impl From<ValueError> for String {
    fn from(error: ValueError) -> String {
        error.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_no_value_for_the_reason_of_the_whole() {
        let of_this = |why: ValueError| why.within("`size` is a field of `this`".to_owned());
        for (error, words, expected) in [
            (
                ValueError::Unreadable(0x18),
                "memory at 0x18 cannot be read",
                Unavailability::Unreadable { address: 0x18 },
            ),
            (
                of_this(ValueError::Unreadable(0x18)),
                "`size` is a field of `this`: memory at 0x18 cannot be read",
                Unavailability::Unreadable { address: 0x18 },
            ),
            (
                of_this(of_this(ValueError::OptimizedOut)),
                "`size` is a field of `this`: `size` is a field of `this`: optimized out",
                Unavailability::OptimizedOut,
            ),
            (
                of_this(LocationError::EntryValueLost.into()),
                "`size` is a field of `this`: optimized out: only its value at the entry of the \
                 function was kept",
                Unavailability::OptimizedOut,
            ),
            (
                ValueError::PartlyOptimizedOut,
                "partly optimized out",
                Unavailability::OptimizedOut,
            ),
            (
                of_this(ValueError::NoElement("it is empty".to_owned())),
                "`size` is a field of `this`: it is empty",
                Unavailability::NoElement,
            ),
            (
                "there is no `optimized out` in it".into(),
                "there is no `optimized out` in it",
                Unavailability::NoValue,
            ),
        ] {
            assert_eq!(error.to_string(), words);
            assert_eq!(error.unavailability(), expected, "{words}");
            assert_eq!(String::from(error), words);
        }
    }
}
