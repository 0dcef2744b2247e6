//! Integration tests of the model checker: one executable, one module per subject.

mod debugger;
mod external;
mod features;
mod formulas;
mod lassos;
mod models;
mod random;
mod support;
