//! An arbitrary file, opened as a program, with calls of all queries.
#![no_main]

use juror_fuzz::noise::Noise;
use juror_fuzz::{elf, symbols};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(file) = elf::open(bytes) {
        symbols::look_at(&file, Noise { seed: 4 });
    }
});
