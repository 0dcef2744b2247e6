//! What a person may set about symbols: where debug information is looked for,
//! and where the index of names is kept.

use std::path::PathBuf;

/// The directory in which distributions put separate debug files.
const DEBUG_DIRECTORY: &str = "/usr/lib/debug";

/// Where symbols come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SymbolSettings {
    /// The directories below which separate debug files are looked for.
    pub debug_file_directories: Vec<PathBuf>,
    /// Where indexes of names are kept; nowhere if there is none.
    pub cache: Option<Cache>,
}

/// A directory of indexes, each named by the build identity of its program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    /// It is made when it is needed.
    pub directory: PathBuf,
    /// What all indexes in it take at the most, in bytes.
    pub size_max_bytes: u64,
    /// Debug information of less than this is read anew every time, in bytes.
    pub worth_bytes: u64,
}

impl Cache {
    /// A cache in a directory, within the usual bounds.
    pub fn new(directory: impl Into<PathBuf>) -> Cache {
        Cache {
            directory: directory.into(),
            size_max_bytes: 1 << 30,
            worth_bytes: 4 << 20,
        }
    }
}

impl Default for SymbolSettings {
    fn default() -> SymbolSettings {
        SymbolSettings {
            debug_file_directories: vec![PathBuf::from(DEBUG_DIRECTORY)],
            cache: None,
        }
    }
}
