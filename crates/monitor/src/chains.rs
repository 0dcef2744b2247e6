//! Chains that link the slices that agree on some of their parameters.
//!
//! A slice is removed from its chain without a search among all others, and, unless it
//! is the first of its chain, without access to the hash table.
//!
//! The links are not part of the table: a slice is in the tables of one group only, and
//! the n-th tables of all groups share theirs ([`crate::links`]).
//!
//! **Invariant:** the table contains the first slice of each chain; every slice that
//! was added and not removed is in one chain.

use crate::links::Links;
use crate::slices::{Place, Slices};
use crate::words::{Word, agree, hash_words};
use hashbrown::HashTable;

/// The maximum length of a short chain.
const SHORT_MAX: usize = 4;

/// The chains of slices that agree on some of their parameters.
#[derive(Debug, Clone)]
pub(crate) struct Chains {
    /// The hashed parameters; bit n is parameter n. If there are none, all slices form
    /// one chain.
    pub mask: u32,
    /// True if no chain was ever long, so that searching one is cheap.
    pub are_short: bool,
    /// The first slice of each chain.
    heads: HashTable<Place>,
}

impl Chains {
    pub fn new(mask: u32) -> Chains {
        Chains {
            mask,
            are_short: true,
            heads: HashTable::new(),
        }
    }

    /// Returns the first slice that agrees with the binding on the hashed parameters.
    #[inline]
    pub fn head(&self, slices: &Slices, binding: &[Word]) -> Option<Place> {
        let agrees = |&place: &Place| agree(slices.binding(place), binding, self.mask);
        let head = self.heads.find(hash_words(binding, self.mask), agrees);
        head.copied()
    }

    /// Iterates over the slices that agree with the binding on the hashed parameters.
    #[inline]
    pub fn chain<'a>(
        &self,
        slices: &Slices,
        links: &'a Links,
        binding: &[Word],
    ) -> impl Iterator<Item = Place> + use<'a> {
        let head = self.head(slices, binding);
        head.into_iter().flat_map(move |head| links.along(head))
    }

    /// Iterates over all slices.
    pub fn places<'a>(&'a self, links: &'a Links) -> impl Iterator<Item = Place> + 'a {
        self.heads.iter().flat_map(move |&head| links.along(head))
    }

    pub fn insert(&mut self, slices: &Slices, links: &mut Links, place: Place) {
        let mask = self.mask;
        let binding = slices.binding(place);
        let hash = |&place: &Place| hash_words(slices.binding(place), mask);
        let agrees = |&other: &Place| agree(slices.binding(other), binding, mask);
        match self.heads.find_mut(hash(&place), agrees) {
            Some(head) => {
                if self.are_short {
                    self.are_short = links.along(*head).take(SHORT_MAX).count() < SHORT_MAX;
                }
                links.lead(place, *head);
                *head = place;
            }
            None => {
                links.isolate(place);
                enter(&mut self.heads, place, hash);
            }
        }
    }

    pub fn remove(&mut self, slices: &Slices, links: &mut Links, place: Place) {
        if links.previous(place).is_none() {
            let hash = hash_words(slices.binding(place), self.mask);
            if let Ok(mut head) = self.heads.find_entry(hash, |&head| head == place) {
                match links.next(place) {
                    Some(next) => *head.get_mut() = next,
                    None => {
                        head.remove();
                    }
                }
            }
        }
        links.take_out(place);
    }

    /// Returns the number of bytes allocated for the table.
    pub fn bytes(&self) -> usize {
        self.heads.allocation_size()
    }
}

/// Adds a slice to a table. If the table is full of tombstones, it is rebuilt at the
/// same size instead of doubled, unless it is nearly full.
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
    // A quarter of spare room avoids another rebuild soon.
    let mut anew = HashTable::with_capacity(count + count / 4 + 1);
    if anew.allocation_size() <= table.allocation_size() {
        for &place in &*table {
            anew.insert_unique(hash(&place), place, hash);
        }
        *table = anew;
    }
}
