//! Breadth-first search with several threads.
//!
//! The states are divided by their hashes into shards, one for each thread. A thread
//! expands the states of its own shard; what it finds that belongs to another one it
//! sends there, many states at a time, and what is sent to it it takes in between. A
//! thread that has none left expands some of another one's, which it gets as a copy.
//! So nobody waits for a lock, and no memory is written by two. A layer is complete
//! before the next begins, so trails are the shortest and the counts are those of
//! one thread.
//!
//! Layers that take less time than a thread takes to begin are expanded by one
//! thread alone; for those between two such layers the threads stay.

mod post;
mod shard;
mod sink;
#[cfg(test)]
mod tests;
mod worker;

use crate::breadth::Options;
use crate::report::{Cut, Finding, Report};
use crate::system::System;
use crate::trail::{Trail, fault_number};
use post::connected;
use shard::{Address, Range, Shard};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::thread;
use worker::{Common, Expanded, Found, GoOn, Worker};

/// Fewer states than this are not worth a thread.
const FEW: u64 = 1024;

/// Searches all states with so many threads.
pub(crate) fn parallel<S: System>(
    system: &S,
    jobs: usize,
    options: &Options,
    go_on: GoOn<'_>,
) -> Report {
    let jobs = jobs.clamp(1, 64);
    let shard = |_| Shard::new(jobs, options.states_max);
    let mut search = Search {
        system,
        options,
        shards: (0..jobs).map(shard).collect(),
        report: Report::empty(),
        searched: 0,
    };
    search.all(go_on);
    let (states, memory_bytes) = (search.known(), search.memory_bytes());
    Report {
        states,
        memory_bytes,
        ..search.report
    }
}

struct Search<'a, S: System> {
    system: &'a S,
    options: &'a Options,
    shards: Vec<Shard>,
    report: Report,
    /// How many states have been expanded.
    searched: u64,
}

impl<'a, S: System> Search<'a, S> {
    fn known(&self) -> u64 {
        let stores = self.shards.iter().map(|shard| &shard.store);
        stores.map(|store| store.len() as u64).sum()
    }

    fn memory_bytes(&self) -> u64 {
        let stores = self.shards.iter().map(|shard| &shard.store);
        stores.map(|store| store.memory_bytes()).sum()
    }

    fn common(&self) -> Common<'a, S> {
        Common {
            system: self.system,
            options: self.options,
            shards: self.shards.len(),
            searched: AtomicU64::new(self.searched),
            known: AtomicU64::new(self.known()),
            memory_bytes: AtomicU64::new(self.memory_bytes()),
            stop: AtomicBool::new(false),
        }
    }

    fn all(&mut self, go_on: GoOn<'_>) {
        let mut layer: Vec<Range> = self.shards.iter().map(Shard::beginning).collect();
        let common = self.common();
        let found = Worker::new(&common, &mut self.shards, 0, None).initial();
        self.tell(found);
        while !self.is_over() {
            let known = self.known();
            let count = known - self.searched;
            if count == 0 {
                return;
            }
            let next = layer.iter().zip(&self.shards);
            layer = next.map(|(range, shard)| shard.since(*range)).collect();
            self.searched = match self.shards.len() > 1 && count >= FEW {
                true => self.together(&mut layer, known, go_on),
                false => {
                    self.alone(&layer, go_on);
                    known
                }
            };
            if !self.is_over() {
                self.finish_layer();
            }
        }
    }

    fn is_over(&self) -> bool {
        self.report.cut.is_some() || self.report.finding.is_some() && !self.options.all
    }

    /// Expands a layer in one thread.
    fn alone(&mut self, layer: &[Range], go_on: GoOn<'_>) {
        let common = self.common();
        let worker = Worker::new(&common, &mut self.shards, 0, None);
        let found = worker.layer(layer, Some(go_on));
        self.tell(found);
    }

    /// Expands a layer, where so many states are known, and those after it that are
    /// worth it, in all threads. Leaves the last one as the present, and gives how many
    /// states were known where that began.
    fn together(&mut self, layer: &mut [Range], known: u64, go_on: GoOn<'_>) -> u64 {
        let all = self.expanded(layer, known, go_on);
        // All threads tell the same of this.
        let searched = all.first().map_or(known, |expanded| expanded.searched);
        let layers = all.first().map_or(1, |expanded| expanded.layers);
        self.report.depth += layers - 1;
        let last = all.iter().flat_map(|expanded| &expanded.last);
        for (range, last) in layer.iter_mut().zip(last) {
            *range = *last;
        }
        all.into_iter()
            .for_each(|expanded| self.tell(expanded.found));
        searched
    }

    /// The first thread is this.
    fn expanded(&mut self, layer: &[Range], known: u64, go_on: GoOn<'_>) -> Vec<Expanded> {
        let common = &self.common();
        let left = self.options.depth_max.saturating_sub(self.report.depth);
        let layers_max = left.saturating_add(1);
        let ends = connected(self.shards.len());
        let shards = self.shards.chunks_mut(1).zip(layer.chunks(1)).zip(ends);
        thread::scope(|scope| {
            let mut tasks = shards.enumerate().map(|(number, ((shard, range), ends))| {
                // Each makes its worker itself: what two threads write must not lie
                // side by side in memory.
                move |go_on: Option<GoOn<'_>>| {
                    let worker = Worker::new(common, shard, number, Some(ends));
                    worker.layers(range, known, layers_max, go_on)
                }
            });
            let own = tasks.next();
            let helpers: Vec<_> = tasks.map(|task| scope.spawn(move || task(None))).collect();
            let mut expanded: Vec<_> = own.map(|task| task(Some(go_on))).into_iter().collect();
            for helper in helpers {
                match helper.join() {
                    Ok(other) => expanded.push(other),
                    // A panic of a thread is one of the search.
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            expanded
        })
    }

    fn finish_layer(&mut self) {
        if self.known() > u64::from(self.options.states_max) {
            self.report.cut.get_or_insert(Cut::States {
                limit: self.options.states_max,
            });
        } else if self.known() > self.searched {
            if self.report.depth >= self.options.depth_max {
                self.report.cut.get_or_insert(Cut::Depth {
                    limit: self.options.depth_max,
                });
            } else {
                self.report.depth += 1;
            }
        }
    }

    /// Counts what was found, and reports what is wrong first.
    fn tell(&mut self, found: Found) {
        self.report.transitions += found.transitions;
        self.report.cut = self.report.cut.or(found.cut);
        if let Some((finding, address)) = found.finding
            && self.report.finding.is_none()
        {
            let trail = match address {
                Some(address) => self.trail(&finding, address),
                None => Trail::default(),
            };
            self.report.finding = Some((finding, trail));
        }
    }

    fn trail(&self, finding: &Finding, address: Address) -> Trail {
        let mut states = Vec::new();
        let mut here = Some(address);
        while let Some(address) = here
            && let Some(shard) = self.shards.get(address.shard)
        {
            states.push(shard.store.get(address.state).to_vec());
            here = Address::noted(shard.store.note(address.state), self.shards.len());
        }
        states.reverse();
        let step = match (finding, states.last()) {
            (Finding::Fault(fault), Some(state)) => fault_number(self.system, state, fault),
            _ => None,
        };
        Trail::through(self.system, &states, step)
    }
}
