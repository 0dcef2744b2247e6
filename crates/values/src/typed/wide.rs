//! Floating-point numbers that a `double` cannot represent: `long double`, of 80 bits, and
//! `__float128`. They are computed in their own formats, rounded as the processor and the
//! compiler's library do.

use crate::error::ValueError;
use crate::typed::Number;
use juror_language::BinaryOperator;
use juror_symbols::Type;
use rustc_apfloat::ieee::{Double, Half, Quad, Single, X87DoubleExtended};
use rustc_apfloat::{Float, FloatConvert};
use std::cmp::Ordering;
use std::fmt;

/// A floating-point number in one of the two formats of 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Wide {
    /// `long double`.
    Extended(X87DoubleExtended),
    /// `__float128`.
    Quad(Quad),
}

/// Returns whether a floating-point type of 16 bytes is `__float128` (`_Float128`, `f128`, and
/// `real(kind=16)` of Fortran).
pub fn is_quad(r#type: &Type) -> bool {
    let name = r#type.strip().name();
    name.contains("128") || name.ends_with("(kind=16)")
}

/// Returns the value of a floating-point number of two bytes: IEEE 754 binary16, or bfloat16.
pub(crate) fn half(bits: u16, r#type: &Type) -> f64 {
    if r#type.strip().name().contains("bf16") {
        f64::from(f32::from_bits(u32::from(bits) << 16))
    } else {
        double(Half::from_bits(u128::from(bits)))
    }
}

fn double(number: impl FloatConvert<Double>) -> f64 {
    let rounded: Double = number.convert(&mut false).value;
    f64::from_bits(rounded.to_bits() as u64)
}

impl Wide {
    /// Decodes 16 bytes of a floating-point type.
    pub fn read(bits: u128, r#type: &Type) -> Wide {
        if is_quad(r#type) {
            Wide::Quad(Quad::from_bits(bits))
        } else {
            // The other 48 bits are padding.
            Wide::Extended(X87DoubleExtended::from_bits(bits & ((1 << 80) - 1)))
        }
    }

    /// Returns the encoding, of 16 bytes.
    pub fn bytes(self) -> Vec<u8> {
        let bits = match self {
            Wide::Extended(number) => number.to_bits(),
            Wide::Quad(number) => number.to_bits(),
        };
        bits.to_le_bytes().to_vec()
    }

    /// Converts a number to one of the formats. Returns `None` for an address.
    pub fn of(number: &Number, quad: bool) -> Option<Wide> {
        let of_double = |number: f64| Double::from_bits(u128::from(number.to_bits()));
        let of_quad = |number: Quad| {
            if quad {
                Wide::Quad(number)
            } else {
                Wide::Extended(number.convert(&mut false).value)
            }
        };
        Some(match number {
            // The integer is rounded once, to the target format.
            Number::Int(number) if quad => Wide::Quad(Quad::from_i128(*number).value),
            Number::Int(number) => Wide::Extended(X87DoubleExtended::from_i128(*number).value),
            Number::Bool(truth) => return Wide::of(&Number::Int(i128::from(*truth)), quad),
            Number::Float(number) => of_quad(of_double(*number).convert(&mut false).value),
            Number::Wide(Wide::Quad(number)) => of_quad(*number),
            Number::Wide(Wide::Extended(number)) => {
                if quad {
                    Wide::Quad(number.convert(&mut false).value)
                } else {
                    Wide::Extended(*number)
                }
            }
            Number::Pointer(..) => return None,
        })
    }

    /// Returns the nearest `double`.
    pub fn double(self) -> f64 {
        match self {
            Wide::Extended(number) => double(number),
            Wide::Quad(number) => double(number),
        }
    }

    /// Returns the nearest `float`.
    pub(crate) fn single(self) -> f32 {
        let mut loses = false;
        let nearest: Single = match self {
            Wide::Extended(number) => number.convert(&mut loses).value,
            Wide::Quad(number) => number.convert(&mut loses).value,
        };
        f32::from_bits(nearest.to_bits() as u32)
    }

    /// Truncates the number to an integer, as a cast does, and saturates at the bounds of `i128`.
    pub(crate) fn whole(self) -> i128 {
        match self {
            Wide::Extended(number) => number.to_i128(128).value,
            Wide::Quad(number) => number.to_i128(128).value,
        }
    }

    /// Returns whether it is 0.
    pub fn is_zero(self) -> bool {
        match self {
            Wide::Extended(number) => number.is_zero(),
            Wide::Quad(number) => number.is_zero(),
        }
    }

    pub(crate) fn negated(self) -> Wide {
        match self {
            Wide::Extended(number) => Wide::Extended(-number),
            Wide::Quad(number) => Wide::Quad(-number),
        }
    }

    fn is_quad(number: &Number) -> bool {
        matches!(number, Number::Wide(Wide::Quad(_)))
    }
}

/// Computes a binary operator, at least one operand of which is wide.
pub(crate) fn compute(
    operator: BinaryOperator,
    a: &Number,
    b: &Number,
) -> Result<Number, ValueError> {
    let quad = Wide::is_quad(a) || Wide::is_quad(b);
    match (Wide::of(a, quad), Wide::of(b, quad)) {
        (Some(Wide::Extended(a)), Some(Wide::Extended(b))) => same(operator, a, b, Wide::Extended),
        (Some(Wide::Quad(a)), Some(Wide::Quad(b))) => same(operator, a, b, Wide::Quad),
        _ => Err(format!("`{operator}` does not apply to these types").into()),
    }
}

fn same<F: Float>(
    operator: BinaryOperator,
    a: F,
    b: F,
    wide: impl Fn(F) -> Wide,
) -> Result<Number, ValueError> {
    let ordering = a.partial_cmp(&b);
    let is = |wanted: &[Ordering]| ordering.is_some_and(|found| wanted.contains(&found));
    let computed = match operator {
        BinaryOperator::Add => a + b,
        BinaryOperator::Subtract => a - b,
        BinaryOperator::Multiply => a * b,
        BinaryOperator::Divide => a / b,
        BinaryOperator::Remainder => a % b,
        BinaryOperator::Equal => return Ok(Number::Bool(is(&[Ordering::Equal]))),
        BinaryOperator::NotEqual => return Ok(Number::Bool(!is(&[Ordering::Equal]))),
        BinaryOperator::Less => return Ok(Number::Bool(is(&[Ordering::Less]))),
        BinaryOperator::LessEqual => {
            return Ok(Number::Bool(is(&[Ordering::Less, Ordering::Equal])));
        }
        BinaryOperator::Greater => return Ok(Number::Bool(is(&[Ordering::Greater]))),
        BinaryOperator::GreaterEqual => {
            return Ok(Number::Bool(is(&[Ordering::Greater, Ordering::Equal])));
        }
        _ => return Err(format!("`{operator}` needs whole numbers").into()),
    };
    Ok(Number::Wide(wide(computed.value)))
}

impl fmt::Display for Wide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wide::Extended(number) => f.write_str(&shortest(*number, 18..=21)),
            Wide::Quad(number) => f.write_str(&shortest(*number, 33..=36)),
        }
    }
}

/// Formats a number with the fewest digits that identify it.
fn shortest<F: Float>(number: F, digits: std::ops::RangeInclusive<usize>) -> String {
    if number.is_nan() {
        return if number.is_negative() { "-nan" } else { "nan" }.to_owned();
    }
    if number.is_infinite() {
        return if number.is_negative() { "-inf" } else { "inf" }.to_owned();
    }
    let shown = |digits: usize| format!("{number:.digits$}");
    let is_enough = |text: &String| text.parse::<F>().is_ok_and(|it| it.bitwise_eq(number));
    let mut all = digits.clone().map(shown);
    let text = all.find(is_enough).unwrap_or_else(|| shown(*digits.end()));
    text.replace("E+", "e").replace("E-", "e-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extended(text: &str) -> Number {
        Number::Wide(Wide::Extended(text.parse().expect("a number")))
    }

    #[track_caller]
    fn check(operator: BinaryOperator, a: &Number, b: &Number, expected: &str) {
        let shown = match compute(operator, a, b).expect("a result") {
            Number::Wide(wide) => wide.to_string(),
            Number::Bool(truth) => truth.to_string(),
            other => panic!("{other:?}"),
        };
        assert_eq!(shown, expected);
    }

    #[test]
    fn wide_fractions_are_exact() {
        let pi = extended("3.14159265358979323846");
        check(
            BinaryOperator::Multiply,
            &pi,
            &Number::Int(2),
            "6.283185307179586477",
        );
        check(
            BinaryOperator::Equal,
            &pi,
            &Number::Float(std::f64::consts::PI),
            "false",
        );
        check(
            BinaryOperator::Add,
            &extended("1.25"),
            &Number::Float(0.25),
            "1.5",
        );
        check(
            BinaryOperator::Divide,
            &extended("1"),
            &Number::Int(3),
            "0.33333333333333333334",
        );
        let quad = Wide::of(&Number::Float(1.25), true).map(Number::Wide);
        check(
            BinaryOperator::Multiply,
            &quad.expect("a number"),
            &pi,
            "3.9269908169872415481410111992577328",
        );
        check(
            BinaryOperator::Multiply,
            &extended("1e4000"),
            &Number::Int(10),
            "1.0e4001",
        );
    }

    #[test]
    fn a_half_is_a_number() {
        let of = |name| Type::builtin(name).expect("a type");
        assert_eq!(half(0x3e00, &of("float")), 1.5);
    }

    #[test]
    fn wide_fractions_are_rounded_and_cut() {
        for (text, whole, double) in [("-2.75", -2, -2.75), ("0.5", 0, 0.5), ("7", 7, 7.0)] {
            for quad in [false, true] {
                let wide = Wide::of(&extended(text), quad).expect("a format");
                assert_eq!((wide.whole(), wide.double()), (whole, double), "{text}");
                assert_eq!(wide.negated().whole(), -whole, "{text}");
                assert!(!wide.is_zero(), "{text}");
                assert_eq!(Wide::is_quad(&Number::Wide(wide)), quad);
            }
        }
        let large = Wide::of(&extended("1e60"), false).expect("a format");
        assert_eq!(large.whole(), i128::MAX);
        assert_eq!(large.negated().whole(), i128::MIN);
        for (number, is_zero) in [(Number::Int(0), true), (Number::Bool(true), false)] {
            for quad in [false, true] {
                let wide = Wide::of(&number, quad).expect("a format");
                assert_eq!(wide.is_zero(), is_zero, "{number:?}");
            }
        }
    }
}
