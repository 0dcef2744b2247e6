//! From the values of an event's parameters to the slices they concern.
//!
//! Slices are grouped by the set of parameters that they bind. For each smaller
//! set in which events can meet it, a group has a table of chains: the slices that
//! agree on that set are linked, so that one is taken out without a search for its
//! place among a million others. A slice with a given binding is found by a table for
//! the whole set; as long as some of the chains are all short, it is found in its
//! chain, and that table is not there. Where events meet the group in no parameter at
//! all, its members are one chain.
//!
//! A slice is in one group, so its neighbours in the chains are kept by its place,
//! once for all groups.
//!
//! Invariant: every member of the group is in one chain of each table; groups are
//! in the order in which parents are asked, those that bind most first.

use crate::chains::{Chains, enter};
use crate::hashing;
use crate::links::Links;
use crate::slices::{Place, Slices};
use crate::words::{Word, agree, hash_words, mask_of};
use hashbrown::HashTable;
use juror_language::StateId;
use std::cmp::Reverse;

/// More states of a group are not looked through to leave it out, unless all its
/// members would be looked at instead.
const FEW_STATES: usize = 32;

/// The slices that bind one set of parameters.
#[derive(Debug, Clone)]
struct Group {
    mask: u32,
    count: usize,
    /// All members by what they bind; nothing while some chains are short.
    exact: Option<HashTable<Place>>,
    chains: Vec<Chains>,
    /// By state: how many members are in it; nothing where nobody asks.
    states: Option<Vec<u32>>,
}

/// All groups but that of the base slice, those that bind most first.
#[derive(Debug, Clone)]
pub(crate) struct Index {
    groups: Vec<Group>,
    /// By the number of the table in its group.
    links: Vec<Links>,
    /// The sets of parameters that events bind.
    event_masks: Vec<u32>,
    /// Somebody asks for the states of slices that bind less.
    counts_states: bool,
}

impl Index {
    /// With no slices. `drops`: those that are like the ones below them will be
    /// looked for.
    pub(crate) fn new(event_masks: Vec<u32>, drops: bool) -> Index {
        let bound = event_masks.iter().filter(|&&mask| mask != 0);
        Index {
            // Where all events bind the same, nothing but the base is below.
            counts_states: drops && bound.count() > 1,
            groups: Vec::new(),
            links: Vec::new(),
            event_masks,
        }
    }

    /// The slices that bind all that the event binds, with the same values.
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

    /// The slices that bind these parameters, agree with the binding, which has
    /// others, on those that both have. Gives false, and no slices, where none of
    /// them is in such a state.
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

    /// Whether a slice with these parameters may have the binding, which is of fewer
    /// of them.
    pub(crate) fn may_contain(&self, slices: &Slices, group: u32, binding: &[Word]) -> bool {
        let Some(group) = self.groups.iter().find(|other| other.mask == group) else {
            return false;
        };
        let mask = mask_of(binding);
        let chains = group.chains.iter().find(|chains| chains.mask == mask);
        chains.is_none_or(|chains| chains.head(slices, binding).is_some())
    }

    /// A slice has gone from one state to another.
    pub(crate) fn moved(&mut self, slices: &Slices, place: Place, from: StateId, to: StateId) {
        let mask = slices.mask(place);
        let group = self.groups.iter_mut().find(|group| group.mask == mask);
        if let Some(group) = group {
            group.leave(from);
            group.enter(to);
        }
    }

    /// The slice with exactly this binding.
    #[inline]
    pub(crate) fn exact(&self, slices: &Slices, binding: &[Word], mask: u32) -> Option<Place> {
        let group = self.groups.iter().find(|group| group.mask == mask)?;
        group.exact(slices, &self.links, binding)
    }

    /// The slice that binds this one parameter to the word, where there is no
    /// other parameter.
    #[inline]
    pub(crate) fn only(&self, slices: &Slices, word: Word) -> Option<Place> {
        let group = self.groups.first()?;
        let is_it = |&place: &Place| slices.first_word(place) == Some(word);
        let found = group.exact.as_ref()?.find(hashing::mix(0, word), is_it);
        found.copied()
    }

    /// Whether all slices but the base bind these parameters.
    #[inline]
    pub(crate) fn binds_all(&self, mask: u32) -> bool {
        let mut groups = self.groups.iter();
        groups.all(|group| group.mask == mask || group.count == 0)
    }

    /// Whether some slice that binds a part of these parameters, and not all, may
    /// be in this state. It may bind other values.
    pub(crate) fn has_below(&self, mask: u32, state: StateId) -> bool {
        let parts = self.groups.iter().filter(|group| {
            group.count > 0 && group.mask & mask == group.mask && group.mask != mask
        });
        parts.into_iter().any(|group| match &group.states {
            Some(states) => states.get(state.index()).is_some_and(|&count| count > 0),
            None => true,
        })
    }

    /// The sets of parameters that slices bind, the largest first.
    pub(crate) fn masks(&self) -> impl Iterator<Item = u32> + '_ {
        let occupied = self.groups.iter().filter(|group| group.count > 0);
        occupied.map(|group| group.mask)
    }

    /// Enters a slice; the base has no need of it.
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

    /// A group for slices that bind these parameters; gives where it is.
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

    /// Takes a slice out, before it is removed from the arrays.
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

    /// Enters a slice that binds the only parameter to the word.
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

    /// Takes out a slice that binds the only parameter to the word.
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

    /// The bytes that the tables have taken from the system.
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
        // Where all members are one chain, that is no way to find one of them.
        masks.rotate_left(usize::from(is_met_in_none));
        Group {
            mask,
            count: 0,
            exact: masks.iter().all(|&common| common == 0).then(HashTable::new),
            chains: masks.into_iter().map(Chains::new).collect(),
            states: (is_met_in_none || counts_states).then(Vec::new),
        }
    }

    /// One more member is in this state.
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

    /// One member less is in this state.
    #[inline]
    fn leave(&mut self, state: StateId) {
        let states = self.states.as_mut();
        if let Some(count) = states.and_then(|states| states.get_mut(state.index())) {
            *count = count.saturating_sub(1);
        }
    }

    /// The one table that its members are in, and how many they are, where there is
    /// nothing else.
    fn plain(&mut self) -> Option<(&mut HashTable<Place>, &mut usize)> {
        let exact = self.exact.as_mut().filter(|_| self.chains.is_empty())?;
        Some((exact, &mut self.count))
    }

    /// The member with this binding.
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

    /// When there are no short chains any more, the members get a table.
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

    /// Whether a member may be in such a state; `common` is what the others are met
    /// in.
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

    /// The slices of this group that agree with the binding on the
    /// parameters that both bind.
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
