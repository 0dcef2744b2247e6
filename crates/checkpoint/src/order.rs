//! In which order a checkpoint is made and restored.
//!
//! Making: what is read only comes first and the copy of the process last, so
//! that a failure leaves nothing behind. Restoring: what may be refused is asked
//! first; then the process, since nobody may write to a file or a pipe that is
//! being put back; then memory before pipes and files, whose descriptors it
//! does not need; timers last, so that little of their time passes.
//!
//! Invariant: before [`Restoring::Process`] the present process is as it was,
//! and a failure is an error; after it there is no way back, and what fails is a
//! loss that is told.

/// The steps of making a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Making {
    /// All threads stand.
    Halt,
    /// What the process has open.
    Descriptors,
    /// The memory that a copy shares.
    SharedMemory,
    /// The threads and the private memory.
    Process,
}

/// The steps of restoring one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restoring {
    /// The copy is there, and its number is free.
    Check,
    /// The present process ends, and the old one is there.
    Process,
    /// The memory that the copy shared.
    SharedMemory,
    /// What waits in pipes.
    Pipes,
    /// Contents of files, offsets, flags, counters.
    Files,
    /// Timers that are descriptors.
    Timers,
}

impl Making {
    /// The first step.
    pub const FIRST: Making = Making::Halt;

    /// What comes after a step.
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

    /// What comes after a step.
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

    /// Whether the present process is still there when this step fails.
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
