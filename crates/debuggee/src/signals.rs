//! Signals of a debuggee: their policies, and whether a stopped thread gets one.

mod delivery;
mod fault_address;
mod injected;
mod kept;

use juror_stepping::ThreadId;

use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;
use crate::state::signals::SignalPolicy;

impl Debuggee {
    /// Returns the handling of a signal.
    pub fn signal_policy(&self, signal: i32) -> SignalPolicy {
        self.signals.policies.of(signal)
    }

    /// Sets the handling of a signal.
    pub fn set_signal_policy(&mut self, signal: i32, policy: SignalPolicy) {
        self.signals.policies.set(signal, policy);
    }

    /// Sets the signals for which [`crate::StopEvent::Signal`] is reported
    /// whatever their policies say, since monitors need them: bit n is signal n
    /// + 1.
    pub fn monitor_signals(&mut self, signals: u64) {
        self.signals.monitored = signals;
    }

    /// Sets whether a thread that was stopped by a [`crate::StopEvent::Signal`]
    /// or a Ctrl-C receives the signal when it runs.
    pub fn set_delivery(&mut self, thread: ThreadId, deliver: bool) -> Result<(), DebuggeeError> {
        if let Some(pending) = &mut self.stopped_mut(thread)?.pending {
            pending.deliver = deliver;
        }
        Ok(())
    }
}
