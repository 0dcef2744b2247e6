//! Members and base classes of a structure, fields of Rust, and elements of an array.

use super::{Part, Path, Reader, Role};
use crate::expression::element_at;
use crate::typed::{Memory, Typed};
use juror_symbols::{Composite, Type};

/// Returns an element of an array by its position. If it cannot be located, the value has the reason in its place.
pub(super) fn element_of(array: &Typed, position: u64, memory: &dyn Memory) -> Typed {
    let found = element_at(array, i128::from(position), memory);
    found.unwrap_or_else(|why| {
        let r#type = array.r#type.target().unwrap_or_else(Type::void);
        Typed::missing(r#type, why)
    })
}

/// Returns the base classes and members of a value, as they are.
pub(super) fn members(
    value: &Typed,
    path: &Path,
    composite: &Composite,
    reader: Reader<'_>,
) -> Vec<Part> {
    let mut parts = Vec::with_capacity(composite.bases.len() + composite.fields.len());
    for base in &composite.bases {
        let part = value.base(base, reader.memory);
        parts.push(Part {
            role: Role::Base(base.r#type.name().into(), base.is_virtual()),
            value: part.unwrap_or_else(|why| Typed::missing(base.r#type.clone(), why)),
            path: path.base(value, &base.r#type),
        });
    }
    let chosen = value.variant(reader.memory).ok().flatten();
    for field in composite.fields.iter().chain(&chosen) {
        let part = value.member(field);
        let is_rust = value.r#type.is_rust();
        parts.push(match &field.name {
            Some(name) => Part {
                path: path.member(name, &part, is_rust, reader.memory),
                role: Role::Member(name.clone()),
                value: part,
            },
            None => Part {
                role: Role::Anonymous,
                value: part,
                path: path.anonymous(value),
            },
        });
    }
    parts
}

/// Returns the fields of a structure of Rust, or of the alternative that an enumeration is.
pub(super) fn fields(
    value: &Typed,
    path: &Path,
    composite: &Composite,
    reader: Reader<'_>,
) -> Vec<Part> {
    let fields = composite.fields.iter();
    fields
        .map(|field| {
            let part = value.member(field);
            let name = field.position().or(field.name.as_deref()).unwrap_or("?");
            Part {
                path: path.member(name, &part, true, reader.memory),
                role: Role::Member(name.into()),
                value: part,
            }
        })
        .collect()
}
