//! The variables of exception handlers, which clang describes in the block around the handler.
//!
//! There they would hide, behind the handler, what has their name outside. Unoptimized code says
//! where a handler begins: it calls `__cxa_begin_catch`. Optimized code restricts the locations.

use super::LocalsAt;
use crate::dwarf::{DieRef, Language};
use crate::location::FixedLocation;
use crate::variable::Variable;
use iced_x86::{FlowControl, OpKind};

/// The function that enters a handler (Itanium C++ ABI, section 2.5.3).
const BEGIN: &str = "__cxa_begin_catch";

impl LocalsAt<'_> {
    /// Returns whether a variable may be that of a handler in its block.
    pub(super) fn is_of_handler(&mut self, depth: isize, die: DieRef, variable: &Variable) -> bool {
        let unit = self.info.unit(die.unit);
        let is_clang = unit.is_some_and(|it| it.by_llvm && it.language == Language::Cpp);
        let place = variable.location.fixed_at(self.address);
        let is_static = matches!(place, Some(FixedLocation::AtAddress(_)));
        if !is_clang || is_static || variable.location.moves() {
            return false;
        }
        let (Some(line), Some(block)) = (variable.line, self.open_at(depth).map(|it| it.die))
        else {
            return false;
        };
        let function = self.function;
        if self.handlers.is_none() {
            self.handlers = Some(self.lines_of_handlers());
        }
        let handlers = self.handlers.as_deref().unwrap_or_default();
        if block.unit != function.unit || handlers.is_empty() {
            return false;
        }
        let others = self.info.children(block).into_iter();
        let others = others.filter(|(_, entry)| entry.tag() == gimli::DW_TAG_variable);
        let lines: Vec<u64> = others
            .filter_map(|(at, _)| self.info.inherited_unsigned(at, gimli::DW_AT_decl_line))
            .collect();
        let line = u64::from(line);
        // The variable stands before the handler, and behind what is declared before.
        handlers.iter().map(|first| u64::from(*first)).any(|first| {
            let nearer = |it: &u64| *it > line && *it <= first;
            line <= first && !lines.iter().any(nearer)
        })
    }

    /// Returns the lines in which the handlers of the function may begin.
    fn lines_of_handlers(&self) -> Vec<u32> {
        let stubs = self.file.inner.plt().iter();
        let stubs = stubs.filter(|stub| stub.name.starts_with(BEGIN));
        let symbols = self.file.inner.symbols();
        let own = symbols.named(BEGIN).map(|symbol| symbol.address);
        let targets: Vec<u64> = stubs.map(|stub| stub.address).chain(own).collect();
        let function = self.file.function_at(self.address);
        let (Some(function), false) = (function, targets.is_empty()) else {
            return Vec::new();
        };
        let instructions = self.file.instructions_of(&function).into_iter();
        let calls = instructions.filter(|it| {
            it.flow_control() == FlowControl::Call
                && it.op0_kind() == OpKind::NearBranch64
                && targets.contains(&it.near_branch_target())
        });
        calls.flat_map(|it| self.lines_behind(it.ip())).collect()
    }

    /// Returns the next line behind an instruction, and the next other one.
    fn lines_behind(&self, address: u64) -> Vec<u32> {
        let rows = self.info.line_table(self.function.unit).and_then(|table| {
            let (sequence, _) = table.find(address)?;
            Some(table.rows(sequence))
        });
        let lines = rows.into_iter().flat_map(|rows| rows.iter());
        let mut lines = lines
            .filter(|row| row.address > address && row.line != 0)
            .map(|row| row.line);
        let first = lines.next();
        let own = self.file.line_at(address).map(|line| line.line);
        let other = first.filter(|it| Some(*it) == own);
        let other = other.and_then(|_| lines.find(|it| Some(*it) != own));
        first.into_iter().chain(other).collect()
    }
}
