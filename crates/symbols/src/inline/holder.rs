//! A function with its inlined calls, and the marks of their beginnings in the line table.
//!
//! gcc marks each address where an inlined call begins by a row at the position of the
//! callee's name in its declaration. The DIE of the call (DWARF 5, section 3.3.8) records
//! the address and view of one of these marks. More exist if the optimizer duplicated the
//! beginning, by jump threading (a path on which the callee's decision is known) or loop
//! unrolling. Marks stay with the program's statements, even if instructions move.

use super::code::Code;
use super::entry_line::{Declaration, declaration};
use super::outlined;
use crate::SymbolFile;
use crate::dwarf::{DebugInfo, DieRef, Visit};
use crate::line::Row;
use std::ops::Range;
use std::sync::Arc;

/// A function that contains inlined calls.
pub(super) struct Holder {
    pub die: DieRef,
    /// The first instruction.
    pub entry: u64,
    pub code: Code,
    /// The inlined calls, each after the one that contains it.
    pub copies: Vec<Held>,
    rows: Vec<(Row, u64)>,
    name: Option<Name>,
}

/// An inlined call.
pub(super) struct Held {
    pub die: DieRef,
    /// The abstract origin of the callee.
    pub origin: Option<DieRef>,
    /// The index of the innermost enclosing call.
    pub outer: Option<usize>,
    /// The number of enclosing calls.
    pub depth: usize,
    /// The first instruction; its view follows if recorded.
    pub begin: Option<u64>,
    pub view: Option<u64>,
    /// Whether it is the outlined part of the enclosing call.
    pub is_outlined_part: bool,
    /// The code ranges.
    pub ranges: Vec<Range<u64>>,
    /// The position of the callee's name.
    pub name: Option<Name>,
}

/// The position of a function's name in its declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Name {
    pub declared: Declaration,
    /// The column; 0 if not recorded.
    pub column: u64,
}

/// A row of the line table at which an inlined call begins: address and view.
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
                is_outlined_part: outlined::is_outlined_part(info, call.unwrap_or(die), at, entry),
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

    /// Returns whether the compiler marked the beginning of a call.
    pub fn is_marked(&self, copy: DieRef) -> bool {
        let mut copies = self.copies.iter();
        copies.any(|held| held.die == copy && held.view.is_some())
    }

    /// Returns the marks of the calls of a function.
    pub fn marks(&self, name: Name) -> Vec<Mark> {
        let is_meant = |row: &Row| {
            row.is_stmt
                && u64::from(row.file) == name.declared.file
                && u64::from(row.line) == name.declared.line
                && u64::from(row.column) == name.column
        };
        let meant = self.rows.iter().filter(|(row, _)| is_meant(row));
        let marks = meant.map(|(row, view)| (row.address, *view));
        // The function itself begins with such a row, too.
        let is_own = |mark: &Mark| *mark == (self.entry, 0) && self.name == Some(name);
        marks.filter(|mark| !is_own(mark)).collect()
    }

    /// Returns the rows of the function in order, each with its view.
    pub fn rows(&self) -> &[(Row, u64)] {
        &self.rows
    }

    /// Returns the row that an instruction belongs to.
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
            now = if row.address == now.0 {
                (now.0, now.1 + 1)
            } else {
                (row.address, 0)
            };
            if range.contains(&row.address) {
                found.push((*row, now.1));
            }
        }
    }
    found
}

impl Held {
    /// Returns whether its code contains an instruction.
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
