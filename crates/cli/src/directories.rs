//! Directories of the user, after the XDG base directory specification.

use std::path::PathBuf;

/// Returns the directory for files that can be made again: the symbol cache, the demo.
/// Nothing if the user has no home directory.
pub fn cache() -> Option<PathBuf> {
    directory("XDG_CACHE_HOME", ".cache")
}

/// Returns the directory for files that are kept between runs: the command history.
/// Nothing if the user has no home directory.
pub fn state() -> Option<PathBuf> {
    directory("XDG_STATE_HOME", ".local/state")
}

/// Returns the directory of files that the user writes: the command file that is executed at the
/// start. Nothing if the user has no home directory.
pub fn config() -> Option<PathBuf> {
    directory("XDG_CONFIG_HOME", ".config")
}

/// Returns the directory of juror below a base directory. A relative path in the
/// environment is ignored, as the specification requires.
fn directory(variable: &str, below_home: &str) -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = PathBuf::from(std::env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    let base = absolute(variable).or_else(|| Some(absolute("HOME")?.join(below_home)));
    Some(base?.join("juror"))
}
