//! Following a child of the debuggee in place of the debuggee itself.
//!
//! A forked child is a copy: what was planned for the parent (sites,
//! out-of-line slots, modules) holds in it at the same addresses. So juror
//! detaches from the parent, and this debuggee, its engine and every layer
//! above it become the child. A child that shares the memory (`vfork`) is
//! followed from the moment it runs a program of its own; until then the two
//! are one.
//!
//! Invariant: one process is the debuggee at any time, and every other that
//! juror knew runs without a trace of it, unless both are followed: then the
//! child is a debuggee of its own (`fork_children`).

use juror_stepping::{Input, ThreadId};

use crate::debuggee::Debuggee;
use crate::error::{DebuggeeError, ignore_gone};
use crate::host::cpu::Cpu;
use crate::kernel::pending_stops;
use crate::kernel::process_status;
use crate::memory::Memory;
use crate::processes::forks::{Follow, Switch};
use crate::processes::pending_forks::ForkCopy;
use crate::state::life::Phase;
use crate::state::stop_event::StopEvent;
use crate::state::thread::{State, Thread};

impl Debuggee {
    /// Sets which process stays the debuggee when it makes another.
    pub fn set_follow(&mut self, follow: Follow) {
        self.forks.policy = follow;
    }

    /// Returns which process stays the debuggee when it makes another.
    pub fn follow(&self) -> Follow {
        self.forks.policy
    }

    /// Sets whether [`crate::StopEvent::Forking`] is reported for each process
    /// that is made from now on.
    pub fn catch_forks(&mut self, catch: bool) {
        self.forks.are_caught = catch;
    }

    /// Returns true if the child that was just made is to become the debuggee.
    pub(crate) fn follows_child(&self) -> bool {
        self.forks.policy == Follow::Child && self.may_follow()
    }

    /// Returns true if processes that are made now are to be debugged, too.
    /// Processes made inside a call that juror injects are not.
    pub(crate) fn follows_both(&self) -> bool {
        self.forks.policy == Follow::Both && self.may_follow() && self.calls.is_empty()
    }

    fn may_follow(&self) -> bool {
        self.forks.switch.is_none() && self.life.is_phase(Phase::Alive)
    }
}

impl Debuggee {
    /// Becomes a forked child, which is stopped at its first stop; returns
    /// false if it has ended. If another thread replaces the program meanwhile,
    /// the new program is released ([`Debuggee::follow_from_replaced`]).
    pub(crate) fn follow_forked(
        &mut self,
        child: u32,
        parent: ThreadId,
    ) -> Result<bool, DebuggeeError> {
        let path = process_status::file_of(child, child, "mem");
        // A child that is already gone cannot be followed.
        let Ok(memory) = Memory::open(&path) else {
            return Ok(false);
        };
        self.forks.switch = Switch::ToForked { child, memory };
        let halted = self.halt_everything();
        let switch = std::mem::take(&mut self.forks.switch);
        halted?;
        let Switch::ToForked { mut memory, .. } = switch else {
            return Ok(true);
        };
        if self.life.is_attached() {
            let failed = DebuggeeError::system("start the watchdog process");
            memory.start_watchdog(child).map_err(failed)?;
        }
        let watches = self.watches.for_fork();
        self.detach_unless_ended()?;
        let kept = None;
        self.forks.copies.insert(child, ForkCopy { memory, kept });
        let thread = ThreadId(child);
        self.feed(Input::ForkFollowed { thread })?;
        if let Some(copy) = self.forks.copies.remove(&child) {
            self.become_process(copy.memory, child);
        }
        self.threads
            .insert(child, Thread::new(thread, State::Stopped));
        self.note_birth_in_call(thread);
        self.rewatch(watches, thread)?;
        self.queue_event(StopEvent::ChildFollowed { thread, parent });
        Ok(true)
    }

    /// Releases the new program: the followed child has a copy of the replaced
    /// one, and no process has the old memory any more.
    fn detach_new_program(&mut self) -> Result<(), DebuggeeError> {
        let process = self.process;
        self.adopt_all_forked()?;
        self.host.cpu.restore_affinity(process);
        self.host.cpu.unshare();
        self.forget_watches();
        self.threads.clear();
        self.forget_calls();
        ignore_gone(self.let_go(process, 0))?;
        self.detach_fork_children();
        self.reap_departing();
        self.life.end();
        Ok(())
    }

    /// Handles a replaced program: a child of the old one that is to be
    /// followed is followed. Returns true if there is one.
    pub(crate) fn follow_from_replaced(&mut self) -> Result<bool, DebuggeeError> {
        if self.forks.switch.is_to_forked() {
            // `follow_forked`, which waits for all others to stop, continues.
            self.release_pending_forks()?;
            self.detach_new_program()?;
            return Ok(true);
        }
        if !self.follows_child() {
            return Ok(false);
        }
        let Some((child, parent)) = self.take_followable_fork() else {
            return Ok(false);
        };
        self.release_pending_forks()?;
        self.detach_new_program()?;
        self.follow_forked(child, parent)
    }

    /// Becomes a child that shared the memory and now runs another program.
    pub(crate) fn follow_executed(&mut self, child: ThreadId) -> Result<(), DebuggeeError> {
        if let Some(known) = self.threads.get_mut(&child.0) {
            known.awaits_resume = true;
            // It has another memory now.
            known.is_vfork_child = false;
        }
        self.forks.switch = Switch::ToExecuted { child: child.0 };
        let halted = self.halt_everything();
        self.forks.switch = Switch::None;
        halted?;
        self.threads.remove(&child.0);
        self.feed(Input::Ended { thread: child })?;
        let memory = crate::debuggee::open_memory(child.0)?;
        let threads: Vec<u32> = self.threads.keys().copied().collect();
        self.detach_unless_ended()?;
        for thread in threads {
            self.feed(Input::Ended {
                thread: ThreadId(thread),
            })?;
        }
        self.become_process(memory, child.0);
        Ok(())
    }

    fn detach_unless_ended(&mut self) -> Result<(), DebuggeeError> {
        if self.life.has_ended() {
            Ok(())
        } else {
            self.detach_process()
        }
    }

    /// Becomes another process.
    fn become_process(&mut self, memory: Memory, process: u32) {
        self.threads.clear();
        self.forget_calls();
        self.life.begin_again();
        self.wait.events.clear();
        self.queue_event(StopEvent::ParentDetached {
            process: self.process,
        });
        self.memory = memory;
        pending_stops::replace(self.process, process);
        self.process = process;
        self.forks.has_lost_threads = false;
        self.forks.has_made_processes = true;
        self.host.cpu = Cpu::new(self.cpu_policy(), process);
    }
}
