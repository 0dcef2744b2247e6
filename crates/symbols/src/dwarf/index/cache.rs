//! An index on disk, so that a program is read only once.
//!
//! A file is the index itself with a header: format, build id, length, and a checksum of
//! everything. A file that does not match is ignored and rebuilt.

use super::{Index, LIST_START, Layout};
use crate::cache::BUILD_ID_SIZE_MAX;
use crate::elf::{u32_at, u64_at};
use crate::settings::Cache;
use std::path::PathBuf;

/// The identity of an index.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub build_id: Vec<u8>,
    /// What else tells the debug information from another with the build id: a tool that
    /// rewrites the debug information keeps the build id.
    pub fingerprint: u64,
    /// The number of units, or 0 if the fingerprint suffices.
    pub unit_count: u32,
}

/// The result of a search in the cache.
pub(crate) enum CachedIndex<T> {
    /// A valid index.
    Valid(Box<Index<T>>),
    /// A damaged file, and a message about the damage.
    Damaged(String),
    /// No usable file.
    Absent,
}

impl Identity {
    fn path<T: Layout>(&self, cache: &Cache) -> Option<PathBuf> {
        cache.path(&self.build_id, T::EXTENSION)
    }

    fn head<T: Layout>(&self, length: u64) -> Option<[u8; LIST_START]> {
        let mut head = [0; LIST_START];
        let mut put = |at: usize, bytes: &[u8]| {
            head.get_mut(at..at + bytes.len())?.copy_from_slice(bytes);
            Some(())
        };
        put(0, T::MAGIC)?;
        put(8, &T::VERSION.to_le_bytes())?;
        put(16, &length.to_le_bytes())?;
        put(24, &self.fingerprint.to_le_bytes())?;
        put(32, &self.unit_count.to_le_bytes())?;
        put(36, &(self.build_id.len() as u32).to_le_bytes())?;
        put(40, &self.build_id)?;
        Some(head)
    }

    /// Loads the index from the cache.
    pub fn load<T: Layout>(&self, cache: &Cache) -> CachedIndex<T> {
        let Some(path) = self.path::<T>(cache) else {
            return CachedIndex::Absent;
        };
        let Ok(bytes) = std::fs::read(&path) else {
            return CachedIndex::Absent;
        };
        match self.check(bytes) {
            Ok(Some(index)) => {
                cache.note_use(&path);
                CachedIndex::Valid(Box::new(index))
            }
            // From another version of juror, or before a tool rewrote the program.
            Ok(None) => CachedIndex::Absent,
            Err(why) => CachedIndex::Damaged(format!(
                "the index of {} in {} is damaged and will be rebuilt: {why}",
                T::TITLE,
                path.display()
            )),
        }
    }

    /// Checks the bytes of an index; `None` if they belong to another program or format.
    fn check<T: Layout>(&self, bytes: Vec<u8>) -> Result<Option<Index<T>>, &'static str> {
        if bytes.get(..8) != Some(T::MAGIC) {
            return Err("it has no valid header");
        }
        if u32_at(&bytes, 8) != Some(T::VERSION) {
            return Ok(None);
        }
        if u64_at(&bytes, 16) != Some(bytes.len() as u64) {
            return Err("its length is wrong");
        }
        if u32_at(&bytes, 12) != bytes.get(16..).map(crc32fast::hash) {
            return Err("its checksum is wrong");
        }
        let head = self.head::<T>(bytes.len() as u64);
        if bytes.get(16..LIST_START) != head.as_ref().and_then(|head| head.get(16..)) {
            return Ok(None);
        }
        let index = Index::new(bytes);
        index.map(Some).ok_or("its tables exceed the file")
    }

    /// Stores the index in the cache; a failure only costs time later.
    pub fn keep<T: Layout>(&self, cache: &Cache, index: &mut Index<T>) {
        let Some(path) = self.path::<T>(cache) else {
            return;
        };
        let Some(head) = self.head::<T>(index.bytes.len() as u64) else {
            return;
        };
        if let Some(place) = index.bytes.get_mut(..LIST_START) {
            place.copy_from_slice(&head);
        }
        let checksum = index.bytes.get(16..).map_or(0, crc32fast::hash);
        if let Some(place) = index.bytes.get_mut(12..16) {
            place.copy_from_slice(&checksum.to_le_bytes());
        }
        cache.keep(&path, &index.bytes);
    }
}

/// The list of tables follows the header, which must not grow into it.
const _: () = assert!(40 + BUILD_ID_SIZE_MAX == LIST_START);
