//! The entry addresses of a file from the symbol tables and the PLT. Those from DWARF are
//! found by unit, or in the index of names.

use crate::file::Inner;

/// An entry address.
#[derive(Debug)]
pub(super) struct Entry {
    pub low_pc: u64,
    pub end: u64,
    pub kind: EntryKind,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum EntryKind {
    /// From the symbol table.
    Symbol,
    /// From the PLT; the index of the stub.
    Plt(u32),
}

/// The entry addresses of a file, ascending.
#[derive(Debug)]
pub(crate) struct FunctionIndex {
    pub(super) entries: Vec<Entry>,
}

impl FunctionIndex {
    pub fn build(inner: &Inner) -> FunctionIndex {
        let symbols = inner.symbols();
        let mut entries: Vec<Entry> = Vec::new();
        for symbol in symbols.functions() {
            let end = symbol.address.saturating_add(symbol.size);
            entries.push(Entry {
                low_pc: symbol.address,
                end,
                kind: EntryKind::Symbol,
            });
        }
        for (number, stub) in inner.plt().iter().enumerate() {
            let end = stub.address.saturating_add(stub.size);
            entries.push(Entry {
                low_pc: stub.address,
                end,
                kind: EntryKind::Plt(number as u32),
            });
        }
        // Stable: at one address, symbols precede stubs.
        entries.sort_by_key(|entry| entry.low_pc);
        entries.dedup_by(|next, kept| {
            let same = next.low_pc == kept.low_pc;
            if same {
                kept.end = kept.end.max(next.end);
            }
            same
        });
        bound_unsized(&mut entries, inner);
        FunctionIndex { entries }
    }

    pub(super) fn at_low_pc(&self, low_pc: u64) -> Option<&Entry> {
        let at = self
            .entries
            .binary_search_by_key(&low_pc, |entry| entry.low_pc)
            .ok()?;
        self.entries.get(at)
    }

    pub(super) fn containing(&self, address: u64) -> Option<&Entry> {
        let end = self
            .entries
            .partition_point(|entry| entry.low_pc <= address);
        self.entries
            .get(..end)?
            .iter()
            .rev()
            .take(8)
            .find(|entry| address < entry.end)
    }
}

/// Sets the ends of functions without a size (common in assembly) to the start of the next
/// function or the end of the section.
fn bound_unsized(entries: &mut [Entry], inner: &Inner) {
    let mut next = None;
    for entry in entries.iter_mut().rev() {
        if entry.end <= entry.low_pc {
            let limit = section_end(inner, entry.low_pc);
            entry.end = match (next, limit) {
                (Some(next), Some(limit)) => limit.min(next),
                (Some(bound), None) | (None, Some(bound)) => bound,
                (None, None) => entry.low_pc.saturating_add(1),
            };
        }
        next = Some(entry.low_pc);
    }
}

fn section_end(inner: &Inner, address: u64) -> Option<u64> {
    let end = |start: u64, size: u64| {
        let end = start.saturating_add(size);
        (start..end).contains(&address).then_some(end)
    };
    let sections = inner
        .elf
        .sections
        .iter()
        .filter(|section| section.executable);
    let segments = inner
        .elf
        .header
        .segments
        .iter()
        .filter(|segment| segment.executable);
    sections
        .filter_map(|section| end(section.address, section.size))
        .chain(segments.filter_map(|segment| end(segment.address, segment.memory_size)))
        .next()
}
