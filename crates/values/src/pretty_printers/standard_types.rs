//! Implements the access of expressions to library types by the pretty-printers.

use super::printers::PrettyPrinters;
use super::seek;
use super::slice;
use crate::standard_types::{Index, Length, LibraryTypes, Shown, Slice, Sought};
use crate::typed::{Memory, Typed};
use juror_symbols::Type;

impl LibraryTypes for PrettyPrinters {
    fn has(&self, r#type: &Type) -> bool {
        self.of(r#type).next().is_some()
    }

    fn know_length(&self, r#type: &Type) -> bool {
        self.of(r#type).any(|printer| printer.knows_length())
    }

    fn seek(
        &self,
        value: &Typed,
        index: Index<'_>,
        memory: &dyn Memory,
        types: &dyn Fn(&str) -> Option<Type>,
    ) -> Option<Sought> {
        seek::seek(value, index, self, memory, types)
    }

    fn length(
        &self,
        value: &Typed,
        memory: &dyn Memory,
        types: &dyn Fn(&str) -> Option<Type>,
    ) -> Option<Length> {
        seek::length(value, self, memory, types)
    }

    fn instead(
        &self,
        value: &Typed,
        characters: usize,
        memory: &dyn Memory,
        types: &dyn Fn(&str) -> Option<Type>,
    ) -> Option<Shown> {
        seek::instead(value, characters, self, memory, types)
    }

    fn slice(
        &self,
        value: &Typed,
        range: (usize, usize),
        memory: &dyn Memory,
        types: &dyn Fn(&str) -> Option<Type>,
    ) -> Option<Slice> {
        slice::slice(value, range, self, memory, types)
    }
}
