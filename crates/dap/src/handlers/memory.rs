//! Memory of the program.

use super::{Answer, address, body, parse};
use crate::adapter::{Adapter, queries};
use crate::protocol::arguments::{ReadMemory, WriteMemory};
use crate::protocol::message::Failure;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use juror_view::driver::Driver;
use serde_json::{Value, json};
use std::ops::Range;

/// The limit of bytes that are read at once.
const READ_MAX: i64 = 16 << 20;

/// Memory that the client has asked for by a reference.
#[derive(Debug)]
pub(crate) struct ShownMemory {
    /// The reference.
    reference: String,
    /// Its address.
    base: u64,
    /// The addresses that were asked for.
    range: Range<u64>,
}

/// `readMemory`
pub(super) fn read(adapter: &mut Adapter, session: &mut dyn Driver, arguments: Value) -> Answer {
    let given: ReadMemory = parse(arguments)?;
    let at = address(&given.memory_reference, given.offset)?;
    let count = usize::try_from(given.count.clamp(0, READ_MAX)).unwrap_or(0);
    note_shown(adapter, &given.memory_reference, given.offset, count);
    let bytes = queries(session)?.read_memory(at, count)?;
    let mut answer = json!({ "address": format!("{at:#x}") });
    if bytes.len() < count {
        answer["unreadableBytes"] = (count - bytes.len()).into();
    }
    if !bytes.is_empty() {
        answer["data"] = STANDARD.encode(&bytes).into();
    }
    body(answer)
}

/// `writeMemory`
pub(super) fn write(adapter: &mut Adapter, session: &mut dyn Driver, arguments: Value) -> Answer {
    let given: WriteMemory = parse(arguments)?;
    let at = address(&given.memory_reference, given.offset)?;
    let bytes = STANDARD.decode(given.data.trim());
    let bytes = bytes.map_err(|error| Failure::quiet(format!("the data is no base64: {error}")))?;
    let questions = queries(session)?;
    let readable = questions.read_memory(at, bytes.len())?.len();
    let writable = match given.allow_partial {
        Some(true) => readable,
        _ => bytes.len(),
    };
    let part = bytes.get(..writable).unwrap_or(&bytes);
    questions.write_memory(at, part)?;
    note_shown(adapter, &given.memory_reference, given.offset, part.len());
    tell_written(adapter, session);
    adapter.invalidate(&["stacks", "variables"]);
    body(json!({ "bytesWritten": part.len() }))
}

/// The most references to memory of which changes are told.
const SHOWN_MAX: usize = 64;

/// Notes that the client shows a range of memory.
fn note_shown(adapter: &mut Adapter, reference: &str, offset: Option<i64>, count: usize) {
    let (Ok(base), Ok(begin)) = (address(reference, None), address(reference, offset)) else {
        return;
    };
    let range = begin..begin.saturating_add(count as u64);
    let shown = &mut adapter.shown_memory;
    match shown.iter_mut().find(|it| it.reference == reference) {
        Some(known) => {
            known.range.start = known.range.start.min(range.start);
            known.range.end = known.range.end.max(range.end);
        }
        None => {
            if shown.len() >= SHOWN_MAX {
                shown.remove(0);
            }
            shown.push(ShownMemory {
                reference: reference.to_owned(),
                base,
                range,
            });
        }
    }
}

/// Tells of the memory that the user has changed: by its address, and by the references that the
/// client has shown it by.
pub(crate) fn tell_written(adapter: &mut Adapter, session: &mut dyn Driver) {
    let written = session.queries().map(|it| it.take_written());
    let has_run = std::mem::take(&mut adapter.has_run);
    if adapter.client.supports_memory_event != Some(true) {
        return;
    }
    for shown in adapter.shown_memory.iter().filter(|_| has_run) {
        let offset = shown.range.start.wrapping_sub(shown.base).cast_signed();
        let count = shown.range.end - shown.range.start;
        tell(adapter, &shown.reference, offset, count);
    }
    for range in written.unwrap_or_default() {
        let own = format!("{:#x}", range.start);
        let mut is_told = false;
        for shown in &adapter.shown_memory {
            let start = range.start.max(shown.range.start);
            let end = range.end.min(shown.range.end);
            if start < end {
                let offset = start.wrapping_sub(shown.base).cast_signed();
                tell(adapter, &shown.reference, offset, end - start);
                is_told |= shown.reference == own;
            }
        }
        if !is_told {
            tell(adapter, &own, 0, range.end - range.start);
        }
    }
}

fn tell(adapter: &Adapter, reference: &str, offset: i64, count: u64) {
    let body = json!({ "memoryReference": reference, "offset": offset, "count": count });
    adapter.event("memory", body);
}
