//! Events of a program run, as properties name them.
//!
//! A *symbolic* event is named by a property ("after `queue_new`, with these
//! parameters"); a *runtime* event is one occurrence with its values. The distinction,
//! and the grammar of parameters, are those of Jakse, Falcone and Méhaut, *Interactive
//! Runtime Verification* (2019), definitions 5.13 to 5.16 and figure 5.
//!
//! **Invariant:** nothing in this crate depends on the producer of an event, and the
//! crate does no I/O.

#![forbid(unsafe_code)]

mod capture;
mod collection;
mod symbolic;
mod value;
mod verdict;

pub use capture::{Arithmetic, Capture, Conversion, Read};
pub use collection::{DEPTH_MAX, Map, Sequence, Set, TooDeep};
pub use symbolic::{EventId, EventKind, Reach, SymbolicEvent};
pub use value::{Unavailability, Value};
pub use verdict::Verdict;
