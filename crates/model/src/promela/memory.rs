//! Little-endian access to values in the bytes of a state.
//!
//! Offsets come from the layout and are in bounds; an offset out of bounds reads 0 and
//! writes nothing, so that no bug in the layout causes a panic.

use super::program::{Cell, Kept};

#[inline]
pub(super) fn byte(state: &[u8], at: u32) -> u8 {
    state.get(at as usize).copied().unwrap_or(0)
}

fn pair(state: &[u8], at: u32) -> [u8; 2] {
    let at = at as usize;
    match state.get(at..at + 2) {
        Some(&[low, high]) => [low, high],
        _ => [0; 2],
    }
}

/// Returns a 16-bit value: a location, or the number of a shape.
#[inline]
pub(super) fn word(state: &[u8], at: u32) -> u16 {
    u16::from_le_bytes(pair(state, at))
}

#[inline]
pub(super) fn set_word(state: &mut [u8], at: u32, value: u16) {
    let at = at as usize;
    if let Some(bytes) = state.get_mut(at..at + 2) {
        bytes.copy_from_slice(&value.to_le_bytes());
    }
}

/// Returns the value of a cell whose frame starts at `base`.
#[inline]
pub(super) fn load(state: &[u8], base: u32, cell: &Cell) -> i32 {
    let at = base + cell.offset;
    match cell.scalar.kept {
        Kept::Byte => i32::from(byte(state, at)),
        Kept::Short => i32::from(i16::from_le_bytes(pair(state, at))),
        Kept::Word => i32::from(word(state, at)),
        Kept::Int => {
            let at = at as usize;
            match state.get(at..at + 4) {
                Some(&[a, b, c, d]) => i32::from_le_bytes([a, b, c, d]),
                _ => 0,
            }
        }
    }
}

/// Stores a value in a cell, truncated to its size.
#[inline]
pub(super) fn store(state: &mut [u8], base: u32, cell: &Cell, value: i32) {
    let at = (base + cell.offset) as usize;
    let size = cell.scalar.kept.size() as usize;
    let bytes = value.to_le_bytes();
    if let (Some(place), Some(bytes)) = (state.get_mut(at..at + size), bytes.get(..size)) {
        place.copy_from_slice(bytes);
    }
}
