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
