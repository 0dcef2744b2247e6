//! What differs between the writable memory of two runs of a program.

use crate::run::going_back::here::Numbers;
use juror_debuggee::{Debuggee, mappings};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

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
        let pages = SharedPages::of(then.pid(), now.pid(), &range);
        while address < range.end {
            let same = pages.length_from(address);
            if same > 0 {
                address += same;
                continue;
            }
            let end = pages.next_from(address).min(range.end);
            let count = usize::try_from(end - address).map_or(CHUNK, |it| it.min(CHUNK));
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

/// The pages of a range that are one page of the machine for both runs, by copies of processes: nothing
/// differs there. Without privileges the kernel does not say which they are.
struct SharedPages {
    start: u64,
    /// By page.
    are_shared: Vec<bool>,
}

/// The size of a page, and of the kernel's word for one (proc_pid_pagemap(5)).
const PAGE: u64 = 4096;
const ENTRY: u64 = 8;

/// Of such a word: that the page is there, and the number of the page of the machine.
const IS_PRESENT: u64 = 1 << 63;
const FRAME: u64 = (1 << 55) - 1;

/// The most pages of a range that are asked for.
const PAGES_MAX: u64 = 1 << 22;

impl SharedPages {
    fn of(then: u32, now: u32, range: &Range<u64>) -> SharedPages {
        let are_shared = frames(then, range).zip(frames(now, range));
        let is_shared = |(then, now): (&u64, &u64)| {
            then & IS_PRESENT != 0 && then & FRAME != 0 && (then ^ now) & (IS_PRESENT | FRAME) == 0
        };
        SharedPages {
            start: range.start,
            are_shared: are_shared.map_or(Vec::new(), |(then, now)| {
                then.iter().zip(&now).map(is_shared).collect()
            }),
        }
    }

    /// Returns the number of bytes from the start of a page on that are shared.
    fn length_from(&self, address: u64) -> u64 {
        let count = self.pages_from(address).take_while(|it| **it).count();
        count as u64 * PAGE
    }

    /// Returns the start of the next shared page.
    fn next_from(&self, address: u64) -> u64 {
        match self.pages_from(address).position(|it| *it) {
            Some(count) => address + count as u64 * PAGE,
            None => u64::MAX,
        }
    }

    fn pages_from(&self, address: u64) -> impl Iterator<Item = &bool> {
        let is_page = (address - self.start).is_multiple_of(PAGE);
        let index = usize::try_from((address - self.start) / PAGE).unwrap_or(usize::MAX);
        let pages = self.are_shared.get(index..).filter(|_| is_page);
        pages.unwrap_or(&[]).iter()
    }
}

/// Returns the kernel's words for the pages of a range.
fn frames(process: u32, range: &Range<u64>) -> Option<Vec<u64>> {
    let count = ((range.end - range.start) / PAGE).min(PAGES_MAX);
    let mut bytes = vec![0; usize::try_from(count * ENTRY).ok()?];
    let file = File::open(format!("/proc/{process}/pagemap")).ok()?;
    file.read_exact_at(&mut bytes, range.start / PAGE * ENTRY)
        .ok()?;
    let words = bytes.chunks_exact(ENTRY as usize);
    let word = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
    Some(words.map(word).collect())
}

/// Returns the ranges of memory that the program itself can write.
fn writable(debuggee: &Debuggee) -> Vec<Range<u64>> {
    let maps = debuggee.memory_map().unwrap_or_default();
    let all = mappings(&maps).filter(|it| it.is_writable());
    all.map(|it| it.range.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_pages_are_passed_over() {
        let pages = SharedPages {
            start: 0x4000,
            are_shared: vec![false, true, true, false],
        };
        assert_eq!(
            (pages.length_from(0x4000), pages.next_from(0x4000)),
            (0, 0x5000)
        );
        assert_eq!(pages.length_from(0x5000), 2 * PAGE);
        assert_eq!(
            (pages.length_from(0x7000), pages.next_from(0x7000)),
            (0, u64::MAX)
        );
        // Beyond what the kernel has said.
        assert_eq!(
            (pages.length_from(0x9000), pages.next_from(0x9000)),
            (0, u64::MAX)
        );
    }

    #[test]
    fn a_page_of_ones_own_is_the_same_for_oneself() {
        let bytes = vec![1_u8; 3 * PAGE as usize];
        let start = (bytes.as_ptr() as u64).next_multiple_of(PAGE);
        let range = start..start + PAGE;
        let own = std::process::id();
        let pages = SharedPages::of(own, own, &range);
        // Nothing is known without privileges.
        let length = pages.length_from(start);
        assert!(length == 0 || length == PAGE);
        assert_eq!(frames(own, &range).map(|it| it.len()), Some(1));
    }
}
