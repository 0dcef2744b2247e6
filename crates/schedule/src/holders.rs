//! The locks that threads hold, and those that they want.
//!
//! Nothing here decides who runs: locks are words and futex calls for the machine. This is what
//! the program means by them, so that a deadlock can be told with its locks, and found while other
//! threads go on.

use crate::protocol::{LockMode, LockStep};
use crate::terms::ThreadPath;
use alloc::vec::Vec;

/// A lock that a thread holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Held {
    /// The lock.
    pub lock: u64,
    /// The thread.
    pub thread: ThreadPath,
    /// Whether other readers may hold it.
    pub is_shared: bool,
    /// The number of times that it was taken.
    pub count: u32,
    /// The number of the thread's points when it was taken.
    pub point: u64,
}

/// A lock that a thread wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wanted {
    /// The thread.
    pub thread: ThreadPath,
    /// The lock.
    pub lock: u64,
    /// Whether the thread wants it with other readers.
    pub is_shared: bool,
    /// Whether the thread gives up some day.
    pub is_timed: bool,
}

/// The locks that are held and wanted.
///
/// **Invariant:** both lists are sorted; a thread holds a lock at most once (with a count), and wants
/// at most one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Holders {
    held: Vec<Held>,
    wanted: Vec<Wanted>,
}

impl Holders {
    /// Makes a step of a thread that has reached `point` points.
    pub(crate) fn step(
        &mut self,
        (thread, point): (ThreadPath, u64),
        lock: u64,
        step: LockStep,
        mode: LockMode,
    ) {
        let is_shared = mode == LockMode::Shared;
        match step {
            LockStep::Wants { is_timed } => {
                self.forget_wish(thread);
                let wanted = Wanted {
                    thread,
                    lock,
                    is_shared,
                    is_timed,
                };
                insert_sorted(&mut self.wanted, wanted);
            }
            LockStep::GivesUp => self.forget_wish(thread),
            LockStep::Takes { .. } => {
                self.forget_wish(thread);
                self.take((thread, point), lock, is_shared);
            }
            LockStep::Drops => self.release(thread, lock),
        }
    }

    fn take(&mut self, (thread, point): (ThreadPath, u64), lock: u64, is_shared: bool) {
        let mut held = self.held.iter_mut();
        match held.find(|it| it.thread == thread && it.lock == lock) {
            Some(held) => held.count = held.count.saturating_add(1),
            None => {
                let held = Held {
                    lock,
                    thread,
                    is_shared,
                    count: 1,
                    point,
                };
                insert_sorted(&mut self.held, held);
            }
        }
    }

    /// Gives a lock back. Another thread than the one that took it may do that with a lock of the
    /// simplest kind.
    fn release(&mut self, thread: ThreadPath, lock: u64) {
        let mut of_lock = self.held.iter().filter(|held| held.lock == lock);
        let own = of_lock.clone().find(|held| held.thread == thread);
        let Some(giver) = own.or_else(|| of_lock.find(|held| !held.is_shared)) else {
            return;
        };
        let taker = giver.thread;
        self.held.retain_mut(|held| {
            let is_it = held.thread == taker && held.lock == lock;
            held.count -= u32::from(is_it);
            held.count != 0
        });
    }

    /// Forgets what a thread wants.
    pub(crate) fn forget_wish(&mut self, thread: ThreadPath) {
        self.wanted.retain(|wanted| wanted.thread != thread);
    }

    /// Returns what is held, by lock.
    pub fn held(&self) -> &[Held] {
        &self.held
    }

    #[cfg(test)]
    pub(crate) fn held_mut(&mut self) -> &mut [Held] {
        &mut self.held
    }

    /// Returns what is wanted, by thread.
    pub fn wanted(&self) -> &[Wanted] {
        &self.wanted
    }

    /// Returns what a thread wants.
    pub fn wish_of(&self, thread: ThreadPath) -> Option<&Wanted> {
        self.wanted.iter().find(|wanted| wanted.thread == thread)
    }

    /// Returns those who hold a lock so that a wish must wait for each of them.
    pub fn holders_against<'a>(&'a self, wanted: &'a Wanted) -> impl Iterator<Item = &'a Held> {
        let begin = self.held.partition_point(|held| held.lock < wanted.lock);
        let held = self.held.get(begin..).unwrap_or_default().iter();
        held.take_while(|held| held.lock == wanted.lock)
            .filter(|held| !(held.is_shared && wanted.is_shared))
    }
}

fn insert_sorted<T: Ord>(values: &mut Vec<T>, value: T) {
    let place = values.partition_point(|other| *other < value);
    values.insert(place, value);
}
