//! Formats text: the targets of character pointers, character arrays, and strings of libraries.

use super::escape::Escapes;
use super::{ASKED_LENGTH_MAX, Writer};
use crate::typed::Typed;
use juror_symbols::Character;
use std::fmt::Write;

impl Writer<'_> {
    pub(super) fn string_at(&mut self, address: u64, of: Character) {
        let size = usize::from(of.size());
        let mut bytes = Vec::new();
        let mut ended = false;
        let most = self.elements_max.min(ASKED_LENGTH_MAX);
        while !ended && (bytes.len() / size) as u64 != most {
            let mut unit = [0; 4];
            let at = address.wrapping_add(bytes.len() as u64);
            if !self.memory.read(at, &mut unit[..size]) {
                let why = format!("memory at {at:#x} cannot be read");
                return self.missing(&why);
            }
            ended = unit[..size].iter().all(|&byte| byte == 0);
            if !ended {
                bytes.extend_from_slice(&unit[..size]);
            }
        }
        self.string_of(&bytes, !ended, of);
    }

    pub(super) fn quoted(&mut self, bytes: &[u8], more: bool, escapes: Escapes) {
        let _ = write!(self.text, "\"{}\"", escapes.text(bytes));
        if more {
            self.push("...");
        }
    }

    /// Writes text of C, with the prefix of its literal if its characters are wide.
    fn string_of(&mut self, bytes: &[u8], more: bool, of: Character) {
        if of == Character::Byte {
            return self.quoted(bytes, more, Escapes::C);
        }
        let _ = write!(self.text, "{}\"", of.prefix());
        for character in of.decoded(bytes) {
            let _ = match character {
                Ok(character) => {
                    let mut buffer = [0; 4];
                    let shown = character.encode_utf8(&mut buffer);
                    write!(self.text, "{}", Escapes::C.text(shown.as_bytes()))
                }
                Err(code) => write!(self.text, "\\x{code:x}"),
            };
        }
        self.push(if more { "\"..." } else { "\"" });
    }

    pub(super) fn character_array(&mut self, value: &Typed, count: u64, of: Character) {
        let size = u64::from(of.size());
        let shown = count.min(self.elements_max).min(ASKED_LENGTH_MAX / size);
        match value.bytes(self.memory, shown * size) {
            Ok(bytes) => {
                // Zeros at the end of a buffer carry no text.
                let mut units = bytes.chunks_exact(size as usize);
                let last = units.rposition(|unit| unit.iter().any(|&byte| byte != 0));
                let length = last.map_or(0, |at| (at + 1) * size as usize);
                self.string_of(&bytes[..length], count > shown, of);
            }
            Err(why) => self.missing(&why),
        }
    }
}
