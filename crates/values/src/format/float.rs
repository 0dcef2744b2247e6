//! Formats floating-point numbers, and the bits of integers as floating-point numbers.

use super::{Radix, Writer};
use crate::typed::Typed;
use crate::typed::wide::Wide;
use juror_symbols::Type;
use std::fmt::Write;

/// Numbers outside of these ranges are written with an exponent.
const FLOAT_PLAIN: std::ops::Range<f32> = 1e-5..1e9;
const DOUBLE_PLAIN: std::ops::Range<f64> = 1e-5..1e17;

impl Writer<'_> {
    pub(super) fn float(&mut self, value: &Typed, number: f64, r#type: &Type) {
        let size = r#type.size().unwrap_or(8);
        match self.radix {
            // The bits of the number, as an integer.
            Radix::Hexadecimal
            | Radix::Padded
            | Radix::Octal
            | Radix::Binary
            | Radix::Decimal
            | Radix::Unsigned => {
                if let Ok(bytes) = value.bytes(self.memory, size.min(16)) {
                    let mut wide = [0; 16];
                    wide[..bytes.len()].copy_from_slice(&bytes);
                    self.integer(i128::from_le_bytes(wide), r#type, None);
                }
            }
            Radix::Character | Radix::Address => {
                if let Some(word) = Type::builtin("long") {
                    self.integer(i128::from(number as i64), &word, None);
                }
            }
            _ if number.is_nan() && !r#type.is_rust() => self.not_a_number(value, number, size),
            _ if size == 4 => self.single(number as f32),
            _ => self.double(number),
        }
    }

    /// Writes a `long double` or `__float128` with all its digits.
    pub(super) fn wide(&mut self, value: &Typed, number: Wide, r#type: &Type) {
        match self.radix {
            Radix::Natural | Radix::Raw | Radix::String | Radix::Float
                if !number.double().is_nan() =>
            {
                let _ = write!(self.text, "{number}");
            }
            _ => self.float(value, number.double(), r#type),
        }
    }

    /// Writes the fewest digits that identify the number.
    fn single(&mut self, number: f32) {
        let is_plain = number == 0.0 || FLOAT_PLAIN.contains(&number.abs()) || !number.is_finite();
        let _ = if is_plain {
            write!(self.text, "{number}")
        } else {
            write!(self.text, "{number:e}")
        };
    }

    fn double(&mut self, number: f64) {
        let is_plain = number == 0.0 || DOUBLE_PLAIN.contains(&number.abs()) || !number.is_finite();
        let _ = if is_plain {
            write!(self.text, "{number}")
        } else {
            write!(self.text, "{number:e}")
        };
    }

    /// Writes a NaN with the bits of its significand: `-nan(0x8000000000000)`.
    fn not_a_number(&mut self, value: &Typed, number: f64, size: u64) {
        let sign = if number.is_sign_negative() { "-" } else { "" };
        let bytes = value.bytes(self.memory, size.min(8));
        let significand = bytes.ok().map(|bytes| {
            let mut wide = [0; 8];
            wide.iter_mut().zip(&bytes).for_each(|(to, of)| *to = *of);
            let bits = u64::from_le_bytes(wide);
            match size {
                4 => bits & 0x7f_ffff,
                8 => bits & ((1 << 52) - 1),
                _ => bits,
            }
        });
        let _ = match significand {
            Some(significand) => write!(self.text, "{sign}nan({significand:#x})"),
            None => write!(self.text, "{sign}nan"),
        };
    }

    /// Writes the bits of an integer as a floating-point number of the same size. An integer of any
    /// other size is written as it is.
    pub(super) fn bits_as_float(&mut self, number: i128, raw: u128, bits: u32) {
        let name = match bits {
            32 => "float",
            64 => "double",
            128 => "long double",
            _ => {
                let _ = write!(self.text, "{number}");
                return;
            }
        };
        let Some(of) = Type::builtin(name) else {
            return;
        };
        let as_float = match bits {
            32 => f64::from(f32::from_bits(raw as u32)),
            64 => f64::from_bits(raw as u64),
            _ => Wide::read(raw, &of).double(),
        };
        let size = u64::from(bits / 8);
        let bytes = raw
            .to_le_bytes()
            .get(..size as usize)
            .unwrap_or(&[])
            .to_vec();
        self.float(&Typed::of_bytes(of.clone(), bytes), as_float, &of);
    }
}
