//! Which functions, types and variables a file has, by name and address.
//!
//! The index is one run of bytes, in memory as on disk: tables of rows of a
//! fixed width, sorted for a binary search, and one table of texts. So an index
//! that was kept is read in one go, nothing is parsed before it is asked for, and
//! a row of a damaged one is just absent.
//!
//! Names are found by their last component: the table has its checksum, and the
//! caller compares the names. Two components of one checksum cost a comparison.

mod build;
mod cache;
mod merge;
mod texts;

pub(crate) use build::Watch;
pub(crate) use cache::{Identity, Kept};

use super::DieRef;
use super::facts::{FunctionRecord, GlobalRecord, TypeRecord};
use crate::elf::{u32_at, u64_at};
use gimli::DwTag;
use memchr::memmem;
use std::ops::Range;

/// The tables, in the order in which they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    Texts,
    /// Entry address, entry, name, linkage name, flags, place in `Parts`.
    Functions,
    FunctionTails,
    /// The code of each function: the range of the entry first.
    Parts,
    /// All code, by ascending start, with its function.
    Code,
    Globals,
    GlobalTails,
    Types,
    TypeTails,
    /// Checksum of a name, and the enumeration that has it.
    Enumerators,
    /// Names of inlined functions, and the units with copies of them.
    Inlined,
    UnitRanges,
    /// Checksum of a file name, and a unit with code from it.
    Files,
    Paths,
}

/// How wide a row is, in words of four bytes; texts have no rows.
const WIDTHS: [usize; 14] = [0, 11, 2, 4, 5, 5, 2, 5, 2, 4, 4, 5, 2, 2];

/// Where the tables are listed, in bytes.
const LIST_START: usize = 72;
/// Where the first table begins.
const TABLES_START: usize = LIST_START + 16 * WIDTHS.len();

/// A flag of functions and variables: they are visible in other units.
const EXTERNAL: u32 = 1;

/// The index of a file.
#[derive(Debug, Default)]
pub(crate) struct NameIndex {
    bytes: Vec<u8>,
    tables: [Range<usize>; WIDTHS.len()],
}

impl NameIndex {
    /// Takes bytes that are an index; `None` where the tables do not fit.
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

    /// The number of the first row that is not before what is looked for.
    fn first(&self, table: Table, is_before: impl Fn(Row<'_>) -> bool) -> u32 {
        let (mut low, mut high) = (0, self.count(table));
        while low < high {
            let middle = low + (high - low) / 2;
            match self.row(table, middle).is_some_and(&is_before) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }

    /// The rows whose first word is this one.
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
        let text = end.and_then(|end| self.table(Table::Texts).get(start..end));
        text.unwrap_or(&[])
    }

    fn rows(&self, table: Table) -> impl Iterator<Item = Row<'_>> {
        (0..self.count(table)).map_while(move |number| self.row(table, number))
    }

    /// How many functions there are.
    pub fn function_count(&self) -> u32 {
        self.count(Table::Functions)
    }

    /// The function of a number; they are in the order of their addresses.
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

    /// Name and linkage name of a function, without the rest.
    pub fn function_name(&self, number: u32) -> Option<(&str, &str)> {
        let row = self.row(Table::Functions, number)?;
        Some((self.text(row, 4), self.text(row, 6)))
    }

    /// Entry address of a function, and the end of the code there.
    pub fn function_entry(&self, number: u32) -> Option<Range<u64>> {
        let row = self.row(Table::Functions, number)?;
        let low_pc = row.address(0);
        let first = (row.word(10) > 0).then(|| self.row(Table::Parts, row.word(9)));
        let end = first.flatten().map_or(low_pc, |part| part.range(0).end);
        Some(low_pc..end)
    }

    /// The functions whose last component may be this.
    pub fn functions_with_tail(&self, tail: &str) -> impl Iterator<Item = FunctionRecord> {
        self.with_word(Table::FunctionTails, checksum(tail))
            .filter_map(|row| self.function(row.word(1)))
    }

    /// The entry addresses of the functions with this word in their name, or in their
    /// mangled one.
    pub fn functions_with_word(&self, word: &str) -> impl Iterator<Item = u64> {
        let finder = memmem::Finder::new(word).into_owned();
        let rows = self.rows(Table::Functions);
        let has_word = move |row: &Row<'_>| {
            let names = [4, 6].map(|word| self.bytes_of_text(*row, word));
            names.iter().any(|name| finder.find(name).is_some())
        };
        rows.filter(has_word).map(|row| row.address(0))
    }

    /// The function whose first instruction is at an address.
    pub fn function_with_low_pc(&self, low_pc: u64) -> Option<FunctionRecord> {
        let number = self.first(Table::Functions, |row| row.address(0) < low_pc);
        self.function(number).filter(|it| it.low_pc == low_pc)
    }

    /// The function whose code an address belongs to.
    pub fn function_at(&self, address: u64) -> Option<FunctionRecord> {
        let end = self.first(Table::Code, |row| row.address(0) <= address);
        let mut before = (0..end).rev().take(16);
        let row = before.find_map(|number| {
            let row = self.row(Table::Code, number)?;
            row.range(0).contains(&address).then_some(row)
        })?;
        self.function(row.word(4))
    }

    /// The types whose last component may be this, in the order of their
    /// entries; of those of one name the first.
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

    /// The names of all types.
    pub fn type_names(&self) -> impl Iterator<Item = &str> {
        self.rows(Table::Types).map(|row| self.text(row, 2))
    }

    /// The variables whose last component may be this.
    pub fn globals_with_tail(&self, tail: &str) -> impl Iterator<Item = GlobalRecord> {
        self.with_word(Table::GlobalTails, checksum(tail))
            .filter_map(|row| self.row(Table::Globals, row.word(1)))
            .map(|row| GlobalRecord {
                die: row.die(0),
                name: self.text(row, 2).into(),
                external: row.word(4) & EXTERNAL != 0,
            })
    }

    /// The names of all global variables.
    pub fn global_names(&self) -> impl Iterator<Item = &str> {
        self.rows(Table::Globals).map(|row| self.text(row, 2))
    }

    /// The enumerations that may have an enumerator of this name, in the order of their
    /// entries; of those that have one name, the first.
    pub fn enumerations_with(&self, name: &str) -> impl Iterator<Item = DieRef> {
        let wanted = wide_checksum(name);
        let start = self.first(Table::Enumerators, move |row| row.address(0) < wanted);
        (start..self.count(Table::Enumerators))
            .map_while(|number| self.row(Table::Enumerators, number))
            .take_while(move |row| row.address(0) == wanted)
            .map(|row| row.die(2))
    }

    /// Inlined functions whose last component may be this, and the units that
    /// have copies of them.
    pub fn inlined_with_tail(&self, tail: &str) -> impl Iterator<Item = (&str, u32)> {
        self.with_word(Table::Inlined, checksum(tail))
            .map(|row| (self.text(row, 1), row.word(3)))
    }

    /// The names of all inlined functions.
    pub fn inlined_names(&self) -> impl Iterator<Item = &str> {
        self.rows(Table::Inlined).map(|row| self.text(row, 1))
    }

    /// Address ranges and their units, by ascending start.
    pub fn unit_ranges(&self) -> Vec<(Range<u64>, u32)> {
        let rows = self.rows(Table::UnitRanges);
        rows.map(|row| (row.range(0), row.word(4))).collect()
    }

    /// The units that may have code from a source file of this name.
    pub fn units_with_file(&self, name: &str) -> impl Iterator<Item = u32> {
        self.with_word(Table::Files, checksum(name))
            .map(|row| row.word(1))
    }

    /// The paths of all source files, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.rows(Table::Paths).map(|row| self.text(row, 0))
    }
}

/// One row of a table.
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

/// What stands for a component of a name, in memory and on disk.
fn checksum(text: &str) -> u32 {
    crc32fast::hash(text.as_bytes())
}

/// The same, where two texts must not have one.
fn wide_checksum(text: &str) -> u64 {
    // The hash of Fowler, Noll and Vo, variant 1a.
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
