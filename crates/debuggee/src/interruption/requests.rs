//! Stopping a thread for a request, a call or the alarm.

use std::time::Instant;

use juror_stepping::ThreadId;
use nix::errno::Errno;

use crate::debuggee::Debuggee;
use crate::error::{DebuggeeError, ignore_gone};
use crate::interruption::alarm::Alarm;
use crate::interruption::interrupter::Interrupter;
use crate::kernel::{self, Status};
use crate::state::stop_event::StopEvent;
use crate::state::thread::{Motion, State};

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
        if let Some(()) = self.by_control(|control, _| control.set_alarm(at)) {
            return Ok(());
        }
        self.set_own_alarm(at, false)
    }

    fn set_own_alarm(&mut self, at: Option<Instant>, is_quiet: bool) -> Result<(), DebuggeeError> {
        let interruption = &mut self.wait.interruption;
        if std::mem::replace(&mut interruption.is_alarm_quiet, is_quiet) != is_quiet {
            interruption.is_due = false;
        }
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

    /// Waits as [`Debuggee::wait`], or until a time: then nothing has happened, and no thread is
    /// stopped. It takes the place of the alarm.
    pub fn wait_until(&mut self, time: Instant) -> Result<Option<StopEvent>, DebuggeeError> {
        self.set_own_alarm(Some(time), true)?;
        loop {
            if let Some(event) = self.event_now()? {
                return Ok(Some(event));
            }
            if self.wait.interruption.takes_quiet_alarm() {
                return Ok(None);
            }
            if self.wait.interruption.is_asked() {
                self.interrupt_some_thread()?;
            }
            self.wait_and_handle()?;
        }
    }

    /// Stops a thread that runs, which [`Debuggee::wait`] tells as [`StopEvent::TimePassed`], unless another
    /// one is stopped before: of that one it is told then.
    pub fn stop_for_alarm(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let interruption = &mut self.wait.interruption;
        (interruption.is_alarm_quiet, interruption.is_due) = (false, true);
        let known = self.threads.get_mut(&thread.0);
        let Some(known) = known.filter(|it| it.state == State::Running && !it.interrupt_requested)
        else {
            return Ok(());
        };
        known.interrupt_requested = true;
        ignore_gone(kernel::interrupt(thread.0))
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
