//! The rules of the algorithm, by name: each is needed, which tests show by
//! dropping it (`explore`).

/// A rule of the algorithm that a test can drop, to see that it is needed. For
/// tests of other crates the feature `dropped-rules` provides it; without that,
/// and outside of tests, no rule can be dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rule {
    /// The others are held during a step in place.
    HoldOthers,
    /// The others are held before the write that removes the trap.
    HoldBeforeRemoval,
    /// The trap is inserted before the others are released.
    InsertBeforeRelease,
    /// A trap that was executed before the hold is put back.
    PutBackLateTrap,
    /// A reported arrival is remembered until the instruction has run.
    RememberArrival,
    /// A reported arrival is suspended for an evaluation, not forgotten.
    SuspendArrival,
    /// A trap ends its thread's step first.
    CompleteFirst,
    /// A trap of the follow set stays if it is a site's, too.
    CountTraps,
    /// No trap for the end of a step is inserted where the step begins.
    RefuseItself,
    /// A signal that is delivered in an out-of-line slot is remembered.
    NoteSignal,
    /// An arrival at which a handler interrupted the thread does not count if
    /// the thread comes there otherwise than by the handler's return.
    LeaveForHandler,
    /// The handler's return brings the thread back to that arrival.
    ReturnFromHandler,
    /// The original bytes are restored in a copy of the memory before it runs.
    RestoreFork,
    /// They are restored, too, where the debuggee has no trap any more.
    RestoreRemoved,
    /// A followed copy has a trap at each site, whatever it was made with.
    InsertInFork,
    /// A thread that waits for one that shares its memory is not waited for.
    Park,
    /// A followed process inherits the arrivals of the thread that made it.
    Inherit,
    /// It inherits them, too, if that thread has ended before it is seen.
    InheritFromEnded,
    /// A process with an engine of its own inherits them.
    InheritApart,
    /// A process that shares the memory inherits them.
    InheritInPlace,
    /// A thread that waits for its child is not moved back to where it was
    /// before an evaluation: it is in the kernel.
    KeepParked,
    /// A halt is answered by the thread that replaces the program.
    AnswerReplaced,
    /// A patch is written only while all threads stand.
    HoldForPatch,
    /// A patch is removed only while all threads stand.
    HoldForRemoval,
    /// A patch is removed before a trap of another owner is inserted in its
    /// head.
    UnpatchForSite,
    /// A thread that executes a byte of a jump continues in a twin.
    CatchStray,
    /// A thread in a twin goes back to the original when the patch is removed.
    LeaveTwins,
    /// The event of a thread before the first twin has been counted, and is not
    /// reported if the thread comes back to the site.
    RememberCount,
    /// A site whose patch is removed has its former step-over method again.
    FormerStepOver,
    /// No site is patched to which a thread returns from a handler, or after a
    /// fault, with its arrival reported.
    RefuseReturns,
    /// No site is patched in whose head a thread stands with a signal, which it
    /// would get in a twin.
    RefuseSignals,
    /// The patch is removed if a fault or a signal comes before its first
    /// instruction: the thread returns to the site.
    UnpatchForFault,
    /// A step from a patched site is an arrival first.
    StepIsArrival,
    /// The original bytes of a patch are restored in a copy of the memory.
    RestorePatchInFork,
}
