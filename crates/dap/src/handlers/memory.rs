//! Memory of the program.

use super::{Answer, address, body, parse};
use crate::adapter::{Adapter, queries};
use crate::protocol::arguments::{ReadMemory, WriteMemory};
use crate::protocol::message::Failure;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use juror_view::driver::Driver;
use serde_json::{Value, json};

/// The limit of bytes that are read at once.
const READ_MAX: i64 = 16 << 20;

/// `readMemory`
pub(super) fn read(_: &mut Adapter, session: &mut dyn Driver, arguments: Value) -> Answer {
    let given: ReadMemory = parse(arguments)?;
    let at = address(&given.memory_reference, given.offset)?;
    let count = usize::try_from(given.count.clamp(0, READ_MAX)).unwrap_or(0);
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
    if adapter.client.supports_memory_event == Some(true) {
        let body = json!({
            "memoryReference": given.memory_reference,
            "offset": given.offset.unwrap_or(0),
            "count": part.len(),
        });
        adapter.event("memory", body);
    }
    adapter.invalidate(&["stacks", "variables"]);
    body(json!({ "bytesWritten": part.len() }))
}
