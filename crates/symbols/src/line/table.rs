//! The decoded line table of a compilation unit.
//!
//! Rows are grouped in sequences of ascending addresses (DWARF 5, section 6.2). Each row
//! costs at least one byte of the line-number program, so the size of the table is bounded
//! by the size of the file.

use super::Line;
use crate::dwarf::DebugInfo;
use crate::dwarf::borrowed::with_lines;
use crate::dwarf::texts::TextSource;
use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

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
    /// The rows with a line, by file and line; made when a line is first asked for.
    by_line: OnceLock<Box<[LineRow]>>,
}

/// The position of a row.
#[derive(Debug, Clone, Copy)]
struct LineRow {
    sequence: u32,
    /// The position in the rows of the whole table.
    row: u32,
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
        let paths = files(source, unit, program.header());
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

    #[cfg(test)]
    pub fn sequences(&self) -> &[Sequence] {
        &self.sequences
    }

    pub fn rows(&self, sequence: &Sequence) -> &[Row] {
        self.rows.get(sequence.rows.clone()).unwrap_or(&[])
    }

    /// Iterates over the rows of a file from a line on, by ascending line: the sequence, and the
    /// position of the row in it.
    pub fn rows_from(&self, file: u32, line: u32) -> impl Iterator<Item = (&Sequence, usize)> {
        let key = |place: &LineRow| {
            let row = self.rows.get(place.row as usize);
            row.map_or((0, 0), |row| (row.file, row.line))
        };
        let all = self.by_line.get_or_init(|| self.sorted_by_line());
        let start = all.partition_point(|place| key(place) < (file, line));
        let places = all.get(start..).unwrap_or(&[]).iter();
        let places = places.take_while(move |place| key(place).0 == file);
        places.filter_map(move |place| {
            let sequence = self.sequences.get(place.sequence as usize)?;
            let at = (place.row as usize).checked_sub(sequence.rows.start)?;
            Some((sequence, at))
        })
    }

    fn sorted_by_line(&self) -> Box<[LineRow]> {
        let mut places = Vec::with_capacity(self.rows.len());
        for (number, sequence) in self.sequences.iter().enumerate() {
            for (at, row) in self.rows(sequence).iter().enumerate() {
                if row.line != 0 {
                    let place = LineRow {
                        sequence: number as u32,
                        row: (sequence.rows.start + at) as u32,
                    };
                    places.push((row.file, row.line, place));
                }
            }
        }
        places.sort_unstable_by_key(|(file, line, place)| (*file, *line, place.row));
        places.into_iter().map(|(_, _, place)| place).collect()
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
        let paths = program.map(|it| files(source, unit, it.header()));
        return paths.unwrap_or_default();
    }
    let paths = with_lines(info, number, |sections, unit, header| {
        files(sections, unit, header)
    });
    paths.unwrap_or_default()
}

/// The texts that the path of a file is composed of.
pub(crate) struct FileText<'a> {
    /// The compilation directory.
    pub compiled_in: Cow<'a, [u8]>,
    /// The directory of the file; empty if there is none.
    pub directory: Cow<'a, [u8]>,
    pub name: Cow<'a, [u8]>,
}

/// Visits the files of the line table of a unit, with the numbers that its rows use, for a scan
/// over all units.
pub(crate) fn each_file(info: &DebugInfo, number: u32, visit: &mut dyn FnMut(u32, FileText<'_>)) {
    // A split unit has the line table of its skeleton unit.
    if let Some((source, unit)) = info.line_source_of_split(number) {
        if let Some(program) = source.line_program(unit) {
            each_listed(source, unit, program.header(), visit);
        }
        return;
    }
    with_lines(info, number, |sections, unit, header| {
        each_listed(sections, unit, header, visit);
    });
}

fn each_listed<R: gimli::Reader<Offset = usize>>(
    texts: &impl TextSource<R>,
    unit: &gimli::Unit<R>,
    header: &gimli::LineProgramHeader<R>,
    visit: &mut dyn FnMut(u32, FileText<'_>),
) {
    let text = |value| texts.text(unit, value);
    let compiled_in = unit.comp_dir.as_ref();
    for number in 0..file_count(header) {
        let Some(entry) = header.file(number) else {
            continue;
        };
        let directory = entry.directory(header).and_then(text);
        let name = text(entry.path_name());
        let text = FileText {
            compiled_in: bytes_of(compiled_in),
            directory: bytes_of(directory.as_ref()),
            name: bytes_of(name.as_ref()),
        };
        visit(number as u32, text);
    }
}

/// Returns the number of files by which rows may name them: version 4 counts from 1, version 5
/// from 0.
fn file_count<R: gimli::Reader<Offset = usize>>(header: &gimli::LineProgramHeader<R>) -> u64 {
    header.file_names().len() as u64 + u64::from(header.version() <= 4)
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
    texts: &impl TextSource<R>,
    unit: &gimli::Unit<R>,
    header: &gimli::LineProgramHeader<R>,
) -> Vec<PathBuf> {
    let text = |value| texts.text(unit, value);
    let compiled_in = unit.comp_dir.as_ref();
    let path = |number| {
        let entry = header.file(number);
        let directory = entry.and_then(|entry| text(entry.directory(header)?));
        let name = entry.and_then(|entry| text(entry.path_name()));
        composed_path(&FileText {
            compiled_in: bytes_of(compiled_in),
            directory: bytes_of(directory.as_ref()),
            name: bytes_of(name.as_ref()),
        })
    };
    (0..file_count(header)).map(path).collect()
}

/// Returns the bytes of a string; empty if there is none.
fn bytes_of<R: gimli::Reader>(text: Option<&R>) -> Cow<'_, [u8]> {
    let bytes = text.and_then(|text| text.to_slice().ok());
    bytes.unwrap_or_default()
}

/// Composes the path of a file.
pub(crate) fn composed_path(text: &FileText<'_>) -> PathBuf {
    let lossy = |bytes: &Cow<'_, [u8]>| PathBuf::from(&*String::from_utf8_lossy(bytes));
    let mut path = lossy(&text.compiled_in);
    if !text.directory.is_empty() {
        path = beneath(path, &lossy(&text.directory));
    }
    if !text.name.is_empty() {
        let name = lossy(&text.name);
        path = beneath(path, name.parent().unwrap_or(Path::new("")));
        path.extend(name.file_name());
    }
    // Drops the `.` of `./main.c`; `..` stays, because it may cross a symbolic link.
    path.components().collect()
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
