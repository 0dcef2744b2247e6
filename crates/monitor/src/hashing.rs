//! A hash for words.
//!
//! Addresses differ in few bits, and in the same ones: a plain multiplication leaves
//! the low bits of the result as poor as before. So the two halves of a double-width
//! product are folded together, as in the wyhash family.

use std::hash::{BuildHasher, Hasher};

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
const START: u64 = 0x2545_f491_4f6c_dd1d;

/// Mixes a word into a hash.
#[inline]
pub(crate) fn mix(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash ^ word ^ START) * u128::from(FACTOR);
    (product as u64) ^ (product >> 64) as u64
}

/// Hashes by [`mix`].
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Mixed;

/// The state of a hash.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Mixer(u64);

impl BuildHasher for Mixed {
    type Hasher = Mixer;

    fn build_hasher(&self) -> Mixer {
        Mixer(0)
    }
}

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            for (byte, given) in word.iter_mut().zip(chunk) {
                *byte = *given;
            }
            self.write_u64(u64::from_le_bytes(word));
        }
        self.write_u64(bytes.len() as u64);
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = mix(self.0, word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn addresses_spread_over_low_and_high_bits() {
        for stride in [1, 8, 16, 64, 4096, 1 << 20] {
            let hashes = (0..1_024).map(|n| mix(0, 0x7fff_0000_0000 + n * stride));
            let hashes: Vec<u64> = hashes.collect();
            let low: HashSet<u64> = hashes.iter().map(|hash| hash & 1_023).collect();
            let high: HashSet<u64> = hashes.iter().map(|hash| hash >> 57).collect();
            // A random function reaches 63 % of 1 024.
            assert!(low.len() > 560, "{stride}: {}", low.len());
            assert!(high.len() > 120, "{stride}: {}", high.len());
        }
    }
}
