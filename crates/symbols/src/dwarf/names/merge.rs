//! Merging the results of the threads into one index.

use super::build::{FunctionRow, NamedRow, Part};
use super::{EXTERNAL, NameIndex, Table};
use crate::dwarf::DieRef;
use crate::dwarf::index::{StringRef, StringTable, Tables, words};
use rustc_hash::FxHashMap;

pub(super) fn merge(mut parts: Vec<Part>) -> Option<NameIndex> {
    let mut tables: Tables<Table> = Tables::default();
    for part in &mut parts {
        part.renumber(&mut tables.strings);
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
    tables.assemble()
}

impl Part {
    /// Moves the strings into the common table.
    fn renumber(&mut self, all: &mut StringTable) {
        let strings = std::mem::take(&mut self.strings);
        let mut moved: Vec<(StringRef, StringRef)> =
            strings.known.iter().map(|text| (*text, *text)).collect();
        moved.sort_unstable();
        for (own, new) in &mut moved {
            *new = all.keep(StringTable::get(&strings.bytes, *own));
        }
        drop(strings);
        let new = |text: StringRef| {
            let at = moved.binary_search_by_key(&text, |(own, _)| *own);
            at.ok()
                .and_then(|at| moved.get(at))
                .map_or((0, 0), |it| it.1)
        };
        for row in &mut self.functions {
            row.name = new(row.name);
            row.linkage_name = new(row.linkage_name);
        }
        for row in self.globals.iter_mut().chain(&mut self.types) {
            row.name = new(row.name);
        }
        for (_, name, _) in &mut self.inlined {
            *name = new(*name);
        }
        self.seen_types = FxHashMap::default();
    }
}

fn functions(parts: &mut [Part], tables: &mut Tables<Table>) {
    let mut rows: Vec<(usize, FunctionRow)> = Vec::new();
    for (number, part) in parts.iter_mut().enumerate() {
        let own = std::mem::take(&mut part.functions);
        rows.extend(own.into_iter().map(|row| (number, row)));
    }
    rows.sort_unstable_by_key(|(_, row)| (row.low_pc, row.name.1 == 0, row.die));
    // Identical functions folded by the linker share an address; keep one.
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

/// Adds rows of DIEs and names, in the order of the DIEs.
fn named(mut rows: Vec<NamedRow>, [table, tails_table]: [Table; 2], tables: &mut Tables<Table>) {
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

fn the_rest(parts: &mut [Part], tables: &mut Tables<Table>) {
    let enumerators = parts
        .iter_mut()
        .flat_map(|it| std::mem::take(&mut it.enumerators));
    let mut enumerators: Vec<((u64, u64), DieRef)> = enumerators.collect();
    enumerators.sort_unstable();
    enumerators.dedup_by_key(|(key, _)| *key);
    // Equal names are in the order of their DIEs.
    enumerators.sort_unstable_by_key(|((name, _), die)| (*name, *die));
    for ((name, _), DieRef { unit, offset }) in enumerators {
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
}
