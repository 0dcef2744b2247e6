//! Jumps whose displacement traps where instructions used to begin.
//!
//! `jmp rel32` replaces several instructions. A thread may still come to the
//! second one: from a signal frame, by a return, by a branch that was not found,
//! or out of a displaced copy. So each byte of the displacement at which an
//! original instruction began is chosen among those that can only trap
//! ([`TRAPPING`]), and the thread is moved to the instruction's twin. The
//! choice of the displacement is the choice of the stub's address.
//!
//! A branch that leads into the head traps at each pass, and a call that is relocated
//! returns against the processor's prediction. The head of such a site ends before
//! that instruction, and the last bytes of the jump are the instruction's own: the
//! displacement is *shared*, which leaves one range of 16 MiB, 64 KiB or 256 bytes, or one address, for
//! the stub. Prefixes without an effect move the opcode, and so give one or two other
//! ranges. Nothing but the head is written, and the branch meets what it met before.
//!
//! **Invariant**: the bytes of [`Form::code`] lead to the stub; each byte at a
//! boundary of the head traps without an effect; each byte behind the head is what the
//! text has there.
//!
//! Sources: Chamith et al., *Instruction Punning* (PLDI 2017), section 3; the prefixes:
//! Duck, Gao, Roychoudhury, *Binary Rewriting without Control Flow Recovery* (PLDI 2020).

mod placement;
#[cfg(test)]
mod tests;

pub use placement::{Placement, Request};

use crate::head::{Head, JUMP_LENGTH, LONGEST_JUMP};
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

/// A prefix that does not change a jump.
const PREFIX: u8 = 0x2e;

/// What a byte of a displacement may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Allowed {
    /// Any byte.
    #[default]
    Any,
    /// One that traps.
    Trapping,
    /// This one, which the jump shares with the instruction there.
    Shared(u8),
}

impl Allowed {
    fn contains(self, byte: u8) -> bool {
        match self {
            Allowed::Any => true,
            Allowed::Trapping => traps(byte),
            Allowed::Shared(shared) => byte == shared,
        }
    }
}

/// What the bytes of a displacement may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Constraint {
    /// By position, the lowest byte first.
    allowed: [Allowed; BYTES],
}

impl Constraint {
    /// Returns the constraint for instructions that begin at these distances
    /// from the jump. The distance 0 is the jump itself.
    pub fn at_boundaries(boundaries: impl IntoIterator<Item = u64>) -> Self {
        let mut allowed = [Allowed::Any; BYTES];
        for boundary in boundaries {
            let position = boundary
                .checked_sub(1)
                .and_then(|at| usize::try_from(at).ok());
            if let Some(byte) = position.and_then(|at| allowed.get_mut(at)) {
                *byte = Allowed::Trapping;
            }
        }
        Self { allowed }
    }

    /// Returns what a byte of the displacement may be.
    fn allowed(self, position: usize) -> Allowed {
        self.allowed.get(position).copied().unwrap_or_default()
    }

    /// Returns how many bytes are not free.
    pub fn count(self) -> usize {
        let free = self.allowed.iter().filter(|byte| **byte == Allowed::Any);
        BYTES - free.count()
    }

    /// Tells whether each byte of a displacement is allowed.
    pub fn allows(self, displacement: i32) -> bool {
        let bytes = displacement.to_le_bytes();
        self.allowed
            .iter()
            .zip(bytes)
            .all(|(allowed, byte)| allowed.contains(byte))
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
            value = match self.next_byte(byte, position) {
                Some(raised) => ((above << 8) | u64::from(raised)) << shift,
                None => (above + 1) << (shift + 8),
            };
            if value > u64::from(u32::MAX) {
                return None;
            }
        }
        None
    }

    /// Returns the highest byte that is not allowed, in the order of its position.
    fn first_wrong(self, value: u64) -> Option<(usize, u8)> {
        (0..BYTES).rev().find_map(|position| {
            let byte = (value >> (8 * position)) as u8;
            let is_allowed = self.allowed(position).contains(from_order(byte, position));
            (!is_allowed).then_some((position, byte))
        })
    }

    /// Returns the least byte above one that is not allowed, both in the order of the
    /// position.
    fn next_byte(self, byte: u8, position: usize) -> Option<u8> {
        match self.allowed(position) {
            Allowed::Any => None,
            Allowed::Trapping => next_trapping(byte, position),
            Allowed::Shared(shared) => Some(from_order(shared, position)).filter(|it| *it > byte),
        }
    }

    /// Returns the ranges of addresses in which the stub of a jump at `jump` may
    /// begin, as far as the highest byte of the displacement decides, nearest
    /// first. Each is 16 MiB long.
    pub fn windows(self, jump: u64) -> impl Iterator<Item = Range<u64>> {
        let mut top: Vec<i8> = (i8::MIN..=i8::MAX)
            .filter(|byte| self.allowed(BYTES - 1).contains(*byte as u8))
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

/// A form of the jump that replaces a head: how many prefixes it has, and what the bytes
/// of its displacement may be. By default it has none, and they may be any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Form {
    prefixes: usize,
    /// What the bytes of the displacement may be.
    pub constraint: Constraint,
}

impl Form {
    /// Returns the forms of the jump of a head; the one with the most places comes first.
    /// A head that is not short has one, and it has no prefix.
    pub fn of(head: &Head) -> Vec<Form> {
        if !head.is_short() {
            let constraint = Constraint::at_boundaries(head.boundaries());
            let form = Form {
                prefixes: 0,
                constraint,
            };
            return vec![form];
        }
        let most = (LONGEST_JUMP - JUMP_LENGTH) as usize;
        (0..=most)
            .filter_map(|prefixes| Form::before_shared(head, prefixes))
            .collect()
    }

    /// Returns the form with so many prefixes whose last bytes are those behind a short
    /// head.
    fn before_shared(head: &Head, prefixes: usize) -> Option<Form> {
        let length = usize::try_from(head.end().checked_sub(head.jump)?).ok()?;
        let is_boundary = |at: usize| head.boundaries().any(|it| it == at as u64);
        // The prefixes and the opcode do not trap, and have to be in the head.
        if prefixes >= length || (1..=prefixes).any(is_boundary) {
            return None;
        }
        let mut constraint = Constraint::default();
        for (position, allowed) in constraint.allowed.iter_mut().enumerate() {
            let at = prefixes + 1 + position;
            *allowed = match at.checked_sub(length) {
                Some(behind) => Allowed::Shared(*head.behind.get(behind)?),
                None if is_boundary(at) => Allowed::Trapping,
                None => Allowed::Any,
            };
        }
        Some(Form {
            prefixes,
            constraint,
        })
    }

    /// Returns the address from which the displacement of a jump at `jump` counts, less
    /// the length of a jump without prefixes.
    pub fn opcode(self, jump: u64) -> u64 {
        jump.wrapping_add(self.prefixes as u64)
    }

    /// Returns the bytes of the jump at `jump` to a stub, if it is within reach.
    pub fn code(self, jump: u64, stub: u64) -> Option<Vec<u8>> {
        let displacement = displacement(self.opcode(jump), stub)?;
        let mut code = vec![PREFIX; self.prefixes];
        code.push(0xe9);
        code.extend_from_slice(&displacement.to_le_bytes());
        Some(code)
    }
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
