//! juror's record of one traced thread.

use std::cell::OnceCell;

use crate::state::call_state::CallState;
use juror_arch::Registers;
use juror_stepping::ThreadId;
use libc::siginfo_t;

#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) id: ThreadId,
    pub(crate) state: State,
    /// Whether it is a process that shares the debuggee's memory (`vfork`):
    /// stepped over sites without a report.
    pub(crate) is_vfork_child: bool,
    /// The thread that waits for this vfork child.
    pub(crate) vfork_parent: Option<ThreadId>,
    /// How it was last resumed: an internal stop continues with it.
    pub(crate) motion: Motion,
    /// Whether it was last resumed for one instruction, perhaps: the kernel ends the step by
    /// a signal.
    pub(crate) may_be_stepping: bool,
    /// Whether it waits to be resumed.
    pub(crate) awaits_resume: bool,
    /// Whether it was asked to stop and no stop has been passed to the engine
    /// since.
    pub(crate) hold_requested: bool,
    /// Whether it was asked to stop for an interruption, and has not stopped
    /// since.
    pub(crate) interrupt_requested: bool,
    /// Whether its present stop is a signal-delivery stop: only there can a
    /// signal be given to the kernel to deliver.
    pub(crate) at_signal: bool,
    /// Whether its present stop is the entry of a system call.
    pub(crate) at_entry: bool,
    /// Its present system call, as far as its stops are concerned.
    pub(crate) call: CallState,
    /// Whether the exit of the call that replaced its program has been reported: if the kernel
    /// still reports it, that is no second one.
    pub(crate) exec_exit_reported: bool,
    /// Whether its present stop is inside a system call whose result the kernel
    /// has not written yet.
    pub(crate) inside_kernel: bool,
    /// Whether job control has stopped it: it is resumed by listening only.
    pub(crate) group_stopped: bool,
    pub(crate) pending: Option<PendingSignal>,
    /// Signals before that one, kept until the thread runs.
    pub(crate) deferred_signals: Vec<DeferredSignal>,
    /// The contents of its debug registers, and their last change.
    pub(crate) hardware: crate::watch::hardware::ThreadHardware,
    /// The instruction that it executes by a step whose accesses are watched.
    pub(crate) watched_step: Option<crate::state::watched_step::WatchedStep>,
    /// Whether it ran with `SIGSEGV` blocked, while pages were protected.
    pub(crate) blocks_faults: bool,
    /// Whether it runs by single steps that are not reported.
    pub(crate) steps_internally: bool,
    /// Whether it executes one instruction whenever it is resumed.
    pub(crate) is_stepped: bool,
    /// The sections of a stub that have been done for the hit at which it stands.
    pub(crate) sections_done: usize,
    /// Whether it goes behind a copy of instructions, the twins of a patch or a slot, where a
    /// signal is delivered.
    pub(crate) leaves_copies: bool,
    /// Where it was put back after a byte of a jump that was removed since.
    pub(crate) retries: Option<u64>,
    /// The same, at its last stop but this.
    pub(crate) retried_before: Option<u64>,
    /// Read once per stop.
    pub(crate) registers: OnceCell<StopRegisters>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Created; its first stop has not been seen.
    Starting,
    Running,
    Stopped,
    /// In the kernel until a child that shares its memory has ended: it
    /// executes no instruction, but answers no request either.
    InVfork,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Motion {
    Run,
    Step,
    /// To the traps at the follow set of one instruction: a step, too.
    ToFollowSet,
}

/// A signal that has been taken from the kernel and has not been delivered.
#[derive(Debug, Clone)]
pub(crate) struct PendingSignal {
    pub(crate) number: i32,
    pub(crate) information: siginfo_t,
    /// Whether the thread gets it when it runs.
    pub(crate) deliver: bool,
    /// Whether the present stop is this signal's own: the kernel has its
    /// information.
    pub(crate) fresh: bool,
    /// Whether it is a fault of the instruction, which repeats until it is
    /// delivered.
    pub(crate) synchronous: bool,
    /// Whether the user gives it to the thread where it stands.
    pub(crate) is_injected: bool,
}

/// A signal that another one overtook. The kernel takes one signal per stop, so
/// it is sent again when the thread runs, and then stops it once more.
#[derive(Debug, Clone)]
pub(crate) struct DeferredSignal {
    pub(crate) number: i32,
    /// The original information, which the sending by juror must not replace.
    pub(crate) information: siginfo_t,
    pub(crate) sent: bool,
    /// Whether upper layers have seen it.
    pub(crate) is_reported: bool,
}

/// The registers of one stop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StopRegisters {
    /// The program counter that the kernel has: it may be in a slot, or one
    /// byte after the trap that the thread executed.
    pub(crate) kernel_counter: u64,
    /// The registers that upper layers see.
    pub(crate) shown: Registers,
}

impl Thread {
    pub(crate) fn new(id: ThreadId, state: State) -> Thread {
        Thread {
            id,
            state,
            is_vfork_child: false,
            vfork_parent: None,
            motion: Motion::Run,
            may_be_stepping: false,
            awaits_resume: false,
            hold_requested: false,
            interrupt_requested: false,
            at_signal: false,
            at_entry: false,
            call: CallState::default(),
            exec_exit_reported: false,
            inside_kernel: false,
            group_stopped: false,
            pending: None,
            deferred_signals: Vec::new(),
            hardware: crate::watch::hardware::ThreadHardware::default(),
            watched_step: None,
            blocks_faults: false,
            steps_internally: false,
            is_stepped: false,
            sections_done: 0,
            leaves_copies: false,
            retries: None,
            retried_before: None,
            registers: OnceCell::new(),
        }
    }

    /// Keeps a signal until the thread runs. Of the standard signals one of
    /// each kind is kept, as in the kernel.
    pub(crate) fn defer_signal(&mut self, signal: PendingSignal) {
        if signal.deliver {
            self.send_later(DeferredSignal {
                number: signal.number,
                information: signal.information,
                sent: false,
                is_reported: true,
            });
        }
    }

    /// As [`Thread::defer_signal`], for one that may not have been reported.
    pub(crate) fn send_later(&mut self, signal: DeferredSignal) {
        let is_standard = signal.number < libc::SIGRTMIN();
        let waits = self
            .deferred_signals
            .iter()
            .any(|it| it.number == signal.number);
        if !(is_standard && waits) {
            self.deferred_signals.push(signal);
        }
    }

    /// Records that the thread has stopped.
    pub(crate) fn note_stop(&mut self, at_signal: bool) {
        self.state = State::Stopped;
        self.at_signal = at_signal;
        self.interrupt_requested = false;
        self.at_entry = false;
        self.registers.take();
        self.retried_before = self.retries.take();
        if let Some(pending) = &mut self.pending {
            pending.fresh = false;
        }
    }
}

impl StopRegisters {
    /// Returns true if the thread is in a system call that the kernel will
    /// restart when the thread runs.
    pub(crate) fn restarts_system_call(&self) -> bool {
        /// The kernel's `ERESTARTSYS`, `ERESTARTNOINTR`, `ERESTARTNOHAND` and
        /// `ERESTART_RESTARTBLOCK`, which user space never sees.
        const RESTARTS: [i64; 4] = [-512, -513, -514, RESTART_BLOCK];
        self.shown.is_in_system_call() && RESTARTS.contains(&(self.shown.result() as i64))
    }

    /// Returns the number of the system call that restarts it.
    pub(crate) fn restarted_call(&self) -> u64 {
        if self.shown.result() as i64 == RESTART_BLOCK {
            libc::SYS_restart_syscall as u64
        } else {
            self.shown.system_call()
        }
    }
}

/// `ERESTART_RESTARTBLOCK`: the call is continued by `restart_syscall`.
const RESTART_BLOCK: i64 = -516;

/// The state of a thread, as shown to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThreadState {
    /// It runs.
    Running,
    /// It is stopped and can be inspected.
    Stopped,
    /// It waits in the kernel for a child that shares its memory.
    WaitingForChild,
    /// It has been created and has not run yet.
    Starting,
}

/// A thread of the debuggee.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadInfo {
    /// The kernel's number.
    pub id: ThreadId,
    /// The name that the program gave it.
    pub name: String,
    /// Its state.
    pub state: ThreadState,
    /// The program counter; none while it runs.
    pub pc: Option<u64>,
}
