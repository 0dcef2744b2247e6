//! Builds captures as chains of loads.
//!
//! **Invariant**: all loads but the last are of eight bytes, and the last has the size of
//! the value.

use juror_monitor::lowering::{Origin, WordCapture, WordKind};

/// The greatest distance in bytes that an address operand can have, with room for the words that a
/// stub pushes.
const DISTANCE_MAX: i64 = 1 << 30;

/// The reason for a distance that is too large.
pub(crate) const TOO_FAR: &str = "reads too far from a pointer";

/// A word, an offset that is to be added to it, and the loads that lead to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chain {
    origin: Origin,
    reads: Vec<i32>,
    /// The size of the last load.
    size: u8,
    /// The offset to add to the word.
    offset: i64,
}

impl Chain {
    /// Starts with a word.
    pub(crate) fn new(origin: Origin) -> Chain {
        Chain {
            origin,
            reads: Vec::new(),
            size: 8,
            offset: 0,
        }
    }

    /// Starts with a general register, by its DWARF number.
    pub(crate) fn register(number: u8) -> Result<Chain, &'static str> {
        /// The numbers in instructions, by DWARF number.
        const ENCODED: [u8; 16] = [0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15];
        let encoded = ENCODED.get(usize::from(number));
        let encoded = encoded.ok_or("reads the program counter")?;
        Ok(Chain::new(Origin::Register(*encoded)))
    }

    /// Starts with an address, as a distance from the stack pointer at the event.
    pub(crate) fn stack(offset: i64) -> Result<Chain, &'static str> {
        Ok(Chain::new(Origin::Stack(near(offset)?)))
    }

    /// Adds an offset to the address.
    pub(crate) fn behind(mut self, bytes: i64) -> Result<Chain, &'static str> {
        self.offset = self.offset.checked_add(bytes).ok_or(TOO_FAR)?;
        Ok(self)
    }

    /// Loads `size` bytes at the address.
    pub(crate) fn load(mut self, size: u8) -> Result<Chain, &'static str> {
        if self.size != 8 {
            return Err("follows a pointer of less than 8 bytes");
        }
        self.reads.push(near(self.offset)?);
        self.offset = 0;
        self.size = size;
        Ok(self)
    }

    /// Ends the chain with a value of `bytes` bytes.
    pub(crate) fn value(self, bytes: u8, kind: WordKind) -> Result<WordCapture, &'static str> {
        if !matches!(bytes, 1 | 2 | 4 | 8) {
            return Err("reads an integer of an unusual size");
        }
        if !self.reads.is_empty() && self.size != bytes {
            return Err("reads a part of a word");
        }
        let origin = match (self.origin, self.offset) {
            (origin, 0) => origin,
            (Origin::Constant(word), offset) if self.reads.is_empty() => {
                Origin::Constant(word.wrapping_add_signed(offset))
            }
            (Origin::Stack(from), offset) if self.reads.is_empty() => {
                let offset = offset.checked_add(from.into()).ok_or(TOO_FAR)?;
                Origin::Stack(near(offset)?)
            }
            _ => return Err("adds to an address"),
        };
        Ok(WordCapture {
            origin,
            reads: self.reads,
            bytes,
            kind,
        })
    }
}

fn near(offset: i64) -> Result<i32, &'static str> {
    let is_near = (-DISTANCE_MAX..DISTANCE_MAX).contains(&offset);
    let near = i32::try_from(offset).ok().filter(|_| is_near);
    near.ok_or(TOO_FAR)
}

/// Interprets a capture of a thread by its definition. `begun` is the word that the entry has kept
/// for it.
#[cfg(test)]
pub(crate) fn interpret(
    capture: &WordCapture,
    thread: &impl juror_values::read_plan::Machine,
    begun: Option<u64>,
) -> Option<u64> {
    /// The DWARF numbers, by number in instructions.
    const DWARF: [u8; 16] = [0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15];
    let register = |number: u8| thread.register(DWARF[usize::from(number)]);
    let mut word = match capture.origin {
        Origin::Register(number) => register(number),
        Origin::Stack(offset) => register(4).wrapping_add_signed(offset.into()),
        Origin::Constant(word) => word,
        Origin::Begun => begun?,
        Origin::Thread | Origin::ReturnAddress => unreachable!(),
    };
    for (at, offset) in capture.reads.iter().enumerate() {
        let is_last = at + 1 == capture.reads.len();
        let size = if is_last { capture.bytes.into() } else { 8 };
        let mut bytes = [0; 8];
        let address = word.wrapping_add_signed((*offset).into());
        if !thread.read(address, &mut bytes[..size]) {
            return None;
        }
        word = u64::from_le_bytes(bytes);
    }
    let unused = 64 - 8 * u32::from(capture.bytes);
    Some(match capture.kind {
        WordKind::Signed => ((word << unused) as i64 >> unused) as u64,
        WordKind::Boolean => u64::from(word << unused != 0),
        WordKind::Unsigned | WordKind::Address => word << unused >> unused,
    })
}

#[cfg(test)]
mod tests;
