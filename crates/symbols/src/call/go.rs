//! The results of functions of Go, which the debug information describes as parameters.
//!
//! Source: the Go internal ABI specification (`abi-internal`) for amd64: the first result of a
//! scalar type is in rax or xmm0, if the compiler passes values in registers.

use super::{EntryLocation, EntryUnavailable, ReturnValue, unavailable};
use crate::Type;
use crate::call::{EntryPiece, EntryPieceLocation};
use crate::dwarf::{DebugInfo, DieRef, Language};
use crate::types::{Encoding, TypeKind, target};
use juror_arch::abi;
use std::sync::Arc;

/// Returns the result of a function of Go; `None` for another language.
pub(super) fn result(info: &Arc<DebugInfo>, function: DieRef, symbol: &str) -> Option<ReturnValue> {
    let unit = info.unit(function.unit)?;
    if unit.language != Language::Go {
        return None;
    }
    let parameters = info.parameters(function).into_iter();
    let results =
        parameters.filter(|(_, entry)| DebugInfo::is_set(entry, gimli::DW_AT_variable_parameter));
    let types: Vec<Type> = results
        .map(|(at, entry)| target(info, at, &entry))
        .collect();
    let r#type = types.first().cloned().unwrap_or_else(Type::void);
    // A symbol of this ending follows the convention of assembly, on the stack.
    let is_in_registers = unit.is_go_by_registers && !symbol.ends_with(".abi0");
    let known = (types.len() < 2 && is_in_registers).then(|| of_scalar(&r#type));
    let location = match types.is_empty() {
        true => EntryLocation::new(),
        false => known.flatten().unwrap_or_else(|| {
            unavailable(EntryUnavailable::Undefined, r#type.size().unwrap_or(0))
        }),
    };
    Some(ReturnValue {
        r#type,
        location,
        address_at_entry: None,
    })
}

fn of_scalar(of: &Type) -> Option<EntryLocation> {
    let stripped = of.strip();
    let size = stripped.size().filter(|size| (1..=8).contains(size))?;
    let register = match stripped.kind() {
        TypeKind::Base(Encoding::Float) => abi::VECTOR_RESULTS.first()?,
        TypeKind::Base(Encoding::ComplexFloat | Encoding::Other) => return None,
        TypeKind::Base(_) | TypeKind::Pointer(_) => abi::INTEGER_RESULTS.first()?,
        _ => return None,
    };
    let piece = EntryPiece {
        offset: 0,
        size: u32::try_from(size).ok()?,
        location: EntryPieceLocation::Register(*register),
    };
    Some(std::iter::once(piece).collect())
}
