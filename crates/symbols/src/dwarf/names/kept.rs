//! The index of names of a program: from the cache, or built when it is needed.

use super::{NameIndex, Table, Watch};
use crate::dwarf::DebugInfo;
use crate::dwarf::index::{CachedIndex, Repair};
use std::sync::Weak;

impl DebugInfo {
    /// Returns the index of names, built on first use.
    pub fn names(&self) -> &NameIndex {
        if let Some(names) = self.available_names() {
            return names;
        }
        // Without a watcher the work is never cancelled.
        let names = self.built_names(None).unwrap_or_default();
        self.names.get_or_init(|| names)
    }

    /// Builds the index of names if it does not exist. Returns false if cancelled.
    pub fn prepare_names(&self, watch: &mut Watch<'_>) -> bool {
        if self.available_names().is_some() {
            return true;
        }
        let Some(names) = self.built_names(Some(watch)) else {
            return false;
        };
        self.names.get_or_init(|| names);
        true
    }

    /// Returns the index of names if it was built, or is in the cache.
    pub(in crate::dwarf) fn available_names(&self) -> Option<&NameIndex> {
        self.is_cache_searched.get_or_init(|| {
            let Some((identity, cache)) = &self.cache else {
                return;
            };
            if !self.is_kept_in(cache) {
                return;
            }
            let (found, repair) = match self.itself.get().cloned() {
                Some(info) => (identity.open(cache), Some(repair_of(info))),
                None => (identity.load(cache), None),
            };
            match found {
                CachedIndex::Valid(names) => {
                    repair.into_iter().for_each(|it| names.repair_by(it));
                    let _ = self.names.set(*names);
                }
                CachedIndex::Absent => {}
                CachedIndex::Damaged(message) => self.warn(message),
            }
        });
        self.names.get()
    }

    /// Builds the index of names because that in the cache is damaged.
    fn built_names_again(&self) -> Option<NameIndex> {
        let (identity, cache) = self.cache.as_ref()?;
        if let Some(damage) = identity.damage_of::<Table>(cache) {
            self.warn(damage);
        }
        self.built_names(None)
    }

    fn built_names(&self, watch: Option<&mut Watch<'_>>) -> Option<NameIndex> {
        let mut names = self.build_names(watch)?;
        if let Some((identity, cache)) = &self.cache
            && self.is_kept_in(cache)
        {
            identity.keep(cache, &mut names);
        }
        Some(names)
    }
}

/// Returns what builds the index of names again.
fn repair_of(info: Weak<DebugInfo>) -> Repair {
    Box::new(move || {
        let built = info.upgrade().and_then(|info| info.built_names_again());
        built.map_or_else(Vec::new, NameIndex::into_bytes)
    })
}
