//! Keeping forked children until they are adopted.

use juror_stepping::{Input, Owner, ThreadId};

use super::{ForkChild, Forked};
use crate::debuggee::{Debuggee, open_memory};
use crate::error::{DebuggeeError, ignore_gone};
use crate::kernel;
use crate::memory::Memory;
use crate::processes::pending_forks::KeptFork;
use crate::state::stop_event::{ForkKind, StopEvent};
use crate::state::thread::{State, Thread};

impl Debuggee {
    /// Keeps a forked child, which is stopped and contains nothing of juror's.
    pub(crate) fn keep_forked_child(&mut self, child: u32, memory: Memory, kept: KeptFork) {
        self.host.cpu.restore_affinity_of_child(child);
        let fork_child = ForkChild::Forked(Box::new(Forked {
            memory,
            pages: self.watches.pages.for_fork(),
            inheritance: kept.inheritance,
        }));
        self.forks.children.0.insert(child, fork_child);
        self.queue_event(StopEvent::ChildAttached {
            process: child,
            parent: kept.parent,
            kind: ForkKind::Fork,
        });
    }

    /// Keeps a child that shared the memory and runs another program.
    pub(crate) fn keep_executed_child(&mut self, child: ThreadId) -> Result<(), DebuggeeError> {
        let known = self.threads.remove(&child.0);
        self.forget_page_caller(child);
        self.host.cpu.restore_affinity_of_child(child.0);
        self.feed(Input::Ended { thread: child })?;
        let Some(parent) = known.and_then(|known| known.vfork_parent) else {
            return ignore_gone(self.let_go(child.0, 0));
        };
        self.forks.children.0.insert(child.0, ForkChild::Executed);
        self.queue_event(StopEvent::ChildAttached {
            process: child.0,
            parent,
            kind: ForkKind::Vfork,
        });
        self.resume_parent(parent)
    }

    /// Takes a process that was reported by [`StopEvent::ChildAttached`] as
    /// another debuggee, whose thread waits. A forked one has all points but
    /// those of steps, and no watch. None if it has ended.
    pub fn adopt(&mut self, process: u32) -> Result<Option<Debuggee>, DebuggeeError> {
        let adopted = match self.forks.children.0.remove(&process) {
            None => return Ok(None),
            Some(ForkChild::Forked(inherited)) => self.adopt_forked(process, *inherited),
            Some(ForkChild::Executed) => self.adopt_executed(process),
            Some(ForkChild::Adopted(child)) => Ok(*child),
        };
        match adopted {
            // Killed meanwhile.
            Err(error) if error.is_end() => Ok(None),
            adopted => adopted.map(Some),
        }
    }

    /// Makes forked children debuggees now: the program of which they are
    /// copies is about to be gone.
    pub(crate) fn adopt_all_forked(&mut self) -> Result<(), DebuggeeError> {
        let is_forked =
            |(id, it): (&u32, &ForkChild)| matches!(it, ForkChild::Forked(_)).then_some(*id);
        let forked: Vec<u32> = self.forks.children.0.iter().filter_map(is_forked).collect();
        for process in forked {
            if let Some(child) = self.adopt(process)? {
                let adopted = ForkChild::Adopted(Box::new(child));
                self.forks.children.0.insert(process, adopted);
            }
        }
        Ok(())
    }

    fn adopt_forked(&self, process: u32, forked: Forked) -> Result<Debuggee, DebuggeeError> {
        let Forked {
            mut memory,
            pages,
            inheritance,
        } = forked;
        self.start_watchdog_if_attached(process, &mut memory)?;
        let mut child = self.new_child(process, memory);
        child.image.out_of_line = self.image.out_of_line.for_fork(|start| {
            let mut byte = [0];
            child.memory.read_raw(start, &mut byte).is_ok()
        });
        // Some may have been made since the fork.
        for (slot, code) in child.image.out_of_line.all_code() {
            child.memory.write_raw(slot, code)?;
        }
        child.image.take_modules_of(&self.image);
        let thread = child.add_standing(process)?;
        child.note_birth_in_call(thread);
        child.open_inherited_pages(thread, pages)?;
        for (address, owner, count, _) in self.driver.engine.inserts() {
            if owner == Owner::Step {
                continue;
            }
            for _ in 0..count {
                match child.insert(address, owner) {
                    // The child has no memory there.
                    Ok(()) | Err(DebuggeeError::Memory { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        for input in inheritance {
            child.feed(input)?;
        }
        Ok(child)
    }

    fn adopt_executed(&self, process: u32) -> Result<Debuggee, DebuggeeError> {
        let mut memory = open_memory(process)?;
        self.start_watchdog_if_attached(process, &mut memory)?;
        let mut child = self.new_child(process, memory);
        child.add_standing(process)?;
        child.prepare_image()?;
        Ok(child)
    }

    /// Returns a debuggee with the settings of this one, without threads.
    fn new_child(&self, process: u32, memory: Memory) -> Debuggee {
        let mut child = Debuggee::for_child(self, process, memory);
        child.image.is_seccomp_filtered = self.image.is_seccomp_filtered;
        child.system_calls = self.system_calls.clone();
        child.forks.policy = self.forks.policy;
        child.forks.are_caught = self.forks.are_caught;
        child.signals.policies = self.signals.policies.clone();
        child.life.group = self.life.group;
        child
    }

    fn add_standing(&mut self, process: u32) -> Result<ThreadId, DebuggeeError> {
        let thread = ThreadId(process);
        let mut leader = Thread::new(thread, State::Stopped);
        leader.awaits_resume = true;
        self.threads.insert(process, leader);
        self.feed(Input::Started { thread })?;
        Ok(thread)
    }

    fn start_watchdog_if_attached(
        &self,
        process: u32,
        memory: &mut Memory,
    ) -> Result<(), DebuggeeError> {
        if self.life.is_attached() {
            let failed = DebuggeeError::system("start the watchdog process");
            memory.start_watchdog(process).map_err(failed)?;
        }
        Ok(())
    }

    /// Kills the processes that were not adopted.
    pub(crate) fn kill_fork_children(&mut self) {
        for (process, fork_child) in std::mem::take(&mut self.forks.children).0 {
            match fork_child {
                ForkChild::Adopted(mut child) => drop(child.kill()),
                ForkChild::Forked(_) | ForkChild::Executed => kernel::abandon(process),
            }
        }
    }

    /// Releases the processes that were not adopted.
    pub(crate) fn detach_fork_children(&mut self) {
        for (process, fork_child) in std::mem::take(&mut self.forks.children).0 {
            let _ = match fork_child {
                ForkChild::Adopted(child) => child.detach(),
                ForkChild::Forked(_) | ForkChild::Executed => ignore_gone(self.let_go(process, 0)),
            };
        }
    }
}
