//! A function that holds inlined calls: where they are in it, and what the line table says of
//! where they begin.
//!
//! gcc marks each place where a call begins that was inlined: a row of the line table at the
//! place where the callee's name was declared. The entry of the call (DWARF 5, section 3.3.8)
//! has the address and the view of one of them. There are more where the optimizer has
//! doubled the beginning: where it knows on one way what the callee would decide, and for
//! rounds of a loop. Marks stay where the program's statements are, also where instructions
//! were moved.

use super::code::Code;
use super::entry_line::{Declaration, declaration};
use super::rest;
use crate::SymbolFile;
use crate::dwarf::{DebugInfo, DieRef, Visit};
use crate::line::Row;
use std::ops::Range;
use std::sync::Arc;

/// A function that holds inlined calls.
pub(super) struct Holder {
    pub die: DieRef,
    /// Its first instruction.
    pub entry: u64,
    pub code: Code,
    /// The inlined calls, each behind the one that it is in.
    pub copies: Vec<Held>,
    rows: Vec<(Row, u64)>,
    name: Option<Name>,
}

/// An inlined call.
pub(super) struct Held {
    pub die: DieRef,
    /// The function that is called.
    pub origin: Option<DieRef>,
    /// The number of the one that it is in.
    pub outer: Option<usize>,
    /// The number of those that it is in.
    pub depth: usize,
    /// Its first instruction, and the view of it where there are any.
    pub begin: Option<u64>,
    pub view: Option<u64>,
    /// It is the rest of the call that it is in.
    pub is_rest: bool,
    /// All its code.
    pub ranges: Vec<Range<u64>>,
    /// Where its function was declared.
    pub name: Option<Name>,
}

/// Where the name of a function stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Name {
    pub declared: Declaration,
    /// 0 where the compiler tells no columns.
    pub column: u64,
}

/// Where an inlined call begins, by the line table: address and view.
pub(super) type Mark = (u64, u64);

impl Holder {
    pub fn read(file: &SymbolFile, info: &Arc<DebugInfo>, die: DieRef, entry: u64) -> Holder {
        let ranges = info.die(die).map(|it| info.code_ranges(die.unit, &it));
        let ranges = ranges.unwrap_or_default();
        let mut copies: Vec<Held> = Vec::new();
        let mut around: Vec<(isize, usize)> = Vec::new();
        info.walk(die, |depth, at, entry| {
            around.retain(|(outer, _)| *outer < depth);
            match entry.tag() {
                gimli::DW_TAG_subprogram if depth > 0 => return Visit::Skip,
                gimli::DW_TAG_inlined_subroutine => {}
                _ => return Visit::Descend,
            }
            let outer = around.last().map(|(_, number)| *number);
            let call = outer.and_then(|outer| copies.get(outer)).map(|it| it.die);
            let view = entry.attr_value(gimli::DW_AT_GNU_entry_view);
            copies.push(Held {
                die: at,
                origin: info.origin(at.unit, entry),
                outer,
                depth: around.len(),
                begin: super::copy_entry(info, at.unit, entry),
                view: view.and_then(|view| view.udata_value()),
                is_rest: rest::is_rest(info, call.unwrap_or(die), at, entry),
                ranges: info.code_ranges(at.unit, entry),
                name: Name::read(info, at),
            });
            around.push((depth, copies.len() - 1));
            Visit::Descend
        });
        Holder {
            die,
            entry,
            code: Code::of_function(file, &ranges),
            copies,
            name: Name::read(info, die),
            rows: rows(info, die.unit, &ranges),
        }
    }

    /// Whether the compiler has marked where a call begins.
    pub fn is_marked(&self, copy: DieRef) -> bool {
        let mut copies = self.copies.iter();
        copies.any(|held| held.die == copy && held.view.is_some())
    }

    /// The marks of a function's calls.
    pub fn marks(&self, name: Name) -> Vec<Mark> {
        let is_meant = |row: &Row| {
            row.is_stmt
                && u64::from(row.file) == name.declared.file
                && u64::from(row.line) == name.declared.line
                && u64::from(row.column) == name.column
        };
        let meant = self.rows.iter().filter(|(row, _)| is_meant(row));
        let marks = meant.map(|(row, view)| (row.address, *view));
        // The function itself begins with its name, too.
        let is_own = |mark: &Mark| *mark == (self.entry, 0) && self.name == Some(name);
        marks.filter(|mark| !is_own(mark)).collect()
    }

    /// The rows of the function, each with its view, in their order.
    pub fn rows(&self) -> &[(Row, u64)] {
        &self.rows
    }

    /// The row that an instruction belongs to.
    pub fn row_of(&self, at: u64) -> Option<&Row> {
        let before = self.rows.iter().filter(|(row, _)| row.address <= at);
        before
            .max_by_key(|(row, view)| (row.address, *view))
            .map(|(row, _)| row)
    }
}

fn rows(info: &DebugInfo, unit: u32, ranges: &[Range<u64>]) -> Vec<(Row, u64)> {
    let mut found = Vec::new();
    let Some(table) = info.line_table(unit) else {
        return found;
    };
    for range in ranges {
        let Some((sequence, _)) = table.find(range.start) else {
            continue;
        };
        let mut now: Mark = (u64::MAX, 0);
        for row in table.rows(sequence) {
            now = match row.address == now.0 {
                true => (now.0, now.1 + 1),
                false => (row.address, 0),
            };
            if range.contains(&row.address) {
                found.push((*row, now.1));
            }
        }
    }
    found
}

impl Held {
    /// Whether its code holds an instruction.
    pub fn holds(&self, at: u64) -> bool {
        self.ranges.iter().any(|range| range.contains(&at))
    }

    pub fn mark(&self) -> Option<Mark> {
        self.begin.zip(self.view)
    }
}

impl Name {
    fn read(info: &DebugInfo, die: DieRef) -> Option<Name> {
        Some(Name {
            declared: declaration(info, die)?,
            column: info
                .inherited_unsigned(die, gimli::DW_AT_decl_column)
                .unwrap_or(0),
        })
    }
}
