//! Random numbers by seed.
//!
//! SplitMix64 (G. Steele, D. Lea, C. Flood, *Fast Splittable Pseudorandom Number Generators*,
//! OOPSLA 2014).

/// A generator of random numbers. Equal seeds give equal numbers on every machine.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Returns the generator of a seed.
    pub fn new(seed: u64) -> Random {
        Random { state: seed }
    }

    /// Returns the next number.
    pub fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.state)
    }

    /// Returns a number below `count`, or 0.
    pub fn below(&mut self, count: u64) -> u64 {
        let wide = u128::from(self.number()) * u128::from(count);
        (wide >> 64) as u64
    }

    /// Returns an index below `count`, or 0.
    pub fn index(&mut self, count: usize) -> usize {
        self.below(count as u64) as usize
    }

    /// Returns true once in `count` times.
    pub fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }
}

/// Returns a number in which each bit depends on each bit of the argument.
pub(crate) fn mix(value: u64) -> u64 {
    let value = (value ^ value >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ value >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ value >> 31
}
