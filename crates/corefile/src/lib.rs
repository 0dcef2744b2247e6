//! Core files of Linux on x86-64: what one says of a process, and how one is written.
//!
//! [`CoreFile::parse`] reads the headers and notes; the memory stays in the file, and
//! [`CoreFile::place_of`] says where. [`lay_out`] is the reverse. [`identity`] reads from an ELF
//! file, on disk or in memory, which build it is.
//!
//! **Invariant**: no I/O: bytes come from functions that the caller passes. No input causes a
//! panic, an endless loop or an allocation larger than the file. What a file does not have is
//! absent, never zero.
//!
//! Sources: elf(5), core(5), and the notes of `linux/elfcore.h` and `asm/elf.h`.

#![forbid(unsafe_code)]

mod bytes;
mod error;
mod identity;
mod lay_out;
mod model;
mod notes;
mod parse;
#[cfg(test)]
mod tests;

pub use error::CoreError;
pub use identity::{Identity, identity};
pub use lay_out::{Contents, Layout, StoredSegment, lay_out};
pub use model::{CoreFile, CoreThread, MappedFile, Place, ProcessInfo, Segment};

/// The size of a page, which is the unit of mappings.
pub const PAGE: u64 = 4096;

/// Reads bytes at an offset of a file, or at an address: fills as many leading bytes as there
/// are, and returns their number.
pub type ReadAt<'a> = &'a dyn Fn(u64, &mut [u8]) -> usize;
