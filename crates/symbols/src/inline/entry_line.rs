//! The line of an instruction at which several lines begin: the line by which an inlined
//! call or a function is entered, or the statement that begins elsewhere.
//!
//! The line table has a row for each line whose code begins at an instruction, and the
//! optimizer maps many lines to one: that of the call, those of the callee, and those after
//! the call if the callee left no code. gcc records the row at which the call is entered by
//! its number among the rows of the address ("view", `DW_AT_GNU_entry_view`). This row has
//! the line of the callee's declaration, and the callee's statements follow it.

use super::inlined_chain;
use crate::dwarf::{DebugInfo, DieRef};
use crate::line::{Line, Row, file_index};
use crate::{Function, SymbolFile};

/// The position of a function's declaration; `file` is the number in its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Declaration {
    pub file: u64,
    pub line: u64,
}

impl SymbolFile {
    /// Returns the line by which the innermost inlined call begins at its first
    /// instruction: that of its first statement there, or of its declaration. `None` if the
    /// compiler does not record it.
    pub fn line_entered_at(&self, address: u64) -> Option<Line> {
        let info = self.inner.debug_info()?;
        let chain = inlined_chain(info, address);
        let (&(copy, _), around) = chain.split_last()?;
        let entry = info.die(copy)?;
        let view = entry.attr_value(gimli::DW_AT_GNU_entry_view)?;
        let view = usize::try_from(view.udata_value()?).ok()?;
        let declared = declaration(info, copy)?;
        let function = info.function_at(address).map(|function| function.die);
        let around = around.iter().map(|(die, _)| *die).chain(function);
        let around: Vec<Declaration> = around.filter_map(|die| declaration(info, die)).collect();

        let table = info.line_table(copy.unit)?;
        let (sequence, at) = table.find(address)?;
        let rows = table.rows(sequence);
        let before = rows.get(..at)?.iter().rev();
        let first = at - before.take_while(|row| row.address == address).count();
        let entered = first.checked_add(view).filter(|entered| *entered <= at)?;
        let statement = (entered + 1..=at).find(|&number| {
            let row = rows.get(number);
            row.is_some_and(|row| row.is_stmt && row.line != 0)
        });
        let is_callees = |number: &usize| {
            let row = rows.get(*number);
            row.is_some_and(|row| is_line_of(row, declared, &around))
        };
        let found = statement.into_iter().chain([entered]).find(is_callees)?;
        let mut line = table.line(sequence, found)?;
        line.range = table.row_range(sequence, at);
        Some(line)
    }
}

impl SymbolFile {
    /// Returns the line of the statement that begins at an address, in the innermost
    /// inlined call or the function. The instruction itself may belong to another line: the
    /// optimizer moves instructions ahead of those they must precede.
    pub fn line_begun_at(&self, address: u64) -> Option<Line> {
        let info = self.inner.debug_info()?;
        let function = self.function_at(address)?.die?;
        let mut chain = vec![function];
        chain.extend(inlined_chain(info, address).into_iter().map(|(die, _)| die));
        let (&innermost, around) = chain.split_last()?;
        let declared = declaration(info, innermost)?;
        let around = around.iter().filter_map(|die| declaration(info, *die));
        let around: Vec<Declaration> = around.collect();
        let table = info.line_table(innermost.unit)?;
        let (sequence, at) = table.find(address)?;
        let rows = table.rows(sequence);
        let found = (0..=at).rev().map_while(|number| {
            let row = rows.get(number)?;
            (row.address == address && row.line != 0).then_some((number, row))
        });
        let mut begun = found.filter(|(_, row)| row.is_stmt);
        let (number, _) = begun.find(|(_, row)| is_line_of(row, declared, &around))?;
        table.line(sequence, number)
    }

    /// Returns the index of the first row of a function's first instruction that belongs to
    /// the function itself and not to an inlined call.
    pub(crate) fn own_row(
        &self,
        info: &DebugInfo,
        function: &Function,
        rows: &[Row],
    ) -> Option<usize> {
        let declared = declaration(info, function.die?)?;
        let inlined = inlined_chain(info, function.low_pc).into_iter();
        let inlined: Vec<Declaration> = inlined
            .filter_map(|(die, _)| declaration(info, die))
            .collect();
        let mut rows = rows.iter();
        rows.position(|row| row.line != 0 && is_line_of(row, declared, &inlined))
    }
}

/// Returns whether a line belongs to a function and not to one of the others: the last
/// declaration before a line is that of its function.
pub(super) fn is_line_of(row: &Row, function: Declaration, around: &[Declaration]) -> bool {
    let (file, line) = (u64::from(row.file), u64::from(row.line));
    let is_between = |other: &Declaration| {
        other.file == file && other.line > function.line && other.line <= line
    };
    file == function.file && line >= function.line && !around.iter().any(is_between)
}

/// Returns the declaration of a function, or of the function that a copy is of.
pub(super) fn declaration(info: &DebugInfo, die: DieRef) -> Option<Declaration> {
    let file = info.inherited(die, |_, _, entry| {
        let value = entry.attr_value(gimli::DW_AT_decl_file)?;
        value.udata_value().or(file_index(&value))
    });
    Some(Declaration {
        file: file?,
        line: info.inherited_unsigned(die, gimli::DW_AT_decl_line)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_belong_to_the_last_declaration_before_them() {
        let declared = |file, line| Declaration { file, line };
        let around = [declared(1, 15), declared(1, 22), declared(2, 4)];
        for (file, line, expected) in [
            (1, 6, false),
            (1, 7, true),
            (1, 9, true),
            (1, 15, false),
            (1, 18, false),
            (1, 26, false),
            (2, 9, false),
        ] {
            let row = Row {
                address: 0,
                line,
                column: 0,
                file,
                is_stmt: true,
                prologue_end: false,
            };
            let found = is_line_of(&row, declared(1, 7), &around);
            assert_eq!(found, expected, "{file}:{line}");
        }
    }
}
