//! Following a child that the debuggee makes, in place of the debuggee itself.
//!
//! A forked child is a copy: what was planned for the parent (sites, copies of
//! instructions, modules) holds in it at the same addresses. So the parent is
//! let go as if juror detached from it, and this debuggee becomes the child.
//! A child that shares the memory (`vfork`) is followed from the moment it
//! runs a program of its own; until then the two are one.
//!
//! Invariant: one process is the debuggee at any time, and every other that
//! juror knew runs without a trace of it, unless both are followed: then the
//! child is a debuggee of its own (`offspring`).

use juror_stepping::{Input, ThreadId};

use crate::cpu::Cpu;
use crate::debuggee::{Debuggee, Origin};
use crate::error::DebuggeeError;
use crate::memory::Memory;
use crate::notice::Notice;
use crate::process_status;
use crate::thread::{State, Thread};

/// Which process stays the debuggee when it makes another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Follow {
    /// The one that made the other, which runs free.
    #[default]
    Parent,
    /// The new one; the one that made it runs free.
    Child,
    /// Both: the new one is another debuggee ([`Debuggee::adopt`]).
    Both,
}

impl Debuggee {
    /// Says which process stays the debuggee when it makes another.
    pub fn set_follow(&mut self, follow: Follow) {
        self.follow = follow;
    }

    /// Which process stays the debuggee when it makes another.
    pub fn follow(&self) -> Follow {
        self.follow
    }

    /// Whether the child that was just made is to become the debuggee.
    pub(crate) fn follows_child(&self) -> bool {
        self.follow == Follow::Child && !self.is_switching
    }

    /// Becomes a forked child, which stands at its first stop; false when it
    /// is gone.
    pub(crate) fn follow_forked(
        &mut self,
        child: u32,
        parent: ThreadId,
    ) -> Result<bool, DebuggeeError> {
        let path = process_status::file_of(child, child, "mem");
        // A child that is already gone cannot be followed.
        let Ok(mut memory) = Memory::open(&path) else {
            return Ok(false);
        };
        self.is_switching = true;
        let halted = self.halt_everything();
        self.is_switching = false;
        halted?;
        if self.origin == Origin::Attached {
            let failed = DebuggeeError::system("make the process that guards the text");
            memory.guard().map_err(failed)?;
        }
        // The child has the traps of the moment when it was made.
        self.memory.lift_all_in(&memory);
        for address in self.memory.planted() {
            memory.plant(address)?;
        }
        self.leave_process(memory, child)?;
        let thread = ThreadId(child);
        self.threads
            .insert(child, Thread::new(thread, State::Stopped));
        self.feed(Input::Started { thread })?;
        self.announce(Notice::Followed { thread, parent });
        Ok(true)
    }

    /// Becomes a child that shared the memory and runs another program now.
    pub(crate) fn follow_executed(&mut self, child: ThreadId) -> Result<(), DebuggeeError> {
        if let Some(known) = self.threads.get_mut(&child.0) {
            known.awaiting = true;
        }
        self.is_switching = true;
        let halted = self.halt_everything();
        self.is_switching = false;
        halted?;
        self.threads.remove(&child.0);
        self.feed(Input::Ended { thread: child })?;
        let memory = crate::debuggee::open_memory(child.0)?;
        self.leave_process(memory, child.0)
    }

    /// Lets the present process go, and is another from here on.
    fn leave_process(&mut self, memory: Memory, process: u32) -> Result<(), DebuggeeError> {
        let threads: Vec<u32> = self.threads.keys().copied().collect();
        if !self.has_ended {
            self.let_process_go()?;
        }
        for thread in threads {
            self.feed(Input::Ended {
                thread: ThreadId(thread),
            })?;
        }
        self.threads.clear();
        self.forget_calls();
        self.has_ended = false;
        self.leader_ended_before = false;
        self.notices.clear();
        self.announce(Notice::Left {
            process: self.process,
        });
        self.memory = memory;
        self.process = process;
        self.cpu = Cpu::new(self.cpu_policy(), process);
        Ok(())
    }
}
