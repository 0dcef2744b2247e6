//! Handling new threads and processes, and their first stops.

use juror_stepping::{Input, ThreadId};

use super::{ForkCopy, KeptFork, PendingFork};
use crate::debuggee::Debuggee;
use crate::error::{DebuggeeError, gone_or, ignore_gone};
use crate::kernel::{self, Event};
use crate::memory::Memory;
use crate::state::life::{Phase, RunState};
use crate::state::stop_event::{ForkKind, StopEvent};
use crate::state::thread::{Motion, State, Thread};

impl Debuggee {
    /// Handles the creation of a thread or a process.
    pub(crate) fn handle_new_child(
        &mut self,
        parent: ThreadId,
        event: Event,
    ) -> Result<(), DebuggeeError> {
        let child = kernel::event_message(parent.0)
            .map_err(gone_or("read the id of a new thread", parent))?;
        if self.threads.contains_key(&child) || self.wait.departing.contains(&child) {
            // It has reported already.
        } else if event == Event::Clone && self.is_own_thread(child) {
            let thread = Thread::new(ThreadId(child), State::Starting);
            self.threads.insert(child, thread);
        } else if std::path::Path::new(&format!("/proc/{child}")).exists() {
            self.forks.has_made_processes = true;
            let is_vfork = event == Event::Vfork;
            let is_followed = self.follows_child() || self.follows_both();
            let pending_fork = PendingFork {
                is_vfork,
                parent,
                may_be_followed: is_vfork || is_followed,
                holds_parent: event == Event::Fork && is_followed,
            };
            self.forks.pending.insert(child, pending_fork);
        } else {
            // It has reported, run and ended before its parent's report of it.
            self.forks.has_made_processes |= event != Event::Clone;
        }
        if event == Event::Vfork {
            self.enter_vfork(parent)?;
        }
        let holds_parent = self.forks.hold_parent_of(child);
        if holds_parent {
            self.park(parent)?;
        }
        if holds_parent || event == Event::Vfork {
            let process = ThreadId(child);
            self.feed(Input::ForkMade { process, parent })?;
        }
        if self.is_fork_reported(parent, event) {
            return self.report_fork(parent, child, event);
        }
        match event {
            Event::Vfork => Ok(()),
            _ if holds_parent => Ok(()),
            // The step has been made, and its end comes next.
            _ if self.steps(parent) => self.set_in_motion(parent, Motion::Step),
            _ => self.continue_internally(parent),
        }
    }

    /// Forgets a new process that has ended before it was seen.
    pub(crate) fn forget_pending_fork(
        &mut self,
        child: u32,
        pending_fork: PendingFork,
    ) -> Result<(), DebuggeeError> {
        let thread = ThreadId(child);
        self.feed(Input::Ended { thread })?;
        self.resume_held_parent(pending_fork)
    }

    /// Continues the parent of a new process, if it was stopped for that: the
    /// process is not followed, has been reported, or has ended.
    pub(crate) fn resume_held_parent(
        &mut self,
        pending_fork: PendingFork,
    ) -> Result<(), DebuggeeError> {
        let thread = pending_fork.parent;
        if pending_fork.holds_parent {
            self.feed(Input::Unparked { thread })
        } else {
            Ok(())
        }
    }

    fn steps(&self, thread: ThreadId) -> bool {
        let known = self.threads.get(&thread.0);
        known.is_some_and(|known| known.motion == Motion::Step)
    }

    /// Parks a thread: it executes nothing before [`Input::Unparked`].
    pub(crate) fn park(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let address = self.engine_address(thread)?;
        if let Some(known) = self.threads.get_mut(&thread.0) {
            known.hold_requested = false;
            known.awaits_resume = false;
        }
        self.feed(Input::Parked { thread, address })
    }

    fn is_fork_reported(&self, parent: ThreadId, event: Event) -> bool {
        let is_own = self
            .threads
            .get(&parent.0)
            .is_some_and(|known| !known.is_vfork_child);
        self.forks.are_caught && is_own && event != Event::Clone
    }

    fn report_fork(
        &mut self,
        parent: ThreadId,
        child: u32,
        event: Event,
    ) -> Result<(), DebuggeeError> {
        let is_held = self.forks.hold_parent_of(child);
        let kind = match event {
            Event::Vfork => ForkKind::Vfork,
            _ => ForkKind::Fork,
        };
        if kind == ForkKind::Vfork || is_held {
            self.feed(Input::Halt { thread: parent })?
        } else {
            self.interrupt_engine(parent)?
        }
        self.queue_event(StopEvent::Forking {
            thread: parent,
            child,
            kind,
        });
        Ok(())
    }

    pub(crate) fn is_own_thread(&self, id: u32) -> bool {
        std::path::Path::new(&format!("/proc/{}/task/{id}", self.process)).exists()
    }

    fn enter_vfork(&mut self, parent: ThreadId) -> Result<(), DebuggeeError> {
        // Kept as this stop's, for requests while it waits.
        self.stop_registers(parent)?;
        if let Some(known) = self.threads.get_mut(&parent.0) {
            known.state = State::InVfork;
        }
        self.park(parent)?;
        ignore_gone(kernel::resume(parent.0, 0))
    }

    /// Handles the end of a `vfork`: the child has released the memory.
    pub(crate) fn handle_vfork_done(&mut self, parent: ThreadId) -> Result<(), DebuggeeError> {
        let has_child = |child: &Thread| child.vfork_parent == Some(parent);
        let is_followed = self.follows_child() || self.follows_both();
        if is_followed && self.threads.values().any(has_child) {
            // The child is starting another program, and is to be followed: its
            // parent does not run before that.
            return Ok(());
        }
        if !self.driver.engine.is_parked(parent) {
            // The wait began before juror attached.
            return self.continue_internally(parent);
        }
        self.feed(Input::Unparked { thread: parent })
    }

    /// Registers a process that a killed thread has made and did not report.
    pub(crate) fn add_unreported_fork(&mut self, child: u32, parent: ThreadId) {
        let pending_fork = PendingFork {
            is_vfork: false,
            parent,
            may_be_followed: true,
            holds_parent: false,
        };
        self.forks.pending.insert(child, pending_fork);
    }

    /// Returns whether a process has the memory of the program, also if the
    /// program has been replaced meanwhile; none if that is unknown.
    fn shares_memory(&self, child: u32) -> Option<bool> {
        if !self.life.is_phase(Phase::LeavingMemory) {
            return kernel::share_memory(self.process, child);
        }
        let vfork_children = self.threads.values().filter(|known| known.is_vfork_child);
        vfork_children
            .filter_map(|known| kernel::share_memory(known.id.0, child))
            .reduce(|first, second| first || second)
    }

    /// Handles the first stop of a new process.
    pub(crate) fn handle_fork_start(&mut self, child: u32) -> Result<(), DebuggeeError> {
        let Some(pending_fork) = self.forks.pending.remove(&child) else {
            return Ok(());
        };
        let shares = self.shares_memory(child).unwrap_or(pending_fork.is_vfork);
        let may_follow = !shares && pending_fork.may_be_followed;
        if may_follow && self.follows_child() && self.follow_forked(child, pending_fork.parent)? {
            return Ok(());
        }
        if !shares {
            self.release_gs(child);
            let process = ThreadId(child);
            // A child that has already ended needs nothing.
            let memory = Memory::open_stopped(child);
            let is_kept = may_follow && self.follows_both();
            let kept = is_kept.then(|| KeptFork {
                parent: pending_fork.parent,
                inheritance: self.driver.engine.inheritance(process).collect(),
            });
            if let Ok(memory) = memory {
                for gate in self.image.patches.gates() {
                    self.memory.restore_in(&memory, gate);
                }
                self.forks.copies.insert(child, ForkCopy { memory, kept });
            }
            self.feed(Input::ForkStopped { process })?;
            return self.resume_held_parent(pending_fork);
        }
        self.resume_held_parent(pending_fork)?;
        let thread = ThreadId(child);
        let mut known = Thread::new(thread, State::Stopped);
        known.is_vfork_child = true;
        known.vfork_parent = Some(pending_fork.parent);
        known.awaits_resume = self.life.is_halting();
        self.threads.insert(child, known);
        self.arm(thread)?;
        self.queue_event(StopEvent::Forked {
            child,
            kind: ForkKind::Vfork,
        });
        let parent = pending_fork.parent;
        self.feed(Input::StartedInPlace { thread, parent })?;
        if self.life.is_halting() {
            self.forks.made_halted.push(thread);
            return Ok(());
        }
        self.feed(Input::Resume { thread })
    }

    /// Releases a forked process that contains nothing of juror's any more, or
    /// keeps it until it is adopted.
    pub(crate) fn release_fork(&mut self, child: u32) -> Result<(), DebuggeeError> {
        if let Some(copy) = self.forks.copies.remove(&child)
            && let Some(kept) = copy.kept
        {
            self.keep_forked_child(child, copy.memory, kept);
            return Ok(());
        }
        self.host.cpu.restore_affinity(child);
        ignore_gone(self.let_go(child, 0))?;
        self.queue_event(StopEvent::Forked {
            child,
            kind: ForkKind::Fork,
        });
        Ok(())
    }

    /// Waits until a process that has been made is seen, with all threads
    /// halted. Returns the events about it ([`StopEvent::Forked`], or
    /// [`StopEvent::ParentDetached`] and [`StopEvent::ChildFollowed`]), ahead
    /// of other queued events; none if it has ended, or waits to be adopted.
    ///
    /// # Errors
    /// As [`Debuggee::wait`].
    pub fn await_fork(&mut self, child: u32) -> Result<Vec<StopEvent>, DebuggeeError> {
        self.life.run_state = RunState::Halting;
        while self.forks.pending.contains_key(&child) {
            let taken = self.wait_and_handle();
            if taken.is_err() {
                self.life.run_state = RunState::Free;
            }
            taken?;
        }
        self.life.run_state = RunState::Free;
        let is_meant = |event: &StopEvent| match event {
            StopEvent::Forked { child: of, .. } => *of == child,
            StopEvent::ParentDetached { .. } => true,
            StopEvent::ChildFollowed { thread, .. } => thread.0 == child,
            _ => false,
        };
        Ok(self.wait.take_matching(is_meant))
    }
}
