//! Caches opened symbol files for all processes and runs of a session, so that a restarted program
//! is not read again.
//!
//! Invariant: a file that has changed on disk is opened again.

use juror_symbols::{SymbolError, SymbolFile, SymbolSettings};
use rustc_hash::FxHashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The most files that are kept.
const FILES_MAX: usize = 1024;

/// The version of a file: device, inode, size, and modification time in seconds and nanoseconds.
type Version = (u64, u64, u64, i64, i64);

/// Opens each symbol file once. Clones share the open files.
#[derive(Debug, Clone, Default)]
pub struct SymbolStore {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    settings: Arc<SymbolSettings>,
    files: FxHashMap<PathBuf, (Version, SymbolFile)>,
}

impl SymbolStore {
    /// Returns an empty store.
    pub fn new(settings: SymbolSettings) -> SymbolStore {
        let store = SymbolStore::default();
        store.set(settings);
        store
    }

    /// Returns the settings.
    pub fn settings(&self) -> SymbolSettings {
        let shared = self.shared.lock();
        shared.map_or_else(|_| SymbolSettings::default(), |it| (*it.settings).clone())
    }

    /// Replaces the settings, which apply to files that are opened afterwards.
    pub fn set(&self, settings: SymbolSettings) {
        if let Ok(mut shared) = self.shared.lock() {
            shared.settings = Arc::new(settings);
            shared.files.clear();
        }
    }

    /// Opens the symbols of the file at `place`, which the program knows as `path`.
    ///
    /// # Errors
    /// The file cannot be read, or is not a program or library.
    pub fn open(&self, place: &Path, path: &Path) -> Result<SymbolFile, SymbolError> {
        let Ok(mut shared) = self.shared.lock() else {
            return SymbolFile::open_at(place, path, Arc::default());
        };
        let version = version(place);
        if let (Some(version), Some((known, file))) = (version, shared.files.get(path))
            && *known == version
        {
            return Ok(file.clone());
        }
        let file = SymbolFile::open_at(place, path, Arc::clone(&shared.settings))?;
        if shared.files.len() >= FILES_MAX {
            shared.files.clear();
        }
        if let Some(version) = version {
            shared
                .files
                .insert(path.to_owned(), (version, file.clone()));
        }
        Ok(file)
    }
}

fn version(path: &Path) -> Option<Version> {
    let data = std::fs::metadata(path).ok()?;
    let changed = (data.mtime(), data.mtime_nsec());
    Some((data.dev(), data.ino(), data.size(), changed.0, changed.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_opened_once_and_anew_when_it_has_changed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("program");
        std::fs::copy("/bin/true", &path).unwrap();
        let store = SymbolStore::default();
        let first = store.open(&path, &path).unwrap();
        assert!(first.is_same(&store.clone().open(&path, &path).unwrap()));
        std::fs::copy("/bin/false", directory.path().join("other")).unwrap();
        std::fs::rename(directory.path().join("other"), &path).unwrap();
        assert!(!first.is_same(&store.open(&path, &path).unwrap()));
        std::fs::remove_file(&path).unwrap();
        assert!(store.open(&path, &path).is_err());
    }
}
