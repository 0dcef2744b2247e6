//! The selected thread and frame, and the source that `list` has shown.

use juror_debuggee::ThreadId;
use juror_program::stack::frames::Frame;
use std::path::PathBuf;

/// The selection that commands refer to.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// The thread.
    pub thread: Option<ThreadId>,
    /// The innermost frames of its stack, as many as were asked for.
    pub frames: Option<Vec<Frame>>,
    /// Whether these are all frames of the stack.
    pub has_all_frames: bool,
    /// The selected frame.
    pub level: usize,
    /// The lines that `list` has shown last.
    pub listed: Option<Listed>,
    /// The line of a caller that the stop has shown because the innermost frame has no source.
    pub of_caller: Option<(PathBuf, u32)>,
}

impl Selection {
    /// Selects a thread, at its innermost frame.
    pub(crate) fn of_thread(thread: ThreadId) -> Selection {
        Selection {
            thread: Some(thread),
            ..Selection::default()
        }
    }
}

/// Lines of a file that were shown.
#[derive(Debug, Clone)]
pub(crate) struct Listed {
    /// The file.
    pub file: PathBuf,
    /// The first line.
    pub first: u32,
    /// The line after the last.
    pub next: u32,
}
