//! Building the index: the headers of all line tables are read on all processors.
//!
//! The units of a program list the same headers again and again. A path is composed once for
//! each thread and each way in which it is written.

use super::{FileIndex, Table};
use crate::dwarf::DebugInfo;
use crate::dwarf::index::{Tables, checksum, words};
use crate::dwarf::processors::on_all_processors;
use crate::line::{FileText, composed_path, each_file};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// The maximum number of units that one thread reads alone.
const ALONE_MAX: u32 = 16;

/// The result of one thread.
#[derive(Default)]
struct Part {
    paths: Vec<String>,
    /// The numbers in `paths` by the texts that a path is composed of.
    known: FxHashMap<Box<[u8]>, u32>,
    /// The number of a path, a unit, and the file's number in its line table.
    places: Vec<(u32, u32, u32)>,
}

impl DebugInfo {
    /// Reads the files of all units.
    pub(crate) fn build_files(&self) -> FileIndex {
        let next = AtomicU32::new(0);
        let work = || {
            let mut part = Part::default();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= self.unit_count() {
                    return part;
                }
                part.add_unit(self, number);
            }
        };
        let parts = match self.unit_count() {
            0..=ALONE_MAX => vec![work()],
            _ => on_all_processors(work),
        };
        merge(self, parts).unwrap_or_default()
    }
}

impl Part {
    fn add_unit(&mut self, info: &DebugInfo, unit: u32) {
        // A type unit refers to the line table of another unit.
        let slot = info.slots.get(unit as usize);
        if slot.is_none_or(|slot| slot.header.is_type()) {
            return;
        }
        let mut key = Vec::new();
        each_file(info, unit, &mut |file, text| {
            let path = self.number_of(&text, &mut key);
            self.places.push((path, unit, file));
        });
    }

    /// Returns the number of a path; `key` is a buffer.
    fn number_of(&mut self, text: &FileText<'_>, key: &mut Vec<u8>) -> u32 {
        key.clear();
        for part in [&text.compiled_in, &text.directory, &text.name] {
            key.extend_from_slice(part);
            key.push(0);
        }
        if let Some(known) = self.known.get(key.as_slice()) {
            return *known;
        }
        let number = self.paths.len() as u32;
        let path = composed_path(text);
        self.paths.push(path.to_string_lossy().into_owned());
        self.known.insert(key.as_slice().into(), number);
        number
    }
}

/// Merges the results of the threads; the order in which units were read does not matter.
fn merge(info: &DebugInfo, parts: Vec<Part>) -> Option<FileIndex> {
    let mut numbers: BTreeMap<&Path, u32> = BTreeMap::new();
    let paths = parts.iter().flat_map(|part| &part.paths);
    numbers.extend(paths.map(|path| (Path::new(path), 0)));
    for (number, of_path) in numbers.values_mut().enumerate() {
        *of_path = number as u32;
    }
    let mut places: Vec<(u32, u32, u32)> = Vec::new();
    for part in &parts {
        let number = |path: &String| numbers.get(Path::new(path)).copied().unwrap_or(0);
        let common: Vec<u32> = part.paths.iter().map(number).collect();
        let own = part.places.iter();
        let own = own.filter_map(|(path, unit, file)| {
            Some((common.get(*path as usize).copied()?, *unit, *file))
        });
        places.extend(own);
    }
    places.sort_unstable();
    places.dedup();
    let mut tables: Tables<Table> = Tables::default();
    tables.push(Table::Program, &[info.unit_count()]);
    let mut names = Vec::new();
    let mut first = 0;
    for (path, number) in &numbers {
        let rest = places.get(first..).unwrap_or(&[]).iter();
        let count = rest.take_while(|place| place.0 == *number).count();
        let text = path.to_str().unwrap_or_default();
        let (start, length) = tables.strings.keep(text.as_bytes());
        let row = [start, length, first as u32, count as u32];
        tables.push(Table::Paths, &row);
        let name = path.file_name().and_then(|name| name.to_str());
        names.extend(name.map(|name| (checksum(name), *number)));
        first += count;
    }
    tables.push_tails(Table::Names, names);
    tables.reserve(Table::Places, places.len());
    for (_, unit, file) in &places {
        tables.push(Table::Places, &[*unit, *file]);
    }
    for (range, unit) in info.ranges() {
        let ([a, b], [c, d]) = (words(range.start), words(range.end));
        tables.push(Table::UnitRanges, &[a, b, c, d, *unit]);
    }
    tables.assemble()
}
