//! Integration tests of the symbol reader: one executable, one module per subject.

mod calls;
mod changed_calls;
mod damaged;
mod elf;
mod functions;
mod kept_index;
mod lines;
mod locations;
mod search;
mod separate;
mod sharing;
mod support;
mod types;
mod unwinding;
