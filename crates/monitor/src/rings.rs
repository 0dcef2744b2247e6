//! Slices that agree on some of their parameters, linked in circles.
//!
//! So one is taken out without a search for its place among a million others.
//!
//! Invariant: the table holds one place for each ring; every slice that was
//! entered and not taken out is in one ring.

use crate::slices::{Place, Slices, make_room};
use crate::words::{agree, hash_words};
use hashbrown::HashTable;

/// Of a place that is alone.
const NOWHERE: u32 = u32::MAX;

/// Rings of the slices that agree on some of their parameters.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rings {
    /// The parameters that are hashed; bit n is parameter n.
    pub mask: u32,
    /// One member of each ring.
    pub heads: HashTable<Place>,
    /// By place; nowhere, or beyond the end, for one that is alone in its ring.
    /// So where all are alone, this is empty.
    next: Vec<Place>,
    /// By place, as the next.
    previous: Vec<Place>,
}

impl Rings {
    pub fn new(mask: u32) -> Rings {
        Rings {
            mask,
            ..Rings::default()
        }
    }

    pub fn after(&self, place: Place) -> Place {
        let next = self.next.get(place as usize).copied();
        next.filter(|&next| next != NOWHERE).unwrap_or(place)
    }

    fn before(&self, place: Place) -> Place {
        let previous = self.previous.get(place as usize).copied();
        let previous = previous.filter(|&previous| previous != NOWHERE);
        previous.unwrap_or(place)
    }

    fn link(&mut self, first: Place, second: Place) {
        let size = first.max(second) as usize + 1;
        if self.next.len() < size {
            for links in [&mut self.next, &mut self.previous] {
                make_room(links, size - links.len());
                links.resize(size, NOWHERE);
            }
        }
        if let Some(next) = self.next.get_mut(first as usize) {
            *next = second;
        }
        if let Some(previous) = self.previous.get_mut(second as usize) {
            *previous = first;
        }
    }

    /// Forgets which ring the place was in.
    fn unlink(&mut self, place: Place) {
        for links in [&mut self.next, &mut self.previous] {
            if let Some(link) = links.get_mut(place as usize) {
                *link = NOWHERE;
            }
        }
    }

    pub fn insert(&mut self, slices: &Slices, place: Place) {
        let mask = self.mask;
        let hash = |&place: &Place| hash_words(slices.binding(place), mask);
        let agrees = |&other: &Place| agree(slices.binding(other), slices.binding(place), mask);
        match self.heads.find(hash(&place), agrees).copied() {
            Some(head) => {
                let last = self.before(head);
                self.link(last, place);
                self.link(place, head);
            }
            None => {
                self.unlink(place);
                self.heads.insert_unique(hash(&place), place, hash);
            }
        }
    }

    pub fn remove(&mut self, slices: &Slices, place: Place) {
        let (before, after) = (self.before(place), self.after(place));
        let hash = hash_words(slices.binding(place), self.mask);
        if let Ok(mut head) = self.heads.find_entry(hash, |&head| head == place) {
            if after == place {
                head.remove();
                return;
            }
            *head.get_mut() = after;
        }
        self.link(before, after);
    }

    /// The bytes that were taken from the system.
    pub fn bytes(&self) -> usize {
        self.heads.allocation_size() + 4 * (self.next.capacity() + self.previous.capacity())
    }
}
