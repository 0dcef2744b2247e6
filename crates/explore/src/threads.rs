//! The state of the threads, to the shell.

use crate::control::copying::Numbers;
use crate::points::LockUse;
use juror_debuggee::{StopEvent, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The step that a thread makes when it gets the baton.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It goes on.
    Ready,
    /// It stands before a call that uses a lock.
    LockCall(LockUse),
    /// It stands at the entry of a futex call.
    Futex,
    /// It stands at the entry of a call that waits for one of several futexes.
    FutexWaitv,
    /// It stands at the entry of a call that sleeps, until then.
    Sleep(u64),
    /// It stands at the entry of a call that may wait, the one with this number.
    MayWait(u64),
    /// It is in such a call, the one with this number.
    InCall(u64),
    /// It makes the call with this number, which is recorded, or was changed to feed its result.
    Kept(u64),
    /// Its call has returned in the recorded run; it gets the result.
    Fed,
    /// It stands before the call with this number, which makes a thread or a process.
    Makes(u64),
    /// It is about to end.
    Exit,
    /// It reads what it changes at an address of some bytes, and writes it at its next step.
    Reads(u64, usize),
    /// It has read this there.
    Writes(u64, usize, u64),
}

/// A call of `pthread_cond_wait`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConditionWait {
    /// The address of the condition.
    pub(crate) condition: u64,
    pub(crate) return_address: u64,
    /// The stack pointer when it has returned.
    pub(crate) stack_then: u64,
    /// Whether it returns for no reason.
    pub(crate) is_spurious: bool,
}

/// The threads.
#[derive(Debug, Clone, Default)]
pub(crate) struct Threads {
    standing: FxHashMap<ThreadId, Standing>,
    /// Threads that have started, and of which the scheduler has not been told.
    pub(crate) started: FxHashSet<ThreadId>,
    /// The word that the kernel clears at the end of the thread that a thread is making.
    pub(crate) child_words: FxHashMap<ThreadId, u64>,
    /// The words that the kernel fills with the id of the thread that a thread is making.
    pub(crate) id_words: FxHashMap<ThreadId, Vec<u64>>,
    /// A thread that has made another one, which has not started yet.
    pub(crate) maker: Option<(ThreadId, ThreadId)>,
    /// The function of the thread that a thread is making.
    pub(crate) codes: FxHashMap<ThreadId, u64>,
    /// The lock that a thread takes some day: its memory says when it has.
    pub(crate) awaited: FxHashMap<ThreadId, u64>,
    /// The address at which a thread used a lock last.
    pub(crate) sites: FxHashMap<ThreadId, u64>,
    /// The waits for conditions in which threads are.
    pub(crate) conditions: FxHashMap<ThreadId, ConditionWait>,
    /// Whether the program has set a timer, which may send a signal.
    pub(crate) has_timer: bool,
    /// The words of those that wait for one of several.
    pub(crate) words: FxHashMap<ThreadId, Vec<u64>>,
    /// Stops of threads that a signal led out of the kernel: they are handled when it is their turn.
    pub(crate) returned: FxHashMap<ThreadId, StopEvent>,
}

impl Threads {
    /// Returns what a thread does when it goes on.
    pub(crate) fn standing(&self, thread: ThreadId) -> Standing {
        let known = self.standing.get(&thread).copied();
        known.unwrap_or(Standing::Ready)
    }

    /// Notes what a thread does when it goes on.
    pub(crate) fn stands(&mut self, thread: ThreadId, standing: Standing) {
        self.standing.insert(thread, standing);
    }

    /// The threads have other numbers.
    pub(crate) fn renumber(&mut self, numbers: Numbers<'_>) {
        numbers.keys(&mut self.standing);
        self.started = numbers.set(&self.started);
        numbers.keys(&mut self.child_words);
        numbers.keys(&mut self.id_words);
        self.maker = self
            .maker
            .and_then(|(maker, made)| Some((numbers.of(maker)?, numbers.of(made)?)));
        numbers.keys(&mut self.codes);
        numbers.keys(&mut self.awaited);
        numbers.keys(&mut self.sites);
        numbers.keys(&mut self.conditions);
        numbers.keys(&mut self.words);
        numbers.keys(&mut self.returned);
        for event in self.returned.values_mut() {
            *event = event.renumbered(numbers.pairs());
        }
    }

    /// Forgets a thread that has ended.
    pub(crate) fn forget(&mut self, thread: ThreadId) {
        self.standing.remove(&thread);
        self.awaited.remove(&thread);
        self.conditions.remove(&thread);
        self.started.remove(&thread);
        self.words.remove(&thread);
        self.returned.remove(&thread);
    }
}
