//! Types that a function declares.
//!
//! gcc describes the types of C in their blocks. The types of a C++ function, and those of clang,
//! are described beside all blocks, so the block that has one is not known.

use crate::SymbolFile;
use crate::dwarf::{DebugInfo, DieRef, Language, Visit};
use crate::inline::inlined_chain;
use crate::locals::{has_blocks, homes_at, is_declared_behind, nameless_functions};
use crate::outer_functions::outer_functions;
use crate::types::{Type, split_tag};
use std::sync::Arc;

/// A type that the function around an address declares.
#[derive(Debug, Clone)]
pub enum LocalType {
    /// The name means this type there.
    Found(Type),
    /// The name means this type in some block of the function.
    InSomeBlock(Type),
    /// Several blocks have a type of this name.
    Several,
}

impl SymbolFile {
    /// Returns the type that a name, with or without the keyword before it, means in the function
    /// at a file address, in the inlined call with `inline_depth` others in it. `None` if it
    /// declares none up to the line of the address.
    pub fn local_type(
        &self,
        address: u64,
        inline_depth: usize,
        written: &str,
    ) -> Option<LocalType> {
        let info = self.inner.debug_info()?;
        let function = info.function_at(address)?.die;
        let (homes, line) = self.homes_of_call(info, function, address, inline_depth);
        let mut homes = homes.into_iter().rev().peekable();
        while let Some(home) = homes.next() {
            let mut found = declared(info, home, written, line);
            let is_block = homes.peek().is_some();
            match (found.pop(), found.is_empty()) {
                (None, _) => {}
                (Some(only), true) if is_block || is_exact(info, home) => {
                    return Some(LocalType::Found(only));
                }
                (Some(only), true) => return Some(LocalType::InSomeBlock(only)),
                (Some(_), false) => return Some(LocalType::Several),
            }
        }
        // A lambda knows the types of the blocks around it; clang describes some in functions
        // without a name.
        let outer = outer_functions(info, address, inline_depth);
        let outermost = outer.last().copied().unwrap_or_else(|| {
            let chain = inlined_chain(info, address);
            let call = chain.len().checked_sub(inline_depth + 1);
            call.and_then(|at| chain.get(at))
                .map_or(function, |it| it.0)
        });
        let groups = outer
            .into_iter()
            .map(|it| of_all_blocks(info, it, written, line));
        let nameless = nameless_functions(info, function)
            .into_iter()
            .flat_map(|it| {
                let mut found = of_all_blocks(info, it, written, line);
                found.retain(|it| {
                    it.die()
                        .is_some_and(|(_, at)| is_declared_behind(info, at, outermost))
                });
                found
            });
        for mut found in groups.chain([nameless.collect()]) {
            match (found.pop(), found.is_empty()) {
                (None, _) => {}
                (Some(only), true) => return Some(LocalType::InSomeBlock(only)),
                (Some(_), false) => return Some(LocalType::Several),
            }
        }
        None
    }

    /// Returns the function or inlined copy of a call, with the blocks in it that contain an
    /// address, outermost first; and the line of the call there.
    pub(crate) fn homes_of_call(
        &self,
        info: &DebugInfo,
        function: DieRef,
        address: u64,
        inline_depth: usize,
    ) -> (Vec<DieRef>, Option<u32>) {
        let mut homes = homes_at(info, function, address);
        let chain = inlined_chain(info, address);
        // The innermost call is the last one.
        let call = |depth: usize| Some(chain.get(chain.len().checked_sub(depth)?)?.0);
        let place = |copy: DieRef| homes.iter().position(|home| *home == copy);
        let start = call(inline_depth + 1).and_then(place).unwrap_or(0);
        let inner = call(inline_depth);
        let end = inner.and_then(place).unwrap_or(homes.len());
        homes.truncate(end);
        let line = match inner {
            Some(copy) => self.call_site(info, copy).1,
            None => self.line_at(address).map(|line| line.line),
        };
        (homes.split_off(start.min(end)), line)
    }
}

/// Returns whether a function's own types are known not to be those of its blocks.
fn is_exact(info: &DebugInfo, function: DieRef) -> bool {
    let unit = info.unit(function.unit);
    if unit.is_some_and(|unit| unit.language == Language::C && !unit.by_llvm) {
        return true;
    }
    !has_blocks(info, function)
}

/// Returns the types of this name that a block or function declares up to a line.
fn declared(info: &Arc<DebugInfo>, home: DieRef, written: &str, line: Option<u32>) -> Vec<Type> {
    let (wanted, name) = split_tag(written);
    let entry = info.die(home);
    let origin = entry.and_then(|entry| {
        let origin = entry.attr_value(gimli::DW_AT_abstract_origin);
        info.reference(home.unit, origin)
    });
    let mut found = Vec::new();
    for home in origin.into_iter().chain([home]) {
        info.walk(home, |depth, die, entry| {
            if depth == 0 {
                return Visit::Descend;
            }
            let tag = entry.tag();
            let is_meant = match wanted {
                Some(wanted) => wanted.accepts(tag),
                None => is_type(tag),
            };
            if is_meant
                && info
                    .text(die.unit, entry.attr_value(gimli::DW_AT_name))
                    .as_deref()
                    == Some(name)
                && !is_behind(entry, line)
            {
                found.push(Type::from_die(info.clone(), die));
            }
            Visit::Skip
        });
    }
    found
}

/// Returns the types of this name that a function and its blocks declare up to a line.
fn of_all_blocks(
    info: &Arc<DebugInfo>,
    function: DieRef,
    written: &str,
    line: Option<u32>,
) -> Vec<Type> {
    let mut found = declared(info, function, written, line);
    info.walk(function, |depth, die, entry| match entry.tag() {
        _ if depth == 0 => Visit::Descend,
        gimli::DW_TAG_lexical_block => {
            found.extend(declared(info, die, written, line));
            Visit::Descend
        }
        _ => Visit::Skip,
    });
    found
}

fn is_behind(entry: &crate::dwarf::Die, line: Option<u32>) -> bool {
    let declared = entry.attr_value(gimli::DW_AT_decl_line);
    let declared = declared.and_then(|it| it.udata_value());
    line.is_some_and(|line| declared.is_some_and(|it| it > u64::from(line)))
}

fn is_type(tag: gimli::DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_structure_type
            | gimli::DW_TAG_class_type
            | gimli::DW_TAG_union_type
            | gimli::DW_TAG_enumeration_type
            | gimli::DW_TAG_typedef
    )
}
