//! Call sites in the caller's debug information: the callee and the values passed (DWARF 5,
//! sections 3.4.1 and 3.4.2; GNU extensions before).
//!
//! A value that was in a register at a function's entry and is lost may still be computed
//! in the caller. A function entered by a tail call has the arguments of that jump, so the
//! search for the call that entered a function follows the tail calls listed here.

use crate::dwarf::{DebugInfo, Die, DieRef, Reader, Value, Visit};
use crate::location::{
    DroppedParameter, EvaluationContext, Location, ValueLocation, evaluation_encoding,
    single_register,
};
use crate::{Function, SymbolFile};
use gimli::{AttributeValue, DwAt, Expression};
use std::sync::Arc;

/// A call site: a call or a tail call, as described by the calling function.
#[derive(Debug, Clone)]
pub struct CallSite {
    symbols: SymbolFile,
    info: Arc<DebugInfo>,
    die: DieRef,
    caller: DieRef,
    /// The file address in the call at which locations are evaluated.
    lookup: u64,
}

/// The callee of a call site.
#[derive(Debug, Clone)]
pub enum Callee {
    /// A function in the same file.
    Here(Box<Function>),
    /// A symbol to be searched in all files.
    Named(Arc<str>),
}

/// The file addresses of a tail call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JumpAddresses {
    /// The start of the jump, if recorded.
    pub start: Option<u64>,
    /// An address inside the jump at which locations are evaluated.
    pub lookup: u64,
}

impl SymbolFile {
    /// Returns the call site that returns to a file address, if described.
    pub fn call_returning_to(&self, return_address: u64) -> Option<CallSite> {
        let lookup = return_address.checked_sub(1)?;
        let info = self.inner.debug_info()?;
        let caller = self.function_at(lookup)?.die?;
        let mut found = None;
        walk_calls(info, caller, |die, entry| {
            if returns_to(info, die, entry, return_address) {
                found = Some(die);
            }
        });
        Some(CallSite {
            symbols: self.clone(),
            info: Arc::clone(info),
            die: found?,
            caller,
            lookup,
        })
    }

    /// Returns the tail calls of a function; `None` if not all of them are listed.
    pub fn tail_calls(&self, function: &Function) -> Option<Vec<CallSite>> {
        let (info, caller) = self.inner.debug_info().zip(function.die)?;
        info.die(caller).filter(lists_jumps)?;
        let mut found = Some(Vec::new());
        walk_calls(info, caller, |die, entry| {
            if is_tail_call(entry) {
                let jump = jump_addresses(info, die, entry);
                found = found.take().zip(jump).map(|(mut found, jump)| {
                    found.push(CallSite {
                        symbols: self.clone(),
                        info: Arc::clone(info),
                        die,
                        caller,
                        lookup: jump.lookup,
                    });
                    found
                });
            }
        });
        found
    }

    /// Returns the DIE with the code of a callee, if this file has it.
    fn called(&self, info: &DebugInfo, origin: DieRef) -> Option<DieRef> {
        with_code(info, origin).or_else(|| self.exported(info, origin))
    }

    /// Returns the function of a DIE with code.
    fn function_of(&self, info: &DebugInfo, die: DieRef) -> Option<Function> {
        let ranges = info.code_ranges(die.unit, &info.die(die)?);
        let starts = ranges.iter().map(|range| range.start);
        let mut functions = starts.filter_map(|start| self.function_with_low_pc(start));
        functions.find(|function| function.die == Some(die))
    }

    /// Returns the DIE of the function with the linkage name of a declaration, if this file
    /// has exactly one. A DIE that is not a declaration is excluded: its clones are in the
    /// same unit, and the name is that of one of them.
    fn exported(&self, info: &DebugInfo, declaration: DieRef) -> Option<DieRef> {
        let is_declaration = |entry: &Die| DebugInfo::is_set(entry, gimli::DW_AT_declaration);
        info.die(declaration).filter(is_declaration)?;
        let name = linkage_name(info, declaration)?;
        let symbols = self.inner.symbols().named(&name);
        let mut symbols = symbols.filter(|symbol| symbol.is_function());
        let address = symbols.next()?.address;
        if symbols.any(|symbol| symbol.address != address) {
            return None;
        }
        Some(info.function_with_low_pc(address)?.die)
    }
}

impl CallSite {
    /// Returns the callee, if the debug information names it.
    pub fn callee(&self) -> Option<Callee> {
        let entry = self.info.die(self.die)?;
        let origin = origin(&self.info, self.die, &entry)?;
        let here = self.symbols.called(&self.info, origin);
        if let Some(function) = here.and_then(|die| self.symbols.function_of(&self.info, die)) {
            return Some(Callee::Here(Box::new(function)));
        }
        // A clone that the compiler made elsewhere is not exported by name.
        linkage_name(&self.info, origin).map(Callee::Named)
    }

    /// Returns the run-time address of the callee, if described by an expression over the
    /// caller.
    pub fn target(&self, caller: &dyn EvaluationContext) -> Option<u64> {
        let entry = self.info.die(self.die)?;
        let targets = [gimli::DW_AT_call_target, gimli::DW_AT_GNU_call_site_target];
        self.value(&entry, &targets, caller)
    }

    /// Returns the addresses of the jump of a tail call.
    pub fn jump(&self) -> Option<JumpAddresses> {
        jump_addresses(&self.info, self.die, &self.info.die(self.die)?)
    }

    /// Returns the value of a register at the time of the call.
    pub fn passed(&self, register: u16, caller: &dyn EvaluationContext) -> Option<u64> {
        let encoding = evaluation_encoding(&self.info, self.die.unit);
        self.argument(caller, |entry| {
            let location = expression(entry.attr_value(gimli::DW_AT_location));
            location.and_then(|location| single_register(&location, encoding)) == Some(register)
        })
    }

    /// Returns the value of a parameter that the compiler removed.
    pub fn dropped(
        &self,
        DroppedParameter(parameter): DroppedParameter,
        caller: &dyn EvaluationContext,
    ) -> Option<u64> {
        let unit = self.die.unit;
        // GNU's extension before DWARF 5.
        let names = [gimli::DW_AT_call_parameter, gimli::DW_AT_abstract_origin];
        self.argument(caller, |entry| {
            let mut named = names.iter().map(|name| entry.attr_value(*name));
            named.any(|value| self.info.reference(unit, value) == Some(parameter))
        })
    }

    fn argument(
        &self,
        caller: &dyn EvaluationContext,
        is_meant: impl Fn(&Die) -> bool,
    ) -> Option<u64> {
        let children = self.info.children(self.die);
        let (_, entry) = children.iter().find(|(_, entry)| is_meant(entry))?;
        let values = [gimli::DW_AT_call_value, gimli::DW_AT_GNU_call_site_value];
        self.value(entry, &values, caller)
    }

    /// Returns the value of an attribute that is an expression over the caller.
    fn value(
        &self,
        entry: &Die,
        attributes: &[DwAt],
        caller: &dyn EvaluationContext,
    ) -> Option<u64> {
        let mut written = attributes.iter().map(|name| entry.attr_value(*name));
        let expression = expression(written.find(Option::is_some)?)?;
        let location = Location::of_expression(&self.info, self.caller, expression);
        let pieces = location.evaluate(self.lookup, caller).ok()?;
        let [piece] = pieces.as_slice() else {
            return None;
        };
        match &piece.location {
            // The expression computes a value, not a location.
            ValueLocation::Address(value) | ValueLocation::Value(value) => Some(*value),
            _ => None,
        }
    }
}

/// Visits the call sites of a function, including those of functions inlined into it.
fn walk_calls(info: &DebugInfo, function: DieRef, mut visit: impl FnMut(DieRef, &Die)) {
    info.walk(function, |depth, die, entry| match entry.tag() {
        gimli::DW_TAG_subprogram if depth > 0 => Visit::Skip,
        gimli::DW_TAG_call_site | gimli::DW_TAG_GNU_call_site => {
            visit(die, entry);
            Visit::Skip
        }
        _ => Visit::Descend,
    });
}

/// Returns whether a DIE is the call site that returns to a file address.
pub(crate) fn returns_to(info: &DebugInfo, die: DieRef, entry: &Die, address: u64) -> bool {
    let is_call = matches!(
        entry.tag(),
        gimli::DW_TAG_call_site | gimli::DW_TAG_GNU_call_site
    );
    is_call && !is_tail_call(entry) && return_pc(info, die, entry) == Some(address)
}

fn is_tail_call(entry: &Die) -> bool {
    let marks = [gimli::DW_AT_call_tail_call, gimli::DW_AT_GNU_tail_call];
    marks.iter().any(|mark| DebugInfo::is_set(entry, *mark))
}

fn jump_addresses(info: &DebugInfo, die: DieRef, entry: &Die) -> Option<JumpAddresses> {
    // Before DWARF 5, and by gcc, only the return address is recorded.
    let start = info.address(die.unit, entry.attr_value(gimli::DW_AT_call_pc));
    let end = return_pc(info, die, entry);
    // Every jump has at least two bytes.
    let lookup = match start {
        Some(start) => start.checked_add(1),
        None => end?.checked_sub(1),
    }?;
    Some(JumpAddresses { start, lookup })
}

fn return_pc(info: &DebugInfo, die: DieRef, entry: &Die) -> Option<u64> {
    let mut attributes = [gimli::DW_AT_call_return_pc, gimli::DW_AT_low_pc].iter();
    attributes.find_map(|name| info.address(die.unit, entry.attr_value(*name)))
}

/// Returns the abstract origin of the callee, if known.
fn origin(info: &DebugInfo, die: DieRef, entry: &Die) -> Option<DieRef> {
    let mut attributes = [gimli::DW_AT_call_origin, gimli::DW_AT_abstract_origin].iter();
    attributes.find_map(|name| info.reference(die.unit, entry.attr_value(*name)))
}

fn expression(value: Option<Value>) -> Option<Expression<Reader>> {
    match value? {
        AttributeValue::Exprloc(expression) => Some(expression),
        AttributeValue::Block(block) => Some(Expression(block)),
        _ => None,
    }
}

/// Returns the symbol of a function with external linkage.
fn linkage_name(info: &DebugInfo, function: DieRef) -> Option<Arc<str>> {
    let is_external = |_: &DebugInfo, _: DieRef, entry: &Die| {
        DebugInfo::is_set(entry, gimli::DW_AT_external).then_some(())
    };
    info.inherited(function, is_external)?;
    let names = [gimli::DW_AT_linkage_name, gimli::DW_AT_name];
    let name = names
        .iter()
        .find_map(|name| info.inherited_text(function, *name));
    name.map(Arc::from)
}

/// Returns whether all tail calls are listed.
fn lists_jumps(entry: &Die) -> bool {
    let marks = [
        gimli::DW_AT_call_all_calls,
        gimli::DW_AT_call_all_source_calls,
        gimli::DW_AT_call_all_tail_calls,
        gimli::DW_AT_GNU_all_call_sites,
        gimli::DW_AT_GNU_all_source_call_sites,
        gimli::DW_AT_GNU_all_tail_call_sites,
    ];
    marks.iter().any(|mark| DebugInfo::is_set(entry, *mark))
}

/// Returns the only DIE with code that belongs to a function's DIE.
fn with_code(info: &DebugInfo, function: DieRef) -> Option<DieRef> {
    let has_code = |die: DieRef| {
        info.die(die)
            .is_some_and(|entry| !info.code_ranges(die.unit, &entry).is_empty())
    };
    if has_code(function) {
        return Some(function);
    }
    let completes = |die: &DieRef| {
        let same = |_: &DebugInfo, at: DieRef, _: &Die| (at == function).then_some(());
        info.inherited(*die, same).is_some()
    };
    let mut copies = info.facts(function.unit)?.function_dies().filter(completes);
    // Of several clones, the target is unknown.
    copies.next().filter(|_| copies.next().is_none())
}
