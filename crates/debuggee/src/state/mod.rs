//! The parts of a debuggee, as data.
//!
//! Invariant: nothing here names `Debuggee`; its methods are in the folders of
//! their subjects.

pub(crate) mod call_state;
pub(crate) mod life;
pub(crate) mod out_of_line;
pub(crate) mod self_check;
pub(crate) mod stop_event;
pub(crate) mod thread;
pub(crate) mod wanted_calls;
