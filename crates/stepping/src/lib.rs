//! The breakpoint engine: a state machine without I/O that never misses a
//! breakpoint and never reports one twice.
//!
//! The rule (N. Ramsey, *Correctness of Trap-Based Breakpoint
//! Implementations*, POPL 1994): while the memory at an instruction I holds
//! the original bytes and not a trap, only the thread that trapped at I may
//! run. This crate is the one place that knows the rule. What the kernel
//! reports goes in as [`Input`]; what must be done comes out as
//! [`Operation`]s, which the shell (`juror-debuggee`) carries out in order
//! without deciding anything.
//!
//! Ways past a site, cheapest first: [`Passage::Skip`] and [`Passage::Call`]
//! emulate the instruction, [`Passage::Copy`] runs a relocated copy that jumps
//! back; for these three the trap is never lifted and no other thread is held.
//! [`Passage::InPlace`] holds all other threads, lifts, steps, plants,
//! releases. A step is made by the processor's trace flag or by traps at the
//! instruction's follow set ([`StepBy`]).

#![forbid(unsafe_code)]

mod arrival;
mod copy;
mod engine;
#[cfg(test)]
mod explore;
mod flow;
mod follow_set;
mod line;
mod passage;
mod protocol;
mod self_check;
mod site;
mod suspended;
mod thread;
mod watch;

pub use copy::{COPY_LENGTH_MAX, CopyCode, CopyPoint, map_counter};
#[cfg(any(test, feature = "dropped-rules"))]
pub use engine::Rule;
pub use engine::{Engine, ThreadState};
pub use flow::{Flow, flow_of, instruction_length};
pub use follow_set::find_follow_set;
pub use line::{LineStops, line_stops};
pub use passage::{PlannedPassage, plan_passage};
pub use protocol::{
    FollowSet, Input, Operation, Owner, Owners, Passage, StackPart, StepBy, ThreadId, WayBack,
};
pub use self_check::{Checker, LogError, Violation, begin_line, check_log, told_line};
pub use watch::{
    Access, AccessKinds, AccessState, Allocation, DEBUG_REGISTERS, DebugRegister, HardwareKind,
    RegisterSet, RegisterUse, Wanted, accesses_of, aligned_parts, allocate, is_repeated,
    last_instruction, registers_used,
};

use site::Site;
