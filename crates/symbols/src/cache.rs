//! The files of the cache: indexes of names, functions and source files, and decompressed sections.
//!
//! A file is written beside its final path and renamed, so that readers never see a partial
//! file; if two processes write at once, the last one wins, with the same contents. Nothing is
//! reported if a file cannot be written: that only costs time later.

use crate::elf::zeros;
use crate::settings::Cache;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The extension of an index of names.
pub(crate) const NAMES: &str = "names";
/// The extension of an index of source files.
pub(crate) const FILES: &str = "files";
/// The extension of an index of units by the names of functions.
pub(crate) const FUNCTIONS: &str = "functions";
/// The extension of a decompressed section.
const SECTION: &str = "section";
/// The maximum size of a build id in bytes.
pub(crate) const BUILD_ID_SIZE_MAX: usize = 32;
/// The minimum size of a decompressed section that is kept, in bytes, unless indexes are kept
/// for even less.
const SECTION_SIZE_MIN: u64 = 1 << 16;
/// The age after which the temporary file of a dead writer is removed.
const ABANDONED_AFTER: Duration = Duration::from_secs(3600);

/// A section that zlib has compressed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CompressedSection<'a> {
    pub build_id: &'a [u8],
    pub name: &'a str,
    /// The decompressed size in bytes.
    pub size: u64,
    /// The checksum at the end of the compressed data, of the decompressed data: Adler-32.
    pub checksum: u32,
}

impl Cache {
    /// Returns the path of a file of a program; `None` if the build id cannot be a name.
    pub(crate) fn path(&self, build_id: &[u8], extension: &str) -> Option<PathBuf> {
        if build_id.is_empty() || build_id.len() > BUILD_ID_SIZE_MAX {
            return None;
        }
        let mut name = String::new();
        for byte in build_id {
            let _ = write!(name, "{byte:02x}");
        }
        Some(self.directory.join(format!("{name}.{extension}")))
    }

    /// Notes that a file was used: the least recently used ones are removed first.
    pub(crate) fn note_use(&self, path: &Path) {
        let file = std::fs::File::options().append(true).open(path);
        let _ = file.and_then(|file| file.set_modified(SystemTime::now()));
    }

    /// Stores a file of several parts, and removes others if there are too many.
    pub(crate) fn keep(&self, path: &Path, parts: &[&[u8]]) {
        let size: usize = parts.iter().map(|part| part.len()).sum();
        if size as u64 <= self.size_max_bytes {
            let _ = write(path, parts);
        }
        make_room(self, path);
    }

    /// Returns the path of a decompressed section; `None` if it is not kept.
    pub(crate) fn section_path(&self, section: CompressedSection<'_>) -> Option<PathBuf> {
        let CompressedSection { size, checksum, .. } = section;
        let name = section.name.trim_start_matches('.');
        let is_plain = name
            .bytes()
            .all(|it| it.is_ascii_alphanumeric() || it == b'_');
        let extension = format!("{name}-{size}-{checksum:08x}.{SECTION}");
        let path = self.path(section.build_id, &extension);
        let is_large = size >= SECTION_SIZE_MIN.min(self.size_min_bytes);
        path.filter(|_| is_plain && is_large)
    }

    /// Returns a decompressed section; `None` if it is not there, or damaged.
    pub(crate) fn load_section(
        &self,
        path: &Path,
        section: CompressedSection<'_>,
    ) -> Option<Arc<[u8]>> {
        use std::os::unix::fs::FileExt as _;
        let file = std::fs::File::open(path).ok()?;
        if file.metadata().ok()?.len() != section.size {
            return None;
        }
        let mut bytes = zeros(usize::try_from(section.size).ok()?);
        let unshared = Arc::get_mut(&mut bytes)?;
        file.read_exact_at(unshared, 0).ok()?;
        let is_whole = zlib_rs::adler32::adler32(1, unshared) == section.checksum;
        is_whole.then(|| {
            self.note_use(path);
            bytes
        })
    }
}

/// Writes a file atomically.
fn write(path: &Path, parts: &[&[u8]]) -> std::io::Result<()> {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory)?;
    }
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let beside = path.with_extension(format!("{}-{number}.part", std::process::id()));
    let written = std::fs::File::create_new(&beside)
        .and_then(|mut file| parts.iter().try_for_each(|part| file.write_all(part)))
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
            Some(NAMES | FILES | FUNCTIONS | SECTION) if data.is_file() => {
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
