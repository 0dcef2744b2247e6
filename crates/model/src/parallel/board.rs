//! What is to be expanded in a layer, and where the threads meet after it.
//!
//! Invariant: a thread that waits goes on, also when another one has panicked.

use super::arena::Segment;
use crate::apart::Apart;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The segments of two layers: of that which is expanded, and of the next one.
pub(super) struct Board {
    layers: [Vec<Apart<Posted>>; 2],
}

/// What a thread has found for a layer. Threads write here at the same time, each in
/// its own.
#[derive(Default)]
struct Posted {
    segments: Mutex<Arc<[Segment]>>,
    /// The first that nobody has taken yet.
    free: AtomicUsize,
}

impl Board {
    /// A board for so many threads.
    pub fn new(threads: usize) -> Board {
        let posted = || (0..threads).map(|_| Apart::default()).collect();
        Board {
            layers: [posted(), posted()],
        }
    }

    fn layer(&self, layer: u32) -> &[Apart<Posted>] {
        let [even, odd] = &self.layers;
        if layer.is_multiple_of(2) { even } else { odd }
    }

    /// Posts what a thread has found for a layer. The layer two before is done.
    pub fn post(&self, layer: u32, thread: usize, segments: Vec<Segment>) {
        if let Some(Apart(posted)) = self.layer(layer).get(thread) {
            *locked(&posted.segments) = segments.into();
            posted.free.store(0, Ordering::Release);
        }
    }

    /// Nobody has found anything for a layer yet.
    pub fn clear(&self, layer: u32) {
        let threads = 0..self.layer(layer).len();
        threads.for_each(|thread| self.post(layer, thread, Vec::new()));
    }

    /// What each thread has found for a layer.
    pub fn posted(&self, layer: u32) -> Vec<Arc<[Segment]>> {
        let posted = self.layer(layer).iter();
        posted
            .map(|it| Arc::clone(&locked(&it.0.segments)))
            .collect()
    }

    /// Takes one of the segments that a thread has posted: gives which one.
    pub fn take(&self, layer: u32, thread: usize) -> usize {
        let posted = self.layer(layer).get(thread);
        posted.map_or(usize::MAX, |it| it.0.free.fetch_add(1, Ordering::Relaxed))
    }
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
    fn with(self, other: Part) -> Part {
        Part {
            known: self.known + other.known,
            is_over: self.is_over || other.is_over,
        }
    }
}

/// So often a thread looks whether the others are there before it sleeps.
const LOOKS: u32 = 4000;

/// Where threads wait for each other.
pub(super) struct Meeting {
    threads: usize,
    /// How often all have met.
    round: AtomicU32,
    inner: Mutex<Inner>,
    wake: Condvar,
}

#[derive(Default)]
struct Inner {
    arrived: usize,
    sum: Part,
    /// What all had when they met last.
    agreed: Part,
    /// One of them does not come any more.
    is_broken: bool,
}

impl Meeting {
    /// A meeting of so many threads.
    pub fn new(threads: usize) -> Meeting {
        Meeting {
            threads,
            round: AtomicU32::new(0),
            inner: Mutex::default(),
            wake: Condvar::new(),
        }
    }

    /// Waits until all threads are here. Gives what all have.
    pub fn agree(&self, own: Part) -> Part {
        let mut inner = locked(&self.inner);
        let round = self.round.load(Ordering::Acquire);
        inner.arrived += 1;
        inner.sum = inner.sum.with(own);
        if inner.arrived == self.threads {
            (inner.agreed, inner.sum, inner.arrived) = (inner.sum, Part::default(), 0);
            self.go_on(&inner);
        } else {
            drop(inner);
            for _ in 0..LOOKS {
                if self.round.load(Ordering::Acquire) != round {
                    break;
                }
                spin_loop();
            }
            inner = locked(&self.inner);
            while self.round.load(Ordering::Acquire) == round && !inner.is_broken {
                let waited = self.wake.wait(inner);
                inner = waited.unwrap_or_else(PoisonError::into_inner);
            }
        }
        Part {
            is_over: inner.agreed.is_over || inner.is_broken,
            ..inner.agreed
        }
    }

    fn go_on(&self, _locked: &MutexGuard<'_, Inner>) {
        self.round.fetch_add(1, Ordering::Release);
        self.wake.notify_all();
    }
}

/// A thread that takes part in a meeting; nobody waits for it when it has panicked.
pub(super) struct Participant<'a>(pub &'a Meeting);

impl Drop for Participant<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut inner = locked(&self.0.inner);
            inner.is_broken = true;
            self.0.go_on(&inner);
        }
    }
}

/// What is in a mutex. A thread that panics leaves nothing half done in one.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
