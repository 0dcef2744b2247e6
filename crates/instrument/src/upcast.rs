//! An object as one of its base classes.
//!
//! After the rule of C++: the part is meant only where the class has one base of that
//! name. Where a virtual base lies the object alone says, so none of them is found.

use crate::typed::{Number, Place, Typed};
use juror_symbols::{Memory, Type, TypeKind};

/// How deeply classes are derived.
const DEPTH_MAX: usize = 32;

/// How many steps a class is derived from `base`, and where that part begins in it;
/// 0 for the class itself. Nothing where it has no such base, or several.
pub(crate) fn base_offset(class: &Type, base: &Type) -> Option<(u32, u64)> {
    let mut found = Vec::new();
    search(class, &base.strip().name(), (0, 0), DEPTH_MAX, &mut found);
    match found.as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

fn search(
    class: &Type,
    wanted: &str,
    (steps, offset): (u32, u64),
    depth: usize,
    found: &mut Vec<(u32, u64)>,
) {
    let class = class.strip();
    if class.name() == wanted {
        found.push((steps, offset));
        return;
    }
    let (Some(depth), Some(composite)) = (depth.checked_sub(1), class.composite()) else {
        return;
    };
    for base in &composite.bases {
        if let Some(start) = base.offset.and_then(|inside| offset.checked_add(inside)) {
            search(&base.r#type, wanted, (steps + 1, start), depth, found);
        }
    }
}

/// What a reference of C++ refers to; other values as they are.
pub(crate) fn referred_to(value: &Typed, memory: &dyn Memory) -> Result<Typed, String> {
    let TypeKind::Reference(target) = value.r#type.strip().kind() else {
        return Ok(value.clone());
    };
    if value.r#type.is_rust() {
        return Ok(value.clone());
    }
    match value.number(memory)? {
        Number::Pointer(address, _) => Ok(Typed::in_memory(target, address)),
        _ => Err(format!("`{}` leads nowhere", value.r#type.name())),
    }
}

/// The part of an object in memory that is its base class `base`, or the object where
/// that is its class.
pub(crate) fn base_part(value: &Typed, base: &Type) -> Option<Typed> {
    let (_, offset) = base_offset(&value.r#type, base)?;
    match value.place {
        Place::Memory(_) => Some(value.part(offset, base.clone(), None)),
        _ => None,
    }
}

/// An address of an object as the address of its part `base`; null stays null.
pub(crate) fn base_address(address: u64, target: &Type, base: &Type) -> Option<u64> {
    let (_, offset) = base_offset(target, base)?;
    Some(match address {
        0 => 0,
        address => address.wrapping_add(offset),
    })
}
