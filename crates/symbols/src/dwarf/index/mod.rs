//! An index as one byte array, identical in memory and on disk.
//!
//! An index has tables of rows of fixed width, sorted for binary search, and one table of
//! strings. So nothing of a cached index is parsed before it is needed, and a damaged row counts
//! as absent. A large one is read in parts (`bytes`).
//!
//! Names are found by their checksum; the caller compares the names, so a collision only
//! costs a comparison.

mod bytes;
mod cache;
mod strings;
mod tables;

pub(super) use bytes::Repair;
pub(crate) use cache::{CachedIndex, Identity};
pub(super) use strings::{StringRef, StringTable};
pub(super) use tables::{Tables, words};

use super::DieRef;
use crate::elf::{u32_at, u64_at};
use bytes::Bytes;
use std::marker::PhantomData;
use std::ops::Range;

/// The offset of the list of tables, in bytes.
const LIST_START: usize = 72;

/// The tables of an index, and its form on disk.
pub(crate) trait Layout: Copy {
    /// The width of a row in words of four bytes, by the number of the table; strings have
    /// no rows.
    const WIDTHS: &'static [usize];
    /// The first bytes of a file.
    const MAGIC: &'static [u8; 8];
    /// The version of the format; changes with every change of the tables or their contents.
    const VERSION: u32;
    /// The extension of a file.
    const EXTENSION: &'static str;
    /// The contents, for messages.
    const TITLE: &'static str;
    /// The table of strings.
    const STRINGS: Self;

    /// Returns the position of the table in the file.
    fn number(self) -> usize;
}

/// An index with the tables `T`.
#[derive(Debug)]
pub(crate) struct Index<T> {
    bytes: Bytes,
    tables: Vec<Range<usize>>,
    layout: PhantomData<T>,
}

impl<T> Default for Index<T> {
    fn default() -> Index<T> {
        Index {
            bytes: Bytes::Whole(Vec::new()),
            tables: Vec::new(),
            layout: PhantomData,
        }
    }
}

impl<T: Layout> Index<T> {
    /// Creates an index from bytes; `None` if the tables do not fit.
    fn new(bytes: Bytes) -> Option<Index<T>> {
        let list = bytes.get(LIST_START..LIST_START + 16 * T::WIDTHS.len())?;
        let place = |number: usize| {
            let start = usize::try_from(u64_at(list, 16 * number)?).ok()?;
            let size = usize::try_from(u64_at(list, 16 * number + 8)?).ok()?;
            let end = start.checked_add(size)?;
            (end <= bytes.len()).then_some(start..end)
        };
        let tables: Option<Vec<Range<usize>>> = (0..T::WIDTHS.len()).map(place).collect();
        Some(Index {
            tables: tables?,
            bytes,
            layout: PhantomData,
        })
    }

    /// Sets what is done if a part of the file turns out to be damaged.
    pub(super) fn repair_by(&self, repair: Repair) {
        if let Bytes::Kept(kept) = &self.bytes {
            kept.repair_by(repair);
        }
    }

    /// Returns the bytes of an index that was built.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        match self.bytes {
            Bytes::Whole(all) => all,
            Bytes::Kept(_) => Vec::new(),
        }
    }

    /// Returns a part of a table.
    fn part(&self, table: T, range: Range<usize>) -> Option<&[u8]> {
        let all = self.tables.get(table.number())?;
        let start = all.start.checked_add(range.start)?;
        let end = all.start.checked_add(range.end)?;
        (end <= all.end).then(|| self.bytes.get(start..end))?
    }

    fn row_size(table: T) -> usize {
        4 * T::WIDTHS.get(table.number()).copied().unwrap_or(0).max(1)
    }

    /// Returns the number of rows of a table.
    pub(super) fn count(&self, table: T) -> u32 {
        let size = self.tables.get(table.number()).map_or(0, Range::len);
        (size / Self::row_size(table)) as u32
    }

    /// Returns a row by its number.
    pub(super) fn row(&self, table: T, number: u32) -> Option<Row<'_>> {
        let size = Self::row_size(table);
        let start = (number as usize).checked_mul(size)?;
        let end = start.checked_add(size)?;
        Some(Row(self.part(table, start..end)?))
    }

    /// Returns the number of the first row for which `is_before` is false.
    pub(super) fn first(&self, table: T, is_before: impl Fn(Row<'_>) -> bool) -> u32 {
        let (mut low, mut high) = (0, self.count(table));
        while low < high {
            let middle = low + (high - low) / 2;
            if self.row(table, middle).is_some_and(&is_before) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        low
    }

    /// Iterates over the rows with this first word.
    pub(super) fn with_word(&self, table: T, word: u32) -> impl Iterator<Item = Row<'_>> {
        let start = self.first(table, |row| row.word(0) < word);
        (start..self.count(table))
            .map_while(move |number| self.row(table, number))
            .take_while(move |row| row.word(0) == word)
    }

    /// Iterates over `count` rows from `first` on.
    pub(super) fn range(&self, table: T, first: u32, count: u32) -> impl Iterator<Item = Row<'_>> {
        (first..first.saturating_add(count)).map_while(move |number| self.row(table, number))
    }

    /// Iterates over all rows.
    pub(super) fn rows(&self, table: T) -> impl Iterator<Item = Row<'_>> {
        self.range(table, 0, self.count(table))
    }

    /// Returns the string whose start and length are two words of a row.
    pub(super) fn text(&self, row: Row<'_>, word: usize) -> &str {
        std::str::from_utf8(self.bytes_of_text(row, word)).unwrap_or("")
    }

    /// Returns the bytes of such a string.
    pub(super) fn bytes_of_text(&self, row: Row<'_>, word: usize) -> &[u8] {
        let start = row.word(word) as usize;
        let end = start.checked_add(row.word(word + 1) as usize);
        let text = end.and_then(|end| self.part(T::STRINGS, start..end));
        text.unwrap_or(&[])
    }
}

/// A row of a table.
#[derive(Clone, Copy)]
pub(super) struct Row<'a>(&'a [u8]);

impl Row<'_> {
    pub fn word(self, number: usize) -> u32 {
        u32_at(self.0, 4 * number).unwrap_or(0)
    }

    pub fn address(self, word: usize) -> u64 {
        u64_at(self.0, 4 * word).unwrap_or(0)
    }

    pub fn range(self, word: usize) -> Range<u64> {
        self.address(word)..self.address(word + 2)
    }

    pub fn die(self, word: usize) -> DieRef {
        DieRef {
            unit: self.word(word),
            offset: self.word(word + 1) as usize,
        }
    }
}

/// Returns the checksum that represents a component of a name, in memory and on disk.
pub(super) fn checksum(text: &str) -> u32 {
    crc32fast::hash(text.as_bytes())
}
