//! The life of the traced process: where it comes from, which phase it is in,
//! and what happens at its end.
//!
//! Invariant: a phase is left only for a later one, except that a process whose
//! memory has been left returns to the phase before, and that a debuggee that
//! becomes a fork child is alive again.

/// The origin of a debuggee, which decides what happens to it when juror is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// juror started it; it is killed with juror.
    Launched,
    /// It ran before; it continues without juror.
    Attached,
    /// It is a core file: there is no process.
    CoreFile,
}

/// The life of one traced process.
#[derive(Debug)]
pub(crate) struct Life {
    pub(crate) origin: Origin,
    phase: Phase,
    /// Whether all threads are being stopped. A vfork child that appears
    /// meanwhile stays stopped.
    pub(crate) run_state: RunState,
    /// The status of the first thread.
    pub(crate) leader: Leader,
    /// The end of the process group of a launched process.
    pub(crate) group: ProcessGroup,
}

/// A phase of a traced process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The threads of a restored process are being registered with the engine.
    /// A hit that was reported before the freeze is not reported again.
    Restoring,
    /// The process is alive and traced.
    Alive,
    /// The program has been replaced or has ended; the vfork children that
    /// share its memory are being stopped and detached.
    LeavingMemory,
    /// The process is being killed.
    BeingKilled,
    /// The process is being killed while every thread is stopped: no thread can
    /// have left an unreported child.
    BeingKilledStopped,
    /// juror is detaching from the process.
    BeingDetached,
    /// The process has ended, or juror has detached from it.
    Ended,
}

/// Whether the threads of a process are being stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunState {
    /// Threads run as they are resumed.
    Free,
    /// All threads are being stopped.
    Halting,
}

/// Whether the exit status of the first thread can be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leader {
    Traced,
    /// It had ended when juror attached: the status of the last thread stands
    /// for it.
    EndedBefore,
}

/// The fate of the remaining process group when a launched process is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProcessGroup {
    /// It is killed with the process.
    Killed,
    /// It is left alone: one of its processes was released on purpose.
    KeptFork,
}

impl Life {
    pub(crate) fn new(origin: Origin) -> Life {
        Life {
            origin,
            phase: Phase::Alive,
            run_state: RunState::Free,
            leader: Leader::Traced,
            group: ProcessGroup::Killed,
        }
    }

    /// Returns true if a kill extends to the process group.
    pub(crate) fn kills_group(&self) -> bool {
        self.origin == Origin::Launched && self.group == ProcessGroup::Killed
    }

    pub(crate) fn is_attached(&self) -> bool {
        self.origin == Origin::Attached
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.phase == Phase::Ended
    }

    pub(crate) fn is_phase(&self, phase: Phase) -> bool {
        self.phase == phase
    }

    pub(crate) fn is_halting(&self) -> bool {
        self.run_state == RunState::Halting
    }

    /// Enters a phase, unless the process has ended.
    pub(crate) fn enter(&mut self, phase: Phase) {
        if !self.has_ended() {
            self.phase = phase;
        }
    }

    pub(crate) fn end(&mut self) {
        self.phase = Phase::Ended;
    }

    /// Begins the life of another process in this debuggee.
    pub(crate) fn begin_again(&mut self) {
        self.phase = Phase::Alive;
        self.leader = Leader::Traced;
    }

    /// Enters [`Phase::LeavingMemory`]; returns the phase to return to.
    pub(crate) fn begin_leaving_memory(&mut self) -> Phase {
        let before = self.phase;
        self.enter(Phase::LeavingMemory);
        before
    }

    /// Returns to the phase before [`Phase::LeavingMemory`], unless the process
    /// has ended meanwhile.
    pub(crate) fn end_leaving_memory(&mut self, before: Phase) {
        self.enter(before);
    }

    /// Enters a phase in which the process is killed. Returns false if it has
    /// ended already.
    pub(crate) fn begin_kill(&mut self, phase: Phase) -> bool {
        if !self.is_phase(Phase::BeingKilledStopped) {
            self.enter(phase);
        }
        !self.has_ended()
    }
}
