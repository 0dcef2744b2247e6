//! Elements and entries of the containers of libraries, by range.

use super::{Container, Part, Reader, Role};
use crate::pretty_printers::{page, viewed};
use crate::standard_types::Shown;
use crate::typed::{Number, Typed};
use juror_symbols::Type;
use std::ops::Range;

impl Container {
    /// Returns a range of the parts, which is within their number.
    pub(super) fn parts(&self, range: Range<u64>, reader: Reader<'_>) -> Vec<Part> {
        let types = |name: &str| reader.names.type_named(name);
        let start = usize::try_from(range.start).unwrap_or(usize::MAX);
        let count = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        let found = page(
            &self.value,
            &self.printer,
            (start, count),
            reader.memory,
            &types,
            reader.walks,
        );
        let mut found = found.into_iter();
        range
            .map(|index| match found.next() {
                Some((None, value)) => self.element(index, value),
                Some((Some(key), value)) => self.entry(key, value, reader),
                None => self.element(index, Typed::missing(Type::void(), OUT_OF_REACH)),
            })
            .collect()
    }

    fn element(&self, index: u64, value: Typed) -> Part {
        Part {
            role: Role::Element(index.into()),
            value,
            path: self.path.element(index.into()),
        }
    }

    fn entry(&self, key: Typed, value: Typed, reader: Reader<'_>) -> Part {
        let written = written(&key, reader);
        Part {
            path: self.path.entry(written.as_deref()),
            role: Role::Entry(Box::new(key)),
            value,
        }
    }
}

/// The reason for an element that the container counts and the walk does not find.
const OUT_OF_REACH: &str = "the walk through the container does not reach it";

/// Returns a key as it is typed at the prompt, or `None` if it cannot be typed.
fn written(key: &Typed, reader: Reader<'_>) -> Option<String> {
    if let Some(text) = text_of(key, reader) {
        let is_plain = |c: char| c != '"' && c != '\\' && !c.is_control();
        return text.chars().all(is_plain).then(|| format!("\"{text}\""));
    }
    match key.number(reader.memory).ok()? {
        Number::Int(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The most values that may stand in for a string, one after the other.
const STEPS_MAX: usize = 8;

/// Returns the text of a library string, or `None` for other values and for long strings.
fn text_of(value: &Typed, reader: Reader<'_>) -> Option<String> {
    let types = |name: &str| reader.names.type_named(name);
    let mut value = value.clone();
    for _ in 0..STEPS_MAX {
        let printers = reader.names.pretty_printers();
        match viewed(&value, printers, reader.memory, &types)?.1 {
            Shown::Value(inner) | Shown::At(_, inner) => value = inner,
            Shown::String {
                bytes,
                size: 1,
                more: false,
            } => return String::from_utf8(bytes).ok(),
            _ => return None,
        }
    }
    None
}
