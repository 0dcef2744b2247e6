//! Verdicts of monitors.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The verdict of a property over the events seen so far.
///
/// A state that does not accept and from which no accepting state is reachable is
/// `Violated`; if an accepting state is reachable, it is `PresumablyViolated` and
/// becomes a violation only if the run ends there. Accepting states are treated
/// likewise.
///
/// Ordered from best to worst, so that the verdict of a sliced property is the maximum
/// over its slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The property holds, whatever happens next.
    Satisfied,
    /// Undecided; the property would hold if the run ended now.
    PresumablySatisfied,
    /// Undecided; the property would be violated if the run ended now.
    PresumablyViolated,
    /// The property is violated, whatever happens next.
    Violated,
}

impl Verdict {
    /// Returns the verdict if the run ends here: undecided verdicts become decided.
    pub fn at_end(self) -> Verdict {
        match self {
            Verdict::Satisfied | Verdict::PresumablySatisfied => Verdict::Satisfied,
            Verdict::PresumablyViolated | Verdict::Violated => Verdict::Violated,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Satisfied => "satisfied",
            Verdict::PresumablySatisfied => "presumably satisfied",
            Verdict::PresumablyViolated => "presumably violated",
            Verdict::Violated => "violated",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Verdicts from best to worst, their words, and what they become at the end.
    const VERDICTS: [(Verdict, &str, Verdict); 4] = [
        (Verdict::Satisfied, "satisfied", Verdict::Satisfied),
        (
            Verdict::PresumablySatisfied,
            "presumably satisfied",
            Verdict::Satisfied,
        ),
        (
            Verdict::PresumablyViolated,
            "presumably violated",
            Verdict::Violated,
        ),
        (Verdict::Violated, "violated", Verdict::Violated),
    ];

    #[test]
    fn verdicts_are_shown_in_words() {
        for (verdict, words, _) in VERDICTS {
            assert_eq!(verdict.to_string(), words);
        }
    }

    #[test]
    fn the_end_decides_for_what_would_hold_there() {
        for (verdict, _, at_end) in VERDICTS {
            assert_eq!(verdict.at_end(), at_end, "{verdict}");
        }
    }

    #[test]
    fn the_worst_verdict_is_the_largest() {
        assert!(VERDICTS.is_sorted_by(|(better, ..), (worse, ..)| better < worse));
    }
}
