//! Reads the result of a call.

use super::PlannedCall;
use crate::program::Program;
use juror_debuggee::{DebuggeeError, ThreadId};
use juror_symbols::EntryPieceLocation;
use juror_values::typed::{Typed, VALUE_SIZE_MAX};

/// Reads the result of a call from a thread that has just returned from it. `room` is the address
/// of a result in memory. The result is copied, since its stack memory is freed.
pub fn read_result(
    program: &Program,
    thread: ThreadId,
    planned: &PlannedCall,
    room: Option<u64>,
) -> Result<Typed, DebuggeeError> {
    let result = &planned.outgoing.result;
    let of = result.r#type.clone();
    let size = of.size().unwrap_or(0).min(VALUE_SIZE_MAX);
    let registers = program.debuggee.registers(thread)?;
    let mut bytes = vec![0; size as usize];
    let mut in_memory = None;
    if let Some(EntryPieceLocation::Unavailable(why)) =
        result.location.first().map(|piece| &piece.location)
    {
        return Ok(Typed::missing(of, *why));
    }
    for piece in &result.location {
        let source: Vec<u8> = match piece.location {
            EntryPieceLocation::PointedByRegister(number) => {
                let address = room.or_else(|| registers.by_dwarf_number(number));
                in_memory = address;
                program
                    .debuggee
                    .read(address.unwrap_or(0), &mut bytes)
                    .map(|()| Vec::new())?
            }
            EntryPieceLocation::Register(number) => match registers.by_dwarf_number(number) {
                Some(word) => word.to_le_bytes().to_vec(),
                None => program
                    .debuggee
                    .vector_registers(thread)?
                    .by_dwarf_number(number)
                    .map_or_else(Vec::new, |wide| wide.to_vec()),
            },
            _ => Vec::new(),
        };
        let start = piece.offset as usize;
        let count = source.len().min(piece.size as usize);
        if let (Some(room_left), Some(part)) = (bytes.get_mut(start..), source.get(..count)) {
            let count = count.min(room_left.len());
            room_left[..count].copy_from_slice(&part[..count]);
        }
    }
    Ok(match in_memory {
        // The result keeps its address: a string or list may point into itself.
        Some(address) => Typed::snapshot_at(of, address, bytes),
        None => Typed::of_bytes(of, bytes),
    })
}
