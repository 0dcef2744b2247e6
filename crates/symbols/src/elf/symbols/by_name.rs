//! The index of symbols by name, made after several searches.
//!
//! A clone of a function (`name.constprop.0`) is searched with the function, so the index has
//! the checksums of names without what follows the first dot. The caller compares the names.

use std::hash::Hasher as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// The number of searches of all symbols before the index is made, which costs as much as these.
const SCANS_MAX: u32 = 4;

/// The index of symbols by name.
#[derive(Debug, Default)]
pub(super) struct ByName {
    /// Pairs of checksum and index, ascending.
    sorted: OnceLock<Box<[u64]>>,
    /// The number of searches.
    asked: AtomicU32,
}

impl ByName {
    /// Returns the indexes of the symbols that may have a name, or be clones of a function with
    /// the name, ascending. `None` if the caller has to ask all symbols.
    pub fn like<'a, I: Iterator<Item = &'a [u8]>>(
        &self,
        name: &str,
        names: impl FnOnce() -> I,
    ) -> Option<impl Iterator<Item = u32>> {
        if self.asked.fetch_add(1, Ordering::Relaxed) < SCANS_MAX {
            return None;
        }
        let sorted = self.sorted.get_or_init(|| {
            let numbered = (0..).zip(names());
            let pairs = numbered.map(|(index, name): (u32, _)| pair(name) | u64::from(index));
            let mut pairs: Box<[u64]> = pairs.collect();
            pairs.sort_unstable();
            pairs
        });
        let wanted = pair(name.as_bytes());
        let start = sorted.partition_point(|pair| *pair < wanted);
        let from_here = sorted.get(start..).unwrap_or(&[]).iter();
        let same = from_here.take_while(move |pair| *pair >> 32 == wanted >> 32);
        Some(same.map(|pair| *pair as u32))
    }
}

/// Returns the pair of a name with the index 0.
fn pair(name: &[u8]) -> u64 {
    let end = memchr::memchr(b'.', name).unwrap_or(name.len());
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(name.get(..end).unwrap_or(name));
    hasher.finish() & !u64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_has_the_names_and_their_clones() {
        let names = [
            "read",
            "write.cold",
            "read.part.0",
            ".read",
            "write",
            "read",
        ];
        let all = || names.iter().map(|name| name.as_bytes());
        let index = ByName::default();
        let like = |name: &str| index.like(name, all).map(Iterator::collect::<Vec<u32>>);
        for _ in 0..SCANS_MAX {
            assert_eq!(like("read"), None);
        }
        for (name, expected) in [
            ("read", vec![0, 2, 5]),
            ("read.part.0", vec![0, 2, 5]),
            ("write", vec![1, 4]),
            (".read", vec![3]),
            ("rea", vec![]),
        ] {
            assert_eq!(like(name), Some(expected), "{name}");
        }
    }
}
