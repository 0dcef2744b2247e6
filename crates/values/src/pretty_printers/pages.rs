//! Reads a range of the elements of a container, and counts them.
//!
//! Invariant: a walk ends. Its bound grows with the number of skipped elements, so that the last
//! element of a large container can be reached and a damaged container cannot cause an endless
//! walk.

use super::evaluate::Run;
use super::rule::PrettyPrinter;
use super::seek::Wanted;
use super::walks::{Key, Walks};
use crate::typed::{Memory, Typed};
use juror_symbols::Type;
use std::sync::Arc;

/// The most statements before the first element.
const STEPS_BEFORE: usize = 20_000;
/// The most statements for each element.
const STEPS_EACH: usize = 64;
/// The most statements of a walk.
const STEPS_MAX: usize = 20_000_000;

/// Returns the number of elements or entries, from the view's `count` or by a walk.
pub(crate) fn count_of(
    value: &Typed,
    printer: &Arc<PrettyPrinter>,
    memory: &dyn Memory,
    types: &dyn Fn(&str) -> Option<Type>,
    walks: Option<&Walks>,
) -> usize {
    let kept = walks.zip(Key::of(value, printer));
    let memory = &value.memory(memory);
    if printer.knows_length() {
        let mut run = Run::new(value, printer, Wanted::Length, memory, types);
        // A count without a value is that of a damaged container, and a walk would not end.
        let _ = run.block(&printer.body);
        return run.passed;
    }
    let wanted = Wanted::Elements(usize::MAX, 1);
    let mut run = Run::new(value, printer, wanted, memory, types);
    run.steps_max = STEPS_MAX;
    run.trail = kept.as_ref().map(|(walks, key)| walks.take(key));
    if let Some(count) = run.trail.as_ref().and_then(|it| it.count) {
        run.passed = count;
    } else {
        // A walk that fails has counted the elements that can be reached.
        let _ = run.block(&printer.body);
    }
    if let (Some((walks, key)), Some(mut trail)) = (kept, run.trail) {
        trail.count = Some(run.passed);
        walks.put(key, trail);
    }
    run.passed
}

/// Returns `count` elements from `start` on, each with its key if the container has keys. Returns
/// fewer if the container ends before, or if an element cannot be reached. Goes on from where an
/// earlier walk has come to.
pub(crate) fn page(
    value: &Typed,
    printer: &Arc<PrettyPrinter>,
    (start, count): (usize, usize),
    memory: &dyn Memory,
    types: &dyn Fn(&str) -> Option<Type>,
    walks: Option<&Walks>,
) -> Vec<(Option<Typed>, Typed)> {
    if count == 0 {
        return Vec::new();
    }
    let memory = &value.memory(memory);
    let wanted = Wanted::Elements(start, count);
    let mut run = Run::new(value, printer, wanted, memory, types);
    let most = start.saturating_add(count).saturating_mul(STEPS_EACH);
    run.steps_max = most.saturating_add(STEPS_BEFORE).min(STEPS_MAX);
    let kept = walks.zip(Key::of(value, printer));
    let trail = kept.as_ref().map(|(walks, key)| walks.take(key));
    let place = trail.as_ref().and_then(|it| it.before(start)).cloned();
    run.trail = trail;
    // The elements that were found before a failure are valid.
    let _ = match place {
        Some(place) => run.resume(&printer.body, &place),
        None => run.block(&printer.body),
    };
    if let (Some((walks, key)), Some(trail)) = (kept, run.trail.take()) {
        walks.put(key, trail);
    }
    let entries = run.entries.into_iter();
    let entries = entries.map(|(key, value)| (Some(key), value));
    let elements = run.elements.into_iter().map(|element| (None, element));
    entries.chain(elements).collect()
}
