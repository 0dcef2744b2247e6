//! The process under ptrace: its parts, and how it is launched.
//!
//! Each part has a module: `life` (phase and origin), `driver` (the breakpoint
//! engine and its queue), `image` (the mapped program), `forks` (processes that
//! it makes), `wait` (queued stop events), `signals`, `system_calls`, `watch`,
//! `calls`, `host` (terminal, CPUs, process numbers).
//!
//! Other modules add methods: `stops` handles what the kernel reports,
//! `operations` carries out what the engine orders, `run_control` resumes,
//! steps and halts threads, `points` plans sites, `inject` makes system calls
//! in the debuggee, `pending_forks` handles new processes, `inspect` reads and
//! changes a stopped debuggee, `core_file` reads one from a core file, `attach` begins with a running process,
//! `interruption` stops a running one, `ending` kills and detaches.

use std::collections::BTreeMap;

use juror_stepping::{Engine, Input, ThreadId};
use nix::errno::Errno;

use crate::calls::Calls;
use crate::core_file::CoreState;
use crate::engine::driver::EngineDriver;
use crate::error::{DebuggeeError, LaunchError};
use crate::host::cpu::Cpu;
use crate::host::terminal::Terminal;
use crate::host::{self, Host, Pids};
use crate::image::Image;
use crate::image::modules::Module;
use crate::kernel::pending_stops;
use crate::kernel::process_status;
use crate::memory::Memory;
use crate::processes::forks::Forks;
use crate::signals::Signals;
use crate::start::launch::Launch;
use crate::start::spawn;
use crate::state::life::{Life, Origin};
use crate::state::thread::{State, Thread};
use crate::state::wanted_calls::WantedCalls;
use crate::stops::wait::Wait;
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
    /// Starts a program. It is stopped before its first instruction, and
    /// before the dynamic linker's; nothing runs until it is resumed.
    pub fn launch(launch: &Launch) -> Result<Debuggee, LaunchError> {
        let spawned = spawn::spawn(launch)?;
        let process = spawned.process;
        let memory = match open_memory(process) {
            Ok(memory) => memory,
            Err(error) => {
                spawn::abandon(process);
                return Err(error.into());
            }
        };
        // From here on dropping the value cleans up.
        let cpu = Cpu::new(launch.cpu, process);
        let mut debuggee = Debuggee::new(process, memory, cpu, Origin::Launched);
        debuggee.system_calls = spawned.calls;
        debuggee.host.pids = match spawned.refusal {
            Some(refusal) => Pids::Refused(refusal),
            None => Pids::new(spawned.namespace),
        };
        let driver = &mut debuggee.driver;
        driver.configure(launch.step_by, launch.in_place, launch.self_check.as_ref());
        let thread = ThreadId(process);
        let mut leader = Thread::new(thread, State::Stopped);
        leader.awaits_resume = true;
        debuggee.threads.insert(process, leader);
        debuggee.feed(Input::Started { thread })?;
        debuggee.prepare_image()?;
        debuggee.host.terminal = match launch.input {
            crate::Redirection::Inherit => Terminal::hand_over(process),
            _ => None,
        };
        Ok(debuggee)
    }

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

/// Maps the error of a request: a thread that vanishes meanwhile is no failure.
pub(crate) fn gone_or(what: &'static str, thread: ThreadId) -> impl FnOnce(Errno) -> DebuggeeError {
    move |errno| match errno {
        Errno::ESRCH => DebuggeeError::ThreadGone(thread),
        errno => DebuggeeError::system(what)(errno),
    }
}
