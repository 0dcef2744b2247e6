//! The breakpoint engine: a state machine without I/O that never misses a
//! breakpoint and never reports one twice.
//!
//! The rule (N. Ramsey, *Correctness of Trap-Based Breakpoint Implementations*,
//! POPL 1994): while the memory at an instruction I holds the original bytes
//! and not a trap, only the thread that trapped at I may run. This crate is the
//! only place that knows the rule. Kernel reports go in as [`Input`]s;
//! [`Operation`]s come out, which the shell (`juror-debuggee`) carries out in
//! order without deciding anything.
//!
//! Step-over methods, cheapest first: [`StepOver::Skip`] and [`StepOver::Call`]
//! emulate the instruction, [`StepOver::OutOfLine`] runs a relocated copy that
//! jumps back; for these three the trap stays inserted and no other thread is
//! held. [`StepOver::InPlace`] holds all other threads, removes the trap,
//! steps, inserts the trap and releases the threads. A step is made by the
//! processor's trace flag or by traps at the instruction's follow set
//! ([`StepBy`]).
//!
//! `docs/design/stepping.md` describes the mechanism as a whole.

#![forbid(unsafe_code)]

mod arrival;
mod branches;
mod engine;
#[cfg(test)]
mod explore;
mod flow;
mod follow_set;
mod line;
mod out_of_line;
mod protocol;
mod self_check;
mod site;
mod step_over;
mod suspended;
mod thread;
mod watch;

pub use branches::{Branches, Callee, branches, callee_of};
#[cfg(any(test, feature = "dropped-rules"))]
pub use engine::Rule;
pub use engine::{Engine, ThreadState};
pub use flow::{Flow, flow_of, instruction_length};
pub use follow_set::find_follow_set;
pub use line::{LineStops, line_stops};
pub use out_of_line::{OUT_OF_LINE_LENGTH_MAX, OutOfLineCode, OutOfLinePoint, map_counter};
pub use protocol::{
    FollowSet, Input, Operation, Owner, Owners, StackPart, StepBy, StepOver, ThreadId, WayBack,
};
pub use self_check::{Checker, LogError, Violation, begin_line, check_log, input_line};
pub use step_over::{PlannedStepOver, plan_step_over};
pub use watch::{
    Access, AccessKinds, AccessState, Allocation, DEBUG_REGISTERS, DebugRegister, HardwareKind,
    RegisterSet, RegisterUse, WatchRequest, accesses_of, aligned_parts, allocate, is_repeated,
    last_instruction, registers_used,
};

use site::Site;
