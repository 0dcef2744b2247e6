//! The index of all functions, types and variables of a file, by name and address.
//!
//! Names are found by the checksum of their last component.

mod build;
mod kept;
mod merge;

pub(crate) use build::Watch;

use super::DieRef;
use super::facts::{FunctionRecord, GlobalRecord, TypeRecord};
use super::index::{Index, Layout, checksum};
use crate::cache::NAMES;
use gimli::DwTag;
use memchr::memmem;
use std::ops::Range;

/// The tables, in file order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
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
}

/// A flag of functions and variables: external linkage.
const EXTERNAL: u32 = 1;

impl Layout for Table {
    const WIDTHS: &'static [usize] = &[0, 11, 2, 4, 5, 5, 2, 5, 2, 4, 4];
    const MAGIC: &'static [u8; 8] = b"jurorsym";
    const VERSION: u32 = 9;
    const EXTENSION: &'static str = NAMES;
    const TITLE: &'static str = "names";
    const STRINGS: Table = Table::Strings;

    fn number(self) -> usize {
        self as usize
    }
}

/// The index of names of a file.
pub(crate) type NameIndex = Index<Table>;

impl NameIndex {
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
        let has_word = move |row: &super::index::Row<'_>| {
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
}

/// Returns a wide checksum, for which collisions are not acceptable.
fn wide_checksum(text: &str) -> u64 {
    // The FNV-1a hash.
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
