//! Handling a request to stop the running debuggee.
//!
//! One running thread is asked to stop, and is reported as
//! [`StopEvent::Interrupted`](crate::StopEvent::Interrupted); upper layers halt the others. Invariant: a
//! request is noted before the next event is waited for, and stays
//! ([`Interruption::is_wanted`]) until a thread is reported; the first thread that
//! is resumed while it stays is that thread: so no rate of events outruns a
//! request.
//!
//! A call ([`Interrupter::call`]) stops a thread in the same way, which is
//! reported as [`StopEvent::Called`](crate::StopEvent::Called); it is never forgotten.
//!
//! An alarm ([`Debuggee::set_alarm`](crate::Debuggee::set_alarm)) stops a thread in the same way, which is
//! reported as [`StopEvent::TimePassed`](crate::StopEvent::TimePassed). One that only ends a wait
//! ([`Debuggee::wait_until`](crate::Debuggee::wait_until)) stops none: a few system calls fail for a stop.

mod alarm;
pub(crate) mod interrupter;
mod requests;

use crate::interruption::alarm::Alarm;
use crate::interruption::interrupter::{Interrupter, StopHelper};
use crate::kernel::{self, Outcome, Status};

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
    /// Whether the alarm ends a wait alone, and stops no thread.
    is_alarm_quiet: bool,
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
        self.is_wanted || self.is_due && !self.is_alarm_quiet || self.is_called
    }

    /// Returns true, once, if the alarm has rung that stops no thread.
    fn takes_quiet_alarm(&mut self) -> bool {
        self.is_alarm_quiet && std::mem::take(&mut self.is_due)
    }

    /// Notes what the stop helper was sent, also before its stop is reported: the kernel may
    /// report the stops of busy threads first, and may let the helper wait for a CPU.
    #[inline]
    pub(crate) fn note_requests(&mut self) {
        let Some(helper) = &self.helper else {
            return;
        };
        self.is_wanted |= helper.take_request();
        self.is_called |= helper.take_call();
        // One that was unset while it rang is over.
        self.is_due |= helper.take_ringing() && self.is_alarm_set;
    }

    fn is_helper(&self, process: u32) -> bool {
        let helper = self.helper.as_ref();
        helper.is_some_and(|helper| helper.process() == process)
    }

    /// Handles a status of the stop helper. A signal that another process sent
    /// to it is no request.
    fn handle_helper(&mut self, status: Status) -> Outcome<()> {
        self.note_requests();
        let Some(helper) = &self.helper else {
            return Ok(());
        };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_noted_before_the_stop_of_the_helper_is_reported() {
        let mut interruption = Interruption::default();
        let interrupter = interruption.handle().expect("a process can be made");
        interruption.note_requests();
        assert!(!interruption.is_asked());

        interrupter.interrupt();
        interruption.note_requests();
        assert!(interruption.is_wanted && !interruption.is_called);
        interruption.forget();

        interrupter.call();
        interruption.note_requests();
        assert!(interruption.is_called && !interruption.is_wanted);
        interruption.is_called = false;

        // No alarm is set.
        interrupter.ring();
        interruption.note_requests();
        assert!(!interruption.is_asked());
    }
}
