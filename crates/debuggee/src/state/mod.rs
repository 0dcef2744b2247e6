//! The parts of a debuggee that several subjects use, as data.
//!
//! Invariant: nothing here has methods of `Debuggee`; they are in the folders of their
//! subjects.

pub(crate) mod call_state;
pub(crate) mod communication;
pub(crate) mod descendants;
pub(crate) mod fair_selection;
pub(crate) mod life;
pub(crate) mod out_of_line;
pub(crate) mod self_check;
pub(crate) mod signals;
pub(crate) mod stop_event;
pub(crate) mod thread;
pub(crate) mod thread_control;
pub(crate) mod wait;
pub(crate) mod wanted_calls;
pub(crate) mod watched_step;
