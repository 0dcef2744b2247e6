//! Numbers at random that are the same in every run.

/// A small generator of numbers (xorshift64*), from a seed that is not 0.
#[derive(Debug, Clone)]
pub struct Numbers(pub u64);

impl Numbers {
    /// Returns the next number below a limit.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % limit
    }
}
