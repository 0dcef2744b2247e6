//! The decoded line table of a compilation unit.
//!
//! Rows are grouped in sequences of ascending addresses (DWARF 5, section 6.2). Each row
//! costs at least one byte of the line-number program, so the size of the table is bounded
//! by the size of the file.

use super::Line;
use crate::dwarf::DebugInfo;
use crate::dwarf::borrowed::with_lines;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub address: u64,
    pub line: u32,
    pub column: u32,
    pub file: u32,
    pub is_stmt: bool,
    pub prologue_end: bool,
}

/// Rows without gaps between their addresses.
#[derive(Debug)]
pub(crate) struct Sequence {
    pub range: Range<u64>,
    rows: Range<usize>,
}

#[derive(Debug, Default)]
pub(crate) struct LineTable {
    files: Vec<Arc<Path>>,
    /// The MD5 checksums of the files, if recorded.
    checksums: Vec<[u8; 16]>,
    rows: Vec<Row>,
    /// The sequences by ascending address.
    sequences: Vec<Sequence>,
}

impl LineTable {
    pub fn decode(info: &DebugInfo, number: u32) -> LineTable {
        let mut table = LineTable::default();
        let Some((source, unit)) = info.line_source(number) else {
            return table;
        };
        let Some(program) = source.line_program(unit) else {
            return table;
        };
        let paths = files(source.dwarf(), unit, program.header());
        table.files = paths.into_iter().map(Arc::from).collect();
        if program.header().file_has_md5() {
            let files = program.header().file_names().iter();
            table.checksums = files.map(|file| *file.md5()).collect();
        }
        let mut rows = program.rows();
        let mut first = 0;
        while let Ok(Some((_, row))) = rows.next_row() {
            if row.end_sequence() {
                table.end_sequence(info, first, row.address());
                first = table.rows.len();
                continue;
            }
            table.rows.push(Row {
                address: row.address(),
                line: row
                    .line()
                    .map_or(0, |line| u32::try_from(line.get()).unwrap_or(0)),
                column: match row.column() {
                    gimli::ColumnType::LeftEdge => 0,
                    gimli::ColumnType::Column(column) => u32::try_from(column.get()).unwrap_or(0),
                },
                file: u32::try_from(row.file_index()).unwrap_or(u32::MAX),
                is_stmt: row.is_stmt(),
                prologue_end: row.prologue_end(),
            });
        }
        table.rows.truncate(first);
        table.sequences.sort_by_key(|sequence| sequence.range.start);
        table
    }

    /// Closes the sequence that starts at row `first`, or drops it if the linker discarded
    /// its code.
    fn end_sequence(&mut self, info: &DebugInfo, first: usize, end: u64) {
        let Some(rows) = self.rows.get_mut(first..) else {
            return;
        };
        rows.sort_by_key(|row| row.address);
        match rows.first() {
            Some(row) if info.is_code(row.address) && row.address < end => {
                let range = row.address..end;
                self.sequences.push(Sequence {
                    range,
                    rows: first..self.rows.len(),
                });
            }
            _ => self.rows.truncate(first),
        }
    }

    pub fn files(&self) -> &[Arc<Path>] {
        &self.files
    }

    pub fn file(&self, file: u32) -> Option<&Arc<Path>> {
        self.files.get(file as usize)
    }

    /// Returns the checksum of a file at compilation.
    pub fn checksum(&self, path: &Path) -> Option<[u8; 16]> {
        let at = self.files.iter().position(|file| **file == *path)?;
        // A generated file has a zero checksum.
        self.checksums.get(at).copied().filter(|it| *it != [0; 16])
    }

    pub fn sequences(&self) -> &[Sequence] {
        &self.sequences
    }

    pub fn rows(&self, sequence: &Sequence) -> &[Row] {
        self.rows.get(sequence.rows.clone()).unwrap_or(&[])
    }

    /// Returns the sequence and the row that an address belongs to. Of rows at one address,
    /// the last counts; the others are empty.
    pub fn find(&self, address: u64) -> Option<(&Sequence, usize)> {
        let end = self
            .sequences
            .partition_point(|sequence| sequence.range.start <= address);
        let sequence = self
            .sequences
            .get(..end)?
            .iter()
            .rev()
            .take(8)
            .find(|sequence| sequence.range.contains(&address))?;
        let rows = self.rows(sequence);
        let at = rows
            .partition_point(|row| row.address <= address)
            .checked_sub(1)?;
        Some((sequence, at))
    }

    /// Returns the last row at the same address that begins a statement, or the row itself.
    pub fn statement_at(&self, sequence: &Sequence, at: usize) -> usize {
        let rows = self.rows(sequence).get(..=at).unwrap_or(&[]);
        let Some(row) = rows.last() else { return at };
        let same = rows.iter().enumerate().rev();
        let mut same = same.take_while(|(_, it)| it.address == row.address && it.line != 0);
        let statement = same.find(|(_, it)| it.is_stmt);
        statement.map_or(at, |(number, _)| number)
    }

    /// Returns the addresses of a row; empty if another row supersedes it.
    pub fn row_range(&self, sequence: &Sequence, at: usize) -> Range<u64> {
        let rows = self.rows(sequence);
        let start = rows.get(at).map_or(0, |row| row.address);
        let end = rows
            .get(at + 1)
            .map_or(sequence.range.end, |row| row.address);
        start..end.min(sequence.range.end)
    }

    pub fn line(&self, sequence: &Sequence, at: usize) -> Option<Line> {
        let row = self.rows(sequence).get(at)?;
        if row.line == 0 {
            return None;
        }
        Some(Line {
            file: self.file(row.file)?.clone(),
            line: row.line,
            column: (row.column != 0).then_some(row.column),
            is_stmt: row.is_stmt,
            range: self.row_range(sequence, at),
        })
    }
}

/// Returns the paths of the files of a unit, for a scan over all units.
pub(crate) fn paths_of_unit(info: &DebugInfo, number: u32) -> Vec<PathBuf> {
    // A split unit has the line table of its skeleton unit.
    if let Some((source, unit)) = info.line_source_of_split(number) {
        let program = source.line_program(unit);
        let paths = program.map(|it| files(source.dwarf(), unit, it.header()));
        return paths.unwrap_or_default();
    }
    let paths = with_lines(info, number, |dwarf, unit, header| {
        files(dwarf, unit, header)
    });
    paths.unwrap_or_default()
}

/// Returns whether a unit may have code from a source file of this name.
pub(crate) fn has_file(info: &DebugInfo, number: u32, name: &str) -> bool {
    if let Some((source, unit)) = info.line_source_of_split(number) {
        let program = source.line_program(unit);
        return program.is_some_and(|it| lists_file(source.dwarf(), unit, it.header(), name));
    }
    let lists = with_lines(info, number, |dwarf, unit, header| {
        lists_file(dwarf, unit, header, name)
    });
    lists.unwrap_or(false)
}

fn lists_file<R: gimli::Reader<Offset = usize>>(
    dwarf: &gimli::Dwarf<R>,
    unit: &gimli::Unit<R>,
    header: &gimli::LineProgramHeader<R>,
    name: &str,
) -> bool {
    let is_it = |entry: &gimli::FileEntry<R>| {
        let text = dwarf.attr_string(unit, entry.path_name()).ok()?;
        let text = text.to_slice().ok()?;
        let (text, name) = (text.strip_suffix(b"/").unwrap_or(&text), name.as_bytes());
        let before = text.strip_suffix(name)?;
        (before.is_empty() || before.ends_with(b"/")).then_some(())
    };
    let mut files = header.file_names().iter();
    files.any(|entry| is_it(entry).is_some())
}

/// Returns a directory relative to the compilation directory, or a file name relative to
/// its directory. If both were made relative (`-ffile-prefix-map`), it may already contain
/// the prefix; in version 5 the first directory is the compilation directory itself (DWARF
/// 5, section 6.2.4).
fn beneath(compiled_in: PathBuf, directory: &Path) -> PathBuf {
    let plain = |path: &Path| path.strip_prefix(".").unwrap_or(path).to_owned();
    let prefix = plain(&compiled_in);
    let has_prefix = prefix.components().next().is_some() && plain(directory).starts_with(&prefix);
    if has_prefix {
        directory.to_owned()
    } else {
        compiled_in.join(directory)
    }
}

/// Returns the paths of the files at the indexes used by the rows.
fn files<R: gimli::Reader<Offset = usize>>(
    dwarf: &gimli::Dwarf<R>,
    unit: &gimli::Unit<R>,
    header: &gimli::LineProgramHeader<R>,
) -> Vec<PathBuf> {
    let text = |value| {
        let text = dwarf.attr_string(unit, value).ok()?;
        Some(text.to_string_lossy().ok()?.into_owned())
    };
    let compiled_in = unit
        .comp_dir
        .as_ref()
        .and_then(|directory| Some(directory.to_string_lossy().ok()?.into_owned()))
        .unwrap_or_default();
    // Version 4 counts from 1, version 5 from 0.
    let count = header.file_names().len() as u64 + u64::from(header.version() <= 4);
    (0..count)
        .map(|file| {
            let mut path = PathBuf::from(&compiled_in);
            if let Some(entry) = header.file(file) {
                if let Some(directory) = entry.directory(header).and_then(text) {
                    path = beneath(path, Path::new(&directory));
                }
                if let Some(name) = text(entry.path_name()) {
                    path = beneath(path, Path::new(&name).parent().unwrap_or(Path::new("")));
                    path.extend(Path::new(&name).file_name());
                }
            }
            // Drops the `.` of `./main.c`; `..` stays, because it may cross a symbolic
            // link.
            path.components().collect::<PathBuf>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_relative_to_the_compilation_directory() {
        let check = |compiled_in: &str, directory: &str, expected: &str| {
            let found = beneath(PathBuf::from(compiled_in), Path::new(directory));
            let found: PathBuf = found.components().collect();
            assert_eq!(found, Path::new(expected), "{compiled_in} {directory}");
        };
        check("/src", "inc", "/src/inc");
        check("/src", "/usr/include", "/usr/include");
        check("/src", "/src/inc", "/src/inc");
        check("/src", "../inc", "/src/../inc");
        check("./nptl", "./nptl", "./nptl");
        check("./nptl", "nptl", "nptl");
        check("./nptl", "./nptl/sub", "./nptl/sub");
        check("./nptl", "./nptlx", "./nptl/nptlx");
        check("./nptl", "../sysdeps", "./nptl/../sysdeps");
        check(".", "./inc", "./inc");
        check(".", ".", ".");
        check("", "inc", "inc");
    }
}
