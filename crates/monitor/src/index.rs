//! The index of slices: from the parameter values of an event to the slices that they
//! concern.
//!
//! Slices are grouped by the set of parameters that they bind. For each smaller set in
//! which events can share parameters with it, a group has a table of chains, which link
//! the slices that agree on that set, so that a slice is removed without a search among
//! all others. A slice with a given binding is found by a table for the whole set; if
//! the chains of some table are all short, it is found in its chain instead, and the
//! exact table does not exist. If events share no parameter with the group, its members
//! form one chain.
//!
//! A slice is in one group, so its neighbours in the chains are stored by cell, once
//! for all groups.
//!
//! **Invariant:** every member of a group is in one chain of each of its tables; groups
//! are in the order in which parents are asked, those that bind most first.

use crate::chains::{Chains, enter};
use crate::hashing;
use crate::links::Links;
use crate::slices::{Place, Slices};
use crate::words::{Word, agree, hash_words, mask_of};
use hashbrown::HashTable;
use juror_language::StateId;
use std::cmp::Reverse;

/// The maximum number of states that are examined to exclude a group, unless the
/// alternative is to examine all its members.
const FEW_STATES: usize = 32;

/// The slices that bind one set of parameters.
#[derive(Debug, Clone)]
struct Group {
    mask: u32,
    count: usize,
    /// All members by binding; `None` while the chains of some table are short.
    exact: Option<HashTable<Place>>,
    chains: Vec<Chains>,
    /// The number of members in each state, if these are counted.
    states: Option<Vec<u32>>,
}

/// All groups except that of the base slice, those that bind most first.
#[derive(Debug, Clone)]
pub(crate) struct Index {
    groups: Vec<Group>,
    /// By the position of the table in its group.
    links: Vec<Links>,
    /// The sets of parameters that events bind.
    event_masks: Vec<u32>,
    /// True if the states of slices that bind less are queried.
    counts_states: bool,
}

impl Index {
    /// Creates an index without slices. `drops` is true if slices that equal the one
    /// below them are looked for.
    pub(crate) fn new(event_masks: Vec<u32>, drops: bool) -> Index {
        let bound = event_masks.iter().filter(|&&mask| mask != 0);
        Index {
            // If all events bind the same parameters, only the base is below a slice.
            counts_states: drops && bound.count() > 1,
            groups: Vec::new(),
            links: Vec::new(),
            event_masks,
        }
    }

    /// Finds the slices that bind the parameters of the event with the same values.
    pub(crate) fn targets(
        &self,
        slices: &Slices,
        binding: &[Word],
        mask: u32,
        found: &mut Vec<Place>,
    ) {
        let groups = self.groups.iter();
        for group in groups.filter(|group| group.count > 0 && group.mask & mask == mask) {
            group.compatible(slices, &self.links, binding, mask, found);
        }
    }

    /// Finds the slices that bind exactly the parameters `group` and agree with the
    /// binding on the common parameters. Returns false, and no slices, if none of them
    /// can be in a state that satisfies `is_such`.
    pub(crate) fn parents(
        &self,
        slices: &Slices,
        group: u32,
        (binding, mask): (&[Word], u32),
        is_such: &impl Fn(StateId) -> bool,
        found: &mut Vec<Place>,
    ) -> bool {
        let group = self.groups.iter().find(|other| other.mask == group);
        let Some(group) = group.filter(|group| group.may_have_state(group.mask & mask, is_such))
        else {
            return false;
        };
        group.compatible(slices, &self.links, binding, group.mask & mask, found);
        true
    }

    /// Returns true if a slice that binds the parameters `group` may contain the
    /// binding, which has fewer of them.
    pub(crate) fn may_contain(&self, slices: &Slices, group: u32, binding: &[Word]) -> bool {
        let Some(group) = self.groups.iter().find(|other| other.mask == group) else {
            return false;
        };
        let mask = mask_of(binding);
        let chains = group.chains.iter().find(|chains| chains.mask == mask);
        chains.is_none_or(|chains| chains.head(slices, binding).is_some())
    }

    /// Records that a slice has moved from one state to another.
    pub(crate) fn moved(&mut self, slices: &Slices, place: Place, from: StateId, to: StateId) {
        let mask = slices.mask(place);
        let group = self.groups.iter_mut().find(|group| group.mask == mask);
        if let Some(group) = group {
            group.leave(from);
            group.enter(to);
        }
    }

    /// Returns the slice with exactly this binding.
    #[inline]
    pub(crate) fn exact(&self, slices: &Slices, binding: &[Word], mask: u32) -> Option<Place> {
        let group = self.groups.iter().find(|group| group.mask == mask)?;
        group.exact(slices, &self.links, binding)
    }

    /// Returns the slice that binds the only parameter to the word.
    #[inline]
    pub(crate) fn only(&self, slices: &Slices, word: Word) -> Option<Place> {
        let group = self.groups.first()?;
        let is_it = |&place: &Place| slices.first_word(place) == Some(word);
        let found = group.exact.as_ref()?.find(hashing::mix(0, word), is_it);
        found.copied()
    }

    /// Returns true if all slices except the base bind exactly these parameters.
    #[inline]
    pub(crate) fn binds_all(&self, mask: u32) -> bool {
        let mut groups = self.groups.iter();
        groups.all(|group| group.mask == mask || group.count == 0)
    }

    /// Returns true if a slice that binds a proper subset of these parameters, with any
    /// values, may be in this state.
    pub(crate) fn has_below(&self, mask: u32, state: StateId) -> bool {
        let parts = self.groups.iter().filter(|group| {
            group.count > 0 && group.mask & mask == group.mask && group.mask != mask
        });
        parts.into_iter().any(|group| match &group.states {
            Some(states) => states.get(state.index()).is_some_and(|&count| count > 0),
            None => true,
        })
    }

    /// Iterates over the parameter sets that slices bind, the largest first.
    pub(crate) fn masks(&self) -> impl Iterator<Item = u32> + '_ {
        let occupied = self.groups.iter().filter(|group| group.count > 0);
        occupied.map(|group| group.mask)
    }

    /// Adds a slice; the base is not indexed.
    pub(crate) fn insert(&mut self, slices: &Slices, place: Place) {
        let mask = slices.mask(place);
        if mask == 0 {
            return;
        }
        let known = self.groups.iter().position(|group| group.mask == mask);
        let position = known.unwrap_or_else(|| self.add_group(mask));
        let Some(group) = self.groups.get_mut(position) else {
            return;
        };
        group.count += 1;
        for (chains, links) in group.chains.iter_mut().zip(&mut self.links) {
            chains.insert(slices, links, place);
        }
        match &mut group.exact {
            Some(exact) => enter(exact, place, |&place: &Place| {
                hash_words(slices.binding(place), mask)
            }),
            None => group.keep_findable(slices, &self.links),
        }
        group.enter(slices.state(place));
    }

    /// Adds a group for slices that bind these parameters; returns its position.
    fn add_group(&mut self, mask: u32) -> usize {
        let group = Group::new(mask, &self.event_masks, self.counts_states);
        let tables = self.links.len().max(group.chains.len());
        self.links.resize_with(tables, Links::default);
        let rank = |mask: u32| (Reverse(mask.count_ones()), mask);
        let position = self
            .groups
            .partition_point(|other| rank(other.mask) < rank(mask));
        self.groups.insert(position, group);
        position
    }

    /// Removes a slice, before it is removed from the arrays.
    pub(crate) fn remove(&mut self, slices: &Slices, place: Place) {
        let mask = slices.mask(place);
        let Some(group) = self.groups.iter_mut().find(|group| group.mask == mask) else {
            return;
        };
        group.count = group.count.saturating_sub(1);
        if let Some(exact) = &mut group.exact {
            let hash = hash_words(slices.binding(place), mask);
            if let Ok(entry) = exact.find_entry(hash, |&other| other == place) {
                entry.remove();
            }
        }
        for (chains, links) in group.chains.iter_mut().zip(&mut self.links) {
            chains.remove(slices, links, place);
        }
        group.leave(slices.state(place));
    }

    /// Adds a slice that binds the only parameter to the word.
    #[inline]
    pub(crate) fn insert_only(&mut self, slices: &Slices, place: Place, word: Word) {
        match self.groups.first_mut().and_then(Group::plain) {
            Some((exact, count)) => {
                debug_assert_eq!(slices.first_word(place), Some(word));
                *count += 1;
                enter(exact, place, |&place: &Place| {
                    let word = slices.first_word(place);
                    hashing::mix(0, word.unwrap_or_default())
                });
            }
            None => self.insert(slices, place),
        }
    }

    /// Removes a slice that binds the only parameter to the word.
    #[inline]
    pub(crate) fn remove_only(&mut self, slices: &Slices, place: Place, word: Word) {
        match self.groups.first_mut().and_then(Group::plain) {
            Some((exact, count)) => {
                let hash = hashing::mix(0, word);
                if let Ok(entry) = exact.find_entry(hash, |&other| other == place) {
                    entry.remove();
                    *count = count.saturating_sub(1);
                }
            }
            None => self.remove(slices, place),
        }
    }

    /// Returns the number of bytes allocated for the tables.
    pub(crate) fn bytes(&self) -> usize {
        let of_places = self.links.iter().map(Links::bytes).sum::<usize>();
        let groups = self.groups.iter().map(|group| {
            let exact = group.exact.as_ref();
            exact.map_or(0, HashTable::allocation_size)
                + group.chains.iter().map(Chains::bytes).sum::<usize>()
        });
        of_places + groups.sum::<usize>()
    }
}

impl Group {
    fn new(mask: u32, event_masks: &[u32], counts_states: bool) -> Group {
        let bound = event_masks.iter().filter(|&&event| event != 0);
        let mut masks: Vec<u32> = bound.map(|event| event & mask).collect();
        masks.sort_unstable();
        masks.dedup();
        masks.retain(|&common| common != mask);
        let is_met_in_none = masks.contains(&0);
        // If all members form one chain, it is no way to find one of them.
        masks.rotate_left(usize::from(is_met_in_none));
        Group {
            mask,
            count: 0,
            exact: masks.iter().all(|&common| common == 0).then(HashTable::new),
            chains: masks.into_iter().map(Chains::new).collect(),
            states: (is_met_in_none || counts_states).then(Vec::new),
        }
    }

    /// Counts a member that entered this state.
    #[inline]
    fn enter(&mut self, state: StateId) {
        let Some(states) = &mut self.states else {
            return;
        };
        let size = state.index() + 1;
        if states.len() < size {
            states.resize(size, 0);
        }
        if let Some(count) = states.get_mut(state.index()) {
            *count += 1;
        }
    }

    /// Counts a member that left this state.
    #[inline]
    fn leave(&mut self, state: StateId) {
        let states = self.states.as_mut();
        if let Some(count) = states.and_then(|states| states.get_mut(state.index())) {
            *count = count.saturating_sub(1);
        }
    }

    /// Returns the exact table and the member count if the group has no chains.
    fn plain(&mut self) -> Option<(&mut HashTable<Place>, &mut usize)> {
        let exact = self.exact.as_mut().filter(|_| self.chains.is_empty())?;
        Some((exact, &mut self.count))
    }

    /// Returns the member with this binding.
    #[inline]
    fn exact(&self, slices: &Slices, all_links: &[Links], binding: &[Word]) -> Option<Place> {
        let agrees = |place: Place| agree(slices.binding(place), binding, self.mask);
        if let Some(exact) = &self.exact {
            let hash = hash_words(binding, self.mask);
            return exact.find(hash, |&place| agrees(place)).copied();
        }
        let mut tables = self.chains.iter().zip(all_links);
        let (chains, links) = tables.find(|(chains, _)| chains.are_short)?;
        let mut chain = chains.chain(slices, links, binding);
        chain.find(|&place| agrees(place))
    }

    /// Builds the exact table once no table has only short chains any more.
    fn keep_findable(&mut self, slices: &Slices, all_links: &[Links]) {
        let (Some(chains), Some(links)) = (self.chains.first(), all_links.first()) else {
            return;
        };
        if self.chains.iter().any(|chains| chains.are_short) {
            return;
        }
        let mask = self.mask;
        let mut exact = HashTable::with_capacity(self.count);
        for place in chains.places(links) {
            enter(&mut exact, place, |&place: &Place| {
                hash_words(slices.binding(place), mask)
            });
        }
        self.exact = Some(exact);
    }

    /// Returns true if a member may be in a state that satisfies `is_such`; `common` is
    /// the set of parameters by which members would be looked up.
    fn may_have_state(&self, common: u32, is_such: &impl Fn(StateId) -> bool) -> bool {
        let Some(states) = &self.states else {
            return true;
        };
        if common != 0 && states.len() > FEW_STATES {
            return true;
        }
        let mut occupied = (0..).zip(states).filter(|(_, count)| **count > 0);
        occupied.any(|(state, _)| is_such(StateId(state)))
    }

    /// Finds the members that agree with the binding on the parameters that both bind.
    fn compatible(
        &self,
        slices: &Slices,
        all_links: &[Links],
        binding: &[Word],
        common: u32,
        found: &mut Vec<Place>,
    ) {
        if common == self.mask {
            found.extend(self.exact(slices, all_links, binding));
            return;
        }
        let mut tables = self.chains.iter().zip(all_links);
        if let Some((chains, links)) = tables.find(|(chains, _)| chains.mask == common) {
            found.extend(chains.chain(slices, links, binding));
        }
    }
}

#[cfg(test)]
mod tests;
