//! One thread of a search.
//!
//! A thread that has expanded its part of a layer asks the others for some of what they
//! have left, since not all are equally fast. If there is nothing any more, it tells
//! them that nothing more comes from it. Who has heard that from all of them has its part of the next layer,
//! and tells the others how large it is. From the same numbers all conclude the same:
//! that the next layer is theirs, too, or that this was the last one.

use super::FEW;
use super::post::{Ends, Part};
use super::shard::{Address, Range, Shard};
use super::sink::Sink;
use crate::breadth::Options;
use crate::report::{Cut, Finding};
use crate::store::Batch;
use crate::system::System;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// After so many states a thread looks for what was sent to it.
const BETWEEN_LOOKS: u64 = 16;
/// After so many states it tells how far it is.
const BETWEEN_QUESTIONS: u64 = 1 << 11;

/// Asked with how many states were searched and how many are known.
pub(super) type GoOn<'a> = &'a mut dyn FnMut(u64, u64) -> bool;

/// What the threads of a layer share.
pub(super) struct Common<'a, S> {
    pub system: &'a S,
    pub options: &'a Options,
    /// How many shards there are.
    pub shards: usize,
    pub searched: AtomicU64,
    pub known: AtomicU64,
    pub memory_bytes: AtomicU64,
    pub stop: AtomicBool,
}

/// What a thread found in a layer.
#[derive(Default)]
pub(super) struct Found {
    pub transitions: u64,
    /// What is wrong, and where.
    pub finding: Option<(Finding, Option<Address>)>,
    pub cut: Option<Cut>,
}

/// What came of layers that were expanded together.
pub(super) struct Expanded {
    pub found: Found,
    /// By shard of the thread: its part of the last layer.
    pub last: Vec<Range>,
    /// How many states were known when that began.
    pub searched: u64,
    /// How many layers there were.
    pub layers: u32,
}

/// A thread with the shards that it alone may change.
pub(super) struct Worker<'a, S: System> {
    common: &'a Common<'a, S>,
    scratch: S::Scratch,
    sink: Sink<'a>,
    found: Found,
    told: Told,
    /// How many states it has expanded.
    count: u64,
}

/// What the others know of a thread.
#[derive(Default)]
struct Told {
    searched: u64,
    known: u64,
    memory_bytes: u64,
}

impl<'a, S: System> Worker<'a, S> {
    /// A thread with some of the shards, the first of which has a number. It needs
    /// ends if these are not all.
    pub fn new(
        common: &'a Common<'a, S>,
        shards: &'a mut [Shard],
        first: usize,
        ends: Option<Ends>,
    ) -> Worker<'a, S> {
        let mut worker = Worker {
            common,
            scratch: common.system.scratch(),
            sink: Sink::new(shards, first, common.shards, ends, common.options.all),
            found: Found::default(),
            told: Told::default(),
            count: 0,
        };
        worker.told = worker.now(0);
        worker
    }

    /// The initial states.
    pub fn initial(mut self) -> Found {
        let system = self.common.system;
        system.initial(&mut self.scratch, &mut self.sink);
        self.sink.settle();
        let fault = self.sink.fault.take();
        self.found.finding = fault.map(|fault| (Finding::Fault(fault), None));
        self.finished()
    }

    /// Expands one layer.
    pub fn layer(mut self, layer: &[Range], mut go_on: Option<GoOn<'_>>) -> Found {
        self.expand_all(layer, &mut go_on);
        self.finished()
    }

    /// Expands layers together with others, the first when so many states are known, at
    /// most so many, and as long as all of them have enough to do.
    pub fn layers(
        mut self,
        first: &[Range],
        known: u64,
        layers_max: u32,
        mut go_on: Option<GoOn<'_>>,
    ) -> Expanded {
        let (mut last, mut searched) = (first.to_vec(), known);
        let mut layers = 1;
        loop {
            self.expand_all(&last, &mut go_on);
            // As soon as all agree, states of a later layer come.
            let next = last.iter().zip(self.sink.shards.iter());
            let next = next.map(|(range, shard)| shard.since(*range)).collect();
            let all = self.sink.agree(Part {
                known: self.now(0).known,
                is_over: self.found.cut.is_some()
                    || self.found.finding.is_some() && !self.common.options.all,
            });
            let is_too_much = all.known > u64::from(self.common.options.states_max);
            let is_few = all.known.saturating_sub(searched) < FEW;
            if all.is_over || is_too_much || is_few || layers >= layers_max {
                return Expanded {
                    found: self.finished(),
                    last,
                    searched,
                    layers,
                };
            }
            (last, searched) = (next, all.known);
            layers += 1;
        }
    }

    /// Expands the states of a layer, one range for each shard, and then what others
    /// give; then takes in what they send until they are done.
    fn expand_all(&mut self, layer: &[Range], go_on: &mut Option<GoOn<'_>>) {
        let mut state = Vec::new();
        self.sink.begin();
        for (own, range) in layer.iter().enumerate() {
            self.sink.expand(*range);
            while self.goes_on(go_on)
                && let Some(address) = self.sink.next_left(own, &mut state)
            {
                self.expand(address, &state);
            }
        }
        while !self.common.stop.load(Ordering::Relaxed)
            && let Some(work) = self.sink.work()
        {
            self.expand_given(&work, go_on);
            self.sink.put_back(work);
        }
        self.sink.finish();
        if self.sink.shards.iter().any(|shard| shard.full) {
            self.cut(Cut::States {
                limit: self.common.options.states_max,
            });
        }
    }

    /// Expands states of another thread.
    fn expand_given(&mut self, work: &Batch, go_on: &mut Option<GoOn<'_>>) {
        for (state, note) in work.states() {
            let address = Address::noted(note, self.common.shards);
            match address {
                Some(address) if self.goes_on(go_on) => self.expand(address, state),
                _ => return,
            }
        }
    }

    /// Looks, before a state is expanded, for what there is beside it. Gives whether
    /// the search goes on.
    fn goes_on(&mut self, go_on: &mut Option<GoOn<'_>>) -> bool {
        if self.common.stop.load(Ordering::Relaxed) {
            return false;
        }
        if self.count.is_multiple_of(BETWEEN_QUESTIONS) {
            self.ask(self.count, go_on);
        }
        if self.count.is_multiple_of(BETWEEN_LOOKS) {
            self.sink.look();
        }
        true
    }

    fn finished(mut self) -> Found {
        self.found.transitions = self.sink.transitions;
        self.found
    }

    fn now(&self, searched: u64) -> Told {
        let stores = || self.sink.shards.iter().map(|shard| &shard.store);
        Told {
            searched,
            known: stores().map(|store| store.len() as u64).sum(),
            memory_bytes: stores().map(|store| store.memory_bytes()).sum(),
        }
    }

    /// Tells the others how far this thread is; who may, asks whether to go on.
    fn ask(&mut self, count: u64, go_on: &mut Option<GoOn<'_>>) {
        let (common, now) = (self.common, self.now(count));
        let add = |to: &AtomicU64, amount: u64| to.fetch_add(amount, Ordering::Relaxed) + amount;
        let known = add(&common.known, now.known - self.told.known);
        let memory_bytes = add(
            &common.memory_bytes,
            now.memory_bytes - self.told.memory_bytes,
        );
        let searched = add(&common.searched, now.searched - self.told.searched);
        self.told = now;
        let limit = common.options.memory_bytes_max;
        if memory_bytes > limit {
            self.cut(Cut::Memory { limit });
        } else if let Some(go_on) = go_on
            && !go_on(searched, known)
        {
            self.cut(Cut::Interrupted);
        }
    }

    fn cut(&mut self, cut: Cut) {
        self.found.cut.get_or_insert(cut);
        self.common.stop.store(true, Ordering::Relaxed);
    }

    fn expand(&mut self, address: Address, state: &[u8]) {
        self.count += 1;
        let system = self.common.system;
        let wrong = system.wrong(&mut self.scratch, state);
        self.sink.from = address.note(self.common.shards);
        self.sink.successors = 0;
        system.successors(&mut self.scratch, state, &mut self.sink);
        let fault = wrong.or(self.sink.fault.take());
        let is_stuck = self.sink.successors == 0
            && self.common.options.deadlocks
            && !system.may_end(&mut self.scratch, state);
        let finding = fault.map(Finding::Fault);
        if let Some(finding) = finding.or(is_stuck.then_some(Finding::Deadlock))
            && self.found.finding.is_none()
        {
            self.found.finding = Some((finding, Some(address)));
            if !self.common.options.all {
                self.common.stop.store(true, Ordering::Relaxed);
            }
        }
    }
}
