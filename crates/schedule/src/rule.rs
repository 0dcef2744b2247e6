//! The rules of the machine, by name: each is needed, which tests show by dropping it
//! (`explore`).

/// A rule that a test can drop, to see that the exploration notices. Outside of tests none can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Rule {
    /// A wait is entered only while the word holds what is expected.
    CompareWord,
    /// A wake wakes no more than asked for.
    CountWoken,
    /// A wake that finds more than one waits until it has woken as many as asked for.
    WakeAll,
    /// A wake concerns those waits only that have a bit of its mask.
    MatchMask,
    /// Those who came first are woken first.
    FirstCome,
    /// A woken thread leaves its queue.
    LeaveQueue,
    /// Of a requeue those who are not woken wait for the second word.
    Requeue,
    /// A requeue is made only while the word holds what is expected.
    CompareRequeue,
    /// `FUTEX_WAKE_OP` changes the second word.
    WriteOperation,
    /// It compares what the word held before.
    CompareOld,
    /// A lock with priority inheritance that is left is handed to who waits for it.
    HandOver,
    /// The word says that somebody waits.
    MarkWaiters,
    /// Only the owner may unlock.
    RefuseForeign,
    /// A thread that locks twice is told so.
    RefuseOwn,
    /// The end of a thread wakes who joins it.
    WakeJoiner,
    /// The word of a robust futex says that its owner died.
    MarkDied,
    /// One who waits for it is woken.
    WakeHeir,
    /// A thread whose time is over leaves its queue.
    LeaveAtTimeOut,
    /// Earlier deadlines have passed when a moment comes.
    ExpireEarlier,
    /// Time does not go back.
    KeepTime,
    /// A thread that is interrupted leaves its queue.
    LeaveAtSignal,
    /// Nobody is chosen while somebody has the baton.
    OneBaton,
    /// Only those go on whom the user lets.
    TwoKeys,
    /// A thread that waits is not offered.
    WaitersStand,
    /// It is no deadlock while a moment may come.
    TimeFirst,
    /// It is no deadlock while somebody is in the kernel.
    KernelFirst,
    /// It is no deadlock if the user holds somebody.
    UserFirst,
    /// A thread that spins goes on when another has run.
    EndSpin,
    /// A loop spins only if nothing was written in its turn.
    WritesAreTurns,
    /// A timed wait ends, and is no part of a deadlock.
    TimedWaitsEnd,
    /// A spurious wake-up is no way out of a deadlock.
    SpuriousIsNoHope,
    /// All choices that are not usual are in the log.
    LogUnusual,
    /// Decisions of one point are told apart in the log.
    CountParts,
    /// Choices among those who wait are in the log.
    LogWoken,
    /// A thread that yields lets others go first.
    YieldPasses,
    /// A thread that had its share lets others go first.
    ShareEnds,
}
