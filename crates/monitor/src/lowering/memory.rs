//! Memory that holds a table.

/// Memory of 64-bit words, addressed by byte offsets that are multiples of 8.
///
/// A word out of range is 0, and is not stored.
pub trait WordMemory {
    /// Returns a word.
    fn load(&self, at: u64) -> u64;
    /// Stores a word.
    fn store(&mut self, at: u64, word: u64);
    /// Stores `new` if the word is `old`, atomically; returns true if it was.
    fn cas(&mut self, at: u64, old: u64, new: u64) -> bool;
    /// Adds to a word modulo 2⁶⁴, atomically; returns the word before.
    fn xadd(&mut self, at: u64, add: u64) -> u64;
    /// Makes room for this many bytes in all; new words are 0. Returns false if there is
    /// no such room.
    fn grow(&mut self, bytes: u64) -> bool;
}

fn index(at: u64) -> usize {
    usize::try_from(at / 8).unwrap_or(usize::MAX)
}

impl WordMemory for Vec<u64> {
    fn load(&self, at: u64) -> u64 {
        self.get(index(at)).copied().unwrap_or(0)
    }

    fn store(&mut self, at: u64, word: u64) {
        if let Some(place) = self.get_mut(index(at)) {
            *place = word;
        }
    }

    fn cas(&mut self, at: u64, old: u64, new: u64) -> bool {
        match self.get_mut(index(at)) {
            Some(place) if *place == old => {
                *place = new;
                true
            }
            _ => false,
        }
    }

    fn xadd(&mut self, at: u64, add: u64) -> u64 {
        let Some(place) = self.get_mut(index(at)) else {
            return 0;
        };
        let before = *place;
        *place = before.wrapping_add(add);
        before
    }

    fn grow(&mut self, bytes: u64) -> bool {
        let Ok(words) = usize::try_from(bytes.div_ceil(8)) else {
            return false;
        };
        let more = words.saturating_sub(self.len());
        if self.try_reserve(more).is_err() {
            return false;
        }
        self.resize(words.max(self.len()), 0);
        true
    }
}
