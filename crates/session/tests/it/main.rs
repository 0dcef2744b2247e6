//! Integration tests of the session: one executable, one module per subject.

mod allocation;
mod nodes;
mod serving;
mod three_ways;

/// Counts per thread, for `allocation`.
#[global_allocator]
static ALLOCATOR: juror_testing::CountingAllocator = juror_testing::CountingAllocator;
