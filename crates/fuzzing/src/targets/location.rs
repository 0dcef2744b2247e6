//! Arbitrary location expressions: two bytes of seed, then the expression of
//! one global variable.

use crate::elf::{self, Section};
use crate::noise::Noise;
use crate::symbols;

/// A unit with a variable `v` that has a location, and a base type for operations that
/// refer to one.
const ABBREVIATIONS: &[u8] = &[
    1, 0x11, 1, 0, 0, // DW_TAG_compile_unit with children
    2, 0x24, 0, 0x0b, 0x0b, 0x3e, 0x0b, 0x03, 0x08, 0, 0, // base type: size, encoding, name
    3, 0x34, 0, 0x03, 0x08, 0x49, 0x13, 0x02, 0x18, 0, 0, // variable: name, type, location
    0,
];

fn unit(expression: &[u8]) -> Vec<u8> {
    // Version 5, compile unit, 8-byte addresses, abbreviations at 0; the type is at 13.
    let mut unit = vec![5, 0, 1, 8, 0, 0, 0, 0];
    unit.extend_from_slice(&[1, 2, 8, 5]);
    unit.extend_from_slice(b"long\0");
    unit.extend_from_slice(&[3, b'v', 0, 13, 0, 0, 0]);
    let mut length = expression.len();
    loop {
        let more = u8::from(length >= 0x80) << 7;
        unit.push((length & 0x7f) as u8 | more);
        length >>= 7;
        if length == 0 {
            break;
        }
    }
    unit.extend_from_slice(expression);
    unit.push(0);
    let mut section = (unit.len() as u32).to_le_bytes().to_vec();
    section.extend_from_slice(&unit);
    section
}

/// Runs the target with an input.
pub fn fuzz(bytes: &[u8]) {
    let Some(([a, b], expression)) = bytes.split_first_chunk() else {
        return;
    };
    let noise = Noise {
        seed: u64::from(u16::from_le_bytes([*a, *b])),
    };
    let information = unit(expression);
    let section = |name, contents| Section {
        name,
        address: 0,
        contents,
    };
    let file = elf::open(&elf::build(&[
        section(".debug_abbrev", ABBREVIATIONS),
        section(".debug_info", &information),
    ]))
    .expect("the file around the expression is sound");
    let variables = file.globals_named("v");
    assert!(!variables.is_empty(), "the variable is there");
    for variable in &variables {
        symbols::look_at_variable(variable, elf::CODE, noise);
    }
}
