//! Encodes the values of assignments.
//!
//! Invariant: nothing is lost. A number that its type cannot represent is refused, where C would
//! truncate it.

use juror_symbols::{BitField, Encoding, Memory, Type, TypeKind};
use juror_values::classes::upcast::{cast_address, referred_to};
use juror_values::error::ValueError;
use juror_values::expression::cast;
use juror_values::expression::member_pointer;
use juror_values::typed::complex_part;
use juror_values::typed::{Number, Typed, VALUE_SIZE_MAX};

/// Returns the value that an assignment changes or copies: the referent of a C++ reference, since
/// nothing rebinds a reference.
///
/// # Errors
/// The referent cannot be located.
pub fn assignment_target(value: &Typed, memory: &dyn Memory) -> Result<Typed, ValueError> {
    referred_to(value, memory)
}

/// Returns the bytes that an assignment of `value` stores in `target`: the size of its type, or the
/// bytes around a bit field.
///
/// # Errors
/// The value does not fit, or has an incompatible type; a sentence for the user.
pub fn bytes_for(
    target: &Typed,
    value: &Typed,
    memory: &dyn Memory,
) -> Result<Vec<u8>, ValueError> {
    let mut bytes = little_endian(target, value, memory)?;
    // A cast has applied the byte order of its type.
    let is_cast = matches!(
        target.r#type.strip().kind(),
        TypeKind::Base(Encoding::Float)
    );
    if target.bits.is_none() && !is_cast && target.r#type.is_big_endian() {
        bytes.reverse();
    }
    Ok(bytes)
}

fn little_endian(
    target: &Typed,
    value: &Typed,
    memory: &dyn Memory,
) -> Result<Vec<u8>, ValueError> {
    let r#type = target.r#type.strip();
    if let Some(bits) = target.bits {
        return bit_field(target, bits, value, memory);
    }
    let size = r#type.size().unwrap_or(0);
    if size == 0 || size > VALUE_SIZE_MAX {
        return Err(format!("`{}` cannot be assigned", target.r#type.name()).into());
    }
    match r#type.kind() {
        TypeKind::Base(Encoding::Float) => {
            let converted = cast(value, r#type, memory)?;
            let number = value.number(memory)?;
            if is_infinite(&converted.number(memory)?) && !is_infinite(&number) {
                let shown = match number {
                    Number::Float(number) => format!("{number:?}"),
                    Number::Wide(number) => number.to_string(),
                    _ => "the number".to_owned(),
                };
                let name = target.r#type.name();
                return Err(format!("{shown} does not fit into `{name}`: it is too large").into());
            }
            converted.bytes(memory, size)
        }
        TypeKind::Base(Encoding::Boolean) => match value.number(memory)? {
            Number::Bool(truth) => Ok(vec![u8::from(truth)]),
            Number::Int(number @ 0..=1) => Ok(vec![number as u8]),
            _ => Err(format!("`{}` is true or false", target.r#type.name()).into()),
        },
        TypeKind::Base(Encoding::ComplexFloat) => complex(target, value, size, memory),
        TypeKind::Base(encoding) => {
            let number = whole(value, memory)?;
            let name = target.r#type.name();
            if !is_all_bits(number, size * 8, target) {
                fitting(number, size * 8, encoding.is_signed(), &name)?;
            }
            Ok(low_bytes(number, size))
        }
        TypeKind::Pointer(to) | TypeKind::Reference(to) => {
            let number = match value.number(memory)? {
                Number::Pointer(address, from) => cast_address(address, &from, &to, memory)?.into(),
                _ => whole(value, memory)?,
            };
            fitting(number, 64, false, &target.r#type.name())?;
            Ok(low_bytes(number, size))
        }
        TypeKind::MemberPointer { .. } => member_pointer::bytes_as(value, &target.r#type, memory),
        TypeKind::Enumeration { .. } => Ok(low_bytes(whole(value, memory)?, size)),
        _ => of_same_type(target, value, size, memory),
    }
}

fn is_infinite(number: &Number) -> bool {
    match number {
        Number::Float(number) => number.is_infinite(),
        Number::Wide(number) => number.to_string().contains("inf"),
        _ => false,
    }
}

/// Encodes a complex number; a real number has no imaginary part.
fn complex(
    target: &Typed,
    value: &Typed,
    size: u64,
    memory: &dyn Memory,
) -> Result<Vec<u8>, ValueError> {
    if matches!(
        value.r#type.strip().kind(),
        TypeKind::Base(Encoding::ComplexFloat)
    ) {
        return of_same_type(target, value, size, memory);
    }
    let part = complex_part(&target.r#type.strip()).ok_or("its format is not known")?;
    let mut bytes = cast(value, part, memory)?.bytes(memory, size / 2)?;
    bytes.resize(size as usize, 0);
    Ok(bytes)
}

fn of_same_type(
    target: &Typed,
    value: &Typed,
    size: u64,
    memory: &dyn Memory,
) -> Result<Vec<u8>, ValueError> {
    let (given, wanted) = (value.r#type.strip(), target.r#type.strip());
    if let Some(text) = shorter_text(&given, &wanted) {
        let mut bytes = value.bytes(memory, text)?;
        bytes.resize(size as usize, 0);
        return Ok(bytes);
    }
    // clang gives all complex numbers one name.
    if given.name() == wanted.name() && given.size() == wanted.size() {
        value.bytes(memory, size)
    } else {
        Err(format!(
            "`{}` takes a value of its own type, and this is `{}`",
            target.r#type.name(),
            value.r#type.name()
        )
        .into())
    }
}

/// Returns whether a type is an array of one-byte characters, to which text can be assigned.
pub fn is_text(of: &Type) -> bool {
    match of.kind() {
        TypeKind::Array {
            element,
            dimensions,
            ..
        } => {
            let element = element.strip();
            let is_character = element.size() == Some(1) && element.name().contains("char");
            is_character && dimensions.len() == 1
        }
        _ => false,
    }
}

/// Returns the number of bytes of a text that are copied to an array of another size. As in C, the
/// terminator need not fit.
fn shorter_text(given: &Type, wanted: &Type) -> Option<u64> {
    let (length, place) = (given.size()?, wanted.size()?);
    let is_shorter = length != place && length <= place.saturating_add(1);
    (is_text(given) && is_text(wanted) && is_shorter).then_some(length.min(place))
}

/// Returns an integer, a boolean or an address; a fraction is an error.
fn whole(value: &Typed, memory: &dyn Memory) -> Result<i128, ValueError> {
    match value.number(memory)? {
        Number::Int(number) => Ok(number),
        Number::Bool(truth) => Ok(i128::from(truth)),
        Number::Pointer(address, _) => Ok(i128::from(address)),
        Number::Float(number) => {
            Err(format!("{number:?} is not a whole number; cast it first").into())
        }
        Number::Wide(number) => {
            Err(format!("{number} is not a whole number; cast it first").into())
        }
    }
}

fn fitting(number: i128, bits: u64, is_signed: bool, name: &str) -> Result<(), ValueError> {
    let bits = bits.clamp(1, 126) as u32;
    let (lowest, highest) = if is_signed {
        (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1)
    } else {
        (0, (1_i128 << bits) - 1)
    };
    if (lowest..=highest).contains(&number) {
        Ok(())
    } else {
        Err(
            format!("{number} does not fit into `{name}`, which holds {lowest} to {highest}")
                .into(),
        )
    }
}

/// Returns whether a number is negative for all its bits, as `-1` and `~0` are in C and C++: an
/// unsigned type of this width loses none of them.
fn is_all_bits(number: i128, bits: u64, target: &Typed) -> bool {
    let is_signed =
        matches!(target.r#type.strip().kind(), TypeKind::Base(encoding) if encoding.is_signed());
    number < 0 && !is_signed && !target.r#type.is_rust() && fitting(number, bits, true, "").is_ok()
}

fn low_bytes(number: i128, size: u64) -> Vec<u8> {
    let bytes = number.to_le_bytes();
    let mut low = bytes.get(..size.min(16) as usize).unwrap_or(&[]).to_vec();
    low.resize(size as usize, if number < 0 { 0xff } else { 0 });
    low
}

/// Returns the bytes around a bit field after its change.
fn bit_field(
    target: &Typed,
    bits: BitField,
    value: &Typed,
    memory: &dyn Memory,
) -> Result<Vec<u8>, ValueError> {
    let number = whole(value, memory)?;
    let is_signed =
        matches!(target.r#type.strip().kind(), TypeKind::Base(encoding) if encoding.is_signed());
    let name = format!("{}:{}", target.r#type.name(), bits.size_bits);
    if !is_all_bits(number, bits.size_bits, target) {
        fitting(number, bits.size_bits, is_signed, &name)?;
    }
    let count = (bits.offset_bits + bits.size_bits).div_ceil(8).min(16);
    let mut wide = [0; 16];
    let present = target.bytes(memory, count)?;
    for (byte, known) in wide.iter_mut().zip(&present) {
        *byte = *known;
    }
    let is_big = target.r#type.is_big_endian();
    let in_order = |bytes: &mut [u8; 16]| {
        if is_big && let Some(held) = bytes.get_mut(..count as usize) {
            held.reverse();
        }
    };
    in_order(&mut wide);
    let width = bits.size_bits.clamp(1, 127) as u32;
    let shift = bits.shift(is_big).min(127);
    let mask = ((1_u128 << width) - 1) << shift;
    let shifted = (number as u128) << shift;
    let changed = (u128::from_le_bytes(wide) & !mask) | (shifted & mask);
    let mut changed = changed.to_le_bytes();
    in_order(&mut changed);
    Ok(changed.get(..count as usize).unwrap_or(&[]).to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    struct Empty;

    impl Memory for Empty {
        fn read(&self, _: u64, _: &mut [u8]) -> bool {
            false
        }
    }

    fn target(name: &str) -> Typed {
        Typed::in_memory(Type::builtin(name).expect("a type"), 0x1000)
    }

    #[track_caller]
    fn check(name: &str, value: i128, expected: Option<&[u8]>) {
        let value = Typed::of_integer(value).expect("a number");
        let bytes = bytes_for(&target(name), &value, &Empty);
        assert_eq!(bytes.as_deref().ok(), expected, "{name} {bytes:?}");
    }

    #[test]
    fn numbers_are_kept_whole() {
        check("int", 5, Some(&[5, 0, 0, 0]));
        check("int", -2, Some(&[0xfe, 0xff, 0xff, 0xff]));
        check("int", 1 << 31, None);
        check("unsigned int", 1 << 31, Some(&[0, 0, 0, 0x80]));
        // `-1` and `~0` are all bits.
        check("unsigned int", -1, Some(&[0xff; 4]));
        check("unsigned int", -(1 << 31) - 1, None);
        check("char", 127, Some(&[127]));
        check("char", 200, None);
        check("bool", 1, Some(&[1]));
        check("bool", 2, None);
        check("double", 1, Some(&1.0_f64.to_le_bytes()));
    }

    #[test]
    fn a_text_goes_into_an_array_that_holds_it() {
        let character = Type::builtin("char").expect("a type");
        let text = Typed::of_bytes(character.clone().array_of(4), b"ann\0".to_vec());
        for (size, expected) in [
            (6, Some(&b"ann\0\0\0"[..])),
            (4, Some(b"ann\0")),
            (3, Some(b"ann")),
            (2, None),
        ] {
            let place = Typed::in_memory(character.clone().array_of(size), 0x1000);
            let bytes = bytes_for(&place, &text, &Empty);
            assert_eq!(bytes.as_deref().ok(), expected, "{size}");
        }
        let numbers = Type::builtin("int").expect("a type").array_of(2);
        let numbers = Typed::in_memory(numbers, 0x1000);
        assert!(bytes_for(&numbers, &text, &Empty).is_err());
    }

    #[test]
    fn fractions_go_into_fractions_only() {
        let value = Typed::of_number(&Number::Float(1.5)).expect("a number");
        let bytes = bytes_for(&target("double"), &value, &Empty);
        assert_eq!(bytes, Ok(1.5_f64.to_le_bytes().to_vec()));
        assert!(bytes_for(&target("int"), &value, &Empty).is_err());
    }

    #[test]
    fn a_bit_field_leaves_its_neighbours() {
        let field = Typed {
            bits: Some(BitField {
                offset_bits: 2,
                size_bits: 3,
            }),
            ..Typed::of_bytes(Type::builtin("unsigned int").expect("a type"), vec![0xff])
        };
        let value = |number| Typed::of_integer(number).expect("a number");
        assert_eq!(bytes_for(&field, &value(2), &Empty), Ok(vec![0b1110_1011]));
        assert!(bytes_for(&field, &value(8), &Empty).is_err());
    }
}
