//! One traced thread as juror knows it.

use std::cell::OnceCell;

use juror_stepping::ThreadId;
use libc::siginfo_t;

use crate::registers::Registers;

#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) id: ThreadId,
    pub(crate) state: State,
    /// A process that shares the debuggee's memory (`vfork`): led past sites
    /// without a word to upper floors.
    pub(crate) is_vfork_child: bool,
    /// Of such a process: the thread that waits for it.
    pub(crate) vfork_parent: Option<ThreadId>,
    /// How it was last set in motion: what an internal stop goes on with.
    pub(crate) motion: Motion,
    /// It waits for upper floors to resume it.
    pub(crate) awaits_resume: bool,
    /// It was asked to stop and no stop was handed to the engine since.
    pub(crate) hold_requested: bool,
    /// It was asked to stop because somebody wants the debuggee to, and has
    /// not stopped since.
    pub(crate) interrupt_requested: bool,
    /// Its present stop is a signal on the way: only there can the kernel be
    /// given a signal to deliver.
    pub(crate) at_signal: bool,
    /// Its present stop is the entry into a system call.
    pub(crate) at_entry: bool,
    /// The system call at whose entry it stood was put off for one of
    /// juror's: it enters it again, which is no news.
    pub(crate) reenters_call: bool,
    /// Its present stop is inside a system call whose result the kernel has
    /// not written yet.
    pub(crate) inside_kernel: bool,
    /// Job control has stopped it: it is set in motion by listening only.
    pub(crate) group_stopped: bool,
    pub(crate) pending: Option<PendingSignal>,
    /// Signals before that one, until the thread runs.
    pub(crate) deferred_signals: Vec<DeferredSignal>,
    /// What its debug registers hold, and since which change of them.
    pub(crate) hardware: crate::hardware::ThreadHardware,
    /// Between the entry and the exit of a system call that is being watched.
    pub(crate) is_in_call: bool,
    /// The instruction that it executes by a step whose accesses are watched.
    pub(crate) watched_step: Option<crate::watched_steps::WatchedStep>,
    /// It ran with `SIGSEGV` blocked, while pages were protected.
    pub(crate) blocks_faults: bool,
    /// It runs by single steps that nobody above sees.
    pub(crate) steps_internally: bool,
    /// Wherever it is let run, it executes one instruction.
    pub(crate) is_stepped: bool,
    /// Read once a stop.
    pub(crate) registers: OnceCell<StopRegisters>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Born, first stop not seen.
    Starting,
    Running,
    Stopped,
    /// In the kernel until a child that shares its memory is gone: it runs no
    /// instruction, but answers no request either.
    InVfork,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Motion {
    Run,
    Step,
    /// To the traps at all that can follow one instruction: a step, too.
    ToFollowSet,
}

/// A signal that has been taken from the kernel and not been given back.
#[derive(Debug, Clone)]
pub(crate) struct PendingSignal {
    pub(crate) number: i32,
    pub(crate) information: siginfo_t,
    /// Whether the thread gets it when it runs.
    pub(crate) deliver: bool,
    /// The present stop is this signal's own: the kernel has its information.
    pub(crate) fresh: bool,
    /// A fault of the instruction: repeats until it is delivered.
    pub(crate) synchronous: bool,
}

/// A signal that another one overtook. The kernel takes one signal a stop, so
/// it is sent anew when the thread runs, and then comes by once more.
#[derive(Debug, Clone)]
pub(crate) struct DeferredSignal {
    pub(crate) number: i32,
    /// The program's, which the sending by juror must not replace.
    pub(crate) information: siginfo_t,
    pub(crate) sent: bool,
}

/// The registers of one stop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StopRegisters {
    /// The program counter that the kernel has: may be in a copy, or one byte
    /// after the trap that the thread executed.
    pub(crate) kernel_counter: u64,
    /// What upper floors see.
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
            awaits_resume: false,
            hold_requested: false,
            interrupt_requested: false,
            at_signal: false,
            at_entry: false,
            reenters_call: false,
            inside_kernel: false,
            group_stopped: false,
            pending: None,
            deferred_signals: Vec::new(),
            hardware: crate::hardware::ThreadHardware::default(),
            is_in_call: false,
            watched_step: None,
            blocks_faults: false,
            steps_internally: false,
            is_stepped: false,
            registers: OnceCell::new(),
        }
    }

    /// Keeps a signal for when the thread runs. Of the standard signals one of
    /// a kind waits, as in the kernel.
    pub(crate) fn defer_signal(&mut self, signal: PendingSignal) {
        let is_standard = signal.number < libc::SIGRTMIN();
        let waits = self
            .deferred_signals
            .iter()
            .any(|it| it.number == signal.number);
        if signal.deliver && !(is_standard && waits) {
            self.deferred_signals.push(DeferredSignal {
                number: signal.number,
                information: signal.information,
                sent: false,
            });
        }
    }

    /// Notes that the thread has stopped.
    pub(crate) fn note_stop(&mut self, at_signal: bool) {
        self.state = State::Stopped;
        self.at_signal = at_signal;
        self.interrupt_requested = false;
        self.at_entry = false;
        self.registers.take();
        if let Some(pending) = &mut self.pending {
            pending.fresh = false;
        }
    }
}

impl StopRegisters {
    /// Whether the thread is in a system call that the kernel will start again
    /// when the thread runs.
    pub(crate) fn restarts_system_call(&self) -> bool {
        /// The kernel's `ERESTARTSYS`, `ERESTARTNOINTR`, `ERESTARTNOHAND` and
        /// `ERESTART_RESTARTBLOCK`, which user space never sees.
        const RESTARTS: [i64; 4] = [-512, -513, -514, RESTART_BLOCK];
        self.shown.orig_rax as i64 >= 0 && RESTARTS.contains(&(self.shown.rax as i64))
    }

    /// The number of the system call that starts it again.
    pub(crate) fn restarted_call(&self) -> u64 {
        if self.shown.rax as i64 == RESTART_BLOCK {
            libc::SYS_restart_syscall as u64
        } else {
            self.shown.orig_rax
        }
    }
}

/// `ERESTART_RESTARTBLOCK`: the call goes on by `restart_syscall`.
const RESTART_BLOCK: i64 = -516;

/// What a thread is doing, for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThreadState {
    /// It runs.
    Running,
    /// It is stopped and can be looked at.
    Stopped,
    /// It waits in the kernel for a child that shares its memory.
    WaitingForChild,
    /// It has been made and not run yet.
    Starting,
}

/// A thread of the debuggee.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadInfo {
    /// The kernel's number.
    pub id: ThreadId,
    /// The name that the program gave it.
    pub name: String,
    /// What it is doing.
    pub state: ThreadState,
    /// The program counter; none while it runs.
    pub pc: Option<u64>,
}
