//! What a monitor has to say at a moment of the run.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The verdict of a property over the events seen so far.
///
/// Ordered from best to worst, so that the verdict of a sliced property is the
/// maximum over its slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Holds, whatever happens next.
    Satisfied,
    /// Not decided; it would hold if the run ended now.
    PresumablySatisfied,
    /// Not decided; it would be violated if the run ended now.
    PresumablyViolated,
    /// Violated, whatever happens next.
    Violated,
}

impl Verdict {
    /// The verdict when the run ends here: the undecided become decided.
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
