//! The types in which C computes (ISO C, 6.3.1): small integers are `int`, of two types
//! the wider one is that of the result.
//!
//! The numbers are exact all the same: one that the type does not hold has a wider one.

use crate::typed::{Number, Typed};
use crate::wide::{Wide, is_quad};
use juror_symbols::{Encoding, Type, TypeKind};

/// What arithmetic knows of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rank {
    /// A whole number of so many bytes, with a sign or without.
    Whole { size: u64, is_signed: bool },
    /// A fraction of so many bytes.
    Fraction { size: u64 },
}

impl Rank {
    fn of(r#type: &Type) -> Option<Rank> {
        let stripped = r#type.strip();
        let size = stripped.size()?;
        match stripped.kind() {
            TypeKind::Base(Encoding::Float) => Some(Rank::Fraction { size }),
            TypeKind::Base(Encoding::ComplexFloat | Encoding::Other) => None,
            TypeKind::Base(encoding) => Some(Rank::promoted(size, encoding.is_signed())),
            TypeKind::Enumeration { underlying, .. } => {
                let is_signed = underlying.is_none_or(
                    |inner| matches!(inner.strip().kind(), TypeKind::Base(it) if it.is_signed()),
                );
                Some(Rank::promoted(size, is_signed))
            }
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
            (Rank::Fraction { size: a }, Rank::Fraction { size: b }) => {
                Rank::Fraction { size: a.max(b) }
            }
            (fraction @ Rank::Fraction { .. }, _) | (_, fraction @ Rank::Fraction { .. }) => {
                fraction
            }
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
            Rank::Fraction { size: 4 } => "float",
            Rank::Fraction { .. } => "double",
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

/// The type in which one number of a type is computed; nothing for what is no number.
pub(crate) fn promoted(r#type: &Type) -> Option<Type> {
    match Rank::of(r#type)? {
        Rank::Fraction { size: 16 } => Some(r#type.strip()),
        rank => rank.r#type(),
    }
}

/// The type in which two numbers are computed.
pub(crate) fn common_type(a: &Type, b: &Type) -> Option<Type> {
    let (first, second) = (Rank::of(a)?, Rank::of(b)?);
    let is_wide = |rank| rank == Rank::Fraction { size: 16 };
    match (is_wide(first), is_wide(second)) {
        (true, true) if is_quad(b) => Some(b.strip()),
        (true, _) => Some(a.strip()),
        (false, true) => Some(b.strip()),
        (false, false) => first.with(second).r#type(),
    }
}

/// The type in which the bits of a number are flipped: Rust has no wider one.
pub(crate) fn flipped_in(r#type: &Type) -> Option<Type> {
    match r#type.is_rust() {
        true => Some(r#type.clone()),
        false => promoted(r#type),
    }
}

/// The type of a whole number that is written.
pub(crate) fn literal_type(number: i128) -> &'static str {
    match i32::try_from(number) {
        Ok(_) => "int",
        Err(_) => "long",
    }
}

/// A result in the type in which it was computed, where that holds it.
pub(crate) fn of_result(number: &Number, r#type: Option<Type>) -> Option<Typed> {
    let size = r#type.as_ref().and_then(Type::size).unwrap_or(0);
    match (number, r#type) {
        (Number::Int(number), Some(r#type)) if fits(*number, &r#type) => {
            let bytes = number.to_le_bytes();
            Some(Typed::of_bytes(
                r#type,
                bytes.get(..size as usize)?.to_vec(),
            ))
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

pub(crate) fn fits(number: i128, r#type: &Type) -> bool {
    let Some(Rank::Whole { size, is_signed }) = Rank::of(r#type) else {
        return false;
    };
    match (size, is_signed) {
        (4, true) => i32::try_from(number).is_ok(),
        (4, false) => u32::try_from(number).is_ok(),
        (8, true) => i64::try_from(number).is_ok(),
        (8, false) => u64::try_from(number).is_ok(),
        (16, true) => true,
        (16, false) => number >= 0,
        _ => false,
    }
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
            (1 << 63, "long", "unsigned long"),
        ] {
            let result = of_result(&Number::Int(number), Type::builtin(name));
            let result = result.expect("a value");
            assert_eq!(result.r#type.name(), expected, "{number} {name}");
            let read = result.number(&crate::typed::tests::NoMemory);
            assert_eq!(read, Ok(Number::Int(number)), "{number} {name}");
        }
    }
}
