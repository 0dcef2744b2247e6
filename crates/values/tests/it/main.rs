//! Integration tests of the values: one executable, one module per subject.

mod compiled;
mod memory;
