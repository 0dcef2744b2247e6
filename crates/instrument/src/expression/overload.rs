//! Which of several functions of one name a call means.
//!
//! The one whose parameters fit what is given best, in the order of C++: the same
//! types before the same kind of types (integers, floats, pointers), and those
//! before numbers of another kind. Where two of different types fit equally well
//! nothing is chosen: a call of the wrong one would give a wrong answer.

use super::call::Argument;
use crate::typed::Typed;
use juror_symbols::{Encoding, Type, TypeKind};

/// What an argument costs that has to become a number of another kind.
const CONVERSION: u32 = 100;

/// What counts as alike.
#[derive(PartialEq, Eq)]
enum Kind {
    Integer,
    Float,
    Pointer,
    Other(String),
}

fn kind(r#type: &Type) -> Kind {
    let stripped = r#type.strip();
    match stripped.kind() {
        TypeKind::Base(Encoding::Float) => Kind::Float,
        TypeKind::Base(_) | TypeKind::Enumeration { .. } => Kind::Integer,
        TypeKind::Pointer(_) | TypeKind::Array { .. } => Kind::Pointer,
        TypeKind::Reference(target) => kind(&target),
        _ => Kind::Other(stripped.name()),
    }
}

/// How far an argument is from a parameter; nothing where it does not fit.
fn distance(argument: &Argument, parameter: &Type) -> Option<u32> {
    let wanted = kind(parameter);
    let Argument::Value(value) = argument else {
        return (wanted == Kind::Pointer).then_some(0);
    };
    let given = kind(&value.r#type);
    if given == wanted {
        let target = match parameter.strip().kind() {
            TypeKind::Reference(target) => target.strip(),
            _ => parameter.strip(),
        };
        return Some(u32::from(target.name() != value.r#type.strip().name()));
    }
    let is_number = |kind: &Kind| matches!(kind, Kind::Integer | Kind::Float);
    (is_number(&given) && is_number(&wanted)).then_some(CONVERSION)
}

/// The function among several of a name, by address and types of parameters; nothing
/// where the types do not tell them apart, as with functions of several files.
pub(super) fn choose(
    name: &str,
    overloads: &[(u64, Vec<Type>)],
    arguments: &[Argument],
) -> Result<Option<Typed>, String> {
    let distance_of = |parameters: &[Type]| -> Option<u32> {
        if parameters.len() != arguments.len() {
            return None;
        }
        let pairs = arguments.iter().zip(parameters);
        pairs
            .map(|(argument, parameter)| distance(argument, parameter))
            .sum()
    };
    let fitting = overloads
        .iter()
        .filter_map(|it| Some((distance_of(&it.1)?, it)));
    let mut fitting: Vec<(u32, &(u64, Vec<Type>))> = fitting.collect();
    fitting.sort_by_key(|it| it.0);
    let Some(&(least, best)) = fitting.first() else {
        return Err(several(name, overloads, true));
    };
    let names = |types: &[Type]| types.iter().map(Type::name).collect::<Vec<_>>();
    let equal: Vec<_> = fitting.iter().filter(|it| it.0 == least).collect();
    match equal.as_slice() {
        [_] => Ok(Some(function_at(best.0))),
        all if all.iter().all(|it| names(&it.1.1) == names(&best.1)) => Ok(None),
        _ => Err(several(name, overloads, false)),
    }
}

fn function_at(address: u64) -> Typed {
    Typed::of_bytes(Type::void().pointer_to(), address.to_le_bytes().to_vec())
}

fn several(name: &str, overloads: &[(u64, Vec<Type>)], fits_none: bool) -> String {
    let listed = overloads.iter().map(|(_, parameters)| {
        let parameters: Vec<String> = parameters.iter().map(Type::name).collect();
        format!("{name}({})", parameters.join(", "))
    });
    let listed = listed.collect::<Vec<_>>().join(", ");
    match fits_none {
        true => format!("none of these takes such arguments: {listed}"),
        false => format!("several functions take such arguments: {listed}; casts tell which"),
    }
}
