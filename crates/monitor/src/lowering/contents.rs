//! The contents of the slots of a table while it is built anew.

use super::layout::{Layout, SlotWord};
use std::ops::Range;

/// The words of slots, one after the other.
#[derive(Debug)]
pub(super) struct Contents {
    words: Vec<u64>,
    /// The number of words of a slot.
    stride: usize,
    /// The keys among the words of a slot.
    keys: Range<usize>,
}

impl Contents {
    /// Returns the contents of no slots, with room for those of this many.
    pub(super) fn new(layout: &Layout, count: usize) -> Contents {
        let stride = 1 << layout.slot_shift >> 3;
        let first_key = SlotWord::COUNT as usize;
        Contents {
            words: Vec::with_capacity(count * stride),
            stride,
            keys: first_key..first_key + layout.sizes.parameters as usize,
        }
    }

    /// Adds a slot, whose words are given by their offsets in bytes.
    pub(super) fn push_words(&mut self, word: impl Fn(u64) -> u64) {
        self.words
            .extend((0..self.stride as u64).map(|it| word(it * 8)));
    }

    pub(super) fn slots(&self) -> impl Iterator<Item = &[u64]> {
        self.words.chunks_exact(self.stride)
    }

    pub(super) fn keys_of<'a>(&self, words: &'a [u64]) -> &'a [u64] {
        words.get(self.keys.clone()).unwrap_or(&[])
    }

    /// Adds a slot with an identifier and keys; its other words are 0.
    pub(super) fn push(&mut self, id: u64, keys: &[u64]) {
        let start = self.words.len();
        self.words.resize(start + self.stride, 0);
        let words = self.words.get_mut(start..).unwrap_or(&mut []);
        for (word, key) in words.iter_mut().skip(self.keys.start).zip(keys) {
            *word = *key;
        }
        if let Some(word) = words.first_mut() {
            *word = id;
        }
    }

    /// Returns the keys of all slots.
    pub(super) fn keys_mut(&mut self) -> impl Iterator<Item = &mut u64> {
        let keys = self.keys.clone();
        let slots = self.words.chunks_exact_mut(self.stride);
        slots.flat_map(move |words| words.get_mut(keys.clone()).unwrap_or(&mut []))
    }
}
