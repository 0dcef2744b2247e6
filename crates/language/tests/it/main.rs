//! Integration tests of the property language: one executable, one module per subject.

mod common;
mod diagnostics;
mod events;
mod logic;
mod properties;
mod robustness;
mod scenarios;
