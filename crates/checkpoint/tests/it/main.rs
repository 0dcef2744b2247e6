//! Integration tests of checkpoints: one executable, one module per subject.

mod kept;
mod support;
mod threads;
