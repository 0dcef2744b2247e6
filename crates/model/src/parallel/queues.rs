//! Queues of segments to expand, for the current and the next layer.
//!
//! Invariant: when a layer begins, all segments posted for the layer two before it have
//! been taken, including those of threads that did not take part in the last layer and
//! posted nothing.

use super::arena::Segment;
use crate::cache_padded::CachePadded;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The segments of two layers: the current one and the next.
pub(super) struct Queues {
    layers: [Vec<CachePadded<Posted>>; 2],
}

/// The segments that a thread has posted for a layer. Threads post concurrently, each to
/// its own entry.
#[derive(Default)]
struct Posted {
    segments: Mutex<Arc<[Segment]>>,
    /// Index of the first segment that no thread has taken.
    free: AtomicUsize,
}

impl Queues {
    /// Returns empty queues for a number of threads.
    pub fn new(threads: usize) -> Queues {
        let posted = || (0..threads).map(|_| CachePadded::default()).collect();
        Queues {
            layers: [posted(), posted()],
        }
    }

    fn layer(&self, layer: u32) -> &[CachePadded<Posted>] {
        let [even, odd] = &self.layers;
        if layer.is_multiple_of(2) { even } else { odd }
    }

    /// Posts the segments that a thread has found for a layer. The layer two before must
    /// be complete.
    pub fn post(&self, layer: u32, thread: usize, segments: Vec<Segment>) {
        if let Some(CachePadded(posted)) = self.layer(layer).get(thread) {
            *locked(&posted.segments) = segments.into();
            posted.free.store(0, Ordering::Release);
        }
    }

    /// Returns the segments that each thread has posted for a layer.
    pub fn posted(&self, layer: u32) -> Vec<Arc<[Segment]>> {
        let posted = self.layer(layer).iter();
        posted
            .map(|it| Arc::clone(&locked(&it.0.segments)))
            .collect()
    }

    /// Takes the next segment posted by a thread. Returns its index, which may be past
    /// the end.
    pub fn take(&self, layer: u32, thread: usize) -> usize {
        let posted = self.layer(layer).get(thread);
        posted.map_or(usize::MAX, |it| it.0.free.fetch_add(1, Ordering::Relaxed))
    }
}

/// Locks a mutex. A thread that panics leaves no half-updated value in one.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
