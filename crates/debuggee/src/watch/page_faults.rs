//! Accesses to protected pages: each faults, and is made with the pages open
//! while all other threads are stopped.
//!
//! Invariant: a fault that the program would have without juror is the
//! program's. The instruction raises it again while the pages are as they were.

use juror_stepping::{Input, ThreadId};
use libc::siginfo_t;

use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;
use crate::kernel;
use crate::kernel::mapping::page_of;
use crate::state::life::RunState;
use crate::state::thread::State;
use crate::watch::MemoryAccess;
use crate::watch::watched_steps::{StepEnd, note_access};

/// `SEGV_ACCERR`: the page forbids the access.
const FORBIDDEN: i32 = 2;

impl Debuggee {
    /// Returns true if a fault may be one of a protected page.
    #[inline]
    pub(crate) fn is_page_fault(&self, signal: i32) -> bool {
        signal == libc::SIGSEGV && !self.watches.pages.is_empty()
    }

    /// Handles a fault of a thread.
    pub(crate) fn handle_page_fault(
        &mut self,
        thread: ThreadId,
        information: &siginfo_t,
    ) -> Result<PageFault, DebuggeeError> {
        let address = kernel::fault_address(information);
        let page = self.watches.pages.pages.get(&page_of(address)).copied();
        let Some(page) = page.filter(|_| information.si_code == FORBIDDEN) else {
            return Ok(PageFault::Own(None));
        };
        self.undo_fault(thread)?;
        if self.watches.pages.is_stepping_access {
            // Another thread is making its access: the fault will come again.
            return self.continue_internally(thread).map(|()| PageFault::Taken);
        }
        if self.watches.pages.is_open {
            // It has faulted before the pages were opened; or the program
            // itself forbids the access.
            let forbidden = page.original & libc::PROT_WRITE == 0;
            self.restore_fault_action(thread)?;
            if forbidden {
                self.redo_fault(thread)?;
                return Ok(PageFault::Own(Some((libc::SIGSEGV, *information))));
            }
            return self.continue_internally(thread).map(|()| PageFault::Taken);
        }
        let stepped = self.with_others_held(thread, |it| it.step_access(thread))?;
        match stepped {
            SteppedAccess::Done(accesses) if accesses.is_empty() => {
                self.continue_after_step(thread)?
            }
            SteppedAccess::Done(accesses) => self.report_accesses(thread, accesses)?,
            SteppedAccess::Faulted(signal, information) => {
                if signal == libc::SIGSEGV {
                    self.redo_fault(thread)?;
                }
                return Ok(PageFault::Own(Some((signal, information))));
            }
        }
        Ok(PageFault::Taken)
    }

    /// Makes a thread execute its instruction with the pages open.
    fn step_access(&mut self, thread: ThreadId) -> Result<SteppedAccess, DebuggeeError> {
        self.open_pages(thread)?;
        let mut accesses: Vec<MemoryAccess> = Vec::new();
        let mut fault = None;
        loop {
            let step = self.watched_step(thread)?;
            if let StepEnd::Faulted(signal) = self.step_alone(thread)? {
                fault = kernel::signal_information(thread.0)
                    .ok()
                    .map(|information| (signal, information));
                break;
            }
            let hits = self.take_hardware_hits(thread)?;
            let mut found = Vec::new();
            self.hardware_accesses(&hits, &mut found);
            if let Some(step) = &step {
                self.stepped_accesses(step, &mut found);
            }
            for access in found {
                note_access(&mut accesses, access);
            }
            // The remaining accesses of a repeated instruction to the pages.
            if !self.repeats_on(thread, |it, bytes| it.watches.pages.overlap(bytes))? {
                break;
            }
        }
        self.close_pages(thread)?;
        Ok(match fault {
            Some((signal, information)) if accesses.is_empty() => {
                SteppedAccess::Faulted(signal, information)
            }
            // The fault will come again, after these have been reported.
            _ => SteppedAccess::Done(accesses),
        })
    }

    /// Runs `work` while all other threads are stopped, and resumes those that
    /// ran before.
    pub(crate) fn with_others_held<T>(
        &mut self,
        thread: ThreadId,
        work: impl FnOnce(&mut Self) -> Result<T, DebuggeeError>,
    ) -> Result<T, DebuggeeError> {
        let before = std::mem::replace(&mut self.life.run_state, RunState::Halting);
        let awaits_resume = |it: &Self| -> Vec<ThreadId> {
            let threads = it.threads.values().filter(|known| known.awaits_resume);
            threads.map(|known| known.id).collect()
        };
        let awaited_before = awaits_resume(self);
        let others: Vec<ThreadId> = self
            .threads
            .values()
            .filter(|it| it.id != thread && !it.awaits_resume)
            .filter(|it| matches!(it.state, State::Running | State::Stopped))
            .map(|it| it.id)
            .collect();
        self.watches.pages.is_stepping_access = true;
        let mut result = Ok(());
        for other in others {
            result = result.and(self.feed(Input::Halt { thread: other }));
        }
        let is_moving = |it: &Self| {
            let mut threads = it.threads.values();
            threads.any(|known| known.id != thread && known.state == State::Running)
        };
        while result.is_ok() && is_moving(self) {
            result = self.wait_and_handle();
        }
        let done = result.and_then(|()| {
            let done = work(self)?;
            self.open_for_held_signals(thread)?;
            Ok(done)
        });
        self.watches.pages.is_stepping_access = false;
        self.life.run_state = before;
        if before == RunState::Free {
            for other in awaits_resume(self) {
                if other != thread && !awaited_before.contains(&other) {
                    self.resume(other)?;
                }
            }
        }
        done
    }
}

/// The owner of a fault.
pub(crate) enum PageFault {
    /// juror: it has been handled.
    Taken,
    /// The program; if the thread has been moved meanwhile, with the present
    /// fault.
    Own(Option<(i32, siginfo_t)>),
}

/// The result of stepping a thread's instruction.
enum SteppedAccess {
    /// It has run; its accesses to watched memory.
    Done(Vec<MemoryAccess>),
    /// It faults for a reason of the program's own.
    Faulted(i32, siginfo_t),
}
