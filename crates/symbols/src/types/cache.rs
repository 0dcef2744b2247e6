//! A cache of decoded types: an event may read a library type dozens of times, and its
//! entries would be decoded each time.
//!
//! **Invariant:** the total weight is bounded, and the cache is emptied with its symbol
//! file, because cached types hold references to the debug information that holds the
//! cache.

use super::{TemplateArgument, TypeKind};
use crate::dwarf::DieRef;
use rustc_hash::FxHashMap;
use std::sync::Mutex;

/// The maximum number of members, enumerators and types cached together.
const WEIGHT_MAX: usize = 1 << 16;

/// The cached kinds of the types of a file, by DIE.
#[derive(Default)]
pub(crate) struct TypeCache(Mutex<Entries>);

#[derive(Default)]
struct Entries {
    kinds: FxHashMap<DieRef, TypeKind>,
    arguments: FxHashMap<DieRef, Vec<TemplateArgument>>,
    weight: usize,
    /// The file is closed; nothing is cached any more.
    is_closed: bool,
}

impl TypeCache {
    /// Returns the kind of a type; calls `read` if it is not cached.
    pub fn get(&self, die: DieRef, read: impl FnOnce() -> TypeKind) -> TypeKind {
        if let Ok(entries) = self.0.lock()
            && let Some(kind) = entries.kinds.get(&die)
        {
            return kind.clone();
        }
        let kind = read();
        if let Ok(mut entries) = self.0.lock() {
            entries.add(die, &kind);
        }
        kind
    }

    /// Returns the template arguments of a type; calls `read` if they are not cached.
    pub fn arguments(
        &self,
        die: DieRef,
        read: impl FnOnce() -> Vec<TemplateArgument>,
    ) -> Vec<TemplateArgument> {
        if let Ok(entries) = self.0.lock()
            && let Some(arguments) = entries.arguments.get(&die)
        {
            return arguments.clone();
        }
        let arguments = read();
        if let Ok(mut entries) = self.0.lock()
            && entries.makes_room_for(arguments.len().saturating_add(1))
        {
            entries.arguments.insert(die, arguments.clone());
        }
        arguments
    }

    /// Empties the cache and stops caching.
    pub fn close(&self) {
        let before = self.0.lock().map(|mut entries| {
            entries.is_closed = true;
            (
                std::mem::take(&mut entries.kinds),
                std::mem::take(&mut entries.arguments),
            )
        });
        // Dropping an entry may drop the last reference to the debug information that holds
        // this cache.
        drop(before);
    }
}

impl Entries {
    fn add(&mut self, die: DieRef, kind: &TypeKind) {
        if self.makes_room_for(weight(kind)) {
            self.kinds.insert(die, kind.clone());
        }
    }

    /// Returns whether an entry of this weight may be cached; empties the cache if it is
    /// full.
    fn makes_room_for(&mut self, weight: usize) -> bool {
        if self.is_closed || weight > WEIGHT_MAX / 4 {
            return false;
        }
        if self.weight + weight > WEIGHT_MAX {
            self.kinds.clear();
            self.arguments.clear();
            self.weight = 0;
        }
        self.weight += weight;
        true
    }
}

/// Returns the weight of a cached type.
fn weight(kind: &TypeKind) -> usize {
    let parts = match kind {
        TypeKind::Composite(composite) => {
            let variants = composite.variants.as_ref();
            let variants = variants.map_or(0, |part| part.variants.len());
            composite.fields.len() + composite.bases.len() + variants
        }
        TypeKind::Enumeration { enumerators, .. } => enumerators.len(),
        TypeKind::Function { parameters, .. } => parameters.len(),
        TypeKind::Array { dimensions, .. } => dimensions.len(),
        _ => 0,
    };
    parts.saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn die(offset: usize) -> DieRef {
        DieRef { unit: 0, offset }
    }

    #[test]
    fn a_kind_is_read_once_until_the_file_is_gone() {
        let kinds = TypeCache::default();
        let unread = || panic!("it is known");
        assert!(matches!(
            kinds.get(die(1), || TypeKind::Void),
            TypeKind::Void
        ));
        assert!(matches!(kinds.get(die(1), unread), TypeKind::Void));
        kinds.close();
        for _ in 0..2 {
            let kind = kinds.get(die(1), || TypeKind::Other);
            assert!(matches!(kind, TypeKind::Other));
        }
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut entries = Entries::default();
        for offset in 0..3 * WEIGHT_MAX {
            entries.add(die(offset), &TypeKind::Void);
            assert!(entries.kinds.len() <= WEIGHT_MAX && entries.weight <= WEIGHT_MAX);
        }
        assert!(!entries.kinds.is_empty());
    }
}
