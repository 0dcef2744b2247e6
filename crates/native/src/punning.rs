//! Jumps whose displacement traps where instructions used to begin.
//!
//! `jmp rel32` replaces several instructions. A thread may still come to the
//! second one: from a signal frame, by a return, by a branch that was not found,
//! or out of a displaced copy. So each byte of the displacement at which an
//! original instruction began is chosen among those that can only trap
//! ([`TRAPPING`]), and the thread is moved to the instruction's twin. The
//! choice of the displacement is the choice of the stub's address.
//!
//! **Invariant**: the bytes of [`jump`] lead to the stub, and each byte at a
//! boundary of the head traps without an effect.
//!
//! Source: Chamith et al., *Instruction Punning* (PLDI 2017), section 3.

mod placement;
#[cfg(test)]
mod tests;

pub use placement::{Placement, Request};

use crate::head::{Head, JUMP_LENGTH};
use std::ops::Range;

/// The first bytes that can only trap in 64-bit mode, in ascending order:
/// `int3`, `hlt`, `cli`, `sti`, and the opcodes that are invalid there and that
/// no extension (VEX, EVEX, REX2) has taken as a prefix.
///
/// A process that called `iopl(3)` is an exception: Linux passes `cli` and
/// `sti` of such a process as if they did nothing.
pub const TRAPPING: [u8; 23] = [
    0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, 0x27, 0x2f, 0x37, 0x3f, 0x60, 0x61, 0x82, 0x9a, 0xcc,
    0xce, 0xd4, 0xd6, 0xea, 0xf4, 0xfa, 0xfb,
];

/// The number of bytes of a displacement.
const BYTES: usize = 4;

/// Which bytes of a displacement must trap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Constraint {
    /// By position, the lowest byte first.
    constrained: [bool; BYTES],
}

impl Constraint {
    /// Returns the constraint of a head.
    pub fn of(head: &Head) -> Self {
        Self::at_boundaries(head.boundaries())
    }

    /// Returns the constraint for instructions that begin at these distances
    /// from the jump. The distance 0 is the jump itself.
    pub fn at_boundaries(boundaries: impl IntoIterator<Item = u64>) -> Self {
        let mut constrained = [false; BYTES];
        for boundary in boundaries {
            let position = boundary
                .checked_sub(1)
                .and_then(|at| usize::try_from(at).ok());
            if let Some(byte) = position.and_then(|at| constrained.get_mut(at)) {
                *byte = true;
            }
        }
        Self { constrained }
    }

    /// Tells whether a byte of the displacement must trap.
    pub fn is_constrained(self, position: usize) -> bool {
        self.constrained.get(position).copied().unwrap_or(false)
    }

    /// Returns how many bytes must trap.
    pub fn count(self) -> usize {
        self.constrained.iter().filter(|byte| **byte).count()
    }

    /// Tells whether a displacement has trapping bytes where it must.
    pub fn allows(self, displacement: i32) -> bool {
        let bytes = displacement.to_le_bytes();
        self.constrained
            .iter()
            .zip(bytes)
            .all(|(constrained, byte)| !constrained || traps(byte))
    }

    /// Returns the least displacement from `least` on that the constraint
    /// allows.
    pub fn next_allowed(self, least: i32) -> Option<i32> {
        // In this order the sign is the highest bit, and carries go upwards.
        let mut value = u64::from(biased(least));
        // Each round settles one byte or carries into a higher one.
        for _ in 0..=2 * BYTES {
            let Some((position, byte)) = self.first_wrong(value) else {
                return Some(unbiased(u32::try_from(value).ok()?));
            };
            let shift = 8 * position as u32;
            let above = value >> (shift + 8);
            value = match next_trapping(byte, position) {
                Some(raised) => ((above << 8) | u64::from(raised)) << shift,
                None => (above + 1) << (shift + 8),
            };
            if value > u64::from(u32::MAX) {
                return None;
            }
        }
        None
    }

    /// Returns the highest byte that must trap and does not.
    fn first_wrong(self, value: u64) -> Option<(usize, u8)> {
        (0..BYTES).rev().find_map(|position| {
            let byte = (value >> (8 * position)) as u8;
            let wrong = self.is_constrained(position) && !traps(from_order(byte, position));
            wrong.then_some((position, byte))
        })
    }

    /// Returns the ranges of addresses in which the stub of a jump at `jump` may
    /// begin, as far as the highest byte of the displacement decides, nearest
    /// first. Each is 16 MiB long.
    pub fn windows(self, jump: u64) -> impl Iterator<Item = Range<u64>> {
        let mut top: Vec<i8> = (i8::MIN..=i8::MAX)
            .filter(|byte| !self.is_constrained(BYTES - 1) || traps(*byte as u8))
            .collect();
        // −1 is as near as 0.
        top.sort_by_key(|byte| {
            if *byte < 0 {
                -1 - i16::from(*byte)
            } else {
                i16::from(*byte)
            }
        });
        let origin = i128::from(jump) + i128::from(JUMP_LENGTH);
        top.into_iter().filter_map(move |byte| {
            let start = origin + (i128::from(byte) << 24);
            let clamp = |address: i128| u64::try_from(address.max(0)).ok();
            let window = clamp(start)?..clamp(start + (1 << 24))?;
            (!window.is_empty()).then_some(window)
        })
    }
}

/// Returns the bytes of a jump at `jump` to a stub, if it is within reach.
pub fn jump(jump: u64, stub: u64) -> Option<[u8; JUMP_LENGTH as usize]> {
    let [a, b, c, d] = displacement(jump, stub)?.to_le_bytes();
    Some([0xe9, a, b, c, d])
}

/// Returns the displacement of a jump at `jump` to a stub.
fn displacement(jump: u64, stub: u64) -> Option<i32> {
    let from = jump.wrapping_add(JUMP_LENGTH);
    i32::try_from(stub.wrapping_sub(from) as i64).ok()
}

/// Tells whether an instruction that begins with this byte can only trap.
pub fn traps(byte: u8) -> bool {
    TRAPPING.binary_search(&byte).is_ok()
}

/// Returns the least trapping byte above `byte`, both in the order of the
/// position.
fn next_trapping(byte: u8, position: usize) -> Option<u8> {
    TRAPPING
        .iter()
        .map(|trapping| from_order(*trapping, position))
        .filter(|ordered| *ordered > byte)
        .min()
}

/// Translates between a byte and its rank: in the highest byte, negative
/// displacements come first. It is its own inverse.
fn from_order(byte: u8, position: usize) -> u8 {
    if position == BYTES - 1 {
        byte ^ 0x80
    } else {
        byte
    }
}

fn biased(displacement: i32) -> u32 {
    displacement as u32 ^ (1 << 31)
}

fn unbiased(value: u32) -> i32 {
    (value ^ (1 << 31)) as i32
}
