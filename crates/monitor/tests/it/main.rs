//! Integration tests of monitors: one executable, one module per subject.

mod allocation;
mod common;
mod shares;
mod slicing;
mod tables;
mod templates;
mod timed;
mod values;

/// Counts per thread, for `allocation`.
#[global_allocator]
static ALLOCATOR: juror_testing::CountingAllocator = juror_testing::CountingAllocator;
