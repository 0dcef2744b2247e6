//! Completes the scopes of a call: by what only its abstract instance describes, and by its outlined
//! part.

use super::abstract_instance::{AbstractInstance, Described};
use super::declared::add_declared;
use super::{LocalsAt, Open};
use crate::dwarf::{DebugInfo, DieRef};
use crate::line::file_index;
use crate::variable::{Scope, ScopeKind, Variable, is_declaration, variable};
use rustc_hash::FxHashSet;

impl LocalsAt<'_> {
    /// Completes the scopes of the function, or of the inlined call with so many around it.
    pub(super) fn complete(&mut self, call: usize) {
        let mut scopes: Vec<Open> = Vec::new();
        let (own, others) = std::mem::take(&mut self.scopes)
            .into_iter()
            .partition(|open| open.call == call);
        let own: Vec<Open> = own;
        let place = others.iter().position(|open: &Open| open.call > call);
        let root = own.first().and_then(|first| {
            let entry = self.info.die(first.die)?;
            let origin = entry.attr_value(gimli::DW_AT_abstract_origin);
            let origin = self.info.reference(first.die.unit, origin)?;
            Some((first.die, origin))
        });
        let function = root.map_or(self.function, |(_, root)| root);
        let mut own = match root {
            Some((instance, root)) => self.completed(call, own, instance, root),
            None => own,
        };
        if let Some(last) = own.last_mut() {
            self.add_of_nameless(call, function, &mut last.scope);
        }
        scopes.extend(others);
        let at = place.unwrap_or(scopes.len());
        scopes.splice(at..at, own);
        self.scopes = scopes;
    }

    /// Adds to the scopes of a call what they lack of the abstract instance.
    fn completed(&self, call: usize, own: Vec<Open>, instance: DieRef, root: DieRef) -> Vec<Open> {
        let known = AbstractInstance::read(self.info, root);
        let parts: Vec<DieRef> = own.iter().skip(1).map(|open| open.die).collect();
        let described = known.described(self.info, instance, &parts);
        let mut around: FxHashSet<usize> = FxHashSet::default();
        let mut innermost = 0;
        let mut scopes: Vec<Open> = Vec::new();
        for mut open in own {
            let block = known.block_of(self.info, open.die);
            for block in block.into_iter().flat_map(|block| known.path(block)) {
                if !around.insert(block) {
                    continue;
                }
                innermost = block;
                if Some(block) != known.block_of(self.info, open.die) {
                    // The block has no entry of its own in the instance.
                    let mut scope = Scope::of(ScopeKind::Block);
                    self.declare(call, &known, block, &mut scope);
                    self.add_missing(call, &known, &described, block, &mut scope);
                    let (depth, die) = (open.depth, open.die);
                    scopes.push(Open {
                        depth,
                        die,
                        call,
                        scope,
                    });
                    continue;
                }
                self.add_missing(call, &known, &described, block, &mut open.scope);
            }
            scopes.push(open);
        }
        // gcc keeps each block that has code and variables.
        let is_llvm = self.info.unit(root.unit).is_some_and(|unit| unit.by_llvm);
        if let Some(last) = scopes.last_mut().filter(|_| is_llvm) {
            for block in known.unplaced_in(innermost, &described) {
                if !self.is_left(call, &known, block) {
                    self.add_unplaced(call, &known, &described, block, &mut last.scope);
                }
            }
        }
        scopes
    }

    fn declare(&self, call: usize, known: &AbstractInstance, block: usize, scope: &mut Scope) {
        let die = known.die(block);
        for (at, child) in die.map_or_else(Vec::new, |die| self.info.children(die)) {
            let is_behind = self.is_behind(at, call);
            add_declared(self.info, at, &child, is_behind, scope);
        }
    }

    fn add_missing(
        &self,
        call: usize,
        known: &AbstractInstance,
        described: &Described,
        block: usize,
        scope: &mut Scope,
    ) {
        let missing = known.variables(block).iter();
        for die in missing.filter(|die| !described.has(**die)) {
            if let Some(variable) = self.missing(call, *die, scope) {
                scope.variables.push(variable);
            }
        }
    }

    /// Adds the variables of a block that may contain the address.
    fn add_unplaced(
        &self,
        call: usize,
        known: &AbstractInstance,
        described: &Described,
        block: usize,
        scope: &mut Scope,
    ) {
        let missing = known.variables(block).iter();
        for die in missing.filter(|die| !described.has(**die)) {
            let variable = self.missing(call, *die, scope);
            scope.unplaced.extend(variable.filter(|it| !it.is_later));
        }
    }

    /// Adds the static variables that clang describes in functions without a name, and that may be
    /// those of a function.
    fn add_of_nameless(&self, call: usize, function: DieRef, scope: &mut Scope) {
        if !self.is_of_c(function) {
            return;
        }
        for nameless in nameless_functions(self.info, function) {
            let children = self.info.children(nameless).into_iter();
            let variables = children.filter(|(at, child)| {
                child.tag() == gimli::DW_TAG_variable
                    && is_declared_behind(self.info, *at, function)
                    && !self.is_behind(*at, call)
            });
            let known = variables
                .filter_map(|(at, child)| variable(self.info, at, &child, Some(self.function)));
            scope.unplaced.extend(known);
        }
    }

    /// Returns a variable that only the abstract instance describes. The name of one that is
    /// defined elsewhere is added to the scope.
    fn missing(&self, call: usize, die: DieRef, scope: &mut Scope) -> Option<Variable> {
        let entry = self.info.die(die)?;
        let is_parameter = entry.tag() == gimli::DW_TAG_formal_parameter;
        let is_behind = !is_parameter && self.is_behind(die, call);
        if is_declaration(self.info, die, &entry) {
            let name = self.info.inherited_text(die, gimli::DW_AT_name);
            let name = name.map(|name| Box::from(&*name));
            scope.external.extend(name.filter(|_| !is_behind));
            return None;
        }
        let mut variable = variable(self.info, die, &entry, Some(self.function))?;
        let named = self.named.iter().find(|(_, at, _)| *at == die);
        if let Some((.., name)) = named {
            variable.name.clone_from(name);
        }
        variable.is_later = is_behind;
        Some(variable)
    }

    /// Returns whether a block has been left at the line of the address: a declaration behind it
    /// in the block around has been passed.
    fn is_left(&self, call: usize, known: &AbstractInstance, block: usize) -> bool {
        let line = |die: &DieRef| self.info.inherited_unsigned(*die, gimli::DW_AT_decl_line);
        let last = known.variables(block).iter().filter_map(line).max();
        let path = known.path(block);
        let around = path.iter().rev().skip(1);
        let mut behind = around.flat_map(|outer| known.variables(*outer));
        behind.any(|die| {
            self.is_of_c(*die) && line(die) > last && last.is_some() && !self.is_behind(*die, call)
        })
    }
}

/// Returns the functions without a name in the unit of a function.
pub(crate) fn nameless_functions(info: &DebugInfo, function: DieRef) -> Vec<DieRef> {
    let unit = function.unit;
    let offsets = info
        .facts(unit)
        .map(|facts| facts.nameless_functions.iter());
    let offsets = offsets.into_iter().flatten();
    offsets.map(|&offset| DieRef { unit, offset }).collect()
}

/// Returns whether an entry is declared behind a function's name in the same file.
pub(crate) fn is_declared_behind(info: &DebugInfo, die: DieRef, function: DieRef) -> bool {
    let position = |of: DieRef| {
        let file = info.inherited(of, |_, _, entry| {
            let value = entry.attr_value(gimli::DW_AT_decl_file)?;
            value.udata_value().or(file_index(&value))
        });
        Some((file?, info.inherited_unsigned(of, gimli::DW_AT_decl_line)?))
    };
    let (Some((file, line)), Some((of, from))) = (position(die), position(function)) else {
        return false;
    };
    file == of && line >= from
}

/// Merges the parameters of an outlined part that was inlined again into the inlined call
/// around it. If both have a location, that of the outlined part is more exact.
pub(super) fn merge_into_call(scopes: &mut [Open], part: usize, address: u64) {
    let Some((outer, [part, ..])) = scopes.split_at_mut_checked(part) else {
        return;
    };
    let is_call = |open: &&mut Open| !matches!(open.scope.kind, ScopeKind::Block);
    let Some(call) = outer.iter_mut().rev().find(is_call) else {
        return;
    };
    part.scope.variables.retain(|variable| {
        let mut known = call.scope.variables.iter_mut();
        let known = known.find(|known| known.parameter && known.name == variable.name);
        let Some(known) = known.filter(|_| variable.parameter) else {
            return true;
        };
        if variable.location.is_described_at(address) {
            known.location = variable.location.clone();
        }
        false
    });
}
