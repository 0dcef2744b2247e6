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
    match bases(class, base).as_slice() {
        [(steps, Some(offset))] => Some((*steps, *offset)),
        _ => None,
    }
}

/// The parts of a class that are its base class `base`, each with how many steps it is
/// away and where it begins, which is not known of a virtual one.
fn bases(class: &Type, base: &Type) -> Vec<(u32, Option<u64>)> {
    let mut found = Vec::new();
    search(
        class,
        &base.strip().name(),
        (0, Some(0)),
        DEPTH_MAX,
        &mut found,
    );
    found
}

fn search(
    class: &Type,
    wanted: &str,
    (steps, offset): (u32, Option<u64>),
    depth: usize,
    found: &mut Vec<(u32, Option<u64>)>,
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
        let inside = offset.zip(base.offset);
        let start = inside.and_then(|(offset, inside)| offset.checked_add(inside));
        search(&base.r#type, wanted, (steps + 1, start), depth, found);
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

/// The address of an object of the class `from` as one of `to`, by the rule of casts of
/// C++: where one is derived from the other it is that of the part, or of the whole.
/// Null stays null, and classes that have nothing in common keep the address.
pub(crate) fn cast_address(address: u64, from: &Type, to: &Type) -> Result<u64, String> {
    let is_class = |of: &Type| matches!(of.strip().kind(), TypeKind::Composite(_));
    if address == 0 || !is_class(from) || !is_class(to) {
        return Ok(address);
    }
    for (derived, base, is_up) in [(from, to, true), (to, from, false)] {
        match bases(derived, base).as_slice() {
            [] => {}
            [(_, Some(offset))] if is_up => return Ok(address.wrapping_add(*offset)),
            [(_, Some(offset))] => return Ok(address.wrapping_sub(*offset)),
            _ => {
                let (base, derived) = (base.strip().name(), derived.strip().name());
                return Err(format!(
                    "`{base}` is a virtual base class of `{derived}`, or one several times: the \
                     types do not tell where it lies; a cast through `(char *)` keeps the address"
                ));
            }
        }
    }
    Ok(address)
}

/// Whether a cast of a pointer changes more than its type.
pub(crate) fn moves_address(from: &Type, to: &Type) -> bool {
    cast_address(1, from, to) != Ok(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_class_keeps_its_address() {
        let int = Type::builtin("int").unwrap();
        assert_eq!(cast_address(8, &int, &Type::void()), Ok(8));
        assert!(!moves_address(&int, &int));
    }
}
