//! Parameters that are passed by the address of a variable although their type is that of the
//! value: those of Fortran, and of Pascal's `var`. Their location dereferences what was passed.

use super::{EntryLocation, EntryPieceLocation};
use crate::Type;
use crate::dwarf::Language;
use crate::location::{LocationSource, evaluation_encoding};
use crate::variable::Variable;
use gimli::Operation;
use juror_arch::abi;

impl Variable {
    /// Returns whether it is a parameter of which the address is passed.
    pub(super) fn is_by_reference(&self) -> bool {
        let unit = self.location.info.unit(self.location.unit);
        let is_of_other = unit.is_some_and(|unit| unit.language == Language::Other);
        let LocationSource::Everywhere(expression) = &self.location.source else {
            return false;
        };
        if !self.parameter || !is_of_other {
            return false;
        }
        let encoding = evaluation_encoding(&self.location.info, self.location.unit);
        let mut operations = expression.clone().operations(encoding);
        let (Ok(Some(first)), Ok(second), Ok(None)) =
            (operations.next(), operations.next(), operations.next())
        else {
            return false;
        };
        match (first, second) {
            // Unoptimized: the slot of the frame has the address.
            (
                Operation::FrameOffset { .. } | Operation::RegisterOffset { .. },
                Some(Operation::Deref { size: 8, .. }),
            ) => true,
            // Optimized: the register of the argument has it all the time.
            (
                Operation::RegisterOffset {
                    register,
                    offset: 0,
                    ..
                },
                None,
            ) => abi::is_argument(register.0),
            _ => false,
        }
    }

    /// Returns the type as which it is passed.
    pub(super) fn passed_type(&self) -> Type {
        if self.is_by_reference() {
            self.r#type.constant().reference_to()
        } else {
            self.r#type.clone()
        }
    }
}

/// Returns where the value is whose address is at a location.
pub(super) fn behind(mut address: EntryLocation, size: u64) -> EntryLocation {
    for piece in &mut address {
        piece.size = u32::try_from(size).unwrap_or(u32::MAX);
        piece.location = match std::mem::replace(&mut piece.location, EntryPieceLocation::Stack(0))
        {
            EntryPieceLocation::Register(number) => EntryPieceLocation::PointedByRegister(number),
            EntryPieceLocation::Stack(offset) => EntryPieceLocation::PointedByStack(offset),
            other => other,
        };
    }
    address
}
