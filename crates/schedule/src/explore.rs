//! Exhaustive search: the machine and a naive specification of futexes, side by side.
//!
//! Programs of a small language run twice with the same choices: by the scheduler, as a shell
//! would drive it, and by the specification, which has the memory before it. After each step
//! both must have the same threads, the same memory, and the same things on offer. The search is
//! exact (states are compared) and breadth first, so that a counterexample is as short as any.

mod driver;
mod generate;
mod kinds;
mod library;
mod meaning;
mod program;
mod runs;
mod search;
mod specification;
mod tests;
mod world;
