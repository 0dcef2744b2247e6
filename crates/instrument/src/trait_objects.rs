//! Rust's trait objects (`&dyn Shape`, `Box<dyn Shape>`): a pointer to a value
//! and one to the table of its methods, by which the value's type is known.
//!
//! Invariant: the value is where the pointer says, or behind the two counts of an `Rc`.
//! Where something else is around it (`RefCell<dyn Shape>`), the place is not known.

use crate::typed::{Number, Typed};
use juror_symbols::{Memory, Type};

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
        Ok(Number::Pointer(address, _)) => Some(address),
        _ => None,
    };
    let table = pointer("vtable")?;
    let r#type = type_of_table(table)?;
    let before = match around_object(&value.r#type.name())? {
        Around::Nothing => 0,
        Around::Counts => {
            let mut alignment = [0; 8];
            let field = table.wrapping_add(ALIGNMENT_OFFSET);
            let is_read = memory.read(field, &mut alignment);
            let alignment = u64::from_le_bytes(alignment);
            // A table that says something else is none.
            let is_right = is_read && alignment.is_power_of_two() && alignment <= ALIGNMENT_MAX;
            is_right.then(|| COUNTS_SIZE.next_multiple_of(alignment))?
        }
    };
    let address = pointer("pointer")?.checked_add(before)?;
    Some(Typed::in_memory(r#type, address))
}

/// In a table, behind the function that drops a value and the size of one.
const ALIGNMENT_OFFSET: u64 = 16;
/// The largest alignment that Rust knows.
const ALIGNMENT_MAX: u64 = 1 << 29;
/// Two counts of a word, strong and weak.
const COUNTS_SIZE: u64 = 16;

/// What lies before the value at the place to which a trait object points.
#[derive(Debug, PartialEq, Eq)]
enum Around {
    Nothing,
    Counts,
}

fn around_object(name: &str) -> Option<Around> {
    let (before, _) = name.split_once("dyn ")?;
    let before = before.strip_suffix('(').unwrap_or(before);
    match before {
        "&" | "&mut " | "*const " | "*mut " | "alloc::boxed::Box<" => Some(Around::Nothing),
        _ => {
            let inner = before
                .strip_prefix("*const ")
                .or_else(|| before.strip_prefix("*mut "))?;
            let counted = [
                "alloc::rc::RcInner<",
                "alloc::sync::ArcInner<",
                "alloc::rc::RcBox<",
            ];
            counted.contains(&inner).then_some(Around::Counts)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_around_an_object() {
        let check = |name, expected| assert_eq!(around_object(name), expected, "{name}");
        check("&dyn shop::Shape", Some(Around::Nothing));
        check("&mut dyn core::ops::Fn()", Some(Around::Nothing));
        check(
            "&(dyn shop::Shape + core::marker::Send)",
            Some(Around::Nothing),
        );
        check(
            "alloc::boxed::Box<dyn a::B, alloc::alloc::Global>",
            Some(Around::Nothing),
        );
        check("*const alloc::rc::RcInner<dyn a::B>", Some(Around::Counts));
        check(
            "*const alloc::sync::ArcInner<(dyn a::B + core::marker::Send)>",
            Some(Around::Counts),
        );
        check(
            "*const alloc::rc::RcInner<core::cell::RefCell<dyn a::B>>",
            None,
        );
        check("alloc::boxed::Box<core::cell::RefCell<dyn a::B>, A>", None);
        check("pair", None);
    }
}
