//! User settings for symbols: the search directories of separate debug files, and the cache
//! of name indexes and decompressed sections.

use crate::source_rules::SourceRules;
use std::path::PathBuf;

/// The directory in which distributions install separate debug files.
const DEBUG_DIRECTORY: &str = "/usr/lib/debug";

/// The settings that a symbol file is opened with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SymbolSettings {
    /// The directories that are searched for separate debug files.
    pub debug_file_directories: Vec<PathBuf>,
    /// The cache; `None` disables it.
    pub cache: Option<Cache>,
    /// Where the sources are now.
    pub sources: SourceRules,
}

/// A directory of name indexes and decompressed sections, each named by the build id of its
/// program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    /// The directory; created on first use.
    pub directory: PathBuf,
    /// The maximum total size of all files in it, in bytes.
    pub size_max_bytes: u64,
    /// The minimum size of the debug information, in bytes, for which an index is cached;
    /// smaller ones are read anew every time.
    pub size_min_bytes: u64,
}

impl Cache {
    /// Returns a cache in `directory` with the default limits.
    pub fn new(directory: impl Into<PathBuf>) -> Cache {
        Cache {
            directory: directory.into(),
            size_max_bytes: 1 << 30,
            size_min_bytes: 4 << 20,
        }
    }
}

impl Default for SymbolSettings {
    fn default() -> SymbolSettings {
        SymbolSettings {
            debug_file_directories: vec![PathBuf::from(DEBUG_DIRECTORY)],
            cache: None,
            sources: SourceRules::default(),
        }
    }
}
