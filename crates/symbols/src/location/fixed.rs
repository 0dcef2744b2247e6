//! Simple locations: a register, or a register plus an offset, found without evaluating an
//! expression.

use super::{Location, LocationSource, evaluation_encoding, frame_base_at};
use crate::dwarf::Reader;
use gimli::{Expression, Operation};

/// A location of a whole value that is the same in every frame at an address, relative to
/// the frame's registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixedLocation {
    /// In the register with this DWARF number.
    Register(u16),
    /// In memory, at an offset from a register.
    AtRegister {
        /// The register's DWARF number.
        register: u16,
        /// The offset in bytes.
        offset: i64,
    },
    /// In memory, at this offset in bytes from the canonical frame address.
    AtFrame(i64),
    /// In memory, at this file address.
    AtAddress(u64),
    /// A constant without a location.
    Value(u64),
}

impl Location {
    /// Returns the value's location at the file address `pc`, if it is a simple one.
    pub fn fixed_at(&self, pc: u64) -> Option<FixedLocation> {
        if let LocationSource::Constant(bytes) = &self.source {
            let mut wide = [0; 8];
            wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
            return Some(FixedLocation::Value(u64::from_le_bytes(wide)));
        }
        let operations = self.operations(self.expression_at(pc)?)?;
        Some(match operations.as_slice() {
            [Operation::Register { register }] => FixedLocation::Register(register.0),
            [
                Operation::RegisterOffset {
                    register, offset, ..
                },
            ] => FixedLocation::AtRegister {
                register: register.0,
                offset: *offset,
            },
            [Operation::FrameOffset { offset }] => self.at_frame_base(pc, *offset)?,
            [Operation::CallFrameCFA] => FixedLocation::AtFrame(0),
            [Operation::CallFrameCFA, Operation::PlusConstant { value }] => {
                FixedLocation::AtFrame(i64::try_from(*value).ok()?)
            }
            [Operation::Address { address }] => FixedLocation::AtAddress(*address),
            [Operation::AddressIndex { index }] => {
                FixedLocation::AtAddress(self.indexed_address(*index)?)
            }
            [Operation::UnsignedConstant { value }, Operation::StackValue] => {
                FixedLocation::Value(*value)
            }
            [Operation::SignedConstant { value }, Operation::StackValue] => {
                FixedLocation::Value(*value as u64)
            }
            _ => return None,
        })
    }

    /// Returns the operations of a location that is the same in the whole scope.
    pub(crate) fn whole_operations(&self) -> Option<Vec<Operation<Reader>>> {
        match &self.source {
            LocationSource::Everywhere(_) => self.operations(self.expression_at(0)?),
            _ => None,
        }
    }

    /// Returns the first operation of an expression.
    pub(super) fn first_operation(
        &self,
        expression: Expression<Reader>,
    ) -> Option<Operation<Reader>> {
        let encoding = evaluation_encoding(&self.info, self.unit);
        expression.operations(encoding).next().ok()?
    }

    /// Returns an address from `.debug_addr`.
    pub(super) fn indexed_address(&self, index: gimli::DebugAddrIndex<usize>) -> Option<u64> {
        let unit = &self.info.unit(self.unit)?.unit;
        let source = self.info.source(self.unit)?;
        source.dwarf().address(unit, index).ok()
    }

    fn operations(&self, expression: Expression<Reader>) -> Option<Vec<Operation<Reader>>> {
        /// Longer expressions are computations.
        const COUNT_MAX: usize = 8;
        let mut iterator = expression.operations(evaluation_encoding(&self.info, self.unit));
        let mut operations = Vec::with_capacity(COUNT_MAX);
        while let Some(operation) = iterator.next().ok()? {
            if operations.len() == COUNT_MAX {
                return None;
            }
            operations.push(operation);
        }
        Some(operations)
    }

    fn at_frame_base(&self, pc: u64, offset: i64) -> Option<FixedLocation> {
        let base = frame_base_at(&self.info, self.function?, pc)?;
        Some(match self.operations(base)?.as_slice() {
            [Operation::CallFrameCFA] => FixedLocation::AtFrame(offset),
            [Operation::Register { register }] => FixedLocation::AtRegister {
                register: register.0,
                offset,
            },
            [
                Operation::RegisterOffset {
                    register,
                    offset: base,
                    ..
                },
            ] => FixedLocation::AtRegister {
                register: register.0,
                offset: base.checked_add(offset)?,
            },
            _ => return None,
        })
    }
}
