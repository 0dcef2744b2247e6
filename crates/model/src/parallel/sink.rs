//! What a thread finds, and what is sent to it.
//!
//! Invariant: only the thread of a shard changes it. What is found for another one is
//! sent there, many states at a time.

use super::post::{Ends, Part, Post};
use super::shard::{Address, NOWHERE, Range, Shard, shard_of};
use crate::store::{Batch, hash};
use crate::system::{Fault, Participants, Visitor};

/// So many states are sent to another thread together.
const SENT: usize = 256;

/// What takes the successors.
pub(super) struct Sink<'a> {
    pub shards: &'a mut [Shard],
    /// The number of the first of them.
    pub first: usize,
    /// How many shards there are, with those of others.
    count: usize,
    ends: Option<Ends>,
    /// What is still to be expanded here.
    left: Range,
    /// What another thread has given to be expanded here.
    given: Option<Batch>,
    /// By thread: whether it may have something to give in this layer.
    givers: Vec<bool>,
    /// How many of the others are done with the layer.
    done: usize,
    /// How many of them have told what they have after it, and all of that.
    ready: usize,
    others: Part,
    /// The note of what is found.
    pub from: u32,
    /// Of the state that is expanded, faults included.
    pub successors: usize,
    pub transitions: u64,
    /// The first step that goes wrong.
    pub fault: Option<Fault>,
    all: bool,
}

impl<'a> Sink<'a> {
    /// One with some of the shards, the first of which has a number, of so many.
    pub fn new(
        shards: &'a mut [Shard],
        first: usize,
        count: usize,
        ends: Option<Ends>,
        all: bool,
    ) -> Sink<'a> {
        Sink {
            shards,
            first,
            count,
            ends,
            left: Range::NONE,
            given: None,
            givers: Vec::new(),
            done: 0,
            ready: 0,
            others: Part::default(),
            from: NOWHERE,
            successors: 0,
            transitions: 0,
            fault: None,
            all,
        }
    }
}

impl Sink<'_> {
    /// Begins a layer.
    pub fn begin(&mut self) {
        let others = 0..self.count;
        self.givers.clear();
        self.givers
            .extend(others.map(|number| number != self.first));
    }

    /// Begins a range of states that are to be expanded.
    pub fn expand(&mut self, range: Range) {
        self.left = range;
    }

    /// The next state of the range, which is of one of the own shards.
    pub fn next_left(&mut self, own: usize, state: &mut Vec<u8>) -> Option<Address> {
        let (shard, id) = (self.shards.get(own)?, self.left.start);
        if id >= self.left.end {
            return None;
        }
        self.left.start = shard.store.after(id);
        state.clear();
        state.extend_from_slice(shard.store.get(id));
        Some(Address {
            shard: self.first + own,
            state: id,
        })
    }

    /// States of another thread, which are to be expanded here; nothing if there is
    /// none that has some to give.
    pub fn work(&mut self) -> Option<Batch> {
        self.ends.as_ref()?;
        self.send_all();
        let after = |number: &usize| (number + self.count - self.first) % self.count;
        let mut order: Vec<usize> = (0..self.givers.len()).collect();
        order.sort_by_key(after);
        for other in order {
            if let Some(work) = self.work_of(other) {
                return Some(work);
            }
        }
        None
    }

    /// What another thread gives, once it has answered.
    fn work_of(&mut self, other: usize) -> Option<Batch> {
        let may_give = |sink: &Sink<'_>| sink.givers.get(other) == Some(&true);
        if !may_give(self) || !self.ends.as_ref()?.send(other, Post::Hungry(self.first)) {
            return None;
        }
        while self.given.is_none() && may_give(self) {
            let post = self.ends.as_ref()?.receive()?;
            self.take(post);
        }
        self.given.take()
    }

    /// Answers a thread that has nothing left to expand.
    fn give(&mut self, to: usize) {
        let own = self.shards.first_mut();
        let work = own.and_then(|own| own.portion(&mut self.left, self.first, self.count));
        let post = work.map_or(Post::Nothing(self.first), Post::Work);
        if let Some(ends) = &self.ends {
            // Who does not receive any more has panicked.
            ends.send(to, post);
        }
    }

    /// Takes a batch whose states have been expanded.
    pub fn put_back(&mut self, batch: Batch) {
        if let Some(own) = self.shards.first_mut() {
            own.put_back(batch);
        }
    }

    /// Brings what was found to the own shards.
    pub fn settle(&mut self) {
        self.shards.iter_mut().for_each(Shard::settle);
    }

    /// Sends what was found for a shard, if that is anything.
    fn send(&mut self, number: usize) {
        // A thread with ends has one shard.
        let Some(own) = self.shards.first_mut() else {
            return;
        };
        if let (Some(ends), Some(full)) = (&self.ends, own.outgoing(number)) {
            // The other one receives until this one is done.
            ends.send(number, Post::States(full));
        }
    }

    fn send_all(&mut self) {
        (0..self.count).for_each(|shard| self.send(shard));
    }

    fn take(&mut self, post: Post) {
        match post {
            Post::States(batch) => {
                if let Some(own) = self.shards.first_mut() {
                    own.take(batch);
                }
            }
            Post::Hungry(other) => self.give(other),
            Post::Work(batch) => self.given = Some(batch),
            Post::Nothing(other) => {
                if let Some(gives) = self.givers.get_mut(other) {
                    *gives = false;
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
    pub fn look(&mut self) {
        while let Some(post) = self.ends.as_ref().and_then(Ends::sent) {
            self.take(post);
        }
    }

    /// Sends what is left, and takes in what the others send until they are done.
    pub fn finish(&mut self) {
        self.left = Range::NONE;
        self.send_all();
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
    pub fn agree(&mut self, own: Part) -> Part {
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
