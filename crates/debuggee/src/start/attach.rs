//! Attaching to a running process.
//!
//! Every thread is seized and then stopped, again and again until no new one is
//! listed: an unseized thread may make others up to the moment it is stopped
//! itself, while those of seized threads are traced from their first
//! instruction. Nothing else is done to the process before all threads are
//! stopped; no signal is sent, and a system call that a stop interrupts
//! continues.
//!
//! The memory for out-of-line slots is mapped by stepping one `syscall` of the
//! vdso, so no code is modified. If the process has a seccomp filter, nothing
//! is mapped and every site is stepped over in place.

use juror_stepping::{Input, StepBy, ThreadId};
use nix::errno::Errno;

use crate::debuggee::Debuggee;
use crate::error::{AttachError, DebuggeeError};
use crate::host::cpu::Cpu;
use crate::host::cpu::CpuPolicy;
use crate::kernel;
use crate::kernel::process_status::{self, ProcessStatus};
use crate::memory::Memory;
use crate::state::life::{Leader, Origin};
use crate::state::self_check::SelfCheck;
use crate::state::thread::{State, Thread};
use crate::state::wanted_calls::WantedCalls;

/// The process to attach to, and how.
#[derive(Debug, Clone)]
pub struct Attach {
    /// The process.
    pub process: u32,
    /// The CPUs that juror and the process use.
    pub cpu: CpuPolicy,
    /// As for a launched program: [`Launch::in_place`](crate::Launch).
    pub in_place: bool,
    /// How threads execute one instruction.
    pub step_by: StepBy,
    /// Checks the inputs and operations of the breakpoint engine, if given.
    pub self_check: Option<SelfCheck>,
}

impl Attach {
    /// Returns the settings for a process, with all defaults.
    pub fn new(process: u32) -> Attach {
        Attach {
            process,
            cpu: CpuPolicy::default(),
            in_place: false,
            step_by: StepBy::default(),
            self_check: None,
        }
    }
}

impl Debuggee {
    /// Attaches to a running process, and stops all its threads. Each waits to
    /// be resumed; the stop events that come meanwhile are returned by
    /// [`Debuggee::wait`].
    pub fn attach(attach: &Attach) -> Result<Debuggee, AttachError> {
        let process = attach.process;
        let status = examine(process)?;
        let first = living_thread(process).ok_or(AttachError::HasEnded(process))?;
        let path = process_status::file_of(process, first, "mem");
        let mut memory = Memory::open(&path).map_err(|error| {
            let errno = Errno::from_raw(error.raw_os_error().unwrap_or(libc::EACCES));
            refusal(process, first, &status, errno)
        })?;
        kernel::seize(first, kernel::EVENTS)
            .map_err(|errno| refusal(process, first, &status, errno))?;
        memory
            .start_watchdog(process)
            .map_err(|errno| AttachError::System {
                process,
                what: "start the watchdog process",
                source: errno.into(),
            })?;
        // From here on dropping the value cleans up.
        let cpu = Cpu::new(attach.cpu, process);
        let mut debuggee = Debuggee::new(process, memory, cpu, Origin::Attached);
        let driver = &mut debuggee.driver;
        driver.configure(attach.step_by, attach.in_place, attach.self_check.as_ref());
        let reason = "juror attached to the process".to_owned();
        debuggee.system_calls = WantedCalls::with_filter(None, Some(reason));
        debuggee.image.is_seccomp_filtered = status.seccomp_filters > 0;
        debuggee.add_running(first)?;
        loop {
            debuggee.halt_all()?;
            if debuggee.life.has_ended() {
                return Err(AttachError::HasEnded(process));
            }
            if !debuggee.seize_new(&status)? {
                break;
            }
        }
        debuggee.prepare_running_image()?;
        Ok(debuggee)
    }

    /// Seizes the threads that are listed and not known; returns true if there
    /// were any.
    fn seize_new(&mut self, status: &ProcessStatus) -> Result<bool, AttachError> {
        let mut is_any_new = false;
        for thread in process_status::threads(self.process) {
            if self.threads.contains_key(&thread) || self.wait.departing.contains(&thread) {
                continue;
            }
            match kernel::seize(thread, kernel::EVENTS) {
                Ok(()) => self.add_running(thread)?,
                Err(Errno::ESRCH) => continue,
                Err(errno) => match ProcessStatus::of_thread(self.process, thread) {
                    None => continue,
                    Some(now) if now.has_ended() => {
                        if thread == self.process {
                            self.life.leader = Leader::EndedBefore;
                        }
                        continue;
                    }
                    // Made by a thread that is seized: it reports by itself.
                    Some(now) if now.tracer == std::process::id() => {
                        let thread = Thread::new(ThreadId(thread), State::Starting);
                        self.threads.insert(thread.id.0, thread);
                    }
                    Some(_) => return Err(refusal(self.process, thread, status, errno)),
                },
            }
            is_any_new = true;
        }
        Ok(is_any_new)
    }

    fn add_running(&mut self, thread: u32) -> Result<(), DebuggeeError> {
        let thread = ThreadId(thread);
        self.threads
            .insert(thread.0, Thread::new(thread, State::Running));
        self.feed(Input::Attached { thread })
    }
}

/// Checks what can be checked before the first request.
fn examine(process: u32) -> Result<ProcessStatus, AttachError> {
    let status = ProcessStatus::of_process(process).ok_or(AttachError::NoSuchProcess(process))?;
    if status.process == std::process::id() {
        return Err(AttachError::Itself(status.process));
    }
    if status.process != process {
        return Err(AttachError::Thread {
            thread: process,
            process: status.process,
        });
    }
    if process_status::is_kernel_thread(process) {
        return Err(AttachError::KernelThread {
            process,
            name: status.name,
        });
    }
    Ok(status)
}

/// Returns a thread that has not ended: the first one, if it is alive.
fn living_thread(process: u32) -> Option<u32> {
    let is_living = |&thread: &u32| {
        ProcessStatus::of_thread(process, thread).is_some_and(|status| !status.has_ended())
    };
    std::iter::once(process)
        .chain(process_status::threads(process))
        .find(is_living)
}

/// Returns why the kernel refused.
fn refusal(process: u32, thread: u32, status: &ProcessStatus, errno: Errno) -> AttachError {
    match ProcessStatus::of_thread(process, thread) {
        None => return AttachError::NoSuchProcess(process),
        Some(now) if now.has_ended() => return AttachError::HasEnded(process),
        Some(now) if now.tracer != 0 => {
            let tracer = ProcessStatus::of_process(now.tracer);
            return AttachError::AlreadyTraced {
                process,
                tracer: now.tracer,
                name: tracer.map_or_else(|| "another program".to_owned(), |it| it.name),
            };
        }
        Some(_) => {}
    }
    match errno {
        Errno::EPERM | Errno::EACCES => AttachError::NotPermitted {
            process,
            user: process_status::user_name(status.user),
            hint: permission_hint(status.user),
        },
        errno => AttachError::System {
            process,
            what: "trace it",
            source: errno.into(),
        },
    }
}

/// Returns what to do about a process that may not be traced.
fn permission_hint(owner: u32) -> String {
    let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    match scope.trim() {
        "3" => "tracing is switched off until the next boot (kernel.yama.ptrace_scope is 3)".into(),
        "2" => {
            "only root may attach here (kernel.yama.ptrace_scope is 2): run juror as root".into()
        }
        _ if owner != nix::unistd::getuid().as_raw() => "run juror as that user or as root".into(),
        "1" => "a process may only trace its own children here; run juror as root, start the \
                program by juror, or allow it until the next boot with: \
                echo 0 | sudo tee /proc/sys/kernel/yama/ptrace_scope"
            .into(),
        _ => "it protects itself from tracing (it has changed its user, or called \
              prctl(PR_SET_DUMPABLE, 0)), or a security policy forbids it; run juror as root, in \
              a container with --cap-add=SYS_PTRACE"
            .into(),
    }
}
