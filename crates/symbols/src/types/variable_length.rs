//! Types that are complete only in a frame: variable-length arrays of C, and the arrays and text
//! of Fortran, of which a descriptor has the bounds and the place.
//!
//! The debug information gives lengths, bounds and places as expressions over the frame and the
//! object, or as other variables (DWARF 5, sections 2.19, 5.13 and 5.18).

use super::bounds::{elements, number, ranges};
use super::{ArrayIndex, TYPE_DEPTH_MAX, Type, TypeKind};
use crate::dwarf::{DebugInfo, Die, DieRef, Value};
use crate::location::{EvaluationContext, Location, LocationSource, ValueLocation};
use crate::variable::Variable;
use gimli::AttributeValue;
use std::sync::Arc;

impl Variable {
    /// Returns the variable's type in a frame at the file address `pc`; a variable-length
    /// array gets its length there. An array whose length is not recorded is returned
    /// unchanged.
    pub fn type_in(&self, pc: u64, context: &dyn EvaluationContext) -> Type {
        let frame = self.frame(pc, context, None);
        let found = frame.with_lengths(&self.r#type, TYPE_DEPTH_MAX / 4);
        found.unwrap_or_else(|| self.r#type.clone())
    }

    /// Returns the type and the address of the value of a variable at an address in memory: where
    /// the variable is a descriptor, those of the array that it describes.
    ///
    /// # Errors
    /// There is no array, or its description is not understood.
    pub fn placed_in(
        &self,
        pc: u64,
        context: &dyn EvaluationContext,
        address: u64,
    ) -> Result<(Type, u64), String> {
        let frame = self.frame(pc, context, Some(address));
        let stripped = self.r#type.strip();
        if let Some((info, die)) = stripped.die()
            && let Some(entry) = info.die(die)
            && has_descriptor(&entry)
        {
            return frame.described((info, die), &entry, address);
        }
        let found = frame.with_lengths(&self.r#type, TYPE_DEPTH_MAX / 4);
        Ok((found.unwrap_or_else(|| self.r#type.clone()), address))
    }

    fn frame<'a>(
        &self,
        pc: u64,
        context: &'a dyn EvaluationContext,
        object: Option<u64>,
    ) -> Frame<'a> {
        Frame {
            function: self.location.function,
            pc,
            context,
            object,
        }
    }
}

/// Returns whether values of a type are descriptors of arrays.
fn has_descriptor(entry: &Die) -> bool {
    let attributes = [
        gimli::DW_AT_data_location,
        gimli::DW_AT_allocated,
        gimli::DW_AT_associated,
    ];
    let mut attributes = attributes.iter();
    attributes.any(|name| entry.attr_value(*name).is_some())
}

/// The frame in which lengths are computed.
struct Frame<'a> {
    function: Option<DieRef>,
    pc: u64,
    context: &'a dyn EvaluationContext,
    /// The address of the object whose type it is.
    object: Option<u64>,
}

impl Frame<'_> {
    /// Returns the type with the lengths of the arrays in it, also of those behind pointers;
    /// `None` if it has none.
    fn with_lengths(&self, of: &Type, depth: usize) -> Option<Type> {
        let depth = depth.checked_sub(1)?;
        let stripped = of.strip();
        let (element, dimensions, indexes) = match stripped.kind() {
            TypeKind::Pointer(target) => {
                let target = self.with_lengths(&target, depth)?;
                return Some(target.pointer_to());
            }
            TypeKind::Array {
                element,
                dimensions,
                indexes,
                ..
            } => (element, dimensions, indexes),
            _ => return None,
        };
        let (info, die) = stripped.die()?;
        let entry = info.die(die)?;
        if has_descriptor(&entry) {
            return None;
        }
        if entry.tag() == gimli::DW_TAG_string_type {
            let length = self.text_length(info, die, &entry)?;
            return Some(element.array_indexed(length, ArrayIndex::From(1)));
        }
        if dimensions.iter().all(Option::is_some) {
            let inner = self.with_lengths(&element, depth)?;
            let mut lengths = dimensions.into_iter().zip(indexes).rev();
            return lengths.try_fold(inner, |row, (length, index)| {
                Some(row.array_indexed(length?, index))
            });
        }
        let element = self.with_lengths(&element, depth).unwrap_or(element);
        let found = self.dimensions(info, die, &element).ok()?;
        let inner = found.into_iter().rev();
        Some(inner.fold(element, |row, (length, index)| {
            row.array_indexed(length, index)
        }))
    }

    /// Returns the array that a descriptor describes, and its address.
    fn described(
        &self,
        (info, die): (&Arc<DebugInfo>, DieRef),
        entry: &Die,
        address: u64,
    ) -> Result<(Type, u64), String> {
        let value = |name| Some(self.value(info, die, entry.attr_value(name)?));
        for (name, word) in [
            (gimli::DW_AT_allocated, "allocated"),
            (gimli::DW_AT_associated, "associated"),
        ] {
            match value(name) {
                Some(Some(0)) => return Err(format!("it is not {word}")),
                Some(None) => return Err(format!("whether it is {word} is not known")),
                _ => {}
            }
        }
        let place = match value(gimli::DW_AT_data_location) {
            None => address,
            Some(place) => place.ok_or("the place of its elements is not known")?,
        };
        let element = super::target(info, die, entry);
        let found = self.dimensions(info, die, &element)?;
        let inner = found.into_iter().rev();
        let array = inner.fold(element, |row, (length, index)| {
            row.array_indexed(length, index)
        });
        Ok((array, place))
    }

    /// Returns the lengths and indexes of an array, outermost first. The elements have to be
    /// contiguous.
    fn dimensions(
        &self,
        info: &Arc<DebugInfo>,
        die: DieRef,
        element: &Type,
    ) -> Result<Vec<(u64, ArrayIndex)>, String> {
        let unit = info.unit(die.unit);
        let base = unit.map_or(0, |unit| unit.array_base);
        let is_by_columns = unit.is_some_and(|unit| unit.is_by_columns);
        let mut found = Vec::new();
        let mut distance = element.size();
        let array = info.die(die);
        if array.is_some_and(|it| it.attr_value(gimli::DW_AT_bit_stride).is_some()) {
            return Err("its elements are packed".to_owned());
        }
        let ranges = ranges(info, die);
        let is_single = ranges.len() == 1;
        for (at, range) in ranges {
            let (first, count) = self
                .bounds(info, at, &range, base)
                .ok_or("its bounds are not known")?;
            if let Some(stride) = range.attr_value(gimli::DW_AT_byte_stride) {
                let stride = self.value(info, at, stride);
                if stride.is_none() || stride != distance && count > 1 {
                    return Err("its elements are not contiguous".to_owned());
                }
            } else if range.attr_value(gimli::DW_AT_bit_stride).is_some() {
                return Err("its elements are packed".to_owned());
            }
            distance = distance.and_then(|distance| distance.checked_mul(count));
            let index = if is_by_columns && !is_single {
                ArrayIndex::ByColumns
            } else {
                ArrayIndex::From(first)
            };
            found.push((count, index));
        }
        if is_by_columns {
            found.reverse();
        }
        Ok(found)
    }

    /// Returns the lower bound and the number of elements of a dimension.
    fn bounds(
        &self,
        info: &Arc<DebugInfo>,
        at: DieRef,
        range: &Die,
        base: i64,
    ) -> Option<(i64, u64)> {
        let value = |name| Some(self.value(info, at, range.attr_value(name)?));
        let first = match value(gimli::DW_AT_lower_bound) {
            None => base,
            Some(first) => first?.cast_signed(),
        };
        let count = match value(gimli::DW_AT_count) {
            Some(count) => count?,
            None => elements(first, value(gimli::DW_AT_upper_bound)??.cast_signed()),
        };
        Some((first, count))
    }

    /// Returns the length of text in bytes, which is in memory of its own.
    fn text_length(&self, info: &Arc<DebugInfo>, die: DieRef, entry: &Die) -> Option<u64> {
        let length = entry.attr_value(gimli::DW_AT_string_length)?;
        if info.reference(die.unit, Some(length.clone())).is_some() {
            return self.value(info, die, length);
        }
        let sizes = [gimli::DW_AT_string_length_byte_size, gimli::DW_AT_byte_size];
        let size = sizes.iter().find_map(|name| entry.attr_value(*name));
        let size = size.map_or(Some(8), |size| size.udata_value())?;
        let source = match length {
            AttributeValue::Exprloc(expression) => LocationSource::Everywhere(expression),
            list => LocationSource::List(list, None),
        };
        let location = Location {
            info: info.clone(),
            unit: die.unit,
            function: self.function,
            source,
        };
        self.content(&location, size)
    }

    /// Returns the number that an attribute states, or that its expression or variable has here.
    fn value(&self, info: &Arc<DebugInfo>, at: DieRef, value: Value) -> Option<u64> {
        if let AttributeValue::Exprloc(expression) = value {
            let location = Location {
                info: info.clone(),
                unit: at.unit,
                function: self.function,
                source: LocationSource::Everywhere(expression),
            };
            return location.number_from(self.object, self.pc, self.context);
        }
        let Some(variable) = info.reference(at.unit, Some(value.clone())) else {
            return number(&value).map(i64::cast_unsigned);
        };
        let r#type = super::target(info, variable, &info.die(variable)?);
        let size = r#type.size()?;
        let location = Location::of_die(info, variable, self.function);
        let word = self.content(&location, size)?;
        let is_signed = matches!(
            r#type.strip().kind(),
            TypeKind::Base(encoding) if encoding.is_signed()
        );
        let unused = 64_u64.checked_sub(size.checked_mul(8)?)?;
        Some(match is_signed {
            true => ((word << unused).cast_signed() >> unused).cast_unsigned(),
            false => word,
        })
    }

    /// Returns the number of `size` bytes at a location.
    fn content(&self, location: &Location, size: u64) -> Option<u64> {
        let pieces = location.evaluate(self.pc, self.context).ok()?;
        let [piece] = <[_; 1]>::try_from(pieces).ok()?;
        match piece.location {
            ValueLocation::Address(address) => {
                let mut word = [0; 8];
                let bytes = word.get_mut(..usize::try_from(size).ok()?)?;
                let is_read = self.context.read(address, bytes);
                is_read.then(|| u64::from_le_bytes(word))
            }
            ValueLocation::Value(number) => Some(number),
            ValueLocation::Register(register) => self.context.register(register),
            _ => None,
        }
    }
}
