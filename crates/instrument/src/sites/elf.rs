//! Reads the properties of a module's text from its ELF file.

use juror_symbols::SymbolFile;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The name of the section with the descriptors of restartable sequences.
const SEQUENCES: &[u8] = b"__rseq_cs\0";
/// The maximum number of sections that are read.
const SECTIONS_MAX: u16 = 4_096;
/// The size of a section header, and of a descriptor of a restartable sequence.
const HEADER_SIZE: usize = 64;
const DESCRIPTOR_SIZE: usize = 32;
/// The signature before the address at which a sequence is aborted.
const SIGNATURE_SIZE: u64 = 4;

/// Returns whether the dynamic linker writes to the text.
pub(super) fn has_text_relocations(symbols: &SymbolFile) -> bool {
    const TEXTREL: u64 = 22;
    const FLAGS: u64 = 30;
    const FLAG_TEXTREL: u64 = 4;
    let dynamic = symbols.header().dynamic;
    let bytes = dynamic.and_then(|(address, size)| symbols.bytes_at(address, size));
    let bytes = bytes.unwrap_or_default();
    let mut entries = bytes
        .chunks_exact(16)
        .filter_map(|entry| Some((word(entry, 0)?, word(entry, 8)?)))
        .take_while(|(tag, _)| *tag != 0);
    entries.any(|(tag, value)| tag == TEXTREL || (tag == FLAGS && value & FLAG_TEXTREL != 0))
}

/// Returns the file addresses of the descriptors of restartable sequences (`struct rseq_cs` of
/// Linux), or an empty range if it has none.
pub(super) fn sequence_descriptors(path: &Path) -> Range<u64> {
    find_section(path, SEQUENCES).unwrap_or(0..0)
}

/// Returns the code ranges of the sequences and of the signatures before their abort handlers, or
/// `None` if the descriptors have not been relocated.
pub(super) fn sequences(descriptors: &[u8]) -> Option<Vec<Range<u64>>> {
    let mut found = Vec::new();
    for descriptor in descriptors.chunks_exact(DESCRIPTOR_SIZE) {
        let start = word(descriptor, 8)?;
        let length = word(descriptor, 16)?;
        let abort = word(descriptor, 24)?;
        if start == 0 || abort == 0 {
            return None;
        }
        found.push(start..start.saturating_add(length));
        found.push(abort.saturating_sub(SIGNATURE_SIZE)..abort.saturating_add(1));
    }
    Some(found)
}

/// Returns the file addresses of the section with this zero-terminated name.
fn find_section(path: &Path, wanted: &[u8]) -> Option<Range<u64>> {
    let file = File::open(path).ok()?;
    let mut header = [0; HEADER_SIZE];
    file.read_exact_at(&mut header, 0).ok()?;
    let offset = word(&header, 0x28)?;
    let (size, count, names) = (
        half(&header, 0x3a)?,
        half(&header, 0x3c)?,
        half(&header, 0x3e)?,
    );
    if usize::from(size) != HEADER_SIZE || count > SECTIONS_MAX {
        return None;
    }
    let mut table = vec![0; HEADER_SIZE * usize::from(count)];
    file.read_exact_at(&mut table, offset).ok()?;
    let sections: Vec<&[u8]> = table.chunks_exact(HEADER_SIZE).collect();
    let names = word(sections.get(usize::from(names))?, 0x18)?;
    let mut name = vec![0; wanted.len()];
    let found = sections.iter().find(|section| {
        let at = section.get(..4).and_then(|it| it.try_into().ok());
        let at = at.map(u32::from_le_bytes).unwrap_or(0);
        let read = file.read_exact_at(&mut name, names.saturating_add(at.into()));
        read.is_ok() && name == wanted
    })?;
    let start = word(found, 0x10)?;
    Some(start..start.checked_add(word(found, 0x20)?)?)
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let word = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(word.try_into().ok()?))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    let half = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes(half.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restartable_sequences_are_read_from_their_descriptors() {
        let descriptor = |start: u64, length: u64, abort: u64| {
            let words = [0, start, length, abort];
            words.map(u64::to_le_bytes).concat()
        };
        let bytes = descriptor(0x1000, 0x20, 0x1040);
        let expected = [0x1000..0x1020, 0x103c..0x1041];
        assert_eq!(sequences(&bytes), Some(expected.to_vec()));
        assert_eq!(sequences(&descriptor(0, 0x20, 0)), None);
        assert_eq!(sequences(&[]), Some(Vec::new()));
    }

    #[test]
    fn sections_are_found_by_their_names() {
        let own = std::env::current_exe().unwrap();
        let text = find_section(&own, b".text\0").unwrap();
        assert!(text.end > text.start + 1000);
        assert_eq!(find_section(&own, b".no_such\0"), None);
        assert_eq!(sequence_descriptors(Path::new("/nonexistent")), 0..0);
    }
}
