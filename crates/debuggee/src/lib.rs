//! The Linux process under ptrace: threads, registers, memory, signals,
//! modules. The only crate that traces; it knows nothing of DWARF or
//! properties.
//!
//! Invariant: what the kernel reports is passed to the breakpoint engine
//! (`juror-stepping`) as inputs, and what the engine orders is carried out in
//! order; nothing here decides when a trap is inserted or removed, or which
//! thread may run past one. Upper layers see the program as it would be without
//! juror: original bytes, original program counters, its own signals.
//!
//! Start with [`Debuggee::launch`] or [`Debuggee::attach`]; then insert points
//! with [`Debuggee::insert`], resume with [`Debuggee::resume_all`], and get the
//! next stop event from [`Debuggee::wait`].
//!
//! The hot path of an event: `waitpid`, one `PTRACE_GETREGS`, the engine, a
//! [`StopEvent::Hit`]; on [`Debuggee::resume`] one write of the program counter
//! and `PTRACE_CONT`. Nothing else, and no allocation.
//!
//! [`Debuggee::open_core`] makes a debuggee of a core file, which can be read and
//! nothing else.
//!
//! `docs/design` describes stepping, processes, watchpoints and checkpoints as
//! a whole.

mod alarm;
mod attach;
mod call_filter;
mod call_rescue;
mod call_state;
mod calls;
mod captured;
mod core_file;
mod cpu;
mod debuggee;
mod delivery;
mod driver;
mod ending;
mod error;
mod exec;
mod executable;
#[cfg(test)]
mod failures;
mod fair_selection;
mod fault_action;
mod fault_address;
mod follow;
mod follow_set;
mod forced_detach;
mod foreground;
mod fork_children;
mod forks;
mod frozen;
mod handlers;
mod hardware;
mod host;
mod image;
mod inject;
mod injected_signals;
mod inspect;
mod interrupted_calls;
mod interrupter;
mod interruption;
mod keeper;
mod kernel;
mod kernel_reach;
mod kernel_writes;
mod launch;
mod life;
mod mapping;
mod memory;
mod modules;
mod multi_process;
mod namespace;
mod operations;
mod out_of_line;
mod overwritten_code;
mod page_faults;
mod page_openings;
mod pages;
mod patches;
mod pending_forks;
mod pending_stops;
mod points;
mod process_status;
mod put_back;
mod quiesce;
mod registers;
mod rescued_calls;
mod resolver;
mod run_control;
mod self_check;
mod signals;
mod spawn;
mod stop_event;
mod stops;
mod system_calls;
mod terminal;
mod thread;
mod wait;
mod waking;
mod wanted_calls;
mod watch;
mod watchdog;
mod watched_calls;
mod watched_steps;

#[cfg(test)]
extern crate self as juror_debuggee;
/// Shared with the integration tests.
#[cfg(test)]
#[path = "../tests/it/support/mod.rs"]
mod support;

pub use attach::Attach;
pub use call_filter::CallStops;
pub use calls::{Call, OpenCall};
pub use captured::run_captured;
pub use core_file::{CoreRemarks, OpenCore, OpenCoreError, WriteCoreError, WrittenCore};
pub use debuggee::Debuggee;
pub use error::{AttachError, DebuggeeError, LaunchError};
pub use follow::Follow;
pub use foreground::{Foreground, run_in_foreground};
pub use frozen::{Descriptors, FreezeError, FrozenProcess, ThawError, Thawed};
pub use interrupter::Interrupter;
pub use launch::{CpuPolicy, EnvironmentChange, Launch, Redirection};
pub use life::Origin;
pub use mapping::{Mapping, mappings};
pub use modules::Module;
pub use multi_process::FairWaiter;
pub use namespace::PidNamespace;
pub use patches::{
    FirstWords, LedOut, LedTo, Patch, RecordWords, SharedMemory, Stub, StubRegisters, ThreadRecord,
};
pub use registers::{Registers, VectorRegisters};
pub use self_check::{SelfCheck, SelfCheckReport};
pub use signals::{SignalPolicy, SignalReport};
pub use stop_event::{ForkKind, StopEvent, SystemCallPhase};
pub use thread::{ThreadInfo, ThreadState};
pub use waking::Waker;
pub use wanted_calls::SystemCalls;
pub use watch::{AccessKind, MemoryAccess, WatchId, WatchTier};

pub use juror_stepping::{AccessKinds, Owner, Owners, StepBy, ThreadId};
