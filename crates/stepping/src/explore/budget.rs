//! The number and the kinds of disturbances of a program.

/// The number of times that each disturbance may happen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Budget {
    pub(super) halts: u8,
    pub(super) steps: u8,
    pub(super) faults: u8,
    pub(super) signals: u8,
    /// Handlers that do not return to the code that they interrupted.
    pub(super) leaps: u8,
    pub(super) ends: u8,
    /// Removals and insertions of the monitor's point at I.
    pub(super) toggles: u8,
    /// Insertions of points at I: first a scenario's if there are two, then the
    /// user's.
    pub(super) inserts: u8,
    /// Calls of I by juror on a stopped thread.
    pub(super) evaluations: u8,
    /// Settings of the program counter by hand.
    pub(super) jumps: u8,
    /// Traps that cannot be inserted, since the memory is gone.
    pub(super) losses: u8,
    /// Replacements of the program.
    pub(super) execs: u8,
    /// Processes made with a copy of the memory, and with the same memory.
    pub(super) forks: u8,
    pub(super) vforks: u8,
    /// Requests for the patch at I, or for its removal.
    pub(super) patches: u8,
    /// Insertions and removals of the user's point at J, in its head.
    pub(super) inner: u8,
}

impl Budget {
    /// Returns the sum of two budgets.
    pub(super) fn plus(self, other: Budget) -> Budget {
        Budget {
            halts: self.halts + other.halts,
            steps: self.steps + other.steps,
            faults: self.faults + other.faults,
            signals: self.signals + other.signals,
            leaps: self.leaps + other.leaps,
            ends: self.ends + other.ends,
            toggles: self.toggles + other.toggles,
            inserts: self.inserts + other.inserts,
            evaluations: self.evaluations + other.evaluations,
            jumps: self.jumps + other.jumps,
            losses: self.losses + other.losses,
            execs: self.execs + other.execs,
            forks: self.forks + other.forks,
            vforks: self.vforks + other.vforks,
            patches: self.patches + other.patches,
            inner: self.inner + other.inner,
        }
    }
}
