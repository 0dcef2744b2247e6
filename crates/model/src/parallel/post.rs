//! What the threads of a search send to each other, and the ways between them.
//!
//! Invariant: a thread that waits is answered, also by one that has panicked.

use crate::store::Batch;
use std::hint::spin_loop;
use std::sync::mpsc::{Receiver, Sender, channel};

/// So often a thread looks for what is sent to it before it sleeps.
const LOOKS: u32 = 1000;

/// What threads send to each other.
pub(super) enum Post {
    /// States that belong to the receiver.
    States(Batch),
    /// The sender, of this number, has nothing left to expand. It is answered once,
    /// by one of the next two.
    Hungry(usize),
    /// States of the sender that the receiver is to expand.
    Work(Batch),
    /// The sender, of this number, has nothing to give in this layer.
    Nothing(usize),
    /// Nothing more comes in this layer.
    Done,
    /// The sender has its part of the next layer.
    Ready(Part),
}

/// What a thread, or several, have after a layer.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Part {
    /// How many states it knows.
    pub known: u64,
    /// Something was found that ends the search.
    pub is_over: bool,
}

impl Part {
    /// The sum of both.
    pub fn with(self, other: Part) -> Part {
        Part {
            known: self.known + other.known,
            is_over: self.is_over || other.is_over,
        }
    }
}

/// Where a thread sends to, and where it is sent to.
pub(super) struct Ends {
    number: usize,
    /// By thread; nothing to itself.
    senders: Vec<Option<Sender<Post>>>,
    receiver: Receiver<Post>,
}

impl Ends {
    /// Sends something to another thread. Gives whether there is one that receives.
    pub fn send(&self, to: usize, post: Post) -> bool {
        let sender = self.senders.get(to).and_then(Option::as_ref);
        sender.is_some_and(|sender| sender.send(post).is_ok())
    }

    /// What was sent and not received yet.
    pub fn sent(&self) -> Option<Post> {
        self.receiver.try_recv().ok()
    }

    /// Tells all others something. Gives how many there are.
    pub fn tell(&self, post: impl Fn() -> Post) -> usize {
        let others = self.senders.iter().flatten();
        others.clone().for_each(|sender| {
            // Who does not receive any more has panicked, and then so does the
            // search; or all have concluded that it is over.
            let _ = sender.send(post());
        });
        others.count()
    }

    /// What is sent next; nothing when nobody is left to send.
    pub fn receive(&self) -> Option<Post> {
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
        self.tell(|| Post::Nothing(self.number));
    }
}

/// Ways between all threads.
pub(super) fn connected(threads: usize) -> Vec<Ends> {
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..threads).map(|_| channel()).unzip();
    let ends = receivers.into_iter().enumerate().map(|(own, receiver)| {
        let others = senders.iter().enumerate();
        Ends {
            number: own,
            senders: others
                .map(|(number, sender)| (number != own).then(|| sender.clone()))
                .collect(),
            receiver,
        }
    });
    ends.collect()
}
