//! Temporal logic and regular expressions over letters.
//!
//! A *letter* says which propositions are true at one step. What a
//! proposition means is not known here: monitors and the model checker give
//! letters and take verdicts.

#![forbid(unsafe_code)]

mod formula;
mod regex;

pub use formula::{Bound, Formula, Letter};
pub use regex::{Guard, Meaning, Regex};
