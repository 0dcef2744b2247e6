//! Skipped inline frames: inlined calls that begin at the address of a thread and that it has not
//! entered.

use juror_debuggee::ThreadId;

/// The skipped inline frames of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SkippedFrames {
    /// The thread.
    pub thread: ThreadId,
    /// Its address, at which the calls begin.
    pub pc: u64,
    /// Their number, innermost first.
    pub count: usize,
}
