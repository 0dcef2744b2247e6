//! One thread of a search, for one layer.

use super::shard::{Address, NOWHERE, Range, Shard, shard_of};
use crate::breadth::Options;
use crate::report::{Cut, Finding};
use crate::store::{Batch, StateId, hash};
use crate::system::{Fault, Participants, System, Visitor};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

/// So many states are sent to another thread together.
const SENT: usize = 256;
/// After so many states a thread looks for what was sent to it.
const BETWEEN_LOOKS: u64 = 64;
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

/// What threads send to each other.
pub(super) enum Post {
    States(Batch),
    /// Nothing more comes in this layer.
    Done,
}

/// Where a thread sends to, and where it is sent to.
pub(super) struct Ends {
    /// By thread; nothing to itself.
    senders: Vec<Option<Sender<Post>>>,
    receiver: Receiver<Post>,
    is_done: bool,
}

impl Ends {
    /// Tells the others that nothing more comes. Gives how many there are.
    fn done(&mut self) -> usize {
        let others = self.senders.iter().flatten();
        if !self.is_done {
            others.clone().for_each(|sender| {
                // Only a thread that has panicked does not receive any more, and
                // then so does the search.
                let _ = sender.send(Post::Done);
            });
        }
        self.is_done = true;
        others.count()
    }
}

/// Nobody waits for a thread that has panicked.
impl Drop for Ends {
    fn drop(&mut self) {
        self.done();
    }
}

/// Ways between all threads.
pub(super) fn connected(threads: usize) -> Vec<Ends> {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..threads).map(|_| channel()).unzip();
    let ends = receivers.into_iter().enumerate().map(|(own, receiver)| {
        let others = senders.iter().enumerate();
        Ends {
            senders: others
                .map(|(number, sender)| (number != own).then(|| sender.clone()))
                .collect(),
            receiver,
            is_done: false,
        }
    });
    ends.collect()
}

/// What a thread found in a layer.
#[derive(Default)]
pub(super) struct Found {
    pub transitions: u64,
    /// What is wrong, and where.
    pub finding: Option<(Finding, Option<Address>)>,
    pub cut: Option<Cut>,
}

/// A thread with the shards that it alone may change.
pub(super) struct Worker<'a, S: System> {
    common: &'a Common<'a, S>,
    scratch: S::Scratch,
    sink: Sink<'a>,
    found: Found,
    told: Told,
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
            sink: Sink {
                shards,
                first,
                count: common.shards,
                ends,
                done: 0,
                from: NOWHERE,
                successors: 0,
                transitions: 0,
                fault: None,
                all: common.options.all,
            },
            found: Found::default(),
            told: Told::default(),
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

    /// Expands the states of a layer, one range for each shard; then takes in what
    /// the others send until they are done.
    pub fn layer(mut self, layer: &[Range], mut go_on: Option<GoOn<'_>>) -> Found {
        let mut state = Vec::new();
        let mut count: u64 = 0;
        for (own, range) in layer.iter().enumerate() {
            let shard = self.sink.first + own;
            let mut id = range.start;
            while id < range.end && !self.common.stop.load(Ordering::Relaxed) {
                if count.is_multiple_of(BETWEEN_QUESTIONS) {
                    self.ask(count, &mut go_on);
                }
                if count.is_multiple_of(BETWEEN_LOOKS) {
                    self.sink.look();
                }
                count += 1;
                id = self.expand(Address { shard, state: id }, own, &mut state);
            }
        }
        self.sink.finish();
        if self.sink.shards.iter().any(|shard| shard.full) {
            self.cut(Cut::States {
                limit: self.common.options.states_max,
            });
        }
        self.finished()
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

    /// Expands a state, and gives where the next one is.
    fn expand(&mut self, address: Address, own: usize, state: &mut Vec<u8>) -> StateId {
        let Some(shard) = self.sink.shards.get(own) else {
            return address.state;
        };
        let next = shard.store.after(address.state);
        state.clear();
        state.extend_from_slice(shard.store.get(address.state));
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
        next
    }
}

/// What takes the successors.
struct Sink<'a> {
    shards: &'a mut [Shard],
    /// The number of the first of them.
    first: usize,
    /// How many shards there are, with those of others.
    count: usize,
    ends: Option<Ends>,
    /// How many of the others are done.
    done: usize,
    from: u32,
    successors: usize,
    transitions: u64,
    fault: Option<Fault>,
    all: bool,
}

impl Sink<'_> {
    /// Brings what was found to the own shards.
    fn settle(&mut self) {
        self.shards.iter_mut().for_each(Shard::settle);
    }

    fn send(&mut self, number: usize) {
        // A thread with ends has one shard.
        let Some(own) = self.shards.first_mut() else {
            return;
        };
        let sender = self.ends.as_ref().and_then(|ends| ends.senders.get(number));
        if let (Some(Some(sender)), Some(outbox)) = (sender, own.outboxes.get_mut(number)) {
            let full = std::mem::replace(outbox, own.spare.pop().unwrap_or_default());
            // The other one receives until this one is done.
            let _ = sender.send(Post::States(full));
        }
    }

    fn take(&mut self, post: Post) {
        match post {
            Post::States(batch) => {
                if let Some(own) = self.shards.first_mut() {
                    own.take(batch);
                }
            }
            Post::Done => self.done += 1,
        }
    }

    /// Takes in what was sent so far.
    fn look(&mut self) {
        while let Some(Ok(post)) = self.ends.as_ref().map(|ends| ends.receiver.try_recv()) {
            self.take(post);
        }
    }

    /// Sends what is left, and takes in what the others send until they are done.
    fn finish(&mut self) {
        (0..self.count).for_each(|shard| self.send(shard));
        let others = self.ends.as_mut().map_or(0, Ends::done);
        while self.done < others
            && let Some(Ok(post)) = self.ends.as_ref().map(|ends| ends.receiver.recv())
        {
            self.take(post);
        }
        self.settle();
    }
}

impl Visitor for Sink<'_> {
    fn next(&mut self, state: &[u8], _participants: Participants) -> bool {
        self.successors += 1;
        self.transitions += 1;
        let hash = hash(state);
        let number = shard_of(hash, self.count);
        if let Some(shard) = self.shards.get_mut(number.wrapping_sub(self.first)) {
            shard.push(state, hash, self.from);
            return true;
        }
        let own = self.shards.first_mut();
        if let Some(outbox) = own.and_then(|own| own.outboxes.get_mut(number))
            && outbox.push(state, hash, self.from) == SENT
        {
            self.send(number);
        }
        true
    }

    fn fault(&mut self, fault: Fault) -> bool {
        self.successors += 1;
        self.fault.get_or_insert(fault);
        self.all
    }
}
