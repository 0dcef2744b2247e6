//! Monitors as machine code inside the debuggee.
//!
//! A patched address jumps to a *stub*, which steps the monitor on the table
//! that it shares with juror and goes on in the relocated instructions. This
//! crate decides whether and how an address can be patched ([`head`],
//! [`punning`]), makes the stub ([`emit`]), and says for each of its instructions
//! what the thread's state in the program is ([`stub_map`], [`lead_out`]). All is
//! data: nothing is read from a process and nothing is written.
//!
//! **Invariant**: at every instruction of what is emitted, a pure function gives
//! the thread's state in the program as it would be without the patch.
//!
//! Sources: B. Chamith, B. J. Svensson, L. Dalessandro, R. R. Newton,
//! *Instruction Punning: Lightweight Instrumentation for x86-64* (PLDI 2017), for
//! jumps whose displacement bytes trap.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod emit;
pub mod head;
pub mod lead_out;
pub mod punning;
pub mod stub_map;
#[cfg(test)]
mod toy;
