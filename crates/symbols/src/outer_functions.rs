//! The functions around a lambda, whose names its code knows.

use crate::dwarf::{DebugInfo, DieRef, REFERENCE_DEPTH_MAX, Visit};
use crate::inline::{inlined_chain, is_removed};
use crate::location::FixedLocation;
use crate::variable::{Variable, variable};
use crate::{SymbolFile, names};
use std::sync::Arc;

impl SymbolFile {
    /// Returns the qualified name of the function around the outermost of the lambdas that contain
    /// a file address, in the inlined call with `inline_depth` others in it. `None` if the call is
    /// not one of a lambda in a function.
    pub fn function_around_lambda(&self, address: u64, inline_depth: usize) -> Option<String> {
        let info = self.inner.debug_info()?;
        let outer = outer_functions(info, address, inline_depth);
        let named = outer.last().and_then(|it| info.entity_name(*it));
        // clang describes some lambdas in a function without a name.
        let mangled = || {
            let call = call_at(info, address, inline_depth).filter(|it| is_lambda(info, *it))?;
            names::demangle(&info.inherited_text(call, gimli::DW_AT_linkage_name)?)
        };
        named.or_else(mangled)
    }

    /// Returns the variable of this name that a function around the lambda declares before the
    /// code at a file address, in the inlined call with `inline_depth` others in it. It may be that
    /// of a block that does not contain the lambda; it has a value if that does not depend on the
    /// frame, and if there is no other.
    pub fn variable_around_lambda(
        &self,
        address: u64,
        inline_depth: usize,
        name: &str,
    ) -> Option<Variable> {
        let info = self.inner.debug_info()?;
        let outer = outer_functions(info, address, inline_depth);
        let function = info.function_at(address)?.die;
        if outer.is_empty() {
            return None;
        }
        let (_, line) = self.homes_of_call(info, function, address, inline_depth);
        let mut named = outer
            .iter()
            .map(|it| variables_named(info, *it, name, line));
        let mut found = named.find(|found| !found.is_empty())?.into_iter();
        let first = found.next()?;
        let place = first.location.fixed_at(address);
        let is_fixed = matches!(
            place,
            Some(FixedLocation::AtAddress(_) | FixedLocation::Value(_))
        );
        let first = Variable {
            is_of_some_block: true,
            ..first
        };
        let is_decided = is_fixed && found.next().is_none();
        Some(if is_decided { first } else { first.undecided() })
    }
}

/// Returns the variables of this name that a function and its blocks declare up to a line.
fn variables_named(
    info: &Arc<DebugInfo>,
    function: DieRef,
    name: &str,
    line: Option<u32>,
) -> Vec<Variable> {
    let mut found = Vec::new();
    info.walk(function, |depth, die, entry| match entry.tag() {
        _ if depth == 0 => Visit::Descend,
        gimli::DW_TAG_lexical_block if is_removed(info, die, entry) => Visit::Skip,
        gimli::DW_TAG_lexical_block => Visit::Descend,
        gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
            let known = variable(info, die, entry, Some(function));
            found.extend(known.filter(|it| {
                let is_behind = it.line.zip(line).is_some_and(|(at, line)| at > line);
                &*it.name == name && !is_behind
            }));
            Visit::Skip
        }
        _ => Visit::Skip,
    });
    found
}

/// Returns the functions around the lambda whose code contains an address, innermost first. They
/// are none if it is no code of a lambda.
pub(crate) fn outer_functions(info: &DebugInfo, address: u64, inline_depth: usize) -> Vec<DieRef> {
    let mut found: Vec<DieRef> = Vec::new();
    let mut at = call_at(info, address, inline_depth);
    while let Some(function) = at.filter(|it| is_lambda(info, *it))
        && found.len() < REFERENCE_DEPTH_MAX
    {
        at = info.outer_function(function);
        found.extend(at);
    }
    found
}

/// Returns the function whose code is at an address, in the inlined call with `inline_depth` others
/// in it.
fn call_at(info: &DebugInfo, address: u64, inline_depth: usize) -> Option<DieRef> {
    let chain = inlined_chain(info, address);
    let call = chain.len().checked_sub(inline_depth + 1);
    match call.and_then(|at| chain.get(at)) {
        Some((copy, _)) => info.die(*copy).and_then(|it| info.origin(copy.unit, &it)),
        None => info.function_at(address).map(|it| it.die),
    }
}

/// Returns whether a function is the call operator of a class without a name.
fn is_lambda(info: &DebugInfo, function: DieRef) -> bool {
    let name = info.inherited_text(function, gimli::DW_AT_name);
    let full = info.entity_name(function);
    let outer = info
        .outer_function(function)
        .and_then(|it| info.entity_name(it));
    name.as_deref() == Some("operator()")
        && full.is_some_and(|full| match names::scope_and_name(&full) {
            Some((scope, _)) => outer.is_none_or(|outer| *outer == *scope),
            None => true,
        })
}
