//! Plans the operations that a guard computes with captured values, in the types that the operands
//! have in the program at the place of the event.
//!
//! Invariant: an operation is computed after all captures that are read.

use super::CapturePlan;
use super::conversion::type_word;
use super::evaluation::{Site, location_of};
use crate::condition::{CapturedOperand, Condition, NameContext, Operation};
use juror_event::{Arithmetic, Conversion, Read, SymbolicEvent, Value};
use juror_language::ExpressionKind;
use juror_program::program::Program;
use juror_symbols::Type;

/// Plans an operation. Returns [`CapturePlan::Exact`] if exact numbers give the same result, and if
/// the types are unknown.
pub(super) fn plan(
    event: &SymbolicEvent,
    arithmetic: &Arithmetic,
    site: Site<'_>,
    program: &Program,
) -> CapturePlan {
    let operands: Option<Vec<CapturedOperand>> = arithmetic
        .operands
        .iter()
        .map(|read| {
            let mut captures = event.captures.iter();
            let slot = captures.position(|capture| capture.read == *read)?;
            Some(CapturedOperand {
                slot: u8::try_from(slot).ok()?,
                r#type: type_of(event, read, site, program)?,
            })
        })
        .collect();
    let (address, level) = location_of(site, program);
    let context = NameContext {
        address,
        level,
        result: None,
        arguments: None,
    };
    let operation =
        operands.and_then(|operands| Operation::new(&arithmetic.text, &operands, program, context));
    operation.map_or(CapturePlan::Exact, CapturePlan::Arithmetic)
}

/// Returns the type of a read at the place of an event.
fn type_of(event: &SymbolicEvent, read: &Read, site: Site<'_>, program: &Program) -> Option<Type> {
    let (inner, conversion) = match read {
        Read::Convert(inner, conversion) => (&**inner, Some(*conversion)),
        read => (read, None),
    };
    let (text, site) = match inner {
        Read::Value | Read::Old => (event.subject.to_string(), Site::Free),
        inner => (inner.to_string(), site),
    };
    let text = match conversion {
        None => text,
        Some(Conversion::Address) => format!("(void *)({text})"),
        Some(conversion) => format!("({})({text})", type_word(conversion)?),
    };
    let condition = Condition::of_capture(&text).ok()?;
    let returned = match site {
        Site::Call(bound) => bound.module.symbols.return_value_plan(&bound.function),
        Site::Line(..) | Site::Inlined(_) | Site::Free => None,
    };
    let (address, level) = location_of(site, program);
    let found = condition.type_at(
        program,
        NameContext {
            address,
            level,
            result: returned.as_ref().map(|value| &value.r#type),
            arguments: match site {
                Site::Inlined(site) => Some(&site.arguments),
                Site::Call(_) | Site::Line(..) | Site::Free => None,
            },
        },
    )?;
    // A watched range is captured element by element.
    let is_range = matches!(condition.expression().kind, ExpressionKind::Slice { .. });
    if is_range && matches!(inner, Read::Value | Read::Old) {
        found.target()
    } else {
        Some(found)
    }
}

/// Computes the operations after all reads. Slots outside of `mask` are skipped.
#[inline]
pub fn compute_captures(plans: &[CapturePlan], mask: u64, values: &mut [Value]) {
    for (slot, plan) in plans.iter().enumerate() {
        if let CapturePlan::Arithmetic(operation) = plan
            && mask >> slot & 1 != 0
            && let Some(result) = operation.value(values)
            && let Some(value) = values.get_mut(slot)
        {
            *value = result;
        }
    }
}
