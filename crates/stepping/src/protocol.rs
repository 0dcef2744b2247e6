//! What goes into the engine and what comes out of it.

mod input;
mod operation;
mod terms;

pub use input::Input;
pub use operation::Operation;
pub use terms::{FollowSet, Owner, Owners, StackPart, StepBy, StepOver, ThreadId, WayBack};
