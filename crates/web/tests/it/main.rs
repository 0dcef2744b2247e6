//! Integration tests of the server: one executable, one module per subject.

mod requests;
