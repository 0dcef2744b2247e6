//! Variable-length arrays of C.
//!
//! The debug information gives the length as an expression over the frame, or as another
//! variable (DWARF 5, section 2.19), so the type is complete only in a frame.

use super::{TYPE_DEPTH_MAX, Type, TypeKind};
use crate::dwarf::{DebugInfo, Die, DieRef};
use crate::location::{EvaluationContext, Location, ValueLocation};
use crate::variable::Variable;
use gimli::AttributeValue;
use std::sync::Arc;

impl Variable {
    /// Returns the variable's type in a frame at the file address `pc`; a variable-length
    /// array gets its length there. An array whose length is not recorded is returned
    /// unchanged.
    pub fn type_in(&self, pc: u64, context: &dyn EvaluationContext) -> Type {
        self.counted(pc, context)
            .unwrap_or_else(|| self.r#type.clone())
    }

    fn counted(&self, pc: u64, context: &dyn EvaluationContext) -> Option<Type> {
        self.with_lengths(&self.r#type, pc, context, TYPE_DEPTH_MAX / 4)
    }

    /// Returns the type with the lengths of the arrays in it, also of those behind pointers;
    /// `None` if it has none.
    fn with_lengths(
        &self,
        of: &Type,
        pc: u64,
        context: &dyn EvaluationContext,
        depth: usize,
    ) -> Option<Type> {
        let depth = depth.checked_sub(1)?;
        let stripped = of.strip();
        let (element, dimensions) = match stripped.kind() {
            TypeKind::Pointer(target) => {
                let target = self.with_lengths(&target, pc, context, depth)?;
                return Some(target.pointer_to());
            }
            TypeKind::Array {
                element,
                dimensions,
                ..
            } => (element, dimensions),
            _ => return None,
        };
        let (info, die) = stripped.die()?;
        if dimensions.iter().all(Option::is_some) {
            let inner = self.with_lengths(&element, pc, context, depth)?;
            let mut lengths = dimensions.into_iter().rev();
            return lengths.try_fold(inner, |row, length| Some(row.array_of(length?)));
        }
        let element = self
            .with_lengths(&element, pc, context, depth)
            .unwrap_or(element);
        let frame = Frame {
            info,
            function: self.location.function?,
            pc,
            context,
        };
        let ranges = info.children(die).into_iter();
        let ranges = ranges.filter(|(_, it)| it.tag() == gimli::DW_TAG_subrange_type);
        let lengths: Vec<u64> = ranges
            .zip(dimensions)
            .map(|((at, range), stated)| stated.or_else(|| frame.length(at, &range)))
            .collect::<Option<_>>()?;
        let inner = lengths.into_iter().rev();
        Some(inner.fold(element, |row, length| row.array_of(length)))
    }
}

/// The frame in which lengths are computed.
struct Frame<'a> {
    info: &'a Arc<DebugInfo>,
    function: DieRef,
    pc: u64,
    context: &'a dyn EvaluationContext,
}

impl Frame<'_> {
    fn length(&self, at: DieRef, range: &Die) -> Option<u64> {
        if let Some(count) = range.attr_value(gimli::DW_AT_count) {
            return self.value(at, count);
        }
        let last = self.value(at, range.attr_value(gimli::DW_AT_upper_bound)?)?;
        // The upper bound of an empty array is -1.
        Some(last.wrapping_add(1))
    }

    fn value(&self, at: DieRef, value: crate::dwarf::Value) -> Option<u64> {
        if let AttributeValue::Exprloc(expression) = value {
            let location = Location::of_expression(self.info, self.function, expression);
            return match self.value_location(&location)? {
                // The value of the expression is the top of its stack.
                ValueLocation::Address(number) | ValueLocation::Value(number) => Some(number),
                _ => None,
            };
        }
        let variable = self.info.reference(at.unit, Some(value))?;
        let size = super::target(self.info, variable, &self.info.die(variable)?).size()?;
        let location = Location::of_die(self.info, variable, Some(self.function));
        match self.value_location(&location)? {
            ValueLocation::Address(address) => {
                let mut word = [0; 8];
                let bytes = word.get_mut(..size as usize)?;
                let is_read = self.context.read(address, bytes);
                is_read.then(|| u64::from_le_bytes(word))
            }
            ValueLocation::Value(number) => Some(number),
            ValueLocation::Register(register) => self.context.register(register),
            _ => None,
        }
    }

    fn value_location(&self, location: &Location) -> Option<ValueLocation> {
        let pieces = location.evaluate(self.pc, self.context).ok()?;
        match <[_; 1]>::try_from(pieces) {
            Ok([piece]) => Some(piece.location),
            Err(_) => None,
        }
    }
}
