//! The inputs of the engine.

use super::{FollowSet, Owner, Owners, StackPart, StepOver, ThreadId, WayBack};
#[cfg(doc)]
use super::{Operation, StepBy};
use serde::{Deserialize, Serialize};

/// An input of the engine. Addresses are those of the original program: the
/// shell translates a program counter in an out-of-line slot before it passes
/// it on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// An owner wants a report when `address` is reached. Inserts are counted:
    /// two need two removes.
    Insert {
        /// The site.
        address: u64,
        /// The owner of the insert.
        owner: Owner,
        /// The step-over method; ignored if the site exists.
        #[serde(rename = "passage")]
        step_over: StepOver,
    },
    /// An owner removes one of its inserts.
    Remove {
        /// The site.
        address: u64,
        /// The owner of the insert.
        owner: Owner,
    },
    /// The trap at `address` could not be inserted: the memory there is no
    /// longer mapped, or cannot be written. The site is gone, with all its
    /// owners; no trap is to be removed. A thread that comes there gets a fault
    /// of its own.
    #[serde(rename = "lost")]
    InsertFailed {
        /// The site.
        address: u64,
    },
    /// The instruction at `address` has changed, under the trap if there is
    /// one: the program or the user has written there. A thread that has not
    /// executed the old instruction executes the new one.
    Rewritten {
        /// The site, or a former one.
        address: u64,
        /// The step-over method of the new instruction.
        #[serde(rename = "passage")]
        step_over: StepOver,
    },
    /// A request: the trap of the site at `address` becomes a jump to a stub,
    /// which counts the event for the inserts of an owner without a trap, and
    /// goes on in the twins of the head's instructions. Granted ([`Operation::WritePatch`]) only if
    /// [`Engine::may_be_patched`](crate::Engine::may_be_patched) is true for
    /// the head and the jump; otherwise nothing is ordered, and
    /// [`Engine::is_patched`](crate::Engine::is_patched) stays as it is.
    ///
    /// A thread is never shown in a stub: before the shell passes a stop, it
    /// leads the thread back to `address`, or on to the first twin
    /// ([`Input::Counted`]). An event that the stub leaves to juror is an
    /// [`Input::Trapped`] at `address`.
    Patch {
        /// The site.
        address: u64,
        /// The first address behind the head.
        end: u64,
        /// The first address behind the jump. If that is behind the head, the bytes
        /// between are those of the program and of the jump at once: they are not
        /// written, the instruction there has no twin, and a thread that comes to it
        /// executes it.
        jump_end: u64,
        /// The owner for which the stub counts.
        owner: Owner,
        /// The number of its inserts: all that the site has.
        count: u32,
        /// The twin of the head's first instruction.
        twin: u64,
    },
    /// A request: the site at `address` has a trap again. Also passed if
    /// [`Operation::WritePatch`] has failed, with the trap still there.
    Unpatch {
        /// The site.
        address: u64,
    },
    /// A thread came to an address inside a patched head, behind its start
    /// ([`Engine::is_inside_patch`](crate::Engine::is_inside_patch)), and
    /// executed a byte of the jump, which can only trap (`SIGTRAP`, `SIGILL` or
    /// `SIGSEGV`). A step that ended so has not been made yet.
    Stray {
        /// The thread.
        thread: ThreadId,
        /// The address of the byte, at which an original instruction begins.
        address: u64,
    },
    /// The next input finds this thread before the first twin of the patch at
    /// `address`: the event has been counted, and the instruction has not run.
    /// Orders nothing. Passed ahead of every stop of such a thread, whether it
    /// came there by the stub or by a step-over.
    ///
    /// No signal is delivered in a twin, since a handler that returned there
    /// would run past what has been inserted in the head meanwhile. An
    /// asynchronous one waits: the shell lets the thread go on by single steps,
    /// of which the engine is not told, until it is behind the twins. A fault is
    /// that of the original instruction: at the first twin [`Input::Faulted`], in
    /// the others an [`Input::Interrupted`] at the original, to which the shell
    /// has moved the thread; if its handler returns there, it is a stray. If the
    /// original of the first twin is behind an `endbr64`, its fault is passed as
    /// [`Input::Faulted`] with that address, without this input.
    Counted {
        /// The thread.
        thread: ThreadId,
        /// The site.
        address: u64,
        /// The thread's stack pointer.
        stack: u64,
    },
    /// A thread exists and is stopped: the first thread, or a new one.
    Started {
        /// The thread.
        thread: ThreadId,
    },
    /// A thread exists and is stopped that another one has made, and that takes
    /// the place of its parent in the same memory while the parent is parked
    /// (`vfork`). It returns from signal handlers to the same arrivals as the
    /// parent.
    StartedInPlace {
        /// The thread.
        thread: ThreadId,
        /// The parent.
        parent: ThreadId,
    },
    /// A thread of a program that ran before exists and runs.
    Attached {
        /// The thread.
        thread: ThreadId,
    },
    /// A thread has ended.
    Ended {
        /// The thread.
        thread: ThreadId,
    },
    /// A thread executed the trap at `address`, for which
    /// [`Engine::expects_trap`](crate::Engine::expects_trap) is true; its
    /// program counter is one byte after it. From now on the shell shows it as
    /// standing at `address`; see [`Operation::Report`].
    Trapped {
        /// The thread.
        thread: ThreadId,
        /// The address of the trap.
        address: u64,
        /// The thread's stack pointer. It distinguishes two arrivals at one
        /// address when a signal handler runs between them.
        stack: u64,
    },
    /// The single step that the engine ordered is done. Also passed when the
    /// trace trap of a step arrives late, after another stop interrupted the
    /// step and the thread was continued.
    Stepped {
        /// The thread.
        thread: ThreadId,
        /// The present program counter.
        address: u64,
    },
    /// The answer to [`Operation::FindFollowSet`].
    FollowSet {
        /// The thread.
        thread: ThreadId,
        /// The address of the instruction.
        address: u64,
        /// The instructions that can follow it; none if that is unknown, or if
        /// the instruction waits for other threads (a system call). The engine
        /// itself handles instructions that can follow themselves.
        follow: Option<FollowSet>,
    },
    /// A thread stopped for any other reason (held as ordered, a signal, a
    /// system event). It does not run again until the engine orders it.
    ///
    /// While a [`Operation::HoldThread`] for it is unanswered, or was answered
    /// by another stop so that its own stop may still come, this input counts
    /// as the ordered stop, and the engine continues the thread by itself. A
    /// stop that is reported to upper layers is better passed as
    /// [`Input::Interrupted`]. Without such a hold the thread waits for
    /// [`Input::Resume`].
    ///
    /// A thread inside a system call that the kernel will restart stands at the
    /// system call instruction, not after it. A thread that has executed a trap
    /// or made a step whose signal is still to come has not stopped: it is
    /// continued up to the stop of that signal.
    Stopped {
        /// The thread.
        thread: ThreadId,
        /// The present program counter.
        address: u64,
    },
    /// A thread stopped for something that is reported to upper layers (a
    /// signal about to be delivered, a system event). It waits for
    /// [`Input::Resume`] even if it was being held, and its own ordered stop
    /// may still follow.
    Interrupted {
        /// The thread.
        thread: ThreadId,
        /// The present program counter.
        address: u64,
    },
    /// A thread that is in the out-of-line slot of the instruction at
    /// `address`, before the instruction has run, is being resumed with a
    /// signal. A handler may arrive at sites of its own before it returns into
    /// the slot. Passed at that moment, also if the stop of the signal was not
    /// reported; orders nothing.
    Signalled {
        /// The thread.
        thread: ThreadId,
        /// The site.
        address: u64,
    },
    /// A handler begins in a thread that stood at `address`, not in a slot,
    /// when its signal was delivered. Passed if
    /// [`Engine::has_arrival`](crate::Engine::has_arrival) was true there at
    /// the delivery, before anything else that the thread does. The handler may
    /// return to that arrival ([`Input::HandlerReturned`]), or jump away, and
    /// the thread may come to the instruction again; orders nothing.
    HandlerEntered {
        /// The thread.
        thread: ThreadId,
        /// The address at which the thread was interrupted.
        address: u64,
        /// The stack pointer there.
        stack: u64,
        /// The alternate signal stack of the thread.
        alternate: StackPart,
    },
    /// A handler has returned to `address` (`rt_sigreturn`). Passed for a
    /// thread for which
    /// [`Engine::awaits_handler`](crate::Engine::awaits_handler) was true when
    /// it was resumed; orders nothing.
    HandlerReturned {
        /// The thread.
        thread: ThreadId,
        /// The address at which the thread continues.
        address: u64,
        /// The stack pointer there.
        stack: u64,
    },
    /// A thread as in [`Input::HandlerReturned`] makes another system call,
    /// with this stack pointer: it has left the handlers whose frames are
    /// below. Orders nothing, and may be omitted: the arrivals that it has left
    /// are forgotten later.
    Called {
        /// The thread.
        thread: ThreadId,
        /// The stack pointer of the thread.
        stack: u64,
    },
    /// The instruction at a site faulted during a step-over (out of line or in
    /// place), or a signal is to be delivered before it ran and the shell moved
    /// the thread out of the slot: the thread stands at `address` again and the
    /// arrival has been reported. It waits for [`Input::Resume`], and then
    /// continues at `address`, so that the signal's handler sees the original
    /// program counter. Only after a failed [`Operation::EmulateCall`] does the
    /// engine continue by itself.
    ///
    /// A fault of a thread that is neither in a slot nor in a step is an
    /// [`Input::Interrupted`], wherever it stands.
    Faulted {
        /// The thread.
        thread: ThreadId,
        /// The site.
        address: u64,
        /// The thread's stack pointer.
        stack: u64,
    },
    /// A request: this thread may run.
    Resume {
        /// The thread.
        thread: ThreadId,
    },
    /// A request: this stopped thread executes one instruction;
    /// [`Operation::ReportStep`] follows. If the thread stands at a site whose
    /// owners have not all been notified, [`Operation::Report`] comes instead,
    /// and the step must be requested again.
    Step {
        /// The thread.
        thread: ThreadId,
    },
    /// A request: stop this thread. Answered by [`Input::Stopped`] or by
    /// another stop that came first.
    Halt {
        /// The thread.
        thread: ThreadId,
    },
    /// A request: the program counter of a stopped thread was set by the user.
    Jumped {
        /// The thread.
        thread: ThreadId,
        /// The new program counter.
        address: u64,
    },
    /// A request: a stopped thread is going to run other code for a while, such
    /// as a function that the user calls. The place where it stands, the
    /// reported arrival there and its departure are pushed on a stack of
    /// suspended places of this thread; it stands at no site then.
    ///
    /// The protocol of such an evaluation, which may nest:
    ///
    /// 1. The shell saves the thread's registers, with the program counter
    ///    *that the kernel has*, which may be in a slot or one byte after a
    ///    trap. A pending signal is saved with them.
    /// 2. `Suspend`; then the shell sets the registers of the evaluation and
    ///    passes [`Input::Jumped`] with its program counter.
    /// 3. [`Input::Resume`], [`Input::Step`] and all stops as usual. Arrivals
    ///    of the evaluation are its own: it is reported at the very site where
    ///    the suspended code stands.
    /// 4. When the evaluation has ended, or is abandoned while it is stopped:
    ///    the shell restores the saved registers, including the kernel's
    ///    program counter, and passes [`Input::Restore`]. The thread then
    ///    stands where it stood, reported or not, and waits.
    ///
    /// If the evaluation has left its frames for good (`longjmp`, an
    /// exception), the program itself runs again: [`Input::Discard`].
    Suspend {
        /// The thread.
        thread: ThreadId,
    },
    /// A request: a stopped thread is back, with all its registers, where it
    /// was when `depth` of its places were suspended; that place and those
    /// suspended after it leave the stack. So the innermost evaluation ends
    /// with a `depth` one less than
    /// [`Engine::suspended`](crate::Engine::suspended), and an outer one, with
    /// all those inside it, with a lower one.
    Restore {
        /// The thread.
        thread: ThreadId,
        /// The number of places that stay suspended.
        depth: usize,
    },
    /// A request: a thread will not return to the places that were suspended
    /// when the stack had `depth` entries, or later; it continues from where it
    /// is.
    Discard {
        /// The thread.
        thread: ThreadId,
        /// The number of places that stay suspended.
        depth: usize,
    },
    /// A thread has executed a system call, and waits in it in the kernel until
    /// a thread that shares its memory has ended or runs another program
    /// (`vfork`). It executes nothing and answers no hold meanwhile; requests
    /// for it take effect once it is back.
    Parked {
        /// The thread.
        thread: ThreadId,
        /// The address after the system call, at which it continues.
        address: u64,
    },
    /// The wait is over. The thread is stopped, still in the kernel; a step
    /// takes it out of the system call and ends there.
    Unparked {
        /// The thread.
        thread: ThreadId,
    },
    /// A process that the debuggee has forked is stopped, and is to run on its
    /// own: [`Operation::ReleaseFork`]. Its memory is a copy of the debuggee's
    /// at some moment since this program was started or became this process.
    ///
    /// The shell passes this for every copy made before an [`Input::Executed`]
    /// ahead of that input: the traps that they may have are forgotten then.
    #[serde(rename = "copied")]
    ForkStopped {
        /// The process, by the id of its only thread.
        process: ThreadId,
    },
    /// A thread is stopped that has made a process with a copy of the memory,
    /// which may be followed, or debugged, too: the process returns from signal
    /// handlers to the same arrivals as the thread, whatever happens to the
    /// thread before the process is seen. Passed after [`Input::Parked`].
    #[serde(rename = "made")]
    ForkMade {
        /// The process, by the id of its only thread.
        process: ThreadId,
        /// The thread that made it.
        parent: ThreadId,
    },
    /// A process that the debuggee has forked is stopped, and becomes the
    /// debuggee. The former debuggee is stopped, and has been released or has
    /// ended: nothing is ordered about it any more. From now on the sites are
    /// those of the copy, whose thread waits for [`Input::Resume`]. It inherits
    /// the arrivals of its parent if [`Input::ForkMade`] was passed.
    #[serde(rename = "followed")]
    ForkFollowed {
        /// The process, by the id of its only thread.
        thread: ThreadId,
    },
    /// A thread that has just started in a forked process with an engine of its
    /// own will return to an arrival that was reported for its parent
    /// ([`Engine::inheritance`](crate::Engine::inheritance)), or a thread that
    /// is back at a checkpoint to one that it had there
    /// ([`Engine::arrivals_further_out`](crate::Engine::arrivals_further_out)).
    /// Passed after the sites exist, from the outermost arrival inwards;
    /// without a site the arrival has no effect.
    Inherited {
        /// The thread.
        thread: ThreadId,
        /// The site.
        address: u64,
        /// The stack pointer at the arrival.
        stack: u64,
        /// The owners that have been notified.
        notified: Owners,
        /// The step-over method when it was reported.
        #[serde(rename = "passage")]
        step_over: StepOver,
        /// The way in which the thread returns to it.
        way_back: WayBack,
    },
    /// The process replaced its program: every site is gone, one thread is
    /// left. It waits for [`Input::Resume`]; a halt of it is answered by that.
    ///
    /// Threads of other processes that share the old memory ([`Input::Parked`])
    /// are forgotten, too. Before this input the shell has to stop them: it
    /// passes [`Input::Interrupted`] for the thread that is left,
    /// [`Input::Ended`] for the others of the program, and [`Input::Halt`] for
    /// those that share the memory. When they are stopped, it removes all traps
    /// and releases them.
    Executed {
        /// The thread that is left.
        thread: ThreadId,
    },
}
