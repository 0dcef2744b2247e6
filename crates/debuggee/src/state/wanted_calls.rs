//! The system calls that are requested, and how they stop: by the filter of the program, or all.

use std::collections::BTreeSet;

use crate::kernel::call_filter::CallFilter;

/// A set of system calls, by their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum SystemCalls {
    /// No call.
    #[default]
    None,
    /// The calls with these numbers.
    Only(BTreeSet<u64>),
    /// Every call.
    All,
}

impl SystemCalls {
    /// Returns true if the set contains a call.
    pub fn contains(&self, number: u64) -> bool {
        match self {
            SystemCalls::None => false,
            SystemCalls::Only(numbers) => numbers.contains(&number),
            SystemCalls::All => true,
        }
    }

    /// Returns the union of two sets.
    fn joined(&self, other: &SystemCalls) -> SystemCalls {
        match (self, other) {
            (SystemCalls::All, _) | (_, SystemCalls::All) => SystemCalls::All,
            (SystemCalls::None, some) | (some, SystemCalls::None) => some.clone(),
            (SystemCalls::Only(some), SystemCalls::Only(others)) => {
                SystemCalls::Only(some.union(others).copied().collect())
            }
        }
    }

    /// Returns true if each call of the set is in another one, too.
    fn is_within(&self, others: &BTreeSet<u64>) -> bool {
        match self {
            SystemCalls::None => true,
            SystemCalls::Only(numbers) => numbers.is_subset(others),
            SystemCalls::All => false,
        }
    }
}

/// The reported calls, by requester, and how they stop.
#[derive(Debug, Clone, Default)]
pub(crate) struct WantedCalls {
    developer: SystemCalls,
    monitors: SystemCalls,
    /// The calls whose exit monitors need, now or later.
    monitored_exits: SystemCalls,
    /// The calls that the control of the threads needs.
    scheduled: SystemCalls,
    scheduled_exits: SystemCalls,
    /// The calls of the developer, the monitors and the control.
    pub(crate) all: SystemCalls,
    filter: Option<CallFilter>,
    /// Whether the program may refuse calls of the filter before they stop.
    is_filtered_by_program: bool,
    /// Why there is no filter, if there is a reason.
    refusal: Option<String>,
    /// Whether every call has to stop.
    needs_every: bool,
}

impl WantedCalls {
    /// Returns the wanted calls of a program that has this filter, or has none for a reason.
    pub(crate) fn with_filter(filter: Option<CallFilter>, refusal: Option<String>) -> WantedCalls {
        WantedCalls {
            filter,
            refusal,
            ..WantedCalls::default()
        }
    }

    /// Returns true if threads have to stop at every system call.
    #[inline]
    pub(crate) fn needs_every(&self) -> bool {
        self.needs_every
    }

    /// Returns the filter of the process.
    pub(crate) fn filter(&self) -> Option<&CallFilter> {
        self.filter.as_ref()
    }

    /// Returns true if the exit of a call is needed, seen from its entry: also if no present state
    /// needs it, since another thread may change that meanwhile.
    pub(crate) fn needs_exit(&self, number: u64) -> bool {
        self.monitored_exits.contains(number)
            || self.scheduled_exits.contains(number)
            || self.developer.contains(number)
            || installs_filter(number)
    }

    /// Returns true if the program has filters of its own.
    pub(crate) fn is_filtered_by_program(&self) -> bool {
        self.is_filtered_by_program
    }

    /// Notes that the program has a filter of its own.
    pub(crate) fn note_filter_of_program(&mut self) {
        self.is_filtered_by_program = true;
        self.join();
    }

    /// Sets the calls of the developer.
    pub(crate) fn set_developers(&mut self, calls: SystemCalls) {
        self.developer = calls;
        self.join();
    }

    /// Sets the calls that monitors need, and those whose exit they need now or later.
    pub(crate) fn set_monitors(&mut self, calls: SystemCalls, exits: SystemCalls) {
        self.monitors = calls;
        self.monitored_exits = exits;
        self.join();
    }

    /// Sets the calls that the control of the threads needs, and those whose exit it needs.
    pub(crate) fn set_scheduled(&mut self, calls: SystemCalls, exits: SystemCalls) {
        self.scheduled = calls;
        self.scheduled_exits = exits;
        self.join();
    }

    /// Returns whether the developer or a monitor needs a call.
    pub(crate) fn is_wanted(&self, number: u64) -> bool {
        self.developer.contains(number) || self.monitors.contains(number)
    }

    /// Returns whether the control of the threads alone needs calls, and the filter stops them.
    pub(crate) fn are_the_controls(&self) -> bool {
        let others = [&self.developer, &self.monitors];
        others.into_iter().all(|it| *it == SystemCalls::None)
            && self.filter.is_some()
            && !self.needs_every
    }

    /// Takes over the user's calls of `other`.
    pub(crate) fn take_developers(&mut self, other: &WantedCalls) {
        self.developer.clone_from(&other.developer);
        self.join();
    }

    fn join(&mut self) {
        let others = self.monitors.joined(&self.scheduled);
        self.all = self.developer.joined(&others);
        let is_covered = |filter: &CallFilter| self.all.is_within(&filter.calls);
        let is_filter_enough =
            self.filter.as_ref().is_some_and(is_covered) && !self.is_filtered_by_program;
        self.needs_every = self.all != SystemCalls::None && !is_filter_enough;
    }

    /// Returns how the requested calls stop, in words for the user.
    pub(crate) fn words(&self, is_memory_watched: bool) -> Option<String> {
        let every = |why: &str| Some(format!("every call stops: {why}"));
        match &self.filter {
            None => every(self.refusal.as_ref()?),
            Some(_) if is_memory_watched => every("memory is watched"),
            Some(_) if self.is_filtered_by_program => {
                every("the program filters its system calls itself")
            }
            Some(_) if self.needs_every => every("others than at the launch are needed"),
            Some(filter) if filter.costs_privileges => {
                Some("filter; programs that it executes get no privileges".to_owned())
            }
            Some(_) => Some("filter".to_owned()),
        }
    }
}

/// Returns true if a call may install a seccomp filter.
pub(crate) fn installs_filter(number: u64) -> bool {
    [libc::SYS_seccomp as u64, libc::SYS_prctl as u64].contains(&number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_calls_are_joined() {
        let only = |numbers: &[u64]| SystemCalls::Only(numbers.iter().copied().collect());
        for (first, second, both) in [
            (SystemCalls::None, SystemCalls::None, SystemCalls::None),
            (only(&[1]), SystemCalls::None, only(&[1])),
            (SystemCalls::None, only(&[2]), only(&[2])),
            (only(&[1, 3]), only(&[2, 3]), only(&[1, 2, 3])),
            (SystemCalls::All, only(&[2]), SystemCalls::All),
        ] {
            assert_eq!(first.joined(&second), both);
            assert_eq!(second.joined(&first), both);
        }
    }
}
