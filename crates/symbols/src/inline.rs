//! Inlined calls: the frames that a debugger shows but the stack lacks.
//!
//! An inlined call is a `DW_TAG_inlined_subroutine`, called an inlined copy of the callee
//! here. Several nested copies may begin at one instruction; the functions here report all
//! of them, and the caller chooses.

use crate::SymbolFile;
use crate::call::returns_to;
use crate::dwarf::inlinings::Inlining;
use crate::dwarf::{DebugInfo, Die, DieRef, Visit};
use crate::function::signature;
pub use beginnings::{Beginning, InlinedCall, Order};
pub(crate) use call_lines::CallLine;
pub use doubt::Doubt;
pub use outlined::OutlinedPart;
pub(crate) use outlined::is_outlined_part;
use outlined::{KnownParts, Parts};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

mod beginnings;
mod call_lines;
mod code;
mod doubt;
mod entry_line;
mod holder;
mod outlined;
mod variants;

/// A call that was replaced by the callee's code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlinedCopy {
    /// The name of the callee.
    pub name: Arc<str>,
    /// The name of the function that contains the copy.
    pub caller: Arc<str>,
    /// The file address of the first instruction.
    pub entry: u64,
    /// The places in the callee's outlined part that are reached without the copy's first
    /// instruction, if any.
    pub outlined_part: Option<OutlinedPart>,
    /// The source file of the call.
    pub call_file: Option<PathBuf>,
    /// The line of the call.
    pub call_line: Option<u32>,
    /// Whether it is no call of its own: the body of a constructor or destructor in the
    /// variant that is called for a whole object.
    pub is_own_body: bool,
    pub(crate) die: DieRef,
    /// The DIE of the function that contains the copy.
    pub(crate) holder: DieRef,
}

/// The frame of an inlined call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlinedFrame {
    /// The qualified name of the inlined function.
    pub name: Arc<str>,
    /// The file address of the first instruction.
    pub entry: u64,
    /// The source file of the call, where the outer frame stands.
    pub call_file: Option<PathBuf>,
    /// The line of the call.
    pub call_line: Option<u32>,
    pub(crate) die: DieRef,
}

impl SymbolFile {
    /// Returns the inlined copies of a function.
    pub fn inlined_copies(&self, name: &str) -> Vec<InlinedCopy> {
        let Some(info) = self.inner.debug_info() else {
            return Vec::new();
        };
        let search = || {
            let asked = Asked::read(name);
            let mut known_parts = KnownParts::default();
            let mut found = Vec::new();
            for unit in info.units_inlining(asked.name) {
                self.add_copies_of_unit(info, unit, &asked, &mut known_parts, &mut found);
            }
            found
        };
        self.inner.found_copies.get_or_search(name, search)
    }

    /// Returns the abstract origins of the inlined copies of a function.
    pub(crate) fn inlined_origins(&self, info: &Arc<DebugInfo>, name: &str) -> Vec<DieRef> {
        let asked = Asked::read(name);
        let units = info.units_inlining(asked.name).into_iter();
        let mut origins: Vec<DieRef> = units
            .flat_map(|unit| asked.inlinings(info, unit))
            .map(|inlining| inlining.origin)
            .collect();
        origins.sort_unstable();
        origins.dedup();
        origins
    }

    /// Adds the copies contained in the functions of one unit.
    fn add_copies_of_unit(
        &self,
        info: &Arc<DebugInfo>,
        unit: u32,
        asked: &Asked<'_>,
        known_parts: &mut KnownParts,
        found: &mut Vec<InlinedCopy>,
    ) {
        let Some(facts) = info.facts(unit) else {
            return;
        };
        let inlinings = asked.inlinings(info, unit);
        let callers: FxHashSet<DieRef> = inlinings.flat_map(|it| it.callers.clone()).collect();
        let mut wanted: FxHashMap<DieRef, Option<Callee>> = FxHashMap::default();
        for caller in facts.function_dies().filter(|it| callers.contains(it)) {
            let mut copies: Vec<Copy> = Vec::new();
            let mut path = outlined::Path::new(info, caller);
            let mut around: Vec<isize> = Vec::new();
            info.walk(caller, |depth, die, entry| {
                match entry.tag() {
                    // A nested function has its own copies.
                    gimli::DW_TAG_subprogram if depth > 0 => return Visit::Skip,
                    gimli::DW_TAG_inlined_subroutine => {}
                    _ => return Visit::Descend,
                }
                around.retain(|outer| *outer < depth);
                let is_outermost = around.is_empty();
                around.push(depth);
                let Some(origin) = info.origin(unit, entry) else {
                    return Visit::Descend;
                };
                let begin = copy_entry(info, unit, entry);
                path.leave(depth);
                if let Some(outer) = path.goes_on(info, origin, entry) {
                    let outer = outer.and_then(|number| copies.get_mut(number));
                    if let Some((outer, begin)) = outer.zip(begin) {
                        outer.goes_on_at.push(begin);
                    }
                    return Visit::Descend;
                }
                let callee = wanted.entry(origin).or_insert_with(|| {
                    let callee = info.abstract_name(origin)?;
                    asked.is(info, origin, callee).then(|| Callee {
                        name: callee.into(),
                        parts: self.parts_split_off(info, origin, known_parts),
                    })
                });
                let is_wanted = callee.is_some() && begin.is_some();
                path.enter(depth, origin, is_wanted.then_some(copies.len()));
                if let Some((callee, entry)) = callee.as_ref().zip(begin) {
                    copies.push(Copy {
                        callee: callee.clone(),
                        die,
                        entry,
                        goes_on_at: Vec::new(),
                        origin,
                        is_outermost,
                    });
                }
                Visit::Descend
            });
            if copies.is_empty() {
                continue;
            }
            let holder = caller;
            let own_body = variants::own_body(self, info, holder, &copies);
            let number = facts.function_numbered(caller);
            let caller = number.and_then(|number| info.function_of_unit(unit, number));
            let caller: Arc<str> =
                caller.map_or_else(|| "".into(), |caller| caller.name.as_ref().into());
            for mut copy in copies {
                copy.entry = self.stop_address_of_copy(info, copy.die, copy.entry);
                let (call_file, call_line) = self.call_site(info, copy.die);
                found.push(InlinedCopy {
                    outlined_part: self.outlined_part(info, &copy),
                    is_own_body: own_body == Some(copy.die),
                    die: copy.die,
                    holder,
                    name: copy.callee.name,
                    caller: Arc::clone(&caller),
                    entry: copy.entry,
                    call_file,
                    call_line,
                });
            }
        }
    }

    /// Returns the first instruction of a copy. If the recorded entry is in code of another
    /// copy, returns the start of a range of the copy connected with it by straight-line
    /// code.
    fn first_of_copy(&self, info: &DebugInfo, copy: DieRef, entry: u64) -> u64 {
        let ranges = info
            .die(copy)
            .map(|die| info.code_ranges(copy.unit, &die))
            .unwrap_or_default();
        let code = ranges.iter().filter(|range| !range.is_empty());
        let mut starts: Vec<u64> = code.map(|range| range.start).collect();
        let is_there = ranges.iter().any(|range| range.contains(&entry));
        if is_there || starts.is_empty() {
            return entry;
        }
        let chain = inlined_chain(info, entry);
        if chain.iter().any(|(die, _)| *die == copy) {
            return entry;
        }
        starts.sort_unstable();
        let is_near = |start: &u64| self.always_reached(entry.min(*start), entry.max(*start));
        starts.into_iter().find(is_near).unwrap_or(entry)
    }

    /// Returns the address to stop at in a copy: its first instruction. If the enclosing
    /// function begins with the copy, the compiler may attribute the prologue to the copy;
    /// then the end of the prologue is returned, as for the function.
    fn stop_address_of_copy(&self, info: &DebugInfo, copy: DieRef, entry: u64) -> u64 {
        let entry = self.first_of_copy(info, copy, entry);
        let function = self.function_at(entry);
        let around = function.filter(|function| function.low_pc == entry);
        let body = around.map_or(entry, |function| self.prologue_end(&function));
        let copy_entry = info.die(copy).filter(|_| body != entry);
        if copy_entry.is_some_and(|die| holds(info, copy, &die, body)) {
            body
        } else {
            entry
        }
    }

    /// Returns the address at which to observe the call of a copy that begins with its
    /// enclosing function, because the first instruction belongs to the function's own
    /// call: the copy's next line, or else its second instruction, if every call passes it
    /// exactly once.
    fn address_after_entry(&self, info: &DebugInfo, copy: DieRef, entry: u64) -> Option<u64> {
        let ranges = info.code_ranges(copy.unit, &info.die(copy)?);
        let table = info.line_table(copy.unit)?;
        let (sequence, _) = table.find(entry)?;
        let is_inside = |at: u64| ranges.iter().any(|range| range.contains(&at));
        let mut behind = table.rows(sequence).iter();
        let row = behind.find(|row| row.address > entry && row.line != 0 && is_inside(row.address));
        let flow = outlined::Flow::of_function(self, &self.function_at(entry)?.ranges);
        let candidates = row.map(|row| row.address).into_iter();
        let mut candidates = candidates.chain(flow.after(entry).filter(|at| is_inside(*at)));
        candidates.find(|at| self.always_reached(entry, *at) && !flow.leads_back_to(*at))
    }

    /// Returns the inlined calls at an address, innermost first. The enclosing function is
    /// [`SymbolFile::function_at`].
    pub fn inlined_frames(&self, address: u64) -> Vec<InlinedFrame> {
        let Some(info) = self.inner.debug_info() else {
            return Vec::new();
        };
        let mut frames: Vec<InlinedFrame> = inlined_chain(info, address)
            .into_iter()
            .map(|(die, entry)| {
                let entry = if entry == address {
                    entry
                } else {
                    self.first_of_copy(info, die, entry)
                };
                let (call_file, call_line) = self.call_site(info, die);
                let name = info
                    .die(die)
                    .and_then(|die_entry| info.origin(die.unit, &die_entry))
                    .and_then(|origin| info.abstract_name(origin))
                    .map_or_else(|| "".into(), Arc::from);
                InlinedFrame {
                    name,
                    entry,
                    call_file,
                    call_line,
                    die,
                }
            })
            .collect();
        frames.reverse();
        frames
    }

    /// Returns the code ranges of an inlined call at an address; nesting 1 is the outermost
    /// call, inlined into the function itself.
    pub fn inlined_ranges(&self, address: u64, nesting: usize) -> Vec<Range<u64>> {
        let found = self.inner.debug_info().and_then(|info| {
            let (die, _) = *inlined_chain(info, address).get(nesting.checked_sub(1)?)?;
            Some(info.code_ranges(die.unit, &info.die(die)?))
        });
        found.unwrap_or_default()
    }
}

/// The function whose copies are searched.
#[derive(Debug, Clone)]
struct Callee {
    name: Arc<str>,
    parts: Arc<Parts>,
}

/// A copy that was found.
#[derive(Debug)]
struct Copy {
    callee: Callee,
    die: DieRef,
    entry: u64,
    /// The start addresses of the outlined part where it was inlined again.
    goes_on_at: Vec<u64>,
    /// The abstract instance of the callee.
    origin: DieRef,
    /// Whether no other copy contains it.
    is_outermost: bool,
}

/// The function name given by the user.
struct Asked<'a> {
    name: &'a str,
    /// The types of the parameters, if given.
    types: Option<Vec<&'a str>>,
}

impl<'a> Asked<'a> {
    fn read(name: &'a str) -> Asked<'a> {
        match signature::split(name) {
            Some((name, types)) => Asked {
                name,
                types: Some(types),
            },
            None => Asked { name, types: None },
        }
    }

    /// Iterates over the functions of this name that are inlined in a unit.
    fn inlinings<'i>(
        &self,
        info: &'i Arc<DebugInfo>,
        unit: u32,
    ) -> impl Iterator<Item = &'i Inlining> {
        let like = info.inlinings(unit).map(|known| known.like(self.name));
        let like = like.unwrap_or_default().iter();
        like.filter(|inlining| {
            let name = info.abstract_name(inlining.origin);
            name.is_some_and(|name| self.is(info, inlining.origin, name))
        })
    }

    fn is(&self, info: &Arc<DebugInfo>, function: DieRef, name: &str) -> bool {
        let takes = |types: &Vec<&str>| signature::entry_takes(info, function, types);
        info.is_abstract_named(function, name, self.name) && self.types.as_ref().is_none_or(takes)
    }
}

/// A block or an inlined copy at an address.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Around {
    pub die: DieRef,
    depth: isize,
    is_copy: bool,
    /// Whether its code contains the address.
    holds: bool,
}

impl Around {
    /// Returns whether it is an inlined copy.
    pub fn is_copy(&self) -> bool {
        self.is_copy
    }
}

/// Returns the blocks and inlined copies of a function at an address, outermost first.
///
/// A copy begins at its entry, even if the compiler moved its code elsewhere or left none:
/// the entry address of a copy is in the copy and in all copies around it. Of several
/// copies with this entry the innermost counts, and of those the last. But code recorded as
/// a copy's stays in that copy, and a return address belongs to the copy that made the
/// call.
pub(crate) fn around(info: &DebugInfo, function: DieRef, address: u64) -> Vec<Around> {
    let mut path: Vec<Around> = Vec::new();
    let mut held: Vec<Around> = Vec::new();
    let mut entered: Vec<Around> = Vec::new();
    let mut body = Default::default();
    let mut is_return = false;
    info.walk(function, |depth, die, entry| {
        if depth == 0 {
            return Visit::Descend;
        }
        while path.last().is_some_and(|outer| outer.depth >= depth) {
            path.pop();
        }
        let is_copy = match entry.tag() {
            gimli::DW_TAG_inlined_subroutine => true,
            gimli::DW_TAG_lexical_block => false,
            _ => {
                is_return |= returns_to(info, die, entry, address);
                return Visit::Skip;
            }
        };
        let is_inside = path.iter().all(|outer| outer.holds);
        let holds = is_inside
            && if is_copy {
                holds(info, die, entry, address)
            } else {
                covers(info, die, entry, address)
            };
        path.push(Around {
            die,
            depth,
            is_copy,
            holds,
        });
        if holds && is_copy && path.len() > held.len() {
            held.clone_from(&path);
        }
        let marked = || info.address(die.unit, entry.attr_value(gimli::DW_AT_entry_pc));
        if is_copy && copies(&path) >= copies(&entered) && marked() == Some(address) {
            entered.clone_from(&path);
            body = info.code_ranges(die.unit, entry);
        } else if !is_copy && is_inside_of(&path, &entered) {
            // The body of the copy is a block in it.
            if info.code_ranges(die.unit, entry) == body {
                entered.clone_from(&path);
            }
        }
        Visit::Descend
    });
    let begins = entered.iter().zip(&held).all(|(a, b)| a.die == b.die);
    if !is_return && begins && entered.len() >= held.len() {
        entered
    } else {
        held
    }
}

/// Returns the number of inlined calls in a path.
fn copies(path: &[Around]) -> usize {
    path.iter().filter(|node| node.is_copy).count()
}

/// Returns whether the last node of a path is a direct child of the copy at the end of
/// another path.
fn is_inside_of(path: &[Around], outer: &[Around]) -> bool {
    let before = path.split_last().and_then(|(_, before)| before.last());
    let around = outer.last().filter(|node| node.is_copy);
    before
        .zip(around)
        .is_some_and(|(before, around)| before.die == around.die)
}

/// Returns the inlined calls at an address and their entries, outermost first. An outlined
/// part that was inlined again does not count as a call.
pub(crate) fn inlined_chain(info: &DebugInfo, address: u64) -> Vec<(DieRef, u64)> {
    let Some(function) = info.function_at(address) else {
        return Vec::new();
    };
    let around = around(info, function.die, address).into_iter();
    let copies = around.filter(|node| node.is_copy);
    let mut outer = function.die;
    let calls = copies.filter_map(|node| {
        let copy = info.die(node.die)?;
        if outlined::is_outlined_part(info, outer, node.die, &copy) {
            return None;
        }
        outer = node.die;
        Some((node.die, copy_entry(info, node.die.unit, &copy)?))
    });
    calls.collect()
}

/// Returns the innermost block at an address with variables of its own, within the
/// innermost function or inlined copy.
pub(crate) fn innermost_block(info: &DebugInfo, address: u64) -> Option<DieRef> {
    let function = info.function_at(address)?;
    let mut blocks: Vec<DieRef> = Vec::new();
    info.walk(function.die, |depth, die, entry| {
        match entry.tag() {
            _ if depth == 0 => return Visit::Descend,
            gimli::DW_TAG_lexical_block if holds(info, die, entry, address) => blocks.push(die),
            gimli::DW_TAG_inlined_subroutine if holds(info, die, entry, address) => blocks.clear(),
            _ => return Visit::Skip,
        }
        Visit::Descend
    });
    blocks
        .into_iter()
        .rev()
        .find(|block| has_variables(info, *block))
}

fn has_variables(info: &DebugInfo, block: DieRef) -> bool {
    let mut found = false;
    info.walk(block, |depth, _, entry| {
        found |= depth == 1 && entry.tag() == gimli::DW_TAG_variable;
        match depth {
            0 => Visit::Descend,
            _ => Visit::Skip,
        }
    });
    found
}

/// Returns the first instruction of an inlined copy.
fn copy_entry(info: &DebugInfo, unit: u32, entry: &Die) -> Option<u64> {
    let marked = info.address(unit, entry.attr_value(gimli::DW_AT_entry_pc));
    let lowest = || {
        let ranges = info.code_ranges(unit, entry);
        ranges.iter().map(|range| range.start).min()
    };
    marked.filter(|pc| info.is_code(*pc)).or_else(lowest)
}

/// Returns whether a block contains an address. One without addresses has no code (DWARF 5,
/// section 2.17): gcc keeps the variables of a block that it has removed. Only in debug
/// information that no compiler made, such a block covers its whole parent.
pub(crate) fn covers(info: &DebugInfo, die: DieRef, entry: &Die, address: u64) -> bool {
    if has_addresses(entry) {
        holds(info, die, entry, address)
    } else {
        is_transparent(info, die, entry)
    }
}

/// Returns whether a block was left without code.
pub(crate) fn is_removed(info: &DebugInfo, die: DieRef, entry: &Die) -> bool {
    !has_addresses(entry) && !is_transparent(info, die, entry)
}

fn has_addresses(entry: &Die) -> bool {
    let mut attributes = [gimli::DW_AT_low_pc, gimli::DW_AT_ranges].iter();
    attributes.any(|name| entry.attr_value(*name).is_some())
}

/// Returns whether a block without addresses only groups its entries.
fn is_transparent(info: &DebugInfo, die: DieRef, entry: &Die) -> bool {
    let is_made = info.unit(die.unit).is_some_and(|unit| unit.names_producer);
    !is_made && entry.attr_value(gimli::DW_AT_abstract_origin).is_none()
}

/// Returns whether the code of an inlined call contains an address.
pub(crate) fn holds(info: &DebugInfo, die: DieRef, entry: &Die, address: u64) -> bool {
    let ranges = info.code_ranges(die.unit, entry);
    ranges.iter().any(|range| range.contains(&address))
}
