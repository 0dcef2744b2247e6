//! From the values of an event's parameters to the slices they concern.
//!
//! Slices are grouped by the set of parameters that they bind. For each smaller
//! set in which events can meet it, a group has a table of rings: the slices that
//! agree on that set are linked in a circle, so that one is taken out without a
//! search for its place among a million others. A slice with a given binding is
//! found by a table for the whole set; as long as some of the rings are all short,
//! it is found in its ring, and that table is not there. Where events meet the
//! group in no parameter at all, it has a list of its members.
//!
//! A slice is in one group, so what is known by its place is kept once for all
//! groups: its neighbours in the rings, its position in the list.
//!
//! Invariant: a table holds one place for each ring, and every member of the
//! group is in one ring of each table.

use crate::hashing;
use crate::rings::{Links, Rings, enter};
use crate::slices::{BASE, Place, Slices, make_room};
use crate::words::{Word, agree, hash_words};
use hashbrown::HashTable;
use juror_language::StateId;

/// Of a place that is in no list.
const NOWHERE: u32 = u32::MAX;

/// The slices that bind one set of parameters.
#[derive(Debug, Clone)]
struct Group {
    mask: u32,
    count: usize,
    /// All members by what they bind; nothing while some rings are short.
    exact: Option<HashTable<Place>>,
    rings: Vec<Rings>,
    /// All members, where events meet the group in no parameter.
    members: Option<Members>,
    /// By state: how many members are in it; nothing where nobody asks.
    states: Option<Vec<u32>>,
}

/// A list from which a place is taken out at once.
#[derive(Debug, Clone, Default)]
struct Members {
    places: Vec<Place>,
}

/// What is known by the place of a slice, whatever its group.
#[derive(Debug, Clone, Default)]
struct ByPlace {
    /// By the number of the table in its group.
    links: Vec<Links>,
    /// Where it is in the list of its group, if that has one.
    positions: Vec<u32>,
}

/// All groups but that of the base slice, those that bind most first.
#[derive(Debug, Clone)]
pub(crate) struct Index {
    groups: Vec<Group>,
    by_place: ByPlace,
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
            by_place: ByPlace::default(),
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
        for group in groups.filter(|group| group.mask & mask == mask) {
            group.compatible(slices, &self.by_place, binding, mask, found);
        }
    }

    /// The slices that bind less than the event but contradict nothing, from
    /// which new slices may come. Groups that meet the event in no parameter
    /// are left out when none of their states is one that it changes; gives
    /// whether there were any.
    pub(crate) fn parents(
        &self,
        slices: &Slices,
        binding: &[Word],
        mask: u32,
        is_changed: &impl Fn(StateId) -> bool,
        found: &mut Vec<Place>,
    ) -> bool {
        let mut left_out = false;
        let groups = self.groups.iter();
        for group in groups.filter(|group| group.mask & mask != mask) {
            let common = group.mask & mask;
            if common == 0 && !group.has_state(is_changed) {
                left_out |= group.count > 0;
            } else {
                group.compatible(slices, &self.by_place, binding, common, found);
            }
        }
        found.push(BASE);
        left_out
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
        group.exact(slices, &self.by_place, binding)
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
        for (rings, links) in group.rings.iter_mut().zip(&mut self.by_place.links) {
            rings.insert(slices, links, place);
        }
        match &mut group.exact {
            Some(exact) => enter(exact, place, |&place: &Place| {
                hash_words(slices.binding(place), mask)
            }),
            None => group.keep_findable(slices, &self.by_place),
        }
        if let Some(members) = &mut group.members {
            members.insert(&mut self.by_place.positions, place);
        }
        group.enter(slices.state(place));
    }

    /// A group for slices that bind these parameters; gives where it is.
    fn add_group(&mut self, mask: u32) -> usize {
        let group = Group::new(mask, &self.event_masks, self.counts_states);
        let tables = self.by_place.links.len().max(group.rings.len());
        self.by_place.links.resize_with(tables, Links::default);
        let binds_more = |other: &Group| other.mask.count_ones() > mask.count_ones();
        let position = self.groups.partition_point(binds_more);
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
        for (rings, links) in group.rings.iter_mut().zip(&mut self.by_place.links) {
            rings.remove(slices, links, place);
        }
        if let Some(members) = &mut group.members {
            members.remove(&mut self.by_place.positions, place);
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
        let of_members = |members: &Members| 4 * members.places.capacity();
        let of_places = self.by_place.links.iter().map(Links::bytes).sum::<usize>()
            + 4 * self.by_place.positions.capacity();
        let groups = self.groups.iter().map(|group| {
            let exact = group.exact.as_ref();
            exact.map_or(0, HashTable::allocation_size)
                + group.rings.iter().map(Rings::bytes).sum::<usize>()
                + group.members.as_ref().map_or(0, of_members)
        });
        of_places + groups.sum::<usize>()
    }
}

impl Group {
    fn new(mask: u32, event_masks: &[u32], counts_states: bool) -> Group {
        let bound = || event_masks.iter().filter(|&&event| event != 0);
        let mut masks: Vec<u32> = bound().map(|event| event & mask).collect();
        masks.sort_unstable();
        masks.dedup();
        masks.retain(|&common| common != 0 && common != mask);
        let is_met_in_none = bound().any(|event| event & mask == 0);
        Group {
            mask,
            count: 0,
            exact: masks.is_empty().then(HashTable::new),
            rings: masks.into_iter().map(Rings::new).collect(),
            members: is_met_in_none.then(Members::default),
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
        let is_plain = self.rings.is_empty() && self.members.is_none();
        let exact = self.exact.as_mut().filter(|_| is_plain)?;
        Some((exact, &mut self.count))
    }

    /// The member with this binding.
    #[inline]
    fn exact(&self, slices: &Slices, by_place: &ByPlace, binding: &[Word]) -> Option<Place> {
        let agrees = |place: Place| agree(slices.binding(place), binding, self.mask);
        if let Some(exact) = &self.exact {
            let hash = hash_words(binding, self.mask);
            return exact.find(hash, |&place| agrees(place)).copied();
        }
        let tables = self.rings.iter().zip(&by_place.links);
        let (rings, links) = tables.into_iter().find(|(rings, _)| rings.are_short)?;
        let mut ring = rings.ring(slices, links, binding);
        ring.find(|&place| agrees(place))
    }

    /// When there are no short rings any more, the members get a table.
    fn keep_findable(&mut self, slices: &Slices, by_place: &ByPlace) {
        let (Some(rings), Some(links)) = (self.rings.first(), by_place.links.first()) else {
            return;
        };
        if self.rings.iter().any(|rings| rings.are_short) {
            return;
        }
        let mask = self.mask;
        let mut exact = HashTable::with_capacity(self.count);
        for place in rings.places(links) {
            enter(&mut exact, place, |&place: &Place| {
                hash_words(slices.binding(place), mask)
            });
        }
        self.exact = Some(exact);
    }

    /// Whether a member is in such a state.
    fn has_state(&self, is_such: &impl Fn(StateId) -> bool) -> bool {
        let counts = self.states.iter().flatten();
        let mut occupied = (0..).zip(counts).filter(|(_, count)| **count > 0);
        occupied.any(|(state, _)| is_such(StateId(state)))
    }

    /// The slices of this group that agree with the binding on the
    /// parameters that both bind.
    fn compatible(
        &self,
        slices: &Slices,
        by_place: &ByPlace,
        binding: &[Word],
        common: u32,
        found: &mut Vec<Place>,
    ) {
        if common == 0 {
            let members = self.members.as_ref().map(|members| &members.places);
            found.extend(members.into_iter().flatten());
            return;
        }
        if common == self.mask {
            found.extend(self.exact(slices, by_place, binding));
            return;
        }
        let mut tables = self.rings.iter().zip(&by_place.links);
        if let Some((rings, links)) = tables.find(|(rings, _)| rings.mask == common) {
            found.extend(rings.ring(slices, links, binding));
        }
    }
}

impl Members {
    fn insert(&mut self, positions: &mut Vec<u32>, place: Place) {
        let size = place as usize + 1;
        if positions.len() < size {
            make_room(positions, size - positions.len());
            positions.resize(size, NOWHERE);
        }
        if let Some(position) = positions.get_mut(place as usize) {
            *position = u32::try_from(self.places.len()).unwrap_or(NOWHERE);
        }
        self.places.push(place);
    }

    fn remove(&mut self, positions: &mut [u32], place: Place) {
        let position = positions.get(place as usize).copied();
        let position = position.unwrap_or(NOWHERE) as usize;
        if position >= self.places.len() {
            return;
        }
        self.places.swap_remove(position);
        if let Some(&moved) = self.places.get(position)
            && let Some(place) = positions.get_mut(moved as usize)
        {
            *place = u32::try_from(position).unwrap_or(NOWHERE);
        }
    }
}

#[cfg(test)]
mod tests;
