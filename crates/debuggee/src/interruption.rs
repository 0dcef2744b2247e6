//! Handling a request to stop the running debuggee.
//!
//! One running thread is asked to stop, and is reported as
//! [`StopEvent::Interrupted`]; upper layers halt the others. Invariant: a
//! request stays ([`Interruption::is_wanted`]) until a thread is reported, and
//! the first thread that is resumed while it stays is that thread: so no rate
//! of events outruns a request.
//!
//! A call ([`Interrupter::call`]) stops a thread in the same way, which is
//! reported as [`StopEvent::Called`]; it is never forgotten.
//!
//! An alarm ([`Debuggee::set_alarm`]) stops a thread in the same way, which is
//! reported as [`StopEvent::TimePassed`].

mod alarm;
pub(crate) mod interrupter;

use std::time::Instant;

use juror_stepping::ThreadId;
use nix::errno::Errno;

use crate::debuggee::Debuggee;
use crate::engine::operations::ignore_gone;
use crate::error::DebuggeeError;
use crate::interruption::alarm::Alarm;
use crate::interruption::interrupter::{Interrupter, StopHelper};
use crate::kernel::{self, Outcome, Status};
use crate::state::stop_event::StopEvent;
use crate::state::thread::{Motion, State};

/// The requests to stop a running debuggee.
#[derive(Debug, Default)]
pub(crate) struct Interruption {
    /// The process that requests are sent to, once a handle has been made.
    helper: Option<StopHelper>,
    /// A stop has been requested and no thread has stopped for it yet.
    pub(crate) is_wanted: bool,
    /// The alarm has rung and no thread has stopped for it yet.
    pub(crate) is_due: bool,
    /// Requests wait and no thread has stopped for them yet.
    pub(crate) is_called: bool,
    alarm: Option<Alarm>,
    is_alarm_set: bool,
}

impl Interruption {
    fn handle(&mut self) -> Outcome<Interrupter> {
        let helper = match self.helper.take() {
            Some(helper) => helper,
            None => StopHelper::new()?,
        };
        Ok(self.helper.insert(helper).interrupter())
    }

    /// Returns true if a thread is to be stopped.
    #[inline]
    pub(crate) fn is_asked(&self) -> bool {
        self.is_wanted || self.is_due || self.is_called
    }

    fn is_helper(&self, process: u32) -> bool {
        let helper = self.helper.as_ref();
        helper.is_some_and(|helper| helper.process() == process)
    }

    /// Handles a status of the stop helper. A signal that another process sent
    /// to it is no request.
    fn handle_helper(&mut self, status: Status) -> Outcome<()> {
        let Some(helper) = &self.helper else {
            return Ok(());
        };
        self.is_wanted |= helper.take_request();
        self.is_called |= helper.take_call();
        // One that was unset while it rang is over.
        self.is_due |= helper.take_ringing() && self.is_alarm_set;
        match status {
            Status::Stopped { .. } => kernel::resume(helper.process(), 0),
            Status::Exited { .. } | Status::Killed { .. } => {
                self.helper = None;
                Ok(())
            }
        }
    }

    /// Drops a request that has not been served.
    fn forget(&mut self) {
        self.is_wanted = false;
        self.is_due = false;
        if let Some(helper) = &self.helper {
            helper.take_request();
        }
    }

    /// Hands the helper and its requests to another debuggee that has none.
    pub(crate) fn transfer_to(&mut self, other: &mut Interruption) {
        if other.helper.is_none() {
            // The alarm of another helper rings no more.
            self.alarm = None;
            other.alarm = None;
            other.helper = self.helper.take();
            other.is_wanted |= self.is_wanted;
            other.is_called |= std::mem::take(&mut self.is_called);
        }
    }
}

impl Debuggee {
    /// Returns a handle that makes [`Debuggee::wait`] return, usable from any
    /// thread.
    pub fn interrupter(&mut self) -> Result<Interrupter, DebuggeeError> {
        let failed = DebuggeeError::system("start the stop helper process");
        self.wait.interruption.handle().map_err(failed)
    }

    /// Sets the time at which [`Debuggee::wait`] returns
    /// [`StopEvent::TimePassed`] unless something else happens before; `None`
    /// unsets it. It stays set until then.
    pub fn set_alarm(&mut self, at: Option<Instant>) -> Result<(), DebuggeeError> {
        let interruption = &mut self.wait.interruption;
        interruption.is_alarm_set = at.is_some();
        if at.is_none() {
            interruption.is_due = false;
        }
        let alarm = match (&interruption.alarm, at) {
            (None, None) => return Ok(()),
            (Some(alarm), _) => alarm,
            (None, Some(_)) => {
                let interrupter = self.interrupter()?;
                let alarm = Alarm::start(interrupter).map_err(|error| {
                    let errno = error.raw_os_error().map_or(Errno::EAGAIN, Errno::from_raw);
                    DebuggeeError::system("start the thread of an alarm")(errno)
                })?;
                &*self.wait.interruption.alarm.insert(alarm)
            }
        };
        alarm.set(at);
        Ok(())
    }

    pub(crate) fn is_stop_helper(&self, process: u32) -> bool {
        self.wait.interruption.is_helper(process)
    }

    /// Handles a status of the stop helper.
    pub(crate) fn handle_stop_helper(&mut self, status: Status) -> Result<(), DebuggeeError> {
        ignore_gone(self.wait.interruption.handle_helper(status))
    }

    /// Asks a thread to stop for the request, if any thread runs.
    pub(crate) fn interrupt_some_thread(&mut self) -> Result<(), DebuggeeError> {
        let is_asked = self
            .threads
            .values()
            .any(|thread| thread.interrupt_requested);
        let running = self
            .threads
            .values_mut()
            .filter(|thread| thread.state == State::Running && !thread.is_vfork_child)
            // A thread that executes one instruction stops by itself soon.
            .min_by_key(|thread| thread.motion == Motion::Step);
        let Some(thread) = running.filter(|_| !is_asked) else {
            return Ok(());
        };
        thread.interrupt_requested = true;
        ignore_gone(kernel::interrupt(thread.id.0))
    }

    /// Handles the stop of the thread that was asked to stop.
    pub(crate) fn handle_interruption(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        if kernel::has_trap_waiting(thread.0) {
            // It has reached a point, or the end of its step: that is reported
            // first, and the thread is interrupted when it is resumed.
            if let Some(known) = self.threads.get_mut(&thread.0) {
                known.state = State::Running;
                known.registers.take();
            }
            return ignore_gone(kernel::resume(thread.0, 0));
        }
        self.interrupt_engine(thread)?;
        self.queue_interruption_event(thread);
        Ok(())
    }

    /// Reports a thread that is to be resumed as interrupted instead, if a stop
    /// was requested; returns false if not.
    #[inline]
    pub(crate) fn keeps_interrupted(&mut self, thread: ThreadId) -> bool {
        let keeps = self.wait.interruption.is_asked();
        if keeps {
            self.queue_interruption_event(thread);
        }
        keeps
    }

    fn queue_interruption_event(&mut self, thread: ThreadId) {
        let interruption = &mut self.wait.interruption;
        if interruption.is_wanted {
            self.forget_interruption();
            return self.queue_event(StopEvent::Interrupted { thread });
        }
        if std::mem::take(&mut interruption.is_called) {
            return self.queue_event(StopEvent::Called { thread });
        }
        interruption.is_due = false;
        self.queue_event(StopEvent::TimePassed { thread });
    }

    /// Drops a request that has not been served: the debuggee is stopped for
    /// another reason.
    pub fn forget_interruption(&mut self) {
        self.wait.interruption.forget();
    }
}
