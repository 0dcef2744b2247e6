//! The inputs and the orders of the scheduler.

use crate::choice::{Choice, Moment};
use crate::terms::{Point, ThreadId};

/// A report to the scheduler. Words of memory are read by the shell: as one thread runs at a
/// time, they stay as they are until the orders have been carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Input {
    /// A thread exists and stands before its first instruction. The one that started it goes
    /// on until its next point.
    Started {
        /// The new thread.
        thread: ThreadId,
        /// The thread that started it; none for the first thread.
        parent: Option<ThreadId>,
    },
    /// The function of a thread is known: threads with equal numbers run the same.
    Code {
        /// The thread.
        thread: ThreadId,
        /// The number; 0 if it is not known.
        code: u64,
    },
    /// The kernel will clear a word when the thread ends (`set_tid_address`, the flag of `clone`).
    ChildTid {
        /// The thread.
        thread: ThreadId,
        /// The word, or 0 for none.
        address: u64,
    },
    /// The thread that has the baton stands at a point, and gives the baton back.
    Reached {
        /// The thread.
        thread: ThreadId,
        /// The point.
        point: Point,
    },
    /// The thread that has the baton stands in a futex call, which is not made.
    Futex {
        /// The thread.
        thread: ThreadId,
        /// The call.
        call: FutexCall,
        /// The word at its first address.
        word: u32,
        /// The word at its second address, if it has one.
        second: u32,
    },
    /// A thread that waits for a word waits for another one, too (`futex_waitv`). What it waited for
    /// is the first word that was woken, which the shell knows.
    AlsoWaits {
        /// The thread.
        thread: ThreadId,
        /// The address of the other word.
        address: u64,
    },
    /// The thread that has the baton sleeps, without a system call.
    Sleeps {
        /// The thread.
        thread: ThreadId,
        /// Until this moment.
        deadline: u64,
    },
    /// The thread that has the baton makes a system call that may block, and gives the baton
    /// away meanwhile.
    Call {
        /// The thread.
        thread: ThreadId,
    },
    /// Such a call has returned; the thread stands behind it.
    Returned {
        /// The thread.
        thread: ThreadId,
    },
    /// In real time: the moment has come for which the thread waits.
    Expired {
        /// The thread.
        thread: ThreadId,
    },
    /// A signal is pending for a thread, which does not block it.
    Signal {
        /// The thread.
        thread: ThreadId,
        /// Its number, 1 to 64.
        signal: u8,
    },
    /// A step in the use of a lock, as the program's library or language makes it. The thread
    /// has the baton.
    Lock {
        /// The thread.
        thread: ThreadId,
        /// The lock.
        lock: u64,
        /// The step.
        step: LockStep,
        /// Whether others may hold it, too.
        mode: LockMode,
    },
    /// The thread ends holding this robust futex, or one with priority inheritance that is
    /// waited for ([`Scheduler::inherited_words`](crate::Scheduler::inherited_words)); told for
    /// each, before [`Input::Ended`]. A lock of that address is no longer held.
    Died {
        /// The thread.
        thread: ThreadId,
        /// The word's address.
        address: u64,
        /// The word.
        word: u32,
        /// Whether it is a priority-inheritance futex.
        is_pi: bool,
    },
    /// The thread is gone.
    Ended {
        /// The thread.
        thread: ThreadId,
    },
    /// The user lets a thread go on, or holds it. A thread that is held while it has the baton
    /// keeps it, and others stand; if the user lets others go on, the shell tells that it was
    /// [`PointKind::Preempted`](crate::PointKind::Preempted) where it stands.
    UserKey {
        /// The thread.
        thread: ThreadId,
        /// Whether it may go on.
        on: bool,
    },
    /// Threads that spin look again. The shell tells it where nobody goes on for that
    /// ([`Standstill::Spin`]), as long as it doubts that they do nothing else.
    LookAgain,
    /// A person has chosen.
    Choose {
        /// The choice: one of [`Scheduler::offers`](crate::Scheduler::offers).
        choice: Choice,
    },
}

/// A futex call. A deadline is a moment of the scheduler's time, whatever the call's clock is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FutexCall {
    /// `FUTEX_WAIT`, `FUTEX_WAIT_BITSET`.
    Wait {
        /// The word.
        address: u64,
        /// The contents that it must have.
        expected: u32,
        /// Which wakes concern it; all bits for `FUTEX_WAIT`.
        mask: u32,
        /// When it gives up.
        deadline: Option<u64>,
    },
    /// `FUTEX_WAKE`, `FUTEX_WAKE_BITSET`.
    Wake {
        /// The word.
        address: u64,
        /// The number of threads; the kernel takes less than 1 as 1.
        count: i32,
        /// Which waits it concerns; all bits for `FUTEX_WAKE`.
        mask: u32,
    },
    /// `FUTEX_REQUEUE`, and with an expected word `FUTEX_CMP_REQUEUE`.
    Requeue {
        /// The word that threads wait for.
        from: u64,
        /// The word that those wait for then who are not woken.
        to: u64,
        /// The number of threads that are woken.
        wake: i32,
        /// The number of the others that wait for `to` then.
        requeue: i32,
        /// The contents that the first word must have.
        expected: Option<u32>,
    },
    /// `FUTEX_WAKE_OP`.
    WakeOp {
        /// The word that threads wait for.
        first: u64,
        /// The word that is changed.
        second: u64,
        /// The number of threads that are woken at the first.
        wake_first: i32,
        /// The number of threads that are woken at the second if the comparison holds.
        wake_second: i32,
        /// Operation, comparison and their arguments as the kernel packs them.
        operation: u32,
    },
    /// `FUTEX_LOCK_PI`, `FUTEX_LOCK_PI2`.
    LockPi {
        /// The word.
        address: u64,
        /// When it gives up.
        deadline: Option<u64>,
    },
    /// `FUTEX_TRYLOCK_PI`.
    TryLockPi {
        /// The word.
        address: u64,
    },
    /// `FUTEX_UNLOCK_PI`.
    UnlockPi {
        /// The word.
        address: u64,
    },
}

/// A step in the use of a lock. Whether a call succeeds is known before it is made, since one
/// thread runs at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LockStep {
    /// The thread begins to wait for the lock.
    Wants {
        /// Whether it gives up some day.
        is_timed: bool,
    },
    /// It no longer waits for it, and has it not.
    GivesUp,
    /// It has the lock.
    Takes {
        /// Whether it would not have waited for ever: a try, a timed lock.
        is_tried: bool,
    },
    /// It no longer has the lock.
    Drops,
}

/// The way in which a lock is held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum LockMode {
    /// Nobody.
    #[default]
    Exclusive,
    /// Other readers.
    Shared,
}

/// An order, which the shell carries out without deciding anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// The thread has the baton and the user's key: it goes on.
    Run {
        /// The thread.
        thread: ThreadId,
    },
    /// The thread's system call is made. It has no baton until it has returned.
    EnterKernel {
        /// The thread.
        thread: ThreadId,
    },
    /// The call in which the thread stands has this result. It does not go on yet.
    Finish {
        /// The thread.
        thread: ThreadId,
        /// The result of the kernel: negative for an error.
        result: i64,
    },
    /// A word of the memory is written.
    Write {
        /// Its address.
        address: u64,
        /// Its new contents.
        word: u32,
    },
    /// The signal is delivered to the thread when it goes on.
    Deliver {
        /// The thread.
        thread: ThreadId,
        /// The signal.
        signal: u8,
    },
    /// Some threads wait for one another while others may go on
    /// ([`Scheduler::deadlock`](crate::Scheduler::deadlock)). Said once of each.
    PartialDeadlock,
    /// Nobody goes on.
    Stands {
        /// Why.
        reason: Standstill,
    },
    /// The choice at this moment of the log is not possible in this run: it is another run.
    Diverged {
        /// The moment.
        moment: Moment,
    },
    /// The search has been here: what follows is known, the run can be ended.
    Known,
    /// The run has more points than it may have.
    Limit,
}

/// Why nobody goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Standstill {
    /// All threads have ended.
    Over,
    /// Nobody ever will: all wait for one another.
    Deadlock,
    /// All that do not wait repeat a loop in which nothing changes.
    Spin,
    /// A thread is in the kernel, and the others wait.
    Outside,
    /// The user holds those that could go on.
    User,
    /// A person must choose ([`Input::Choose`]).
    Choice,
}

/// Why an input was refused. The scheduler is as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// There is no such thread.
    UnknownThread,
    /// There is one already.
    KnownThread,
    /// A thread has too many ancestors or children.
    TooManyThreads,
    /// The thread is in a state in which this cannot happen.
    WrongState,
    /// Only the thread that has the baton can do this.
    NoBaton,
    /// This is not on offer.
    NoChoice,
    /// No signal has this number.
    NoSignal,
}
