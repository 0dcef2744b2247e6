//! The rules of the algorithm, by name: each is needed, which tests show by dropping it
//! (`explore`).

/// A rule of the algorithm that a test can drop, to see that it is missed. For
/// tests of other crates the feature `dropped-rules` has it; without that, and
/// outside of tests, no rule can be dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rule {
    /// The others are held during a step in place.
    HoldOthers,
    /// The others are held before the write that lifts the trap.
    HoldBeforeRemoval,
    /// The trap is planted before the others are released.
    InsertBeforeRelease,
    /// A trap that was executed before the hold is put back.
    PutBackLateTrap,
    /// A reported arrival is remembered until the instruction has run.
    RememberArrival,
    /// A reported arrival is put aside for an evaluation, not forgotten.
    SuspendArrival,
    /// A trap is first the end of its thread's step.
    CompleteFirst,
    /// A trap at the follow set stays when it is a site's, too.
    CountTraps,
    /// No trap for the end of a step is planted where the step begins.
    RefuseItself,
    /// A signal that is delivered in a copy is remembered.
    NoteSignal,
    /// An arrival at which a handler interrupted the thread is none when it comes
    /// there otherwise than by the handler's return.
    LeaveForHandler,
    /// By the handler's return it comes back to that arrival.
    ReturnFromHandler,
    /// A copy of the memory is made good before it runs.
    RestoreFork,
    /// It is made good, too, where the debuggee has no trap any more.
    RestoreRemoved,
    /// A followed copy has a trap at each site, whatever it was made with.
    InsertInFork,
    /// A thread that waits for one that shares its memory is not waited for.
    Park,
    /// The arrivals of the thread that made it are those of a followed one.
    Inherit,
    /// They are, too, when that thread has ended before the followed one is seen.
    InheritFromEnded,
    /// They are those of one that has an engine of its own.
    InheritApart,
    /// They are those of one that shares its memory.
    InheritInPlace,
    /// A thread that waits for its child is not taken back to where it was before
    /// an evaluation: it is in the kernel.
    KeepParked,
    /// A halt is answered by the thread that replaces the program.
    AnswerReplaced,
}
