//! Whose status is taken next.
//!
//! Of several threads that have stopped, the kernel tells of the newest first.
//! Where newer threads come to sites without a pause, it would never come to an
//! older one: a thread that waits for a lock in a loop with points would keep
//! its owner from letting go of it. Invariant: a thread that has stopped is
//! taken in after a bounded number of others.

use crate::debuggee::Debuggee;
use crate::kernel::{self, Status};
use crate::thread::State;

/// One status in so many is that of the next thread in turn, if it has one. A
/// look at a thread that has none costs a tenth of an event.
const STATUSES_PER_POLL: u32 = 4;

/// The order of threads whose statuses are looked for by name.
#[derive(Debug, Default)]
pub(crate) struct FairSelection {
    statuses: u32,
    /// The thread that was looked at last.
    last: u32,
}

impl FairSelection {
    /// Counts a status; returns whether the next thread in turn is to be polled.
    fn is_due(&mut self) -> bool {
        self.statuses = self.statuses.wrapping_add(1);
        self.statuses.is_multiple_of(STATUSES_PER_POLL)
    }
}

impl Debuggee {
    /// Now and then, the status of the thread whose turn it is; none when it
    /// has not stopped.
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
