//! Signals that a person at the prompt gives to a thread, or takes from it.

use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;
use crate::kernel;
use crate::thread::PendingSignal;
use juror_stepping::ThreadId;

impl Debuggee {
    /// When it runs, a stopped thread gets this signal in place of the one that
    /// it was stopped by; none at all with 0. Nobody is told of it again.
    pub fn inject_signal(&mut self, thread: ThreadId, number: i32) -> Result<(), DebuggeeError> {
        let pending = (number != 0).then(|| PendingSignal {
            number,
            information: kernel::own_signal(number),
            deliver: true,
            fresh: false,
            synchronous: false,
        });
        self.stopped_mut(thread)?.pending = pending;
        Ok(())
    }

    /// What the kernel has said of the signal that a stopped thread gets when it
    /// runs: the bytes of its `siginfo_t`. Nothing where there is no such signal.
    pub fn signal_information(&self, thread: ThreadId) -> Option<Vec<u8>> {
        let pending = self.threads.get(&thread.0)?.pending.as_ref()?;
        Some(crate::frozen::bytes_of(&pending.information))
    }
}
