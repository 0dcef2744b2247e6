//! Protected pages that are open for the kernel: while it executes a system
//! call, and while it writes the frame of a signal handler.
//!
//! All other threads run by single steps meanwhile, which see every access. For
//! a signal the pages are opened when it is taken from the kernel, since no
//! thread can be held any more when it is delivered. A signal that would be
//! delivered while they are closed is sent again, and so is taken once more.
//!
//! Invariant: while a page is open, no thread runs freely except in the kernel;
//! and no handler is entered while a page is closed.

use std::ops::Range;

use juror_stepping::{AccessKinds, ThreadId};

use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;
use crate::kernel::dispositions;
use crate::state::thread::State;
use crate::watch::{AccessKind, MemoryAccess, WatchTier};

/// The offset of the signal stack in the frame of a signal.
const SIGNAL_STACK: u64 = 24;
/// The offset of the stack pointer of the interrupted code.
const INTERRUPTED_STACK: u64 = 168;

impl Debuggee {
    /// Opens the pages for a system call that may access a protected page,
    /// until the call is over. The thread may have to leave the entry; it comes
    /// there again.
    pub(crate) fn open_for_call(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let pages = &mut self.watches.pages;
        if pages.is_open {
            pages.callers.push(thread);
            return Ok(());
        }
        if pages.is_stepping_access {
            // Another thread is making its access: this one will come to the
            // entry again.
            self.leave_entry(thread)?;
        } else {
            pages.callers.push(thread);
            self.with_others_held(thread, |it| {
                it.open_pages(thread)?;
                it.watches.pages.is_open = true;
                Ok(())
            })?;
        }
        // Its entry has not been reported, so the next one is.
        if let Some(known) = self.threads.get_mut(&thread.0) {
            known.call.reenters = false;
        }
        Ok(())
    }

    /// Handles the end of a thread's system call.
    pub(crate) fn close_after_call(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        if !self.is_page_caller(thread) {
            return Ok(());
        }
        // The call may have changed the program's mappings.
        let now = self.pages_to_watch();
        let pages = &mut self.watches.pages;
        pages.callers.retain(|caller| *caller != thread);
        pages.pages = now;
        self.close_unneeded(thread)
    }

    /// Protects the pages again if no call and no signal needs them open.
    pub(crate) fn close_unneeded(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let pages = &mut self.watches.pages;
        if !pages.is_open || !pages.callers.is_empty() || !pages.deliveries.is_empty() {
            return Ok(());
        }
        pages.is_open = false;
        self.close_pages(thread)
    }

    /// Forgets a thread that has ended, with the call that it was in, and its
    /// signal.
    pub(crate) fn forget_page_caller(&mut self, thread: ThreadId) {
        let pages = &mut self.watches.pages;
        pages.callers.retain(|caller| *caller != thread);
        pages.deliveries.retain(|it| *it != thread);
    }

    /// Returns true if a thread is in a call for which the pages are open.
    pub(crate) fn is_page_caller(&self, thread: ThreadId) -> bool {
        self.watches.pages.callers.contains(&thread)
    }

    /// Opens the pages for a signal that a thread will get, until the frame of
    /// the handler has been written, which may be on any of them.
    pub(crate) fn open_for_signal(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        // Another thread is making its access, at whose end this one is
        // handled; or its next resume is not known yet.
        let is_early = self.watches.pages.is_stepping_access || self.life.is_halting();
        if is_early || !self.lacks_open_pages(thread) {
            return Ok(());
        }
        self.watches.pages.deliveries.push(thread);
        if !self.watches.pages.is_open {
            self.with_others_held(thread, |it| {
                it.open_pages(thread)?;
                it.watches.pages.is_open = true;
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Opens the pages for the signals that threads have taken while they were
    /// held. All are stopped; `thread` can make system calls.
    pub(crate) fn open_for_held_signals(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        if self.watches.pages.is_empty() {
            return Ok(());
        }
        let stopped = self
            .threads
            .values()
            .filter(|it| it.state == State::Stopped);
        let ids: Vec<ThreadId> = stopped.map(|it| it.id).collect();
        for other in ids {
            if !self.lacks_open_pages(other) {
                continue;
            }
            if !self.watches.pages.is_open {
                self.open_pages(thread)?;
                self.watches.pages.is_open = true;
            }
            self.watches.pages.deliveries.push(other);
        }
        Ok(())
    }

    /// Returns true if a thread holds a signal that the program handles, while
    /// the pages may be closed.
    pub(crate) fn lacks_open_pages(&self, thread: ThreadId) -> bool {
        let pages = &self.watches.pages;
        if pages.is_empty() || pages.deliveries.contains(&thread) {
            return false;
        }
        let known = self.threads.get(&thread.0);
        let pending = known.and_then(|known| known.pending.as_ref());
        pending
            .filter(|pending| pending.deliver)
            .is_some_and(|pending| dispositions::is_caught(self.process, pending.number))
    }

    /// Ends the delivery to a thread that has entered a handler, or gets no
    /// signal any more. Returns true if the pages were open for it.
    pub(crate) fn end_delivery(&mut self, thread: ThreadId) -> bool {
        let deliveries = &mut self.watches.pages.deliveries;
        let before = deliveries.len();
        deliveries.retain(|it| *it != thread);
        deliveries.len() < before
    }

    /// Appends the changes of watched memory by the frame on a thread's stack,
    /// before the first instruction of a handler.
    pub(crate) fn frame_accesses(
        &mut self,
        thread: ThreadId,
        accesses: &mut Vec<MemoryAccess>,
    ) -> Result<(), DebuggeeError> {
        let Some(frame) = self.signal_frame(thread)? else {
            return Ok(());
        };
        let memory = &self.memory;
        for watch in &mut self.watches.list {
            let is_meant = watch.tier != WatchTier::Hardware
                && watch.kinds.contains(AccessKinds::WRITE)
                && watch.touches(&frame);
            if is_meant && watch.look(memory) {
                accesses.push(MemoryAccess {
                    bytes: watch.part_of(&frame),
                    ..watch.access(AccessKind::Write)
                });
            }
        }
        Ok(())
    }

    /// Returns the bytes at the stack pointer that belong to the signal frame
    /// of a thread that has entered a handler: up to the end of the signal
    /// stack, if the thread has just switched to it, or to the former stack.
    fn signal_frame(&self, thread: ThreadId) -> Result<Option<Range<u64>>, DebuggeeError> {
        let start = self.stop_registers(thread)?.shown.stack_pointer();
        let word = |offset: u64| {
            let mut bytes = [0; 8];
            let read = self.memory.read(start.wrapping_add(offset), &mut bytes);
            read.ok().map(|()| u64::from_le_bytes(bytes))
        };
        let words = [SIGNAL_STACK, SIGNAL_STACK + 16, INTERRUPTED_STACK].map(word);
        let [Some(base), Some(length), Some(interrupted)] = words else {
            return Ok(None);
        };
        let stack = base..base.saturating_add(length);
        let is_switch = stack.contains(&start) && !stack.contains(&interrupted);
        let end = if is_switch { stack.end } else { interrupted };
        Ok((start < end).then_some(start..end))
    }
}
