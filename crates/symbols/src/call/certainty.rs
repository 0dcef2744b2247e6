//! Whether a function is certain to be called by the calling convention, so that the places of
//! arguments follow from the types of its parameters.
//!
//! An optimizing compiler that sees all callers of a function may pass its arguments elsewhere,
//! and leave out what the function does not use. gcc gives such a function another name. LLVM
//! does not; but it has a location at the entry for each argument that is left, so a parameter
//! without one tells that arguments may have been removed. Functions that other files can call
//! keep their places, but callers in the same file do not pass what is not used.

use super::{EntryLocation, EntryPieceLocation, EntryUnavailable, callers, described};
use crate::dwarf::{DebugInfo, DieRef, Language, Visit};
use crate::elf::Binding;
use crate::function::signature::mangled_types;
use crate::location::{Location, LocationSource};
use crate::names;
use crate::types::Type;
use crate::variable::Variable;
use crate::{Function, SymbolFile};
use smallvec::SmallVec;
use std::sync::Arc;

/// Returns the reason why the convention does not tell where a parameter is; `None` if it does.
pub(super) fn doubt(
    info: &Arc<DebugInfo>,
    die: DieRef,
    function: &Function,
    parameters: &[Variable],
    index: usize,
) -> Option<EntryUnavailable> {
    let linkage_name = function.linkage_name.as_deref().unwrap_or("");
    if let Some(reason) = described::changed_convention(info, die, linkage_name) {
        return Some(reason);
    }
    if let Some(reason) = hidden_argument(info, die, function, parameters) {
        return Some(reason);
    }
    let unit = info.unit(die.unit)?;
    let is_rust = unit.language == Language::Rust;
    if !unit.by_llvm || !is_optimized(info, die.unit) {
        return None;
    }
    let variable = parameters.get(index)?;
    if is_absent(variable) {
        return Some(EntryUnavailable::Unused);
    }
    let is_whole = || {
        let mut all = parameters.iter();
        all.all(|it| is_passed(info, die, function.low_pc, it))
    };
    let is_kept = !is_rust && function.binding != Binding::Local;
    (!is_kept && !is_whole()).then_some(EntryUnavailable::Undescribed)
}

/// Returns that a function has an argument that is no parameter, if it has.
pub(super) fn hidden_argument(
    info: &DebugInfo,
    die: DieRef,
    function: &Function,
    parameters: &[Variable],
) -> Option<EntryUnavailable> {
    let unit = info.unit(die.unit)?;
    let is_hidden = match unit.language {
        Language::Rust => hides_environment(info, die, parameters),
        Language::Cpp => unit.by_llvm && lacks_parameters(function, parameters),
        _ => false,
    };
    is_hidden.then_some(EntryUnavailable::Hidden)
}

/// Returns whether an LLVM compiler may have removed arguments of a function, or passes others.
pub(super) fn may_be_cut(
    file: &SymbolFile,
    info: &Arc<DebugInfo>,
    die: DieRef,
    function: &Function,
) -> bool {
    let Some(unit) = info.unit(die.unit) else {
        return false;
    };
    let is_own = unit.language == Language::Rust || function.binding == Binding::Local;
    unit.by_llvm
        && is_own
        && is_optimized(info, die.unit)
        && !callers::is_address_taken(file, function)
}

/// Returns whether a parameter with contents has no location at all.
fn is_absent(variable: &Variable) -> bool {
    let has_bytes = variable.r#type.size() != Some(0);
    has_bytes && matches!(variable.location.source, LocationSource::Nowhere)
}

/// Returns whether the debug information shows that all of a parameter is passed.
fn is_passed(info: &Arc<DebugInfo>, die: DieRef, low_pc: u64, variable: &Variable) -> bool {
    if variable.r#type.size() == Some(0) {
        return true;
    }
    let is_real = |location: &EntryPieceLocation| {
        !matches!(
            location,
            EntryPieceLocation::Constant(_) | EntryPieceLocation::Unavailable(_)
        )
    };
    match described::location(info, die, low_pc, variable, true) {
        Some(pieces) => pieces.iter().all(|piece| is_real(&piece.location)),
        // A slot of the frame, in which the function keeps it.
        None => matches!(variable.location.source, LocationSource::Everywhere(_)),
    }
}

/// Returns whether a function of Rust has an argument that is no parameter: the environment of
/// a closure that has captured something.
fn hides_environment(info: &DebugInfo, die: DieRef, parameters: &[Variable]) -> bool {
    let name = info.inherited_text(die, gimli::DW_AT_name);
    let is_closure = name.is_some_and(|name| {
        name.starts_with("{closure")
            || name.starts_with("{async")
            || name.starts_with("{gen")
            || name.starts_with("{coroutine")
    });
    is_closure
        && !parameters
            .first()
            .is_some_and(|it| is_environment(&it.r#type))
}

/// Returns whether the mangled name of a function has more parameters than its debug
/// information: clang leaves out unused ones that are passed by the address of a copy.
fn lacks_parameters(function: &Function, parameters: &[Variable]) -> bool {
    let own = parameters.iter().filter(|it| !it.artificial).count();
    let types = mangled_types(function);
    types.is_some_and(|types| types.iter().filter(|it| *it != "...").count() != own)
}

fn is_environment(of: &Type) -> bool {
    let target = of.target().filter(|_| of.is_pointer());
    let name = target.as_ref().unwrap_or(of).name();
    name.rsplit("::")
        .next()
        .is_some_and(|last| last.contains("_env#"))
}

/// Returns the reason why it is not known whether a function returns its result where the
/// convention says; `None` if it does.
pub(super) fn doubt_of_result(
    file: &SymbolFile,
    info: &Arc<DebugInfo>,
    die: DieRef,
    function: &Function,
    location: &EntryLocation,
) -> Option<EntryUnavailable> {
    let linkage_name = function.linkage_name.as_deref().unwrap_or("");
    let changed = described::changed_convention(info, die, linkage_name);
    if changed == Some(EntryUnavailable::ConventionChanged) {
        return changed;
    }
    if changed.is_some() {
        // A copy with other parameters, or a part of a function, may have lost its result; a
        // copy for constants has it.
        let suffix = names::split_clone(linkage_name).1.unwrap_or("");
        let is_cut =
            suffix.contains(".isra") || names::clone_kind(suffix) != names::CloneKind::Instance;
        return is_cut.then_some(EntryUnavailable::ResultRemoved);
    }
    let unit = info.unit(die.unit)?;
    let is_kept =
        !unit.by_llvm || unit.language != Language::Rust && function.binding != Binding::Local;
    let mut registers: SmallVec<[u16; 2]> = SmallVec::new();
    for piece in location {
        match piece.location {
            EntryPieceLocation::Register(number) => registers.push(number),
            _ => return None,
        }
    }
    if is_kept
        || registers.is_empty()
        || callers::is_result_used(file, function, &registers)
        || callers::is_address_taken(file, function)
        || !is_optimized(info, die.unit)
    {
        return None;
    }
    Some(EntryUnavailable::ResultUnused)
}

/// Returns whether an LLVM compiler may have changed how a function is called: whether it has
/// optimized it, and no other file calls it.
pub(super) fn may_be_changed(info: &Arc<DebugInfo>, die: DieRef, function: &Function) -> bool {
    let by_llvm = info.unit(die.unit).is_some_and(|unit| unit.by_llvm);
    by_llvm && function.binding == Binding::Local && is_optimized(info, die.unit)
}

/// Returns whether an argument in the caller's frame may have been left out: LLVM does not copy
/// what a function that it has optimized never reads.
pub(super) fn is_left_out(
    file: &SymbolFile,
    info: &Arc<DebugInfo>,
    die: DieRef,
    function: &Function,
    location: &EntryLocation,
) -> bool {
    let [piece] = location.as_slice() else {
        return false;
    };
    let EntryPieceLocation::Stack(start) = piece.location else {
        return false;
    };
    let end = start.saturating_add(i64::from(piece.size));
    info.unit(die.unit).is_some_and(|unit| unit.by_llvm)
        && is_optimized(info, die.unit)
        && !file.uses_frame(function, start..end)
}

/// Returns whether an LLVM compiler optimized a unit: unoptimized code keeps all variables in
/// memory.
pub(super) fn is_optimized(info: &Arc<DebugInfo>, number: u32) -> bool {
    let Some(unit) = info.unit(number) else {
        return false;
    };
    *unit.has_registers.get_or_init(|| {
        let root = DieRef {
            unit: number,
            offset: unit.unit.header.root_offset().0,
        };
        let mut found = false;
        info.walk(root, |_, at, entry| {
            let is_variable = matches!(
                entry.tag(),
                gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter
            );
            if !found && is_variable && entry.attr_value(gimli::DW_AT_location).is_some() {
                found = Location::of_die(info, at, None).names_register();
            }
            match found {
                true => Visit::Skip,
                false => Visit::Descend,
            }
        });
        found
    })
}
