//! The bounds of arrays, and the indexes by which a language names their elements.
//!
//! Sources: DWARF 5, sections 5.5 and 5.13; the lower bounds of languages are in table 7.17.

use super::{Type, TypeKind};
use crate::dwarf::{DebugInfo, Die, DieRef, Value};
use gimli::AttributeValue;
use std::sync::Arc;

/// The indexes of the elements of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrayIndex {
    /// From this number on.
    From(i64),
    /// Only a descriptor in memory has them.
    Unknown,
    /// The language stores the array by columns: what its first index selects is innermost.
    ByColumns,
}

/// A dimension of an array, as far as it is constant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dimension {
    pub index: ArrayIndex,
    pub count: Option<u64>,
}

/// Returns the dimensions of an array, outermost first.
pub(super) fn dimensions(info: &Arc<DebugInfo>, die: DieRef, entry: &Die) -> Vec<Dimension> {
    let unit = info.unit(die.unit);
    let base = unit.map_or(0, |unit| unit.array_base);
    let is_reversed = unit.is_some_and(|unit| unit.is_by_columns);
    let is_dynamic = entry.attr_value(gimli::DW_AT_data_location).is_some();
    let is_apart = |of: &Die| !is_contiguous(info, die, entry, of);
    let is_unknown = is_dynamic || is_apart(entry);
    let mut found: Vec<Dimension> = ranges(info, die)
        .iter()
        .map(|(_, range)| match range.tag() {
            gimli::DW_TAG_subrange_type if !is_unknown && !is_apart(range) => constant(range, base),
            _ => UNKNOWN,
        })
        .collect();
    if is_reversed && found.len() > 1 {
        found.reverse();
        for dimension in &mut found {
            dimension.index = ArrayIndex::ByColumns;
        }
    }
    found
}

const UNKNOWN: Dimension = Dimension {
    index: ArrayIndex::Unknown,
    count: None,
};

/// Returns the entries of the dimensions of an array in the order of the language.
pub(super) fn ranges(info: &DebugInfo, array: DieRef) -> Vec<(DieRef, Die)> {
    let is_range = |(_, child): &(DieRef, Die)| {
        matches!(
            child.tag(),
            gimli::DW_TAG_subrange_type | gimli::DW_TAG_enumeration_type
        )
    };
    info.children(array).into_iter().filter(is_range).collect()
}

/// Returns whether the distance of the elements that an entry of an array states, if it does, is
/// their size.
fn is_contiguous(info: &Arc<DebugInfo>, array: DieRef, entry: &Die, stated: &Die) -> bool {
    let strides = [(gimli::DW_AT_byte_stride, 8), (gimli::DW_AT_bit_stride, 1)];
    strides.into_iter().all(|(name, bits)| {
        let Some(stride) = stated.attr_value(name) else {
            return true;
        };
        let element = super::target(info, array, entry).size();
        let stride = stride.udata_value().and_then(|it| it.checked_mul(bits));
        stride.is_some() && stride == element.and_then(|size| size.checked_mul(8))
    })
}

fn constant(range: &Die, base: i64) -> Dimension {
    let first = match range.attr_value(gimli::DW_AT_lower_bound) {
        None => Some(base),
        Some(value) => number(&value),
    };
    let Some(first) = first else {
        return UNKNOWN;
    };
    let count = range.attr_value(gimli::DW_AT_count);
    let count = count.and_then(|count| count.udata_value()).or_else(|| {
        let last = number(&range.attr_value(gimli::DW_AT_upper_bound)?)?;
        Some(elements(first, last))
    });
    Dimension {
        index: ArrayIndex::From(first),
        count,
    }
}

/// Returns the number of elements between two bounds; a smaller upper bound means none.
pub(super) fn elements(first: i64, last: i64) -> u64 {
    let count = i128::from(last) - i128::from(first) + 1;
    u64::try_from(count).unwrap_or(0)
}

/// Returns a constant bound. Constants of fixed size are unsigned here: 199 in one byte is not
/// negative. gcc writes -1 in all eight bytes for `int a[0]`.
pub(super) fn number(value: &Value) -> Option<i64> {
    match value {
        AttributeValue::Sdata(number) => Some(*number),
        value => value.udata_value().map(u64::cast_signed),
    }
}

impl Type {
    /// Returns the type of an array of `count` elements of this type with other indexes than
    /// those of C.
    pub(super) fn array_indexed(&self, count: u64, index: ArrayIndex) -> Type {
        let mut array = self.array_of(count);
        if let super::Source::Array { index: of, .. } = &mut array.source {
            *of = index;
        }
        array
    }

    /// Returns the index of the first element of an array.
    pub fn first_index(&self) -> i64 {
        match self.strip().kind() {
            TypeKind::Array { indexes, .. } => match indexes.first() {
                Some(ArrayIndex::From(first)) => *first,
                _ => 0,
            },
            _ => 0,
        }
    }

    /// Returns whether the elements of an array have the indexes of C, or it is none.
    pub fn is_indexed_as_c(&self) -> bool {
        match self.strip().kind() {
            TypeKind::Array { indexes, .. } => match indexes.first() {
                None => true,
                Some(ArrayIndex::From(0)) => !self.has_checked_bounds(),
                _ => false,
            },
            _ => true,
        }
    }

    /// Returns whether the language of an array's type has no elements outside of its bounds.
    fn has_checked_bounds(&self) -> bool {
        let stripped = self.strip();
        let unit = stripped.die().and_then(|(info, die)| info.unit(die.unit));
        unit.is_some_and(|unit| unit.array_base != 0)
    }

    /// Returns the position in memory of the element of an array with this index, from 0. For a
    /// language whose arrays begin elsewhere, the index has to be within the bounds.
    ///
    /// # Errors
    /// The array has no such element, or the indexes are not known.
    pub fn position_of(&self, index: i128) -> Result<i128, String> {
        let TypeKind::Array {
            dimensions,
            indexes,
            ..
        } = self.strip().kind()
        else {
            return Ok(index);
        };
        let first = match indexes.first() {
            None => return Ok(index),
            Some(ArrayIndex::From(0)) if !self.has_checked_bounds() => return Ok(index),
            Some(ArrayIndex::From(first)) => i128::from(*first),
            Some(ArrayIndex::Unknown) => {
                return Err("the bounds of this array are not known here".to_owned());
            }
            Some(ArrayIndex::ByColumns) => {
                return Err(
                    "this array is stored by columns: its elements have no single index; print it \
                     as a whole"
                        .to_owned(),
                );
            }
        };
        let position = index - first;
        match dimensions.first() {
            Some(Some(count)) if !(0..i128::from(*count)).contains(&position) => {
                let last = first + i128::from(*count) - 1;
                Err(if *count == 0 {
                    "the array has no elements".to_owned()
                } else {
                    format!("the array has the elements {first} to {last}")
                })
            }
            _ => Ok(position),
        }
    }
}
