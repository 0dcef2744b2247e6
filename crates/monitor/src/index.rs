//! From the values of an event's parameters to the slices they concern.
//!
//! Slices are grouped by the set of parameters that they bind. A group has a
//! table for its whole set, in which a slice is unique, and one for each
//! smaller set in which events can meet it. Tables map the hash of the values
//! to places; who looks up compares the values themselves.

use crate::slices::{BASE, Place, Slices};
use juror_event::Value;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;
use std::hash::{BuildHasher, Hash, Hasher};

/// Places by the hash of a projection of their bindings.
#[derive(Debug, Clone, Default)]
struct Table {
    /// The parameters that are hashed; bit n is parameter n.
    mask: u32,
    places: FxHashMap<u64, SmallVec<[Place; 2]>>,
}

/// The slices that bind one set of parameters.
#[derive(Debug, Clone)]
struct Group {
    mask: u32,
    tables: Vec<Table>,
}

/// All groups but that of the base slice.
#[derive(Debug, Clone)]
pub(crate) struct Index {
    groups: Vec<Group>,
    /// The sets of parameters that events bind.
    event_masks: Vec<u32>,
}

/// The values of the parameters of a mask.
fn projected(binding: &[Option<Value>], mask: u32) -> impl Iterator<Item = &Option<Value>> {
    let positioned = (0..32_u32).zip(binding);
    positioned
        .filter(move |(parameter, _)| mask & (1 << parameter) != 0)
        .map(|(_, value)| value)
}

pub(crate) fn projection_hash(binding: &[Option<Value>], mask: u32) -> u64 {
    let mut hasher = FxBuildHasher.build_hasher();
    for value in projected(binding, mask).flatten() {
        value.hash(&mut hasher);
    }
    hasher.finish()
}

/// True when two bindings agree on the parameters of a mask.
pub(crate) fn agree(a: &[Option<Value>], b: &[Option<Value>], mask: u32) -> bool {
    projected(a, mask).eq(projected(b, mask))
}

impl Index {
    pub(crate) fn new(event_masks: Vec<u32>) -> Index {
        Index {
            groups: Vec::new(),
            event_masks,
        }
    }

    /// Splits the slices that an event with this binding concerns: those that
    /// bind all that the event binds, with the same values, and those that
    /// bind less but contradict nothing, from which new slices may come.
    pub(crate) fn split(
        &self,
        slices: &Slices,
        binding: &[Option<Value>],
        mask: u32,
        targets: &mut Vec<Place>,
        parents: &mut Vec<Place>,
    ) {
        targets.clear();
        parents.clear();
        for group in &self.groups {
            let found = if group.mask & mask == mask {
                &mut *targets
            } else {
                &mut *parents
            };
            group.compatible(slices, binding, group.mask & mask, found);
        }
        parents.push(BASE);
    }

    /// The slice with exactly this binding.
    pub(crate) fn exact(
        &self,
        slices: &Slices,
        binding: &[Option<Value>],
        mask: u32,
    ) -> Option<Place> {
        let group = self.groups.iter().find(|group| group.mask == mask)?;
        let table = group.tables.iter().find(|table| table.mask == mask)?;
        let hash = projection_hash(binding, mask);
        let places = table.places.get(&hash)?;
        let mut places = places.iter().copied();
        places.find(|&place| agree(slices.binding(place), binding, mask))
    }

    /// Enters a slice; the base has no need of it.
    pub(crate) fn insert(&mut self, slices: &Slices, place: Place) {
        let mask = slices.mask(place);
        let binding = slices.binding(place);
        if mask == 0 {
            return;
        }
        let known = self.groups.iter().position(|group| group.mask == mask);
        let position = known.unwrap_or_else(|| {
            self.groups.push(Group::new(mask, &self.event_masks));
            self.groups.len() - 1
        });
        let tables = self.groups.get_mut(position).map(|g| &mut g.tables);
        for table in tables.into_iter().flatten() {
            let hash = projection_hash(binding, table.mask);
            table.places.entry(hash).or_default().push(place);
        }
    }

    /// Takes a slice out, before it is removed from the arrays.
    pub(crate) fn remove(&mut self, slices: &Slices, place: Place) {
        let mask = slices.mask(place);
        let binding = slices.binding(place);
        let groups = self.groups.iter_mut().filter(|group| group.mask == mask);
        for table in groups.flat_map(|group| &mut group.tables) {
            let hash = projection_hash(binding, table.mask);
            let Some(places) = table.places.get_mut(&hash) else {
                continue;
            };
            if let Some(position) = places.iter().position(|&other| other == place) {
                places.swap_remove(position);
            }
            if places.is_empty() {
                table.places.remove(&hash);
            }
        }
    }
}

impl Group {
    fn new(mask: u32, event_masks: &[u32]) -> Group {
        let mut masks: Vec<u32> = event_masks.iter().map(|event| event & mask).collect();
        masks.push(mask);
        masks.sort_unstable();
        masks.dedup();
        let tables = masks.into_iter().filter(|&mask| mask != 0);
        Group {
            mask,
            tables: tables
                .map(|mask| Table {
                    mask,
                    ..Table::default()
                })
                .collect(),
        }
    }

    /// The slices of this group that agree with the binding on the
    /// parameters that both bind.
    fn compatible(
        &self,
        slices: &Slices,
        binding: &[Option<Value>],
        common: u32,
        found: &mut Vec<Place>,
    ) {
        if common == 0 {
            let places = 0..slices.places();
            found.extend(places.filter(|&p| slices.is_live(p) && slices.mask(p) == self.mask));
            return;
        }
        let table = self.tables.iter().find(|table| table.mask == common);
        let hash = projection_hash(binding, common);
        let places = table.and_then(|table| table.places.get(&hash));
        let places = places.into_iter().flatten().copied();
        found.extend(places.filter(|&place| agree(slices.binding(place), binding, common)));
    }
}
