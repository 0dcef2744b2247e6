//! Where the threads of a search meet after each layer.
//!
//! The first thread takes part in every layer. Another one comes into a layer when it
//! hears of it, if that has enough for several and is not over by then: a thread that has
//! just been made, or has slept, takes longer to come than a small layer takes, so nobody
//! waits for it before it is there.
//!
//! Invariants: a layer ends when all that take part in it have told what they found, and
//! the next one begins at the same moment; whoever waits goes on, also when another thread
//! has panicked.

use super::FEW;
use crate::breadth::Options;
use crate::report::Cut;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What a thread has found in a layer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    /// How many states were not known.
    pub new: u64,
    /// Something was found that ends the search.
    pub is_over: bool,
}

/// How far the search is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Now {
    /// The number of the layer that is expanded; in the end, of the last one that was.
    pub layer: u32,
    /// The layer has enough for several threads.
    pub is_large: bool,
    /// No layer is expanded any more.
    pub is_over: bool,
    /// What the search may not exceed, where that is why.
    pub cut: Option<Cut>,
}

/// So often a thread looks whether something has happened before it sleeps.
const LOOKS: u32 = 4000;

/// What a search may take.
#[derive(Debug, Clone, Copy)]
struct Limits {
    states_max: u32,
    depth_max: u32,
}

/// The meeting of the threads of a search.
pub(super) struct Meeting {
    limits: Limits,
    /// How often there was another layer, or the end.
    turns: AtomicU32,
    inner: Mutex<Inner>,
    wake: Condvar,
}

#[derive(Default)]
struct Inner {
    now: Now,
    /// How many states are known, but for those that are found in this layer.
    known: u64,
    /// How many new ones those have told that have done with the layer.
    told: u64,
    /// One of them has told that the search is over.
    is_over: bool,
    /// How many threads take part in the layer, and how many of them have done with it.
    present: usize,
    done: usize,
    /// How many threads sleep.
    asleep: usize,
}

impl Meeting {
    /// A meeting before the first layer.
    pub fn new(options: &Options) -> Meeting {
        Meeting {
            limits: Limits {
                states_max: options.states_max,
                depth_max: options.depth_max,
            },
            turns: AtomicU32::new(0),
            inner: Mutex::default(),
            wake: Condvar::new(),
        }
    }

    /// The first thread has found the initial states, which are the first layer.
    pub fn begin(&self, own: Part) -> Now {
        let mut inner = self.locked();
        (inner.known, inner.present) = (own.new, 1);
        inner.now = Now {
            is_large: own.new >= FEW,
            is_over: own.is_over || own.new == 0,
            ..Now::default()
        };
        inner.now
    }

    /// The first thread has done with a layer: waits until all have. Gives how far the
    /// search is then.
    pub fn next(&self, own: Part) -> Now {
        let (mut inner, mut looks) = (self.locked(), LOOKS);
        let turns = || self.turns.load(Ordering::Relaxed);
        let before = turns();
        self.done(&mut inner, own);
        // It is over already if a thread has panicked in this layer.
        while turns() == before && !inner.now.is_over {
            inner = self.wait(inner, &mut looks);
        }
        inner.now
    }

    /// Another thread has done with a layer.
    pub fn tell(&self, own: Part) {
        self.done(&mut self.locked(), own);
    }

    /// Waits until there is a layer with enough for several threads, another one than that
    /// in which this thread was last. The caller takes part in it, then. Gives nothing when
    /// there is none any more.
    pub fn join(&self, last: Option<u32>) -> Option<Now> {
        let (mut inner, mut looks) = (self.locked(), LOOKS);
        loop {
            let now = inner.now;
            if now.is_over {
                return None;
            }
            if now.is_large && last != Some(now.layer) {
                inner.present += 1;
                return Some(now);
            }
            inner = self.wait(inner, &mut looks);
        }
    }

    /// Somebody has done with the layer; the last one ends it.
    fn done(&self, inner: &mut Inner, own: Part) {
        inner.done += 1;
        inner.told += own.new;
        inner.is_over |= own.is_over;
        if inner.done == inner.present && !inner.now.is_over {
            inner.turn(self.limits);
            self.has_turned(inner);
        }
    }

    /// Lets those who wait go on that have something to do.
    fn has_turned(&self, inner: &Inner) {
        self.turns.fetch_add(1, Ordering::Release);
        if inner.asleep > 0 {
            self.wake.notify_all();
        }
    }

    /// Waits until it goes on after this moment, or for nothing: looks so many times, which
    /// are counted down, and sleeps then.
    fn wait<'a>(&'a self, inner: MutexGuard<'a, Inner>, looks: &mut u32) -> MutexGuard<'a, Inner> {
        // It only changes while the mutex is held.
        let before = self.turns.load(Ordering::Relaxed);
        if *looks > 0 {
            drop(inner);
            while *looks > 0 && self.turns.load(Ordering::Acquire) == before {
                *looks -= 1;
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

    /// A thread that panics leaves nothing half done.
    fn locked(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Goes to the next layer, if there is one.
    fn turn(&mut self, limits: Limits) {
        let new = std::mem::take(&mut self.told);
        self.known += new;
        (self.present, self.done) = (1, 0);
        self.now.cut = match () {
            () if self.is_over || new == 0 => None,
            () if self.known > u64::from(limits.states_max) => Some(Cut::States {
                limit: limits.states_max,
            }),
            () if self.now.layer >= limits.depth_max => Some(Cut::Depth {
                limit: limits.depth_max,
            }),
            () => None,
        };
        self.now.is_over = self.is_over || new == 0 || self.now.cut.is_some();
        if !self.now.is_over {
            self.now.layer += 1;
            self.now.is_large = new >= FEW;
        }
    }
}

/// A thread that takes part in a meeting; nobody waits for it when it has panicked.
pub(super) struct Participant<'a>(pub &'a Meeting);

impl Drop for Participant<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut inner = self.0.locked();
            inner.now.is_over = true;
            self.0.has_turned(&inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    const LARGE: Part = part(FEW);
    const SMALL: Part = part(FEW - 1);

    const fn part(new: u64) -> Part {
        Part {
            new,
            is_over: false,
        }
    }

    #[test]
    fn nobody_waits_for_a_thread_that_has_not_come() {
        let meeting = Meeting::new(&Options::default());
        assert!(meeting.begin(LARGE).is_large);
        let now = meeting.next(LARGE);
        assert_eq!((now.layer, now.is_large, now.is_over), (1, true, false));
        // One that comes now comes to the layer that is expanded now.
        assert_eq!(meeting.join(None).map(|now| now.layer), Some(1));
    }

    #[test]
    fn a_layer_ends_with_the_last_that_has_come() {
        let meeting = Meeting::new(&Options::default());
        meeting.begin(LARGE);
        assert!(meeting.join(None).is_some());
        thread::scope(|scope| {
            let first = scope.spawn(|| meeting.next(part(3)));
            // Whoever comes first waits for the other one.
            meeting.tell(part(FEW - 3));
            let now = first.join().unwrap();
            assert_eq!((now.layer, now.is_large), (1, true));
        });
    }

    #[test]
    fn who_has_done_with_a_layer_does_not_come_to_it_again() {
        let meeting = Meeting::new(&Options::default());
        meeting.begin(LARGE);
        thread::scope(|scope| {
            let first = scope.spawn(|| {
                let layers = [LARGE, SMALL, LARGE, part(0)].map(|own| meeting.next(own));
                layers.map(|now| now.layer)
            });
            let mut last = None;
            while let Some(now) = meeting.join(last) {
                assert!(last < Some(now.layer) && now.layer != 2, "{last:?} {now:?}");
                last = Some(now.layer);
                meeting.tell(part(0));
            }
            assert_eq!(first.join().unwrap(), [1, 2, 3, 3]);
        });
    }

    #[test]
    fn what_a_search_may_take_ends_it() {
        let options = Options {
            states_max: 10,
            depth_max: 2,
            ..Options::default()
        };
        let meeting = Meeting::new(&options);
        meeting.begin(part(1));
        assert_eq!(meeting.next(part(9)).cut, None);
        assert_eq!(meeting.next(part(1)).cut, Some(Cut::States { limit: 10 }));
        let meeting = Meeting::new(&options);
        meeting.begin(part(1));
        let layers = [1, 1, 1].map(|new| meeting.next(part(new)));
        assert_eq!(layers.map(|now| now.layer), [1, 2, 2]);
        assert_eq!(layers[2].cut, Some(Cut::Depth { limit: 2 }));
        // With what is wrong in the layer, what was left out is no matter.
        let meeting = Meeting::new(&options);
        meeting.begin(part(1));
        let wrong = Part {
            is_over: true,
            ..part(20)
        };
        let now = meeting.next(wrong);
        assert_eq!((now.is_over, now.cut), (true, None));
    }

    #[test]
    fn who_comes_after_a_panic_does_not_wait() {
        let meeting = Meeting::new(&Options::default());
        meeting.begin(LARGE);
        assert!(meeting.join(None).is_some());
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _participant = Participant(&meeting);
            std::panic::resume_unwind(Box::new("a test"));
        }));
        assert!(panicked.is_err());
        assert!(meeting.next(LARGE).is_over);
        assert!(meeting.join(None).is_none());
    }

    #[test]
    fn a_panic_lets_everyone_go() {
        let meeting = Meeting::new(&Options::default());
        meeting.begin(LARGE);
        assert!(meeting.join(None).is_some());
        thread::scope(|scope| {
            let first = scope.spawn(|| meeting.next(LARGE));
            let other = scope.spawn(|| meeting.join(Some(0)));
            let panics = scope.spawn(|| {
                let _participant = Participant(&meeting);
                std::panic::resume_unwind(Box::new("a test"));
            });
            assert!(panics.join().is_err());
            assert!(first.join().unwrap().is_over);
            assert!(other.join().unwrap().is_none());
        });
    }
}
