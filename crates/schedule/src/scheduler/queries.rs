//! The state of a run, to be read at any time.

use super::{Options, Scheduler};
use crate::choice::Log;
use crate::deadlock::{Deadlock, Graph, WaitsFor};
use crate::hash::RunHash;
use crate::holders::Holders;
use crate::strategy::Strategy;
use crate::task::Task;
use crate::terms::{ThreadId, ThreadPath};
use alloc::vec::Vec;

impl Scheduler {
    pub(super) fn graph(&self) -> Graph<'_> {
        Graph {
            tasks: &self.tasks,
            holders: &self.holders,
            dropped: self.dropped,
        }
    }

    /// The threads have other numbers, by what they were before. Those that are gone have none.
    pub fn renumber(&mut self, number: impl Fn(ThreadId) -> Option<ThreadId>) {
        for task in &mut self.tasks {
            task.id = number(task.id).unwrap_or(ThreadId(0));
        }
    }

    /// Returns the threads that wait for one another, as the last
    /// [`Order::PartialDeadlock`](crate::Order::PartialDeadlock) found them.
    pub fn deadlock(&self) -> Option<&Deadlock> {
        self.deadlock.as_ref()
    }

    /// Returns whom each thread waits for, where that is known.
    pub fn waits_for(&self) -> Vec<WaitsFor> {
        let graph = self.graph();
        let paths = self.tasks.iter().map(|task| task.path);
        paths.flat_map(|path| graph.waits_for(path)).collect()
    }

    /// Returns the words of locks with priority inheritance that are waited for. Before a thread
    /// ends, the shell reads them: who waits for one that the thread owns is told so by
    /// [`Input::Died`](crate::Input::Died), robust or not, as the kernel does it.
    pub fn inherited_words(&self) -> Vec<u64> {
        self.queues.inherited_words()
    }

    /// Returns the threads, by path.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// Returns a thread by its kernel id.
    pub fn task_of(&self, thread: ThreadId) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == thread)
    }

    /// Returns the locks that are held and wanted.
    pub fn holders(&self) -> &Holders {
        &self.holders
    }

    /// Returns the thread that has the baton.
    pub fn bearer_now(&self) -> Option<ThreadPath> {
        self.baton
    }

    /// Returns the moment of virtual time, in the shell's unit.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Returns the number of points of all threads.
    pub fn points(&self) -> u64 {
        self.points
    }

    /// Returns the hash of the run so far.
    pub fn hash(&self) -> RunHash {
        self.hash
    }

    /// Adds what only the shell knows to the hash of the run: registers, results, captures.
    pub fn add_to_hash(&mut self, value: u64) {
        self.hash.add(value);
    }

    /// Returns the log of the run so far.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Returns the options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Returns the strategy.
    pub fn strategy(&self) -> &Strategy {
        &self.strategy
    }

    /// Lets another strategy choose from now on: the run branches here.
    pub fn set_strategy(&mut self, strategy: Strategy) {
        self.strategy = strategy;
    }

    /// Returns the strategy at the end of a run, to make the next one.
    pub fn into_strategy(self) -> Strategy {
        self.strategy
    }
}
