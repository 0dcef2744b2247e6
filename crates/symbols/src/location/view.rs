//! Where a value is at one of several moments at the same instruction.
//!
//! The optimizer leaves several statements at one instruction, and a variable may have
//! another value for each of them. gcc numbers these moments ("views"), which the line
//! table counts, too, and says beside a location list from which view of an address to
//! which of another an entry holds (`DW_AT_GNU_locviews`): a pair of numbers for each entry
//! of the list, in its order. Entries of one address alone are empty for whoever knows no
//! views.

use super::{Location, LocationSource, evaluation_encoding};
use crate::dwarf::{Reader, Value};
use gimli::{AttributeValue, Expression, Operation, RawLocListEntry, Reader as _};

/// A moment of the execution: an address, and the view of it.
pub(crate) type Moment = (u64, u64);

/// What code must not change for a location to stay what it is.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    /// Registers, by their DWARF numbers.
    pub registers: Vec<u16>,
    /// The value is in memory.
    pub memory: bool,
}

impl Location {
    /// Where the value is at a moment, for as long as what that refers to is not changed.
    /// Before the moment's address there is padding from `padding` on: what the compiler says
    /// of the address may be said of that.
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

    /// The same location when nothing is known of it.
    pub(crate) fn lost(&self) -> Location {
        Location {
            source: LocationSource::Nowhere,
            ..self.clone()
        }
    }

    /// What the value depends on, of one that does not move.
    pub(crate) fn uses(&self) -> Option<Uses> {
        let mut uses = Uses::default();
        let expression = match &self.source {
            LocationSource::Everywhere(expression) => expression.clone(),
            LocationSource::Constant(_) | LocationSource::Nowhere => return Some(uses),
            LocationSource::List(..) => return None,
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

    /// The expression of the entry that holds at a moment; nothing, too, where the list or
    /// its views cannot be read.
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
                // gcc writes no others beside views.
                _ => return None,
            };
            let first = (begin, views.read_uleb128().ok()?);
            let behind = (end, views.read_uleb128().ok()?);
            if (padding..moment.0).contains(&begin) {
                return None;
            }
            if (first..behind).contains(&moment) {
                found = found.or(Some(data));
            }
        }
        found
    }
}
