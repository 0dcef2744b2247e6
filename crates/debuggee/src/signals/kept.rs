//! Signals of a run that is recorded, or made again: their moment is chosen by the control of the
//! threads.

use juror_stepping::ThreadId;
use libc::siginfo_t;

use crate::debuggee::Debuggee;
use crate::kernel::dispositions;
use crate::state::signals::SignalReport;
use crate::state::thread::DeferredSignal;

impl Debuggee {
    /// Reports each signal to the control of the threads, but for the faults of instructions.
    pub fn keep_signals(&mut self) {
        self.signals.are_kept = true;
    }

    /// Takes the signal for which a thread has stopped: it does not get it. Returns the kernel's
    /// information on it, the bytes of its `siginfo_t`.
    pub fn take_signal(&mut self, thread: ThreadId) -> Option<Vec<u8>> {
        let information = self.signal_information(thread)?;
        self.threads.get_mut(&thread.0)?.pending = None;
        Some(information)
    }

    /// Sends a thread a signal when it goes on, with this information.
    pub fn send_signal(&mut self, thread: ThreadId, information: &[u8]) {
        let Some(information) = information_of(information) else {
            return;
        };
        if let Some(known) = self.threads.get_mut(&thread.0) {
            known.send_later(DeferredSignal {
                number: information.si_signo,
                information,
                sent: false,
                is_reported: false,
            });
        }
    }

    /// Returns whether the signal for which a thread has stopped is a fault of its instruction, which
    /// comes each time.
    pub fn has_fault(&self, thread: ThreadId) -> bool {
        let known = self.threads.get(&thread.0);
        known.is_some_and(|it| it.pending.as_ref().is_some_and(|signal| signal.synchronous))
    }

    /// Returns whether the program has a handler for a signal.
    pub fn catches_signal(&self, signal: i32) -> bool {
        dispositions::is_caught(self.process, signal)
    }

    /// Returns whether the user or a monitor is told of a signal.
    pub fn is_signal_wanted(&self, signal: i32, is_fatal: bool) -> bool {
        match self.signals.policies.of(signal).report {
            SignalReport::Always => true,
            SignalReport::WhenFatal if is_fatal => true,
            SignalReport::WhenFatal | SignalReport::Never => self.signals.is_monitored(signal),
        }
    }
}

/// Reads the bytes of a `siginfo_t`.
fn information_of(bytes: &[u8]) -> Option<siginfo_t> {
    if bytes.len() != size_of::<siginfo_t>() {
        return None;
    }
    // SAFETY: `siginfo_t` is a plain C structure, of which any bytes are a value, and there are as many.
    Some(unsafe { bytes.as_ptr().cast::<siginfo_t>().read_unaligned() })
}
