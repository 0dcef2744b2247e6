//! The stops of one thread at its system calls: what each means, and which request lets the
//! thread go on.
//!
//! A thread stops at a call for one of two reasons. Either it was resumed up to its next call
//! (`PTRACE_SYSCALL`): then every call stops at its entry and its exit. Or the call is one of the
//! filter's ([`CallFilter`](crate::kernel::call_filter::CallFilter)): then it stops at its entry however
//! the thread was resumed, and at its exit if the thread is resumed from there up to a call. With
//! both, the kernel reports the entry twice, first the one that was requested.
//!
//! Pure. Invariant: with any filter, and any change of the needs while the thread is stopped, the
//! entries and exits of the needed calls are those that a thread would report that is always
//! resumed up to its next call.

/// The kernel's report of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryReport {
    /// The thread had been resumed up to its next call.
    Requested,
    /// The filter names the call.
    Filtered,
}

/// The stops that are needed of a thread when it goes on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CallNeeds {
    /// Every call stops.
    pub(crate) every: bool,
    /// The exit of the call at whose entry it stands.
    pub(crate) exit: bool,
}

/// The present system call of a thread, as far as its stops are concerned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CallState {
    /// Whether its entry has been seen, and its exit is to be seen.
    pub(crate) is_inside: bool,
    /// Whether the call at whose entry it stood was left for an injected one: it enters it again,
    /// which is not reported.
    pub(crate) reenters: bool,
    /// Whether it stands at the entry by the filter alone.
    is_at_filter: bool,
}

impl CallState {
    /// Takes a stop at an entry. Returns false if the entry has been seen before.
    pub(crate) fn enter(&mut self, report: EntryReport) -> bool {
        if report == EntryReport::Filtered && self.is_inside {
            return false;
        }
        self.is_inside = true;
        self.is_at_filter = report == EntryReport::Filtered;
        !std::mem::take(&mut self.reenters)
    }

    /// Takes a stop at an exit. Returns true if the entry had been seen.
    pub(crate) fn exit(&mut self) -> bool {
        self.is_at_filter = false;
        std::mem::take(&mut self.is_inside)
    }

    /// Leaves the call at whose entry the thread stands: it will enter it again.
    pub(crate) fn leave(&mut self) {
        *self = CallState {
            reenters: true,
            ..CallState::default()
        };
    }

    /// Returns true if the thread stands at an entry whose exit can be left out.
    pub(crate) fn is_at_filter(&self) -> bool {
        self.is_at_filter
    }

    /// Lets the thread go on. Returns true if it is resumed up to its next call.
    pub(crate) fn go_on(&mut self, needs: CallNeeds) -> bool {
        let needs_exit = needs.every || needs.exit;
        if std::mem::take(&mut self.is_at_filter) && !needs_exit {
            self.is_inside = false;
        }
        // An entry that is repeated must be seen, lest the next one be taken for it.
        self.is_inside || self.reenters || needs.every
    }
}

#[cfg(test)]
mod tests;
