//! The names that the user has given to threads.

use juror_debuggee::ThreadId;
use rustc_hash::FxHashMap;

/// The names that a person has given to threads.
#[derive(Debug, Default)]
pub(crate) struct ThreadNames(pub(crate) FxHashMap<ThreadId, String>);

impl ThreadNames {
    /// The name of a thread: its own where the person has given it none.
    pub(crate) fn of(&self, thread: ThreadId, own: String) -> String {
        self.0.get(&thread).cloned().unwrap_or(own)
    }

    /// Nobody has these names any more.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
