//! Locations of a value at one of several moments at the same instruction.
//!
//! The optimizer maps several statements to one instruction, and a variable may have
//! another value for each. gcc numbers these moments ("views") in the line table, and
//! writes beside a location list, for each entry in order, the pair of views between which
//! it applies (`DW_AT_GNU_locviews`). Without views, entries that begin and end at one
//! address are empty, and a parameter changed in the first line has its second value at the
//! address alone.

use super::{Location, LocationSource, evaluation_encoding};
use crate::dwarf::{Reader, Value};
use gimli::{AttributeValue, Expression, Operation, RawLocListEntry, Reader as _};

/// A moment of the execution: an address and its view.
pub(crate) type Moment = (u64, u64);

/// The registers and memory that a location depends on.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    /// The registers, by DWARF number.
    pub registers: Vec<u16>,
    /// Whether the value is in memory.
    pub memory: bool,
}

impl Location {
    /// Returns the location at a moment; it applies as long as nothing it depends on
    /// changes. Padding precedes the moment's address from `padding` on; the list entry for
    /// the address may begin there.
    pub(crate) fn at_moment(&self, moment: Moment, padding: u64) -> Location {
        let LocationSource::List(list, views) = &self.source else {
            return self.clone();
        };
        let found = match views {
            Some(views) => self.in_list((list.clone(), views), moment, padding),
            None => self.expression_at(moment.0),
        };
        Location {
            source: found.map_or(LocationSource::Nowhere, LocationSource::Everywhere),
            ..self.clone()
        }
    }

    /// Returns the same location without any known expression.
    pub(crate) fn lost(&self) -> Location {
        Location {
            source: LocationSource::Nowhere,
            ..self.clone()
        }
    }

    /// Returns the dependencies of a location that does not vary with the address.
    pub(crate) fn uses(&self) -> Option<Uses> {
        let mut uses = Uses::default();
        let expression = match &self.source {
            LocationSource::Everywhere(expression) => expression.clone(),
            LocationSource::Constant(_) | LocationSource::Nowhere => return Some(uses),
            LocationSource::List(..) | LocationSource::Undecided => return None,
        };
        let mut is_value = false;
        let mut operations = expression.operations(evaluation_encoding(&self.info, self.unit));
        while let Some(operation) = operations.next().ok()? {
            match operation {
                Operation::Register { register } => {
                    uses.registers.push(register.0);
                    is_value = true;
                }
                Operation::RegisterOffset { register, .. } => uses.registers.push(register.0),
                Operation::StackValue | Operation::ImplicitValue { .. } => is_value = true,
                Operation::Deref { .. } => uses.memory = true,
                Operation::UnsignedConstant { .. }
                | Operation::SignedConstant { .. }
                | Operation::PlusConstant { .. }
                | Operation::Plus
                | Operation::Minus
                | Operation::Mul
                | Operation::Shl
                | Operation::And
                | Operation::Address { .. }
                | Operation::FrameOffset { .. }
                | Operation::CallFrameCFA
                | Operation::Nop => {}
                _ => return None,
            }
        }
        uses.memory |= !is_value;
        Some(uses)
    }

    /// Returns the expression of the list entry that applies at a moment; `None` also if
    /// the list or its views are unreadable.
    fn in_list(
        &self,
        (list, views): (Value, &Value),
        moment: Moment,
        padding: u64,
    ) -> Option<Expression<Reader>> {
        let offset = match views {
            AttributeValue::SecOffset(offset) => *offset,
            AttributeValue::LocationListsRef(offset) => offset.0,
            _ => return None,
        };
        let source = self.info.source(self.unit)?;
        let unit = &self.info.unit(self.unit)?.unit;
        let mut views = source.location_bytes(unit, offset)?;
        let mut entries = source.written_locations(unit, list)?;
        let mut base = unit.low_pc;
        let mut found = None;
        while let Some(entry) = entries.next().ok()? {
            let (begin, end, data) = match entry {
                RawLocListEntry::BaseAddress { addr } => {
                    base = addr;
                    continue;
                }
                RawLocListEntry::OffsetPair { begin, end, data }
                | RawLocListEntry::AddressOrOffsetPair { begin, end, data } => {
                    (base.checked_add(begin)?, base.checked_add(end)?, data)
                }
                RawLocListEntry::StartEnd { begin, end, data } => (begin, end, data),
                RawLocListEntry::StartLength {
                    begin,
                    length,
                    data,
                } => (begin, begin.checked_add(length)?, data),
                // gcc writes no other kinds of entries beside views.
                _ => return None,
            };
            let first = (begin, views.read_uleb128().ok()?);
            let behind = (end, views.read_uleb128().ok()?);
            // An entry that begins in the padding is that of the address, with this view.
            let is_padded = (padding..moment.0).contains(&begin);
            if is_padded && (moment.0, first.1) > moment {
                return None;
            }
            if (first..behind).contains(&moment) {
                found = found.or(Some(data));
            }
        }
        found
    }
}
