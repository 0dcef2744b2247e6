//! Integration tests of the model checker: one executable, one module per subject.

/// Runs and formulas at random, as the tests of the logics have them.
#[path = "../../../logic/tests/it/common/mod.rs"]
mod common;
mod debugger;
mod external;
mod features;
mod formulas;
mod lassos;
mod models;
mod random;
mod support;
