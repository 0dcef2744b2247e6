//! Evaluates `cells[2..5]`: several elements of arrays, relative to pointers, and of library
//! containers, whose elements need not be contiguous.

use super::access::{behind_pointer, indexed};
use super::library_access::{Key, LibraryAccess};
use super::scope::Scope;
use crate::error::ValueError;
use crate::standard_types::{Shown, Slice};
use crate::typed::{Typed, VALUE_SIZE_MAX};

/// The most elements that `p@n` and `a[i..j]` take.
pub(super) const ELEMENTS_MAX: i128 = 1 << 16;

/// The greatest depth of nested library types.
const DEPTH_MAX: usize = 8;

/// Returns `count` elements from `start` on as an array: in place if they are contiguous, otherwise
/// a copy.
pub(super) fn elements(
    object: &Typed,
    start: i128,
    count: i128,
    scope: &dyn Scope,
) -> Result<Typed, ValueError> {
    if !(1..=ELEMENTS_MAX).contains(&count) {
        return Err(format!("between 1 and {ELEMENTS_MAX} elements can be taken").into());
    }
    if let Some(behind) = behind_pointer(object, scope)? {
        return elements(&behind, start, count, scope);
    }
    if let Ok(number) = usize::try_from(start)
        && let Some(found) = found(object, (number, count as usize), scope)
    {
        return joined(&found?, scope);
    }
    let first = indexed(object, &Key::Number(start), scope)?;
    if LibraryAccess::of(scope).is_some_and(|library| library.has(&object.r#type)) {
        indexed(object, &Key::Number(start + count - 1), scope)?;
    }
    Ok(Typed {
        r#type: first.r#type.array_of(count as u64),
        ..first
    })
}

/// Returns the elements of a container, or `None` for a value whose elements are contiguous.
fn found(
    object: &Typed,
    range: (usize, usize),
    scope: &dyn Scope,
) -> Option<Result<Vec<Typed>, ValueError>> {
    let standard_types = scope.standard_types()?;
    let types = |name: &str| scope.type_named(name);
    let mut object = object.clone();
    for _ in 0..DEPTH_MAX {
        let why = match standard_types.slice(&object, range, scope.memory(), &types)? {
            Slice::Found(elements) => return Some(Ok(elements)),
            Slice::Instead(Some(Shown::Value(inner) | Shown::At(_, inner))) => {
                object = inner;
                continue;
            }
            Slice::Instead(Some(Shown::Word(word))) => format!("this is `{word}`"),
            Slice::Instead(_) => return None,
            Slice::Missing(count) => {
                let elements = match count {
                    0 => "it is empty".to_owned(),
                    1 => "it has one element".to_owned(),
                    count => format!("it has {count} elements"),
                };
                let last = range.0.saturating_add(range.1 - 1);
                let why = format!("there is no {last} in it: {elements}");
                return Some(Err(ValueError::NoElement(why)));
            }
            Slice::Far => "it is too far in to be walked to".to_owned(),
            Slice::Keys => "it has values by keys, and none of them is the first".to_owned(),
        };
        return Some(Err(why.into()));
    }
    None
}

/// Returns values of one type as an array.
fn joined(elements: &[Typed], scope: &dyn Scope) -> Result<Typed, ValueError> {
    let first = elements.first().ok_or("there are no elements")?;
    let name = first.r#type.name();
    if elements.iter().any(|element| element.r#type.name() != name) {
        return Err("its parts have different types".into());
    }
    let r#type = first.r#type.array_of(elements.len() as u64);
    let size = first.r#type.size();
    let size = size.ok_or("the size of an element is not known")?;
    let expected = |number: usize| first.address()?.checked_add(number as u64 * size);
    let mut numbered = elements.iter().enumerate();
    if numbered.all(|(number, it)| it.address().is_some() && it.address() == expected(number)) {
        return Ok(Typed {
            r#type,
            ..first.clone()
        });
    }
    let whole = size.saturating_mul(elements.len() as u64);
    if whole > VALUE_SIZE_MAX {
        return Err(format!("{whole} bytes are too many to show at once").into());
    }
    let mut bytes = Vec::with_capacity(whole as usize);
    for element in elements {
        bytes.extend(element.bytes(scope.memory(), size)?);
    }
    Ok(Typed::of_bytes(r#type, bytes))
}
