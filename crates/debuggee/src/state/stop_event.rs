//! The stop events that the debuggee reports.

use std::path::PathBuf;

use juror_stepping::{Owners, ThreadId};

use crate::watch::MemoryAccess;

/// A stop event. After one that names a waiting thread
/// ([`StopEvent::waiting_thread`]), that thread is stopped until
/// [`resume`](crate::Debuggee::resume) or [`step`](crate::Debuggee::step); all
/// other threads continue to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopEvent {
    /// The thread is about to execute the instruction at a site, for the first
    /// time since it came there; `owners` are those not yet notified. The
    /// thread waits.
    Hit {
        /// The thread.
        thread: ThreadId,
        /// The site.
        address: u64,
        /// The owners of the points there.
        owners: Owners,
    },
    /// The thread is about to execute the instruction at an address that a
    /// debug register watches. The thread waits.
    HardwareHit {
        /// The thread.
        thread: ThreadId,
        /// The instruction.
        address: u64,
    },
    /// The thread has accessed watched memory; comes instead of
    /// [`StopEvent::Stepped`] when that was the step. The thread waits, after
    /// the access.
    Accessed {
        /// The thread.
        thread: ThreadId,
        /// One entry per watch.
        accesses: Vec<MemoryAccess>,
    },
    /// The requested step is done. The thread waits.
    Stepped {
        /// The thread.
        thread: ThreadId,
        /// The present program counter.
        address: u64,
    },
    /// A new thread, before its first instruction. It waits.
    ThreadStarted {
        /// The thread.
        thread: ThreadId,
    },
    /// A thread other than the last one has ended.
    ThreadEnded {
        /// The thread.
        thread: ThreadId,
    },
    /// Libraries were loaded or unloaded: [`modules`](crate::Debuggee::modules)
    /// has changed. No code of a new library has run yet. The thread waits.
    ModulesChanged {
        /// The thread that loads.
        thread: ThreadId,
    },
    /// A signal is about to be delivered. Unless
    /// [`set_delivery`](crate::Debuggee::set_delivery) says otherwise, the
    /// thread receives it when it is resumed. The thread waits.
    Signal {
        /// The thread.
        thread: ThreadId,
        /// The signal's number.
        signal: i32,
        /// `si_code`: the cause.
        code: i32,
        /// The process that sent it; none if the kernel did.
        sender: Option<u32>,
        /// For a fault of the program's own (`SIGSEGV`, `SIGBUS`, `SIGFPE`,
        /// `SIGILL`): the address in question.
        fault_address: Option<u64>,
        /// Whether it will end the process: not caught, not ignored, and its
        /// default is to kill.
        fatal: bool,
    },
    /// A system call of those that
    /// [`catch_system_calls`](crate::Debuggee::catch_system_calls) selected is
    /// about to begin, or is over. The thread waits.
    SystemCall {
        /// The thread.
        thread: ThreadId,
        /// The call's number, as in `asm/unistd_64.h`.
        number: u64,
        /// Before or after.
        phase: SystemCallPhase,
    },
    /// The process has replaced its program: all points are gone, this thread
    /// is the only one. It waits, before the program's first instruction.
    Executed {
        /// The thread.
        thread: ThreadId,
        /// The new program.
        path: PathBuf,
    },
    /// A thread has just made another process, and
    /// [`catch_forks`](crate::Debuggee::catch_forks) is set. The thread waits.
    Forking {
        /// The thread.
        thread: ThreadId,
        /// The new process.
        child: u32,
        /// The kind of the call.
        kind: ForkKind,
    },
    /// The debuggee made another process. It runs free, without points.
    Forked {
        /// The new process.
        child: u32,
        /// The kind of the call.
        kind: ForkKind,
    },
    /// The debuggee made a process that is to be debugged, too. It is stopped,
    /// right after the call or before the first instruction of its own program,
    /// until [`adopt`](crate::Debuggee::adopt) takes it.
    ChildAttached {
        /// The new process.
        process: u32,
        /// The thread that made it.
        parent: ThreadId,
        /// The kind of the call.
        kind: ForkKind,
    },
    /// The debuggee is from now on another process, because it made one that is
    /// followed; the former one runs free, without points.
    ParentDetached {
        /// The process that was the debuggee.
        process: u32,
    },
    /// A forked child is now the debuggee, with all points; it stands right
    /// after the call that made it, in the frames of its parent. It waits.
    ChildFollowed {
        /// Its thread.
        thread: ThreadId,
        /// The thread that made it.
        parent: ThreadId,
    },
    /// A Ctrl-C, or a request of an [`Interrupter`](crate::Interrupter). A
    /// signal from the terminal is not delivered, unless
    /// [`set_delivery`](crate::Debuggee::set_delivery) says so. The thread
    /// waits; the others continue to run until
    /// [`halt_all`](crate::Debuggee::halt_all).
    Interrupted {
        /// The thread that was stopped for it.
        thread: ThreadId,
    },
    /// A call of an [`Interrupter`](crate::Interrupter): requests wait that are
    /// served while the program runs. The thread waits; the others continue to
    /// run.
    Called {
        /// The thread that was stopped for it.
        thread: ThreadId,
    },
    /// The time of [`Debuggee::set_alarm`](crate::Debuggee::set_alarm) has come.
    /// The thread waits; the others continue to run.
    TimePassed {
        /// The thread that was stopped for it.
        thread: ThreadId,
    },
    /// Under a control of the threads: threads do not go on, or the run has gone another way than
    /// the one that it repeats. All threads wait.
    Standstill {
        /// The first thread concerned.
        thread: ThreadId,
        /// The kind of the standstill.
        kind: StandstillKind,
    },
    /// The process has ended by itself.
    Exited {
        /// Its exit status, 0 to 255.
        status: i32,
    },
    /// The process was killed by a signal.
    Killed {
        /// The signal's number.
        signal: i32,
        /// Whether a core file was written.
        core: bool,
    },
}

impl StopEvent {
    /// Returns the thread that waits to be resumed after this stop event.
    pub fn waiting_thread(&self) -> Option<ThreadId> {
        match *self {
            StopEvent::Hit { thread, .. }
            | StopEvent::HardwareHit { thread, .. }
            | StopEvent::Accessed { thread, .. }
            | StopEvent::Stepped { thread, .. }
            | StopEvent::ThreadStarted { thread }
            | StopEvent::ModulesChanged { thread }
            | StopEvent::Signal { thread, .. }
            | StopEvent::SystemCall { thread, .. }
            | StopEvent::Forking { thread, .. }
            | StopEvent::Executed { thread, .. }
            | StopEvent::ChildFollowed { thread, .. }
            | StopEvent::Interrupted { thread }
            | StopEvent::Called { thread }
            | StopEvent::Standstill { thread, .. }
            | StopEvent::TimePassed { thread } => Some(thread),
            StopEvent::ThreadEnded { .. }
            | StopEvent::Forked { .. }
            | StopEvent::ChildAttached { .. }
            | StopEvent::ParentDetached { .. }
            | StopEvent::Exited { .. }
            | StopEvent::Killed { .. } => None,
        }
    }

    /// Returns the event with the new numbers of the threads.
    pub fn renumbered(&self, numbers: &[(ThreadId, ThreadId)]) -> StopEvent {
        let mut event = self.clone();
        let renumber = |thread: &mut ThreadId| {
            if let Some((_, now)) = numbers.iter().find(|(then, _)| then == thread) {
                *thread = *now;
            }
        };
        match &mut event {
            StopEvent::Hit { thread, .. }
            | StopEvent::HardwareHit { thread, .. }
            | StopEvent::Accessed { thread, .. }
            | StopEvent::Stepped { thread, .. }
            | StopEvent::ThreadStarted { thread }
            | StopEvent::ThreadEnded { thread }
            | StopEvent::ModulesChanged { thread }
            | StopEvent::Signal { thread, .. }
            | StopEvent::SystemCall { thread, .. }
            | StopEvent::Forking { thread, .. }
            | StopEvent::Executed { thread, .. }
            | StopEvent::Interrupted { thread }
            | StopEvent::Called { thread }
            | StopEvent::Standstill { thread, .. }
            | StopEvent::TimePassed { thread } => renumber(thread),
            StopEvent::ChildFollowed { thread, parent } => {
                renumber(thread);
                renumber(parent);
            }
            StopEvent::ChildAttached { parent, .. } => renumber(parent),
            StopEvent::Forked { .. }
            | StopEvent::ParentDetached { .. }
            | StopEvent::Exited { .. }
            | StopEvent::Killed { .. } => {}
        }
        event
    }
}

/// The kind of a [`StopEvent::Standstill`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StandstillKind {
    /// All threads wait for one another.
    Deadlock,
    /// Some threads wait for one another; others may go on.
    PartialDeadlock,
    /// The run does not end: loops in which nothing changes, or more schedule points than the run
    /// may have.
    Endless,
    /// The run has gone another way than the one that it repeats.
    Diverged,
}

/// The kind of call that made a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForkKind {
    /// With its own copy of the memory.
    Fork,
    /// Sharing the debuggee's memory until it runs another program or ends
    /// (`vfork`, `posix_spawn`); juror steps it silently over points until
    /// then.
    Vfork,
}

/// One of the two sides of a system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SystemCallPhase {
    /// The kernel has not begun it.
    Entry {
        /// Its arguments, including those that it does not take.
        arguments: [u64; 6],
    },
    /// The kernel is done with it.
    Exit {
        /// Its result: a negative number is an error code. -512, -513, -514 and
        /// -516 mean that a signal interrupted it and that it is restarted,
        /// unless the signal's handler makes it fail.
        result: i64,
    },
}
