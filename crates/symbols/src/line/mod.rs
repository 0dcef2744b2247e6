//! Source lines: the line of an address, and the addresses of a line.

mod breakpoint;
mod path;
mod table;

pub use path::is_path_of;
pub(crate) use path::resolved;
pub(crate) use table::{FileText, LineTable, Row, composed_path, each_file, paths_of_unit};

use crate::dwarf::{DebugInfo, DieRef, Unit};
use crate::inline::inlined_chain;
use crate::{Function, SymbolFile};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The source line of an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The source file, with its compilation directory.
    pub file: Arc<Path>,
    /// The line number, from 1.
    pub line: u32,
    /// The column number, from 1; `None` if not recorded.
    pub column: Option<u32>,
    /// Whether a statement begins at the start of `range`, so that a step may stop there.
    pub is_stmt: bool,
    /// The file addresses of the row in the line table.
    pub range: Range<u64>,
}

/// The addresses to stop at for a source line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineAddresses {
    /// The file that matched.
    pub file: Arc<Path>,
    /// The line with code: the wanted one, or the next that has code.
    pub line: u32,
    /// Whether `line` is the wanted one.
    pub exact: bool,
    /// The file addresses: one per function and inlined copy that contains the line.
    pub addresses: Vec<u64>,
}

impl DebugInfo {
    pub(crate) fn line_table(&self, number: u32) -> Option<&LineTable> {
        let unit: &Unit = self.unit(number)?;
        Some(unit.lines.get_or_init(|| LineTable::decode(self, number)))
    }

    /// Returns the path of a file in a unit's line table.
    pub(crate) fn line_file(&self, unit: u32, file: u64) -> Option<Arc<Path>> {
        self.line_table(unit)?
            .file(u32::try_from(file).ok()?)
            .cloned()
    }
}

impl SymbolFile {
    /// Returns the source line of a file address; `None` without line information, and for
    /// code that the compiler attributes to no line.
    ///
    /// For a return address, pass the address before it: the call may be the last
    /// instruction of its line.
    pub fn line_at(&self, address: u64) -> Option<Line> {
        let info = self.inner.debug_info()?;
        let table = info.line_table(info.unit_at(address)?)?;
        let (sequence, at) = table.find(address)?;
        table.line(sequence, at)
    }

    /// Returns the source line of a file address at which an inlined call begins. Of
    /// several rows at the address, the last one that begins a statement counts; moved code
    /// begins none.
    pub fn statement_line_at(&self, address: u64) -> Option<Line> {
        let info = self.inner.debug_info()?;
        let table = info.line_table(info.unit_at(address)?)?;
        let (sequence, at) = table.find(address)?;
        let mut line = table.line(sequence, table.statement_at(sequence, at))?;
        line.range = table.row_range(sequence, at);
        Some(line)
    }

    /// Returns the MD5 checksum of a source file at compilation, if recorded; `address` is
    /// in code from that file.
    pub fn source_checksum(&self, file: &Path, address: u64) -> Option<[u8; 16]> {
        let info = self.inner.debug_info()?;
        info.line_table(info.unit_at(address)?)?.checksum(file)
    }

    /// Returns the source file in which a function is declared, if recorded. Reads the file
    /// list of the line table, but no rows.
    pub fn file_declaring(&self, function: &Function) -> Option<PathBuf> {
        let info = self.inner.debug_info()?;
        info.inherited(function.die?, |info, at, entry| {
            let value = entry.attr_value(gimli::DW_AT_decl_file)?;
            let file = value.udata_value().or(file_index(&value))?;
            let paths = paths_of_unit(info, at.unit).into_iter();
            paths.into_iter().nth(usize::try_from(file).ok()?)
        })
    }

    /// Returns the nearest preceding line in the same function, for code that the compiler
    /// attributes to no line. `None` if [`SymbolFile::line_at`] has a line.
    pub fn line_before(&self, address: u64) -> Option<Line> {
        let info = self.inner.debug_info()?;
        let function = self.function_at(address)?;
        let part = function.ranges.iter().find(|it| it.contains(&address))?;
        let table = info.line_table(info.unit_at(address)?)?;
        let (sequence, at) = table.find(address)?;
        let rows = table.rows(sequence).get(..=at)?;
        let (last, before) = rows.split_last()?;
        if last.line != 0 {
            return None;
        }
        let inside = |row: &&Row| row.address >= part.start;
        let back = before.iter().rev().take_while(inside);
        let back = back.take_while(|row| row.line == 0).count();
        let nearest = before.len().checked_sub(back + 1)?;
        before.get(nearest).filter(inside)?;
        table.line(sequence, nearest)
    }

    /// Returns the lines of a function's code in the order of their addresses.
    pub fn line_ranges(&self, function: &Function) -> Vec<Line> {
        let mut found = Vec::new();
        let Some(info) = self.inner.debug_info() else {
            return found;
        };
        for range in &function.ranges {
            let Some(table) = info
                .unit_at(range.start)
                .and_then(|unit| info.line_table(unit))
            else {
                continue;
            };
            let Some((sequence, start)) = table.find(range.start) else {
                continue;
            };
            for at in start..table.rows(sequence).len() {
                let Some(line) = table.line(sequence, at) else {
                    continue;
                };
                if line.range.start >= range.end {
                    break;
                }
                if !line.range.is_empty() {
                    found.push(line);
                }
            }
        }
        found
    }

    /// Returns the line by which a function begins: the first line at its first instruction
    /// that is its own. If all of them belong to inlined calls, it is the line of the
    /// outermost call.
    pub fn opening_line(&self, function: &Function) -> Option<Line> {
        let info = self.inner.debug_info()?;
        let table = info.line_table(info.unit_at(function.low_pc)?)?;
        let (sequence, found) = table.find(function.low_pc)?;
        let rows = table.rows(sequence);
        let before = rows.get(..found)?.iter().rev();
        let same = before
            .take_while(|row| row.address == function.low_pc)
            .count();
        let first = found - same;
        let line = table.line(sequence, first)?;
        let Some((outermost, _)) = inlined_chain(info, function.low_pc).into_iter().next() else {
            return Some(line);
        };
        match self.own_row(info, function, rows.get(first..=found)?) {
            Some(own) => table.line(sequence, first + own),
            None => Some(match self.call_site(info, outermost) {
                (Some(file), Some(number)) => Line {
                    file: file.into(),
                    line: number,
                    column: None,
                    ..line
                },
                _ => line,
            }),
        }
    }

    /// Returns the file address ranges, ascending, of the statement line at an address,
    /// within its function: a `step` or `next` continues while the program counter is
    /// inside. Code that begins no statement belongs to the preceding line. Empty without
    /// line information.
    pub fn step_ranges(&self, address: u64) -> Vec<Range<u64>> {
        self.step_ranges_found(address).unwrap_or_default()
    }

    fn step_ranges_found(&self, address: u64) -> Option<Vec<Range<u64>>> {
        let info = self.inner.debug_info()?;
        let table = info.line_table(info.unit_at(address)?)?;
        let (sequence, at) = table.find(address)?;
        let wanted = effective_lines(table.rows(sequence)).get(at).copied()?;
        Some(self.ranges_of_lines(table, address, |line| line == wanted))
    }

    /// Returns whether a statement of a line begins at an address; other code of the line
    /// may precede it.
    pub fn begins_statement(&self, address: u64, file: &Path, line: u32) -> bool {
        self.file_of_statement(address, file, line).is_some()
    }

    /// Returns the file of the statement of a line that begins at an address; `file` is the
    /// end of its path.
    pub fn file_of_statement(&self, address: u64, file: &Path, line: u32) -> Option<Arc<Path>> {
        let info = self.inner.debug_info()?;
        let table = info.line_table(info.unit_at(address)?)?;
        let (sequence, at) = table.find(address)?;
        let rows = table.rows(sequence).get(..=at)?.iter().rev();
        let mut here = rows.take_while(|row| row.address == address);
        here.find_map(|row| {
            let path = table
                .file(row.file)
                .filter(|path| self.is_source(file, path))?;
            (row.is_stmt && row.line == line).then(|| Arc::clone(path))
        })
    }

    /// Returns the ranges of [`SymbolFile::step_ranges`] for a given line, within the
    /// function at an address. Empty if all code of the line was inlined from elsewhere.
    pub fn step_ranges_of(&self, address: u64, file: &Path, line: u32) -> Vec<Range<u64>> {
        let found = self.inner.debug_info().and_then(|info| {
            let table = info.line_table(info.unit_at(address)?)?;
            let is_of_file = |number: u32| {
                let path = table.files().get(number as usize);
                path.is_some_and(|path| **path == *file)
            };
            let is_wanted = |(of, at)| at == line && is_of_file(of);
            Some(self.ranges_of_lines(table, address, is_wanted))
        });
        found.unwrap_or_default()
    }

    fn ranges_of_lines(
        &self,
        table: &LineTable,
        address: u64,
        is_wanted: impl Fn((u32, u32)) -> bool,
    ) -> Vec<Range<u64>> {
        let mut ranges: Vec<Range<u64>> = Vec::new();
        let whole = std::iter::once(address..address.saturating_add(1)).collect();
        let function = self.function_at(address);
        let parts = function.map_or(whole, |function| function.ranges);
        for part in parts {
            let Some(sequence) = table.find(part.start).map(|(sequence, _)| sequence) else {
                continue;
            };
            let rows = table.rows(sequence);
            for (at, line) in effective_lines(rows).into_iter().enumerate() {
                let range = table.row_range(sequence, at);
                if !is_wanted(line) || range.is_empty() || !part.contains(&range.start) {
                    continue;
                }
                match ranges.last_mut() {
                    Some(last) if last.end == range.start => last.end = range.end,
                    _ => ranges.push(range),
                }
            }
        }
        ranges.sort_by_key(|range| range.start);
        ranges
    }

    /// Returns the source files of the program for completion, sorted and without
    /// duplicates.
    pub fn source_files(&self) -> Vec<Arc<Path>> {
        let Some(files) = self.inner.files() else {
            return Vec::new();
        };
        let paths = files.paths();
        paths.map(|path| Arc::from(Path::new(path))).collect()
    }

    /// Returns the first source file that is named by its path or the end of its path.
    pub fn source_file(&self, file: &str) -> Option<Arc<Path>> {
        let found = self.inner.paths_meant(file).into_iter().next()?;
        Some(Arc::from(Path::new(&*found)))
    }

    /// Returns the file and line of the call that an inlined copy replaced.
    pub(crate) fn call_site(
        &self,
        info: &DebugInfo,
        inlined: DieRef,
    ) -> (Option<PathBuf>, Option<u32>) {
        let Some(entry) = info.die(inlined) else {
            return (None, None);
        };
        let number = |name| {
            entry
                .attr_value(name)
                .and_then(|value| value.udata_value().or(file_index(&value)))
        };
        let line = number(gimli::DW_AT_call_line).and_then(|line| u32::try_from(line).ok());
        let file =
            number(gimli::DW_AT_call_file).and_then(|file| info.line_file(inlined.unit, file));
        (file.map(|file| file.to_path_buf()), line)
    }
}

/// Returns a file number.
pub(crate) fn file_index(value: &crate::dwarf::Value) -> Option<u64> {
    match value {
        gimli::AttributeValue::FileIndex(file) => Some(*file),
        _ => None,
    }
}

/// Returns the file and line of each row for stepping: rows without statement or line
/// belong to the preceding row.
fn effective_lines(rows: &[Row]) -> Vec<(u32, u32)> {
    let mut current = (0, 0);
    rows.iter()
        .map(|row| {
            if row.line != 0 && (row.is_stmt || current == (0, 0)) {
                current = (row.file, row.line);
            }
            current
        })
        .collect()
}
