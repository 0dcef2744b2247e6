//! Recorded runs read ahead, in order, and the evaluation of properties over them by threads.
//!
//! - [`source`] reads and decodes a trace on a thread of its own.
//! - [`cursor`] gives the next event of one trace, or of several in the order of time.
//! - [`portions`] are what threads evaluate at a time, and [`workers`] are these threads.
//!
//! A front end takes the events, or the findings in each portion, and shows them.
//!
//! **Invariant**: findings have the order of one thread, whatever the number of threads.

#![forbid(unsafe_code)]

pub mod cursor;
pub mod portions;
pub mod source;
pub mod workers;
