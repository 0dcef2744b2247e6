//! Rust's trait objects (`&dyn Shape`, `Box<dyn Shape>`): a pointer to a value
//! and one to the table of its methods, by which the value's type is known.
//!
//! The pointee may be more than the value: the counts of an `Rc`, a cell, a lock. The debug
//! information describes it with the value at its end, at an offset that depends on the value's
//! alignment, which the table of methods contains.
//!
//! Invariant: a trait object without a known table has no concrete value.

use crate::typed::{Number, Typed};
use juror_symbols::{Field, Memory, Type};
use std::cmp::Reverse;

/// Returns the value behind a trait object, with its concrete type. `type_of_table` maps the
/// address of a table of methods to the type. Returns `None` for other values, and if the table is
/// unknown.
pub(crate) fn concrete(
    value: &Typed,
    memory: &dyn Memory,
    type_of_table: impl Fn(u64) -> Option<Type>,
) -> Option<Typed> {
    if !value.r#type.is_rust() {
        return None;
    }
    let composite = value.r#type.composite()?;
    let names = composite.fields.iter().map(|field| field.name.as_deref());
    if !names.eq([Some("pointer"), Some("vtable")]) {
        return None;
    }
    let pointer = |name: &str| match value.field(name, memory).ok()?.number(memory) {
        Ok(Number::Pointer(address, target)) => Some((address, target)),
        _ => None,
    };
    let (table, _) = pointer("vtable")?;
    let r#type = type_of_table(table)?;
    let (start, whole) = pointer("pointer")?;
    let before = if is_object(&whole) {
        0
    } else {
        offset_of_object(&whole, alignment_in(table, memory)?, NESTED_MAX)?
    };
    Some(Typed::in_memory(r#type, start.checked_add(before)?))
}

/// The offset of the alignment in a table of methods, after the drop function and the size.
const ALIGNMENT_OFFSET: u64 = 16;
/// The largest alignment that Rust allows, in bytes.
const ALIGNMENT_MAX: u64 = 1 << 29;
/// The most types that may be nested around an object.
const NESTED_MAX: usize = 16;

/// Returns the alignment in a table of methods, or `None` if it cannot be read or is invalid.
fn alignment_in(table: u64, memory: &dyn Memory) -> Option<u64> {
    let mut alignment = [0; 8];
    let is_read = memory.read(table.wrapping_add(ALIGNMENT_OFFSET), &mut alignment);
    let alignment = u64::from_le_bytes(alignment);
    // An invalid alignment shows that this is not a table of methods.
    let is_right = is_read && alignment.is_power_of_two() && alignment <= ALIGNMENT_MAX;
    is_right.then_some(alignment)
}

fn is_object(r#type: &Type) -> bool {
    is_name_of_object(&r#type.strip().name())
}

fn is_name_of_object(name: &str) -> bool {
    name.trim_start_matches('(').starts_with("dyn ")
}

/// Returns the offset of the object in `whole`, which ends with it. `alignment` is the object's.
fn offset_of_object(whole: &Type, alignment: u64, depth: usize) -> Option<u64> {
    if is_object(whole) {
        return Some(0);
    }
    let depth = depth.checked_sub(1)?;
    let composite = whole.composite()?;
    let mut fields: Vec<&Field> = composite.fields.iter().collect();
    // An unsized field comes last, but a marker may have the same offset.
    fields.sort_by_key(|field| Reverse(field.offset));
    fields.into_iter().find_map(|field| {
        let within = offset_of_object(&field.r#type, alignment, depth)?;
        let own = field.r#type.declared_alignment().unwrap_or(1);
        let start = aligned_offset(field.offset, own, alignment)?;
        start.checked_add(within)
    })
}

/// Returns the offset of a field that is aligned both as its type declares and as the object in it
/// requires.
fn aligned_offset(offset: u64, declared: u64, alignment: u64) -> Option<u64> {
    offset.checked_next_multiple_of(declared.max(alignment))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_objects() {
        let check = |name, expected| assert_eq!(is_name_of_object(name), expected, "{name}");
        check("dyn shop::Shape", true);
        check("(dyn shop::Shape + core::marker::Send)", true);
        check("core::cell::RefCell<dyn shop::Shape>", false);
        check("shop::dyn_shape", false);
    }

    #[test]
    fn a_field_lies_where_the_stricter_alignment_has_it() {
        for (offset, declared, alignment, expected) in [
            (16, 1, 4, Some(16)),
            (16, 8, 64, Some(64)),
            // Behind the state of a lock: 5 bytes.
            (5, 1, 1, Some(5)),
            (5, 1, 8, Some(8)),
            (u64::MAX, 1, 8, None),
            (3, 0, 0, None),
        ] {
            let found = aligned_offset(offset, declared, alignment);
            assert_eq!(found, expected, "{offset}, {declared}, {alignment}");
        }
    }
}
