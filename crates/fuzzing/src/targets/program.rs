//! An arbitrary file, opened as a program, with calls of all queries.

use crate::noise::Noise;
use crate::{elf, symbols};

/// Runs the target with an input.
pub fn fuzz(bytes: &[u8]) {
    if let Ok(file) = elf::open(bytes) {
        symbols::look_at(&file, Noise { seed: 4 });
    }
}
