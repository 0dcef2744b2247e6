//! The index on disk, so that a program is read only once.
//!
//! A file is the index itself with a header: format, build id, length, and a checksum of
//! everything. It is written beside its final path and renamed, so that readers never see a
//! partial file; if two processes write at once, the last one wins, with the same contents.
//! A file that does not match is ignored and rebuilt.

use super::{LIST_START, NameIndex, WIDTHS};
use crate::elf::{u32_at, u64_at};
use crate::settings::Cache;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const MAGIC: &[u8; 8] = b"jurorsym";
/// The format version; changes with every change of the tables or their contents.
const VERSION: u32 = 6;
/// The maximum size of a build id in bytes.
const BUILD_ID_SIZE_MAX: usize = 32;
/// The age after which the temporary file of a dead writer is removed.
const ABANDONED_AFTER: Duration = Duration::from_secs(3600);
/// The extension of cache files.
const EXTENSION: &str = "names";

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
        use std::fmt::Write as _;
        if self.build_id.is_empty() || self.build_id.len() > BUILD_ID_SIZE_MAX {
            return None;
        }
        let mut name = String::new();
        for byte in &self.build_id {
            let _ = write!(name, "{byte:02x}");
        }
        Some(cache.directory.join(format!("{name}.{EXTENSION}")))
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
                // The time of the last use decides which files are removed.
                let file = std::fs::File::options().append(true).open(&path);
                let _ = file.and_then(|file| file.set_modified(SystemTime::now()));
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
        if index.bytes.len() as u64 <= cache.size_max_bytes {
            let _ = write(&path, &index.bytes);
        }
        make_room(cache, &path);
    }
}

/// Writes a file atomically.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory)?;
    }
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let beside = path.with_extension(format!("{}-{number}.part", std::process::id()));
    let written = std::fs::File::create_new(&beside)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| std::fs::rename(&beside, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written
}

/// Removes the least recently used files until the total size is within the limit, and
/// temporary files of dead writers. `kept` is never removed.
fn make_room(cache: &Cache, kept: &Path) {
    let Ok(entries) = std::fs::read_dir(&cache.directory) else {
        return;
    };
    let now = SystemTime::now();
    let mut files = Vec::new();
    let mut total = 0;
    for entry in entries.flatten() {
        let (path, Ok(data)) = (entry.path(), entry.metadata()) else {
            continue;
        };
        let used = data.modified().unwrap_or(now);
        let extension = path.extension().and_then(|it| it.to_str());
        match extension {
            Some("part")
                if now
                    .duration_since(used)
                    .is_ok_and(|it| it > ABANDONED_AFTER) =>
            {
                let _ = std::fs::remove_file(&path);
            }
            Some(EXTENSION) if data.is_file() => {
                total += data.len();
                if path != kept {
                    files.push((used, data.len(), path));
                }
            }
            _ => {}
        }
    }
    files.sort();
    for (_, size, path) in files {
        if total <= cache.size_max_bytes {
            return;
        }
        if std::fs::remove_file(&path).is_ok() {
            total -= size;
        }
    }
}

/// The list of tables follows the header, which must not grow into it.
const _: () = assert!(40 + BUILD_ID_SIZE_MAX == LIST_START && !WIDTHS.is_empty());
