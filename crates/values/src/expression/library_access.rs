//! Library types in expressions: a value behaves as it is shown.
//!
//! `v[1]` of a vector, `ages["ann"]` of a map, `*p` and `p->x` of a smart pointer, `name == "x"` of
//! a string, `count + 1` of an atomic number. The program's own operators are not called.

use super::access::{dereference, element, object_behind};
use super::arithmetic::{Overflow, compute};
use super::length::array_length;
use super::scope::Scope;
use super::string::holds_c_string;
use crate::error::ValueError;
use crate::read_plan::STRING_LENGTH_MAX;
use crate::standard_types::{Index, Length, LibraryTypes, Shown, Sought};
use crate::typed::{Number, Typed};
use juror_language::BinaryOperator;
use juror_symbols::{Type, TypeKind};
use std::cell::RefCell;
use std::fmt;

/// The greatest depth of nested library types.
const DEPTH_MAX: usize = 8;

/// An index.
pub(super) enum Key<'a> {
    /// A number.
    Number(i128),
    /// Text.
    String(&'a str),
}

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Number(number) => write!(f, "{number}"),
            Key::String(text) => write!(f, "{text:?}"),
        }
    }
}

/// Returns whether a type is a structure, class or union.
pub(super) fn is_composite(r#type: &Type) -> bool {
    matches!(r#type.strip().kind(), TypeKind::Composite(_))
}

/// Accesses library types through their pretty-printers.
pub(super) struct LibraryAccess<'a> {
    scope: &'a dyn Scope,
    standard_types: &'a dyn LibraryTypes,
}

impl<'a> LibraryAccess<'a> {
    /// Returns `None` in a scope without pretty-printers: inside of a pretty-printer.
    pub(super) fn of(scope: &'a dyn Scope) -> Option<LibraryAccess<'a>> {
        let standard_types = scope.standard_types()?;
        Some(LibraryAccess {
            scope,
            standard_types,
        })
    }

    /// Returns whether the type has a pretty-printer.
    pub(super) fn has(&self, r#type: &Type) -> bool {
        self.standard_types.has(r#type)
    }

    fn types(&self) -> impl Fn(&str) -> Option<Type> {
        |name: &str| self.scope.type_named(name)
    }

    /// Returns the element, or the value of the key, or `None` if the value has no pretty-printer.
    pub(super) fn element(
        &self,
        object: &Typed,
        key: &Key<'_>,
    ) -> Option<Result<Typed, ValueError>> {
        let number = match key {
            Key::Number(number) => usize::try_from(*number).ok(),
            Key::String(_) => None,
        };
        // A key that cannot be compared might be the wanted one.
        let unknown = RefCell::new(None);
        let is_key = |found: &Typed| {
            self.is_key(found, key).unwrap_or_else(|| {
                *unknown.borrow_mut() = Some(found.r#type.name());
                false
            })
        };
        let index = Index {
            number,
            is_key: &is_key,
        };
        let mut object = object.clone();
        for _ in 0..DEPTH_MAX {
            let memory = self.scope.memory();
            let sought = self
                .standard_types
                .seek(&object, index, memory, &self.types())?;
            let missing = match sought {
                Sought::Found(value) => return Some(Ok(value)),
                Sought::Instead(Shown::Value(inner) | Shown::At(_, inner)) => {
                    if let Some(number) = number
                        && !is_composite(&inner.r#type)
                    {
                        return Some(self.beside(&inner, number));
                    }
                    object = inner;
                    continue;
                }
                Sought::Instead(Shown::Word(word)) => format!("this is `{word}`"),
                Sought::Instead(_) => return None,
                Sought::Missing(_) if unknown.borrow().is_some() => {
                    let of = unknown.take().unwrap_or_default();
                    format!(
                        "the element is unknown: a key of type `{of}` cannot be compared with {key}"
                    )
                }
                Sought::Missing(count) => {
                    return Some(Err(ValueError::NoElement(self.no_element(count, key))));
                }
                Sought::Far => "it is too far in to be walked to".to_owned(),
            };
            return Some(Err(missing.into()));
        }
        None
    }

    /// Returns the number of elements, or `None` if no pretty-printer gives it.
    pub(super) fn length(&self, object: &Typed) -> Option<Result<u64, ValueError>> {
        let mut object = object.clone();
        for _ in 0..DEPTH_MAX {
            if let Some(count) = array_length(&object.r#type) {
                return Some(Ok(count));
            }
            object =
                match self
                    .standard_types
                    .length(&object, self.scope.memory(), &self.types())?
                {
                    Length::Known(count) => return Some(Ok(count as u64)),
                    Length::Instead(Shown::Value(inner) | Shown::At(_, inner)) => inner,
                    Length::Instead(Shown::Word(word)) => {
                        return Some(Err(format!("this is `{word}`").into()));
                    }
                    Length::Instead(_) => return None,
                };
        }
        None
    }

    /// Returns an element of the array that a library type holds or points to.
    fn beside(&self, inner: &Typed, number: usize) -> Result<Typed, ValueError> {
        match inner.r#type.strip().kind() {
            TypeKind::Array { .. } => element(inner, number as i128, self.scope.memory()),
            _ => Err(format!("`{}` has no elements", inner.r#type.name()).into()),
        }
    }

    fn no_element(&self, count: usize, key: &Key<'_>) -> String {
        let elements = match count {
            0 => "it is empty".to_owned(),
            1 => "it has one element".to_owned(),
            count => format!("it has {count} elements"),
        };
        format!("there is no {key} in it: {elements}")
    }

    /// Returns whether a value is a key; `None` if they cannot be compared.
    fn is_key(&self, found: &Typed, key: &Key<'_>) -> Option<bool> {
        match key {
            Key::String(text) => {
                let own = self.is_string(found, text);
                own.or_else(|| holds_c_string(found, text, self.scope.memory()).ok())
            }
            Key::Number(number) => {
                let equal = compute(
                    BinaryOperator::Equal,
                    Overflow::Error,
                    self.number(found).ok()?,
                    Number::Int(*number),
                    self.scope.memory(),
                );
                match equal.ok()? {
                    Number::Bool(is_equal) => Some(is_equal),
                    _ => None,
                }
            }
        }
    }

    /// Returns the target of a smart pointer, or the contents of a wrapper, or `None` for other
    /// values.
    pub(super) fn target(&self, value: &Typed) -> Option<Result<Typed, ValueError>> {
        match self
            .standard_types
            .instead(value, 0, self.scope.memory(), &self.types())?
        {
            Shown::Value(inner) | Shown::At(_, inner) => Some(Ok(inner)),
            Shown::Word(word) => Some(Err(format!("this is `{word}`").into())),
            _ => None,
        }
    }

    /// Returns a field of the target of a value, dereferencing step by step as Rust does.
    pub(super) fn field_behind(&self, value: &Typed, name: &str) -> Option<Typed> {
        let mut value = value.clone();
        for _ in 0..DEPTH_MAX {
            value = if value.r#type.is_pointer() {
                dereference(&value, self.scope.memory()).ok()?
            } else {
                self.target(&value)?.ok()?
            };
            if let Some(object) = object_behind(&value, self.scope) {
                value = object;
            }
            if let Ok(field) = value.field(name, self.scope.memory()) {
                return Some(field);
            }
        }
        None
    }

    /// Returns a value as a number, or the number that it holds.
    pub(super) fn number(&self, value: &Typed) -> Result<Number, ValueError> {
        let held = self.held(value.clone());
        let of = if is_composite(&held.r#type) {
            value
        } else {
            &held
        };
        of.number(self.scope.memory())
    }

    /// Returns the value that a wrapper of a library holds; other values are returned unchanged.
    pub(super) fn held(&self, value: Typed) -> Typed {
        let memory = self.scope.memory();
        let mut inner = value;
        for _ in 0..DEPTH_MAX {
            if !is_composite(&inner.r#type) {
                break;
            }
            match self
                .standard_types
                .instead(&inner, 0, memory, &self.types())
            {
                Some(Shown::Value(held)) => inner = held,
                _ => break,
            }
        }
        inner
    }

    /// Returns the array that a library object holds, or `None` for other values.
    pub(super) fn held_array(&self, value: &Typed) -> Option<Typed> {
        let mut value = value.clone();
        for _ in 0..DEPTH_MAX {
            if !is_composite(&value.r#type) {
                break;
            }
            match self
                .standard_types
                .instead(&value, 0, self.scope.memory(), &self.types())?
            {
                Shown::Value(inner) => value = inner,
                _ => return None,
            }
        }
        matches!(value.r#type.strip().kind(), TypeKind::Array { .. }).then_some(value)
    }

    /// Returns whether a value is a string equal to `text`, or `None` if it is not a string.
    pub(super) fn is_string(&self, value: &Typed, text: &str) -> Option<bool> {
        // One character more than `text` has shows whether the string is longer.
        let (bytes, size, more) = self.characters(value, text.len().saturating_add(1))?;
        Some(!more && is_same(&bytes, size, text))
    }

    /// Returns the text of a string, or `None` for other values.
    pub(super) fn text(&self, value: &Typed, most: usize) -> Option<String> {
        let (bytes, size, _) = self.characters(value, most)?;
        Some(match size {
            2 => {
                let units = bytes.chunks_exact(2);
                let units = units.map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
                let read = char::decode_utf16(units);
                read.map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
                    .collect()
            }
            4 => {
                let units = bytes.chunks_exact(4);
                let units =
                    units.map(|unit| u32::from_le_bytes([unit[0], unit[1], unit[2], unit[3]]));
                units
                    .map(|unit| char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER))
                    .collect()
            }
            _ => String::from_utf8_lossy(&bytes).into_owned(),
        })
    }

    /// Returns at most `most` characters of a string, the size of each in bytes, and whether more
    /// follow.
    fn characters(&self, value: &Typed, most: usize) -> Option<(Vec<u8>, usize, bool)> {
        let mut value = value.clone();
        for _ in 0..DEPTH_MAX {
            let memory = self.scope.memory();
            if value.r#type.is_rust() && value.r#type.is_pointer() && !self.has(&value.r#type) {
                value = dereference(&value, memory).ok()?;
                continue;
            }
            match self
                .standard_types
                .instead(&value, most, memory, &self.types())?
            {
                Shown::Value(inner) | Shown::At(_, inner) => value = inner,
                Shown::String { bytes, size, more } => return Some((bytes, size, more)),
                _ => return None,
            }
        }
        None
    }
}

/// Returns the text of a library string up to a limit, or `None` for other values.
pub fn string_of(value: &Typed, scope: &dyn Scope) -> Option<String> {
    LibraryAccess::of(scope)?.text(value, STRING_LENGTH_MAX)
}

/// Returns whether characters of one, two or four bytes spell `text`.
fn is_same(bytes: &[u8], size: usize, text: &str) -> bool {
    match size {
        2 => {
            let units = bytes.chunks_exact(2);
            let units = units.map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
            units.eq(text.encode_utf16())
        }
        4 => {
            let units = bytes.chunks_exact(4);
            let units = units.map(|unit| u32::from_le_bytes([unit[0], unit[1], unit[2], unit[3]]));
            units.eq(text.chars().map(u32::from))
        }
        _ => bytes == text.as_bytes(),
    }
}
