//! What a function expects of a call that the debugger makes, where that may not be what the
//! convention says: an LLVM compiler removes arguments of functions that no other file calls,
//! passes what they point to, and puts wide integers elsewhere.
//!
//! **Invariant:** each argument is where the function reads it, or has no location, with the
//! reason.

use super::{EntryLocation, EntryPieceLocation, EntryUnavailable, OutgoingCall, certainty};
use super::{SymbolFile, unavailable};
use crate::Function;
use crate::dwarf::{DebugInfo, DieRef};
use juror_arch::abi::{INTEGER_ARGUMENTS, VECTOR_ARGUMENT_COUNT};
use juror_arch::dwarf;
use std::sync::Arc;

/// Where a byte of an argument is.
#[derive(PartialEq, Eq)]
enum BytePlace {
    /// A byte of a register.
    Register(u16, u32),
    /// At an offset from the canonical frame address.
    Stack(i64),
    /// In memory, at a distance from the address in a register.
    PointedByRegister(u16, u32),
    /// The same, from the address at an offset from the canonical frame address.
    PointedByStack(i64, u32),
}

/// Moves the arguments of a planned call to where the function expects them.
pub(super) fn adapt(
    file: &SymbolFile,
    info: &Arc<DebugInfo>,
    die: DieRef,
    function: &Function,
    call: &mut OutgoingCall,
) {
    if !info.unit(die.unit).is_some_and(|unit| unit.by_llvm) {
        return;
    }
    let expected = file.entry_value_plans(function);
    let mut may_be_cut = None;
    let mut moved: Vec<usize> = Vec::new();
    for (at, wanted) in expected.iter().enumerate() {
        let Some(planned) = call.arguments.get_mut(at) else {
            break;
        };
        let is_described = wanted.location.iter().all(|it| is_place(&it.location));
        if !agree(planned, &wanted.location) {
            planned.clone_from(&wanted.location);
            moved.push(at);
        } else if !is_described
            && *may_be_cut.get_or_insert_with(|| certainty::may_be_cut(file, info, die, function))
        {
            planned.clone_from(&wanted.location);
        }
    }
    if moved.is_empty() {
        return;
    }
    let is_variadic = call.arguments.len() > expected.len();
    let is_certain = |at: &usize| {
        let places = call.arguments.get(*at).into_iter().flatten();
        let mut places = places.map(|it| &it.location);
        places.all(|it| {
            matches!(
                it,
                EntryPieceLocation::Register(_) | EntryPieceLocation::Stack(_)
            )
        })
    };
    if is_variadic || !moved.iter().all(is_certain) || !fills_registers(call) || overlap(call) {
        for at in moved {
            let size = expected.get(at).and_then(|it| it.r#type.size());
            if let Some(planned) = call.arguments.get_mut(at) {
                *planned = unavailable(EntryUnavailable::ConventionChanged, size.unwrap_or(0));
            }
        }
        return;
    }
    let ends = call
        .arguments
        .iter()
        .flatten()
        .map(|piece| match piece.location {
            EntryPieceLocation::Stack(offset) => offset.saturating_add(i64::from(piece.size)),
            _ => 0,
        });
    let end = u64::try_from(ends.max().unwrap_or(0)).unwrap_or(0);
    call.stack_size = call.stack_size.max(end.next_multiple_of(8));
}

/// Returns whether a piece is somewhere at the entry.
fn is_place(location: &EntryPieceLocation) -> bool {
    !matches!(
        location,
        EntryPieceLocation::Constant(_) | EntryPieceLocation::Unavailable(_)
    )
}

/// Returns whether two locations put the bytes of an argument into the same places, as far as
/// the second one tells.
fn agree(planned: &EntryLocation, wanted: &EntryLocation) -> bool {
    let ends = wanted.iter().map(|it| it.offset.saturating_add(it.size));
    // Larger ones are in one piece.
    let end = ends.max().unwrap_or(0).min(64);
    (0..end).all(|byte| {
        let wanted = place_of(wanted, byte);
        wanted.is_none() || wanted == place_of(planned, byte)
    })
}

fn place_of(location: &EntryLocation, byte: u32) -> Option<BytePlace> {
    let mut pieces = location.iter();
    let piece = pieces.find(|it| (it.offset..it.offset.saturating_add(it.size)).contains(&byte))?;
    let at = byte - piece.offset;
    Some(match piece.location {
        EntryPieceLocation::Register(register) => BytePlace::Register(register, at),
        EntryPieceLocation::RegisterPart {
            register,
            shift_bits,
        } => BytePlace::Register(register, at + u32::from(shift_bits) / 8),
        EntryPieceLocation::Stack(offset) => BytePlace::Stack(offset.checked_add(i64::from(at))?),
        EntryPieceLocation::PointedByRegister(register) => {
            BytePlace::PointedByRegister(register, at)
        }
        EntryPieceLocation::PointedByStack(offset) => BytePlace::PointedByStack(offset, at),
        EntryPieceLocation::Constant(_) | EntryPieceLocation::Unavailable(_) => return None,
    })
}

/// Returns whether the arguments are in the first registers for arguments, without a gap: one
/// in between has an argument that is no parameter.
fn fills_registers(call: &OutgoingCall) -> bool {
    let mut used: Vec<u16> = call.result_pointer.into_iter().collect();
    for piece in call.arguments.iter().flatten() {
        match piece.location {
            EntryPieceLocation::Register(register)
            | EntryPieceLocation::RegisterPart { register, .. }
            | EntryPieceLocation::PointedByRegister(register) => used.push(register),
            _ => {}
        }
    }
    let integers = INTEGER_ARGUMENTS.iter().map(|it| used.contains(it));
    let vectors = (0..VECTOR_ARGUMENT_COUNT).map(|index| {
        let mut used = used.iter();
        used.any(|it| dwarf::vector_index(*it) == Some(index))
    });
    let is_prefix = |used: Vec<bool>| used.is_sorted_by(|one, next| one >= next);
    is_prefix(integers.collect()) && is_prefix(vectors.collect())
}

/// Returns whether two arguments have a place of the stack in common.
fn overlap(call: &OutgoingCall) -> bool {
    let pieces = call.arguments.iter().flatten();
    let places = pieces.filter_map(|piece| match piece.location {
        EntryPieceLocation::Stack(start) => {
            Some((start, start.saturating_add(i64::from(piece.size))))
        }
        EntryPieceLocation::PointedByStack(start) => Some((start, start.saturating_add(8))),
        _ => None,
    });
    let mut places: Vec<(i64, i64)> = places.collect();
    places.sort_unstable();
    let mut neighbours = places.windows(2);
    neighbours.any(|pair| matches!(pair, [(_, end), (start, _)] if start < end))
}
