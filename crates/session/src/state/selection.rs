//! The selected thread and frame, and the source that `list` has shown.

use juror_debuggee::ThreadId;
use juror_instrument::frames::Frame;
use std::path::PathBuf;

/// What commands speak of.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// The thread.
    pub thread: Option<ThreadId>,
    /// Its stack, read when it is first asked for.
    pub frames: Option<Vec<Frame>>,
    /// The selected frame.
    pub level: usize,
    /// What `list` has shown last.
    pub listed: Option<Listed>,
    /// The line of a caller's that the stop has shown: the innermost frame's source is not
    /// there.
    pub of_caller: Option<(PathBuf, u32)>,
}

/// Lines of a file that were shown.
#[derive(Debug, Clone)]
pub(crate) struct Listed {
    /// The file.
    pub file: PathBuf,
    /// The first of them.
    pub first: u32,
    /// The line behind them.
    pub next: u32,
}
