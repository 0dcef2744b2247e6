//! The user's rules for directories of sources that have moved (`set substitute-path`).

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

/// The user's rules for directories of sources that have moved. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct SourceRules(Arc<RwLock<Rules>>);

#[derive(Debug, Default)]
struct Rules {
    /// Compiled directories and their present places; the newest first.
    moved: Vec<(PathBuf, PathBuf)>,
    /// The number of changes.
    version: u64,
}

impl SourceRules {
    /// Replaces the rules: compiled directories and their present places, the first one that fits
    /// counts.
    pub fn set(&self, moved: Vec<(PathBuf, PathBuf)>) {
        let mut rules = self.0.write().unwrap_or_else(PoisonError::into_inner);
        rules.moved = moved;
        rules.version += 1;
    }

    /// Returns the present path of a compiled file.
    pub fn place(&self, path: &Path) -> PathBuf {
        let rules = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut moved = rules.moved.iter();
        let place = moved.find_map(|(from, to)| Some(to.join(path.strip_prefix(from).ok()?)));
        place.unwrap_or_else(|| path.to_owned())
    }

    /// Returns a number that changes with the rules.
    pub(crate) fn version(&self) -> u64 {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .version
    }
}

impl PartialEq for SourceRules {
    fn eq(&self, other: &SourceRules) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.version() == 0 && other.version() == 0
    }
}

impl Eq for SourceRules {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_shared_by_clones() {
        let rules = SourceRules::default();
        let other = rules.clone();
        rules.set(vec![("/build".into(), "/home/me".into())]);
        assert_eq!(
            other.place(Path::new("/build/a.c")),
            Path::new("/home/me/a.c")
        );
        assert_eq!(
            other.place(Path::new("/builds/a.c")),
            Path::new("/builds/a.c")
        );
        assert_eq!(rules, other);
        assert_ne!(rules, SourceRules::default());
    }
}
