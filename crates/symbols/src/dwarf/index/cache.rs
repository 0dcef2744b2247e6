//! The index on disk, so that a program is read only once.
//!
//! A file is the index itself with a header: format, build id, length, and a checksum of
//! everything. A file that does not match is ignored and rebuilt.

use super::{LIST_START, NameIndex, WIDTHS};
use crate::cache::{BUILD_ID_SIZE_MAX, NAMES};
use crate::elf::{u32_at, u64_at};
use crate::settings::Cache;
use std::path::PathBuf;

const MAGIC: &[u8; 8] = b"jurorsym";
/// The format version; changes with every change of the tables or their contents.
const VERSION: u32 = 6;

/// The identity of an index.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub build_id: Vec<u8>,
    /// The total size of the entries in bytes: a tool that rewrites the debug information
    /// keeps the build id.
    pub entries_size: u64,
    pub unit_count: u32,
}

/// The result of a search in the cache.
pub(crate) enum CachedIndex {
    /// A valid index.
    Valid(Box<NameIndex>),
    /// A damaged file, and the damage.
    Damaged(PathBuf, &'static str),
    /// No usable file.
    Absent,
}

impl Identity {
    fn path(&self, cache: &Cache) -> Option<PathBuf> {
        cache.path(&self.build_id, NAMES)
    }

    /// Returns whether the debug information is large enough to cache its index.
    fn is_large_enough(&self, cache: &Cache) -> bool {
        self.entries_size >= cache.size_min_bytes
    }

    fn head(&self, length: u64) -> Option<[u8; LIST_START]> {
        let mut head = [0; LIST_START];
        let mut put = |at: usize, bytes: &[u8]| {
            head.get_mut(at..at + bytes.len())?.copy_from_slice(bytes);
            Some(())
        };
        put(0, MAGIC)?;
        put(8, &VERSION.to_le_bytes())?;
        put(16, &length.to_le_bytes())?;
        put(24, &self.entries_size.to_le_bytes())?;
        put(32, &self.unit_count.to_le_bytes())?;
        put(36, &(self.build_id.len() as u32).to_le_bytes())?;
        put(40, &self.build_id)?;
        Some(head)
    }

    /// Loads the index from the cache.
    pub fn load(&self, cache: &Cache) -> CachedIndex {
        if !self.is_large_enough(cache) {
            return CachedIndex::Absent;
        }
        let Some(path) = self.path(cache) else {
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
            Err(why) => CachedIndex::Damaged(path, why),
        }
    }

    /// Checks the bytes of an index; `None` if they belong to another program or format.
    fn check(&self, bytes: Vec<u8>) -> Result<Option<NameIndex>, &'static str> {
        if bytes.get(..8) != Some(MAGIC) {
            return Err("it has no valid header");
        }
        if u32_at(&bytes, 8) != Some(VERSION) {
            return Ok(None);
        }
        if u64_at(&bytes, 16) != Some(bytes.len() as u64) {
            return Err("its length is wrong");
        }
        if u32_at(&bytes, 12) != bytes.get(16..).map(crc32fast::hash) {
            return Err("its checksum is wrong");
        }
        let head = self.head(bytes.len() as u64);
        if bytes.get(16..LIST_START) != head.as_ref().and_then(|head| head.get(16..)) {
            return Ok(None);
        }
        let index = NameIndex::new(bytes);
        index.map(Some).ok_or("its tables exceed the file")
    }

    /// Stores the index in the cache; a failure only costs time later.
    pub fn keep(&self, cache: &Cache, index: &mut NameIndex) {
        if !self.is_large_enough(cache) {
            return;
        }
        let Some(path) = self.path(cache) else { return };
        let Some(head) = self.head(index.bytes.len() as u64) else {
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
const _: () = assert!(40 + BUILD_ID_SIZE_MAX == LIST_START && !WIDTHS.is_empty());
