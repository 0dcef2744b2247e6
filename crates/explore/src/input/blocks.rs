//! The blocks of a run's file behind its first line: entries, with their length and a checksum.
//!
//! A block is a length (4 bytes), a checksum (CRC-32, 4 bytes) and as many bytes of entries in
//! the format of postcard. A file that was cut off has the entries of its whole blocks.

use super::entry::Entry;
use std::io::{self, Write};

/// The bytes of entries after which a block is written.
const BLOCK_BYTES: usize = 1 << 16;

/// The bytes that most entries have at most: written to a slice they take less time.
const SMALL_BYTES: usize = 512;

/// The largest block that is read.
const BLOCK_BYTES_MAX: usize = 1 << 28;

/// Writes entries.
#[derive(Debug)]
pub(crate) struct Blocks<Out> {
    out: Out,
    pending: Vec<u8>,
}

impl<Out: Write> Blocks<Out> {
    pub(crate) fn new(out: Out) -> Blocks<Out> {
        Blocks {
            out,
            pending: Vec::new(),
        }
    }

    /// Appends an entry. It is written with others.
    pub(crate) fn append(&mut self, entry: &Entry) -> io::Result<()> {
        let mut pending = std::mem::take(&mut self.pending);
        let before = pending.len();
        pending.resize(before + SMALL_BYTES, 0);
        let room = pending.get_mut(before..).unwrap_or_default();
        let used = postcard::to_slice(entry, room).map(|used| used.len());
        pending.truncate(before + used.as_ref().unwrap_or(&0));
        if used.is_err() {
            // It is longer.
            pending = postcard::to_extend(entry, pending).map_err(io::Error::other)?;
        }
        self.pending = pending;
        if self.pending.len() < BLOCK_BYTES {
            return Ok(());
        }
        self.flush()
    }

    /// Writes what has been appended.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let length = u32::try_from(self.pending.len()).map_err(io::Error::other)?;
        let mut block = Vec::with_capacity(self.pending.len() + 8);
        block.extend(length.to_le_bytes());
        block.extend(crc32fast::hash(&self.pending).to_le_bytes());
        block.append(&mut self.pending);
        self.out.write_all(&block)?;
        self.out.flush()
    }
}

/// Reads the entries of all whole blocks. Returns them, and whether the file ends with a whole one.
pub(crate) fn read(mut bytes: &[u8]) -> (Vec<Entry>, bool) {
    let mut entries = Vec::new();
    while !bytes.is_empty() {
        let Some(rest) = read_block(bytes, &mut entries) else {
            return (entries, false);
        };
        bytes = rest;
    }
    (entries, true)
}

/// Reads a block. Returns what follows it; nothing if it is not whole.
fn read_block<'a>(bytes: &'a [u8], entries: &mut Vec<Entry>) -> Option<&'a [u8]> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (checksum, rest) = rest.split_first_chunk()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let (block, rest) = rest.split_at_checked(length)?;
    if length > BLOCK_BYTES_MAX || crc32fast::hash(block) != u32::from_le_bytes(*checksum) {
        return None;
    }
    let before = entries.len();
    let mut block = block;
    while !block.is_empty() {
        let Ok((entry, rest)) = postcard::take_from_bytes(block) else {
            entries.truncate(before);
            return None;
        };
        entries.push(entry);
        block = rest;
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(count: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut blocks = Blocks::new(&mut bytes);
        for id in 0..count {
            blocks.append(&Entry::Thread { id }).unwrap();
            if id % 3 == 2 {
                blocks.flush().unwrap();
            }
        }
        blocks.flush().unwrap();
        bytes
    }

    #[test]
    fn entries_are_read_as_they_were_written() {
        let expected: Vec<Entry> = (0..10).map(|id| Entry::Thread { id }).collect();
        assert_eq!(read(&written(10)), (expected, true));
        assert_eq!(read(&[]), (Vec::new(), true));
    }

    #[test]
    fn entries_of_all_lengths_are_written() {
        let entry = |length| Entry::Stops {
            reason: "a".repeat(length),
        };
        let mut bytes = Vec::new();
        let mut blocks = Blocks::new(&mut bytes);
        let lengths = [0, SMALL_BYTES - 4, SMALL_BYTES, 3 * BLOCK_BYTES, 1];
        for length in lengths {
            blocks.append(&entry(length)).unwrap();
        }
        blocks.flush().unwrap();
        assert_eq!(read(&bytes), (lengths.map(entry).to_vec(), true));
    }

    #[test]
    fn a_file_that_was_cut_off_or_damaged_has_the_entries_of_its_whole_blocks() {
        let whole = written(10);
        let (all, _) = read(&whole);
        for length in 0..whole.len() {
            let (entries, is_whole) = read(&whole[..length]);
            assert!(all.starts_with(&entries), "{length}");
            assert!(entries.len() % 3 == 0 && entries.len() < 10, "{length}");
            // A block of three entries has 14 bytes.
            assert_eq!(is_whole, length % 14 == 0, "{length}");
            let mut damaged = whole.clone();
            damaged[length] ^= 0x10;
            let (entries, is_whole) = read(&damaged);
            assert!(all.starts_with(&entries) && !is_whole, "{length}");
        }
    }
}
