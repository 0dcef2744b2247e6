//! Threads that stand at the entry of a system call, while their process is kept and when it is made
//! again: the control of the threads answers such a call without making it, so they must stand there
//! again.

use juror_arch::NO_SYSTEM_CALL;
use juror_stepping::ThreadId;

use crate::debuggee::Debuggee;
use crate::error::{DebuggeeError, gone_or};
use crate::kernel::{self, Event, Status, pending_stops};
use crate::state::call_state::CallState;
use crate::state::thread::Thread;

/// A thread at the entry of its call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) thread: ThreadId,
    pub(super) call: CallState,
}

impl Debuggee {
    /// Returns the threads that stand at the entry of a call, and have no result of it yet.
    pub(super) fn entries(&self) -> Vec<Entry> {
        let is_finished = |known: &Thread| {
            let registers = self.stop_registers(known.id);
            registers.is_ok_and(|it| it.shown.system_call() == NO_SYSTEM_CALL)
        };
        let known = self.threads.values();
        let known = known.filter(|known| known.at_entry && !is_finished(known));
        let entry = |known: &Thread| Entry {
            thread: known.id,
            call: known.call,
        };
        known.map(entry).collect()
    }

    /// Lets threads that have left the entry of their call enter it again. Nothing else of the program
    /// runs.
    pub(super) fn enter_again(&mut self, entries: &[Entry]) -> Result<(), DebuggeeError> {
        for entry in entries {
            self.enter_call_again(entry)?;
        }
        Ok(())
    }

    fn enter_call_again(&mut self, entry: &Entry) -> Result<(), DebuggeeError> {
        let thread = entry.thread;
        let failed = |errno| gone_or("enter a system call again", thread)(errno);
        let known = self.stopped(thread)?;
        if known.at_entry || !known.call.reenters {
            return Ok(());
        }
        let mask = self.block_signals(thread)?;
        let mut stops_seen = 0;
        loop {
            if entry.call.is_at_filter() {
                kernel::resume(thread.0, 0).map_err(failed)?;
            } else {
                kernel::resume_to_system_call(thread.0, 0).map_err(failed)?;
            }
            match kernel::wait_for(thread.0).map_err(failed)? {
                Status::Stopped {
                    event: Event::FilteredCall | Event::SystemCall,
                    ..
                } => break,
                Status::Stopped {
                    signal: libc::SIGSTOP,
                    ..
                } => stops_seen += 1,
                status => {
                    pending_stops::put(thread.0, status);
                    return Err(DebuggeeError::ThreadGone(thread));
                }
            }
        }
        kernel::set_signal_mask(thread.0, mask).map_err(failed)?;
        self.send_stop_again(stops_seen);
        let known = self.stopped_mut(thread)?;
        known.note_stop(false);
        known.at_entry = true;
        known.inside_kernel = true;
        known.call = entry.call;
        Ok(())
    }
}
