//! Converts arguments to the types of parameters, as in C: by the rules of assignment, or by
//! default promotion if there is no parameter.

use super::Argument;
use juror_symbols::{Character, Encoding, Memory, Type, TypeKind};
use juror_values::classes::upcast::{base_part, referred_to};
use juror_values::error::ValueError;
use juror_values::expression::cast;
use juror_values::expression::is_const_type;
use juror_values::expression::member_pointer;
use juror_values::typed::wide::{Wide, is_quad};
use juror_values::typed::{Location, Number, Typed};
use std::sync::Arc;

/// A converted argument.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Passed {
    /// The type as which it is passed.
    pub r#type: Type,
    /// Its bytes; zero for the address of data that has no place yet.
    pub bytes: Vec<u8>,
    /// The byte that fills the rest of a register: the sign.
    pub fill: u8,
    /// The data to which the argument points, if it is stored for the call.
    pub pointed: Option<Vec<u8>>,
}

impl Passed {
    fn value(r#type: Type, bytes: Vec<u8>) -> Passed {
        let negative = bytes.last().is_some_and(|byte| byte & 0x80 != 0);
        let fill = if negative && is_signed(&r#type) {
            0xff
        } else {
            0
        };
        Passed {
            r#type,
            bytes,
            fill,
            pointed: None,
        }
    }

    fn address_of(r#type: Type, pointed: Vec<u8>) -> Passed {
        Passed {
            r#type,
            bytes: vec![0; 8],
            fill: 0,
            pointed: Some(pointed),
        }
    }
}

/// Converts an argument for a parameter of type `of`.
pub(super) fn pass_as(
    argument: &Argument,
    of: &Type,
    memory: &dyn Memory,
) -> Result<Passed, ValueError> {
    let wanted = of.strip();
    let value = match argument {
        Argument::Value(value) | Argument::Number(value) => value,
        Argument::Copy(value) => {
            let size = value
                .r#type
                .size()
                .ok_or("the size of its type is not known")?;
            return Ok(Passed::address_of(of.clone(), value.bytes(memory, size)?));
        }
        Argument::String(text) if let Some(character) = accepted_character(&wanted) => {
            let bytes = with_zero(text, character);
            return Ok(Passed::address_of(of.clone(), bytes));
        }
        Argument::String(_) => {
            return Err(format!("text is passed as `char *`, this is `{}`", of.name()).into());
        }
    };
    // A C++ reference is replaced by its referent.
    let value = &referred_to(value, memory)?;
    match wanted.kind() {
        TypeKind::Reference(target) => reference(value, of, &target, memory),
        TypeKind::MemberPointer { .. } => {
            let bytes = member_pointer::bytes_as(value, of, memory)?;
            Ok(Passed::value(of.clone(), bytes))
        }
        TypeKind::Composite(_) | TypeKind::Array { .. } => Ok(Passed::value(
            of.clone(),
            same_type(value, &wanted, memory)?,
        )),
        TypeKind::Pointer(target) if of.strip().is_cpp() && is_other(&value.r#type, &target) => {
            Err(format!(
                "`{}` is wanted, this is `{}`: a cast converts it",
                of.name(),
                value.r#type.name()
            )
            .into())
        }
        _ => converted(value, of, memory).map(|bytes| Passed::value(of.clone(), bytes)),
    }
}

/// Returns whether a pointer points to a number of another type, which C++ does not convert
/// implicitly.
fn is_other(given: &Type, wanted: &Type) -> bool {
    let (Some(given), wanted) = (given.target().map(|it| it.strip()), wanted.strip()) else {
        return false;
    };
    let is_number = |of: &Type| matches!(of.kind(), TypeKind::Base(_));
    is_number(&given) && is_number(&wanted) && given.normalized_name() != wanted.normalized_name()
}

/// Promotes an argument without a parameter: `float` becomes `double`, small integers become
/// `long`, which the function cannot distinguish from `int`.
pub(super) fn promote(argument: &Argument, memory: &dyn Memory) -> Result<Passed, ValueError> {
    let builtin = |name| Type::builtin(name).ok_or_else(|| format!("there is no type `{name}`"));
    let value = match argument {
        Argument::Value(value) | Argument::Number(value) => value,
        Argument::Copy(value) => return pass_as(argument, &value.r#type.pointer_to(), memory),
        Argument::String(text) => {
            let of = builtin("char")?.pointer_to();
            return Ok(Passed::address_of(of, with_zero(text, Character::Byte)));
        }
    };
    let stripped = value.r#type.strip();
    if let TypeKind::Composite(_) = stripped.kind() {
        return Err(format!(
            "nothing says that a `{}` is wanted here; pass its address",
            value.r#type.name()
        )
        .into());
    }
    let of = match value.number(memory)? {
        Number::Wide(_) => stripped,
        Number::Float(_) => builtin("double")?,
        Number::Pointer(_, target) => target.pointer_to(),
        Number::Int(number) if i64::try_from(number).is_err() => builtin("unsigned long")?,
        Number::Int(_) | Number::Bool(_) => builtin("long")?,
    };
    let bytes = converted(value, &of, memory)?;
    Ok(Passed::value(of, bytes))
}

fn with_zero(text: &Arc<str>, character: Character) -> Vec<u8> {
    let mut bytes = character.encoded(text);
    bytes.resize(bytes.len() + usize::from(character.size()), 0);
    bytes
}

/// Returns the kind of characters to which a parameter of this type can point.
fn accepted_character(wanted: &Type) -> Option<Character> {
    let TypeKind::Pointer(target) = wanted.kind() else {
        return None;
    };
    match target.strip().kind() {
        TypeKind::Void => Some(Character::Byte),
        TypeKind::Base(_) if target.size() == Some(1) => Some(Character::Byte),
        _ => target.character(),
    }
}

/// Returns whether numbers of a type are signed.
pub(crate) fn is_signed(of: &Type) -> bool {
    match of.strip().kind() {
        TypeKind::Base(encoding) => encoding.is_signed(),
        TypeKind::Enumeration { underlying, .. } => {
            underlying.is_none_or(|underlying| is_signed(&underlying))
        }
        _ => false,
    }
}

/// Passes a C++ reference: the address of a value in memory, or of a copy.
fn reference(
    value: &Typed,
    of: &Type,
    target: &Type,
    memory: &dyn Memory,
) -> Result<Passed, ValueError> {
    let wanted = target.strip();
    let part = base_part(value, target, memory)?;
    let value = part.as_ref().unwrap_or(value);
    let is_same = value.r#type.strip().name() == wanted.name();
    match (&value.location, value.bits) {
        (Location::Memory(address), None) if is_same => {
            Ok(Passed::value(of.clone(), address.to_le_bytes().to_vec()))
        }
        // A value in registers may be copied, but only for a parameter through which it cannot be
        // changed.
        (Location::Bytes(_), None)
            if is_same && (is_const_type(target) || of.strip().name().ends_with("&&")) =>
        {
            let size = wanted.size().ok_or("the size of its type is not known")?;
            Ok(Passed::address_of(of.clone(), value.bytes(memory, size)?))
        }
        _ if matches!(wanted.kind(), TypeKind::Composite(_)) => Err(format!(
            "`{}` in memory is wanted, this is `{}`",
            target.name(),
            value.r#type.name()
        )
        .into()),
        _ => {
            let copy = converted(value, target, memory)?;
            Ok(Passed::address_of(of.clone(), copy))
        }
    }
}

/// Returns the bytes of a structure, or an error if it has another type.
fn same_type(value: &Typed, wanted: &Type, memory: &dyn Memory) -> Result<Vec<u8>, ValueError> {
    let given = value.r#type.strip();
    if given.name() != wanted.name() || given.size() != wanted.size() {
        return Err(format!(
            "`{}` is wanted, this is `{}`",
            wanted.name(),
            value.r#type.name()
        )
        .into());
    }
    value.bytes(memory, wanted.size().unwrap_or(0))
}

/// Returns the bytes of a number or address, converted to another type.
fn converted(value: &Typed, of: &Type, memory: &dyn Memory) -> Result<Vec<u8>, ValueError> {
    let number = value
        .number(memory)
        .map_err(|why| match value.r#type.composite() {
            Some(_) => format!(
                "`{}` is wanted, this is `{}`",
                of.name(),
                value.r#type.name()
            )
            .into(),
            None => why,
        })?;
    let stripped = of.strip();
    let size = stripped.size().ok_or("the size of its type is not known")?;
    let is_pointer = matches!(stripped.kind(), TypeKind::Pointer(_));
    let is_float = matches!(stripped.kind(), TypeKind::Base(Encoding::Float));
    if matches!(stripped.kind(), TypeKind::Base(Encoding::ComplexFloat)) {
        return Err(format!("`{}` is wanted, this is a number", of.name()).into());
    }
    match &number {
        Number::Float(_) | Number::Wide(_) if is_pointer => {
            Err("an address is wanted, this is a fraction".into())
        }
        Number::Pointer(..) if is_float => {
            Err(format!("`{}` is wanted, this is an address", of.name()).into())
        }
        _ if is_float && size == 16 => {
            let wide = Wide::of(&number, is_quad(&stripped));
            Ok(wide
                .ok_or("an address cannot be converted to a floating-point number")?
                .bytes())
        }
        _ => cast(value, of.clone(), memory)?.bytes(memory, size),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_values::typed::NoMemory;

    fn builtin(name: &str) -> Type {
        Type::builtin(name).unwrap()
    }

    fn number(number: Number) -> Argument {
        Argument::Value(Typed::of_number(&number).unwrap())
    }

    #[track_caller]
    fn check(argument: &Argument, of: &Type, bytes: &[u8], fill: u8) {
        let passed = pass_as(argument, of, &NoMemory).unwrap();
        assert_eq!((passed.bytes.as_slice(), passed.fill), (bytes, fill));
    }

    #[test]
    fn numbers_become_what_the_parameter_is() {
        let int = Number::Int;
        check(
            &number(int(-2)),
            &builtin("int"),
            &[0xfe, 0xff, 0xff, 0xff],
            0xff,
        );
        check(&number(int(300)), &builtin("unsigned char"), &[44], 0);
        check(&number(int(200)), &builtin("unsigned char"), &[200], 0);
        check(&number(int(2)), &builtin("bool"), &[1], 0);
        check(&number(int(3)), &builtin("double"), &3f64.to_le_bytes(), 0);
        check(&number(Number::Float(2.9)), &builtin("short"), &[2, 0], 0);
        check(
            &number(Number::Float(0.5)),
            &builtin("float"),
            &0.5f32.to_le_bytes(),
            0,
        );
        check(
            &number(int(16)),
            &Type::void().pointer_to(),
            &16u64.to_le_bytes(),
            0,
        );
    }

    #[test]
    fn an_extended_number_is_read_as_it_was_written() {
        let of = builtin("long double");
        for value in [0.0, 1.5, -3.25, 1e300, 5e-324, f64::INFINITY] {
            let passed = pass_as(&number(Number::Float(value)), &of, &NoMemory).unwrap();
            let read = Typed::of_bytes(of.clone(), passed.bytes);
            let wide = Wide::of(&Number::Float(value), false).map(Number::Wide);
            assert_eq!(read.number(&NoMemory).ok(), wide);
        }
    }

    #[test]
    fn without_a_parameter_arguments_are_promoted() {
        for (argument, name) in [
            (number(Number::Bool(true)), "long"),
            (number(Number::Int(i128::from(u64::MAX))), "unsigned long"),
            (number(Number::Float(1.0)), "double"),
            (
                Argument::Value(Typed::of_bytes(builtin("float"), vec![0; 4])),
                "double",
            ),
            (
                Argument::Value(Typed::of_bytes(builtin("char"), vec![0xff])),
                "long",
            ),
            (Argument::String("x".into()), "char *"),
        ] {
            assert_eq!(promote(&argument, &NoMemory).unwrap().r#type.name(), name);
        }
    }

    #[test]
    fn text_is_passed_to_pointers_of_characters_only() {
        let text = Argument::String("ab".into());
        let of = builtin("char").pointer_to();
        let passed = pass_as(&text, &of, &NoMemory).unwrap();
        assert_eq!(passed.pointed.as_deref(), Some(&b"ab\0"[..]));
        assert!(pass_as(&text, &Type::void().pointer_to(), &NoMemory).is_ok());
        for wrong in [builtin("int"), builtin("long").pointer_to()] {
            let error = pass_as(&text, &wrong, &NoMemory).unwrap_err();
            assert!(error.to_string().contains("text is passed as"), "{error}");
        }
    }

    #[test]
    fn incompatible_arguments_are_refused() {
        let pointer = builtin("char").pointer_to();
        for (argument, of) in [
            (number(Number::Float(1.0)), pointer.clone()),
            (
                number(Number::Pointer(16, builtin("char"))),
                builtin("double"),
            ),
        ] {
            let error = pass_as(&argument, &of, &NoMemory).unwrap_err();
            assert!(error.to_string().contains("wanted"), "{error}");
        }
    }
}
