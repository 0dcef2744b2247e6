//! The graph of threads that wait for one another, and its cycles.
//!
//! A thread waits for another if that one holds the lock it wants, or if it waits for the word
//! that the kernel clears when the other ends. All of those it waits for must act, so a circle is
//! enough: each thread in it waits for ever, whatever others do. Timed waits are no part of one.

use crate::holders::Holders;
use crate::rule::Rule;
use crate::task::{State, Task};
use crate::terms::ThreadPath;
use alloc::vec;
use alloc::vec::Vec;

/// An edge of the graph: a thread waits for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WaitsFor {
    /// The thread that waits.
    pub thread: ThreadPath,
    /// The lock that it wants; none if it waits for the other's end.
    pub lock: Option<u64>,
    /// The thread that it waits for.
    pub other: ThreadPath,
    /// Whether that one has ended, and will never give the lock back.
    pub is_orphaned: bool,
}

/// Threads that wait for one another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Deadlock {
    /// The circle: each waits for the next, and the last for the first. One alone waits for a
    /// lock that an ended thread holds, or for itself.
    pub circle: Vec<WaitsFor>,
}

/// Finds whom threads wait for.
pub(crate) struct Graph<'a> {
    pub(crate) tasks: &'a [Task],
    pub(crate) holders: &'a Holders,
    pub(crate) dropped: Option<Rule>,
}

impl Graph<'_> {
    fn task(&self, path: ThreadPath) -> Option<&Task> {
        let index = self.tasks.binary_search_by_key(&path, |task| task.path);
        index.ok().and_then(|index| self.tasks.get(index))
    }

    /// Returns whom a thread waits for, for ever if they do nothing.
    pub(crate) fn waits_for(&self, path: ThreadPath) -> Vec<WaitsFor> {
        let drops = |rule| self.dropped == Some(rule);
        let State::Waits {
            address, deadline, ..
        } = self.task(path).map_or(State::Running, |task| task.state)
        else {
            return Vec::new();
        };
        if deadline.is_some() && !drops(Rule::TimedWaitsEnd) {
            return Vec::new();
        }
        let wish = self.holders.wish_of(path);
        let is_endless = |timed: bool| !timed || drops(Rule::TimedWaitsEnd);
        let locks = wish
            .filter(|wish| is_endless(wish.is_timed))
            .into_iter()
            .flat_map(|wish| self.holders.holders_against(wish))
            .map(|held| WaitsFor {
                thread: path,
                lock: Some(held.lock),
                other: held.thread,
                is_orphaned: self.task(held.thread).is_none(),
            });
        let ends = self
            .tasks
            .iter()
            .filter(|task| task.child_tid == Some(address))
            .map(|task| WaitsFor {
                thread: path,
                lock: None,
                other: task.path,
                is_orphaned: false,
            });
        locks.chain(ends).collect()
    }

    /// Returns a circle that a thread leads into, or nothing. The search is depth first with a
    /// stack of its own.
    pub(crate) fn circle_from(&self, start: ThreadPath) -> Option<Deadlock> {
        let mut trail: Vec<WaitsFor> = Vec::new();
        let mut pending: Vec<Vec<WaitsFor>> = vec![self.waits_for(start)];
        let mut seen: Vec<ThreadPath> = vec![start];
        while let Some(edges) = pending.last_mut() {
            let Some(edge) = edges.pop() else {
                pending.pop();
                trail.pop();
                continue;
            };
            if edge.is_orphaned {
                return Some(Deadlock { circle: vec![edge] });
            }
            trail.push(edge);
            if let Some(begin) = trail.iter().position(|it| it.thread == edge.other) {
                let circle = trail.split_off(begin);
                return Some(Deadlock { circle });
            }
            if seen.contains(&edge.other) {
                trail.pop();
                continue;
            }
            seen.push(edge.other);
            pending.push(self.waits_for(edge.other));
        }
        None
    }
}
