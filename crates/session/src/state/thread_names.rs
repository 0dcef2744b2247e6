//! The names that the user has given to threads.

use juror_debuggee::ThreadId;
use rustc_hash::FxHashMap;

/// The names that the user has given to threads.
#[derive(Debug, Default)]
pub(crate) struct ThreadNames(pub(crate) FxHashMap<ThreadId, String>);

impl ThreadNames {
    /// Returns the name of a thread: the user's, or else its own.
    pub(crate) fn of(&self, thread: ThreadId, own: String) -> String {
        self.0.get(&thread).cloned().unwrap_or(own)
    }

    /// Removes all names.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
