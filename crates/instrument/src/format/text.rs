//! Text: what character pointers lead to, character arrays, and the strings of
//! libraries.

use super::escape::Escapes;
use super::{ASKED_LENGTH_MAX, Writer};
use crate::typed::Typed;
use std::fmt::Write;

impl Writer<'_> {
    pub(super) fn text_at(&mut self, address: u64) {
        let mut bytes = Vec::new();
        let mut ended = false;
        while !ended && (bytes.len() as u64) < self.elements_max.min(ASKED_LENGTH_MAX) {
            let mut byte = [0];
            let at = address.wrapping_add(bytes.len() as u64);
            if !self.memory.read(at, &mut byte) {
                let why = format!("memory at {at:#x} cannot be read");
                return self.missing(&why);
            }
            ended = byte[0] == 0;
            if !ended {
                bytes.push(byte[0]);
            }
        }
        self.quoted(&bytes, !ended, Escapes::C);
    }

    pub(super) fn quoted(&mut self, bytes: &[u8], more: bool, escapes: Escapes) {
        let _ = write!(self.text, "\"{}\"", escapes.text(bytes));
        if more {
            self.push("...");
        }
    }

    pub(super) fn character_array(&mut self, value: &Typed, count: u64) {
        let shown = count.min(self.elements_max).min(ASKED_LENGTH_MAX);
        match value.bytes(self.memory, shown) {
            Ok(bytes) => {
                // Zeros at the end of a buffer say nothing.
                let length = bytes
                    .iter()
                    .rposition(|&byte| byte != 0)
                    .map_or(0, |at| at + 1);
                self.quoted(&bytes[..length], count > shown, Escapes::C);
            }
            Err(why) => self.missing(&why),
        }
    }
}
