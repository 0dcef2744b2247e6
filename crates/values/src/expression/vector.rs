//! Evaluates operators on vectors (`vector_size` of gcc, SIMD), element by element.
//!
//! Elements wrap as in the processor, and a scalar operand is broadcast. A comparison gives -1 for
//! true.

use super::arithmetic::{Overflow, compute};
use super::cast::cast;
use crate::error::ValueError;
use crate::typed::{Number, Typed};
use juror_language::BinaryOperator;
use juror_symbols::{Encoding, Memory, Type, TypeKind};

/// Returns the type and the number of a vector's elements, or `None` for other types.
fn elements(of: &Type) -> Option<(Type, u64)> {
    let TypeKind::Array { vector: true, .. } = of.strip().kind() else {
        return None;
    };
    let element = of.strip().target()?;
    let size = element.size().filter(|size| *size > 0)?;
    Some((element, of.size()? / size))
}

/// Evaluates an operator if at least one operand is a vector. Returns `None` otherwise.
pub(super) fn compute_elements(
    operator: BinaryOperator,
    first: &Typed,
    second: &Typed,
    memory: &dyn Memory,
) -> Option<Result<Typed, ValueError>> {
    let (own, other) = (elements(&first.r#type), elements(&second.r#type));
    let (element, count, of) = match (&own, &other) {
        (Some((_, a)), Some((_, b))) if a != b => {
            return Some(Err("the vectors have different numbers of elements".into()));
        }
        (Some((element, count)), _) => (element.clone(), *count, &first.r#type),
        (None, Some((element, count))) => (element.clone(), *count, &second.r#type),
        (None, None) => return None,
    };
    let size = element.size().unwrap_or(1);
    let at = |value: &Typed, known: &Option<(Type, u64)>, index: u64| match known {
        Some((element, _)) => Ok(value.part(index * size, element.clone(), None)),
        None => scalar(value, &element, memory),
    };
    let mut bytes = Vec::new();
    let mut is_compared = false;
    for index in 0..count {
        let computed = at(first, &own, index).and_then(|a| {
            let b = at(second, &other, index)?;
            let (a, b) = (a.number(memory)?, b.number(memory)?);
            compute(operator, Overflow::Error, a, b, memory)
        });
        let added = computed.and_then(|number| match number {
            Number::Bool(truth) => {
                is_compared = true;
                Ok(vec![if truth { 0xff } else { 0 }; size as usize])
            }
            number => {
                let value = Typed::of_number(&number).ok_or("no C type holds the result")?;
                cast(&value, element.clone(), memory)?.bytes(memory, size)
            }
        });
        match added {
            Ok(added) => bytes.extend(added),
            Err(why) => return Some(Err(why)),
        }
    }
    if !is_compared {
        return Some(Ok(Typed::of_bytes(of.clone(), bytes)));
    }
    let truth = truth_type(size).ok_or("no C type holds the result".into());
    Some(truth.map(|truth| Typed::of_bytes(truth.array_of(count), bytes)))
}

/// Converts a scalar operand to the element type, which must represent it.
fn scalar(value: &Typed, element: &Type, memory: &dyn Memory) -> Result<Typed, ValueError> {
    let given = value.number(memory)?;
    let converted = cast(value, element.clone(), memory)?;
    let is_float = matches!(element.strip().kind(), TypeKind::Base(Encoding::Float));
    let is_same =
        is_float && !matches!(given, Number::Pointer(..)) || converted.number(memory)? == given;
    if is_same {
        Ok(converted)
    } else {
        Err(format!(
            "an element is a `{}`, which does not hold this",
            element.name()
        )
        .into())
    }
}

fn truth_type(size: u64) -> Option<Type> {
    Type::builtin(match size {
        1 => "signed char",
        2 => "short",
        4 => "int",
        8 => "long",
        _ => return None,
    })
}
