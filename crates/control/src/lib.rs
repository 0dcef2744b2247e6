//! The control of a debugger, and the decisions at the moments of a run.
//!
//! - [`Control`] says whether the user, the program or the debugger itself acts. After Barnett,
//!   Börger, Gurevich, Schulte and Veanes, *Using Abstract State Machines at Microsoft: A Case
//!   Study*, section 3.
//! - [`decision`] computes the consequence of one moment of a run: the order in which the owners
//!   of points are asked, what their answers mean together, what reactions change, and how the run
//!   continues.
//!
//! The session decides by both, and so does the oracle against which it is played.
//!
//! **Invariant:** the crate depends on no other, does no I/O and reads no clock; the same inputs
//! give the same decisions.

#![forbid(unsafe_code)]

mod control;
pub mod decision;

pub use control::{
    Control, ControlCheck, ControlCheckMaker, ControlState, Mode, Modes, Refusal, Settled,
};
