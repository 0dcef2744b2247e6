//! Making the index: all units are read, by as many threads as there are
//! processors, and what they give is merged.
//!
//! A thread keeps rows and texts, never the facts of a unit; texts are kept once
//! in each thread, and once in the index. Largest units come first, so that no
//! thread ends long after the others.

use super::{EXTERNAL, NameIndex, TABLES_START, Table, WIDTHS, checksum, wide_checksum};
use crate::dwarf::facts::{self, Facts};
use crate::dwarf::processors::thread_count;
use crate::dwarf::{DebugInfo, DieRef};
use crate::names::tail;
use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// Less than this is read by one thread, in bytes.
const PARALLEL_SIZE_MIN: u64 = 1 << 20;
/// How often it is told how far the work has come.
const REPORT_INTERVAL: Duration = Duration::from_millis(100);

/// Who watches long work, and may end it.
pub(crate) struct Watch<'a> {
    /// Set to give up.
    pub cancel: &'a AtomicBool,
    /// Is told how much is done, and of how much.
    pub progress: &'a mut dyn FnMut(u64, u64),
}

/// A text in a [`Texts`]: start and length.
type Text = (u32, u32);

/// Texts, each once.
#[derive(Default)]
struct Texts {
    bytes: Vec<u8>,
    known: HashTable<Text>,
}

impl Texts {
    fn get(bytes: &[u8], text: Text) -> &[u8] {
        let start = text.0 as usize;
        bytes.get(start..start + text.1 as usize).unwrap_or(&[])
    }

    /// Where a text stands; nowhere once there are more than can be numbered.
    fn keep(&mut self, text: &[u8]) -> Text {
        let hash = |text: &[u8]| hash_of(text);
        let bytes = &self.bytes;
        let known = self
            .known
            .find(hash(text), |known| Self::get(bytes, *known) == text);
        if let Some(known) = known {
            return *known;
        }
        let (Ok(start), Ok(length)) = (u32::try_from(bytes.len()), u32::try_from(text.len()))
        else {
            return (0, 0);
        };
        if start.checked_add(length).is_none() {
            return (0, 0);
        }
        self.bytes.extend_from_slice(text);
        let bytes = &self.bytes;
        self.known
            .insert_unique(hash(text), (start, length), |known| {
                hash(Self::get(bytes, *known))
            });
        (start, length)
    }
}

fn hash_of(text: &[u8]) -> u64 {
    use std::hash::Hasher as _;
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(text);
    hasher.finish()
}

struct FunctionRow {
    low_pc: u64,
    die: DieRef,
    name: Text,
    linkage_name: Text,
    tail: u32,
    external: bool,
    /// In the parts of the same thread.
    parts: Range<usize>,
}

struct NamedRow {
    die: DieRef,
    name: Text,
    tail: u32,
    flags: u32,
}

/// What one thread has found.
#[derive(Default)]
struct Part {
    texts: Texts,
    functions: Vec<FunctionRow>,
    ranges: Vec<Range<u64>>,
    globals: Vec<NamedRow>,
    types: Vec<NamedRow>,
    /// Where in `types` those of a name and kind are.
    seen_types: FxHashMap<(Text, u32), usize>,
    enumerators: FxHashMap<u64, DieRef>,
    inlined: Vec<(u32, Text, u32)>,
    unit_ranges: Vec<(Range<u64>, u32)>,
    files: Vec<(u32, u32)>,
    paths: FxHashSet<Text>,
}

impl DebugInfo {
    /// Reads all units. `None` when it was given up.
    pub(crate) fn build_names(&self, watch: Option<&mut Watch<'_>>) -> Option<NameIndex> {
        let mut order: Vec<u32> = self.unit_numbers().collect();
        order.sort_by_key(|number| std::cmp::Reverse(self.unit_size(*number)));
        let total: u64 = order.iter().map(|number| self.unit_size(*number)).sum();
        let parts = if total < PARALLEL_SIZE_MIN {
            let mut part = Part::default();
            for number in order {
                part.add_unit(self, number);
            }
            vec![part]
        } else {
            self.read_by_threads(&order, total, watch)?
        };
        merge(parts)
    }

    fn unit_size(&self, number: u32) -> u64 {
        let slot = self.slots.get(number as usize);
        slot.map_or(0, |slot| slot.header.size as u64)
    }

    fn read_by_threads(
        &self,
        order: &[u32],
        total: u64,
        mut watch: Option<&mut Watch<'_>>,
    ) -> Option<Vec<Part>> {
        let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
        let ends = AtomicBool::new(false);
        let (sender, receiver) = mpsc::channel();
        let work = |sender: mpsc::Sender<Part>| {
            let mut part = Part::default();
            while let Some(number) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                if ends.load(Ordering::Relaxed) {
                    return;
                }
                part.add_unit(self, *number);
                done.fetch_add(self.unit_size(*number), Ordering::Relaxed);
            }
            // The receiver is there until all have ended.
            let _ = sender.send(part);
        };
        let parts = std::thread::scope(|scope| {
            for _ in 0..thread_count() {
                let sender = sender.clone();
                scope.spawn(|| work(sender));
            }
            drop(sender);
            let mut parts = Vec::new();
            loop {
                match receiver.recv_timeout(REPORT_INTERVAL) {
                    Ok(part) => parts.push(part),
                    Err(mpsc::RecvTimeoutError::Disconnected) => return parts,
                    Err(mpsc::RecvTimeoutError::Timeout) => {}
                }
                if let Some(watch) = watch.as_deref_mut() {
                    (watch.progress)(done.load(Ordering::Relaxed).min(total - 1), total);
                    ends.fetch_or(watch.cancel.load(Ordering::Relaxed), Ordering::Relaxed);
                }
            }
        });
        if let Some(watch) = watch {
            (watch.progress)(total, total);
        }
        (!ends.into_inner()).then_some(parts)
    }
}

impl Part {
    fn add_unit(&mut self, info: &DebugInfo, number: u32) {
        // The lines that a type unit refers to are those of another unit.
        let slot = info.slots.get(number as usize);
        if slot.is_some_and(|slot| !slot.header.is_type()) {
            self.add_files(info, number);
        }
        info.add_unit_ranges(number, &mut self.unit_ranges);
        match info.known_facts(number) {
            Some(facts) => self.add_facts(info, number, facts),
            None => self.add_facts(info, number, &facts::read(info, number)),
        }
    }

    fn add_files(&mut self, info: &DebugInfo, number: u32) {
        let mut names = Vec::new();
        for path in crate::line::paths_of_unit(info, number) {
            let Some(text) = path.to_str() else { continue };
            let name = path.file_name().and_then(|name| name.to_str());
            names.extend(name.map(|name| (checksum(name), number)));
            let text = self.texts.keep(text.as_bytes());
            self.paths.insert(text);
        }
        names.sort_unstable();
        names.dedup();
        self.files.append(&mut names);
    }

    fn add_facts(&mut self, info: &DebugInfo, number: u32, facts: &Facts) {
        for function in &facts.functions {
            let record = info.named_function(number, facts, function);
            let start = self.ranges.len();
            self.ranges.extend(record.ranges);
            let linkage_name = record.linkage_name.as_deref().unwrap_or("");
            self.functions.push(FunctionRow {
                low_pc: record.low_pc,
                die: record.die,
                name: self.texts.keep(record.name.as_bytes()),
                linkage_name: self.texts.keep(linkage_name.as_bytes()),
                tail: checksum(tail(&record.name)),
                external: record.external,
                parts: start..self.ranges.len(),
            });
        }
        for global in &facts.globals {
            if let Some(record) = info.named_global(number, facts, global) {
                self.globals.push(NamedRow {
                    die: record.die,
                    name: self.texts.keep(record.name.as_bytes()),
                    tail: checksum(tail(&record.name)),
                    flags: if record.external { EXTERNAL } else { 0 },
                });
            }
        }
        for record in &facts.types {
            let name = self.texts.keep(record.name.as_bytes());
            let flags = u32::from(record.tag.0) | u32::from(record.declaration) << 16;
            // Every unit repeats the types of its headers: the first counts, in
            // whatever order they are read.
            let number = *self
                .seen_types
                .entry((name, flags))
                .or_insert(self.types.len());
            match self.types.get_mut(number) {
                Some(known) => known.die = known.die.min(record.die),
                None => self.types.push(NamedRow {
                    die: record.die,
                    name,
                    tail: checksum(tail(&record.name)),
                    flags,
                }),
            }
        }
        for (name, die) in &facts.enumerators {
            let first = self.enumerators.entry(wide_checksum(name));
            let first = first.or_insert(*die);
            *first = (*first).min(*die);
        }
        for origin in &facts.inlined {
            if let Some(name) = info.abstract_name_from(number, facts, *origin) {
                let text = self.texts.keep(name.as_bytes());
                self.inlined.push((checksum(tail(name)), text, number));
            }
        }
    }
}

/// The tables while they are put together.
struct Tables {
    texts: Texts,
    tables: [Vec<u8>; WIDTHS.len()],
}

impl Tables {
    fn push(&mut self, table: Table, words: &[u32]) {
        if let Some(table) = self.tables.get_mut(table as usize) {
            table.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        }
    }

    fn reserve(&mut self, table: Table, rows: usize) {
        if let Some(of) = self.tables.get_mut(table as usize) {
            of.reserve_exact(rows * NameIndex::row_size(table));
        }
    }

    /// The table by which rows are found by their last component.
    fn push_tails(&mut self, table: Table, mut tails: Vec<(u32, u32)>) {
        tails.sort_unstable();
        self.reserve(table, tails.len());
        for (tail, number) in tails {
            self.push(table, &[tail, number]);
        }
    }
}

/// The two words of an address.
fn words(address: u64) -> [u32; 2] {
    [address as u32, (address >> 32) as u32]
}

fn merge(mut parts: Vec<Part>) -> Option<NameIndex> {
    let mut tables = Tables {
        texts: Texts::default(),
        tables: Default::default(),
    };
    for part in &mut parts {
        part.renumber(&mut tables.texts);
    }
    functions(&mut parts, &mut tables);
    let globals = parts
        .iter_mut()
        .flat_map(|it| std::mem::take(&mut it.globals));
    named(
        globals.collect(),
        [Table::Globals, Table::GlobalTails],
        &mut tables,
    );
    let types = parts
        .iter_mut()
        .flat_map(|it| std::mem::take(&mut it.types));
    let mut types: Vec<NamedRow> = types.collect();
    types.sort_unstable_by_key(|row| (row.name, row.flags, row.die));
    types.dedup_by_key(|row| (row.name, row.flags));
    named(types, [Table::Types, Table::TypeTails], &mut tables);
    the_rest(&mut parts, &mut tables);
    drop(parts);
    assemble(tables)
}

impl Part {
    /// Takes its texts to where all are.
    fn renumber(&mut self, all: &mut Texts) {
        let texts = std::mem::take(&mut self.texts);
        let mut places: Vec<(Text, Text)> = texts.known.iter().map(|text| (*text, *text)).collect();
        places.sort_unstable();
        for (own, place) in &mut places {
            *place = all.keep(Texts::get(&texts.bytes, *own));
        }
        drop(texts);
        let place = |text: Text| {
            let at = places.binary_search_by_key(&text, |(own, _)| *own);
            at.ok()
                .and_then(|at| places.get(at))
                .map_or((0, 0), |it| it.1)
        };
        for row in &mut self.functions {
            row.name = place(row.name);
            row.linkage_name = place(row.linkage_name);
        }
        for row in self.globals.iter_mut().chain(&mut self.types) {
            row.name = place(row.name);
        }
        for (_, name, _) in &mut self.inlined {
            *name = place(*name);
        }
        self.paths = std::mem::take(&mut self.paths)
            .into_iter()
            .map(place)
            .collect();
        self.seen_types = FxHashMap::default();
    }
}

fn functions(parts: &mut [Part], tables: &mut Tables) {
    let mut rows: Vec<(usize, FunctionRow)> = Vec::new();
    for (number, part) in parts.iter_mut().enumerate() {
        let own = std::mem::take(&mut part.functions);
        rows.extend(own.into_iter().map(|row| (number, row)));
    }
    rows.sort_unstable_by_key(|(_, row)| (row.low_pc, row.name.1 == 0, row.die));
    // Identical functions folded by the linker share an address: one stays.
    rows.dedup_by_key(|(_, row)| row.low_pc);
    tables.reserve(Table::Functions, rows.len());
    let mut code: Vec<(u64, u64, u32)> = Vec::new();
    for (number, (part, row)) in rows.iter().enumerate() {
        let ranges = parts
            .get(*part)
            .and_then(|it| it.ranges.get(row.parts.clone()));
        let ranges = ranges.unwrap_or(&[]);
        let [low, high] = words(row.low_pc);
        let function = [
            low,
            high,
            row.die.unit,
            row.die.offset as u32,
            row.name.0,
            row.name.1,
            row.linkage_name.0,
            row.linkage_name.1,
            if row.external { EXTERNAL } else { 0 },
            code.len() as u32,
            ranges.len() as u32,
        ];
        tables.push(Table::Functions, &function);
        for range in ranges {
            let ([a, b], [c, d]) = (words(range.start), words(range.end));
            tables.push(Table::Parts, &[a, b, c, d]);
            code.push((range.start, range.end, number as u32));
        }
    }
    code.sort_unstable();
    tables.reserve(Table::Code, code.len());
    for (start, end, number) in code {
        let ([a, b], [c, d]) = (words(start), words(end));
        tables.push(Table::Code, &[a, b, c, d, number]);
    }
    let tails = rows.iter().enumerate();
    let tails = tails.map(|(number, (_, row))| (row.tail, number as u32));
    tables.push_tails(Table::FunctionTails, tails.collect());
}

/// Rows of an entry and its name, in the order of their entries.
fn named(mut rows: Vec<NamedRow>, [table, tails_table]: [Table; 2], tables: &mut Tables) {
    rows.sort_unstable_by_key(|row| row.die);
    tables.reserve(table, rows.len());
    for row in &rows {
        let DieRef { unit, offset } = row.die;
        let words = [unit, offset as u32, row.name.0, row.name.1, row.flags];
        tables.push(table, &words);
    }
    let tails = rows.iter().enumerate();
    let tails = tails.map(|(number, row)| (row.tail, number as u32));
    tables.push_tails(tails_table, tails.collect());
}

fn the_rest(parts: &mut [Part], tables: &mut Tables) {
    let enumerators = parts
        .iter_mut()
        .flat_map(|it| std::mem::take(&mut it.enumerators));
    let mut enumerators: Vec<(u64, DieRef)> = enumerators.collect();
    enumerators.sort_unstable();
    enumerators.dedup_by_key(|(name, _)| *name);
    for (name, DieRef { unit, offset }) in enumerators {
        let [low, high] = words(name);
        tables.push(Table::Enumerators, &[low, high, unit, offset as u32]);
    }
    let inlined = parts
        .iter_mut()
        .flat_map(|it| std::mem::take(&mut it.inlined));
    let mut inlined: Vec<_> = inlined.collect();
    inlined.sort_unstable();
    inlined.dedup();
    for (tail, name, unit) in inlined {
        tables.push(Table::Inlined, &[tail, name.0, name.1, unit]);
    }
    let ranges = parts
        .iter_mut()
        .flat_map(|it| std::mem::take(&mut it.unit_ranges));
    let mut ranges: Vec<_> = ranges.collect();
    ranges.sort_by_key(|(range, unit)| (range.start, *unit));
    for (range, unit) in ranges {
        let ([a, b], [c, d]) = (words(range.start), words(range.end));
        tables.push(Table::UnitRanges, &[a, b, c, d, unit]);
    }
    let files = parts
        .iter_mut()
        .flat_map(|it| std::mem::take(&mut it.files));
    let mut files: Vec<_> = files.collect();
    files.sort_unstable();
    for (name, unit) in files {
        tables.push(Table::Files, &[name, unit]);
    }
    let paths: FxHashSet<Text> = parts
        .iter()
        .flat_map(|it| it.paths.iter().copied())
        .collect();
    let mut paths: Vec<Text> = paths.into_iter().collect();
    let bytes = &tables.texts.bytes;
    paths.sort_unstable_by(|a, b| Texts::get(bytes, *a).cmp(Texts::get(bytes, *b)));
    for (start, length) in paths {
        tables.push(Table::Paths, &[start, length]);
    }
}

/// One run of bytes of all tables; what the head says of the file comes later.
fn assemble(mut tables: Tables) -> Option<NameIndex> {
    if let Some(texts) = tables.tables.get_mut(Table::Texts as usize) {
        *texts = tables.texts.bytes;
    }
    let size: usize = tables.tables.iter().map(Vec::len).sum();
    let mut bytes = Vec::with_capacity(TABLES_START + size + 16 * WIDTHS.len());
    bytes.resize(super::LIST_START, 0);
    let mut start = TABLES_START;
    for table in &tables.tables {
        bytes.extend((start as u64).to_le_bytes());
        bytes.extend((table.len() as u64).to_le_bytes());
        start += table.len();
    }
    for table in &mut tables.tables {
        bytes.append(table);
        *table = Vec::new();
    }
    NameIndex::new(bytes)
}
