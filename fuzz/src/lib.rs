//! What several fuzz targets use: memory made of noise, small ELF files around
//! arbitrary sections, and a look at everything that a symbol file tells.
//!
//! A target keeps every input bounded itself, so that a slow input is a find
//! in the crate and not in the target.

pub mod elf;
pub mod noise;
pub mod symbols;
