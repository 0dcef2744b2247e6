//! Shared parts of the fuzz targets: memory made of noise, small ELF files with given
//! sections, and calls of all queries of a symbol file.
//!
//! A target bounds every input itself, so that a slow input is a bug in the crate and not
//! in the target.

pub mod elf;
pub mod noise;
pub mod symbols;
