//! `DW_OP_GNU_uninit`, which marks a variable that the program has not initialized yet.
//!
//! The operation does not change the location. gcc writes it before each piece, where DWARF
//! readers expect only the piece, so it is removed.

use crate::dwarf::Reader;
use gimli::{Encoding, EndianArcSlice, Expression, LittleEndian, Operation, Reader as _};
use std::sync::Arc;

/// Returns the expression without `DW_OP_GNU_uninit`.
pub(super) fn without_marks(
    expression: Expression<Reader>,
    encoding: Encoding,
) -> Expression<Reader> {
    let bytes = expression.0.bytes();
    if bytes.contains(&gimli::DW_OP_GNU_uninit.0) {
        unmarked(bytes, encoding).map_or(expression, Expression)
    } else {
        expression
    }
}

/// Returns the operations of an expression without the marks; `None` if the removal would
/// change the target of a jump, or an operation is unknown.
fn unmarked(bytes: &[u8], encoding: Encoding) -> Option<Reader> {
    let mut kept = Vec::with_capacity(bytes.len());
    let mut rest = EndianArcSlice::new(Arc::from(bytes), LittleEndian);
    while let Some(&code) = rest.bytes().first() {
        if code == gimli::DW_OP_GNU_uninit.0 {
            rest.skip(1).ok()?;
            continue;
        }
        let before = rest.bytes().to_vec();
        let operation = Operation::parse(&mut rest, encoding).ok()?;
        if matches!(operation, Operation::Bra { .. } | Operation::Skip { .. }) {
            return None;
        }
        kept.extend_from_slice(before.get(..before.len() - rest.bytes().len())?);
    }
    Some(EndianArcSlice::new(Arc::from(kept), LittleEndian))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENCODING: Encoding = Encoding {
        address_size: 8,
        format: gimli::Format::Dwarf32,
        version: 5,
    };

    #[track_caller]
    fn check(bytes: &[u8], expected: &[u8]) {
        let reader = EndianArcSlice::new(Arc::from(bytes), LittleEndian);
        let given = without_marks(Expression(reader), ENCODING);
        assert_eq!(given.0.bytes(), expected, "{bytes:02x?}");
    }

    #[test]
    fn marks_are_taken_out() {
        let (reg15, reg6, piece, mark) = (0x5f, 0x56, 0x93, 0xf0);
        check(&[reg15, mark], &[reg15]);
        check(
            &[reg15, mark, piece, 8, reg6, mark, piece, 8],
            &[reg15, piece, 8, reg6, piece, 8],
        );
        // An operand with the same byte.
        check(&[0x08, 0xf0, 0x9f], &[0x08, 0xf0, 0x9f]);
        check(&[0x08, 0xf0, 0x9f, mark], &[0x08, 0xf0, 0x9f]);
        check(&[], &[]);
    }

    #[test]
    fn what_jumps_or_is_not_known_stays() {
        // DW_OP_skip over a mark.
        check(&[0x2f, 1, 0, 0xf0, 0x30], &[0x2f, 1, 0, 0xf0, 0x30]);
        check(&[0x01, 0xf0], &[0x01, 0xf0]);
    }
}
