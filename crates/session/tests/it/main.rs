//! Integration tests of the session: one executable, one module per subject.

mod allocation;
mod three_ways;
