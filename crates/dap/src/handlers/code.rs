//! Sources, modules and instructions.

use super::breakpoints::path_of;
use super::{Answer, address, body, parse};
use crate::adapter::{Adapter, queries};
use crate::protocol::arguments::{Disassemble, GetSource, Modules};
use crate::protocol::bodies::{Instruction, Module, Source};
use juror_view::driver::Driver;
use juror_view::{AssemblyLine, ModuleView};
use serde_json::{Value, json};

/// The length of the longest instruction, in bytes.
const LENGTH_MAX: u64 = 15;

/// The limit of instructions of one answer.
const COUNT_MAX: i64 = 10_000;

/// `source`
pub(super) fn source(_: &mut Adapter, session: &mut dyn Driver, arguments: Value) -> Answer {
    let given: GetSource = parse(arguments)?;
    let path = path_of(given.source.and_then(|source| source.path))?;
    let text = queries(session)?.source_text(&path)?;
    body(json!({ "content": text }))
}

/// `loadedSources`
pub(super) fn loaded_sources(_: &mut Adapter, session: &mut dyn Driver, _: Value) -> Answer {
    let paths = queries(session)?.source_paths()?;
    let sources = paths.into_iter();
    let sources = sources.map(|it| Source::of(it.present.as_deref().unwrap_or(&it.compiled)));
    body(json!({ "sources": sources.collect::<Vec<_>>() }))
}

/// `modules`
pub(super) fn modules(_: &mut Adapter, session: &mut dyn Driver, arguments: Value) -> Answer {
    let given: Modules = parse(arguments)?;
    let views = queries(session)?.loaded_modules()?;
    let total = views.len();
    let first = usize::try_from(given.start_module.unwrap_or(0)).unwrap_or(0);
    let count = usize::try_from(given.module_count.unwrap_or(0)).unwrap_or(0);
    let count = if count == 0 { total } else { count };
    let page = views.into_iter().skip(first).take(count).map(module);
    body(json!({ "modules": page.collect::<Vec<_>>(), "totalModules": total }))
}

fn module(view: ModuleView) -> Module {
    Module {
        name: Source::of(&view.path).name,
        symbol_status: if view.has_debug_info {
            "debug information"
        } else {
            "symbols only"
        },
        address_range: format!("{:#x}", view.load_bias),
        id: view.path.clone(),
        path: view.path,
    }
}

/// `disassemble`
pub(super) fn disassemble(
    adapter: &mut Adapter,
    session: &mut dyn Driver,
    arguments: Value,
) -> Answer {
    let given: Disassemble = parse(arguments)?;
    let start = address(&given.memory_reference, given.offset)?;
    let skip = given.instruction_offset.unwrap_or(0);
    let count = given.instruction_count.clamp(0, COUNT_MAX);
    let before = (-skip).clamp(0, COUNT_MAX);
    let mut lines = before_address(session, start, before);
    // Exactly so many are promised: what is missing is invalid.
    let missing = usize::try_from(before)
        .unwrap_or(0)
        .saturating_sub(lines.len());
    let padding = lines.first().map_or(start, |first| first.address);
    let mut instructions: Vec<Instruction> = (1..=missing as u64)
        .rev()
        .map(|distance| invalid(padding.wrapping_sub(distance)))
        .collect();
    let after = skip.max(0) + (count - before).max(0);
    lines.extend(from_address(session, start, after));
    instructions.extend(lines.into_iter().map(|line| instruction(adapter, line)));
    let first = usize::try_from(skip.max(0)).unwrap_or(0);
    let count = usize::try_from(count).unwrap_or(0);
    let mut instructions: Vec<_> = instructions.into_iter().skip(first).take(count).collect();
    let mut end = match instructions.last() {
        Some(last) => address(&last.address, Some(1))?,
        None => start,
    };
    while instructions.len() < count {
        instructions.push(invalid(end));
        end = end.wrapping_add(1);
    }
    body(json!({ "instructions": instructions }))
}

/// Returns so many instructions from an address on, if there are so many.
fn from_address(session: &mut dyn Driver, start: u64, count: i64) -> Vec<AssemblyLine> {
    let count = u64::try_from(count).unwrap_or(0);
    if count == 0 {
        return Vec::new();
    }
    let mut lines = range(session, start, count * LENGTH_MAX);
    lines.truncate(usize::try_from(count).unwrap_or(usize::MAX));
    lines
}

/// Returns so many instructions before an address: those of the function before it, or where
/// decoding leads to the address.
fn before_address(session: &mut dyn Driver, end: u64, count: i64) -> Vec<AssemblyLine> {
    let count = usize::try_from(count).unwrap_or(0);
    if count == 0 {
        return Vec::new();
    }
    let mut starts = Vec::new();
    let function = session.queries().and_then(|it| it.function_start(end));
    starts.extend(function.filter(|&start| start != end));
    let far = count as u64 * LENGTH_MAX;
    starts.extend((0..LENGTH_MAX).map(|more| end.wrapping_sub(far + more)));
    let mut best = Vec::new();
    for start in starts {
        let mut lines = range(session, start, end.wrapping_sub(start));
        let leads_here = lines
            .last()
            .is_some_and(|last| last.address.wrapping_add(last.bytes.len() as u64 / 2) == end);
        if leads_here && lines.len() > best.len() {
            best = lines.split_off(lines.len().saturating_sub(count));
        }
        if best.len() >= count {
            break;
        }
    }
    best
}

fn range(session: &mut dyn Driver, start: u64, size: u64) -> Vec<AssemblyLine> {
    let range = start..start.saturating_add(size);
    let found = session.queries().map(|it| it.instructions(range));
    found.and_then(Result::ok).unwrap_or_default()
}

fn instruction(adapter: &Adapter, line: AssemblyLine) -> Instruction {
    let is_first = line.name.as_deref().is_some_and(|name| !name.contains('+'));
    let pairs = line.bytes.as_bytes().chunks(2);
    let pairs: Vec<_> = pairs.map(String::from_utf8_lossy).collect();
    let source = line.source;
    Instruction {
        address: format!("{:#x}", line.address),
        instruction_bytes: (!pairs.is_empty()).then(|| pairs.join(" ")),
        instruction: line.text,
        symbol: line.name.filter(|_| is_first),
        location: source.as_ref().map(|it| Source::of(&it.file)),
        line: source.map(|it| adapter.line_out(it.line)),
        presentation_hint: None,
    }
}

fn invalid(at: u64) -> Instruction {
    Instruction {
        address: format!("{at:#x}"),
        instruction: "??".to_owned(),
        presentation_hint: Some("invalid"),
        ..Instruction::default()
    }
}
