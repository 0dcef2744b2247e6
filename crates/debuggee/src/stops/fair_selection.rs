//! Fair selection of the next status.
//!
//! The kernel reports the newest of several stopped threads first. If newer
//! threads come to sites without a pause, it would never report an older one: a
//! thread that waits for a lock in a loop with points would keep the owner of
//! the lock from releasing it. Invariant: the stop of a thread is handled after
//! a bounded number of others.

use crate::debuggee::Debuggee;
use crate::kernel::{self, Status};
use crate::state::thread::State;

impl Debuggee {
    /// Returns, once in a while, the status of the next thread in order; none
    /// if it has not stopped.
    pub(crate) fn poll_fairly(&mut self) -> Option<(u32, Status)> {
        if self.threads.len() < 2 {
            return None;
        }
        if !self.wait.selection.is_due() {
            return None;
        }
        let after = self.wait.selection.last.wrapping_add(1);
        let runs = |id: &u32| {
            self.threads
                .get(id)
                .is_some_and(|thread| thread.state == State::Running)
        };
        let later = self.threads.range(after..).map(|(id, _)| *id);
        let earlier = self.threads.range(..after).map(|(id, _)| *id);
        let id = later.chain(earlier).find(runs)?;
        self.wait.selection.last = id;
        let status = kernel::poll_for(id).ok().flatten()?;
        Some((id, status))
    }
}
