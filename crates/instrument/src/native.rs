//! What of a property can run inside the program: which captures are machine words
//! ([`words`]), and which addresses can be patched ([`sites`]).
//!
//! **Invariant**: an event that is taken natively has the values that the traps would
//! have read; if that is not certain, the reason is said and the trap stays.

pub mod sites;
#[cfg(test)]
mod tests;
pub mod words;
