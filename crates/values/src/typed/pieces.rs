//! Composes a value that the compiler keeps in pieces (DWARF 5, section 2.6.1.2).
//!
//! Invariant: bits that no piece gives are unknown, and are never shown as zero.

use crate::typed::{Partial, Typed};
use juror_symbols::{EvaluationContext, Piece, Type, ValueLocation};

/// The bits of a value that have been found so far.
pub struct Pieces {
    partial: Partial,
    /// The start of the next piece, in bits.
    end_bits: u64,
}

impl Pieces {
    /// Starts a value of `size` bytes, all unknown.
    pub fn new(size: usize) -> Pieces {
        Pieces {
            partial: Partial {
                bytes: vec![0; size],
                known: vec![0; size],
            },
            end_bits: 0,
        }
    }

    /// Adds the next piece, from the lowest bit up.
    pub fn add(&mut self, piece: &Piece, context: &dyn EvaluationContext) {
        let left = (self.partial.bytes.len() as u64 * 8).saturating_sub(self.end_bits);
        let size_bits = piece.size_bits.unwrap_or(left).min(left);
        if let Some((source, first_bit)) = source(piece, size_bits, context) {
            let start = self.end_bits;
            self.partial.put(start, size_bits, &source, first_bit);
        }
        self.end_bits += size_bits;
    }

    /// Returns the value of a type that the pieces make up.
    pub fn into_typed(self, r#type: Type) -> Typed {
        Typed {
            location: self.partial.into_location(None),
            r#type,
            bits: None,
            snapshot: None,
        }
    }
}

/// Returns the bytes that contain a piece, and the piece's first bit in them. Returns `None` if
/// they are unknown.
fn source(
    piece: &Piece,
    size_bits: u64,
    context: &dyn EvaluationContext,
) -> Option<(Vec<u8>, u64)> {
    let is_whole = piece.size_bits.is_none();
    // A constant that is shorter than the value is extended with zeros.
    let filled = |mut bytes: Vec<u8>| {
        let size = (piece.offset_bits + size_bits).div_ceil(8) as usize;
        if is_whole && bytes.len() < size {
            bytes.resize(size, 0);
        }
        (bytes, piece.offset_bits)
    };
    match &piece.location {
        ValueLocation::Register(number) => {
            let word = context.register(*number)?;
            Some((word.to_le_bytes().to_vec(), piece.offset_bits))
        }
        ValueLocation::Address(address) => {
            let start = piece.offset_bits / 8;
            let first_bit = piece.offset_bits % 8;
            let mut bytes = vec![0; (first_bit + size_bits).div_ceil(8) as usize];
            let is_read = context.read(address.wrapping_add(start), &mut bytes);
            is_read.then_some((bytes, first_bit))
        }
        ValueLocation::Value(number) => Some(filled(number.to_le_bytes().to_vec())),
        ValueLocation::Bytes(known) => Some(filled(known.clone())),
        ValueLocation::ImplicitPointer { .. } | ValueLocation::OptimizedOut => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ValueError;
    use crate::typed::{Location as TypedPlace, Memory};

    /// Every register holds its number in each byte; memory holds addresses.
    struct Frame;

    impl Memory for Frame {
        fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
            let bytes = (address..).map(|address| address as u8);
            buffer
                .iter_mut()
                .zip(bytes)
                .for_each(|(to, from)| *to = from);
            address < 0x1000
        }
    }

    impl EvaluationContext for Frame {
        fn register(&self, number: u16) -> Option<u64> {
            (number < 8).then(|| u64::from(number) * 0x0101_0101_0101_0101)
        }
        fn cfa(&self) -> Option<u64> {
            None
        }
        fn load_bias(&self) -> u64 {
            0
        }
    }

    fn piece(size_bits: impl Into<Option<u64>>, location: ValueLocation) -> Piece {
        Piece {
            size_bits: size_bits.into(),
            offset_bits: 0,
            location,
        }
    }

    /// Asserts the bytes of a value of four bytes, and the mask of its known bits.
    #[track_caller]
    fn check(pieces: &[Piece], bytes: [u8; 4], known: [u8; 4]) {
        let mut value = Pieces::new(4);
        for piece in pieces {
            value.add(piece, &Frame);
        }
        let partial = value.partial;
        assert_eq!((&*partial.bytes, &*partial.known), (&bytes[..], &known[..]));
    }

    #[test]
    fn bits_without_a_piece_are_unknown() {
        check(
            &[piece(None, ValueLocation::Value(7))],
            [7, 0, 0, 0],
            [0xff; 4],
        );
        check(
            &[piece(8, ValueLocation::Value(7))],
            [7, 0, 0, 0],
            [0xff, 0, 0, 0],
        );
        check(
            &[
                piece(8, ValueLocation::OptimizedOut),
                piece(8, ValueLocation::Register(3)),
            ],
            [0, 3, 0, 0],
            [0, 0xff, 0, 0],
        );
        check(&[piece(16, ValueLocation::Register(9))], [0; 4], [0; 4]);
        check(
            &[
                piece(16, ValueLocation::Address(0x10)),
                piece(16, ValueLocation::Address(0x2000)),
            ],
            [0x10, 0x11, 0, 0],
            [0xff, 0xff, 0, 0],
        );
        // More than the value has room for is left out.
        check(
            &[
                piece(24, ValueLocation::Register(1)),
                piece(64, ValueLocation::Register(2)),
            ],
            [1, 1, 1, 2],
            [0xff; 4],
        );
    }

    #[test]
    fn pieces_may_be_of_bits() {
        check(
            &[
                piece(3, ValueLocation::Value(0b101)),
                piece(5, ValueLocation::Value(0b10001)),
                piece(4, ValueLocation::OptimizedOut),
                piece(4, ValueLocation::Value(0xf)),
            ],
            [0b1000_1101, 0xf0, 0, 0],
            [0xff, 0xf0, 0, 0],
        );
        let shifted = Piece {
            offset_bits: 4,
            ..piece(8, ValueLocation::Value(0xabc))
        };
        check(&[shifted], [0xab, 0, 0, 0], [0xff, 0, 0, 0]);
    }

    #[test]
    fn a_member_is_known_or_not_by_itself() {
        let byte = Type::builtin("unsigned char").expect("a type");
        let mut value = Pieces::new(4);
        value.add(&piece(8, ValueLocation::Value(7)), &Frame);
        value.add(&piece(4, ValueLocation::Value(1)), &Frame);
        let value = value.into_typed(byte.array_of(4));
        let shown = |offset| value.part(offset, byte.clone(), None).bytes(&Frame, 1);
        assert_eq!(shown(0), Ok(vec![7]));
        assert_eq!(shown(1), Err(ValueError::PartlyOptimizedOut));
        assert_eq!(shown(2), Err(ValueError::OptimizedOut));
        assert!(matches!(value.location, TypedPlace::Partial(_)));
        assert!(value.bytes(&Frame, 4).is_err());
        let bits = |offset_bits, size_bits| {
            let bits = juror_symbols::BitField {
                offset_bits,
                size_bits,
            };
            value.part(1, byte.clone(), Some(bits)).bytes(&Frame, 1)
        };
        assert_eq!(bits(0, 4), Ok(vec![1]));
        assert_eq!(bits(2, 4), Err(ValueError::PartlyOptimizedOut));
        assert_eq!(bits(4, 4), Err(ValueError::OptimizedOut));
    }
}
