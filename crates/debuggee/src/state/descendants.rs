//! The end of the processes that a program makes.

/// Whether the processes that a program makes, and theirs, outlive it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Descendants {
    /// They run on.
    #[default]
    RunOn,
    /// They are killed with it, and with juror. Its system calls must be filtered: by that they are
    /// known ([`Launch::call_stops`](crate::Launch::call_stops)).
    EndWithProgram,
}
