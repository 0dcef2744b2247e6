//! The order of the steps of making a checkpoint and of restoring it.
//!
//! Making: the read-only steps come first and the copy of the process last, so
//! that a failure leaves nothing behind. Restoring: everything that may be
//! refused is checked first; then the process, since nothing may write to a
//! file or a pipe that is being restored; then memory before pipes and files,
//! whose descriptors it does not need; timers last, so that little of their
//! time passes.
//!
//! Invariant: before [`Restoring::Process`] the present process is as it was,
//! and a failure is an error; after it there is no way back, and a failure is
//! reported as a loss.

/// The steps of making a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Making {
    /// All threads are stopped.
    Halt,
    /// The open files of the process.
    Descriptors,
    /// The memory that a copy shares.
    SharedMemory,
    /// The threads and the private memory.
    Process,
}

/// The steps of restoring one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restoring {
    /// The copy exists, and its number is free.
    Check,
    /// The present process is killed, and the old one exists again.
    Process,
    /// The memory that the copy shared.
    SharedMemory,
    /// The bytes in pipes.
    Pipes,
    /// Contents of files, offsets, flags, counters.
    Files,
    /// Timers that are descriptors.
    Timers,
}

impl Making {
    /// The first step.
    pub const FIRST: Making = Making::Halt;

    /// Returns the next step.
    pub fn next(self) -> Option<Making> {
        match self {
            Making::Halt => Some(Making::Descriptors),
            Making::Descriptors => Some(Making::SharedMemory),
            Making::SharedMemory => Some(Making::Process),
            Making::Process => None,
        }
    }
}

impl Restoring {
    /// The first step.
    pub const FIRST: Restoring = Restoring::Check;

    /// Returns the next step.
    pub fn next(self) -> Option<Restoring> {
        match self {
            Restoring::Check => Some(Restoring::Process),
            Restoring::Process => Some(Restoring::SharedMemory),
            Restoring::SharedMemory => Some(Restoring::Pipes),
            Restoring::Pipes => Some(Restoring::Files),
            Restoring::Files => Some(Restoring::Timers),
            Restoring::Timers => None,
        }
    }

    /// Returns true if the present process still exists when this step fails.
    pub fn is_revocable(self) -> bool {
        self == Restoring::Check
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_copies_the_process_last() {
        let steps: Vec<Making> =
            std::iter::successors(Some(Making::FIRST), |it| it.next()).collect();
        assert_eq!(steps.last(), Some(&Making::Process));
        assert_eq!(steps.len(), 4);
    }

    #[test]
    fn a_restore_asks_before_it_ends_anything() {
        let steps: Vec<Restoring> =
            std::iter::successors(Some(Restoring::FIRST), |it| it.next()).collect();
        let revocable = steps.iter().take_while(|step| step.is_revocable()).count();
        assert_eq!(steps[revocable], Restoring::Process);
        assert!(!steps[revocable..].iter().any(|step| step.is_revocable()));
        let place = |step| steps.iter().position(|&it| it == step).unwrap();
        assert!(place(Restoring::Files) < place(Restoring::Timers));
        assert!(place(Restoring::Process) < place(Restoring::Pipes));
    }
}
