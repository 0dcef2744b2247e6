//! Calls as the caller's debug information has them: what is called, and what
//! was passed (DWARF 5, sections 3.4.1 and 3.4.2; before, GNU's extensions).
//!
//! A value that was in a register when a function was entered, and is nowhere
//! any more, may still be computed in the caller. A function that is jumped to at
//! the end of another one, or of itself, has arguments of that jump: the jumps at
//! the end of a function are listed here, and who looks for the call that entered
//! a function goes through them.

use crate::dwarf::{DebugInfo, Die, DieRef, Reader, Value, Visit};
use crate::location::{
    DroppedParameter, EvaluationContext, Location, Place, evaluation_encoding, single_register,
};
use crate::{Function, SymbolFile};
use gimli::{AttributeValue, DwAt, Expression};
use std::sync::Arc;

/// A call, or a jump at the end of a function, as the function that makes it
/// describes it.
#[derive(Debug, Clone)]
pub struct CallSite {
    symbols: SymbolFile,
    info: Arc<DebugInfo>,
    die: DieRef,
    caller: DieRef,
    /// The file address of the call, as places are looked up by.
    lookup: u64,
}

/// The function that a call is of.
#[derive(Debug, Clone)]
pub enum Callee {
    /// It is in the same file.
    Here(Box<Function>),
    /// Files are asked for the symbol.
    Named(Arc<str>),
}

/// Where a jump at the end of a function is: file addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JumpPlace {
    /// The jump itself, where its address is given.
    pub start: Option<u64>,
    /// An address inside of the jump, by which places are looked up.
    pub lookup: u64,
}

impl SymbolFile {
    /// The call that returns to a file address; nothing where nothing is said of it.
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

    /// The jumps at the end of a function that stand for calls; nothing where not all
    /// of them are listed.
    pub fn tail_calls(&self, function: &Function) -> Option<Vec<CallSite>> {
        let (info, caller) = self.inner.debug_info().zip(function.die)?;
        info.die(caller).filter(lists_jumps)?;
        let mut found = Some(Vec::new());
        walk_calls(info, caller, |die, entry| {
            if is_tail_call(entry) {
                let jump = jump_place(info, die, entry);
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

    /// The entry with the code of the function that a call is of, where this file has it.
    fn called(&self, info: &DebugInfo, origin: DieRef) -> Option<DieRef> {
        with_code(info, origin).or_else(|| self.exported(info, origin))
    }

    /// The function that an entry with code is of.
    fn function_of(&self, info: &DebugInfo, die: DieRef) -> Option<Function> {
        let ranges = info.code_ranges(die.unit, &info.die(die)?);
        let starts = ranges.iter().map(|range| range.start);
        let mut functions = starts.filter_map(|start| self.function_with_low_pc(start));
        functions.find(|function| function.die == Some(die))
    }

    /// The entry of the function that a declaration names, where this file has it. An
    /// entry that is no declaration has its copies beside it: the name is that of one.
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
    /// The function that is called, where the debug information names it.
    pub fn callee(&self) -> Option<Callee> {
        let entry = self.info.die(self.die)?;
        let origin = origin(&self.info, self.die, &entry)?;
        let here = self.symbols.called(&self.info, origin);
        if let Some(function) = here.and_then(|die| self.symbols.function_of(&self.info, die)) {
            return Some(Callee::Here(Box::new(function)));
        }
        // A copy that the compiler made elsewhere is exported by no name.
        linkage_name(&self.info, origin).map(Callee::Named)
    }

    /// The address in the process that is called, where an expression over the caller
    /// tells it.
    pub fn target(&self, caller: &dyn EvaluationContext) -> Option<u64> {
        let entry = self.info.die(self.die)?;
        let targets = [gimli::DW_AT_call_target, gimli::DW_AT_GNU_call_site_target];
        self.value(&entry, &targets, caller)
    }

    /// Where the jump is, for one at the end of a function.
    pub fn jump(&self) -> Option<JumpPlace> {
        jump_place(&self.info, self.die, &self.info.die(self.die)?)
    }

    /// What a register had when the call was made.
    pub fn passed(&self, register: u16, caller: &dyn EvaluationContext) -> Option<u64> {
        let encoding = evaluation_encoding(&self.info, self.die.unit);
        self.argument(caller, |entry| {
            let place = expression(entry.attr_value(gimli::DW_AT_location));
            place.and_then(|place| single_register(&place, encoding)) == Some(register)
        })
    }

    /// What a parameter would have had that the compiler passes no more.
    pub fn dropped(
        &self,
        DroppedParameter(parameter): DroppedParameter,
        caller: &dyn EvaluationContext,
    ) -> Option<u64> {
        let unit = self.die.unit;
        // Before DWARF 5 as GNU's extension.
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

    /// The value of an attribute that is an expression over the caller.
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
        match &piece.place {
            // What an expression computes is meant, not a place.
            Place::Address(value) | Place::Value(value) => Some(*value),
            _ => None,
        }
    }
}

/// The calls that a function makes, those of functions inlined into it included.
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

/// Whether an entry is that of a call that returns to a file address.
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

fn jump_place(info: &DebugInfo, die: DieRef, entry: &Die) -> Option<JumpPlace> {
    // Before DWARF 5, and by gcc, only the address behind it is given.
    let start = info.address(die.unit, entry.attr_value(gimli::DW_AT_call_pc));
    let end = return_pc(info, die, entry);
    // No jump is shorter than two bytes.
    let lookup = match start {
        Some(start) => start.checked_add(1),
        None => end?.checked_sub(1),
    }?;
    Some(JumpPlace { start, lookup })
}

fn return_pc(info: &DebugInfo, die: DieRef, entry: &Die) -> Option<u64> {
    let mut places = [gimli::DW_AT_call_return_pc, gimli::DW_AT_low_pc].iter();
    places.find_map(|place| info.address(die.unit, entry.attr_value(*place)))
}

/// The entry of the function that is called, where it is known.
fn origin(info: &DebugInfo, die: DieRef, entry: &Die) -> Option<DieRef> {
    let mut places = [gimli::DW_AT_call_origin, gimli::DW_AT_abstract_origin].iter();
    places.find_map(|place| info.reference(die.unit, entry.attr_value(*place)))
}

fn expression(value: Option<Value>) -> Option<Expression<Reader>> {
    match value? {
        AttributeValue::Exprloc(expression) => Some(expression),
        AttributeValue::Block(block) => Some(Expression(block)),
        _ => None,
    }
}

/// The symbol of a function that other files may call.
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

/// Whether all jumps at the end of a function are listed.
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

/// The entry that has the code of a function of which this entry tells something.
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
    // Which of several copies is jumped to is not said.
    copies.next().filter(|_| copies.next().is_none())
}
