//! Writes values of library types by their pretty-printers.

use super::escape::Escapes;
use super::{DEPTH_MAX, Writer};
use crate::pretty_printers::{PrettyPrinter, viewed};
use crate::standard_types::Shown;
use crate::typed::Typed;
use std::fmt::Write;
use std::sync::Arc;

impl Writer<'_> {
    /// Writes a value by its pretty-printer. Returns false if none fits.
    pub(super) fn pretty_printed(&mut self, value: &Typed, depth: usize) -> bool {
        // A shown value may have a pretty-printer itself: the depth bounds the recursion.
        if self.is_raw || depth >= DEPTH_MAX {
            return false;
        }
        let types = |name: &str| self.names.type_named(name);
        let printers = self.names.pretty_printers();
        let Some((printer, shown)) = viewed(value, printers, self.memory, &types) else {
            return false;
        };
        let rust = value.r#type.is_rust();
        match shown {
            // An empty optional in a full one is not an empty one.
            Shown::Value(inner) if self.is_word_of(&inner, &printer) => {
                let name = value.r#type.strip().name();
                let _ = write!(self.text, "{}(", last_component(&name));
                self.value(&inner, depth + 1);
                self.push(")");
            }
            Shown::Value(inner) => self.value(&inner, depth + 1),
            Shown::At(address, inner) => self.at(address, &inner, depth),
            Shown::String { bytes, size, more } => {
                let escapes = Escapes::of(&value.r#type);
                self.characters(&bytes, size, more, escapes);
            }
            Shown::Word(word) => self.push(&word),
            Shown::List(elements, more) if rust => self.elements("[", &elements, more, "]", depth),
            Shown::List(elements, more) | Shown::Set(elements, more) => {
                self.elements("{", &elements, more, "}", depth);
            }
            Shown::Map(entries, more) => self.entries(&entries, more, depth),
            Shown::Tuple(elements) => self.elements("(", &elements, false, ")", depth),
        }
        true
    }

    /// Returns whether a value is shown as a word by this pretty-printer, also in further wrappers.
    fn is_word_of(&self, value: &Typed, printer: &Arc<PrettyPrinter>) -> bool {
        let types = |name: &str| self.names.type_named(name);
        let printers = self.names.pretty_printers();
        let mut inner = value.clone();
        for _ in 0..DEPTH_MAX {
            match viewed(&inner, printers, self.memory, &types) {
                Some((of, Shown::Word(_))) => return Arc::ptr_eq(&of, printer),
                Some((of, Shown::Value(held))) if Arc::ptr_eq(&of, printer) => inner = held,
                _ => return false,
            }
        }
        false
    }

    /// Writes an address and the value there: `@0x1234: value`.
    pub(super) fn at(&mut self, address: u64, value: &Typed, depth: usize) {
        let _ = write!(self.text, "@{address:#x}: ");
        self.value(value, depth + 1);
    }

    pub(super) fn elements(
        &mut self,
        open: &str,
        elements: &[Typed],
        more: bool,
        close: &str,
        depth: usize,
    ) {
        self.push(open);
        let mut first = true;
        let mut index = 0;
        while let Some(element) = elements.get(index) {
            let end = self.text.len();
            self.separate(&mut first);
            if self.is_full() || index as u64 >= self.elements_max {
                self.text.truncate(end);
                break;
            }
            let start = self.text.len();
            self.value(element, depth + 1);
            index += 1 + self.repeated(elements.get(index + 1..).unwrap_or(&[]), start, depth);
        }
        self.end(more || index < elements.len(), close);
    }

    /// Returns the number of the elements that read like the element written from `start` on. If it
    /// is large enough, writes `<repeats N times>`; otherwise returns 0.
    fn repeated(&mut self, elements: &[Typed], start: usize, depth: usize) -> usize {
        let written = self.text.get(start..).unwrap_or("").to_owned();
        let least = super::REPEATS_MIN as usize;
        // Texts that are cut may be of different values.
        if elements.len() + 1 < least || written.contains("...") {
            return 0;
        }
        let mut same = 0;
        for element in elements {
            let before = self.text.len();
            self.value(element, depth + 1);
            let is_same = self.text.get(before..) == Some(written.as_str());
            self.text.truncate(before);
            if !is_same {
                break;
            }
            same += 1;
        }
        if same + 1 < least {
            return 0;
        }
        let _ = write!(self.text, " <repeats {} times>", same + 1);
        same
    }

    fn entries(&mut self, entries: &[(Typed, Typed)], more: bool, depth: usize) {
        self.push("{");
        let mut first = true;
        let mut shown = 0;
        for (key, value) in entries {
            if self.is_full() || shown as u64 >= self.elements_max {
                break;
            }
            self.separate(&mut first);
            self.value(key, depth + 1);
            self.push(": ");
            self.value(value, depth + 1);
            shown += 1;
        }
        self.end(more || shown < entries.len(), "}");
    }

    fn end(&mut self, more: bool, close: &str) {
        if more {
            self.push("...");
        }
        self.push(close);
    }

    /// Writes text of characters of one, two or four bytes.
    fn characters(&mut self, bytes: &[u8], size: usize, more: bool, escapes: Escapes) {
        let most = self.elements_max.saturating_mul(size.max(1) as u64);
        let shown = bytes.get(..usize::try_from(most).unwrap_or(usize::MAX));
        let (bytes, more) = shown.map_or((bytes, more), |shown| {
            (shown, more || shown.len() < bytes.len())
        });
        let number = |unit: &[u8]| {
            let mut wide = [0; 4];
            wide.iter_mut().zip(unit).for_each(|(to, from)| *to = *from);
            u32::from_le_bytes(wide)
        };
        let units = bytes.chunks_exact(size.max(1)).map(number);
        let text: String = match size {
            1 => return self.quoted(bytes, more, escapes),
            2 => {
                let units = units.map(|unit| unit as u16);
                let characters = char::decode_utf16(units);
                characters
                    .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
                    .collect()
            }
            _ => {
                let characters = units.map(char::from_u32);
                characters
                    .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
                    .collect()
            }
        };
        self.quoted(text.as_bytes(), more, escapes);
    }
}

/// Returns the name of a type without its scopes and template arguments.
fn last_component(name: &str) -> &str {
    let plain = name.split('<').next().unwrap_or(name);
    plain.rsplit("::").next().unwrap_or(plain)
}
