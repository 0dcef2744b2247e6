//! Determines which parts of a property can run inside the program: the captures that are machine
//! words ([`words`]), and the addresses that can be patched ([`sites`]).
//!
//! **Invariant**: an event that is taken natively has the values that traps would have read; if
//! that is not certain, the reason is reported and the trap stays.

pub mod sites;
#[cfg(test)]
mod tests;
pub mod words;
