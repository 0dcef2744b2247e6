//! Source lines: where an address comes from, and where a line went.

mod breakpoint;
mod table;

pub(crate) use table::{LineTable, Row, has_file, paths_of_unit};

use crate::dwarf::{DebugInfo, DieRef, Unit};
use crate::inline::inlined_chain;
use crate::{Function, SymbolFile};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The source line that an instruction was compiled from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The source file, with the directory it was compiled in.
    pub file: Arc<Path>,
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1; `None` when the compiler did not say.
    pub column: Option<u32>,
    /// Whether a statement begins at the start of `range`: where a step may
    /// stop without lying.
    pub is_stmt: bool,
    /// The file addresses of the row of the line table that this is from.
    pub range: Range<u64>,
}

/// Where to stop for a source line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineAddresses {
    /// The file that the user's words matched.
    pub file: Arc<Path>,
    /// The line that has code: the one asked for, or the next that has.
    pub line: u32,
    /// Whether `line` is the one asked for.
    pub exact: bool,
    /// File addresses: one for each function, and each inlined copy, that
    /// holds the line.
    pub addresses: Vec<u64>,
}

impl DebugInfo {
    pub(crate) fn line_table(&self, number: u32) -> Option<&LineTable> {
        let unit: &Unit = self.unit(number)?;
        Some(unit.lines.get_or_init(|| LineTable::decode(self, number)))
    }

    /// The path of a file of a unit's line table.
    pub(crate) fn line_file(&self, unit: u32, file: u64) -> Option<Arc<Path>> {
        self.line_table(unit)?
            .file(u32::try_from(file).ok()?)
            .cloned()
    }
}

impl SymbolFile {
    /// The source line of a file address; `None` without line information,
    /// and for code that the compiler attributes to no line.
    ///
    /// For a return address, ask for the address before it: the call may be
    /// the last instruction of its line.
    pub fn line_at(&self, address: u64) -> Option<Line> {
        let info = self.inner.debug_info()?;
        let table = info.line_table(info.unit_at(address)?)?;
        let (sequence, at) = table.find(address)?;
        table.line(sequence, at)
    }

    /// The source line of a file address where a call begins that was inlined. Where
    /// several rows are of that address, the last statement that begins there counts:
    /// what the optimizer has moved there begins none.
    pub fn statement_line_at(&self, address: u64) -> Option<Line> {
        let info = self.inner.debug_info()?;
        let table = info.line_table(info.unit_at(address)?)?;
        let (sequence, at) = table.find(address)?;
        let mut line = table.line(sequence, table.statement_at(sequence, at))?;
        line.range = table.row_range(sequence, at);
        Some(line)
    }

    /// The checksum (MD5) that a source file had when it was compiled, where the
    /// compiler has left it; `address` is one of the code from there.
    pub fn source_checksum(&self, file: &Path, address: u64) -> Option<[u8; 16]> {
        let info = self.inner.debug_info()?;
        info.line_table(info.unit_at(address)?)?.checksum(file)
    }

    /// The source file in which a function was declared, if the debug information says it.
    /// No rows of the line table are read for that, only its list of files.
    pub fn file_declaring(&self, function: &Function) -> Option<PathBuf> {
        let info = self.inner.debug_info()?;
        info.inherited(function.die?, |info, at, entry| {
            let value = entry.attr_value(gimli::DW_AT_decl_file)?;
            let file = value.udata_value().or(file_index(&value))?;
            let paths = paths_of_unit(info, at.unit).into_iter();
            paths.into_iter().nth(usize::try_from(file).ok()?)
        })
    }

    /// For code that the compiler attributes to no line: the nearest line before
    /// it in the same function. `None` where [`SymbolFile::line_at`]
    /// knows the line itself.
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

    /// The lines of a function's code, in the order of their addresses.
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

    /// The line by which a function begins: the first of its own that its first
    /// instruction is from. Where that is of calls that were inlined alone, it is the line
    /// of the call.
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

    /// All file address ranges, ascending, of the statement line at an
    /// address, within its function: while the program counter stays inside,
    /// a `step` or `next` goes on. Code that begins no statement counts to
    /// the line before it. Empty without line information.
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

    /// Whether a statement of a line begins at an address: the code of the line may have
    /// begun before, by another statement.
    pub fn begins_statement(&self, address: u64, file: &Path, line: u32) -> bool {
        self.file_of_statement(address, file, line).is_some()
    }

    /// The file of which a statement of a line begins at an address; `file` is the end of
    /// its path.
    pub fn file_of_statement(&self, address: u64, file: &Path, line: u32) -> Option<Arc<Path>> {
        let info = self.inner.debug_info()?;
        let table = info.line_table(info.unit_at(address)?)?;
        let (sequence, at) = table.find(address)?;
        let rows = table.rows(sequence).get(..=at)?.iter().rev();
        let mut here = rows.take_while(|row| row.address == address);
        here.find_map(|row| {
            let path = table.file(row.file).filter(|path| path.ends_with(file))?;
            (row.is_stmt && row.line == line).then(|| Arc::clone(path))
        })
    }

    /// The same of a line that is given, within the function at an address. Where all of
    /// its code was inlined from elsewhere, there is none.
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

    /// The source files of the program, for completion; sorted, each once.
    pub fn source_files(&self) -> Vec<Arc<Path>> {
        let Some(info) = self.inner.debug_info() else {
            return Vec::new();
        };
        let mut files: Vec<Arc<Path>> = info
            .names()
            .paths()
            .map(|path| Arc::from(Path::new(path)))
            .collect();
        files.sort();
        files.dedup();
        files
    }

    /// The file and line of the call that an inlined copy replaced.
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

/// The number of a file, where it is given as one.
pub(crate) fn file_index(value: &crate::dwarf::Value) -> Option<u64> {
    match value {
        gimli::AttributeValue::FileIndex(file) => Some(*file),
        _ => None,
    }
}

/// For each row the file and line that a step is in: rows that begin no
/// statement, or belong to no line, count to the row before.
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
