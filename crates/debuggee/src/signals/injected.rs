//! Signals that the user gives to a thread, or takes from it.

use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;
use crate::kernel;
use crate::state::thread::PendingSignal;
use juror_stepping::ThreadId;

impl Debuggee {
    /// Sets the signal that a stopped thread gets when it runs, in place of the
    /// one that it was stopped by; 0 for none. It is not reported again.
    pub fn inject_signal(&mut self, thread: ThreadId, number: i32) -> Result<(), DebuggeeError> {
        self.needs_process()?;
        let pending = (number != 0).then(|| PendingSignal {
            number,
            information: kernel::own_signal(number),
            deliver: true,
            fresh: false,
            synchronous: false,
            is_injected: true,
        });
        self.stopped_mut(thread)?.pending = pending;
        Ok(())
    }

    /// Returns the kernel's information on the signal that a stopped thread
    /// gets when it runs: the bytes of its `siginfo_t`. None if there is no
    /// such signal.
    pub fn signal_information(&self, thread: ThreadId) -> Option<Vec<u8>> {
        let pending = self.threads.get(&thread.0)?.pending.as_ref()?;
        Some(crate::frozen::bytes_of(&pending.information))
    }
}
