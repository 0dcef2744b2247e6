//! Breakpoint addresses: after a function's prologue, and on a source line.

#[cfg(test)]
mod tests;

use super::LineAddresses;
use super::table::{LineTable, Row, Sequence};
use crate::dwarf::files::FoundFile;
use crate::dwarf::{DebugInfo, DieRef};
use crate::inline::{inlined_chain, innermost_block};
use crate::{Function, SymbolFile};
use iced_x86::{Decoder, DecoderOptions, FlowControl};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// The maximum length in bytes of the code that is searched for a branch.
const PROLOGUE_SIZE_MAX: u64 = 4096;

impl SymbolFile {
    /// Returns the file address to stop at in a function: its frame is set up and its
    /// parameters are readable. It is never after a branch, so every call reaches it; if
    /// unknown, it is the entry.
    pub fn prologue_end(&self, function: &Function) -> u64 {
        self.prologue_end_found(function).unwrap_or(function.low_pc)
    }

    /// Returns the file address of a breakpoint on a function: [`Self::prologue_end`]. In the
    /// functions into which clang splits a coroutine, which begin with a jump to where it was
    /// suspended, it is the beginning of the coroutine's body.
    pub fn body_address(&self, function: &Function) -> u64 {
        let is_part = self.is_part_of_coroutine(function);
        let marked = is_part.then(|| self.marked_body(function)).flatten();
        marked.unwrap_or_else(|| self.prologue_end(function))
    }

    /// Returns whether a function is a part of a coroutine of clang other than its ramp.
    fn is_part_of_coroutine(&self, function: &Function) -> bool {
        let symbols = self.inner.symbols();
        let mut own = symbols.functions_at(function.low_pc).iter();
        own.any(|symbol| {
            let name = symbols.text(symbol);
            [".resume", ".destroy", ".cleanup"]
                .iter()
                .any(|part| name.ends_with(part))
        })
    }

    fn marked_body(&self, function: &Function) -> Option<u64> {
        let info = self.inner.debug_info()?;
        let table = info.line_table(info.unit_at(function.low_pc)?)?;
        let (sequence, _) = table.find(function.low_pc)?;
        let code = function.low_pc..function.high_pc();
        let mut rows = table.rows(sequence).iter();
        let marked =
            rows.find(|row| code.contains(&row.address) && row.prologue_end && row.line != 0);
        marked.map(|row| row.address)
    }

    fn prologue_end_found(&self, function: &Function) -> Option<u64> {
        let info = self.inner.debug_info()?;
        function.die?;
        let number = info.unit_at(function.low_pc)?;
        let table = info.line_table(number)?;
        let (sequence, _) = table.find(function.low_pc)?;
        let code = function.low_pc..function.high_pc();
        let rows: Vec<&Row> = table
            .rows(sequence)
            .iter()
            .filter(|row| code.contains(&row.address))
            .collect();
        let marked = rows.iter().find(|row| row.prologue_end && row.line != 0);
        let candidate = if let Some(marked) = marked {
            marked.address
        } else if info.unit(number)?.optimized_by_gcc {
            // gcc's locations are valid from the entry on, and the first row of the body
            // may be in a loop.
            return None;
        } else {
            rows.iter()
                .find(|row| row.address > function.low_pc && row.line != 0)?
                .address
        };
        self.always_reached(function.low_pc, candidate)
            .then_some(candidate)
    }

    /// Returns whether execution from `from` always reaches `to`: all branches before it
    /// stay inside. The prologue of a large frame may contain a loop (stack probes), and
    /// its calls (profilers, stack probes) are not the user's.
    pub(crate) fn always_reached(&self, from: u64, to: u64) -> bool {
        let size = to.saturating_sub(from);
        if size > PROLOGUE_SIZE_MAX {
            return false;
        }
        let Some(code) = self.bytes_at(from, size) else {
            return false;
        };
        let decoder = Decoder::with_ip(64, &code, from, DecoderOptions::NONE);
        decoder
            .into_iter()
            .all(|instruction| match instruction.flow_control() {
                FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall => true,
                FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
                    (from..=to).contains(&instruction.near_branch_target())
                }
                _ => false,
            })
    }

    /// Returns the addresses to stop at for a line of a source file, named by its path or
    /// the end of its path (`main.c`, `src/main.c`).
    ///
    /// There is one result per matching file. If the line has no code, the next line with
    /// code replaces it, and the result says so; a file without code at or after the line
    /// is omitted. A line on which only inlined calls are left counts as a line with code.
    pub fn addresses_of_line(&self, file: &str, line: u32) -> Vec<LineAddresses> {
        let search = || {
            let Some((info, files)) = self.inner.files_named(file) else {
                return Vec::new();
            };
            let found = files
                .iter()
                .filter_map(|of| self.addresses_in(info, of, line));
            found.collect()
        };
        let version = self.inner.settings().sources.version();
        let found = &self.inner.found_lines;
        found.get_or_search(&*format!("{line} {version} {file}"), search)
    }

    fn addresses_in(
        &self,
        info: &DebugInfo,
        of: &FoundFile<'_>,
        line: u32,
    ) -> Option<LineAddresses> {
        let mut file: Option<Arc<Path>> = None;
        let mut candidates = Candidates::new(line);
        for (unit, number) in &of.places {
            let Some((table, path)) = table_of(info, of, *unit, *number) else {
                continue;
            };
            file.get_or_insert_with(|| Arc::clone(path));
            candidates.add(table, *number);
            candidates.files.push((*unit, *number));
        }
        let file = file?;
        let (found, addresses) = self.best_of(info, &file, &candidates)?;
        Some(LineAddresses {
            file,
            line: found,
            exact: found == line,
            addresses,
        })
    }

    /// Returns the columns at which statements of a line begin, from 1, in bytes.
    pub fn columns_of_line(&self, file: &str, line: u32) -> BTreeSet<u32> {
        let mut columns = BTreeSet::new();
        self.each_statement(file, line, |_, _, _, row| {
            columns.extend((row.column != 0).then_some(row.column));
        });
        columns
    }

    /// Returns the addresses to stop at for the statement of a line at a column: at the next one if
    /// none begins there, or else at the last. Empty if the line has no columns.
    pub fn addresses_of_column(&self, file: &str, line: u32, column: u32) -> Vec<u64> {
        let columns = self.columns_of_line(file, line);
        let next = columns.range(column..).next().or_else(|| columns.last());
        let (Some(&column), Some(info)) = (next, self.inner.debug_info()) else {
            return Vec::new();
        };
        let mut by_file: BTreeMap<Arc<Path>, Candidates> = BTreeMap::new();
        self.each_statement(file, line, |path, table, (sequence, at), row| {
            if row.column == column {
                let candidates = by_file
                    .entry(Arc::clone(path))
                    .or_insert_with(|| Candidates::new(line));
                candidates.add_row(table, sequence, at, row);
            }
        });
        let found = by_file.iter();
        found
            .flat_map(|(file, candidates)| self.one_for_each_instance(info, file, candidates))
            .collect()
    }

    /// Visits the rows that begin statements of a line, with their file and table.
    fn each_statement(
        &self,
        file: &str,
        line: u32,
        mut visit: impl FnMut(&Arc<Path>, &LineTable, (&Sequence, usize), &Row),
    ) {
        let Some((info, files)) = self.inner.files_named(file) else {
            return;
        };
        for of in files {
            for (unit, number) in &of.places {
                let Some((table, path)) = table_of(info, &of, *unit, *number) else {
                    continue;
                };
                for (sequence, at) in table.rows_from(*number, line) {
                    match table.rows(sequence).get(at) {
                        Some(row) if row.line == line => {
                            if row.is_stmt {
                                visit(path, table, (sequence, at), row);
                            }
                        }
                        _ => break,
                    }
                }
            }
        }
    }

    /// Returns the line used in a file and its addresses. If no statement of the line
    /// begins, inlined calls on the line are used before its other rows.
    fn best_of(
        &self,
        info: &DebugInfo,
        file: &Path,
        candidates: &Candidates,
    ) -> Option<(u32, Vec<u64>)> {
        let wanted = candidates.wanted;
        let by_rows = (candidates.line != u32::MAX).then_some(candidates.line);
        let last = match by_rows {
            Some(line) if line == wanted => wanted,
            _ => candidates.line.saturating_sub(1),
        };
        let is_needed = by_rows != Some(wanted) || !candidates.begins_statements();
        let by_calls = is_needed
            .then(|| self.calls_of_line(info, &candidates.files, (wanted, last)))
            .flatten();
        by_calls.or_else(|| Some((by_rows?, self.one_for_each_instance(info, file, candidates))))
    }

    /// Returns the innermost block with variables of its own at an address, in a function
    /// optimized by gcc.
    fn block_of_statement(&self, info: &DebugInfo, address: u64) -> Option<DieRef> {
        let unit = info.unit(info.unit_at(address)?)?;
        unit.optimized_by_gcc
            .then(|| innermost_block(info, address))?
    }

    /// Returns the function or inlined copy that a row of a line belongs to. At the start
    /// of a call inlined from that line it is the caller, unless a function is inlined into
    /// itself.
    fn instance_of(&self, info: &DebugInfo, address: u64, (file, line): (&Path, u32)) -> Instance {
        let function = info.function_at(address);
        let mut around = vec![function.as_ref().map(|function| function.die)];
        let calls = inlined_chain(info, address);
        around.extend(calls.iter().map(|(die, _)| Some(*die)));
        while let [.., Some(caller), Some(copy)] = around.as_slice() {
            let begins = calls
                .get(around.len() - 2)
                .is_some_and(|call| call.1 == address);
            let (call_file, call_line) = self.call_site(info, *copy);
            let is_from_there = call_line == Some(line) && call_file.as_deref() == Some(file);
            if !begins || !is_from_there || source_of(info, *caller) == source_of(info, *copy) {
                break;
            }
            around.pop();
        }
        let die = around.pop().flatten();
        Instance {
            function: function.map(|function| function.low_pc),
            source: die.map(|die| source_of(info, die)),
            copy: die.filter(|_| !around.is_empty()),
        }
    }

    /// Keeps the best address in each function and each inlined copy; in code optimized by
    /// gcc also in each block with variables, because gcc separates the parts of a
    /// statement.
    fn one_for_each_instance(
        &self,
        info: &DebugInfo,
        file: &Path,
        candidates: &Candidates,
    ) -> Vec<u64> {
        let mut best: BTreeMap<_, (u8, u64)> = BTreeMap::new();
        let (mut with_statement, mut sources) = (BTreeSet::new(), BTreeSet::new());
        let mut found = candidates.found.clone();
        found.sort_unstable();
        for (rank, address) in &found {
            let function = self.function_at(*address);
            let instance = self.instance_of(info, *address, (file, candidates.line));
            let is_entry = function
                .as_ref()
                .is_some_and(|function| function.low_pc == *address);
            let mut choice = (*rank, *address);
            if let (Some(function), None, true) = (&function, instance.copy, is_entry) {
                // The frame is not set up at the entry. The choice is compared by the
                // entry's address, so that it stays first.
                choice.1 = self.prologue_end(function);
            }
            // Rows that begin a statement are preferred; others count only if the function
            // has no other code of the line.
            let is_statement = *rank < RANK_PASSING;
            let is_of_others = !sources.is_empty() && !sources.contains(&instance.source);
            if !is_statement && (with_statement.contains(&instance) || is_of_others) {
                continue;
            }
            let block = is_statement.then(|| self.block_of_statement(info, *address));
            if is_statement {
                sources.insert(instance.source);
                with_statement.insert(instance.clone());
            }
            let instance = (instance, block.flatten());
            best.entry(instance)
                .and_modify(|kept| {
                    if choice < *kept {
                        *kept = choice;
                    }
                })
                .or_insert(choice);
        }
        let mut addresses: Vec<u64> = best.into_values().map(|(_, address)| address).collect();
        addresses.sort_unstable();
        addresses.dedup();
        addresses
    }
}

/// Returns the line table of a unit and the path in it, if the file has this number there.
fn table_of<'a>(
    info: &'a DebugInfo,
    of: &FoundFile<'_>,
    unit: u32,
    number: u32,
) -> Option<(&'a LineTable, &'a Arc<Path>)> {
    let table = info.line_table(unit)?;
    let path = table.file(number)?;
    (**path == *Path::new(of.path)).then_some((table, path))
}

/// The function or inlined copy that code of a line belongs to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Instance {
    /// The start of the concrete function.
    function: Option<u64>,
    /// The source function, as its abstract origin.
    source: Option<DieRef>,
    /// The inlined copy.
    copy: Option<DieRef>,
}

/// Returns the source function of an inlined copy or a concrete function.
fn source_of(info: &DebugInfo, die: DieRef) -> DieRef {
    let entry = info.die(die);
    let origin = entry.and_then(|entry| info.origin(die.unit, &entry));
    origin.unwrap_or(die)
}

/// The rank of a row that begins no statement.
const RANK_PASSING: u8 = 2;

/// The rows of the smallest line at or after the wanted one.
struct Candidates {
    wanted: u32,
    line: u32,
    /// Pairs of rank (lowest is best) and address.
    found: Vec<(u8, u64)>,
    /// Pairs of unit number and file number in the unit.
    files: Vec<(u32, u32)>,
}

impl Candidates {
    fn new(wanted: u32) -> Candidates {
        Candidates {
            wanted,
            line: u32::MAX,
            found: Vec::new(),
            files: Vec::new(),
        }
    }

    fn add(&mut self, table: &LineTable, file: u32) {
        for (sequence, at) in table.rows_from(file, self.wanted.max(1)) {
            match table.rows(sequence).get(at) {
                Some(row) if row.line <= self.line => self.add_row(table, sequence, at, row),
                _ => return,
            }
        }
    }

    fn begins_statements(&self) -> bool {
        self.found.iter().any(|(rank, _)| *rank < RANK_PASSING)
    }

    fn add_row(&mut self, table: &LineTable, sequence: &Sequence, at: usize, row: &Row) {
        // A line without a statement does not replace the wanted one.
        if row.line != self.wanted && !row.is_stmt {
            return;
        }
        if row.line < self.line {
            self.line = row.line;
            self.found.clear();
        }
        let superseded = table.row_range(sequence, at).is_empty();
        let rank = match (row.is_stmt, superseded) {
            (true, false) => 0,
            (true, true) => 1,
            (false, _) if table.statement_at(sequence, at) == at => RANK_PASSING,
            // Another line is displayed there.
            (false, _) => RANK_PASSING + 1,
        };
        self.found.push((rank, row.address));
    }
}
