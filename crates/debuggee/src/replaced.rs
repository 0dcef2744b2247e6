//! What is left of a program that is gone: replaced by another one (`exec`), or
//! at its end.
//!
//! The kernel ends the threads of a program at any moment. One that was just
//! making a process may not come to tell of it: the process stands then, traced
//! and with juror's traps in its memory. And a process that shares the memory
//! (`vfork`) keeps it when another thread replaces the program; it may stand at
//! a trap, in a copy, or be held for one that is gone.
//!
//! Invariant: before juror goes on to the new program, or tells of the end, each
//! of them stands in the original program, has no trap on its way, and is let
//! go. One that was to be followed is not followed then.

use juror_stepping::{Input, ThreadId};

use crate::debuggee::{Debuggee, Origin};
use crate::error::DebuggeeError;
use crate::kernel::{self, Status};
use crate::notice::Notice;
use crate::operations::tolerate;
use crate::process_status;
use crate::stash;
use crate::thread::{State, Thread};

impl Debuggee {
    /// A thread runs another program.
    pub(crate) fn take_in_exec(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let known = self.threads.get(&thread.0);
        if known.is_some_and(|known| known.silent) {
            if self.follows_both() {
                return self.keep_executed(thread);
            }
            if !self.follows_child() {
                self.threads.remove(&thread.0);
                self.forget_page_caller(thread);
                self.cpu.release(thread.0);
                self.feed(Input::Ended { thread })?;
                return tolerate(kernel::detach(thread.0, 0));
            }
            self.follow_executed(thread)?;
        } else {
            let thread = ThreadId(self.process);
            // It stands, whatever it does in the new program.
            self.leave_memory(Input::Interrupted { thread, address: 0 })?;
            if self.has_ended {
                return Ok(());
            }
        }
        self.release_births()?;
        self.give_up_following()?;
        self.cpu.note_program();
        let _ = self.memory.lift_all();
        self.forget_watches();
        self.threads.clear();
        self.departing.clear();
        self.forget_calls();
        self.notices
            .retain(|notice| notice.waiting_thread().is_none());
        // The thread that is left has the number of the process.
        let thread = ThreadId(self.process);
        let known = Thread::new(thread, State::Stopped);
        self.threads.insert(thread.0, known);
        self.feed(Input::Executed { thread })?;
        self.memory = crate::debuggee::open_memory(self.process)?;
        if self.origin == Origin::Attached {
            let failed = DebuggeeError::system("make the process that guards the text");
            self.memory.guard().map_err(failed)?;
        }
        self.prepare_image()?;
        self.announce(Notice::Executed {
            thread,
            path: self.program_path(),
        });
        Ok(())
    }

    /// The process is gone, and so are the threads that were making others.
    pub(crate) fn leave_at_end(&mut self) -> Result<(), DebuggeeError> {
        self.has_lost_threads = true;
        let thread = ThreadId(self.process);
        let left = self.leave_memory(Input::Ended { thread });
        left.and(self.release_births())
    }

    /// The program is gone, and `first` says what its first thread does: those
    /// that share its memory are stopped and let go.
    fn leave_memory(&mut self, first: Input) -> Result<(), DebuggeeError> {
        let (sharers, own): (Vec<&Thread>, Vec<&Thread>) =
            self.threads.values().partition(|known| known.silent);
        let (is_shared, had_threads) = (!sharers.is_empty(), own.len() > 1);
        if std::mem::take(&mut self.has_lost_threads) || had_threads {
            self.expect_orphans();
        }
        if !is_shared {
            return Ok(());
        }
        let was_switching = std::mem::replace(&mut self.is_switching, true);
        self.has_left_memory = true;
        let left = self
            .halt_sharers(first)
            .and_then(|()| self.let_sharers_go());
        self.has_left_memory = false;
        self.is_switching = was_switching;
        left
    }

    /// Forgets the threads of the program, and stops the others.
    fn halt_sharers(&mut self, first: Input) -> Result<(), DebuggeeError> {
        self.forget_calls();
        let own = self.threads.values().filter(|known| !known.silent);
        let own: Vec<ThreadId> = own.map(|known| known.id).collect();
        self.feed(first)?;
        for thread in own {
            self.forget_page_caller(thread);
            self.threads.remove(&thread.0);
            if thread.0 != self.process {
                self.feed(Input::Ended { thread })?;
            }
        }
        self.halt_everything()
    }

    fn let_sharers_go(&mut self) -> Result<(), DebuggeeError> {
        let mut standing = self.threads.values();
        let standing = standing.find(|known| known.state == State::Stopped && !known.inside_kernel);
        if let Some(thread) = standing.map(|known| known.id)
            && !self.watches.pages.is_empty()
            && !self.watches.pages.are_open()
        {
            self.open_pages(thread)?;
        }
        let lifted = self.memory.lift_all();
        self.put_back_and_let_go()?;
        lifted
    }

    /// Finds the processes that nobody has told of: juror traces them and does
    /// not know them. Of several debuggees, only the parent says whose one is,
    /// as long as there is one.
    fn expect_orphans(&mut self) {
        let tracer = nix::unistd::gettid().as_raw() as u32;
        let is_alone = stash::has_one_user();
        let orphans: Vec<u32> = process_status::all()
            .filter(|(id, status)| {
                let is_own = is_alone || status.parent == self.process;
                let followed = self.followed.as_ref().map(|(followed, _)| *followed);
                status.tracer == tracer
                    && is_own
                    && !self.knows(*id)
                    && !stash::is_template(*id)
                    && followed != Some(*id)
            })
            .map(|(id, _)| id)
            .collect();
        for orphan in orphans {
            self.expect_orphan(orphan);
        }
    }

    /// What the copies of the memory are made good with is about to be
    /// forgotten: lets all go that were made.
    fn release_births(&mut self) -> Result<(), DebuggeeError> {
        let was_switching = std::mem::replace(&mut self.is_switching, true);
        let mut released = Ok(());
        while let Some((&child, _)) = self.births.first_key_value() {
            let waits = stash::take(|thread| thread == child).map(|(_, status)| status);
            let status = match waits {
                Some(status) => Ok(status),
                None => kernel::wait_for(child),
            };
            released = released.and(match status {
                Ok(Status::Stopped { .. }) => self.take_in_birth(child),
                // It is gone.
                _ => match self.births.remove(&child) {
                    Some(birth) => self.let_parent_go(birth),
                    None => Ok(()),
                },
            });
        }
        self.is_switching = was_switching;
        released
    }
}
