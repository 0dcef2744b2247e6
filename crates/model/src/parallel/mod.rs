//! Breadth-first search with several threads.
//!
//! The states are divided by their hashes into shards. The search goes in
//! batches with two phases: all threads expand states, and put what they find
//! into boxes for the shards; then each thread takes the boxes of its own shards
//! in. Nobody waits for a lock, and a layer is complete before the next begins,
//! so trails are the shortest and the counts are those of one thread.
//!
//! Batches that take less time than a thread takes to begin are expanded by one
//! thread alone, which puts what it finds into the shards at once.

mod shard;

use crate::breadth::Options;
use crate::report::{Cut, Finding, Report};
use crate::store::{StateId, Store};
use crate::system::{Fault, System};
use crate::trail::{Trail, fault_number};
use shard::{Address, Direct, Found, NOWHERE, Outbox, Shard};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// States are handed to the threads in so many at a time.
const CHUNK: usize = 64;
/// The most states of a batch.
const BATCH: usize = 1 << 15;
/// Fewer states than this are not worth a thread.
const FEW: usize = 2048;

/// Says what is wrong with a state that has been expanded.
struct Judge<'a, S> {
    system: &'a S,
    deadlocks: bool,
}

impl<S: System> Judge<'_, S> {
    fn finish(
        &self,
        scratch: &mut S::Scratch,
        state: &[u8],
        (order, address): (usize, Address),
        wrong: Option<Fault>,
        found: &mut Found,
    ) {
        let faulted = found.fault.take();
        let fault = wrong.or(faulted).map(Finding::Fault);
        let is_stuck =
            found.successors == 0 && self.deadlocks && !self.system.may_end(scratch, state);
        let finding = fault.or(is_stuck.then_some(Finding::Deadlock));
        if let Some(finding) = finding
            && found.finding.is_none()
        {
            found.finding = Some((order, finding, address));
        }
    }
}

struct Search<'a, S: System> {
    system: &'a S,
    options: &'a Options,
    jobs: usize,
    shards: Vec<Shard>,
    report: Report,
}

/// Searches all states with so many threads.
pub(crate) fn parallel<S: System>(
    system: &S,
    jobs: usize,
    options: &Options,
    go_on: &mut dyn FnMut(u64, u64) -> bool,
) -> Report {
    let jobs = jobs.clamp(1, 64);
    let shard = || Shard {
        store: Store::new(options.states_max),
        parents: Vec::new(),
        full: false,
    };
    let mut search = Search {
        system,
        options,
        jobs,
        shards: (0..jobs).map(|_| shard()).collect(),
        report: Report::empty(),
    };
    search.all(go_on);
    let mut report = search.report;
    report.states = search
        .shards
        .iter()
        .map(|shard| shard.store.len() as u64)
        .sum();
    report.memory_bytes = search
        .shards
        .iter()
        .map(|shard| shard.store.memory_bytes())
        .sum();
    report
}

impl<S: System> Search<'_, S> {
    fn found(&self) -> Found {
        Found {
            boxes: (0..self.shards.len()).map(|_| Outbox::default()).collect(),
            from: NOWHERE,
            successors: 0,
            transitions: 0,
            fault: None,
            finding: None,
            all: self.options.all,
        }
    }

    fn known(&self) -> u64 {
        self.shards
            .iter()
            .map(|shard| shard.store.len() as u64)
            .sum()
    }

    fn all(&mut self, go_on: &mut dyn FnMut(u64, u64) -> bool) {
        let mut found = self.found();
        self.system.initial(&mut self.system.scratch(), &mut found);
        if let Some(fault) = found.fault.take() {
            self.report.finding = Some((Finding::Fault(fault), Trail::default()));
            return;
        }
        self.take(vec![found]);
        let mut starts = vec![0; self.shards.len()];
        loop {
            let ends: Vec<usize> = self.shards.iter().map(|shard| shard.store.len()).collect();
            let mut layer = Vec::new();
            for (shard, (start, end)) in starts.iter().zip(&ends).enumerate() {
                layer.extend((*start..*end).map(|state| Address {
                    shard: shard as u32,
                    state: state as u32,
                }));
            }
            if layer.is_empty() {
                return;
            }
            starts = ends;
            for batch in layer.chunks(BATCH) {
                let known = self.known();
                let searched = known - layer.len() as u64;
                self.report.cut = self.ask(searched, known, go_on);
                if self.is_over() {
                    return;
                }
                if self.jobs == 1 || batch.len() < FEW {
                    self.expand_alone(batch);
                    continue;
                }
                let found = self.expand(batch);
                self.take(found);
            }
            self.finish_layer(&starts);
            if self.is_over() {
                return;
            }
        }
    }

    fn is_over(&self) -> bool {
        self.report.cut.is_some() || self.report.finding.is_some() && !self.options.all
    }

    fn ask(
        &self,
        searched: u64,
        known: u64,
        go_on: &mut dyn FnMut(u64, u64) -> bool,
    ) -> Option<Cut> {
        let bytes: u64 = self
            .shards
            .iter()
            .map(|shard| shard.store.memory_bytes())
            .sum();
        if bytes > self.options.memory_bytes_max {
            return Some(Cut::Memory {
                limit: self.options.memory_bytes_max,
            });
        }
        (!go_on(searched, known)).then_some(Cut::Interrupted)
    }

    fn finish_layer(&mut self, ends: &[usize]) {
        let has_more = self
            .shards
            .iter()
            .zip(ends)
            .any(|(shard, end)| shard.store.len() > *end);
        let is_full = self.shards.iter().any(|shard| shard.full);
        if is_full || self.known() > u64::from(self.options.states_max) {
            self.report.cut = Some(Cut::States {
                limit: self.options.states_max,
            });
        } else if has_more {
            if self.report.depth >= self.options.depth_max {
                self.report.cut = Some(Cut::Depth {
                    limit: self.options.depth_max,
                });
            } else {
                self.report.depth += 1;
            }
        }
    }

    /// Expands the states of a batch.
    fn expand(&self, batch: &[Address]) -> Vec<Found> {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut found = self.found();
            let mut scratch = self.system.scratch();
            loop {
                let start = next.fetch_add(CHUNK, Ordering::Relaxed);
                let Some(rest) = batch.get(start..).filter(|rest| !rest.is_empty()) else {
                    return found;
                };
                for (number, address) in rest.iter().take(CHUNK).enumerate() {
                    self.one(*address, start + number, &mut scratch, &mut found);
                }
            }
        };
        thread::scope(|scope| {
            let helpers: Vec<_> = (1..self.jobs).map(|_| scope.spawn(work)).collect();
            let own = work();
            let mut all = vec![own];
            for helper in helpers {
                match helper.join() {
                    Ok(found) => all.push(found),
                    // A panic of a thread is one of the search.
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            all
        })
    }

    /// Expands the states of a batch in one thread, and takes in what it finds.
    fn expand_alone(&mut self, batch: &[Address]) {
        let mut scratch = self.system.scratch();
        let mut state = Vec::new();
        let mut found = self.found();
        for (order, address) in batch.iter().enumerate() {
            let Some(shard) = self.shards.get(address.shard as usize) else {
                continue;
            };
            state.clear();
            state.extend_from_slice(shard.store.get(StateId(address.state)));
            let mut direct = Direct {
                shards: &mut self.shards,
                found,
            };
            let judge = Judge {
                system: self.system,
                deadlocks: self.options.deadlocks,
            };
            direct.found.from = *address;
            direct.found.successors = 0;
            let wrong = judge.system.wrong(&mut scratch, &state);
            judge.system.successors(&mut scratch, &state, &mut direct);
            found = direct.found;
            judge.finish(&mut scratch, &state, (order, *address), wrong, &mut found);
        }
        self.tell(vec![found]);
    }

    fn one(&self, address: Address, order: usize, scratch: &mut S::Scratch, found: &mut Found) {
        let Some(shard) = self.shards.get(address.shard as usize) else {
            return;
        };
        let state = shard.store.get(StateId(address.state));
        let judge = Judge {
            system: self.system,
            deadlocks: self.options.deadlocks,
        };
        found.from = address;
        found.successors = 0;
        let wrong = judge.system.wrong(scratch, state);
        judge.system.successors(scratch, state, found);
        judge.finish(scratch, state, (order, address), wrong, found);
    }

    /// Takes in what was found.
    fn take(&mut self, found: Vec<Found>) {
        let is_small = found.iter().map(|found| found.transitions).sum::<u64>() < FEW as u64;
        let boxes: Vec<&[Outbox]> = found.iter().map(|found| &found.boxes[..]).collect();
        let fill = |number: usize, shard: &mut Shard| {
            for boxes in &boxes {
                if let Some(outbox) = boxes.get(number) {
                    shard.take(outbox);
                }
            }
        };
        let shards = self.shards.iter_mut().enumerate();
        if is_small || self.jobs == 1 {
            shards.for_each(|(number, shard)| fill(number, shard));
        } else {
            let fill = &fill;
            thread::scope(|scope| {
                for (number, shard) in shards {
                    scope.spawn(move || fill(number, shard));
                }
            });
        }
        self.tell(found);
    }

    /// Counts what was found, and reports what is wrong first.
    fn tell(&mut self, found: Vec<Found>) {
        self.report.transitions += found.iter().map(|found| found.transitions).sum::<u64>();
        let first = found
            .into_iter()
            .filter_map(|found| found.finding)
            .min_by_key(|(order, ..)| *order);
        if let Some((_, finding, address)) = first
            && self.report.finding.is_none()
        {
            let trail = self.trail(&finding, address);
            self.report.finding = Some((finding, trail));
        }
    }

    fn trail(&self, finding: &Finding, address: Address) -> Trail {
        let mut states = Vec::new();
        let mut here = address;
        while let Some(shard) = self.shards.get(here.shard as usize) {
            states.push(shard.store.get(StateId(here.state)).to_vec());
            here = shard
                .parents
                .get(here.state as usize)
                .copied()
                .unwrap_or(NOWHERE);
        }
        states.reverse();
        let step = match (finding, states.last()) {
            (Finding::Fault(fault), Some(state)) => fault_number(self.system, state, fault),
            _ => None,
        };
        Trail::through(self.system, &states, step)
    }
}
