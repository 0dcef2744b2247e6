//! Which moments of threads come before which: vector clocks.

use crate::terms::ThreadPath;
use alloc::vec::Vec;

/// The part of each thread that comes before a moment, by the threads' numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Clock {
    counts: Vec<u32>,
}

impl Clock {
    pub(crate) fn of(&self, thread: usize) -> u32 {
        self.counts.get(thread).copied().unwrap_or(0)
    }

    /// All that comes before the other comes before this one, too.
    pub(crate) fn join(&mut self, other: &Clock) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (count, other) in self.counts.iter_mut().zip(&other.counts) {
            *count = (*count).max(*other);
        }
    }

    /// A single event comes before.
    pub(crate) fn set(&mut self, number: usize) {
        if self.of(number) == 0 {
            self.advance(number);
        }
    }

    /// A thread makes a step.
    fn advance(&mut self, thread: usize) {
        if self.counts.len() <= thread {
            self.counts.resize(thread + 1, 0);
        }
        if let Some(count) = self.counts.get_mut(thread) {
            *count = count.saturating_add(1);
        }
    }
}

/// The threads of an analysis, numbered in the order in which they are seen, with their clocks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Clocks {
    threads: Vec<(ThreadPath, Clock)>,
}

impl Clocks {
    /// Returns the number of a thread, which is new if it was not seen.
    pub(crate) fn number(&mut self, path: ThreadPath) -> usize {
        let found = self.threads.iter().position(|(known, _)| *known == path);
        found.unwrap_or_else(|| {
            let number = self.threads.len();
            let mut clock = Clock::default();
            clock.advance(number);
            self.threads.push((path, clock));
            number
        })
    }

    pub(crate) fn path(&self, number: usize) -> ThreadPath {
        let thread = self.threads.get(number);
        thread.map_or(ThreadPath::MAIN, |(path, _)| *path)
    }

    pub(crate) fn clock(&self, number: usize) -> Clock {
        let thread = self.threads.get(number);
        thread.map_or_else(Clock::default, |(_, clock)| clock.clone())
    }

    /// Returns a thread's own count.
    pub(crate) fn now(&self, number: usize) -> u32 {
        let thread = self.threads.get(number);
        thread.map_or(0, |(_, clock)| clock.of(number))
    }

    /// Returns true if the moment `count` of a thread comes before what another one does now.
    pub(crate) fn is_before(&self, (thread, count): (usize, u32), other: usize) -> bool {
        let clock = self.threads.get(other).map(|(_, clock)| clock);
        clock.is_some_and(|clock| clock.of(thread) >= count)
    }

    /// A thread learns all that comes before a moment.
    pub(crate) fn join(&mut self, number: usize, clock: &Clock) {
        if let Some((_, own)) = self.threads.get_mut(number) {
            own.join(clock);
        }
    }

    /// What a thread does from now on does not come before what others have learned of it.
    pub(crate) fn advance(&mut self, number: usize) {
        if let Some((_, own)) = self.threads.get_mut(number) {
            own.advance(number);
        }
    }

    /// A thread starts another one.
    pub(crate) fn start(&mut self, parent: ThreadPath, child: ThreadPath) {
        let (parent, child) = (self.number(parent), self.number(child));
        let clock = self.clock(parent);
        self.join(child, &clock);
        self.advance(parent);
    }

    /// A thread sees that another one has ended.
    pub(crate) fn end(&mut self, joiner: ThreadPath, ended: ThreadPath) {
        let (joiner, ended) = (self.number(joiner), self.number(ended));
        let clock = self.clock(ended);
        self.join(joiner, &clock);
        self.advance(joiner);
    }
}
