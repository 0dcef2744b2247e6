//! Arbitrary unwind rules: two bytes of seed, two of address, then the section.

use crate::elf::{self, Section};
use crate::noise::Noise;
use crate::symbols;

/// Runs the target with an input.
pub fn fuzz(bytes: &[u8]) {
    let Some(([a, b, c, d], rules)) = bytes.split_first_chunk() else {
        return;
    };
    let noise = Noise {
        seed: u64::from(u16::from_le_bytes([*a, *b])),
    };
    let address = elf::CODE + u64::from(u16::from_le_bytes([*c, *d])) % elf::CODE_SIZE;
    for (name, at) in [(".eh_frame", 0x8000), (".debug_frame", 0)] {
        let section = Section {
            name,
            address: at,
            contents: rules,
        };
        if let Ok(file) = elf::open(&elf::build(&[section])) {
            symbols::walk_stack(&file, address, noise);
            symbols::walk_stack(&file, elf::CODE, noise);
        }
    }
}
