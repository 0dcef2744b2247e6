//! What differs between the writable memory of two runs of a program.

use crate::run::going_back::here::Numbers;
use juror_debuggee::{Debuggee, mappings};
use std::ops::Range;

/// The number of bytes that are compared at once.
const CHUNK: usize = 1 << 20;

/// The most differences that are kept by their addresses.
const KEPT_MAX: usize = 1 << 14;

/// The size of the words that are compared.
const WORD: usize = 4;

/// The addresses of words that differ.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Difference {
    addresses: Vec<u64>,
    /// Whether there are more, or the memory is not mapped in the same way.
    has_more: bool,
}

impl Difference {
    /// Compares the writable memory of two runs.
    pub(super) fn between(then: &Debuggee, now: &Debuggee, numbers: &Numbers) -> Difference {
        let mut difference = Difference::default();
        let (before, after) = (writable(then), writable(now));
        difference.has_more = before != after;
        let mut buffers = (vec![0; CHUNK], vec![0; CHUNK]);
        for range in before {
            difference.compare((then, now), range, numbers, &mut buffers);
        }
        difference
    }

    pub(super) fn is_empty(&self) -> bool {
        self.addresses.is_empty() && !self.has_more
    }

    /// Returns whether what differs here differs in another comparison, too.
    pub(super) fn is_within(&self, other: &Difference) -> bool {
        let has = |address| other.addresses.binary_search(address).is_ok();
        (!self.has_more || other.has_more) && self.addresses.iter().all(has)
    }

    fn compare(
        &mut self,
        (then, now): (&Debuggee, &Debuggee),
        range: Range<u64>,
        numbers: &Numbers,
        (before, after): &mut (Vec<u8>, Vec<u8>),
    ) {
        let mut address = range.start;
        while address < range.end {
            let count = usize::try_from(range.end - address).map_or(CHUNK, |it| it.min(CHUNK));
            let (Some(before), Some(after)) = (before.get_mut(..count), after.get_mut(..count))
            else {
                return;
            };
            match (then.read(address, before), now.read(address, after)) {
                (Ok(()), Ok(())) => self.compare_bytes(address, (before, after), numbers),
                // A device, or beyond the end of a file.
                (Err(_), Err(_)) => {}
                _ => self.has_more = true,
            }
            address += count as u64;
        }
    }

    fn compare_bytes(&mut self, address: u64, (before, after): (&[u8], &[u8]), numbers: &Numbers) {
        if before == after {
            return;
        }
        let word = |bytes: &[u8]| bytes.try_into().map_or(0, u32::from_le_bytes);
        let words = before.chunks_exact(WORD).zip(after.chunks_exact(WORD));
        for (index, (before, after)) in words.enumerate() {
            if before == after || numbers.are_same(word(before), word(after)) {
                continue;
            }
            if self.addresses.len() == KEPT_MAX {
                self.has_more = true;
                return;
            }
            self.addresses.push(address + (index * WORD) as u64);
        }
    }
}

/// Returns the ranges of memory that the program itself can write.
fn writable(debuggee: &Debuggee) -> Vec<Range<u64>> {
    let maps = debuggee.memory_map().unwrap_or_default();
    let all = mappings(&maps).filter(|it| it.is_writable());
    all.map(|it| it.range.clone()).collect()
}
