//! Formats integers, booleans, characters and addresses.

use super::escape::{Escapes, unquoted};
use super::{Radix, Writer, decimal};
use crate::typed::wide::Wide;
use crate::typed::{Number, Typed, complex_part, is_complex_integer, is_decimal};
use juror_symbols::{Character, Encoding, Type, TypeKind};
use std::fmt::Write;

impl Writer<'_> {
    /// Returns whether a value is a Rust `char`, which is not shown as a number.
    fn is_rust_character(&self, encoding: Encoding, r#type: &Type) -> bool {
        encoding == Encoding::Unicode && self.is_natural() && r#type.is_rust()
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
            // The unit type of Rust.
            return self.push(&stripped.name());
        }
        if encoding == Encoding::Other && self.special(value, stripped) {
            return;
        }
        match value.number(self.memory) {
            Ok(Number::Int(number)) if self.is_rust_character(encoding, stripped) => {
                self.rust_character(number);
            }
            Ok(Number::Int(number)) => {
                // A typedef on the way may make it a character type.
                let own = &value.r#type;
                let character = own.character().filter(|_| self.is_natural());
                match self.radix {
                    Radix::Character => self.integer(number, own, None),
                    _ => self.integer(number, stripped, character),
                }
            }
            Ok(Number::Float(number)) => self.float(value, number, stripped),
            Ok(Number::Wide(number)) => self.wide(value, number, stripped),
            Ok(Number::Bool(truth)) if self.is_natural() => {
                self.push(if truth { "true" } else { "false" });
            }
            Ok(Number::Bool(truth)) => self.integer(i128::from(truth), stripped, None),
            Ok(Number::Pointer(address, _)) => self.address(address),
            Err(_) if self.widest(value, encoding, stripped) => {}
            Err(why) => self.missing(&why),
        }
    }

    /// Writes an unsigned integer of 16 bytes, half of which exceed `i128`. Returns whether the
    /// value is one.
    fn widest(&mut self, value: &Typed, encoding: Encoding, stripped: &Type) -> bool {
        let is_whole = stripped.size() == Some(16) && value.bits.is_none();
        let bytes = (encoding == Encoding::Unsigned && is_whole)
            .then(|| value.bytes(self.memory, 16).ok()?.try_into().ok())
            .flatten();
        let Some(raw) = bytes.map(u128::from_le_bytes) else {
            return false;
        };
        match self.radix {
            Radix::Hexadecimal | Radix::Padded | Radix::Octal | Radix::Binary => {
                self.integer(raw as i128, stripped, None);
            }
            _ => {
                let _ = write!(self.text, "{raw}");
            }
        }
        true
    }

    pub(super) fn complex(&mut self, value: &Typed, stripped: &Type) {
        let half = stripped.size().unwrap_or(16) / 2;
        // No built-in type describes the parts of a complex `__float128`.
        let quad = |at: u64| {
            let bytes = value.bytes(self.memory, 2 * half).ok()?;
            let part = bytes.get(at as usize..)?.get(..16)?;
            Some(Wide::read(
                u128::from_le_bytes(part.try_into().ok()?),
                stripped,
            ))
        };
        let Some(part) = complex_part(stripped) else {
            return match (quad(0), quad(half)) {
                (Some(real), Some(imaginary)) if half == 16 => {
                    let _ = write!(self.text, "{real} + {imaginary}i");
                }
                _ => self.push("?"),
            };
        };
        self.parts(value, half, &part);
    }

    fn parts(&mut self, value: &Typed, half: u64, part: &Type) {
        let TypeKind::Base(encoding) = part.kind() else {
            return;
        };
        self.base(&value.part(0, part.clone(), None), encoding, part);
        self.push(" + ");
        self.base(&value.part(half, part.clone(), None), encoding, part);
        self.push("i");
    }

    /// Writes numbers in compiler-specific encodings. Returns whether the value is one.
    fn special(&mut self, value: &Typed, stripped: &Type) -> bool {
        let size = stripped.size().unwrap_or(0);
        if is_decimal(stripped) && self.is_natural() {
            match value.bytes(self.memory, size.min(16)) {
                Ok(bytes) => self.push(&decimal::shown(&bytes)),
                Err(why) => self.missing(&why),
            }
            return true;
        }
        let part = is_complex_integer(stripped)
            .then(|| Type::builtin(stripped.name().strip_prefix("complex ")?))
            .flatten();
        let Some(part) = part.filter(|part| part.size() == Some(size / 2)) else {
            return false;
        };
        self.parts(value, size / 2, &part);
        true
    }

    /// Writes an integer, and the character if it is shown as one.
    pub(super) fn integer(&mut self, number: i128, r#type: &Type, character: Option<Character>) {
        let bits = (r#type.size().unwrap_or(8) * 8).clamp(8, 128) as u32;
        let unused = 128 - bits;
        let raw = (number as u128) & (u128::MAX >> unused);
        let _ = match self.radix {
            Radix::Hexadecimal => write!(self.text, "{raw:#x}"),
            Radix::Padded => {
                let width = bits as usize / 4 + 2;
                write!(self.text, "{raw:#0width$x}")
            }
            Radix::Octal if raw == 0 => write!(self.text, "0"),
            Radix::Octal => write!(self.text, "0{raw:o}"),
            Radix::Binary => write!(self.text, "{raw:b}"),
            Radix::Unsigned => write!(self.text, "{raw}"),
            Radix::Decimal => write!(self.text, "{}", ((raw << unused) as i128) >> unused),
            Radix::Address => {
                self.address(number as u64);
                Ok(())
            }
            Radix::Float => {
                self.bits_as_float(number, raw, bits);
                Ok(())
            }
            Radix::Character => {
                self.as_character(number, r#type);
                Ok(())
            }
            _ => write!(self.text, "{number}"),
        };
        if let Some(character) = character {
            self.character(raw, r#type, character);
        }
    }

    /// Writes a number as the character of its low byte, or as the wide character if the type is
    /// one.
    fn as_character(&mut self, number: i128, r#type: &Type) {
        let character = r#type.character().unwrap_or(Character::Byte);
        let is_signed = |of: &Type| matches!(of.strip().kind(), TypeKind::Base(encoding) if encoding.is_signed());
        let number = match character {
            Character::Byte if number < 0 || is_signed(r#type) => i128::from(number as i8),
            Character::Byte => i128::from(number as u8),
            _ => number,
        };
        let _ = write!(self.text, "{number}");
        let raw = number as u128 & (u128::MAX >> (128 - 8 * u32::from(character.size())));
        self.character(raw, r#type, character);
    }

    fn character(&mut self, raw: u128, r#type: &Type, of: Character) {
        let most = if of == Character::Byte {
            0x7f
        } else {
            0x10_ffff
        };
        let code = u32::try_from(raw).ok().filter(|&code| code <= most);
        let shown = match code.and_then(char::from_u32) {
            Some(c) => Escapes::of(r#type).character(c),
            None if of == Character::Byte => format!("\\{:03o}", raw & 0xff),
            None => format!("\\x{raw:x}"),
        };
        let _ = write!(self.text, " {}'{shown}'", of.prefix());
    }

    pub(super) fn address(&mut self, address: u64) {
        let _ = write!(self.text, "{address:#x}");
        if let Some(name) = self.names.name_of(address) {
            let _ = write!(self.text, " <{}>", unquoted(&name));
        }
    }
}
