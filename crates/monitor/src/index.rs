//! From the values of an event's parameters to the slices they concern.
//!
//! Slices are grouped by the set of parameters that they bind. A group has a
//! table for its whole set, in which a slice is unique. For each smaller set in
//! which events can meet it, it has a table of rings: the slices that agree on
//! that set are linked in a circle, so that one is taken out without a search
//! for its place among a million others. Where events meet it in no parameter
//! at all, it has a list of its members.
//!
//! Invariant: a table holds one place for each ring, and every member of the
//! group is in one ring of each table.

use crate::hashing;
use crate::rings::Rings;
use crate::slices::{BASE, Place, Slices};
use crate::words::{Word, agree, hash_words};
use hashbrown::HashTable;
use juror_language::StateId;

/// Of a place that is in no list.
const NOWHERE: u32 = u32::MAX;

/// The slices that bind one set of parameters.
#[derive(Debug, Clone)]
struct Group {
    mask: u32,
    exact: HashTable<Place>,
    rings: Vec<Rings>,
    /// All members, where events meet the group in no parameter.
    members: Option<Members>,
}

/// A list from which a place is taken out at once.
#[derive(Debug, Clone, Default)]
struct Members {
    places: Vec<Place>,
    /// By place: where it is in the list.
    positions: Vec<u32>,
    /// By state: how many of them are in it.
    states: Vec<u32>,
}

/// All groups but that of the base slice.
#[derive(Debug, Clone)]
pub(crate) struct Index {
    groups: Vec<Group>,
    /// The sets of parameters that events bind.
    event_masks: Vec<u32>,
}

impl Index {
    pub(crate) fn new(event_masks: Vec<u32>) -> Index {
        Index {
            groups: Vec::new(),
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
            group.compatible(slices, binding, mask, found);
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
                left_out |= !group.exact.is_empty();
            } else {
                group.compatible(slices, binding, common, found);
            }
        }
        found.push(BASE);
        left_out
    }

    /// A slice has gone from one state to another.
    pub(crate) fn moved(&mut self, slices: &Slices, place: Place, from: StateId, to: StateId) {
        let mask = slices.mask(place);
        let group = self.groups.iter_mut().find(|group| group.mask == mask);
        if let Some(members) = group.and_then(|group| group.members.as_mut()) {
            members.leave(from);
            members.enter(to);
        }
    }

    /// The slice with exactly this binding.
    #[inline]
    pub(crate) fn exact(&self, slices: &Slices, binding: &[Word], mask: u32) -> Option<Place> {
        let group = self.groups.iter().find(|group| group.mask == mask)?;
        let agrees = |&place: &Place| agree(slices.binding(place), binding, mask);
        let found = group.exact.find(hash_words(binding, mask), agrees);
        found.copied()
    }

    /// The slice that binds this one parameter to the word, where there is no
    /// other parameter.
    #[inline]
    pub(crate) fn only(&self, slices: &Slices, word: Word) -> Option<Place> {
        let group = self.groups.first()?;
        let is_it = |&place: &Place| slices.first_word(place) == Some(word);
        let found = group.exact.find(hashing::mix(0, word), is_it);
        found.copied()
    }

    /// Whether all slices but the base bind these parameters.
    #[inline]
    pub(crate) fn binds_all(&self, mask: u32) -> bool {
        let mut groups = self.groups.iter();
        groups.all(|group| group.mask == mask || group.exact.is_empty())
    }

    /// The sets of parameters that slices bind.
    pub(crate) fn masks(&self) -> impl Iterator<Item = u32> + '_ {
        let occupied = self.groups.iter().filter(|group| !group.exact.is_empty());
        occupied.map(|group| group.mask)
    }

    /// Enters a slice; the base has no need of it.
    pub(crate) fn insert(&mut self, slices: &Slices, place: Place) {
        let mask = slices.mask(place);
        if mask == 0 {
            return;
        }
        let known = self.groups.iter().position(|group| group.mask == mask);
        let position = known.unwrap_or_else(|| {
            self.groups.push(Group::new(mask, &self.event_masks));
            self.groups.len() - 1
        });
        let Some(group) = self.groups.get_mut(position) else {
            return;
        };
        let hash = |&place: &Place| hash_words(slices.binding(place), mask);
        group.exact.insert_unique(hash(&place), place, hash);
        for rings in &mut group.rings {
            rings.insert(slices, place);
        }
        if let Some(members) = &mut group.members {
            members.insert(place);
            members.enter(slices.state(place));
        }
    }

    /// Takes a slice out, before it is removed from the arrays.
    pub(crate) fn remove(&mut self, slices: &Slices, place: Place) {
        let mask = slices.mask(place);
        let Some(group) = self.groups.iter_mut().find(|group| group.mask == mask) else {
            return;
        };
        let hash = hash_words(slices.binding(place), mask);
        if let Ok(entry) = group.exact.find_entry(hash, |&other| other == place) {
            entry.remove();
        }
        for rings in &mut group.rings {
            rings.remove(slices, place);
        }
        if let Some(members) = &mut group.members {
            members.remove(place);
            members.leave(slices.state(place));
        }
    }

    /// Enters a slice that binds the only parameter to the word.
    #[inline]
    pub(crate) fn insert_only(&mut self, slices: &Slices, place: Place, word: Word) {
        match self.groups.first_mut() {
            Some(group) if group.is_plain() => {
                let hash = |&place: &Place| {
                    let word = slices.first_word(place);
                    hashing::mix(0, word.unwrap_or_default())
                };
                group
                    .exact
                    .insert_unique(hashing::mix(0, word), place, hash);
            }
            _ => self.insert(slices, place),
        }
    }

    /// Takes out a slice that binds the only parameter to the word.
    #[inline]
    pub(crate) fn remove_only(&mut self, slices: &Slices, place: Place, word: Word) {
        match self.groups.first_mut() {
            Some(group) if group.is_plain() => {
                let hash = hashing::mix(0, word);
                if let Ok(entry) = group.exact.find_entry(hash, |&other| other == place) {
                    entry.remove();
                }
            }
            _ => self.remove(slices, place),
        }
    }

    /// The bytes that the tables have taken from the system.
    pub(crate) fn bytes(&self) -> usize {
        let of_members =
            |members: &Members| 4 * (members.places.capacity() + members.positions.capacity());
        let groups = self.groups.iter().map(|group| {
            group.exact.allocation_size()
                + group.rings.iter().map(Rings::bytes).sum::<usize>()
                + group.members.as_ref().map_or(0, of_members)
        });
        groups.sum()
    }
}

impl Group {
    fn new(mask: u32, event_masks: &[u32]) -> Group {
        let bound = || event_masks.iter().filter(|&&event| event != 0);
        let mut masks: Vec<u32> = bound().map(|event| event & mask).collect();
        masks.sort_unstable();
        masks.dedup();
        masks.retain(|&common| common != 0 && common != mask);
        let is_met_in_none = bound().any(|event| event & mask == 0);
        Group {
            mask,
            exact: HashTable::new(),
            rings: masks.into_iter().map(Rings::new).collect(),
            members: is_met_in_none.then(Members::default),
        }
    }

    /// Whether its members are in one table and nowhere else.
    fn is_plain(&self) -> bool {
        self.rings.is_empty() && self.members.is_none()
    }

    /// Whether a member is in such a state.
    fn has_state(&self, is_such: &impl Fn(StateId) -> bool) -> bool {
        let states = self.members.as_ref().map(|members| &members.states);
        let counts = states.into_iter().flatten();
        let mut occupied = (0..).zip(counts).filter(|(_, count)| **count > 0);
        occupied.any(|(state, _)| is_such(StateId(state)))
    }

    /// The slices of this group that agree with the binding on the
    /// parameters that both bind.
    fn compatible(&self, slices: &Slices, binding: &[Word], common: u32, found: &mut Vec<Place>) {
        if common == 0 {
            let members = self.members.as_ref().map(|members| &members.places);
            found.extend(members.into_iter().flatten());
            return;
        }
        let hash = hash_words(binding, common);
        let agrees = |&place: &Place| agree(slices.binding(place), binding, common);
        if common == self.mask {
            found.extend(self.exact.find(hash, agrees));
            return;
        }
        let Some(rings) = self.rings.iter().find(|rings| rings.mask == common) else {
            return;
        };
        let Some(&head) = rings.heads.find(hash, agrees) else {
            return;
        };
        let mut place = head;
        loop {
            found.push(place);
            place = rings.after(place);
            if place == head {
                return;
            }
        }
    }
}

impl Members {
    fn enter(&mut self, state: StateId) {
        let size = state.index() + 1;
        if self.states.len() < size {
            self.states.resize(size, 0);
        }
        if let Some(count) = self.states.get_mut(state.index()) {
            *count += 1;
        }
    }

    fn leave(&mut self, state: StateId) {
        if let Some(count) = self.states.get_mut(state.index()) {
            *count = count.saturating_sub(1);
        }
    }

    fn insert(&mut self, place: Place) {
        let size = place as usize + 1;
        if self.positions.len() < size {
            self.positions.resize(size, NOWHERE);
        }
        if let Some(position) = self.positions.get_mut(place as usize) {
            *position = u32::try_from(self.places.len()).unwrap_or(NOWHERE);
        }
        self.places.push(place);
    }

    fn remove(&mut self, place: Place) {
        let position = self.positions.get(place as usize).copied();
        let position = position.unwrap_or(NOWHERE) as usize;
        if position >= self.places.len() {
            return;
        }
        self.places.swap_remove(position);
        if let Some(&moved) = self.places.get(position)
            && let Some(place) = self.positions.get_mut(moved as usize)
        {
            *place = u32::try_from(position).unwrap_or(NOWHERE);
        }
    }
}
