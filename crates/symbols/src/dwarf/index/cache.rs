//! An index on disk, so that a program is read only once.
//!
//! A file is the index itself with a header: format, build id, length, and a checksum of the
//! header and of the checksums of all blocks, which are behind the index (`bytes`). A file that
//! does not match is ignored and rebuilt.

use super::bytes::{BLOCK_SIZE, Bytes, KeptBytes, UNCOVERED, sums_of};
use super::{Index, LIST_START, Layout};
use crate::cache::BUILD_ID_SIZE_MAX;
use crate::elf::{u32_at, u64_at};
use crate::settings::Cache;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

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

    /// Loads the index from the cache as a whole.
    pub fn load<T: Layout>(&self, cache: &Cache) -> CachedIndex<T> {
        self.checked(cache, |kept| {
            let all = kept.read_all().ok_or("its checksum is wrong")?;
            Ok(Bytes::Whole(all))
        })
    }

    /// Opens the index in the cache, whose parts are read when they are needed. The caller has to
    /// say what is done if one is damaged ([`Index::repair_by`]).
    pub fn open<T: Layout>(&self, cache: &Cache) -> CachedIndex<T> {
        self.checked(cache, |kept| Ok(Bytes::Kept(kept)))
    }

    fn checked<T: Layout>(
        &self,
        cache: &Cache,
        read: impl FnOnce(KeptBytes) -> Result<Bytes, &'static str>,
    ) -> CachedIndex<T> {
        let Some(path) = self.path::<T>(cache) else {
            return CachedIndex::Absent;
        };
        let Ok(file) = File::open(&path) else {
            return CachedIndex::Absent;
        };
        let index = self.check::<T>(file).and_then(|kept| {
            let bytes = kept.map(read).transpose()?;
            let index = bytes.map(|bytes| Index::new(bytes).ok_or("its tables are damaged"));
            index.transpose()
        });
        match index {
            Ok(Some(index)) => {
                cache.note_use(&path);
                CachedIndex::Valid(Box::new(index))
            }
            // From another version of juror, or before a tool rewrote the program.
            Ok(None) => CachedIndex::Absent,
            Err(why) => CachedIndex::Damaged(damage::<T>(&path, why)),
        }
    }

    /// Returns a message about a damaged part of the index.
    pub fn damage_of<T: Layout>(&self, cache: &Cache) -> Option<String> {
        let path = self.path::<T>(cache)?;
        Some(damage::<T>(&path, "its checksum is wrong"))
    }

    /// Checks the header of an index; `None` if it belongs to another program or format.
    fn check<T: Layout>(&self, file: File) -> Result<Option<KeptBytes>, &'static str> {
        let mut head = [0; LIST_START];
        let is_there = file.read_exact_at(&mut head, 0).is_ok();
        if !is_there || head.get(..8) != Some(T::MAGIC) {
            return Err("it has no valid header");
        }
        if u32_at(&head, 8) != Some(T::VERSION) {
            return Ok(None);
        }
        let length = u64_at(&head, 16).unwrap_or(0);
        let sums_size = length.div_ceil(BLOCK_SIZE as u64).saturating_mul(4);
        let file_size = file.metadata().map_or(0, |data| data.len());
        if length.checked_add(sums_size) != Some(file_size) {
            return Err("its length is wrong");
        }
        let mut sums = vec![0; sums_size as usize];
        let is_read = file.read_exact_at(&mut sums, length).is_ok();
        if !is_read || u32_at(&head, 12) != checksum_of(&head, &sums) {
            return Err("its checksum is wrong");
        }
        let expected = self.head::<T>(length);
        if head.get(16..) != expected.as_ref().and_then(|head| head.get(16..)) {
            return Ok(None);
        }
        Ok(Some(KeptBytes::new(file, length as usize, sums)))
    }

    /// Stores the index in the cache; a failure only costs time later.
    pub fn keep<T: Layout>(&self, cache: &Cache, index: &mut Index<T>) {
        let Some(path) = self.path::<T>(cache) else {
            return;
        };
        let Bytes::Whole(bytes) = &mut index.bytes else {
            return;
        };
        let Some(head) = self.head::<T>(bytes.len() as u64) else {
            return;
        };
        if let Some(place) = bytes.get_mut(..LIST_START) {
            place.copy_from_slice(&head);
        }
        let sums = sums_of(bytes);
        let checksum = checksum_of(bytes, &sums).unwrap_or(0);
        if let Some(place) = bytes.get_mut(12..16) {
            place.copy_from_slice(&checksum.to_le_bytes());
        }
        cache.keep(&path, &[bytes, &sums]);
    }
}

/// Returns the checksum of a header and the checksums of all blocks.
fn checksum_of(bytes: &[u8], sums: &[u8]) -> Option<u32> {
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(bytes.get(UNCOVERED..LIST_START)?);
    checksum.update(sums);
    Some(checksum.finalize())
}

fn damage<T: Layout>(path: &Path, why: &str) -> String {
    format!(
        "the index of {} in {} is damaged and will be rebuilt: {why}",
        T::TITLE,
        path.display()
    )
}

/// The list of tables follows the header, which must not grow into it.
const _: () = assert!(40 + BUILD_ID_SIZE_MAX == LIST_START);
