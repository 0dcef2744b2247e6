//! The page of a run.

mod page;
