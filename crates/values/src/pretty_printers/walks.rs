//! The places that walks through containers have come to, so that the next page of a map or a list
//! does not begin at its first element.
//!
//! A view without an index, as of a tree, leads from one element to the next. Once in a while its
//! state is kept: its variables at the beginning of a round of its outermost loop. A later walk goes
//! on from the last of these places before the wanted element.
//!
//! **Invariant**: a place is used only while the memory of the program is as it was: the owner
//! forgets all when the program runs or memory is written.

use super::rule::PrettyPrinter;
use crate::typed::Typed;
use juror_symbols::Type;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

/// The most containers whose places are kept.
const CONTAINERS_MAX: usize = 64;
/// The most places that are kept of one container.
const PLACES_MAX: usize = 1024;
/// The number of elements between two places, at first.
const STRIDE: usize = 64;

/// The walks through the containers of a stop.
#[derive(Debug, Default)]
pub struct Walks(RefCell<HashMap<Key, Trail>>);

/// A container, by its address, its type and the view of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key(u64, String, usize);

impl Key {
    /// Returns nothing for a value that is not in the memory of the program as it is now.
    pub(super) fn of(value: &Typed, printer: &Arc<PrettyPrinter>) -> Option<Key> {
        if value.snapshot.is_some() {
            return None;
        }
        let address = value.address()?;
        Some(Key(
            address,
            value.r#type.name(),
            Arc::as_ptr(printer).addr(),
        ))
    }
}

impl Walks {
    /// Forgets all: the memory of the program may be another one.
    pub fn clear(&mut self) {
        self.0.get_mut().clear();
    }

    /// Takes what is kept of a container, for a walk that extends it.
    pub(super) fn take(&self, key: &Key) -> Trail {
        self.0.borrow_mut().remove(key).unwrap_or_default()
    }

    /// Keeps what a walk has extended.
    pub(super) fn put(&self, key: Key, trail: Trail) {
        let mut all = self.0.borrow_mut();
        if all.len() >= CONTAINERS_MAX {
            all.clear();
        }
        all.insert(key, trail);
    }
}

/// The places of the walks through one container.
#[derive(Debug, Clone)]
pub(super) struct Trail {
    places: Vec<Place>,
    stride: usize,
    /// The number of elements, if it was counted by a walk.
    pub(super) count: Option<usize>,
}

impl Default for Trail {
    fn default() -> Trail {
        Trail {
            places: Vec::new(),
            stride: STRIDE,
            count: None,
        }
    }
}

/// The state of a view at the beginning of a round of its outermost loop.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// The number of elements before it.
    pub(super) passed: usize,
    /// The position of the loop: in each block the number of the statement, and behind that of an
    /// `if` whether its condition was true.
    pub(super) at: Vec<usize>,
    /// The number of the round and the end, in a loop that counts.
    pub(super) round: Option<(i128, i128)>,
    pub(super) variables: HashMap<Box<str>, Typed>,
    pub(super) names: HashMap<Box<str>, Type>,
}

impl Trail {
    /// Returns the last place that is not behind an element.
    pub(super) fn before(&self, element: usize) -> Option<&Place> {
        let behind = self.places.partition_point(|it| it.passed <= element);
        self.places.get(behind.checked_sub(1)?)
    }

    /// Returns whether a place with so many elements before it is worth keeping.
    pub(super) fn wants(&self, passed: usize) -> bool {
        let last = self.places.last().map_or(0, |it| it.passed);
        passed >= last.saturating_add(self.stride)
    }

    /// Keeps a place behind the others. Of too many, every other one stays.
    pub(super) fn push(&mut self, place: Place) {
        if self.places.len() >= PLACES_MAX {
            let mut number = 0;
            self.places.retain(|_| {
                number += 1;
                number % 2 == 0
            });
            self.stride = self.stride.saturating_mul(2);
        }
        self.places.push(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(passed: usize) -> Place {
        Place {
            passed,
            at: Vec::new(),
            round: None,
            variables: HashMap::new(),
            names: HashMap::new(),
        }
    }

    #[test]
    fn places_stay_evenly_spread() {
        let mut trail = Trail::default();
        for passed in 0..1_000_000 {
            if trail.wants(passed) {
                trail.push(place(passed));
            }
        }
        assert!(trail.places.len() <= PLACES_MAX);
        for element in (0..1_000_000).step_by(997) {
            let before = trail.before(element).map_or(0, |it| it.passed);
            assert!(before <= element && element - before < 4 * trail.stride);
        }
        assert!(Trail::default().before(7).is_none());
    }
}
