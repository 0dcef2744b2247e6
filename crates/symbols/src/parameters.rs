//! The parameters of functions and inlined calls, in the order of their declarations.

use crate::dwarf::{DebugInfo, Die, DieRef};
use crate::variable::{Variable, variable};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Returns the parameters of a function in declaration order. Parameters that this copy of
/// the function lost are included, with the location of the abstract origin.
pub(crate) fn parameters(info: &Arc<DebugInfo>, function: DieRef) -> Vec<Variable> {
    let own = info.parameters(function);
    let declared: Vec<_> = info
        .die(function)
        .and_then(|entry| {
            info.reference(
                function.unit,
                entry.attr_value(gimli::DW_AT_abstract_origin),
            )
        })
        .map(|origin| info.parameters(origin))
        .unwrap_or_default();
    // gcc lists the parameters of a copy in another order.
    let mut listed: Vec<(DieRef, Die)> = Vec::new();
    for (die, entry) in declared {
        let mut kept = own.iter();
        let kept = kept.find(|(at, own)| info.origin(at.unit, own) == Some(die));
        if kept.is_none() && is_of_some_variants(info, die) {
            continue;
        }
        listed.push(kept.cloned().unwrap_or((die, entry)));
    }
    for one in own {
        if !listed.iter().any(|(die, _)| *die == one.0) {
            listed.push(one);
        }
    }
    named(info, function, Some(function), &listed)
}

/// Returns whether a parameter is one that only some variants of a constructor or destructor
/// have (g++): a variant that does not list it is not passed it.
fn is_of_some_variants(info: &DebugInfo, parameter: DieRef) -> bool {
    let name = info.inherited_text(parameter, gimli::DW_AT_name);
    matches!(name.as_deref(), Some("__in_chrg" | "__vtt_parm"))
}

/// Returns the variables of parameters. Those of a parameter pack have a number behind their
/// name, `args#0`: gcc gives them no name, and clang the same name.
/// `frame` is the function whose frame has them.
fn named(
    info: &Arc<DebugInfo>,
    function: DieRef,
    frame: Option<DieRef>,
    parameters: &[(DieRef, Die)],
) -> Vec<Variable> {
    let make = |(die, entry): &(DieRef, Die)| variable(info, *die, entry, frame);
    let mut made: Vec<Variable> = parameters.iter().filter_map(make).collect();
    let names: Vec<Arc<str>> = made.iter().map(|it| it.name.clone()).collect();
    let shares = |name: &str| names.iter().filter(|it| ***it == *name).count() > 1;
    let has_pack = names.iter().any(|name| name.is_empty()) && has_pack(info, function);
    let mut numbers: FxHashMap<&str, usize> = FxHashMap::default();
    for (variable, name) in made.iter_mut().zip(&names) {
        let stem = match name.is_empty() {
            true if has_pack => "args",
            false if shares(name) => name,
            _ => continue,
        };
        let number = numbers.entry(stem).or_default();
        variable.name = format!("{stem}#{number}").into();
        *number += 1;
    }
    made
}

fn has_pack(info: &DebugInfo, function: DieRef) -> bool {
    let is_pack = |die: DieRef| {
        let mut children = info.children(die).into_iter();
        children.any(|(_, entry)| entry.tag() == gimli::DW_TAG_GNU_formal_parameter_pack)
    };
    let entry = info.die(function);
    let origin = entry.and_then(|entry| info.origin(function.unit, &entry));
    is_pack(function) || origin.is_some_and(is_pack)
}

/// Returns the parameters of an inlined call in the order of the function's declaration.
pub(crate) fn inlined_parameters(info: &Arc<DebugInfo>, call: DieRef) -> Vec<Variable> {
    named(info, call, None, &listed_of_call(info, call))
}

/// Returns the names of the parameters of an inlined call in order, and what describes them.
pub(crate) fn names(info: &Arc<DebugInfo>, call: DieRef) -> Vec<(DieRef, Arc<str>)> {
    let listed = listed_of_call(info, call);
    let names = named(info, call, None, &listed).into_iter();
    let pairs = listed.iter().zip(names);
    pairs
        .map(|((die, _), variable)| (*die, variable.name))
        .collect()
}

/// gcc lists the parameters of a call in another order.
fn listed_of_call(info: &Arc<DebugInfo>, call: DieRef) -> Vec<(DieRef, Die)> {
    let own = info.parameters(call);
    let entry = info.die(call);
    let Some(function) = entry.and_then(|entry| info.origin(call.unit, &entry)) else {
        return Vec::new();
    };
    let declared = info.parameters(function).into_iter();
    let kept = declared.map(|(die, entry)| {
        let is_own = |(at, own): &&(DieRef, Die)| info.origin(at.unit, own) == Some(die);
        own.iter().find(is_own).cloned().unwrap_or((die, entry))
    });
    kept.collect()
}
