//! Rust's trait objects (`&dyn Shape`, `Box<dyn Shape>`): a pointer to a value
//! and one to the table of its methods, by which the value's type is known.
//!
//! What the pointer leads to may be more than the value: the counts of an `Rc`, a cell, a
//! lock. The debug information describes that with the value at its end, as if the value
//! could lie anywhere; where it does lie follows from its alignment, which is in the table.
//!
//! Invariant: where nothing says where the value is, there is none.

use crate::typed::{Number, Typed};
use juror_symbols::{Field, Memory, Type};
use std::cmp::Reverse;

/// The value behind a trait object, with its own type; nothing for other values,
/// and where the table is not known. `type_of_table` knows the types by the
/// addresses of their tables.
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

/// In a table, behind the function that drops a value and the size of one.
const ALIGNMENT_OFFSET: u64 = 16;
/// The largest alignment that Rust knows.
const ALIGNMENT_MAX: u64 = 1 << 29;
/// How many types may be around an object.
const NESTED_MAX: usize = 16;

/// The alignment of the values that a table is for.
fn alignment_in(table: u64, memory: &dyn Memory) -> Option<u64> {
    let mut alignment = [0; 8];
    let is_read = memory.read(table.wrapping_add(ALIGNMENT_OFFSET), &mut alignment);
    let alignment = u64::from_le_bytes(alignment);
    // A table that says something else is none.
    let is_right = is_read && alignment.is_power_of_two() && alignment <= ALIGNMENT_MAX;
    is_right.then_some(alignment)
}

fn is_object(r#type: &Type) -> bool {
    is_name_of_object(&r#type.strip().name())
}

fn is_name_of_object(name: &str) -> bool {
    name.trim_start_matches('(').starts_with("dyn ")
}

/// Where the object begins in what has one of this alignment at its end.
fn offset_of_object(whole: &Type, alignment: u64, depth: usize) -> Option<u64> {
    if is_object(whole) {
        return Some(0);
    }
    let depth = depth.checked_sub(1)?;
    let composite = whole.composite()?;
    let mut fields: Vec<&Field> = composite.fields.iter().collect();
    // What has no size of its own stands last, but a marker may be beside it.
    fields.sort_by_key(|field| Reverse(field.offset));
    fields.into_iter().find_map(|field| {
        let within = offset_of_object(&field.r#type, alignment, depth)?;
        let own = field.r#type.declared_alignment().unwrap_or(1);
        let start = aligned_offset(field.offset, own, alignment)?;
        start.checked_add(within)
    })
}

/// Where a field begins whose type is aligned as its own declaration says, and as the
/// object in it is.
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
