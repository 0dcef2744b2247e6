//! Letting the program run until something happens that the person at the
//! prompt must see.
//!
//! Each notice of the debuggee is one rule: a point of the developer
//! (DEVBREAK), an event of a monitor (EXECEVENT), the end (STOP), as in
//! Jakse, Falcone and Méhaut, section 6. Owners at one place are served in
//! that order: developer, then monitors. Only what changes a verdict stops
//! other threads.

mod changes;
mod happenings;
mod hits;
mod stopping;

pub(crate) use changes::late_error;

use crate::evaluations::CallEnd;
use crate::monitoring::KILLED_STATUS;
use crate::options::{CommandError, Observer};
use crate::session::Session;
use crate::view::{Ending, Outcome, StopReason};
use happenings::Arrival;
use juror_debuggee::{Notice, ThreadId};

/// What ended a run, before it is made into a view.
#[derive(Debug)]
pub(crate) enum Pause {
    /// Show this.
    Reason(StopReason, ThreadId),
    /// A temporary point of a command was reached.
    Temporary(ThreadId),
    /// A step of one instruction is done.
    Stepped(ThreadId),
    /// Nothing for the user: scenarios have heard of something.
    Heard(ThreadId),
    /// A command of a scenario takes the place of the present one.
    Moves(ThreadId),
    /// A call of an evaluation is over.
    CallEnded(ThreadId, CallEnd),
    /// The program is gone.
    Ended(Option<Ending>),
}

impl Pause {
    /// The thread that it is about.
    pub(crate) fn thread(&self) -> Option<ThreadId> {
        match self {
            Pause::Reason(_, thread)
            | Pause::Temporary(thread)
            | Pause::Stepped(thread)
            | Pause::Heard(thread)
            | Pause::Moves(thread)
            | Pause::CallEnded(thread, _) => Some(*thread),
            Pause::Ended(_) => None,
        }
    }
}

/// What a command waits for besides what always stops the program.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Goal<'a> {
    /// Its temporary points.
    pub temporaries: &'a [Temporary],
    /// A thread that executes one instruction.
    pub stepping: Option<ThreadId>,
}

/// Who returns may take arguments off the stack, at most so many bytes here.
const ARGUMENTS_BYTES_MAX: u64 = 512;

/// A temporary point of a command: only this thread counts, and only where its stack
/// pointer is in a range, so that neither recursion counts nor the same code on another
/// stack of the thread (fibers).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Temporary {
    /// Where it is.
    pub address: u64,
    /// Whose it is; any thread's without one.
    pub thread: Option<ThreadId>,
    /// The stack pointer must be greater,
    pub above: u64,
    /// and no greater than this.
    pub up_to: u64,
}

impl Temporary {
    /// A point of one thread, wherever its stack is.
    pub fn anywhere(address: u64, thread: ThreadId) -> Temporary {
        Temporary {
            address,
            thread: Some(thread),
            above: 0,
            up_to: u64::MAX,
        }
    }

    /// A point of one thread at which its stack pointer is the given one, or little
    /// above: where a call has returned.
    pub fn back(address: u64, thread: ThreadId, stack: u64) -> Temporary {
        Temporary {
            address,
            thread: Some(thread),
            above: stack.wrapping_sub(1),
            up_to: stack.saturating_add(ARGUMENTS_BYTES_MAX),
        }
    }
}

impl Session {
    /// `continue`: lets all threads run until something happens.
    pub(crate) fn continue_run(
        &mut self,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        let pause = self.continue_until_pause(observer)?;
        self.settle(pause)
    }

    /// Lets all threads run until something happens, which is still to be
    /// shown.
    pub(crate) fn continue_until_pause(
        &mut self,
        observer: &mut dyn Observer,
    ) -> Result<Pause, CommandError> {
        observer.resumes();
        if let Some(pause) = self.begin(observer)? {
            return Ok(pause);
        }
        self.prepare_all_followed()?;
        self.resume_processes()?;
        self.pump(observer, Goal::default())
    }

    /// Takes notices until one must be seen. Threads have been resumed.
    pub(crate) fn pump(
        &mut self,
        observer: &mut dyn Observer,
        goal: Goal<'_>,
    ) -> Result<Pause, CommandError> {
        self.selection.frames = None;
        self.attached.clear();
        self.asked = None;
        self.scenarios.accessed = None;
        observer.resumes();
        loop {
            self.control.run()?;
            let notice = self.next_notice();
            self.control.notify();
            self.follow_control();
            let pause = self.take(notice?, observer, goal)?;
            self.tell_ends(observer);
            let pause = match pause {
                Some(pause) => self.react(pause, goal, observer)?,
                None => None,
            };
            if let Some(pause) = pause {
                if pause.is_owed() {
                    self.control.owe_stop()?;
                }
                if let Pause::Reason(StopReason::Violation { .. }, _) = pause {
                    self.tell_of_checkpoint(observer);
                }
                return Ok(pause);
            }
        }
    }

    fn take(
        &mut self,
        notice: Notice,
        observer: &mut dyn Observer,
        goal: Goal<'_>,
    ) -> Result<Option<Pause>, CommandError> {
        match notice {
            Notice::Hit {
                thread,
                address,
                owners,
            } => return self.take_hit(thread, address, owners, goal, observer),
            Notice::Stepped { thread, .. } => return self.take_step(thread, goal),
            Notice::ThreadStarted { thread } => return self.take_thread_start(thread, observer),
            Notice::ThreadEnded { thread } => return self.take_thread_end(thread, observer),
            Notice::ModulesChanged { thread } => return self.take_modules(thread, observer),
            Notice::Signal {
                thread,
                signal,
                code,
                sender,
                fault_address,
                fatal,
            } => {
                let arrival = Arrival {
                    signal,
                    code,
                    sender,
                    fault_address,
                    fatal,
                };
                return self.take_signal(thread, &arrival, goal, observer);
            }
            Notice::HardwareHit { thread, address } => {
                return self.take_hardware_hit(thread, address, goal);
            }
            Notice::Accessed { thread, accesses } => {
                return self.take_access(thread, &accesses, goal, observer);
            }
            Notice::SystemCall {
                thread,
                number,
                phase,
            } => return self.take_system_call(thread, number, phase, goal, observer),
            Notice::Forking {
                thread,
                child,
                kind,
            } => {
                let pause = self.on_forking(thread, child, kind)?;
                let Some(Pause::Reason(reason, maker)) = pause else {
                    return Ok(pause);
                };
                let thread = self.tell_birth(maker, child, observer)?;
                return Ok(Some(Pause::Reason(reason, thread)));
            }
            Notice::Executed { thread, path } => {
                return self.take_exec(thread, &path, observer);
            }
            Notice::Forked { child, kind } => self.tell_forked(child, kind, observer),
            Notice::Joined {
                process,
                parent,
                kind,
            } => return self.on_joined(process, parent, kind, observer),
            Notice::Left { process } => changes::tell_left(process, observer),
            Notice::Followed { thread, parent } => {
                return self.on_followed(thread, parent, observer, goal);
            }
            Notice::Interrupted { thread } => {
                return Ok(Some(Pause::Reason(StopReason::Interrupted, thread)));
            }
            Notice::Exited { status } => {
                self.tell_of_exit(status, observer)?;
                return Ok(self.on_process_end(Ending::Exited { status }));
            }
            Notice::Killed { signal, .. } => {
                self.tell_of_exit(KILLED_STATUS.saturating_add(signal), observer)?;
                return Ok(self.on_process_end(Ending::Killed { signal }));
            }
        }
        Ok(None)
    }
}
