//! The remains of a program that was replaced (`exec`), or has ended.
//!
//! The kernel ends the threads of a program at any moment. A thread that was
//! just making a process may not come to report it: the process is then
//! stopped, traced and with juror's traps in its memory. It is searched for
//! when the thread stops for the last time, since later its parent is unknown.
//! And a process that shares the memory (`vfork`) keeps it when another thread
//! replaces the program; it may stand at a trap, in a slot, or be held for a
//! thread that is gone.
//!
//! Invariant: before juror handles the new program, or reports the end, each of
//! these processes stands in the original program, has no trap ahead, and is
//! released, or is a debuggee of its own. A child that was to be followed in
//! place of a program that is replaced is followed; in place of a process that
//! has ended, too. `docs/design/processes.md` describes the cases.

use juror_arch::Registers;
use juror_stepping::{Input, ThreadId};

use crate::debuggee::Debuggee;
use crate::error::{DebuggeeError, ignore_gone};
use crate::kernel::pending_stops;
use crate::kernel::process_status;
use crate::kernel::{self, Status};
use crate::processes::forks::Switch;
use crate::processes::pending_forks::PendingFork;
use crate::state::life::Phase;
use crate::state::stop_event::{StopEvent, SystemCallPhase};
use crate::state::thread::{State, Thread};

impl Debuggee {
    /// Handles an `exec` of a thread.
    pub(crate) fn handle_exec(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let known = self.threads.get(&thread.0);
        if known.is_some_and(|known| known.is_vfork_child) {
            if self.follows_both() {
                return self.keep_executed_child(thread);
            }
            if !self.follows_child() {
                let parent = known.and_then(|known| known.vfork_parent);
                self.threads.remove(&thread.0);
                self.forget_page_caller(thread);
                self.host.cpu.restore_affinity(thread.0);
                self.feed(Input::Ended { thread })?;
                ignore_gone(self.let_go(thread.0, 0))?;
                return parent.map_or(Ok(()), |parent| self.resume_parent(parent));
            }
            self.follow_executed(thread)?;
        } else {
            let thread = ThreadId(self.process);
            // It is stopped, whatever it does in the new program.
            self.leave_memory(Input::Interrupted { thread, address: 0 })?;
            if self.life.has_ended() || self.follow_from_replaced()? {
                return Ok(());
            }
        }
        self.release_pending_forks()?;
        self.adopt_all_forked()?;
        self.host.cpu.note_exec();
        let _ = self.memory.remove_all_traps();
        self.forget_watches();
        self.threads.clear();
        self.wait.departing.clear();
        self.forget_calls();
        self.wait.drop_thread_events();
        // The thread that is left has the number of the process.
        let thread = ThreadId(self.process);
        let known = Thread::new(thread, State::Stopped);
        self.threads.insert(thread.0, known);
        let registers = self.stop_registers(thread)?.shown;
        self.feed(Input::Executed { thread })?;
        self.memory = crate::debuggee::open_memory(self.process)?;
        if self.life.is_attached() {
            let failed = DebuggeeError::system("start the watchdog process");
            self.memory.start_watchdog(self.process).map_err(failed)?;
        }
        self.prepare_image()?;
        self.queue_event(StopEvent::Executed {
            thread,
            path: self.program_path(),
        });
        // juror's own calls, by which it has prepared the new program, have taken the thread
        // out of the call that replaced the old one.
        if self.system_calls.all.contains(registers.system_call()) {
            if let Some(known) = self.threads.get_mut(&thread.0) {
                known.exec_exit_reported = true;
            }
            self.queue_event(StopEvent::SystemCall {
                thread,
                number: registers.system_call(),
                phase: SystemCallPhase::Exit {
                    result: registers.result() as i64,
                },
            });
        }
        Ok(())
    }

    /// Handles the end of the process, and so of the threads that were making
    /// others. Returns true if a process that it made is followed in its place.
    pub(crate) fn leave_at_end(&mut self) -> Result<bool, DebuggeeError> {
        self.forks.has_lost_threads = !self.life.is_phase(Phase::BeingKilledStopped);
        let thread = ThreadId(self.process);
        let left = self.leave_memory(Input::Ended { thread });
        let followed_fork = if self.follows_child() {
            self.take_followable_fork()
        } else {
            None
        };
        left.and(self.release_pending_forks())?;
        self.life.end();
        match followed_fork {
            Some((child, parent)) => self.follow_forked(child, parent),
            None => Ok(false),
        }
    }

    /// Takes the first of the forked processes that have not been seen yet,
    /// with the thread that made it.
    pub(crate) fn take_followable_fork(&mut self) -> Option<(u32, ThreadId)> {
        let unseen: Vec<u32> = self.forks.pending.keys().copied().collect();
        for child in unseen {
            let is_followable_fork = self
                .forks
                .pending
                .get(&child)
                .is_some_and(PendingFork::is_followable_fork);
            if is_followable_fork && matches!(first_status(child), Ok(Status::Stopped { .. })) {
                let pending_fork = self.forks.pending.remove(&child)?;
                return Some((child, pending_fork.parent()));
            }
        }
        None
    }

    /// Stops and releases the processes that share the memory of a program that
    /// is gone; `first` is the input about its first thread.
    fn leave_memory(&mut self, first: Input) -> Result<(), DebuggeeError> {
        let (vfork_children, own): (Vec<&Thread>, Vec<&Thread>) = self
            .threads
            .values()
            .partition(|known| known.is_vfork_child);
        // A child that has not been seen yet executes the same code, too.
        let is_shared = !vfork_children.is_empty() || self.forks.have_pending_vfork();
        let had_threads = own.len() > 1;
        let has_lost = std::mem::take(&mut self.forks.has_lost_threads) || had_threads;
        // Stopped threads made nothing.
        if has_lost && !self.life.is_phase(Phase::BeingKilledStopped) {
            self.find_unreported_forks();
        }
        if !is_shared {
            return Ok(());
        }
        let phase = self.life.begin_leaving_memory();
        let left = self
            .halt_vfork_children(first)
            .and_then(|()| self.detach_vfork_children());
        self.life.end_leaving_memory(phase);
        left
    }

    /// Forgets the threads of the program, and stops the others.
    fn halt_vfork_children(&mut self, first: Input) -> Result<(), DebuggeeError> {
        self.forget_calls();
        let own = self.threads.values().filter(|known| !known.is_vfork_child);
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

    fn detach_vfork_children(&mut self) -> Result<(), DebuggeeError> {
        let mut standing = self.threads.values();
        let standing = standing.find(|known| known.state == State::Stopped && !known.inside_kernel);
        if let Some(thread) = standing.map(|known| known.id)
            && !self.watches.pages.is_empty()
            && !self.watches.pages.are_open()
        {
            self.open_pages(thread)?;
        }
        let removed = self.memory.remove_all_traps();
        self.restore_and_detach_threads()?;
        removed
    }

    /// Finds the processes that were never reported: juror traces them and does
    /// not know them. Of several debuggees, the one that has made a process is
    /// known only by its parent, as long as the parent exists.
    fn find_unreported_forks(&mut self) {
        let is_alone = pending_stops::has_one_debuggee();
        let process = self.process;
        for tracee in self.unknown_tracees(|parent| is_alone || parent == process) {
            self.add_unreported_fork(tracee, ThreadId(process));
        }
    }

    /// Finds the processes of a thread that stops for the last time. If it was
    /// killed inside a call that makes a process, the process is registered as
    /// its child.
    pub(crate) fn find_unreported_forks_of(
        &mut self,
        thread: ThreadId,
    ) -> Result<(), DebuggeeError> {
        let makes = |call| {
            [
                libc::SYS_fork,
                libc::SYS_vfork,
                libc::SYS_clone,
                libc::SYS_clone3,
            ]
            .contains(&call)
        };
        let is_making = kernel::registers(thread.0)
            .is_ok_and(|registers| makes(registers.system_call() as i64));
        if !is_making {
            return Ok(());
        }
        let known = self.threads.get(&thread.0);
        let maker = if known.is_some_and(|known| known.is_vfork_child) {
            thread.0
        } else {
            self.process
        };
        for tracee in self.unknown_tracees(|parent| parent == maker) {
            self.add_unreported_fork(tracee, thread);
        }
        self.match_forks_by_stack(thread)
    }

    /// Distinguishes threads that die in such calls at the same time by their
    /// stacks, of which a forked process has a copy: a child has the registers
    /// of its parent.
    fn match_forks_by_stack(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let Ok(own) = kernel::registers(thread.0) else {
            return Ok(());
        };
        let unseen: Vec<u32> = self.forks.pending.keys().copied().collect();
        for child in unseen {
            if !self
                .forks
                .pending
                .get(&child)
                .is_some_and(PendingFork::is_unreported)
            {
                continue;
            }
            let Ok(status) = first_status(child) else {
                continue;
            };
            pending_stops::put(child, status);
            let is_copy = |of: Registers| {
                let place = |it: &Registers| {
                    (
                        it.stack_pointer(),
                        it.instruction_pointer(),
                        it.thread_base(),
                    )
                };
                place(&of) == place(&own)
            };
            if !kernel::registers(child).is_ok_and(is_copy) {
                continue;
            }
            self.add_unreported_fork(child, thread);
            self.park(thread)?;
            let process = ThreadId(child);
            self.feed(Input::ForkMade {
                process,
                parent: thread,
            })?;
        }
        Ok(())
    }

    /// Returns the processes that juror traces and does not know, by their
    /// parents.
    fn unknown_tracees(&self, is_own: impl Fn(u32) -> bool) -> Vec<u32> {
        let tracer = nix::unistd::gettid().as_raw() as u32;
        let followed = self.forks.switch.child();
        let is_known = |id: u32| {
            self.knows(id)
                || pending_stops::is_debuggee(id)
                || pending_stops::is_template(id)
                || followed == Some(id)
        };
        process_status::all()
            .filter(|(id, status)| {
                status.tracer == tracer && is_own(status.parent) && !is_known(*id)
            })
            .map(|(id, _)| id)
            .collect()
    }

    /// Releases all forked processes, unless they are to be debugged, too: the
    /// record of where their traps are is about to be forgotten.
    pub(crate) fn release_pending_forks(&mut self) -> Result<(), DebuggeeError> {
        let declines = self.forks.switch.is_none() && !self.follows_both();
        if declines {
            self.forks.switch = Switch::Declining;
        }
        let mut released = Ok(());
        while let Some((&child, _)) = self.forks.pending.first_key_value() {
            let status = first_status(child);
            released = released.and(match status {
                Ok(Status::Stopped { .. }) => self.handle_fork_start(child),
                // It has ended.
                _ => match self.forks.pending.remove(&child) {
                    Some(pending_fork) => self.forget_pending_fork(child, pending_fork),
                    None => Ok(()),
                },
            });
        }
        if declines {
            self.forks.switch = Switch::None;
        }
        released
    }
}

/// Returns the first status of a new process, which comes soon.
fn first_status(child: u32) -> kernel::Outcome<Status> {
    match pending_stops::take(|thread| thread == child) {
        Some((_, status)) => Ok(status),
        None => kernel::wait_for(child),
    }
}
