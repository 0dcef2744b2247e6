//! The control of a copy of the program, which goes the same way from there.
//!
//! A copy must be told the same by the kernel as the program: so the inputs are fed. Between two
//! orders nothing is under way, and the state of the control is that of the run.

use super::Control;
use crate::input::Inputs;
use juror_debuggee::ThreadId;
use rustc_hash::FxHashSet;
use std::hash::BuildHasher;

/// The numbers of the threads, before and now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbers<'a>(&'a [(ThreadId, ThreadId)]);

impl<'a> Numbers<'a> {
    pub(crate) fn new(pairs: &'a [(ThreadId, ThreadId)]) -> Numbers<'a> {
        Numbers(pairs)
    }

    pub(crate) fn pairs(self) -> &'a [(ThreadId, ThreadId)] {
        self.0
    }

    /// Returns the present number of a thread; none if it has ended.
    pub(crate) fn of(self, thread: ThreadId) -> Option<ThreadId> {
        let found = self.0.iter().find(|(then, _)| *then == thread);
        found.map(|(_, now)| *now)
    }

    /// Gives the entries of threads the present numbers.
    pub(crate) fn keys<V, S: BuildHasher + Default>(
        self,
        map: &mut std::collections::HashMap<ThreadId, V, S>,
    ) {
        let entries = std::mem::take(map).into_iter();
        *map = entries
            .filter_map(|(thread, value)| Some((self.of(thread)?, value)))
            .collect();
    }

    pub(crate) fn set(self, threads: &FxHashSet<ThreadId>) -> FxHashSet<ThreadId> {
        let present = threads.iter().filter_map(|thread| self.of(*thread));
        present.collect()
    }
}

impl Control {
    /// Returns the control of a copy of the program as it is now.
    pub(super) fn copied(&self) -> Option<Control> {
        let Inputs::Fed(feeder) = &self.inputs else {
            return None;
        };
        let is_quiet = self.orders.is_empty()
            && self.told.is_empty()
            && self.held.is_empty()
            && self.stands.is_none()
            && self.diverged.is_none()
            && self.threads.maker.is_none()
            && feeder.substituted.is_empty()
            && !self.is_stopping
            && !self.is_ending;
        if !is_quiet {
            return None;
        }
        Some(Control {
            // A run that is fed has none.
            own_calls: None,
            scheduler: self.scheduler.clone(),
            orders: self.orders.clone(),
            sites: self.sites.clone(),
            returns: self.returns.clone(),
            threads: self.threads.clone(),
            has_accesses: self.has_accesses,
            diverged: self.diverged,
            time: self.time,
            until: self.until,
            lock_order: self.lock_order.clone(),
            last_spurious: self.last_spurious,
            held: self.held.clone(),
            told: self.told.clone(),
            seen: self.seen,
            spins: self.spins.clone(),
            last_words: self.last_words,
            keys: self.keys.clone(),
            silence: self.silence.clone(),
            communication: self.communication.clone(),
            outside: self.outside.clone(),
            looked_at: self.looked_at,
            inherited: self.inherited.clone(),
            waited_for_itself: self.waited_for_itself,
            stands: self.stands,
            inputs: Inputs::Fed(feeder.clone()),
            inputs_made: self.inputs_made,
            started: self.started.clone(),
            signals: self.signals.clone(),
            is_stopping: self.is_stopping,
            is_ending: self.is_ending,
        })
    }

    /// The threads have other numbers.
    pub(super) fn renumber_threads(&mut self, numbers: Numbers<'_>) {
        self.scheduler.renumber(|thread| {
            let now = numbers.of(ThreadId(thread.0))?;
            Some(juror_schedule::ThreadId(now.0))
        });
        self.threads.renumber(numbers);
        self.spins.renumber(numbers);
        self.keys.renumber(numbers);
        self.communication.renumber(numbers);
        self.signals.renumber(numbers);
        self.seen = None;
        // Ended threads keep their places, by which threads are numbered.
        for thread in &mut self.started {
            *thread = numbers.of(*thread).unwrap_or(ThreadId(0));
        }
        if let Inputs::Fed(feeder) = &mut self.inputs {
            numbers.keys(&mut feeder.substituted);
            numbers.keys(&mut feeder.returned);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_have_ended_have_no_number() {
        let thread = ThreadId;
        let pairs = [(thread(10), thread(11)), (thread(11), thread(12))];
        let numbers = Numbers::new(&pairs);
        let mut map: rustc_hash::FxHashMap<ThreadId, u8> =
            [(thread(10), 1), (thread(11), 2), (thread(12), 3)]
                .into_iter()
                .collect();
        numbers.keys(&mut map);
        let expected = [(thread(11), 1), (thread(12), 2)].into_iter().collect();
        assert_eq!(map, expected);
        assert_eq!(numbers.of(thread(12)), None);
        let set = [thread(12), thread(11)].into_iter().collect();
        assert_eq!(numbers.set(&set), [thread(12)].into_iter().collect());
    }
}
