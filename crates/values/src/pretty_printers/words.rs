//! Evaluates the text of a `word` statement: `locked by thread {owner}`, `{seconds}s`.
//!
//! Invariant: its expressions are scalars, so formatting them evaluates no view.

use super::rule::Words;
use crate::format::{Names, Radix, format};
use crate::typed::{Memory, Number, Typed};
use juror_language::Expression;

impl Words {
    /// Returns the text, with each number formatted. Returns `None` if one cannot be read or is not
    /// a number.
    pub(super) fn written(
        &self,
        value: impl Fn(&Expression) -> Option<Typed>,
        memory: &dyn Memory,
    ) -> Option<String> {
        let mut text = self.first.to_string();
        for (expression, behind) in &self.numbers {
            let value = value(expression)?;
            let number = value.number(memory).ok()?;
            text += &match number {
                Number::Int(number) => number.to_string(),
                _ => format(&value, memory, &Nameless, Radix::Natural),
            };
            text += behind;
        }
        Some(text)
    }
}

/// Addresses in the text have no symbols.
struct Nameless;

impl Names for Nameless {
    fn name_of(&self, _: u64) -> Option<String> {
        None
    }
}
