//! Synchronisation of the threads after each layer.
//!
//! The first thread takes part in every layer. Another thread joins a layer when it wakes
//! up, if the layer is large enough for several threads and not complete by then.
//! Starting or waking a thread takes longer than expanding a small layer, so nobody waits
//! for a thread that has not joined.
//!
//! Invariants: a layer ends when all threads that joined it have reported their results,
//! and the next one begins at the same time; a waiting thread continues even if another
//! one panics.

use super::LAYER_STATES_MIN;
use crate::breadth::Options;
use crate::report::Cut;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The results of a thread for a layer.
#[derive(Debug, Clone, Copy)]
pub(super) struct LayerResult {
    /// Number of new states.
    pub new: u64,
    /// Whether a finding or a limit ends the search.
    pub is_over: bool,
}

/// The progress of the search.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Progress {
    /// Number of the current layer; at the end, of the last one.
    pub layer: u32,
    /// Whether the layer is large enough for several threads.
    pub is_large: bool,
    /// Whether the search is over.
    pub is_over: bool,
    /// The limit that ended the search, if that is why.
    pub cut: Option<Cut>,
}

/// Number of times that a thread polls for a change before it sleeps.
const POLLS: u32 = 4000;

/// The limits of a search.
#[derive(Debug, Clone, Copy)]
struct Limits {
    states_max: u32,
    depth_max: u32,
}

/// A barrier between layers.
pub(super) struct Barrier {
    limits: Limits,
    /// Incremented at the start of each layer and at the end.
    generation: AtomicU32,
    inner: Mutex<Inner>,
    wake: Condvar,
}

#[derive(Default)]
struct Inner {
    progress: Progress,
    /// Number of known states, without those found in this layer.
    known: u64,
    /// Number of new states reported for this layer.
    reported: u64,
    /// Whether a thread has reported that the search is over.
    is_over: bool,
    /// Number of threads that joined the layer, and number of those that have finished
    /// it.
    present: usize,
    done: usize,
    /// Number of sleeping threads.
    asleep: usize,
}

impl Barrier {
    /// Returns a barrier before the first layer.
    pub fn new(options: &Options) -> Barrier {
        Barrier {
            limits: Limits {
                states_max: options.states_max,
                depth_max: options.depth_max,
            },
            generation: AtomicU32::new(0),
            inner: Mutex::default(),
            wake: Condvar::new(),
        }
    }

    /// Starts the first layer: the first thread has found the initial states.
    pub fn begin(&self, own: LayerResult) -> Progress {
        let mut inner = self.locked();
        (inner.known, inner.present) = (own.new, 1);
        inner.progress = Progress {
            is_large: own.new >= LAYER_STATES_MIN,
            is_over: own.is_over || own.new == 0,
            ..Progress::default()
        };
        inner.progress
    }

    /// Reports the results of the first thread for a layer, and waits until all threads
    /// that joined it have finished. Returns the progress.
    pub fn next(&self, own: LayerResult) -> Progress {
        let (mut inner, mut polls) = (self.locked(), POLLS);
        let generation = || self.generation.load(Ordering::Relaxed);
        let before = generation();
        self.done(&mut inner, own);
        // The search is over already if a thread has panicked in this layer.
        while generation() == before && !inner.progress.is_over {
            inner = self.wait(inner, &mut polls);
        }
        inner.progress
    }

    /// Reports the results of another thread for a layer.
    pub fn report(&self, own: LayerResult) {
        self.done(&mut self.locked(), own);
    }

    /// Waits until there is a layer that is large enough for several threads, other than
    /// the last one of this thread, and joins it. Returns `None` when the search is over.
    pub fn join(&self, last: Option<u32>) -> Option<Progress> {
        let (mut inner, mut polls) = (self.locked(), POLLS);
        loop {
            let progress = inner.progress;
            if progress.is_over {
                return None;
            }
            if progress.is_large && last != Some(progress.layer) {
                inner.present += 1;
                return Some(progress);
            }
            inner = self.wait(inner, &mut polls);
        }
    }

    /// Records the results of a thread; the last one ends the layer.
    fn done(&self, inner: &mut Inner, own: LayerResult) {
        inner.done += 1;
        inner.reported += own.new;
        inner.is_over |= own.is_over;
        if inner.done == inner.present && !inner.progress.is_over {
            inner.next_layer(self.limits);
            self.advance_generation(inner);
        }
    }

    /// Wakes the waiting threads.
    fn advance_generation(&self, inner: &Inner) {
        self.generation.fetch_add(1, Ordering::Release);
        if inner.asleep > 0 {
            self.wake.notify_all();
        }
    }

    /// Waits for a change, possibly returning early: polls `polls` times, counting down,
    /// then sleeps.
    fn wait<'a>(&'a self, inner: MutexGuard<'a, Inner>, polls: &mut u32) -> MutexGuard<'a, Inner> {
        // Changes only while the mutex is held.
        let before = self.generation.load(Ordering::Relaxed);
        if *polls > 0 {
            drop(inner);
            while *polls > 0 && self.generation.load(Ordering::Acquire) == before {
                *polls -= 1;
                spin_loop();
            }
            return self.locked();
        }
        let mut inner = inner;
        inner.asleep += 1;
        let woken = self.wake.wait(inner);
        inner = woken.unwrap_or_else(PoisonError::into_inner);
        inner.asleep -= 1;
        inner
    }

    /// Locks the mutex. A thread that panics leaves nothing half updated.
    fn locked(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Moves to the next layer, if there is one.
    fn next_layer(&mut self, limits: Limits) {
        let new = std::mem::take(&mut self.reported);
        self.known += new;
        (self.present, self.done) = (1, 0);
        self.progress.cut = match () {
            () if self.is_over || new == 0 => None,
            () if self.known > u64::from(limits.states_max) => Some(Cut::States {
                limit: limits.states_max,
            }),
            () if self.progress.layer >= limits.depth_max => Some(Cut::Depth {
                limit: limits.depth_max,
            }),
            () => None,
        };
        self.progress.is_over = self.is_over || new == 0 || self.progress.cut.is_some();
        if !self.progress.is_over {
            self.progress.layer += 1;
            self.progress.is_large = new >= LAYER_STATES_MIN;
        }
    }
}

/// A thread that may join layers; if it panics, the search ends and nobody waits for it.
pub(super) struct Participant<'a>(pub &'a Barrier);

impl Drop for Participant<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut inner = self.0.locked();
            inner.progress.is_over = true;
            self.0.advance_generation(&inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    const LARGE: LayerResult = part(LAYER_STATES_MIN);
    const SMALL: LayerResult = part(LAYER_STATES_MIN - 1);

    const fn part(new: u64) -> LayerResult {
        LayerResult {
            new,
            is_over: false,
        }
    }

    #[test]
    fn a_layer_does_not_wait_for_threads_that_have_not_joined() {
        let barrier = Barrier::new(&Options::default());
        assert!(barrier.begin(LARGE).is_large);
        let progress = barrier.next(LARGE);
        assert_eq!(
            (progress.layer, progress.is_large, progress.is_over),
            (1, true, false)
        );
        // A thread that joins now joins the current layer.
        assert_eq!(barrier.join(None).map(|progress| progress.layer), Some(1));
    }

    #[test]
    fn a_layer_ends_with_the_last_that_has_come() {
        let barrier = Barrier::new(&Options::default());
        barrier.begin(LARGE);
        assert!(barrier.join(None).is_some());
        thread::scope(|scope| {
            let first = scope.spawn(|| barrier.next(part(3)));
            // The first to finish waits for the other.
            barrier.report(part(LAYER_STATES_MIN - 3));
            let progress = first.join().unwrap();
            assert_eq!((progress.layer, progress.is_large), (1, true));
        });
    }

    #[test]
    fn a_thread_joins_a_layer_once() {
        let barrier = Barrier::new(&Options::default());
        barrier.begin(LARGE);
        thread::scope(|scope| {
            let first = scope.spawn(|| {
                let layers = [LARGE, SMALL, LARGE, part(0)].map(|own| barrier.next(own));
                layers.map(|progress| progress.layer)
            });
            let mut last = None;
            while let Some(progress) = barrier.join(last) {
                assert!(
                    last < Some(progress.layer) && progress.layer != 2,
                    "{last:?} {progress:?}"
                );
                last = Some(progress.layer);
                barrier.report(part(0));
            }
            assert_eq!(first.join().unwrap(), [1, 2, 3, 3]);
        });
    }

    #[test]
    fn limits_end_the_search() {
        let options = Options {
            states_max: 10,
            depth_max: 2,
            ..Options::default()
        };
        let barrier = Barrier::new(&options);
        barrier.begin(part(1));
        assert_eq!(barrier.next(part(9)).cut, None);
        assert_eq!(barrier.next(part(1)).cut, Some(Cut::States { limit: 10 }));
        let barrier = Barrier::new(&options);
        barrier.begin(part(1));
        let layers = [1, 1, 1].map(|new| barrier.next(part(new)));
        assert_eq!(layers.map(|progress| progress.layer), [1, 2, 2]);
        assert_eq!(layers[2].cut, Some(Cut::Depth { limit: 2 }));
        // If the layer has an error, limits do not matter.
        let barrier = Barrier::new(&options);
        barrier.begin(part(1));
        let wrong = LayerResult {
            is_over: true,
            ..part(20)
        };
        let progress = barrier.next(wrong);
        assert_eq!((progress.is_over, progress.cut), (true, None));
    }

    #[test]
    fn a_thread_that_joins_after_a_panic_does_not_wait() {
        let barrier = Barrier::new(&Options::default());
        barrier.begin(LARGE);
        assert!(barrier.join(None).is_some());
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _participant = Participant(&barrier);
            std::panic::resume_unwind(Box::new("a test"));
        }));
        assert!(panicked.is_err());
        assert!(barrier.next(LARGE).is_over);
        assert!(barrier.join(None).is_none());
    }

    #[test]
    fn a_panic_lets_everyone_go() {
        let barrier = Barrier::new(&Options::default());
        barrier.begin(LARGE);
        assert!(barrier.join(None).is_some());
        thread::scope(|scope| {
            let first = scope.spawn(|| barrier.next(LARGE));
            let other = scope.spawn(|| barrier.join(Some(0)));
            let panics = scope.spawn(|| {
                let _participant = Participant(&barrier);
                std::panic::resume_unwind(Box::new("a test"));
            });
            assert!(panics.join().is_err());
            assert!(first.join().unwrap().is_over);
            assert!(other.join().unwrap().is_none());
        });
    }
}
