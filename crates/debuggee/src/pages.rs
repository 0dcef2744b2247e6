//! Watching by page protection.

use std::collections::BTreeMap;

use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;
use crate::watch::WatchTier;

/// Length of a page in bytes.
pub(crate) const PAGE_LENGTH: u64 = 4096;

/// The protected pages.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    #[allow(dead_code)]
    pages: BTreeMap<u64, i32>,
}

impl Pages {
    /// Whether a system call is under way for which they are accessible.
    pub(crate) fn are_open(&self) -> bool {
        false
    }
}

impl Debuggee {
    pub(crate) fn arrange_pages(&mut self) -> Result<(), DebuggeeError> {
        for watch in &mut self.watches.list {
            if watch.tier == WatchTier::Page {
                watch.tier = WatchTier::Stepping;
            }
        }
        Ok(())
    }
}

/// The start of the page that holds an address.
pub(crate) fn page_of(address: u64) -> u64 {
    address & !(PAGE_LENGTH - 1)
}

/// The end of the last page of what ends at `end`.
pub(crate) fn page_end(end: u64) -> u64 {
    page_of(end.saturating_add(PAGE_LENGTH - 1))
}
