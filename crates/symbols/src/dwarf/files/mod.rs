//! The index of the source files of a program: which units may have code from a file, and
//! which unit an address belongs to.
//!
//! Every line table lists its files in its header. To ask all units for each line would read
//! all headers again each time; so they are read once, on all processors, and kept on disk.
//! Neither units nor sections need to be read to learn from the index that a program has no
//! such file.
//!
//! **Invariant:** an index has the files of every line table, by the numbers that its rows
//! use. A file number is checked against the line table before it is used.

mod build;

use super::index::{Index, Layout, Row, checksum};
use crate::cache::FILES;
use crate::line::is_path_of;
use std::ops::Range;
use std::path::Path;

/// The tables, in file order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    Strings,
    /// The number of units.
    Program,
    /// The checksum of a file name, and the number of a path with it.
    Names,
    /// A path, and its position in `Places`; by the path.
    Paths,
    /// A unit, and the number of the file in its line table.
    Places,
    /// A range of addresses, and its unit; by the start.
    UnitRanges,
}

impl Layout for Table {
    const WIDTHS: &'static [usize] = &[0, 1, 2, 4, 2, 5];
    const MAGIC: &'static [u8; 8] = b"jurorsrc";
    const VERSION: u32 = 3;
    const EXTENSION: &'static str = FILES;
    const TITLE: &'static str = "source files";
    const STRINGS: Table = Table::Strings;

    fn number(self) -> usize {
        self as usize
    }
}

/// The index of source files.
pub(crate) type FileIndex = Index<Table>;

/// A source file that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundFile<'a> {
    /// The path, as composed from the line table.
    pub path: &'a str,
    /// The units that list it, ascending, with its number in their line tables.
    pub places: Vec<(u32, u32)>,
}

impl FileIndex {
    /// Returns the number of units when the index was built.
    pub fn unit_count(&self) -> Option<u32> {
        Some(self.row(Table::Program, 0)?.word(0))
    }

    /// Returns the paths that a path as written by the user is the end of, sorted.
    pub fn paths_named(&self, written: &str) -> Vec<Box<str>> {
        let written = Path::new(written);
        let paths = self.paths_with_name_of(written);
        let meant = paths.filter(|path| is_path_of(written, Path::new(path)));
        meant.map(Box::from).collect()
    }

    /// Returns the files with these paths.
    pub fn files_at(&self, paths: &[Box<str>]) -> Vec<FoundFile<'_>> {
        let file = |wanted: &str| {
            let mut rows = self.rows_with_name_of(Path::new(wanted));
            let (row, path) = rows.find(|(_, path)| *path == wanted)?;
            let places = self.range(Table::Places, row.word(2), row.word(3));
            Some(FoundFile {
                path,
                places: places.map(|place| (place.word(0), place.word(1))).collect(),
            })
        };
        paths.iter().filter_map(|path| file(path)).collect()
    }

    /// Iterates over the paths with the file name of another path, sorted.
    pub fn paths_with_name_of(&self, other: &Path) -> impl Iterator<Item = &str> {
        self.rows_with_name_of(other).map(|(_, path)| path)
    }

    fn rows_with_name_of(&self, other: &Path) -> impl Iterator<Item = (Row<'_>, &str)> {
        let rows = self.numbers_of(other);
        rows.filter_map(|number| {
            let row = self.row(Table::Paths, number)?;
            Some((row, self.text(row, 0)))
        })
    }

    /// Iterates over the numbers of the paths with the same file name, ascending.
    fn numbers_of(&self, other: &Path) -> impl Iterator<Item = u32> {
        let name = other.file_name().and_then(|name| name.to_str());
        let rows = name.map(|name| self.with_word(Table::Names, checksum(name)));
        rows.into_iter().flatten().map(|row| row.word(1))
    }

    /// Iterates over all paths, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.rows(Table::Paths).map(|row| self.text(row, 0))
    }

    /// Returns address ranges and their units, by ascending start.
    pub fn unit_ranges(&self) -> Vec<(Range<u64>, u32)> {
        let rows = self.rows(Table::UnitRanges);
        rows.map(|row| (row.range(0), row.word(4))).collect()
    }
}
