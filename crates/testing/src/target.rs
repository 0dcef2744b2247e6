//! The directories of the repository and of its build products.

use std::path::{Path, PathBuf};

/// Returns the directory of the workspace.
pub fn repository_directory() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// Returns cargo's target directory: the one of the running test, otherwise the workspace's
/// own.
pub fn target_directory() -> PathBuf {
    let running = std::env::current_exe().ok();
    running
        .as_deref()
        .into_iter()
        .flat_map(Path::ancestors)
        .find(|directory| directory.join("CACHEDIR.TAG").is_file())
        .map_or_else(|| repository_directory().join("target"), Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_has_this_crate() {
        let manifest = repository_directory().join("crates/testing/Cargo.toml");
        assert!(manifest.is_file());
    }

    #[test]
    fn this_test_was_built_in_the_target_directory() {
        let test = std::env::current_exe().unwrap();
        assert!(test.starts_with(target_directory()));
    }
}
