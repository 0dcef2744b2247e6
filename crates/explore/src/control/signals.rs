//! Signals for threads that wait for the scheduler, and for the kernel stand at the entry of a call.

use super::{Control, scheduled, traced};
use crate::blocking;
use crate::error::ExploreError;
use crate::futex;
use crate::threads::Standing;
use juror_debuggee::{Debuggee, ThreadId};
use juror_schedule::{Input, State};
use std::time::{Duration, Instant};

/// `-EINTR`.
const INTERRUPTED: i64 = -4;

/// The pause between two looks for the signal of a timer.
const PAUSE: Duration = Duration::from_micros(200);

/// The times that threads may look again for what the signal of a timer does.
const LOOKS_MAX: u32 = 10_000;

impl Control {
    /// Tells the scheduler of signals for threads that wait. Returns whether there are any.
    pub(super) fn note_signals(&mut self, debuggee: &Debuggee) -> Result<bool, ExploreError> {
        let waits =
            |state: &State| matches!(state, State::Waits { is_pi: false, .. } | State::Sleeps(_));
        let tasks = self.scheduler.tasks().iter();
        let waiting = tasks.filter(|task| waits(task.state()));
        let threads: Vec<ThreadId> = waiting.map(|task| traced(task.id())).collect();
        let mut has_any = false;
        for thread in threads {
            if let Some(signal) = blocking::pending_signal(debuggee.pid(), thread.0) {
                has_any = true;
                self.input(Input::Signal {
                    thread: scheduled(thread),
                    signal,
                })?;
            }
        }
        Ok(has_any)
    }

    /// No thread goes on. Returns whether a signal lets one go on, now or when a timer of the
    /// program expires.
    pub(super) fn await_signal(&mut self, debuggee: &mut Debuggee) -> Result<bool, ExploreError> {
        let until = self.time.map(|time| Instant::now() + time);
        loop {
            if self.note_signals(debuggee)? {
                return Ok(true);
            }
            if self.is_interrupted(debuggee) {
                return Ok(true);
            }
            let is_late = until.is_none_or(|until| Instant::now() > until);
            let may_come = self.threads.has_timer && !is_late || self.catches_signals();
            if !may_come {
                return Ok(false);
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Returns whether threads that spin may see what a timer does.
    pub(super) fn may_see_timer(&mut self, looks: u32) -> bool {
        let may = self.threads.has_timer && looks < LOOKS_MAX;
        if may {
            std::thread::sleep(PAUSE);
        }
        may
    }

    /// A thread is led out of its wait for a signal. Returns whether the kernel does that: it makes
    /// the call then, which ends at once, and perhaps begins anew behind the handler.
    pub(super) fn is_led_out(
        &mut self,
        debuggee: &Debuggee,
        thread: ThreadId,
        result: i64,
    ) -> Result<bool, ExploreError> {
        let arguments = debuggee.registers(thread)?.system_call_arguments();
        let is_led_out = result == INTERRUPTED
            && self.threads.standing(thread) == Standing::Futex
            && futex::waits_without_end(arguments)
            && blocking::pending_signal(debuggee.pid(), thread.0).is_some();
        if is_led_out {
            self.threads.stands(thread, Standing::Ready);
        }
        Ok(is_led_out)
    }
}
