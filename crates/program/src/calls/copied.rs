//! Passes Rust values whose calling convention is the address of a copy.
//!
//! Such a value is moved: the function may drop it and free what it owns, while the program still
//! has the original. So only plain data is copied: numbers, and compounds of them without drop
//! code.

use super::passing::Passed;
use crate::modules::Module;
use juror_symbols::{EntryLocation, EntryPieceLocation, Type, TypeKind};

/// The greatest depth of types that is examined.
const NESTING_MAX: usize = 16;

/// Replaces an argument by the address of a copy, if the value is plain data.
pub(super) fn give_copy(passed: &mut Passed, location: &mut EntryLocation, module: &Module) {
    let [piece] = location.as_mut_slice() else {
        return;
    };
    let address_location = match piece.location {
        EntryPieceLocation::PointedByRegister(register) => EntryPieceLocation::Register(register),
        EntryPieceLocation::PointedByStack(offset) => EntryPieceLocation::Stack(offset),
        _ => return,
    };
    if !passed.r#type.is_rust() || !is_plain(&passed.r#type, module, NESTING_MAX) {
        return;
    }
    passed.pointed = Some(std::mem::take(&mut passed.bytes));
    passed.fill = 0;
    piece.location = address_location;
    piece.size = 8;
}

fn is_plain(of: &Type, module: &Module, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else {
        return false;
    };
    let of = of.strip();
    match of.kind() {
        TypeKind::Base(_) | TypeKind::Enumeration { .. } => true,
        TypeKind::Array { element, .. } => is_plain(&element, module, depth),
        TypeKind::Composite(composite) => {
            let variants = composite.variants.iter().flat_map(|part| &part.variants);
            let parts = variants.map(|variant| &variant.field.r#type);
            let mut parts = parts.chain(composite.fields.iter().map(|field| &field.r#type));
            !has_destructor(&of, module) && parts.all(|part| is_plain(part, module, depth))
        }
        _ => false,
    }
}

/// Returns whether the type has drop code. A tuple has none of its own.
fn has_destructor(of: &Type, module: &Module) -> bool {
    if of.name().starts_with('(') {
        return false;
    }
    let dropped = format!("core::ptr::drop_in_place<{}>", of.name());
    let written = format!("<{} as core::ops::drop::Drop>::drop", of.name());
    let is_there = |name: &str| !module.symbols.functions_named(name).is_empty();
    is_there(&dropped) || is_there(&written)
}
