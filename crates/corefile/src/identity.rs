//! The build of an ELF file, on disk or in memory.

use crate::ReadAt;
use crate::bytes::{text, u16_at, u32_at, u64_at};
use crate::notes::split_note;
use std::ops::Range;

const PT_LOAD: u32 = 1;
const PT_NOTE: u32 = 4;
const NT_GNU_BUILD_ID: u32 = 3;
/// The flag of segments that the program may write to.
const PF_W: u32 = 2;
/// The limits of what is read.
const PROGRAM_HEADERS_MAX: u16 = 256;
const NOTES_LENGTH_MAX: u64 = 1 << 16;

/// What distinguishes builds of an ELF file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// The build id; empty if it has none. Nothing if a note cannot be read.
    pub build_id: Option<Vec<u8>>,
    /// The ranges of offsets whose contents are in memory as they are in the file: those of
    /// segments to which a program never writes.
    pub unchanged: Vec<Range<u64>>,
    /// The address that its first byte has in the file's own addresses.
    pub first_address: u64,
}

/// Reads the identity of an ELF file. `start` is 0 for a file, and the address of its first byte
/// in memory. Returns nothing if no 64-bit ELF file is there.
pub fn identity(read: ReadAt<'_>, start: u64) -> Option<Identity> {
    let exact = |at: u64, length: usize| {
        let mut bytes = vec![0; length];
        (read(at, &mut bytes) == length).then_some(bytes)
    };
    let header = exact(start, 64)?;
    if header.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let count = u16_at(&header, 56)?.min(PROGRAM_HEADERS_MAX);
    let table = start.checked_add(u64_at(&header, 32)?)?;
    let table = exact(table, usize::from(count) * 56)?;
    let mut identity = Identity::default();
    let mut first_page = None;
    let mut notes = Vec::new();
    for entry in table.chunks_exact(56) {
        let offset = u64_at(entry, 8)?;
        let address = u64_at(entry, 16)?;
        let size = u64_at(entry, 32)?;
        match u32_at(entry, 0)? {
            PT_LOAD => {
                first_page = first_page.or(address.checked_sub(offset));
                if u32_at(entry, 4)? & PF_W == 0 {
                    identity.unchanged.push(offset..offset.checked_add(size)?);
                }
            }
            PT_NOTE => notes.push((offset, address, size)),
            _ => {}
        }
    }
    identity.first_address = first_page.unwrap_or(0);
    let mut are_read = true;
    for (offset, address, size) in notes {
        let at = match start {
            0 => offset,
            // Where it is mapped, relative to the file's first byte.
            _ => start.wrapping_add(address.wrapping_sub(identity.first_address)),
        };
        let bytes = exact(at, usize::try_from(size.min(NOTES_LENGTH_MAX)).ok()?);
        are_read &= bytes.is_some();
        if let Some(found) = bytes.as_deref().and_then(build_id) {
            identity.build_id = Some(found);
            return Some(identity);
        }
    }
    identity.build_id = are_read.then(Vec::new);
    Some(identity)
}

fn build_id(notes: &[u8]) -> Option<Vec<u8>> {
    let mut rest = notes;
    while let Some((note, after)) = split_note(rest) {
        let is_build_id = note.kind == NT_GNU_BUILD_ID && text(note.name) == b"GNU";
        if is_build_id && !note.contents.is_empty() {
            return Some(note.contents.to_vec());
        }
        rest = after;
    }
    None
}
