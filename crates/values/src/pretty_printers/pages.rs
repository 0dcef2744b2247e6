//! A range of what a view shows, and how much there is in all.
//!
//! Invariant: a walk ends. Its bound grows with the number of elements that are passed, so the
//! last element of a large container can be reached, and a damaged one does not go on forever.

use super::evaluate::{Halt, Run};
use super::rule::PrettyPrinter;
use super::seek::Wanted;
use crate::typed::{Memory, Typed};
use juror_symbols::Type;

/// Statements that are run on the way to the first element.
const STEPS_BEFORE: usize = 20_000;
/// Statements that are run for an element.
const STEPS_EACH: usize = 64;
/// Statements of the longest walk.
const STEPS_MAX: usize = 20_000_000;

/// Returns the number of elements or entries: as the view says it, or as a walk counts them.
pub(crate) fn count_of(
    value: &Typed,
    printer: &PrettyPrinter,
    memory: &dyn Memory,
    types: &dyn Fn(&str) -> Option<Type>,
) -> usize {
    let memory = &value.memory(memory);
    if printer.knows_length() {
        let mut run = Run::new(value, printer, Wanted::Length, memory, types);
        if let Ok(()) | Err(Halt::Full) = run.block(&printer.body) {
            return run.passed;
        }
    }
    let wanted = Wanted::Elements(usize::MAX, 1);
    let mut run = Run::new(value, printer, wanted, memory, types);
    run.steps_max = STEPS_MAX;
    // A walk that fails has counted what can be reached.
    let _ = run.block(&printer.body);
    run.passed
}

/// Returns `count` elements from `start` on, each with its key where the view has keys; fewer
/// if there are no more, or the others are not reached.
pub(crate) fn page(
    value: &Typed,
    printer: &PrettyPrinter,
    (start, count): (usize, usize),
    memory: &dyn Memory,
    types: &dyn Fn(&str) -> Option<Type>,
) -> Vec<(Option<Typed>, Typed)> {
    if count == 0 {
        return Vec::new();
    }
    let memory = &value.memory(memory);
    let wanted = Wanted::Elements(start, count);
    let mut run = Run::new(value, printer, wanted, memory, types);
    let most = start.saturating_add(count).saturating_mul(STEPS_EACH);
    run.steps_max = most.saturating_add(STEPS_BEFORE).min(STEPS_MAX);
    // The elements that a walk finds before it fails are there.
    let _ = run.block(&printer.body);
    let entries = run.entries.into_iter();
    let entries = entries.map(|(key, value)| (Some(key), value));
    let elements = run.elements.into_iter().map(|element| (None, element));
    entries.chain(elements).collect()
}
