//! The names that are visible at an address of a function: its parameters and variables by
//! scope, and what blocks declare besides.
//!
//! A block without code contributes nothing (`covers`). A variable whose declaration is behind
//! the source line of the address is marked: there its name still means what it means outside
//! of the block. What only the abstract instance of a function describes is added
//! (`abstract_instance`).

mod abstract_instance;
mod completion;
mod declared;
mod handlers;

use crate::dwarf::{DebugInfo, Die, DieRef, Language, Visit};
use crate::inline::{Around, around, covers, inlined_chain, is_outlined_part, is_removed};
use crate::line::file_index;
use crate::location::FixedLocation;
use crate::parameters::{self, parameters};
use crate::variable::{Scope, ScopeKind, Variable, is_declaration, variable};
use crate::{Function, SymbolFile};
use completion::merge_into_call;
pub(crate) use completion::{is_declared_behind, nameless_functions};
use declared::add_declared;
pub(crate) use declared::has_lines_of_imports;
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl SymbolFile {
    /// Returns the scopes around a file address with their variables, innermost first. The
    /// last one is the function's.
    pub fn locals_at(&self, address: u64) -> Vec<Scope> {
        let Some(info) = self.inner.debug_info() else {
            return Vec::new();
        };
        let Some(function) = info.function_at(address).map(|function| function.die) else {
            return Vec::new();
        };
        let mut walk = LocalsAt::new(self, info, function, address);
        info.walk(function, |depth, die, entry| walk.visit(depth, die, entry));
        walk.finish()
    }

    /// Returns the parameters and local variables with this name of a function itself and of
    /// the blocks in it, in the order of their declarations; not those of inlined calls.
    pub fn locals_named(&self, function: &Function, name: &str) -> Vec<Variable> {
        let (Some(info), Some(function)) = (self.inner.debug_info(), function.die) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        info.walk(function, |depth, die, entry| match entry.tag() {
            _ if depth == 0 => Visit::Descend,
            gimli::DW_TAG_lexical_block if is_removed(info, die, entry) => Visit::Skip,
            gimli::DW_TAG_lexical_block | gimli::DW_TAG_GNU_formal_parameter_pack => Visit::Descend,
            gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
                let known = variable(info, die, entry, Some(function));
                found.extend(known.filter(|variable| &*variable.name == name));
                Visit::Skip
            }
            _ => Visit::Skip,
        });
        found
    }
}

/// A source file and a line in it.
type Position = (PathBuf, u32);

/// The walk over a function that collects the scopes around an address.
struct LocalsAt<'a> {
    info: &'a Arc<DebugInfo>,
    function: DieRef,
    address: u64,
    around: Vec<Around>,
    /// The position at which the function, and each inlined call in it, is at the address;
    /// outermost first.
    positions: Vec<Option<Position>>,
    /// The number of inlined calls that contain the current entry.
    calls: usize,
    /// The function or the innermost inlined call.
    call: DieRef,
    /// The scopes so far, outermost first.
    scopes: Vec<Open>,
    outlined_parts: Vec<usize>,
    /// The parameters of inlined calls in order, with the number of the call.
    named: Vec<(usize, DieRef, Arc<str>)>,
    /// The lines at which the handlers of exceptions begin, if clang made the function.
    handlers: Option<Vec<u32>>,
    file: &'a SymbolFile,
}

/// A scope around the address.
struct Open {
    depth: isize,
    die: DieRef,
    /// The number of inlined calls that contain it, with itself.
    call: usize,
    scope: Scope,
}

impl<'a> LocalsAt<'a> {
    fn new(
        file: &'a SymbolFile,
        info: &'a Arc<DebugInfo>,
        function: DieRef,
        address: u64,
    ) -> LocalsAt<'a> {
        let around = around(info, function, address);
        let copies = if around.iter().any(Around::is_copy) {
            inlined_chain(info, address)
        } else {
            Vec::new()
        };
        let call_position = |(copy, _)| {
            let (file, line) = file.call_site(info, copy);
            Some((file?, line?))
        };
        let mut positions: Vec<Option<Position>> = copies.into_iter().map(call_position).collect();
        let line = file.line_at(address).filter(|line| line.line != 0);
        positions.push(line.map(|line| (line.file.to_path_buf(), line.line)));
        let mut walk = LocalsAt {
            info,
            function,
            address,
            around,
            positions,
            calls: 0,
            call: function,
            scopes: Vec::new(),
            outlined_parts: Vec::new(),
            named: Vec::new(),
            handlers: None,
            file,
        };
        walk.open(0, ScopeKind::Function, function);
        if let Some(Open { scope, .. }) = walk.scopes.last_mut() {
            scope.variables = parameters(info, function);
        }
        walk
    }

    fn visit(&mut self, depth: isize, die: DieRef, entry: &Die) -> Visit {
        if depth == 0 {
            return Visit::Descend;
        }
        let is_around = self.around.iter().any(|node| node.die == die);
        match entry.tag() {
            gimli::DW_TAG_lexical_block
                if is_around || covers(self.info, die, entry, self.address) =>
            {
                self.open(depth, ScopeKind::Block, die);
                return Visit::Descend;
            }
            gimli::DW_TAG_inlined_subroutine if is_around => {
                self.enter(depth, die, entry);
                return Visit::Descend;
            }
            gimli::DW_TAG_GNU_formal_parameter_pack if depth > 1 => return Visit::Descend,
            // Its variables are those of the scope.
            gimli::DW_TAG_common_block => return Visit::Descend,
            gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
                // The parameters of the function itself are already in the list.
                if depth > 1 || entry.tag() != gimli::DW_TAG_formal_parameter {
                    self.add_variable(depth, die, entry);
                }
            }
            _ => {
                let (info, is_behind) = (self.info, self.is_behind(die, self.calls));
                if let Some(scope) = self.scope_at(depth) {
                    add_declared(info, die, entry, is_behind, scope);
                }
            }
        }
        Visit::Skip
    }

    /// Opens a scope, with what its abstract instance declares.
    fn open(&mut self, depth: isize, kind: ScopeKind, die: DieRef) {
        let mut scope = Scope::of(kind);
        let entry = self.info.die(die);
        let origin = entry.and_then(|entry| {
            let origin = entry.attr_value(gimli::DW_AT_abstract_origin);
            self.info.reference(die.unit, origin)
        });
        for (at, child) in origin.map_or_else(Vec::new, |origin| self.info.children(origin)) {
            let is_behind = self.is_behind(at, self.calls);
            add_declared(self.info, at, &child, is_behind, &mut scope);
        }
        let call = self.calls;
        self.scopes.push(Open {
            depth,
            die,
            call,
            scope,
        });
    }

    /// Opens the scope of an inlined copy.
    fn enter(&mut self, depth: isize, die: DieRef, entry: &Die) {
        if is_outlined_part(self.info, self.call, die, entry) {
            self.outlined_parts.push(self.scopes.len());
            return self.open(depth, ScopeKind::Block, die);
        }
        self.call = die;
        self.calls += 1;
        let names = parameters::names(self.info, die).into_iter();
        let number = self.calls;
        self.named
            .extend(names.map(|(at, name)| (number, at, name)));
        let origin = self.info.origin(die.unit, entry);
        let name = origin.and_then(|origin| self.info.abstract_name(origin));
        let name = name.map_or_else(|| "".into(), Arc::from);
        self.open(depth, ScopeKind::Inlined(name), die);
    }

    fn open_at(&mut self, depth: isize) -> Option<&mut Open> {
        let mut scopes = self.scopes.iter_mut().rev();
        scopes.find(|open| open.depth < depth)
    }

    fn scope_at(&mut self, depth: isize) -> Option<&mut Scope> {
        self.open_at(depth).map(|open| &mut open.scope)
    }

    fn add_variable(&mut self, depth: isize, die: DieRef, entry: &Die) {
        let info = self.info;
        let is_parameter = entry.tag() == gimli::DW_TAG_formal_parameter;
        let is_behind = !is_parameter && self.is_behind(die, self.calls);
        if is_declaration(info, die, entry) {
            let name = info.inherited_text(die, gimli::DW_AT_name);
            if let Some(scope) = self.scope_at(depth).filter(|_| !is_behind) {
                scope.external.extend(name.map(|name| Box::from(&*name)));
            }
            return;
        }
        let Some(mut variable) = variable(info, die, entry, Some(self.function)) else {
            return;
        };
        let mut named = self.named.iter();
        if let Some((.., name)) = named.find(|(_, at, _)| *at == die) {
            variable.name.clone_from(name);
        }
        variable.is_later = is_behind;
        variable.is_of_some_block = !is_parameter
            && (depth == 1 && self.is_static_of_llvm(&variable) && has_blocks(info, self.function)
                || self.is_of_handler(depth, die, &variable));
        if let Some(scope) = self.scope_at(depth) {
            scope.variables.push(variable);
        }
    }

    /// Returns whether a declaration is behind the position of the innermost call so far.
    ///
    /// Only C and C++ need it: in Rust a `let` begins a block of its own, and macros make code on
    /// lines elsewhere.
    fn is_behind(&self, die: DieRef, call: usize) -> bool {
        let Some(Some((file, line))) = self.positions.get(call).filter(|_| self.is_of_c(die))
        else {
            return false;
        };
        let declared = self
            .info
            .inherited_unsigned(die, gimli::DW_AT_decl_line)
            .is_some_and(|at| at > u64::from(*line));
        declared && declaring_file(self.info, die).is_some_and(|it| *it == **file)
    }

    fn is_of_c(&self, die: DieRef) -> bool {
        let unit = self.info.unit(die.unit);
        unit.is_some_and(|it| matches!(it.language, Language::C | Language::Cpp))
    }

    /// Returns whether a variable is static in a unit of clang, which describes those of all blocks
    /// beside the blocks.
    fn is_static_of_llvm(&self, variable: &Variable) -> bool {
        let unit = self.info.unit(self.function.unit);
        let is_clang = unit.is_some_and(|unit| {
            unit.by_llvm && matches!(unit.language, Language::C | Language::Cpp)
        });
        let place = variable.location.fixed_at(self.address);
        is_clang && matches!(place, Some(FixedLocation::AtAddress(_)))
    }

    /// Returns the scopes, innermost first.
    fn finish(mut self) -> Vec<Scope> {
        for part in std::mem::take(&mut self.outlined_parts) {
            merge_into_call(&mut self.scopes, part, self.address);
        }
        for call in 0..=self.calls {
            self.complete(call);
        }
        for Open { call, scope, .. } in &mut self.scopes {
            if matches!(scope.kind, ScopeKind::Inlined(_)) {
                let own = self.named.iter().filter(|(of, ..)| of == call);
                let place = |name: &Arc<str>| own.clone().position(|(.., known)| known == name);
                let order =
                    |it: &Variable| (!it.parameter, place(&it.name).filter(|_| it.parameter));
                scope.variables.sort_by_key(order);
            }
        }
        self.scopes.into_iter().rev().map(|it| it.scope).collect()
    }
}

/// Returns a function, and the blocks and inlined copies of it around an address, outermost
/// first.
pub(crate) fn homes_at(info: &DebugInfo, function: DieRef, address: u64) -> Vec<DieRef> {
    let around = around(info, function, address);
    let mut homes = vec![function];
    info.walk(function, |depth, die, entry| {
        let is_around = || around.iter().any(|node| node.die == die);
        let is_home = match entry.tag() {
            _ if depth == 0 => return Visit::Descend,
            gimli::DW_TAG_lexical_block => is_around() || covers(info, die, entry, address),
            gimli::DW_TAG_inlined_subroutine => is_around(),
            _ => false,
        };
        if !is_home {
            return Visit::Skip;
        }
        homes.push(die);
        Visit::Descend
    });
    homes
}

/// Returns whether a function has blocks.
pub(crate) fn has_blocks(info: &DebugInfo, function: DieRef) -> bool {
    let mut found = false;
    info.walk(function, |depth, _, entry| {
        found |= depth == 1 && entry.tag() == gimli::DW_TAG_lexical_block;
        match depth {
            0 => Visit::Descend,
            _ => Visit::Skip,
        }
    });
    found
}

/// Returns the source file in which an entry is declared.
fn declaring_file(info: &DebugInfo, die: DieRef) -> Option<Arc<Path>> {
    info.inherited(die, |info, at, entry| {
        let value = entry.attr_value(gimli::DW_AT_decl_file)?;
        info.line_file(at.unit, value.udata_value().or(file_index(&value))?)
    })
}
