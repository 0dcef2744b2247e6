//! Memory and registers whose contents are a function of address and seed, so that an input
//! behaves the same in each run.

use juror_symbols::{EvaluationContext, Memory};

/// A process made of noise.
#[derive(Debug, Clone, Copy)]
pub struct Noise {
    /// The seed. Even seeds give small words, which lead to each other when used as
    /// addresses.
    pub seed: u64,
}

impl Noise {
    fn word(self, address: u64) -> u64 {
        let mixed = (address ^ self.seed)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29);
        if self.seed.is_multiple_of(2) {
            mixed & 0xffff
        } else {
            mixed
        }
    }
}

impl Memory for Noise {
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        for (offset, byte) in (0_u64..).zip(&mut *buffer) {
            let at = address.wrapping_add(offset);
            let [low, ..] = (self.word(at & !7) >> (8 * (at & 7))).to_le_bytes();
            *byte = low;
        }
        !self.word(address >> 12).is_multiple_of(13)
    }
}

impl EvaluationContext for Noise {
    fn register(&self, number: u16) -> Option<u64> {
        let word = self.word(u64::from(number));
        (!word.is_multiple_of(5)).then_some(word)
    }
    fn cfa(&self) -> Option<u64> {
        (!self.seed.is_multiple_of(7)).then(|| self.word(0xcfa))
    }
    fn load_bias(&self) -> u64 {
        self.word(0xb1a5)
    }
    fn tls_address(&self, offset: u64) -> Option<u64> {
        (!self.seed.is_multiple_of(3)).then(|| self.word(0x715).wrapping_add(offset))
    }
    fn entry_value(&self, register: u16) -> Option<u64> {
        self.register(register ^ 1)
    }
}
