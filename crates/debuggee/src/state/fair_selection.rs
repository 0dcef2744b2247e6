//! The order in which threads are polled for their statuses.

/// One status in this many is that of the next thread in order, if it has one.
/// Polling a thread without a status costs a tenth of an event.
const STATUSES_PER_POLL: u32 = 4;

/// The order in which threads are polled.
#[derive(Debug, Default)]
pub(crate) struct FairSelection {
    statuses: u32,
    /// The thread that was polled last.
    pub(crate) last: u32,
}

impl FairSelection {
    /// Counts a status; returns true if the next thread in order is to be
    /// polled.
    pub(crate) fn is_due(&mut self) -> bool {
        self.statuses = self.statuses.wrapping_add(1);
        self.statuses.is_multiple_of(STATUSES_PER_POLL)
    }
}
