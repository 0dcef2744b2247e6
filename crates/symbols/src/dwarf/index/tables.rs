//! The tables of an index under construction.

use super::bytes::Bytes;
use super::{Index, LIST_START, Layout, StringTable};
use std::marker::PhantomData;

/// The tables of an index under construction.
pub(in crate::dwarf) struct Tables<T> {
    pub strings: StringTable,
    tables: Vec<Vec<u8>>,
    layout: PhantomData<T>,
}

impl<T: Layout> Default for Tables<T> {
    fn default() -> Tables<T> {
        Tables {
            strings: StringTable::default(),
            tables: vec![Vec::new(); T::WIDTHS.len()],
            layout: PhantomData,
        }
    }
}

impl<T: Layout> Tables<T> {
    /// Appends words to a table.
    pub fn push(&mut self, table: T, words: &[u32]) {
        if let Some(table) = self.tables.get_mut(table.number()) {
            table.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        }
    }

    /// Reserves room for this number of rows.
    pub fn reserve(&mut self, table: T, rows: usize) {
        if let Some(of) = self.tables.get_mut(table.number()) {
            of.reserve_exact(rows * Index::<T>::row_size(table));
        }
    }

    /// Adds a table that finds rows by a checksum: pairs of the checksum and the row's
    /// number.
    pub fn push_tails(&mut self, table: T, mut tails: Vec<(u32, u32)>) {
        tails.sort_unstable();
        self.reserve(table, tails.len());
        for (tail, number) in tails {
            self.push(table, &[tail, number]);
        }
    }

    /// Concatenates all tables; the header of the file is filled in later.
    pub fn assemble(mut self) -> Option<Index<T>> {
        if let Some(strings) = self.tables.get_mut(T::STRINGS.number()) {
            *strings = self.strings.bytes;
        }
        let size: usize = self.tables.iter().map(Vec::len).sum();
        let mut start = LIST_START + 16 * T::WIDTHS.len();
        let mut bytes = Vec::with_capacity(start + size);
        bytes.resize(LIST_START, 0);
        for table in &self.tables {
            bytes.extend((start as u64).to_le_bytes());
            bytes.extend((table.len() as u64).to_le_bytes());
            start += table.len();
        }
        for table in &mut self.tables {
            bytes.append(table);
            *table = Vec::new();
        }
        Index::new(Bytes::Whole(bytes))
    }
}

/// Splits an address into two words.
pub(in crate::dwarf) fn words(address: u64) -> [u32; 2] {
    [address as u32, (address >> 32) as u32]
}
