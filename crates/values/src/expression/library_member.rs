//! Member functions of library types without code, computed as they are shown: `ages.size()` of a
//! map.
//!
//! The compiler inlines most of them, or leaves out those that the program does not call. The
//! pretty-printers answer those that only read.

use super::access::{address_of, pointed_to};
use super::evaluate::{evaluate, part};
use super::length::length_of;
use super::library_access::{Key, LibraryAccess, is_composite};
use super::scope::Scope;
use crate::classes::upcast::referred_to;
use crate::error::ValueError;
use crate::typed::{Number, Typed};
use juror_language::{Expression, ExpressionKind};
use juror_symbols::Type;

/// Returns the result of `object.name(...)` for an object of a standard library, or `None` if the
/// function is not one of those known here.
pub(super) fn result(
    function: &Expression,
    arguments: &[Expression],
    scope: &dyn Scope,
) -> Option<Result<Typed, ValueError>> {
    let ExpressionKind::Field {
        object,
        field,
        arrow,
    } = &function.kind
    else {
        return None;
    };
    let object = evaluate(object, scope).ok()?;
    let object = referred_to(&object, scope.memory()).ok()?;
    let object = if *arrow || object.r#type.is_pointer() && is_composite_behind(&object) {
        pointed_to(&object, scope).ok()?
    } else {
        object
    };
    let library = LibraryAccess::of(scope)?;
    let name = object.r#type.strip().name();
    let is_of_library = ["std::", "core::", "alloc::", "&"]
        .iter()
        .any(|space| name.starts_with(space));
    if !is_of_library || !library.has(&object.r#type) {
        return None;
    }
    let is_known = if object.r#type.is_rust() {
        matches!(&*field.text, "len" | "is_empty")
    } else {
        !object.r#type.methods_named(&field.text).is_empty()
    };
    match arguments {
        _ if !is_known => None,
        [] => looked_at(&object, &field.text, &library, scope),
        [index] if &*field.text == "at" => {
            let Number::Int(index) = part(index, scope).ok()?.number(scope.memory()).ok()? else {
                return None;
            };
            library.element(&object, &Key::Number(index))
        }
        _ => None,
    }
}

fn is_composite_behind(pointer: &Typed) -> bool {
    let target = pointer.r#type.target();
    target.is_some_and(|target| is_composite(&target))
}

fn looked_at(
    object: &Typed,
    name: &str,
    library: &LibraryAccess<'_>,
    scope: &dyn Scope,
) -> Option<Result<Typed, ValueError>> {
    let count = || length_of(object, scope).and_then(|it| it.number(scope.memory()));
    let last = |number: Number| match number {
        Number::Int(count) => element_at(object, count - 1, library),
        _ => None,
    };
    let is_first_on_top = object.r#type.strip().name().contains("priority_queue<");
    match name {
        "size" | "length" | "len" => Some(length_of(object, scope)),
        "empty" | "is_empty" => Some(count().and_then(|it| truth(it == Number::Int(0)))),
        "front" => element_at(object, 0, library),
        "top" if is_first_on_top => element_at(object, 0, library),
        "back" | "top" => count().map_or_else(|why| Some(Err(why)), last),
        "has_value" => library.target(object).map(|held| truth(held.is_ok())),
        "value" | "load" | "string" | "native" => library.target(object),
        "get" => {
            let held = library.target(object)?;
            Some(held.and_then(|held| address_of(&held)))
        }
        _ => None,
    }
}

fn element_at(
    object: &Typed,
    index: i128,
    library: &LibraryAccess<'_>,
) -> Option<Result<Typed, ValueError>> {
    library.element(object, &Key::Number(index))
}

fn truth(truth: bool) -> Result<Typed, ValueError> {
    let r#type = Type::builtin("bool").ok_or("no type for truth values")?;
    Ok(Typed::of_bytes(r#type, vec![u8::from(truth)]))
}
