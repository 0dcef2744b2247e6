//! The index of units by the names of what they have: functions with code, inlined copies, and
//! variables with a location.
//!
//! A search for one name looks at all entries each time, and the index of all names takes ten
//! times as long to build. This index is built by one pass over the entries, when a function or a
//! variable of a large program is first asked for, and kept on disk: it leads from the last
//! component of a name to the units to read.
//!
//! **Invariant:** no unit is missed; a superfluous unit costs only time. If a DIE may have its name
//! from another unit, the index says that it is not complete, and is not used. Of units that claim
//! the same code the first counts.

mod build;

use super::DebugInfo;
use super::index::{CachedIndex, Index, Layout, checksum};
use crate::cache::FUNCTIONS;

/// The tables, in file order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    Strings,
    /// Whether the index is complete.
    Program,
    /// The checksum of the last component of a name, and a unit.
    Names,
}

impl Layout for Table {
    const WIDTHS: &'static [usize] = &[0, 1, 2];
    const MAGIC: &'static [u8; 8] = b"jurorfun";
    const VERSION: u32 = 1;
    const EXTENSION: &'static str = FUNCTIONS;
    const TITLE: &'static str = "functions";
    const STRINGS: Table = Table::Strings;

    fn number(self) -> usize {
        self as usize
    }
}

/// The index of units.
pub(super) type UnitIndex = Index<Table>;

impl UnitIndex {
    fn is_complete(&self) -> bool {
        let row = self.row(Table::Program, 0);
        row.is_some_and(|row| row.word(0) == 1)
    }

    /// Returns the units that may have something with this last component, ascending.
    pub fn units_with(&self, tail: &str) -> Vec<u32> {
        let rows = self.with_word(Table::Names, checksum(tail));
        rows.map(|row| row.word(1)).collect()
    }
}

impl DebugInfo {
    /// Returns the index of units, built on first use; `None` for programs that are too small for
    /// one to be kept, or whose units refer to each other.
    pub(super) fn unit_index(&self) -> Option<&UnitIndex> {
        let index = self.unit_index.get_or_init(|| {
            let (identity, cache) = self.cache.as_ref()?;
            if self.sources.len() != 1 || !self.is_kept_in(cache) {
                return None;
            }
            match identity.load(cache) {
                CachedIndex::Valid(index) => return Some(*index),
                CachedIndex::Absent => {}
                CachedIndex::Damaged(message) => self.warn(message),
            }
            let mut index = self.built_unit_index()?;
            identity.keep(cache, &mut index);
            Some(index)
        });
        index.as_ref().filter(|index| index.is_complete())
    }
}
