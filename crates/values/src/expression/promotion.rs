//! The types of C arithmetic (ISO C, 6.3.1): small integers are promoted to `int`, and the wider
//! operand determines the type of the result.
//!
//! Signed results are exact all the same: a result that exceeds its type gets a wider one. Unsigned
//! results wrap.

use super::arithmetic::Overflow;
use crate::typed::wide::{Wide, is_quad};
use crate::typed::{Number, Typed};
use juror_symbols::{BitField, Encoding, Type, TypeKind};

/// The properties of a type that arithmetic depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rank {
    /// An integer of `size` bytes.
    Whole { size: u64, is_signed: bool },
    /// A floating-point number of `size` bytes.
    Float { size: u64 },
}

impl Rank {
    /// Returns the rank of a type after promotion, or `None` if it is not arithmetic.
    fn of(r#type: &Type) -> Option<Rank> {
        if r#type.is_rust() {
            Rank::of_rust(r#type)
        } else {
            Rank::of_c(r#type)
        }
    }

    fn of_c(r#type: &Type) -> Option<Rank> {
        let stripped = r#type.strip();
        let size = stripped.size()?;
        match stripped.kind() {
            TypeKind::Base(Encoding::Float) => Some(Rank::Float { size }),
            TypeKind::Base(Encoding::ComplexFloat | Encoding::Other) => None,
            TypeKind::Base(encoding) => Some(Rank::promoted(size, encoding.is_signed())),
            // An unscoped enumeration of C++ is promoted to the first signed or unsigned type that
            // has all its values, whatever its underlying type.
            TypeKind::Enumeration { enumerators, .. } if r#type.is_cpp() => {
                let most = match size {
                    8 => i128::from(i64::MAX),
                    _ => i128::from(i32::MAX),
                };
                let fits = enumerators.iter().all(|it| it.value <= most);
                Some(Rank::promoted(size, fits))
            }
            TypeKind::Enumeration { underlying, .. } => {
                let is_signed = underlying.is_none_or(
                    |inner| matches!(inner.strip().kind(), TypeKind::Base(it) if it.is_signed()),
                );
                Some(Rank::promoted(size, is_signed))
            }
            _ => None,
        }
    }

    /// Returns the rank of a Rust type. Integers are not promoted; other types are not numbers in
    /// Rust, and count as signed here.
    fn of_rust(r#type: &Type) -> Option<Rank> {
        let stripped = r#type.strip();
        let size = stripped.size()?;
        match stripped.kind() {
            TypeKind::Base(Encoding::Float) => Some(Rank::Float { size }),
            TypeKind::Base(Encoding::ComplexFloat | Encoding::Other) => None,
            TypeKind::Base(encoding @ (Encoding::Signed | Encoding::Unsigned)) => {
                let is_signed = encoding.is_signed();
                Some(Rank::Whole { size, is_signed })
            }
            TypeKind::Base(_) | TypeKind::Enumeration { .. } => Some(Rank::promoted(size, true)),
            _ => None,
        }
    }

    fn promoted(size: u64, is_signed: bool) -> Rank {
        match size {
            0..4 => Rank::Whole {
                size: 4,
                is_signed: true,
            },
            _ => Rank::Whole { size, is_signed },
        }
    }

    fn with(self, other: Rank) -> Rank {
        match (self, other) {
            (Rank::Float { size: a }, Rank::Float { size: b }) => Rank::Float { size: a.max(b) },
            (float @ Rank::Float { .. }, _) | (_, float @ Rank::Float { .. }) => float,
            (
                Rank::Whole {
                    size: a,
                    is_signed: first,
                },
                Rank::Whole {
                    size: b,
                    is_signed: second,
                },
            ) => Rank::Whole {
                size: a.max(b),
                is_signed: match a.cmp(&b) {
                    std::cmp::Ordering::Equal => first && second,
                    std::cmp::Ordering::Less => second,
                    std::cmp::Ordering::Greater => first,
                },
            },
        }
    }

    fn r#type(self) -> Option<Type> {
        Type::builtin(match self {
            Rank::Float { size: 4 } => "float",
            Rank::Float { .. } => "double",
            Rank::Whole {
                size: 16,
                is_signed: true,
            } => "__int128",
            Rank::Whole { size: 16, .. } => "unsigned __int128",
            Rank::Whole {
                size: 8,
                is_signed: true,
            } => "long",
            Rank::Whole { size: 8, .. } => "unsigned long",
            Rank::Whole {
                is_signed: true, ..
            } => "int",
            Rank::Whole { .. } => "unsigned int",
        })
    }
}

/// Returns the promoted type, or `None` if the type is not arithmetic.
pub fn promoted(r#type: &Type) -> Option<Type> {
    match Rank::of(r#type)? {
        Rank::Float { size: 16 } => Some(r#type.strip()),
        rank => own(r#type, rank).or_else(|| rank.r#type()),
    }
}

/// Returns the common type of two operands, or `None` if one is not arithmetic.
pub fn common_type(a: &Type, b: &Type) -> Option<Type> {
    let (first, second) = (Rank::of(a)?, Rank::of(b)?);
    let is_wide = |rank| rank == Rank::Float { size: 16 };
    match (is_wide(first), is_wide(second)) {
        (true, true) if is_quad(b) => Some(b.strip()),
        (true, _) => Some(a.strip()),
        (false, true) => Some(b.strip()),
        (false, false) => {
            let common = first.with(second);
            let of_rust = own(a, common).or_else(|| own(b, common));
            of_rust.or_else(|| common.r#type())
        }
    }
}

/// Returns the Rust integer type itself if it has the rank of the computation.
fn own(r#type: &Type, rank: Rank) -> Option<Type> {
    let is_integer = matches!(
        r#type.strip().kind(),
        TypeKind::Base(Encoding::Signed | Encoding::Unsigned)
    );
    let is_own = r#type.is_rust() && is_integer && Rank::of(r#type) == Some(rank);
    is_own.then(|| r#type.strip())
}

/// Returns whether integers of a type wrap: the unsigned types of C. Those of Rust do not, since
/// overflow is a bug there.
pub(crate) fn wraps(r#type: &Type) -> bool {
    let is_unsigned = matches!(
        Rank::of(r#type),
        Some(Rank::Whole {
            is_signed: false,
            ..
        })
    );
    is_unsigned && !r#type.is_rust()
}

/// Returns the treatment of overflow in a type of at most 8 bytes.
pub fn overflow_in(r#type: Option<&Type>) -> Overflow {
    let size = r#type.filter(|it| wraps(it)).and_then(Type::size);
    match size {
        Some(size @ 4..=8) => Overflow::Wraps {
            bits: size as u32 * 8,
        },
        _ => Overflow::Error,
    }
}

/// Returns the treatment of overflow by a shift in a type: an integer of Rust drops the bits that
/// leave it.
pub fn overflow_of_shift(r#type: Option<&Type>) -> Overflow {
    let own = r#type.filter(|it| it.is_rust());
    match own.and_then(Rank::of) {
        Some(Rank::Whole { size, is_signed }) => Overflow::Cut {
            bits: u32::try_from(size * 8).unwrap_or(128),
            is_signed,
        },
        _ => overflow_in(r#type),
    }
}

/// Returns the type of a bit field in arithmetic: narrow ones are promoted to `int`.
pub fn of_bit_field(r#type: Type, bits: Option<BitField>) -> Type {
    let is_narrow = bits.is_some_and(|bits| bits.size_bits < 32);
    match is_narrow.then(|| Type::builtin("int")).flatten() {
        Some(int) if Rank::of(&r#type).is_some() => int,
        _ => r#type,
    }
}

/// Returns the number of bits of an unsigned type, at most 64, or `None` for a signed one.
pub fn unsigned_bits(r#type: &Type) -> Option<u8> {
    let is_unsigned =
        matches!(r#type.strip().kind(), TypeKind::Base(encoding) if !encoding.is_signed());
    let bits = (r#type.size().unwrap_or(8) * 8).min(64);
    is_unsigned.then_some(bits as u8)
}

/// Returns the type of an integer literal.
pub fn literal_type(number: i128) -> &'static str {
    match (i32::try_from(number), i64::try_from(number)) {
        (Ok(_), _) => "int",
        (_, Ok(_)) => "long",
        _ => "unsigned long",
    }
}

/// Returns a result in the type of the computation. If it does not fit, it gets a wider signed
/// type, so that further computation stays exact. Returns `None` if no type fits.
pub(crate) fn of_result(number: &Number, r#type: Option<Type>) -> Option<Typed> {
    let size = r#type.as_ref().and_then(Type::size).unwrap_or(0);
    match (number, r#type) {
        (Number::Int(number), Some(r#type)) => {
            let held = if fits(*number, &r#type) {
                r#type
            } else {
                wider_type(*number)?
            };
            let size = held.size()? as usize;
            let bytes = number.to_le_bytes();
            Some(Typed::of_bytes(held, bytes.get(..size)?.to_vec()))
        }
        (Number::Float(_) | Number::Wide(_), Some(r#type)) if size == 16 => {
            let wide = Wide::of(number, is_quad(&r#type))?;
            Some(Typed::of_bytes(r#type, wide.bytes()))
        }
        (Number::Float(number), Some(r#type)) if size == 4 => {
            let bytes = (*number as f32).to_le_bytes().to_vec();
            Some(Typed::of_bytes(r#type, bytes))
        }
        _ => Typed::of_number(number),
    }
}

/// Returns a wider type for a number that its own type cannot represent, or `None` if it exceeds 64
/// bits.
fn wider_type(number: i128) -> Option<Type> {
    let is_long = i64::try_from(number).is_ok();
    let is_wider = is_long || u64::try_from(number).is_ok();
    is_wider.then(|| Type::builtin(if is_long { "long" } else { "__int128" }))?
}

/// Returns whether a result may have a wider type than the one in which it was computed.
pub(crate) fn may_be_wider(value: &Typed, number: &Number) -> bool {
    match (value.r#type.size(), number) {
        (Some(8), Number::Int(number)) => i32::try_from(*number).is_err(),
        (Some(16), Number::Int(number)) => i64::try_from(*number).is_err(),
        _ => false,
    }
}

pub(crate) fn fits(number: i128, r#type: &Type) -> bool {
    let Some(Rank::Whole { size, is_signed }) = Rank::of(r#type) else {
        return false;
    };
    match (size, is_signed) {
        (16, true) => true,
        (16, false) => number >= 0,
        (1..=8, true) => (number >> (size * 8 - 1)) == number >> 127,
        (1..=8, false) => number >> (size * 8) == 0,
        _ => false,
    }
}

/// Returns whether `!` inverts the bits of a value, as Rust does with integers. Types that the
/// debugger makes itself are those of the language at the place.
pub fn is_inverted(r#type: &Type, is_rust_place: bool) -> bool {
    let stripped = r#type.strip();
    let is_integer = matches!(
        stripped.kind(),
        TypeKind::Base(Encoding::Signed | Encoding::Unsigned)
    );
    is_integer && (stripped.is_rust() || is_rust_place && stripped.is_of_debugger())
}

/// Returns whether a type is `float`, in which numbers are rounded at each step.
pub fn is_short_float(r#type: &Type) -> bool {
    is_float(r#type) && r#type.size() == Some(4)
}

/// Converts an integer to `float`, with one rounding. Other numbers are returned unchanged.
pub(crate) fn in_short_float(number: Number) -> Number {
    match number {
        Number::Int(number) => Number::Float(f64::from(number as f32)),
        Number::Bool(truth) => Number::Float(f64::from(u8::from(truth))),
        number => number,
    }
}

/// Returns whether a type is a floating-point type.
pub(super) fn is_float(r#type: &Type) -> bool {
    matches!(r#type.strip().kind(), TypeKind::Base(Encoding::Float))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_computed_in_the_types_of_c() {
        for (a, b, expected) in [
            ("char", "char", "int"),
            ("bool", "short", "int"),
            ("int", "unsigned int", "unsigned int"),
            ("unsigned int", "long", "long"),
            ("unsigned long", "long", "unsigned long"),
            ("int", "float", "float"),
            ("float", "double", "double"),
            ("float", "long double", "long double"),
            ("__int128", "unsigned long", "__int128"),
        ] {
            let of = |name| Type::builtin(name).expect("a type");
            for (a, b) in [(a, b), (b, a)] {
                let found = common_type(&of(a), &of(b)).map(|it| it.name());
                assert_eq!(found.as_deref(), Some(expected), "{a} {b}");
            }
        }
        assert_eq!(promoted(&Type::void().pointer_to()), None);
    }

    #[test]
    fn a_result_that_does_not_fit_has_a_wider_type() {
        for (number, name, expected) in [
            (-1, "int", "int"),
            (1 << 31, "int", "long"),
            (-1, "unsigned int", "long"),
            (1 << 63, "long", "__int128"),
            (1 << 63, "unsigned long", "unsigned long"),
        ] {
            let result = of_result(&Number::Int(number), Type::builtin(name));
            let result = result.expect("a value");
            assert_eq!(result.r#type.name(), expected, "{number} {name}");
            let read = result.number(&crate::typed::NoMemory);
            assert_eq!(read, Ok(Number::Int(number)), "{number} {name}");
        }
    }
}
