//! What is to be expanded in a layer.
//!
//! Invariant: when a layer begins, what was posted for the one two before it has been
//! taken, also by threads that did not take part in the last one and have posted nothing.

use super::arena::Segment;
use crate::apart::Apart;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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

/// What is in a mutex. A thread that panics leaves nothing half done in one.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
