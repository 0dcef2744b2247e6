//! Evaluates `len(x)`: the number of elements, if it is known without a walk.

use super::access::dereference;
use super::library_access::LibraryAccess;
use super::scope::Scope;
use crate::error::ValueError;
use crate::typed::Typed;
use juror_symbols::{Type, TypeKind};

/// The most nested references that are followed: damaged files have endless ones.
pub const REFERENCES_MAX: usize = 16;

/// Returns the number of elements of a value.
pub(super) fn length_of(value: &Typed, scope: &dyn Scope) -> Result<Typed, ValueError> {
    let mut object = value.clone();
    let library = LibraryAccess::of(scope);
    let has_pretty_printer = |it: &Type| library.as_ref().is_some_and(|library| library.has(it));
    for _ in 0..REFERENCES_MAX {
        if behind_reference(&object.r#type, has_pretty_printer).is_none() {
            break;
        }
        object = dereference(&object, scope.memory())?;
    }
    if let Some(count) = array_length(&object.r#type) {
        return size_value(Some(count));
    }
    let is_known = scope
        .standard_types()
        .is_some_and(|standard_types| standard_types.know_length(&object.r#type));
    match library.and_then(|library| library.length(&object)) {
        Some(count) => size_value(Some(count?)),
        None if is_known => {
            let name = value.r#type.name();
            Err(format!("the number of elements of this `{name}` cannot be read").into())
        }
        None => Err(no_length(&value.r#type).into()),
    }
}

pub(super) fn size_value(size: Option<u64>) -> Result<Typed, ValueError> {
    let size = size.ok_or("its size is not known")?;
    let r#type = Type::builtin("unsigned long").ok_or("no type for sizes")?;
    Ok(Typed::of_bytes(r#type, size.to_le_bytes().to_vec()))
}

/// Returns the target of a Rust reference if the target is counted, or `None` if the reference
/// itself is, as for a slice.
pub fn behind_reference(r#type: &Type, has_pretty_printer: impl Fn(&Type) -> bool) -> Option<Type> {
    let target = r#type
        .target()
        .filter(|_| r#type.is_rust() && r#type.is_pointer())?;
    let is_array = matches!(target.strip().kind(), TypeKind::Array { .. });
    (is_array || !has_pretty_printer(r#type)).then_some(target)
}

/// Returns the number of elements of an array, by its type.
pub fn array_length(r#type: &Type) -> Option<u64> {
    let TypeKind::Array { element, .. } = r#type.strip().kind() else {
        return None;
    };
    let size = element.size().filter(|size| *size > 0)?;
    r#type.size().map(|whole| whole / size)
}

/// Returns the message that values of a type have no length, with an alternative.
pub fn no_length(r#type: &Type) -> String {
    let name = r#type.name();
    let instead = if r#type.is_pointer() {
        "a pointer does not say how many: count what it leads to, `len(*x)`, or read the \
                 field that has the number"
    } else {
        "nothing in it says how many: read a field that has the number"
    };
    format!("the number of elements of a `{name}` is not known: {instead}")
}

/// The remark that the program's own `len` is not called here.
pub(super) const OWN_FUNCTION: &str =
    "; `len` of the program is called at the prompt only: print len(x)";
