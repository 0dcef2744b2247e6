//! The process under ptrace: its state and what upper floors may do with it.
//!
//! The other modules add their parts of the same type: `stops` takes in what
//! the kernel reports, `operations` carries out what the engine orders,
//! `run_control` lets threads run and step, `image` prepares a program after `exec`,
//! `points` plans sites, `watch` arranges for accesses to memory to be seen,
//! `inject` makes system calls in the debuggee's name, `calls` calls functions,
//! `children` leads new processes, `inspect` shows and changes what is stopped,
//! `attach` begins with a process that runs, `interruption` stops one that runs,
//! `ending` kills and detaches.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::marker::PhantomData;
use std::mem;

use juror_stepping::{Engine, Input, Operation, StepBy, ThreadId};
use nix::errno::Errno;

use crate::cpu::Cpu;
use crate::error::{DebuggeeError, LaunchError};
use crate::fair_selection::FairSelection;
use crate::follow::Follow;
use crate::interrupter::StopHelper;
use crate::kernel;
use crate::launch::{CpuPolicy, Launch};
use crate::memory::Memory;
use crate::modules::{Auxiliary, Module};
use crate::namespace::Namespace;
use crate::out_of_line::OutOfLineSlots;
use crate::pending_stops;
use crate::process_status;
use crate::self_check::{EngineCheck, SelfCheck};
use crate::spawn;
use crate::stop_event::StopEvent;
use crate::terminal::Terminal;
use crate::thread::{State, Thread};
use crate::watch::Watches;

/// Where a debuggee comes from, and so what becomes of it when juror is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// juror started it: it ends with juror.
    Launched,
    /// It ran before: it goes on without juror.
    Attached,
}

/// A Linux process under ptrace.
///
/// Bound to the thread of juror that launched or attached it: the kernel knows
/// a tracer by its thread. Dropping it kills a launched process and detaches
/// an attached one.
#[derive(Debug)]
pub struct Debuggee {
    pub(crate) process: u32,
    pub(crate) origin: Origin,
    pub(crate) engine: Engine,
    pub(crate) self_check: Option<Box<EngineCheck>>,
    /// Kept between inputs, so that an event allocates nothing.
    operations: Vec<Operation>,
    /// What is still to be told to the engine.
    pub(crate) inputs: VecDeque<Input>,
    pub(crate) is_feeding: bool,
    /// An order was not carried out.
    pub(crate) has_failed: bool,
    pub(crate) threads: BTreeMap<u32, Thread>,
    /// New processes whose first stop has not been seen.
    pub(crate) pending_forks: BTreeMap<u32, crate::pending_forks::PendingFork>,
    /// Forked processes that stand and have traps yet.
    pub(crate) fork_copies: BTreeMap<u32, crate::pending_forks::ForkCopy>,
    /// New processes that stand until they are adopted.
    pub(crate) fork_children: crate::fork_children::ForkChildren,
    /// Threads that are ending: their last status is still to come.
    pub(crate) departing: BTreeSet<u32>,
    pub(crate) memory: Memory,
    pub(crate) out_of_line: OutOfLineSlots,
    /// No other way past a site is taken.
    pub(crate) in_place: bool,
    pub(crate) fair_selection: FairSelection,
    pub(crate) watches: Watches,
    pub(crate) auxiliary: Auxiliary,
    pub(crate) modules: Vec<Module>,
    /// Where the dynamic linker announces changes, when a point is there.
    pub(crate) rendezvous_address: Option<u64>,
    /// Reached when the start is over, for linkers that have no known name for
    /// their announcements.
    pub(crate) entry_point: Option<u64>,
    /// Functions that are being called for juror.
    pub(crate) calls: crate::calls::Calls,
    pub(crate) pending_events: VecDeque<StopEvent>,
    pub(crate) has_ended: bool,
    /// The first thread had ended when juror attached: its last status is not
    /// juror's to see, the last thread's stands for it.
    pub(crate) leader_ended_before: bool,
    /// Its system calls are filtered: juror makes none in its name.
    pub(crate) is_seccomp_filtered: bool,
    pub(crate) is_halting: bool,
    /// Which system calls upper floors are told of.
    pub(crate) system_calls: crate::system_calls::WantedCalls,
    /// Which process stays the debuggee when it makes another.
    pub(crate) follow: Follow,
    /// It is just becoming another process.
    pub(crate) is_switching: bool,
    /// The one that it is becoming; a forked one with its memory.
    pub(crate) followed: Option<(u32, Option<Memory>)>,
    /// Threads are being told to the engine where they were reported before.
    pub(crate) is_placing: bool,
    /// It may have made processes.
    pub(crate) has_made_processes: bool,
    /// A thread has ended since the program began.
    pub(crate) has_lost_threads: bool,
    /// It is being killed while every thread stands.
    pub(crate) is_killed_standing: bool,
    /// The program has been replaced, and those that share the memory of the
    /// one before are being let go.
    pub(crate) has_left_memory: bool,
    /// Upper floors are told at the moment a process is made.
    pub(crate) catches_forks: bool,
    /// The signals that monitors are told of: bit n is signal n + 1.
    pub(crate) monitored_signals: u64,
    /// What is done about each signal.
    pub(crate) signal_policies: crate::signals::SignalPolicies,
    /// What interrupt requests are sent to, once somebody may make them.
    pub(crate) stop_helper: Option<StopHelper>,
    /// The next interrupt key is another debuggee's to tell, and was told.
    pub(crate) ignores_interrupt_key: bool,
    /// What is left of the process group stays when this process is killed.
    pub(crate) keeps_process_group: bool,
    /// A request to stop that no thread has stopped for yet.
    pub(crate) is_interruption_wanted: bool,
    pub(crate) terminal: Option<Terminal>,
    pub(crate) cpu: Cpu,
    cpu_policy: CpuPolicy,
    /// Its process numbers, where they are its own.
    pub(crate) namespace: Option<Namespace>,
    /// Why they are not, though they should be.
    pub(crate) namespace_refusal: Option<String>,
    /// The kernel knows the tracer by its thread: this type stays on it.
    not_send: PhantomData<*const ()>,
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
        let mut debuggee = Debuggee::new(process, memory, launch.cpu, Origin::Launched);
        debuggee.namespace = spawned.namespace;
        debuggee.namespace_refusal = spawned.refusal;
        debuggee.configure(launch.step_by, launch.in_place, launch.self_check.as_ref());
        let thread = ThreadId(process);
        let mut leader = Thread::new(thread, State::Stopped);
        leader.awaits_resume = true;
        debuggee.threads.insert(process, leader);
        debuggee.feed(Input::Started { thread })?;
        debuggee.prepare_image()?;
        debuggee.terminal = match launch.input {
            crate::Redirection::Inherit => Terminal::hand_over(process),
            _ => None,
        };
        Ok(debuggee)
    }

    /// Why the process has no numbers of its own, where it was to have them
    /// ([`crate::PidNamespace`]); a sentence for the user.
    pub fn namespace_refusal(&self) -> Option<&str> {
        self.namespace_refusal.as_deref()
    }

    /// A traced process of which no thread is known yet.
    pub(crate) fn new(process: u32, memory: Memory, cpu: CpuPolicy, origin: Origin) -> Debuggee {
        pending_stops::register(process);
        Debuggee {
            process,
            origin,
            engine: Engine::new(),
            self_check: None,
            operations: Vec::with_capacity(64),
            inputs: VecDeque::with_capacity(64),
            is_feeding: false,
            has_failed: false,
            threads: BTreeMap::new(),
            pending_forks: BTreeMap::new(),
            fork_copies: BTreeMap::new(),
            fork_children: crate::fork_children::ForkChildren::default(),
            departing: BTreeSet::new(),
            memory,
            out_of_line: OutOfLineSlots::default(),
            fair_selection: FairSelection::default(),
            watches: Watches::default(),
            in_place: false,
            auxiliary: Auxiliary::default(),
            modules: Vec::new(),
            rendezvous_address: None,
            entry_point: None,
            calls: crate::calls::Calls::default(),
            pending_events: VecDeque::with_capacity(64),
            has_ended: false,
            leader_ended_before: false,
            is_seccomp_filtered: false,
            is_halting: false,
            ignores_interrupt_key: false,
            keeps_process_group: false,
            is_interruption_wanted: false,
            system_calls: crate::system_calls::WantedCalls::default(),
            monitored_signals: 0,
            follow: Follow::default(),
            is_switching: false,
            followed: None,
            is_placing: false,
            has_made_processes: origin == Origin::Attached,
            has_lost_threads: false,
            is_killed_standing: false,
            namespace: None,
            namespace_refusal: None,
            has_left_memory: false,
            catches_forks: false,
            signal_policies: crate::signals::SignalPolicies::default(),
            stop_helper: None,
            terminal: None,
            cpu: Cpu::new(cpu, process),
            cpu_policy: cpu,
            not_send: PhantomData,
        }
    }

    /// Says how sites are passed, before the engine has been told anything.
    pub(crate) fn configure(
        &mut self,
        step_by: StepBy,
        in_place: bool,
        self_check: Option<&SelfCheck>,
    ) {
        self.engine = Engine::stepping_by(step_by);
        self.self_check = self_check.map(|check| check.start_engine_check(step_by));
        self.in_place = in_place;
    }

    /// A process that another debuggee made, with its ways to step and to be
    /// checked. It shares no processor with juror.
    pub(crate) fn for_child(other: &Debuggee, process: u32, memory: Memory) -> Debuggee {
        let mut debuggee = Debuggee::new(process, memory, CpuPolicy::Free, other.origin);
        debuggee.cpu_policy = other.cpu_policy;
        debuggee.cpu = Cpu::unshared(other.cpu_policy, process);
        debuggee.namespace.clone_from(&other.namespace);
        let engine_check = other.self_check.as_ref();
        debuggee.configure(
            other.engine.step_by(),
            other.in_place,
            engine_check.map(|engine_check| engine_check.check()),
        );
        debuggee
    }

    /// Gives a process that inherited the processor shared with juror its own
    /// back, unless sharing was asked for.
    pub(crate) fn restore_affinity(&self, process: u32) {
        if self.cpu_policy != CpuPolicy::Shared {
            self.cpu.restore_affinity(process);
        }
    }

    /// The process's number.
    pub fn pid(&self) -> u32 {
        self.process
    }

    /// Where the process comes from.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Whether the process still exists.
    pub fn is_alive(&self) -> bool {
        !self.has_ended
    }

    /// The policy that the debuggee was launched with.
    pub fn cpu_policy(&self) -> CpuPolicy {
        self.cpu_policy
    }

    /// The breakpoint engine, for questions about sites.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The modules in memory, as of the last [`StopEvent::ModulesChanged`]; before
    /// the first, the program itself, its dynamic linker and the vdso.
    pub fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// Waits for the next thing to tell. Everything that needs nobody's
    /// decision (signals that the program handles, new processes, threads that
    /// are held for a moment) is dealt with inside.
    pub fn wait(&mut self) -> Result<StopEvent, DebuggeeError> {
        loop {
            if let Some(event) = self.take_event() {
                return Ok(event);
            }
            if self.has_ended {
                return Err(DebuggeeError::Gone);
            }
            if !self.can_report() && !self.is_ending() {
                return Err(DebuggeeError::NothingRuns);
            }
            if self.is_interruption_wanted {
                self.interrupt_some_thread()?;
            }
            self.wait_and_handle()?;
        }
    }

    /// The next thing to tell that has happened already.
    pub(crate) fn take_event(&mut self) -> Option<StopEvent> {
        while let Some(event) = self.pending_events.pop_front() {
            // A thread can be killed while its stop event waits.
            let is_current = event
                .waiting_thread()
                .is_none_or(|thread| self.threads.contains_key(&thread.0));
            if is_current {
                return Some(event);
            }
        }
        None
    }

    /// Whether the whole process is on its way out, although nobody has resumed
    /// the threads that are stopped: one of them has ended it.
    pub fn is_ending(&self) -> bool {
        let mut stopped = self
            .threads
            .values()
            .filter(|known| known.state == State::Stopped);
        stopped.any(|known| kernel::is_dying(known.id.0))
    }

    /// Whether a status can still come without anybody being resumed.
    pub(crate) fn can_report(&self) -> bool {
        self.threads
            .values()
            .any(|thread| !matches!(thread.state, State::Stopped) || !thread.awaits_resume)
            || !self.departing.is_empty()
            || !self.pending_forks.is_empty()
    }

    /// Makes [`StopEvent::Forking`] come for each process that is made from now on,
    /// or not any more.
    pub fn catch_forks(&mut self, catch: bool) {
        self.catches_forks = catch;
    }

    /// Tells the engine, and carries out what it orders, until both are done.
    pub(crate) fn feed(&mut self, input: Input) -> Result<(), DebuggeeError> {
        self.inputs.push_back(input);
        if self.is_feeding {
            return Ok(());
        }
        self.is_feeding = true;
        let mut operations = mem::take(&mut self.operations);
        let mut result = Ok(());
        while let Some(input) = self.inputs.pop_front() {
            operations.clear();
            self.engine.handle(input, &mut operations);
            if let Some(engine_check) = &mut self.self_check {
                engine_check.take(&input, &operations);
            }
            let carried = self.carry_out(&operations);
            self.note_failure(&carried);
            result = result.and(carried);
        }
        self.operations = operations;
        self.is_feeding = false;
        result
    }

    /// Leaves a stop event for [`Debuggee::wait`]; its thread waits.
    pub(crate) fn queue_event(&mut self, event: StopEvent) {
        if let Some(thread) = event.waiting_thread()
            && let Some(known) = self.threads.get_mut(&thread.0)
        {
            known.awaits_resume = true;
        }
        self.pending_events.push_back(event);
    }

    pub(crate) fn has_pending_event(&self, thread: ThreadId) -> bool {
        self.pending_events
            .iter()
            .any(|event| event.waiting_thread() == Some(thread))
    }
}

pub(crate) fn open_memory(process: u32) -> Result<Memory, DebuggeeError> {
    let path = process_status::file_of(process, process, "mem");
    Memory::open(&path).map_err(|source| DebuggeeError::System {
        what: "open the program's memory",
        source,
    })
}

/// A thread that vanishes under a request is an ordinary thing.
pub(crate) fn gone_or(what: &'static str, thread: ThreadId) -> impl FnOnce(Errno) -> DebuggeeError {
    move |errno| match errno {
        Errno::ESRCH => DebuggeeError::ThreadGone(thread),
        errno => DebuggeeError::system(what)(errno),
    }
}
