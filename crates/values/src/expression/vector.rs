//! Operators on vectors (`vector_size` of gcc, SIMD), element by element.
//!
//! Elements wrap, as the processor's do, and a single number stands for a vector of it. A
//! comparison gives -1 where it is true.

use super::arithmetic::{Overflow, compute};
use super::cast::cast;
use crate::error::ValueError;
use crate::typed::{Number, Typed};
use juror_language::BinaryOperator;
use juror_symbols::{Encoding, Memory, Type, TypeKind};

/// The type of a vector's elements, and how many there are.
fn elements(of: &Type) -> Option<(Type, u64)> {
    let TypeKind::Array { vector: true, .. } = of.strip().kind() else {
        return None;
    };
    let element = of.strip().target()?;
    let size = element.size().filter(|size| *size > 0)?;
    Some((element, of.size()? / size))
}

/// The result of an operator of which one side at least is a vector; nothing for others.
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

/// A single number beside a vector, which its elements must hold.
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
