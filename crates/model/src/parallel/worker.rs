//! One thread of a search.
//!
//! A thread that has expanded its part of a layer tells the others that nothing more
//! comes from it. Who has heard that from all of them has its part of the next layer,
//! and tells the others how large it is. From the same numbers all conclude the same:
//! that the next layer is theirs, too, or that this was the last one.

use super::FEW;
use super::shard::{Address, NOWHERE, Range, Shard, shard_of};
use crate::breadth::Options;
use crate::report::{Cut, Finding};
use crate::store::{Batch, StateId, hash};
use crate::system::{Fault, Participants, System, Visitor};
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

/// So many states are sent to another thread together.
const SENT: usize = 256;
/// After so many states a thread looks for what was sent to it.
const BETWEEN_LOOKS: u64 = 64;
/// After so many states it tells how far it is.
const BETWEEN_QUESTIONS: u64 = 1 << 11;

/// So often a thread looks for what is sent to it before it sleeps.
const LOOKS: u32 = 1000;

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
    /// The sender has its part of the next layer.
    Ready(Part),
}

/// What a thread, or several, have after a layer.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Part {
    /// How many states it knows.
    known: u64,
    /// Something was found that ends the search.
    is_over: bool,
}

impl Part {
    fn with(self, other: Part) -> Part {
        Part {
            known: self.known + other.known,
            is_over: self.is_over || other.is_over,
        }
    }
}

/// Where a thread sends to, and where it is sent to.
pub(super) struct Ends {
    /// By thread; nothing to itself.
    senders: Vec<Option<Sender<Post>>>,
    receiver: Receiver<Post>,
}

impl Ends {
    /// Tells all others something. Gives how many there are.
    fn tell(&self, post: impl Fn() -> Post) -> usize {
        let others = self.senders.iter().flatten();
        others.clone().for_each(|sender| {
            // Who does not receive any more has panicked, and then so does the
            // search; or all have concluded that it is over.
            let _ = sender.send(post());
        });
        others.count()
    }

    /// What is sent next; nothing when nobody is left to send.
    fn receive(&self) -> Option<Post> {
        for _ in 0..LOOKS {
            match self.receiver.try_recv() {
                Ok(post) => return Some(post),
                Err(_) => spin_loop(),
            }
        }
        self.receiver.recv().ok()
    }
}

/// Nobody waits for a thread that has panicked.
impl Drop for Ends {
    fn drop(&mut self) {
        self.tell(|| Post::Done);
        let (known, is_over) = (0, true);
        self.tell(|| Post::Ready(Part { known, is_over }));
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
            sink: Sink {
                shards,
                first,
                count: common.shards,
                ends,
                done: 0,
                ready: 0,
                others: Part::default(),
                from: NOWHERE,
                successors: 0,
                transitions: 0,
                fault: None,
                all: common.options.all,
            },
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

    /// Expands the states of a layer, one range for each shard; then takes in what
    /// the others send until they are done.
    fn expand_all(&mut self, layer: &[Range], go_on: &mut Option<GoOn<'_>>) {
        let mut state = Vec::new();
        for (own, range) in layer.iter().enumerate() {
            let shard = self.sink.first + own;
            let mut id = range.start;
            while id < range.end && !self.common.stop.load(Ordering::Relaxed) {
                if self.count.is_multiple_of(BETWEEN_QUESTIONS) {
                    self.ask(self.count, go_on);
                }
                if self.count.is_multiple_of(BETWEEN_LOOKS) {
                    self.sink.look();
                }
                self.count += 1;
                id = self.expand(Address { shard, state: id }, own, &mut state);
            }
        }
        self.sink.finish();
        if self.sink.shards.iter().any(|shard| shard.full) {
            self.cut(Cut::States {
                limit: self.common.options.states_max,
            });
        }
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
    /// How many of the others are done with the layer.
    done: usize,
    /// How many of them have told what they have after it, and all of that.
    ready: usize,
    others: Part,
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
            Post::Ready(part) => {
                self.ready += 1;
                self.others = self.others.with(part);
            }
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
        let others = self.tell(|| Post::Done);
        while self.done < others
            && let Some(post) = self.ends.as_ref().and_then(Ends::receive)
        {
            self.take(post);
        }
        self.done = 0;
        self.settle();
    }

    fn tell(&self, post: impl Fn() -> Post) -> usize {
        self.ends.as_ref().map_or(0, |ends| ends.tell(post))
    }

    /// Tells the others what this thread has after a layer. Gives what all have.
    fn agree(&mut self, own: Part) -> Part {
        let others = self.tell(|| Post::Ready(own));
        while self.ready < others {
            match self.ends.as_ref().and_then(Ends::receive) {
                Some(post) => self.take(post),
                None => self.others.is_over = true,
            }
            if self.others.is_over {
                break;
            }
        }
        self.ready = 0;
        own.with(std::mem::take(&mut self.others))
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
