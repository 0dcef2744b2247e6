//! The files whose symbols have been opened, shared by all processes and runs of
//! a session: what was read of a program is not read again when it is started
//! anew.
//!
//! Invariant: a file that has changed on disk since is opened anew.

use juror_symbols::{SymbolError, SymbolFile, SymbolSettings};
use rustc_hash::FxHashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// More files than this are not kept.
const FILES_MAX: usize = 1024;

/// Which version of a file it is: device, number, size, and when it was changed,
/// in seconds and nanoseconds.
type Version = (u64, u64, u64, i64, i64);

/// Opens symbol files, each once. Clones share what is open.
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
    /// A store in which nothing is open.
    pub fn new(settings: SymbolSettings) -> SymbolStore {
        let store = SymbolStore::default();
        store.set(settings);
        store
    }

    /// What has been set.
    pub fn settings(&self) -> SymbolSettings {
        let shared = self.shared.lock();
        shared.map_or_else(|_| SymbolSettings::default(), |it| (*it.settings).clone())
    }

    /// Sets something else; what is opened from then on goes by it.
    pub fn set(&self, settings: SymbolSettings) {
        if let Ok(mut shared) = self.shared.lock() {
            shared.settings = Arc::new(settings);
            shared.files.clear();
        }
    }

    /// The symbols of a file.
    ///
    /// # Errors
    /// The file cannot be read, or is no program or library.
    pub fn open(&self, path: &Path) -> Result<SymbolFile, SymbolError> {
        let Ok(mut shared) = self.shared.lock() else {
            return SymbolFile::open(path);
        };
        let version = version(path);
        if let (Some(version), Some((known, file))) = (version, shared.files.get(path))
            && *known == version
        {
            return Ok(file.clone());
        }
        let file = SymbolFile::open_with(path, Arc::clone(&shared.settings))?;
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
        let first = store.open(&path).unwrap();
        assert!(first.is_same(&store.clone().open(&path).unwrap()));
        std::fs::copy("/bin/false", directory.path().join("other")).unwrap();
        std::fs::rename(directory.path().join("other"), &path).unwrap();
        assert!(!first.is_same(&store.open(&path).unwrap()));
        std::fs::remove_file(&path).unwrap();
        assert!(store.open(&path).is_err());
    }
}
