//! The index of all functions, types and variables of a file, by name and address.
//!
//! The index is one byte array, identical in memory and on disk: tables of rows of fixed
//! width, sorted for binary search, and one table of strings. So a cached index is read in
//! one go, nothing is parsed before it is needed, and a damaged row counts as absent.
//!
//! Names are found by the checksum of their last component; the caller compares the names,
//! so a collision only costs a comparison.

mod build;
mod cache;
mod merge;
mod strings;

pub(crate) use build::Watch;
pub(crate) use cache::{CachedIndex, Identity};

use super::DieRef;
use super::facts::{FunctionRecord, GlobalRecord, TypeRecord};
use crate::elf::{u32_at, u64_at};
use gimli::DwTag;
use memchr::memmem;
use std::ops::Range;

/// The tables, in file order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    Strings,
    /// Entry address, DIE, name, linkage name, flags, position in `Parts`.
    Functions,
    FunctionTails,
    /// The code ranges of each function; the range of the entry is first.
    Parts,
    /// All code ranges by ascending start, with their functions.
    Code,
    Globals,
    GlobalTails,
    Types,
    TypeTails,
    /// The checksum of an enumerator's name, and its enumeration.
    Enumerators,
    /// The names of inlined functions, and the units with their copies.
    Inlined,
    UnitRanges,
    /// The checksum of a file name, and a unit with code from it.
    Files,
    Paths,
}

/// The width of a row in words of four bytes; strings have no rows.
const WIDTHS: [usize; 14] = [0, 11, 2, 4, 5, 5, 2, 5, 2, 4, 4, 5, 2, 2];

/// The offset of the list of tables, in bytes.
const LIST_START: usize = 72;
/// The offset of the first table, in bytes.
const TABLES_START: usize = LIST_START + 16 * WIDTHS.len();

/// A flag of functions and variables: external linkage.
const EXTERNAL: u32 = 1;

/// The index of a file.
#[derive(Debug, Default)]
pub(crate) struct NameIndex {
    bytes: Vec<u8>,
    tables: [Range<usize>; WIDTHS.len()],
}

impl NameIndex {
    /// Creates an index from bytes; `None` if the tables do not fit.
    fn new(bytes: Vec<u8>) -> Option<NameIndex> {
        let mut tables: [Range<usize>; WIDTHS.len()] = Default::default();
        for (number, table) in tables.iter_mut().enumerate() {
            let at = LIST_START + 16 * number;
            let start = usize::try_from(u64_at(&bytes, at)?).ok()?;
            let size = usize::try_from(u64_at(&bytes, at + 8)?).ok()?;
            let end = start.checked_add(size)?;
            bytes.get(start..end)?;
            *table = start..end;
        }
        Some(NameIndex { bytes, tables })
    }

    fn table(&self, table: Table) -> &[u8] {
        let range = self.tables.get(table as usize).cloned();
        range.and_then(|range| self.bytes.get(range)).unwrap_or(&[])
    }

    fn row_size(table: Table) -> usize {
        4 * WIDTHS.get(table as usize).copied().unwrap_or(0).max(1)
    }

    fn count(&self, table: Table) -> u32 {
        (self.table(table).len() / Self::row_size(table)) as u32
    }

    fn row(&self, table: Table, number: u32) -> Option<Row<'_>> {
        let size = Self::row_size(table);
        let start = (number as usize).checked_mul(size)?;
        Some(Row(self
            .table(table)
            .get(start..start.checked_add(size)?)?))
    }

    /// Returns the number of the first row for which `is_before` is false.
    fn first(&self, table: Table, is_before: impl Fn(Row<'_>) -> bool) -> u32 {
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
    fn with_word(&self, table: Table, word: u32) -> impl Iterator<Item = Row<'_>> {
        let start = self.first(table, |row| row.word(0) < word);
        (start..self.count(table))
            .map_while(move |number| self.row(table, number))
            .take_while(move |row| row.word(0) == word)
    }

    fn text(&self, row: Row<'_>, word: usize) -> &str {
        std::str::from_utf8(self.bytes_of_text(row, word)).unwrap_or("")
    }

    fn bytes_of_text(&self, row: Row<'_>, word: usize) -> &[u8] {
        let start = row.word(word) as usize;
        let end = start.checked_add(row.word(word + 1) as usize);
        let text = end.and_then(|end| self.table(Table::Strings).get(start..end));
        text.unwrap_or(&[])
    }

    fn rows(&self, table: Table) -> impl Iterator<Item = Row<'_>> {
        (0..self.count(table)).map_while(move |number| self.row(table, number))
    }

    /// Returns the number of functions.
    pub fn function_count(&self) -> u32 {
        self.count(Table::Functions)
    }

    /// Returns a function by its number, in the order of addresses.
    pub fn function(&self, number: u32) -> Option<FunctionRecord> {
        let row = self.row(Table::Functions, number)?;
        let linkage_name = self.text(row, 6);
        let (first, count) = (row.word(9), row.word(10));
        let parts = (first..first.checked_add(count)?)
            .map_while(|part| self.row(Table::Parts, part))
            .map(|part| part.range(0))
            .collect();
        Some(FunctionRecord {
            die: row.die(2),
            low_pc: row.address(0),
            ranges: parts,
            name: self.text(row, 4).into(),
            linkage_name: (!linkage_name.is_empty()).then(|| linkage_name.into()),
            external: row.word(8) & EXTERNAL != 0,
        })
    }

    /// Returns the name and linkage name of a function only.
    pub fn function_name(&self, number: u32) -> Option<(&str, &str)> {
        let row = self.row(Table::Functions, number)?;
        Some((self.text(row, 4), self.text(row, 6)))
    }

    /// Returns the code range that begins at a function's entry.
    pub fn function_entry(&self, number: u32) -> Option<Range<u64>> {
        let row = self.row(Table::Functions, number)?;
        let low_pc = row.address(0);
        let first = (row.word(10) > 0).then(|| self.row(Table::Parts, row.word(9)));
        let end = first.flatten().map_or(low_pc, |part| part.range(0).end);
        Some(low_pc..end)
    }

    /// Iterates over the functions that may have this last component.
    pub fn functions_with_tail(&self, tail: &str) -> impl Iterator<Item = FunctionRecord> {
        self.with_word(Table::FunctionTails, checksum(tail))
            .filter_map(|row| self.function(row.word(1)))
    }

    /// Iterates over the entry addresses of the functions with this word in their name or
    /// linkage name.
    pub fn functions_with_word(&self, word: &str) -> impl Iterator<Item = u64> {
        let finder = memmem::Finder::new(word).into_owned();
        let rows = self.rows(Table::Functions);
        let has_word = move |row: &Row<'_>| {
            let names = [4, 6].map(|word| self.bytes_of_text(*row, word));
            names.iter().any(|name| finder.find(name).is_some())
        };
        rows.filter(has_word).map(|row| row.address(0))
    }

    /// Returns the function whose first instruction is at an address.
    pub fn function_with_low_pc(&self, low_pc: u64) -> Option<FunctionRecord> {
        let number = self.first(Table::Functions, |row| row.address(0) < low_pc);
        self.function(number).filter(|it| it.low_pc == low_pc)
    }

    /// Returns the function that contains an address.
    pub fn function_at(&self, address: u64) -> Option<FunctionRecord> {
        let end = self.first(Table::Code, |row| row.address(0) <= address);
        let mut before = (0..end).rev().take(16);
        let row = before.find_map(|number| {
            let row = self.row(Table::Code, number)?;
            row.range(0).contains(&address).then_some(row)
        })?;
        self.function(row.word(4))
    }

    /// Iterates over the types that may have this last component, in the order of their
    /// DIEs; the first of each name.
    pub fn types_with_tail(&self, tail: &str) -> impl Iterator<Item = TypeRecord> {
        self.with_word(Table::TypeTails, checksum(tail))
            .filter_map(|row| self.row(Table::Types, row.word(1)))
            .map(|row| TypeRecord {
                die: row.die(0),
                tag: DwTag(row.word(4) as u16),
                name: self.text(row, 2).into(),
                declaration: row.word(4) >> 16 != 0,
            })
    }

    /// Iterates over the names of all types.
    pub fn type_names(&self) -> impl Iterator<Item = &str> {
        self.rows(Table::Types).map(|row| self.text(row, 2))
    }

    /// Iterates over the variables that may have this last component.
    pub fn globals_with_tail(&self, tail: &str) -> impl Iterator<Item = GlobalRecord> {
        self.with_word(Table::GlobalTails, checksum(tail))
            .filter_map(|row| self.row(Table::Globals, row.word(1)))
            .map(|row| GlobalRecord {
                die: row.die(0),
                name: self.text(row, 2).into(),
                external: row.word(4) & EXTERNAL != 0,
            })
    }

    /// Iterates over the names of all global variables.
    pub fn global_names(&self) -> impl Iterator<Item = &str> {
        self.rows(Table::Globals).map(|row| self.text(row, 2))
    }

    /// Iterates over the enumerations that may have an enumerator with this name, in the
    /// order of their DIEs; the first of each qualified name.
    pub fn enumerations_with(&self, name: &str) -> impl Iterator<Item = DieRef> {
        let wanted = wide_checksum(name);
        let start = self.first(Table::Enumerators, move |row| row.address(0) < wanted);
        (start..self.count(Table::Enumerators))
            .map_while(|number| self.row(Table::Enumerators, number))
            .take_while(move |row| row.address(0) == wanted)
            .map(|row| row.die(2))
    }

    /// Iterates over the inlined functions that may have this last component, with the
    /// units that have copies of them.
    pub fn inlined_with_tail(&self, tail: &str) -> impl Iterator<Item = (&str, u32)> {
        self.with_word(Table::Inlined, checksum(tail))
            .map(|row| (self.text(row, 1), row.word(3)))
    }

    /// Iterates over the names of all inlined functions.
    pub fn inlined_names(&self) -> impl Iterator<Item = &str> {
        self.rows(Table::Inlined).map(|row| self.text(row, 1))
    }

    /// Returns address ranges and their units, by ascending start.
    pub fn unit_ranges(&self) -> Vec<(Range<u64>, u32)> {
        let rows = self.rows(Table::UnitRanges);
        rows.map(|row| (row.range(0), row.word(4))).collect()
    }

    /// Iterates over the units that may have code from a source file of this name.
    pub fn units_with_file(&self, name: &str) -> impl Iterator<Item = u32> {
        self.with_word(Table::Files, checksum(name))
            .map(|row| row.word(1))
    }

    /// Iterates over the paths of all source files, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.rows(Table::Paths).map(|row| self.text(row, 0))
    }
}

/// A row of a table.
#[derive(Clone, Copy)]
struct Row<'a>(&'a [u8]);

impl Row<'_> {
    fn word(self, number: usize) -> u32 {
        u32_at(self.0, 4 * number).unwrap_or(0)
    }

    fn address(self, word: usize) -> u64 {
        u64_at(self.0, 4 * word).unwrap_or(0)
    }

    fn range(self, word: usize) -> Range<u64> {
        self.address(word)..self.address(word + 2)
    }

    fn die(self, word: usize) -> DieRef {
        DieRef {
            unit: self.word(word),
            offset: self.word(word + 1) as usize,
        }
    }
}

/// Returns the checksum that represents a component of a name, in memory and on disk.
fn checksum(text: &str) -> u32 {
    crc32fast::hash(text.as_bytes())
}

/// Returns a wide checksum, for which collisions are not acceptable.
fn wide_checksum(text: &str) -> u64 {
    // The FNV-1a hash.
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
