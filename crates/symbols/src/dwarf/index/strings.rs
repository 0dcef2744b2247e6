//! A table of strings, each stored once.

use hashbrown::HashTable;

/// A string in [`StringTable`]: start and length.
pub(in crate::dwarf) type StringRef = (u32, u32);

/// Strings, each stored once.
#[derive(Default)]
pub(in crate::dwarf) struct StringTable {
    pub bytes: Vec<u8>,
    pub known: HashTable<StringRef>,
}

impl StringTable {
    pub fn get(bytes: &[u8], text: StringRef) -> &[u8] {
        let start = text.0 as usize;
        bytes.get(start..start + text.1 as usize).unwrap_or(&[])
    }

    /// Stores a string and returns its position; an empty position if the table is full.
    pub fn keep(&mut self, text: &[u8]) -> StringRef {
        let hash = |text: &[u8]| hash_of(text);
        let bytes = &self.bytes;
        let known = self
            .known
            .find(hash(text), |known| Self::get(bytes, *known) == text);
        if let Some(known) = known {
            return *known;
        }
        let (Ok(start), Ok(length)) = (u32::try_from(bytes.len()), u32::try_from(text.len()))
        else {
            return (0, 0);
        };
        if start.checked_add(length).is_none() {
            return (0, 0);
        }
        self.bytes.extend_from_slice(text);
        let bytes = &self.bytes;
        self.known
            .insert_unique(hash(text), (start, length), |known| {
                hash(Self::get(bytes, *known))
            });
        (start, length)
    }
}

fn hash_of(text: &[u8]) -> u64 {
    use std::hash::Hasher as _;
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(text);
    hasher.finish()
}
