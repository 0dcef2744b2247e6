//! Slices that agree on some of their parameters, linked in circles.
//!
//! So one is taken out without a search for its place among a million others.
//!
//! The links are not the table's own: a slice is in the tables of one group alone,
//! and the n-th tables of all groups share theirs ([`Links`]).
//!
//! Invariant: the table holds one place for each ring; every slice that was
//! entered and not taken out is in one ring.

use crate::slices::{Place, Slices, make_room};
use crate::words::{Word, agree, hash_words};
use hashbrown::HashTable;

/// Of a place that is alone.
const NOWHERE: u32 = u32::MAX;
/// A ring with more slices is not short.
const SHORT_MAX: usize = 4;

/// Which slices are next to each other in rings.
#[derive(Debug, Clone, Default)]
pub(crate) struct Links {
    /// By place; nowhere, or beyond the end, for one that is alone in its ring.
    /// So where all are alone, this is empty.
    next: Vec<Place>,
    /// By place, as the next.
    previous: Vec<Place>,
}

/// Rings of the slices that agree on some of their parameters.
#[derive(Debug, Clone)]
pub(crate) struct Rings {
    /// The parameters that are hashed; bit n is parameter n.
    pub mask: u32,
    /// No ring was ever long: whoever looks through one is soon done.
    pub are_short: bool,
    /// One member of each ring.
    heads: HashTable<Place>,
}

impl Links {
    /// The ring of a slice, from it on.
    fn along(&self, head: Place) -> impl Iterator<Item = Place> + '_ {
        let after = move |&place: &Place| Some(self.after(place)).filter(|&next| next != head);
        std::iter::successors(Some(head), after)
    }

    fn after(&self, place: Place) -> Place {
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

    /// The bytes that were taken from the system.
    pub fn bytes(&self) -> usize {
        4 * (self.next.capacity() + self.previous.capacity())
    }
}

impl Rings {
    pub fn new(mask: u32) -> Rings {
        Rings {
            mask,
            are_short: true,
            heads: HashTable::new(),
        }
    }

    /// The slices that agree with the binding on the parameters that are hashed.
    #[inline]
    pub fn ring<'a>(
        &self,
        slices: &Slices,
        links: &'a Links,
        binding: &[Word],
    ) -> impl Iterator<Item = Place> + use<'a> {
        let agrees = |&place: &Place| agree(slices.binding(place), binding, self.mask);
        let head = self.heads.find(hash_words(binding, self.mask), agrees);
        let head = head.copied();
        head.into_iter().flat_map(move |head| links.along(head))
    }

    /// All slices.
    pub fn places<'a>(&'a self, links: &'a Links) -> impl Iterator<Item = Place> + 'a {
        self.heads.iter().flat_map(move |&head| links.along(head))
    }

    pub fn insert(&mut self, slices: &Slices, links: &mut Links, place: Place) {
        let mask = self.mask;
        let hash = |&place: &Place| hash_words(slices.binding(place), mask);
        let agrees = |&other: &Place| agree(slices.binding(other), slices.binding(place), mask);
        match self.heads.find(hash(&place), agrees).copied() {
            Some(head) => {
                if self.are_short {
                    self.are_short = links.along(head).take(SHORT_MAX).count() < SHORT_MAX;
                }
                let last = links.before(head);
                links.link(last, place);
                links.link(place, head);
            }
            None => {
                links.unlink(place);
                enter(&mut self.heads, place, hash);
            }
        }
    }

    pub fn remove(&mut self, slices: &Slices, links: &mut Links, place: Place) {
        let (before, after) = (links.before(place), links.after(place));
        let hash = hash_words(slices.binding(place), self.mask);
        if let Ok(mut head) = self.heads.find_entry(hash, |&head| head == place) {
            if after == place {
                head.remove();
                return;
            }
            *head.get_mut() = after;
        }
        links.link(before, after);
    }

    /// The bytes that the table has taken from the system.
    pub fn bytes(&self) -> usize {
        self.heads.allocation_size()
    }
}

/// Enters a place into a table. One in which removed places stand in the way of new
/// ones is made anew rather than twice as large, unless it is nearly full.
#[inline]
pub(crate) fn enter(table: &mut HashTable<Place>, place: Place, hash: impl Fn(&Place) -> u64) {
    if table.len() == table.capacity() && !table.is_empty() {
        make_anew(table, &hash);
    }
    table.insert_unique(hash(&place), place, hash);
}

#[cold]
fn make_anew(table: &mut HashTable<Place>, hash: &impl Fn(&Place) -> u64) {
    let count = table.len();
    // With room for a quarter more, it is not made anew again soon.
    let mut anew = HashTable::with_capacity(count + count / 4 + 1);
    if anew.allocation_size() <= table.allocation_size() {
        for &place in &*table {
            anew.insert_unique(hash(&place), place, hash);
        }
        *table = anew;
    }
}
