//! Reads the properties of a module's text from its ELF file.

use juror_symbols::SymbolFile;
use std::ops::Range;

/// The name of the section with the descriptors of restartable sequences.
const SEQUENCES: &str = "__rseq_cs";
/// The size of a descriptor of a restartable sequence.
const DESCRIPTOR_SIZE: usize = 32;
/// The signature before the address at which a sequence is aborted.
const SIGNATURE_SIZE: u64 = 4;

/// Returns the file addresses of the descriptors of restartable sequences (`struct rseq_cs` of
/// Linux), or an empty range if it has none.
pub(super) fn sequence_descriptors(symbols: &SymbolFile) -> Range<u64> {
    symbols.section_range(SEQUENCES).unwrap_or(0..0)
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

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let word = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(word.try_into().ok()?))
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
}
