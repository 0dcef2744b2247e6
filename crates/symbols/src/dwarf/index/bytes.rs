//! The bytes of an index: in memory, or in a file of which parts are read when they are needed.
//!
//! The index of names of a large program has more bytes than there are to read for a few names.
//! So a kept file is divided into blocks with a checksum each, and a block is read and checked on
//! first use. If one turns out to be damaged, the whole index is built again; since an index is
//! always the same for a program, what was read before stays valid.

use crate::elf::u32_at;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::sync::OnceLock;

/// The size of a block in bytes.
pub(super) const BLOCK_SIZE: usize = 1 << 16;
/// The number of bytes of the next block that are kept with a block, so that a row or a string is
/// never in two.
const OVERLAP: usize = 1 << 12;
/// The first byte that the checksum of its block covers: those before are checked by themselves.
pub(super) const UNCOVERED: usize = 16;

/// Builds the bytes of an index again; empty if it cannot be built.
pub(in crate::dwarf) type Repair = Box<dyn Fn() -> Vec<u8> + Send + Sync>;

/// The bytes of an index.
#[derive(Debug)]
pub(super) enum Bytes {
    Whole(Vec<u8>),
    Kept(KeptBytes),
}

impl Bytes {
    pub fn len(&self) -> usize {
        match self {
            Bytes::Whole(all) => all.len(),
            Bytes::Kept(kept) => kept.size,
        }
    }

    pub fn get(&self, range: Range<usize>) -> Option<&[u8]> {
        match self {
            Bytes::Whole(all) => all.get(range),
            Bytes::Kept(kept) => kept.get(range),
        }
    }
}

/// The bytes of a block, with the overlap; `None` if damaged.
type Block = Option<Box<[u8]>>;

/// The bytes of an index in a file.
pub(super) struct KeptBytes {
    file: File,
    /// The number of bytes, without the checksums behind them.
    size: usize,
    /// The checksums of the blocks.
    sums: Vec<u8>,
    blocks: Box<[OnceLock<Block>]>,
    /// All bytes, of the file or built again.
    whole: OnceLock<Vec<u8>>,
    repair: OnceLock<Repair>,
}

impl std::fmt::Debug for KeptBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeptBytes")
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}

impl KeptBytes {
    /// Creates the bytes of a file, given the checksums of its blocks.
    pub fn new(file: File, size: usize, sums: Vec<u8>) -> KeptBytes {
        let blocks = (0..size.div_ceil(BLOCK_SIZE)).map(|_| OnceLock::new());
        KeptBytes {
            file,
            size,
            sums,
            blocks: blocks.collect(),
            whole: OnceLock::new(),
            repair: OnceLock::new(),
        }
    }

    /// Sets what is done if a block is damaged.
    pub fn repair_by(&self, repair: Repair) {
        let _ = self.repair.set(repair);
    }

    /// Reads and checks everything; `None` if damaged.
    pub fn read_all(&self) -> Option<Vec<u8>> {
        let mut all = vec![0; self.size];
        self.file.read_exact_at(&mut all, 0).ok()?;
        let mut blocks = all.chunks(BLOCK_SIZE).enumerate();
        let is_sound = blocks.all(|(number, block)| self.is_sound(number, block));
        is_sound.then_some(all)
    }

    fn get(&self, range: Range<usize>) -> Option<&[u8]> {
        if range.end > self.size || range.start > range.end {
            return None;
        }
        if let Some(whole) = self.whole.get() {
            return whole.get(range);
        }
        let number = range.start / BLOCK_SIZE;
        let start = number * BLOCK_SIZE;
        let block = self.blocks.get(number).and_then(|block| {
            let block = block.get_or_init(|| self.read_with_overlap(number));
            block.as_ref()?.get(range.start - start..range.end - start)
        });
        block.or_else(|| self.whole().get(range))
    }

    /// Returns all bytes, of the file or built again.
    fn whole(&self) -> &[u8] {
        self.whole.get_or_init(|| {
            let built = || self.repair.get().map(|repair| repair());
            self.read_all().or_else(built).unwrap_or_default()
        })
    }

    fn read_with_overlap(&self, number: usize) -> Block {
        let mut block = self.read(number)?;
        if (number + 1) * BLOCK_SIZE < self.size {
            let next = self.read(number + 1)?;
            block.extend_from_slice(next.get(..OVERLAP.min(next.len()))?);
        }
        Some(block.into())
    }

    /// Reads and checks a block.
    fn read(&self, number: usize) -> Option<Vec<u8>> {
        let start = number.checked_mul(BLOCK_SIZE)?;
        let size = BLOCK_SIZE.min(self.size.checked_sub(start)?);
        let mut block = Vec::with_capacity(size + OVERLAP);
        block.resize(size, 0);
        self.file.read_exact_at(&mut block, start as u64).ok()?;
        self.is_sound(number, &block).then_some(block)
    }

    fn is_sound(&self, number: usize, block: &[u8]) -> bool {
        let sum = u32_at(&self.sums, 4 * number);
        sum.is_some() && sum == sum_of(number, block)
    }
}

/// Returns the checksums of the blocks, as they are behind the bytes in a file.
pub(super) fn sums_of(bytes: &[u8]) -> Vec<u8> {
    let blocks = bytes.chunks(BLOCK_SIZE).enumerate();
    let sums = blocks.filter_map(|(number, block)| sum_of(number, block));
    sums.flat_map(u32::to_le_bytes).collect()
}

fn sum_of(number: usize, block: &[u8]) -> Option<u32> {
    let start = if number == 0 { UNCOVERED } else { 0 };
    block.get(start..).map(crc32fast::hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(bytes: &[u8], damaged: Option<usize>) -> KeptBytes {
        let mut file = tempfile::tempfile().unwrap();
        let mut written = bytes.to_vec();
        if let Some(at) = damaged {
            written[at] ^= 1;
        }
        std::io::Write::write_all(&mut file, &written).unwrap();
        let kept = KeptBytes::new(file, bytes.len(), sums_of(bytes));
        let right = bytes.to_vec();
        kept.repair_by(Box::new(move || right.clone()));
        kept
    }

    /// Ranges in a block, over its end, and longer than what is kept of the next one.
    #[test]
    fn ranges_are_those_of_all_bytes() {
        let numbers = (0..3 * BLOCK_SIZE as u32 + 77).map(|it| it.wrapping_mul(0x9e37_79b9) >> 24);
        let bytes: Vec<u8> = numbers.map(|it| it as u8).collect();
        let end = bytes.len();
        for damaged in [None, Some(UNCOVERED), Some(BLOCK_SIZE + 9), Some(end - 1)] {
            let kept = kept(&bytes, damaged);
            for range in [
                20..40,
                BLOCK_SIZE - 4..BLOCK_SIZE + 4,
                BLOCK_SIZE - 1..BLOCK_SIZE + OVERLAP,
                2 * BLOCK_SIZE..2 * BLOCK_SIZE,
                end - 9..end,
                end..end,
                BLOCK_SIZE - 1..BLOCK_SIZE + OVERLAP + 1,
                16..end,
                end..end + 1,
            ] {
                let expected = bytes.get(range.clone());
                assert_eq!(kept.get(range.clone()), expected, "{range:?} {damaged:?}");
            }
            assert_eq!(kept.read_all().is_some(), damaged.is_none());
        }
    }

    #[test]
    fn a_block_is_read_when_it_is_needed() {
        let bytes = vec![7; 4 * BLOCK_SIZE];
        let kept = kept(&bytes, Some(3 * BLOCK_SIZE));
        assert!(kept.get(BLOCK_SIZE..BLOCK_SIZE + 5).is_some());
        assert!(kept.whole.get().is_none());
        assert!(kept.get(3 * BLOCK_SIZE..3 * BLOCK_SIZE + 5).is_some());
        assert!(kept.whole.get().is_some());
    }
}
