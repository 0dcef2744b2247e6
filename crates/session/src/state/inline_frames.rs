//! Inlined calls that begin where a thread stands and that it has not entered.

use juror_debuggee::ThreadId;

/// Inlined calls that a thread has not entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unentered {
    /// Whose they are.
    pub thread: ThreadId,
    /// Where it stands, and they begin.
    pub pc: u64,
    /// How many, the innermost.
    pub count: usize,
}
