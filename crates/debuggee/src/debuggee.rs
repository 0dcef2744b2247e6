//! The process under ptrace: its parts.
//!
//! Each part is a field of [`Debuggee`]. The file that defines its type owns it; only that
//! file and the files below it change what is private in it.
//!
//! | field | owner |
//! | --- | --- |
//! | `process` | `processes/follow.rs`: another number only when a child is followed |
//! | `life` | `state/life.rs`: origin, phase, end |
//! | `driver` | `engine/driver.rs`: the breakpoint engine and its queue |
//! | `threads` | `state/thread.rs`: a record for each traced thread |
//! | `memory` | `memory.rs`: the bytes, with the traps and jumps in them |
//! | `image` | `image.rs`: the mapped program, and what juror has mapped in it |
//! | `forks` | `processes/forks.rs`: the processes that it makes |
//! | `wait` | `state/wait.rs`: queued stop events, and the control of the threads |
//! | `signals` | `state/signals.rs`: which signals are reported and delivered |
//! | `system_calls` | `state/wanted_calls.rs`: which system calls stop |
//! | `watches` | `watch.rs`: watched memory, debug registers, protected pages |
//! | `calls` | `calls.rs`: open calls of functions |
//! | `host` | `host.rs`: terminal, CPUs, process numbers |
//! | `core` | `core_file.rs`: the core file, instead of a process |
//!
//! Invariant: no file of which a part consists has methods of `Debuggee`. These are in
//! files of their own, in the folders of their subjects: `stops` handles what the kernel
//! reports, `engine` carries out what the engine orders, `start` launches and attaches,
//! `calls` makes calls of functions and of the kernel, `signals` delivers signals,
//! `processes` handles new processes, `interruption` stops a running one, `ending` kills
//! and detaches, `inspect` reads and changes a stopped one. They meet each other through
//! these methods.

use std::collections::BTreeMap;

use juror_stepping::Engine;

use crate::calls::Calls;
use crate::core_file::CoreState;
use crate::engine::driver::EngineDriver;
use crate::error::DebuggeeError;
use crate::host::cpu::Cpu;
use crate::host::{self, Host, Pids};
use crate::image::Image;
use crate::image::modules::Module;
use crate::kernel::pending_stops;
use crate::kernel::process_status;
use crate::memory::Memory;
use crate::processes::forks::Forks;
use crate::state::life::{Life, Origin};
use crate::state::signals::Signals;
use crate::state::thread::Thread;
use crate::state::wait::Wait;
use crate::state::wanted_calls::WantedCalls;
use crate::watch::Watches;

/// A Linux process under ptrace.
///
/// Bound to the thread of juror that launched or attached it: the kernel knows
/// a tracer by its thread. Dropping it kills a launched process and detaches
/// from an attached one.
#[derive(Debug)]
pub struct Debuggee {
    pub(crate) process: u32,
    pub(crate) life: Life,
    /// The breakpoint engine and its input queue.
    pub(crate) driver: EngineDriver,
    pub(crate) threads: BTreeMap<u32, Thread>,
    pub(crate) memory: Memory,
    /// The mapped program: its modules, and the memory that juror has mapped in
    /// it.
    pub(crate) image: Image,
    /// The processes that it makes.
    pub(crate) forks: Forks,
    /// Queued stop events, and the waiting for further ones.
    pub(crate) wait: Wait,
    pub(crate) signals: Signals,
    /// The system calls that are reported.
    pub(crate) system_calls: WantedCalls,
    pub(crate) watches: Watches,
    /// Functions that are being called for juror.
    pub(crate) calls: Calls,
    pub(crate) host: Host,
    /// The core file that it is, instead of a process.
    pub(crate) core: Option<Box<CoreState>>,
}

impl Debuggee {
    /// Returns a traced process of which no thread is known yet.
    pub(crate) fn new(process: u32, memory: Memory, cpu: Cpu, origin: Origin) -> Debuggee {
        pending_stops::register(process);
        host::outlive_the_file_size_limit();
        Debuggee {
            process,
            life: Life::new(origin),
            driver: EngineDriver::new(),
            threads: BTreeMap::new(),
            memory,
            image: Image::default(),
            forks: Forks::new(origin),
            wait: Wait::new(),
            signals: Signals::default(),
            system_calls: WantedCalls::default(),
            watches: Watches::default(),
            calls: Calls::default(),
            host: Host::new(cpu),
            core: None,
        }
    }

    /// Returns a process that another debuggee made, with the step-over methods
    /// and the self-check of that one. It shares no CPU with juror.
    pub(crate) fn for_child(other: &Debuggee, process: u32, memory: Memory) -> Debuggee {
        let cpu = Cpu::unshared(other.cpu_policy(), process);
        let mut debuggee = Debuggee::new(process, memory, cpu, other.life.origin);
        debuggee.host.pids = Pids::new(other.host.pids.own().cloned());
        let driver = &mut debuggee.driver;
        driver.configure(
            other.driver.engine.step_by(),
            other.driver.in_place,
            other.driver.self_check(),
        );
        debuggee
    }

    /// Returns where the process comes from.
    pub fn origin(&self) -> Origin {
        self.life.origin
    }

    /// Returns true if the process still exists.
    pub fn is_alive(&self) -> bool {
        !self.life.has_ended()
    }

    /// Returns the process number.
    pub fn pid(&self) -> u32 {
        self.process
    }

    /// Returns the breakpoint engine, for questions about sites.
    pub fn engine(&self) -> &Engine {
        &self.driver.engine
    }

    /// Returns the mapped modules as of the last [`crate::StopEvent::ModulesChanged`];
    /// before the first, the program itself, its dynamic linker and the vdso.
    pub fn modules(&self) -> &[Module] {
        &self.image.modules
    }
}

pub(crate) fn open_memory(process: u32) -> Result<Memory, DebuggeeError> {
    let path = process_status::file_of(process, process, "mem");
    Memory::open(&path).map_err(|source| DebuggeeError::System {
        what: "open the program's memory",
        source,
    })
}
