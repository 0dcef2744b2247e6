//! Ending all searches of this process.

use std::sync::atomic::{AtomicBool, Ordering};

static IS_CANCELLED: AtomicBool = AtomicBool::new(false);

/// Ends all searches of this process: runs that are being made end soon, and no others begin. For a
/// Ctrl-C. Returns whether they were ended before.
pub fn cancel() -> bool {
    IS_CANCELLED.swap(true, Ordering::Relaxed)
}

pub(crate) fn is_cancelled() -> bool {
    IS_CANCELLED.load(Ordering::Relaxed)
}
