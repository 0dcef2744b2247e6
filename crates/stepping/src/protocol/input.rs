//! What goes into the engine.

use super::{FollowSet, Owner, Owners, StackPart, StepOver, ThreadId, WayBack};
#[cfg(doc)]
use super::{Operation, StepBy};
use serde::{Deserialize, Serialize};

/// What the engine is told. Addresses are those of the original program:
/// the shell maps a program counter inside a copy back before it speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// An owner wants to be told when `address` is reached. Counted: two
    /// inserts need two removes.
    Insert {
        /// The site.
        address: u64,
        /// Who wants it.
        owner: Owner,
        /// The way past it; ignored when the site exists.
        #[serde(rename = "passage")]
        step_over: StepOver,
    },
    /// An owner takes one of its inserts back.
    Remove {
        /// The site.
        address: u64,
        /// Whose insert.
        owner: Owner,
    },
    /// The trap at `address` could not be planted: the memory there is not
    /// mapped any more, or cannot be written. The site is gone, with all its
    /// owners; nothing is to be lifted. A thread that comes there gets a fault
    /// of its own.
    #[serde(rename = "lost")]
    InsertFailed {
        /// The site.
        address: u64,
    },
    /// There is another instruction at `address` than before, under the trap if there
    /// is one: the program has written there, or a person. Who has not executed the old
    /// one executes the new one.
    Rewritten {
        /// The site, or where it was.
        address: u64,
        /// The way past the new instruction.
        #[serde(rename = "passage")]
        step_over: StepOver,
    },
    /// A thread exists and is stopped (the first thread, or a new one).
    Started {
        /// The thread.
        thread: ThreadId,
    },
    /// A thread exists and is stopped that another one has made, and that takes
    /// that one's place in the same memory while it is parked (`vfork`): what the
    /// other one would return to from a signal handler, it returns to.
    StartedInPlace {
        /// The thread.
        thread: ThreadId,
        /// The one that made it.
        parent: ThreadId,
    },
    /// A thread exists and runs: one of a program that ran before.
    Attached {
        /// The thread.
        thread: ThreadId,
    },
    /// A thread is gone.
    Ended {
        /// The thread.
        thread: ThreadId,
    },
    /// A thread executed the trap at `address`, one for which
    /// [`Engine::expects_trap`](crate::Engine::expects_trap) says so; its program
    /// counter is one byte after it. From here on the shell shows it as standing at
    /// `address`; see [`Operation::Report`].
    Trapped {
        /// The thread.
        thread: ThreadId,
        /// Where the trap is.
        address: u64,
        /// The thread's stack pointer, which tells two arrivals at one
        /// address apart when a signal handler runs between them.
        stack: u64,
    },
    /// The single step that the engine ordered is done. Also said when the
    /// trace trap of a step arrives late, after another stop cut the step
    /// short and the thread was continued.
    Stepped {
        /// The thread.
        thread: ThreadId,
        /// Where the program counter is now.
        address: u64,
    },
    /// The answer to [`Operation::FindFollowSet`].
    FollowSet {
        /// The thread.
        thread: ThreadId,
        /// Where the instruction is.
        address: u64,
        /// What can follow it; none when that is not known, or when the
        /// instruction waits for other threads (a system call). The engine
        /// itself looks after instructions that can follow themselves.
        follow: Option<FollowSet>,
    },
    /// A thread stopped for any other reason (held as ordered, a signal, a
    /// system event). It does not run again until the engine says so.
    ///
    /// While a [`Operation::HoldThread`] for it is unanswered, or was answered
    /// by another stop so that its own stop may still come, this is taken for
    /// the ordered stop, and the engine lets the thread run again by itself. A
    /// stop that upper floors hear of is better said as [`Input::Interrupted`].
    /// Without such a hold the thread waits for [`Input::Resume`].
    ///
    /// A thread inside a system call that the kernel will restart stands at
    /// the system call instruction, not after it. One that has executed a trap
    /// or made a step whose signal is still to come has not stopped: it is let
    /// go, as far as to the stop of that signal.
    Stopped {
        /// The thread.
        thread: ThreadId,
        /// Where the program counter is now.
        address: u64,
    },
    /// A thread stopped for something that upper floors are told of (a signal
    /// about to be delivered, a system event): it waits for
    /// [`Input::Resume`] even when it was being held, and its own ordered stop
    /// may still follow.
    Interrupted {
        /// The thread.
        thread: ThreadId,
        /// Where the program counter is now.
        address: u64,
    },
    /// A thread that is in the copy of the instruction at `address`, before it
    /// has run, is being let go with a signal. A handler may arrive at sites
    /// of its own before it returns into the copy. Said at that moment, also
    /// when nobody was told of the signal's stop; there is nothing to order.
    Signalled {
        /// The thread.
        thread: ThreadId,
        /// The site.
        address: u64,
    },
    /// A handler begins in a thread that stood at `address`, not in a copy, when its
    /// signal was delivered. Said where [`Engine::has_arrival`](crate::Engine::has_arrival)
    /// held there at the delivery, before anything else that the thread does. It may
    /// return to that arrival ([`Input::HandlerReturned`]), or jump away, and the thread
    /// may come to the instruction anew; there is nothing to order.
    HandlerEntered {
        /// The thread.
        thread: ThreadId,
        /// Where it was interrupted.
        address: u64,
        /// Its stack pointer there.
        stack: u64,
        /// The stack that it has for handlers.
        alternate: StackPart,
    },
    /// A handler has returned to `address` (`rt_sigreturn`). Said of a thread of which
    /// [`Engine::awaits_handler`](crate::Engine::awaits_handler) held when it was let
    /// go; there is nothing to order.
    HandlerReturned {
        /// The thread.
        thread: ThreadId,
        /// Where it goes on.
        address: u64,
        /// Its stack pointer there.
        stack: u64,
    },
    /// Such a thread makes another system call, with this stack pointer: it has left
    /// the handlers whose frames are below. There is nothing to order, and nothing is
    /// wrong when it is not said: what it has left is forgotten later.
    Called {
        /// The thread.
        thread: ThreadId,
        /// Its stack pointer.
        stack: u64,
    },
    /// The instruction at a site faulted while a thread ran it on its way
    /// past (in a copy or in place), or a signal is to be delivered before it
    /// ran and the shell moved the thread out of the copy: the thread stands
    /// at `address` again and the arrival has been reported. It waits for
    /// [`Input::Resume`], and then continues at `address`, so that the signal's
    /// handler sees the original program counter. Only after a failed
    /// [`Operation::EmulateCall`] does the engine go on by itself.
    ///
    /// A fault of a thread that is neither in a copy nor in a step is an
    /// [`Input::Interrupted`], wherever it stands.
    Faulted {
        /// The thread.
        thread: ThreadId,
        /// The site.
        address: u64,
        /// The thread's stack pointer.
        stack: u64,
    },
    /// From above: this thread may run.
    Resume {
        /// The thread.
        thread: ThreadId,
    },
    /// From above: this stopped thread executes one instruction, then
    /// [`Operation::ReportStep`]. When the thread stands at a site whose
    /// owners have not all been notified, [`Operation::Report`] comes
    /// instead, and the step is to be asked for again.
    Step {
        /// The thread.
        thread: ThreadId,
    },
    /// From above: stop this thread; answered by [`Input::Stopped`] or by
    /// another stop that came first.
    Halt {
        /// The thread.
        thread: ThreadId,
    },
    /// From above: the program counter of a stopped thread was set by hand.
    Jumped {
        /// The thread.
        thread: ThreadId,
        /// Its new program counter.
        address: u64,
    },
    /// From above: a stopped thread that waits for [`Input::Resume`] is going
    /// to run other code for a while, such as a function that the person at
    /// the prompt calls. Where it stands, what it has been reported for and
    /// how it was about to leave are put on a stack of suspended places of
    /// this thread; it stands at no site then.
    ///
    /// The protocol of such an evaluation, which may nest:
    /// 1. The shell saves the thread's registers, with the program counter
    ///    *that the kernel has*: it may be in a copy, or one byte after a trap.
    ///    A signal that waits for delivery is put aside with them.
    /// 2. `Suspend`; then the shell sets the registers of the evaluation and
    ///    says [`Input::Jumped`] with its program counter.
    /// 3. [`Input::Resume`], [`Input::Step`] and all stops as ever. Arrivals
    ///    of the evaluation are its own: it is reported at the very site where
    ///    the suspended code stands.
    /// 4. When the evaluation has ended, or is given up while it is stopped:
    ///    the shell puts the saved registers back, the kernel's program counter
    ///    among them, and says [`Input::Restore`]. The thread then stands where
    ///    it stood, reported or not, and waits.
    ///
    /// When the evaluation has left its frames for good (`longjmp`, an
    /// exception), what runs is the program again: [`Input::Discard`].
    Suspend {
        /// The thread.
        thread: ThreadId,
    },
    /// From above: a stopped thread is back, with all its registers, where it
    /// was when `depth` of its places were suspended; that place and those
    /// suspended after it leave the stack. So the innermost evaluation ends
    /// with a `depth` one less than [`Engine::suspended`](crate::Engine::suspended),
    /// and an outer one, with all inside it, with a lower one.
    Restore {
        /// The thread.
        thread: ThreadId,
        /// How many places stay suspended.
        depth: usize,
    },
    /// From above: a thread will not come back to what was suspended when
    /// `depth` of its places were, or later; it goes on from where it is.
    Discard {
        /// The thread.
        thread: ThreadId,
        /// How many places stay suspended.
        depth: usize,
    },
    /// A thread has executed a system call, and waits in it in the kernel until
    /// a thread that shares its memory has ended or runs another program
    /// (`vfork`). It executes nothing and answers no hold meanwhile; what upper
    /// floors say of it counts once it is back.
    Parked {
        /// The thread.
        thread: ThreadId,
        /// Where it goes on: after the system call.
        address: u64,
    },
    /// The wait is over. The thread is stopped, in the kernel still; a step
    /// takes it out of the system call and ends there.
    Unparked {
        /// The thread.
        thread: ThreadId,
    },
    /// A process stands that the debuggee has forked, and is to run on its own:
    /// [`Operation::ReleaseFork`]. Its memory is a copy of the debuggee's at
    /// some moment since this program was started or became this process.
    ///
    /// Before [`Input::Executed`] the shell speaks of all copies that were made
    /// before: what traps they may have is forgotten then.
    #[serde(rename = "copied")]
    ForkStopped {
        /// The process, by its one thread.
        process: ThreadId,
    },
    /// A thread stands that has made a process with a copy of the memory, which
    /// may be followed, or debugged, too: what the thread would return to from a
    /// signal handler, the process returns to, whatever becomes of the thread
    /// before the process is seen. Said after [`Input::Parked`].
    #[serde(rename = "made")]
    ForkMade {
        /// The process, by its one thread.
        process: ThreadId,
        /// The thread that made it.
        parent: ThreadId,
    },
    /// A process stands that the debuggee has forked, and becomes the debuggee.
    /// The one that it was until now stands, and has been let go or is gone:
    /// nothing is ordered about it any more. The sites are those of the copy
    /// from here on, its thread waits for [`Input::Resume`]. It comes back to
    /// what its maker would, if [`Input::ForkMade`] told of it.
    #[serde(rename = "followed")]
    ForkFollowed {
        /// The process, by its one thread.
        thread: ThreadId,
    },
    /// A thread that has just started in a forked process with an engine of its
    /// own comes back to an arrival that was reported of the thread that made it
    /// ([`Engine::inheritance`](crate::Engine::inheritance)), or one that is back
    /// at a checkpoint to what it came back to there
    /// ([`Engine::arrivals_further_out`](crate::Engine::arrivals_further_out)).
    /// Said when the sites are there, from the outermost inwards; where none is,
    /// nobody will come to know of the arrival.
    Inherited {
        /// The thread.
        thread: ThreadId,
        /// The site.
        address: u64,
        /// The stack pointer at the arrival.
        stack: u64,
        /// Who has been told.
        notified: Owners,
        /// The way past the site when it was reported.
        #[serde(rename = "passage")]
        step_over: StepOver,
        /// How the thread comes back to it.
        way_back: WayBack,
    },
    /// The process replaced its program: every site is gone, one thread is left.
    /// It waits for [`Input::Resume`]; a halt of it is answered by that.
    ///
    /// Threads of other processes that share the old memory ([`Input::Parked`])
    /// are forgotten, too. Before this the shell has to bring them to a stand:
    /// it says [`Input::Interrupted`] of the thread that is left,
    /// [`Input::Ended`] of the others of the program, and [`Input::Halt`] of
    /// those that share the memory. When they stand, it lifts what traps there
    /// are, and lets them go.
    Executed {
        /// The thread that is left.
        thread: ThreadId,
    },
}
