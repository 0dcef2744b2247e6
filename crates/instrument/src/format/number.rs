//! Numbers, truth values, characters and addresses as text.

use super::escape::{Escapes, unquoted};
use super::{Radix, Writer};
use crate::typed::{Number, Typed};
use juror_symbols::{Encoding, Type};
use std::fmt::Write;

impl Writer<'_> {
    /// `char` of Rust, which is no number there.
    fn is_rust_character(&self, encoding: Encoding, r#type: &Type) -> bool {
        encoding == Encoding::Unicode && self.radix == Radix::Natural && r#type.is_rust()
    }

    fn rust_character(&mut self, number: i128) {
        match u32::try_from(number).ok().and_then(char::from_u32) {
            Some(character) => {
                let _ = write!(self.text, "{character:?}");
            }
            None => self.missing(&format!("{number:#x} is no character")),
        }
    }

    pub(super) fn base(&mut self, value: &Typed, encoding: Encoding, stripped: &Type) {
        if stripped.size() == Some(0) {
            // The unit of Rust.
            return self.push(&stripped.name());
        }
        match value.number(self.memory) {
            Ok(Number::Int(number)) if self.is_rust_character(encoding, stripped) => {
                self.rust_character(number);
            }
            Ok(Number::Int(number)) => {
                let character = (encoding.is_character() && self.radix == Radix::Natural)
                    || self.radix == Radix::Character;
                self.integer(number, stripped, character.then_some(number));
            }
            Ok(Number::Float(number)) => self.float(value, number, stripped),
            Ok(Number::Bool(truth)) if self.radix == Radix::Natural => {
                self.push(if truth { "true" } else { "false" });
            }
            Ok(Number::Bool(truth)) => self.integer(i128::from(truth), stripped, None),
            Ok(Number::Pointer(address, _)) => self.address(address),
            Err(_) if self.widest(value, encoding, stripped) => {}
            Err(why) => self.missing(&why),
        }
    }

    /// Shows a number of 16 bytes without sign: half of those there are cannot be computed
    /// with. Tells whether it is one.
    fn widest(&mut self, value: &Typed, encoding: Encoding, stripped: &Type) -> bool {
        let is_whole = stripped.size() == Some(16) && value.bits.is_none();
        let bytes = (encoding == Encoding::Unsigned && is_whole)
            .then(|| value.bytes(self.memory, 16).ok()?.try_into().ok())
            .flatten();
        let Some(raw) = bytes.map(u128::from_le_bytes) else {
            return false;
        };
        match self.radix {
            Radix::Hexadecimal | Radix::Octal | Radix::Binary => {
                self.integer(raw as i128, stripped, None);
            }
            _ => {
                let _ = write!(self.text, "{raw}");
            }
        }
        true
    }

    pub(super) fn float(&mut self, value: &Typed, number: f64, r#type: &Type) {
        let size = r#type.size().unwrap_or(8);
        match self.radix {
            // The bits, as they are.
            Radix::Hexadecimal | Radix::Octal | Radix::Binary => {
                if let Ok(bytes) = value.bytes(self.memory, size.min(16)) {
                    let mut wide = [0; 16];
                    wide[..bytes.len()].copy_from_slice(&bytes);
                    self.integer(i128::from_le_bytes(wide), r#type, None);
                }
                return;
            }
            Radix::Decimal | Radix::Unsigned | Radix::Character => {
                let _ = write!(self.text, "{}", number as i128);
                return;
            }
            _ => {}
        }
        if size == 4 {
            // As many digits as tell it from its neighbours.
            let number = number as f32;
            let magnitude = number.abs();
            let _ = if number == 0.0 || (1e-5..1e9).contains(&magnitude) || !number.is_finite() {
                write!(self.text, "{number}")
            } else {
                write!(self.text, "{number:e}")
            };
            return;
        }
        let magnitude = number.abs();
        let _ = if number == 0.0 || (1e-5..1e17).contains(&magnitude) || !number.is_finite() {
            write!(self.text, "{number}")
        } else {
            write!(self.text, "{number:e}")
        };
    }

    pub(super) fn complex(&mut self, value: &Typed, stripped: &Type) {
        let half = stripped.size().unwrap_or(16) / 2;
        let name = match half {
            4 => "float",
            16 => "long double",
            _ => "double",
        };
        let Some(part) = Type::builtin(name) else {
            return;
        };
        let real = value.part(0, part.clone(), None).number(self.memory);
        let imaginary = value.part(half, part, None).number(self.memory);
        match (real, imaginary) {
            (Ok(Number::Float(real)), Ok(Number::Float(imaginary))) => {
                let _ = write!(self.text, "{real} + {imaginary}i");
            }
            (Err(why), _) | (_, Err(why)) => self.missing(&why),
            _ => self.push("?"),
        }
    }

    pub(super) fn integer(&mut self, number: i128, r#type: &Type, character: Option<i128>) {
        let bits = (r#type.size().unwrap_or(8) * 8).clamp(8, 128) as u32;
        let raw = (number as u128) & (u128::MAX >> (128 - bits));
        let _ = match self.radix {
            Radix::Hexadecimal => write!(self.text, "{raw:#x}"),
            Radix::Octal => write!(self.text, "0{raw:o}"),
            Radix::Binary => write!(self.text, "{raw:b}"),
            Radix::Unsigned => write!(self.text, "{raw}"),
            Radix::Address => {
                self.address(raw as u64);
                Ok(())
            }
            _ => write!(self.text, "{number}"),
        };
        if let Some(code) = character {
            let shown = match u32::try_from(code & 0x1f_ffff)
                .ok()
                .and_then(char::from_u32)
            {
                Some(c) if (0..=0x7f).contains(&code) || bits == 32 => {
                    Escapes::of(r#type).character(c)
                }
                _ => format!("\\{:03o}", raw & 0xff),
            };
            let _ = write!(self.text, " '{shown}'");
        }
    }

    pub(super) fn address(&mut self, address: u64) {
        let _ = write!(self.text, "{address:#x}");
        if let Some(name) = self.names.name_of(address) {
            let _ = write!(self.text, " <{}>", unquoted(&name));
        }
    }
}
