//! Bytes of the program that are an address, whatever type names them.
//!
//! A number can lie over a pointer: in a union, as a bit field, or in the bytes of an array that
//! the program copies into one. Who may change numbers only must not change those.

use crate::inspect::expressions;
use crate::session::Session;
use juror_debuggee::{Mapping, mappings};
use juror_language::{Expression, ExpressionKind, UnaryOperator};
use juror_symbols::{Type, TypeKind};
use juror_values::typed::{Location, Typed};
use std::ops::Range;

/// The size of an address.
const WORD: u64 = 8;
/// The number of parts of a type that are looked at; a type with more is taken for one that
/// holds addresses.
const PARTS_MAX: usize = 10_000;
/// Numbers below it are too common to be taken for the address of data.
const DATA_MIN: u64 = 1 << 32;

/// Returns whether a part of an object lies over a pointer, by the types of the objects that
/// contain it.
pub(super) fn overlies_pointer(
    session: &mut Session,
    place: &Expression,
    bytes: &Range<u64>,
) -> bool {
    let mut place = place;
    loop {
        let object = match &place.kind {
            ExpressionKind::Field { object, .. } | ExpressionKind::Index { object, .. } => object,
            ExpressionKind::Unary {
                operator: UnaryOperator::Dereference,
                operand,
            } => operand,
            _ => return false,
        };
        let Ok(value) = expressions::evaluate_expression(session, object) else {
            return true;
        };
        if let Some((r#type, address)) = object_of(session, &value)
            && let Some(offset) = bytes.start.checked_sub(address)
            && has_pointer_in(&r#type, &(offset..offset + (bytes.end - bytes.start)))
        {
            return true;
        }
        place = object;
    }
}

/// Returns an object in memory, or the one that a pointer points to.
fn object_of(session: &Session, value: &Typed) -> Option<(Type, u64)> {
    let r#type = value.r#type.strip();
    let target = match r#type.kind() {
        TypeKind::Pointer(target) | TypeKind::Reference(target) => target,
        _ => {
            let Location::Memory(address) = value.location else {
                return None;
            };
            return Some((r#type, address));
        }
    };
    let mut word = [0; WORD as usize];
    match &value.location {
        Location::Memory(address) => {
            let debuggee = &session.running().ok()?.debuggee;
            debuggee.read(*address, &mut word).ok()?;
        }
        Location::Bytes(bytes) => word.copy_from_slice(bytes.get(..WORD as usize)?),
        _ => return None,
    }
    Some((target, u64::from_le_bytes(word)))
}

/// Returns whether a type has a pointer, or something unknown, in these bytes.
fn has_pointer_in(r#type: &Type, bytes: &Range<u64>) -> bool {
    let mut rest = vec![(r#type.clone(), 0_u64)];
    let mut seen = 0;
    while let Some((part, offset)) = rest.pop() {
        seen += 1;
        if seen > PARTS_MAX {
            return true;
        }
        let part = part.strip();
        let size = part.size().unwrap_or(WORD);
        if offset >= bytes.end || offset.saturating_add(size) <= bytes.start {
            continue;
        }
        match part.kind() {
            TypeKind::Pointer(_)
            | TypeKind::Reference(_)
            | TypeKind::Function { .. }
            | TypeKind::MemberPointer { .. } => return true,
            TypeKind::Array { element, .. } => {
                let Some(size) = element.size().filter(|&size| size > 0) else {
                    return true;
                };
                let first = bytes.start.saturating_sub(offset) / size;
                let mut at = offset + first * size;
                while at < bytes.end && rest.len() < PARTS_MAX {
                    rest.push((element.clone(), at));
                    at += size;
                }
            }
            TypeKind::Composite(composite) => {
                let fields = composite.fields.iter();
                rest.extend(fields.map(|it| (it.r#type.clone(), offset + it.offset)));
                let bases = composite.bases.iter();
                let bases = bases.filter_map(|it| Some((it.r#type.clone(), offset + it.offset?)));
                rest.extend(bases);
                let variants = composite.variants.iter().flat_map(|it| &it.variants);
                let variants = variants.map(|it| &it.field);
                rest.extend(variants.map(|it| (it.r#type.clone(), offset + it.offset)));
            }
            _ => {}
        }
    }
    false
}

/// Returns whether these bytes at an address are part of the address of code, or of that of other
/// memory, or would be with the new contents.
pub(super) fn are_address(session: &Session, address: u64, bytes: &[u8]) -> bool {
    let Ok(program) = session.running() else {
        return false;
    };
    let Some(maps) = program.debuggee.memory_map() else {
        return true;
    };
    let maps: Vec<Mapping<'_>> = mappings(&maps).collect();
    let is_address = |word: u64| {
        let mapping = maps.iter().find(|it| it.range.contains(&word));
        mapping.is_some_and(|it| it.is_executable() || word >= DATA_MIN)
    };
    let end = address.saturating_add(bytes.len() as u64);
    (address.saturating_sub(WORD - 1)..end).any(|start| {
        let mut before = [0; WORD as usize];
        if program.debuggee.read(start, &mut before).is_err() {
            return false;
        }
        let mut after = before;
        for (at, byte) in (start..).zip(&mut after) {
            let offset = at
                .checked_sub(address)
                .and_then(|it| usize::try_from(it).ok());
            if let Some(new) = offset.and_then(|offset| bytes.get(offset)) {
                *byte = *new;
            }
        }
        [before, after]
            .map(u64::from_le_bytes)
            .into_iter()
            .any(is_address)
    })
}
