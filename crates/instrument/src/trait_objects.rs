//! Rust's trait objects (`&dyn Shape`, `Box<dyn Shape>`): a pointer to a value
//! and one to the table of its methods, by which the value's type is known.

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
    let r#type = type_of_table(pointer("vtable")?)?;
    Some(Typed::in_memory(r#type, pointer("pointer")?))
}
