//! The threads that wait for words, first come first served at each word.

use crate::terms::ThreadPath;
use alloc::vec::Vec;

/// A thread that waits for a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Waiter {
    pub(crate) address: u64,
    pub(crate) thread: ThreadPath,
    /// Which wakes concern it.
    pub(crate) mask: u32,
    /// Whether it waits for a priority-inheritance lock.
    pub(crate) is_pi: bool,
}

/// The queues of all words.
///
/// **Invariant:** they are sorted by address, and in the order of arrival at each. So equal queues
/// are equal values. A thread is in one of them, unless it waits for several words at once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Queues {
    waiters: Vec<Waiter>,
}

impl Queues {
    /// Puts a thread behind all that wait for its word.
    pub(crate) fn add(&mut self, waiter: Waiter) {
        let behind = self
            .waiters
            .partition_point(|other| other.address <= waiter.address);
        self.waiters.insert(behind, waiter);
    }

    /// Returns those that wait for a word, in order.
    pub(crate) fn at(&self, address: u64) -> &[Waiter] {
        let begin = self.waiters.partition_point(|it| it.address < address);
        let end = self.waiters.partition_point(|it| it.address <= address);
        self.waiters.get(begin..end).unwrap_or_default()
    }

    /// Returns the words of locks with priority inheritance, each once.
    pub(crate) fn inherited_words(&self) -> Vec<u64> {
        let waiters = self.waiters.iter().filter(|waiter| waiter.is_pi);
        let mut words: Vec<u64> = waiters.map(|waiter| waiter.address).collect();
        words.dedup();
        words
    }

    /// Removes a thread from all of them.
    pub(crate) fn remove(&mut self, thread: ThreadPath) {
        self.waiters.retain(|waiter| waiter.thread != thread);
    }

    /// Lets a thread wait for another word, behind those that do already.
    pub(crate) fn requeue(&mut self, thread: ThreadPath, from: u64, to: u64) {
        let mut waiters = self.waiters.iter();
        let found = waiters.position(|it| (it.thread, it.address) == (thread, from));
        if let Some(index) = found {
            let waiter = self.waiters.remove(index);
            self.add(Waiter {
                address: to,
                ..waiter
            });
        }
    }
}
