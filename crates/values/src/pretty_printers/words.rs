//! Words of a view with numbers in them: `locked by thread {owner}`, `{seconds}s`.
//!
//! Invariant: what stands in them is no object, so writing words needs no view again.

use super::rule::Words;
use crate::format::{Names, Radix, format};
use crate::typed::{Memory, Number, Typed};
use juror_language::Expression;

impl Words {
    /// The words, with each number as it is shown anywhere; nothing where one cannot be
    /// read, or is none.
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

/// Addresses in words have no names.
struct Nameless;

impl Names for Nameless {
    fn name_of(&self, _: u64) -> Option<String> {
        None
    }
}
