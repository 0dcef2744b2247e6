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

mod calls;
mod core_file;
mod debuggee;
mod ending;
mod engine;
mod error;
#[cfg(test)]
mod failures;
mod frozen;
mod host;
mod image;
mod inspect;
mod interruption;
mod kernel;
mod memory;
mod patches;
mod processes;
mod signals;
mod start;
mod state;
mod stops;
mod system_calls;
mod watch;

#[cfg(test)]
extern crate self as juror_debuggee;
/// Shared with the integration tests.
#[cfg(test)]
#[path = "../tests/it/support/mod.rs"]
mod support;

pub use calls::{Call, OpenCall};
pub use core_file::{CoreRemarks, OpenCore, OpenCoreError, WriteCoreError, WrittenCore};
pub use debuggee::Debuggee;
pub use ending::released::Released;
pub use error::{AttachError, DebuggeeError, LaunchError};
pub use frozen::{Descriptors, FreezeError, FrozenProcess, FrozenRun, ThawError, Thawed};
pub use host::captured::run_captured;
pub use host::cpu::CpuPolicy;
pub use host::foreground::{Foreground, run_in_foreground};
pub use image::module_files::ModuleFile;
pub use image::modules::Module;
pub use interruption::interrupter::Interrupter;
pub use kernel::call_filter::CallStops;
pub use kernel::mapping::{Mapping, mappings};
pub use kernel::namespace::PidNamespace;
pub use kernel::waking::Waker;
pub use patches::{
    FirstWords, LedOut, LedTo, Patch, RecordWords, SharedMemory, Stub, StubRegisters, ThreadRecord,
};
pub use processes::forks::Follow;
pub use processes::multi_process::FairWaiter;
pub use start::attach::Attach;
pub use start::executable::locate;
pub use start::launch::{EnvironmentChange, Launch, Redirection};
pub use start::world::{World, WorldError};
pub use state::communication::{Communication, CommunicationKind, CommunicationStep};
pub use state::descendants::Descendants;
pub use state::life::Origin;
pub use state::self_check::{SelfCheck, SelfCheckReport};
pub use state::signals::{SignalPolicy, SignalReport};
pub use state::stop_event::{ForkKind, StandstillKind, StopEvent, SystemCallPhase};
pub use state::thread::{ThreadInfo, ThreadState};
pub use state::thread_control::ThreadControl;
pub use state::wanted_calls::SystemCalls;
pub use watch::{AccessKind, MemoryAccess, WatchId, WatchTier};

pub use juror_stepping::{AccessKinds, Owner, Owners, StepBy, ThreadId};
