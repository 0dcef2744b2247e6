//! An alarm that ends juror's sleep at a time, although the debuggee does nothing.
//!
//! A thread of juror sleeps until then and wakes the stop helper, whose stop `waitpid`
//! reports (see `interrupter`). Setting another time costs no system call unless it is an
//! earlier one.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use nix::sys::signal::SigSet;

use crate::interruption::interrupter::Interrupter;

/// An alarm; it ends with its owner.
#[derive(Debug)]
pub(crate) struct Alarm {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The time to ring at, if any.
    at: Option<Instant>,
    /// The time until which the thread sleeps, if any.
    sleeps_until: Option<Instant>,
    has_ended: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Alarm {
    /// Starts the thread of an alarm that is not set.
    pub(crate) fn start(interrupter: Interrupter) -> io::Result<Alarm> {
        let shared = Arc::new(Shared::default());
        let alarm = Alarm {
            shared: Arc::clone(&shared),
        };
        std::thread::Builder::new()
            .name("alarm".to_owned())
            .spawn(move || sleep(&shared, &interrupter))?;
        Ok(alarm)
    }

    /// Sets the time to ring at, or none.
    pub(crate) fn set(&self, at: Option<Instant>) {
        let mut state = self.shared.state();
        state.at = at;
        // If the thread wakes too early, it sleeps again.
        let is_earlier = match (at, state.sleeps_until) {
            (Some(at), Some(until)) => at < until,
            (Some(_), None) => true,
            (None, _) => false,
        };
        if is_earlier {
            self.shared.changed.notify_one();
        }
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.shared.state().has_ended = true;
        self.shared.changed.notify_one();
    }
}

/// Runs the thread.
fn sleep(shared: &Shared, interrupter: &Interrupter) {
    // Signals to juror are for its other threads.
    let _ = SigSet::all().thread_block();
    let mut state = shared.state();
    while !state.has_ended {
        let now = Instant::now();
        if state.at.is_some_and(|at| at <= now) {
            state.at = None;
            interrupter.ring();
            continue;
        }
        state.sleeps_until = state.at;
        state = match state.at {
            None => shared
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner),
            Some(at) => {
                let (state, _) = shared
                    .changed
                    .wait_timeout(state, at - now)
                    .unwrap_or_else(PoisonError::into_inner);
                state
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interruption::interrupter::StopHelper;
    use std::time::Duration;

    #[test]
    fn an_alarm_rings_at_its_last_time_only() {
        let helper = StopHelper::new().expect("a process can be made");
        let alarm = Alarm::start(helper.interrupter()).expect("a thread can be made");
        let far = Instant::now() + Duration::from_secs(3_600);
        alarm.set(Some(far));
        alarm.set(None);
        assert!(!helper.take_ringing());
        alarm.set(Some(far));
        // An earlier time than that until which the thread sleeps.
        alarm.set(Some(Instant::now()));
        while !helper.take_ringing() {
            std::thread::yield_now();
        }
        assert!(!helper.take_ringing(), "it rings once");
    }
}
