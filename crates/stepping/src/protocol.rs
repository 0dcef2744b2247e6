//! The inputs and the operations of the engine.

mod input;
mod operation;
mod terms;

pub use input::Input;
pub use operation::Operation;
pub use terms::{FollowSet, Owner, Owners, StackPart, StepBy, StepOver, ThreadId, WayBack};
