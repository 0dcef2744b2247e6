//! Steps from a value to the values that it leads to: fields, elements, targets of pointers.
//!
//! A library type is accessed as it is shown ([`crate::pretty_printers`]): an element of a vector,
//! a value by its key, the target of a smart pointer.

use super::complex::part_named;
use super::library_access::{Key, LibraryAccess, is_composite};
use super::scope::Scope;
use crate::classes::trait_objects::concrete;
use crate::classes::upcast::base_part;
use crate::error::ValueError;
use crate::typed::{Location, Memory, Number, Typed};
use juror_symbols::{Type, TypeKind, scope_and_name};

/// Dereferences a pointer, or an integer as an address.
pub fn dereference(value: &Typed, memory: &dyn Memory) -> Result<Typed, ValueError> {
    match value.number(memory)? {
        Number::Pointer(address, target) => {
            if matches!(target.strip().kind(), TypeKind::Void) {
                return Err("`void *` does not say what it points to; cast it first".into());
            }
            Ok(Typed::in_memory(target, address))
        }
        // An integer is the address of a `long`, as in gdb.
        Number::Int(number) => {
            let address = u64::try_from(number).map_err(|_| "this is not an address".to_owned())?;
            Ok(Typed::in_memory(
                Type::builtin("long").ok_or("no type for words")?,
                address,
            ))
        }
        _ => Err(format!("`{}` is not a pointer", value.r#type.name()).into()),
    }
}

/// Returns the address of a value, typed as a pointer.
pub fn address_of(value: &Typed) -> Result<Typed, ValueError> {
    match (&value.location, value.bits) {
        (_, Some(_)) => Err("a bit field has no address".into()),
        (Location::Memory(address), None) => Ok(Typed::of_bytes(
            value.r#type.pointer_to(),
            address.to_le_bytes().to_vec(),
        )),
        (Location::Missing(why), None) => Err(why.clone()),
        (Location::Bytes(_) | Location::Partial(_), None) => {
            Err("this value is not in memory, so it has no address".into())
        }
    }
}

/// Evaluates the operator `*`, also for a smart pointer.
pub(super) fn pointed_to(value: &Typed, scope: &dyn Scope) -> Result<Typed, ValueError> {
    if let Some(object) = object_behind(value, scope) {
        return Ok(object);
    }
    if is_composite(&value.r#type)
        && let Some(target) = LibraryAccess::of(scope).and_then(|library| library.target(value))
    {
        // A reference-counted pointer may hold a trait object.
        return target.map(|held| object_behind(&held, scope).unwrap_or(held));
    }
    dereference(value, scope.memory())
}

/// Returns the concrete value of a Rust trait object, or `None` for other values.
pub(super) fn object_behind(value: &Typed, scope: &dyn Scope) -> Option<Typed> {
    let of_table = |address| scope.type_of_table(address);
    concrete(value, scope.memory(), of_table)
}

/// Returns a field of a value, or of its target.
pub(super) fn field_of(
    object: &Typed,
    name: &str,
    arrow: bool,
    scope: &dyn Scope,
) -> Result<Typed, ValueError> {
    if let Some(part) = part_named(object, name) {
        return part;
    }
    // `.` on a pointer dereferences it, as in Rust.
    let base = if arrow || object.r#type.is_pointer() {
        match pointed_to(object, scope) {
            // As in gdb, `->` on a structure means `.`.
            Err(_) if is_structure_with(object, name) => object.clone(),
            found => found?,
        }
    } else {
        object.clone()
    };
    if base.r#type.field(name).is_none()
        && let Some(object) = object_behind(&base, scope)
    {
        return object.field(name, scope.memory());
    }
    if let Some((class, last)) = scope_and_name(name) {
        return field_of_class(&base, class, last, scope);
    }
    base.field(name, scope.memory()).or_else(|why| {
        // A static member is accessible through each object.
        if !base.r#type.is_rust()
            && let Some(found) = scope.class_name(&base.r#type, name)
        {
            return found;
        }
        // `->` through a reference to a smart pointer, and Rust's `.`.
        let goes_on = base.r#type.is_rust() || (arrow && is_composite(&base.r#type));
        let library = LibraryAccess::of(scope).filter(|_| goes_on);
        let found = library.and_then(|library| library.field_behind(&base, name));
        found.ok_or(why)
    })
}

/// Returns whether a value is a structure with this field, of a class that does not define `->`.
fn is_structure_with(object: &Typed, name: &str) -> bool {
    is_composite(&object.r#type)
        && object.r#type.methods_named("operator->").is_empty()
        && object.r#type.field(name).is_some()
}

/// Returns the member `object.Class::name` of the class or of one of its bases.
fn field_of_class(
    object: &Typed,
    class: &str,
    name: &str,
    scope: &dyn Scope,
) -> Result<Typed, ValueError> {
    let of = scope.type_named(class);
    let of = of.ok_or_else(|| format!("there is no class `{class}` here"))?;
    let part = base_part(object, &of, scope.memory())?;
    let part = part.ok_or_else(|| {
        let given = object.r#type.strip().name();
        format!("`{given}` has no base class `{class}`")
    })?;
    field_of(&part, name, false, scope)
}

/// Returns the type of an array's elements; for a multidimensional array, of its rows.
pub fn element_type(array: &Type) -> Result<Type, ValueError> {
    let TypeKind::Array { .. } = array.strip().kind() else {
        return Err(format!("`{}` has no elements", array.name()).into());
    };
    array
        .target()
        .ok_or("the size of an element is not known".into())
}

/// Returns an element of an array, or relative to a pointer.
pub fn element(object: &Typed, index: i128, memory: &dyn Memory) -> Result<Typed, ValueError> {
    let position = object.r#type.position_of(index)?;
    element_at(object, position, memory)
}

/// Returns an element of an array by its position, or relative to a pointer.
pub fn element_at(object: &Typed, index: i128, memory: &dyn Memory) -> Result<Typed, ValueError> {
    let element = match object.r#type.strip().kind() {
        TypeKind::Array { dimensions, .. } => {
            let element = element_type(&object.r#type)?;
            if let Some(Some(count)) = dimensions.first()
                && (index < 0 || index >= i128::from(*count))
                && (object.r#type.is_rust()
                    || matches!(object.location, Location::Bytes(_) | Location::Partial(_)))
            {
                return Err(format!("the array has {count} elements").into());
            }
            element
        }
        TypeKind::Pointer(target) | TypeKind::Reference(target) => {
            let base = dereference(object, memory)?;
            return shifted(&base, index, &target);
        }
        _ => return Err(format!("`{}` has no elements", object.r#type.name()).into()),
    };
    shifted(object, index, &element)
}

/// Evaluates an index: an element, or the element that the pretty-printer of a library type shows
/// there.
pub(super) fn indexed(
    object: &Typed,
    key: &Key<'_>,
    scope: &dyn Scope,
) -> Result<Typed, ValueError> {
    if let Some(behind) = behind_pointer(object, scope)? {
        return indexed(&behind, key, scope);
    }
    if let Some(found) = LibraryAccess::of(scope).and_then(|library| library.element(object, key)) {
        return found;
    }
    match key {
        Key::Number(number) => element(object, *number, scope.memory()),
        Key::String(_) => Err(format!("`{}` has no keys", object.r#type.name()).into()),
    }
}

/// Dereferences a pointer if an index applies to its target. Returns `None` for other values.
pub(super) fn behind_pointer(
    object: &Typed,
    scope: &dyn Scope,
) -> Result<Option<Typed>, ValueError> {
    let target = object.r#type.target();
    let target = target.filter(|_| is_transparent(&object.r#type));
    let Some(target) = target else {
        return Ok(None);
    };
    let library = LibraryAccess::of(scope);
    let has_pretty_printer = |it: &Type| library.as_ref().is_some_and(|it_of| it_of.has(it));
    // The pretty-printer of slices also matches a reference to an array.
    let is_array = matches!(target.strip().kind(), TypeKind::Array { .. });
    let is_meant = is_array || has_pretty_printer(&target) && !has_pretty_printer(&object.r#type);
    if is_meant {
        dereference(object, scope.memory()).map(Some)
    } else {
        Ok(None)
    }
}

/// Returns whether an index may apply to the target of a pointer: references of C++, all pointers
/// of Rust.
fn is_transparent(r#type: &Type) -> bool {
    match r#type.strip().kind() {
        TypeKind::Reference(_) => true,
        // The element type may be a base type, which does not tell its language.
        TypeKind::Pointer(target) => r#type.is_rust() || target.is_rust(),
        _ => false,
    }
}

fn shifted(base: &Typed, index: i128, element: &Type) -> Result<Typed, ValueError> {
    let size = i128::from(
        element
            .size()
            .ok_or("the size of an element is not known")?,
    );
    let offset = index.checked_mul(size).ok_or("the index is too large")?;
    match &base.location {
        Location::Memory(address) => {
            let address = i128::from(*address) + offset;
            let address =
                u64::try_from(address).map_err(|_| "the index is too large".to_owned())?;
            Ok(base.related(element.clone(), address))
        }
        _ => {
            let offset = u64::try_from(offset).map_err(|_| "the index is negative".to_owned())?;
            Ok(base.part(offset, element.clone(), None))
        }
    }
}
