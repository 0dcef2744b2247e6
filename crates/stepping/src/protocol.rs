//! What goes into the engine and what comes out of it.

use bitflags::bitflags;
use serde::{Deserialize, Serialize};

/// A thread of the debuggee, by its kernel id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ThreadId(pub u32);

/// Whose point a site is. Owners at one site are notified in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// A breakpoint of the person at the prompt.
    Developer,
    /// A point that a scenario set.
    Scenario,
    /// A point that a monitor needs for an event before a call.
    Monitor,
    /// A temporary point of a command such as `next` or `finish`.
    Step,
    /// A return address that an event after a call waits for.
    Return,
    /// A point of juror's own (module loading, `longjmp`).
    Internal,
}

bitflags! {
    /// A set of [`Owner`]s.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub struct Owners: u8 {
        /// [`Owner::Developer`].
        const DEVELOPER = 1;
        /// [`Owner::Scenario`].
        const SCENARIO = 2;
        /// [`Owner::Monitor`].
        const MONITOR = 4;
        /// [`Owner::Step`].
        const STEP = 8;
        /// [`Owner::Return`].
        const RETURN = 16;
        /// [`Owner::Internal`].
        const INTERNAL = 32;
    }
}

impl From<Owner> for Owners {
    fn from(owner: Owner) -> Owners {
        match owner {
            Owner::Developer => Owners::DEVELOPER,
            Owner::Scenario => Owners::SCENARIO,
            Owner::Monitor => Owners::MONITOR,
            Owner::Step => Owners::STEP,
            Owner::Return => Owners::RETURN,
            Owner::Internal => Owners::INTERNAL,
        }
    }
}

/// How a thread gets past a planted trap; chosen once per site, from the
/// instruction that the trap displaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Passage {
    /// The instruction changes nothing but the program counter (`nop`,
    /// `endbr64`, a direct `jmp`): set it.
    Skip {
        /// Where the program counter goes.
        to: u64,
    },
    /// A direct call: push the return address, then go to the callee.
    Call {
        /// The first instruction of the callee.
        to: u64,
        /// The address of the instruction after the call.
        back: u64,
    },
    /// Run the relocated copy, which jumps back by itself. The copy outlives
    /// its site: a thread that was reported there before the site was removed
    /// still leaves through it.
    Copy {
        /// Where the copy starts, in the debuggee.
        at: u64,
    },
    /// Hold the other threads, lift the trap, step, plant, release.
    InPlace,
    /// The same for a repeated string instruction (`rep movsb`), of which a
    /// single step makes one round: steps until the thread has left it.
    InPlaceRounds,
}

impl Passage {
    /// Whether the trap is lifted for it.
    pub fn is_in_place(self) -> bool {
        matches!(self, Passage::InPlace | Passage::InPlaceRounds)
    }
}

/// How a thread is made to execute one instruction and stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepBy {
    /// The processor's trace flag.
    #[default]
    TraceFlag,
    /// Traps at every instruction that can follow, the others being held: what
    /// machines without a trace flag need. An instruction whose follow set is
    /// not known, that waits for other threads, or that can follow itself is
    /// stepped by the trace flag all the same.
    FollowSet,
}

/// The addresses of the instructions that can follow one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FollowSet {
    first: u64,
    second: Option<u64>,
}

impl FollowSet {
    /// The set of one address.
    pub fn one(address: u64) -> FollowSet {
        FollowSet {
            first: address,
            second: None,
        }
    }

    /// The set of two addresses, which may be the same.
    pub fn two(first: u64, second: u64) -> FollowSet {
        FollowSet {
            first,
            second: Some(second).filter(|second| *second != first),
        }
    }

    /// Whether the set has this address.
    pub fn contains(&self, address: u64) -> bool {
        self.iter().any(|member| member == address)
    }

    /// The addresses, each once.
    pub fn iter(&self) -> impl Iterator<Item = u64> + use<> {
        std::iter::once(self.first).chain(self.second)
    }
}

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
        passage: Passage,
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
    Lost {
        /// The site.
        address: u64,
    },
    /// A thread exists and is stopped (the first thread, or a new one).
    Started {
        /// The thread.
        thread: ThreadId,
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
    /// [`Operation::ReleaseCopy`]. Its memory is a copy of the debuggee's at
    /// some moment since this program was started or became this process.
    ///
    /// Before [`Input::Executed`] the shell speaks of all copies that were made
    /// before: what traps they may have is forgotten then.
    Copied {
        /// The process, by its one thread.
        process: ThreadId,
    },
    /// A process stands that the debuggee has forked, and becomes the debuggee.
    /// The one that it was until now stands, and has been let go or is gone:
    /// nothing is ordered about it any more. The sites are those of the copy
    /// from here on, its thread waits for [`Input::Resume`].
    Followed {
        /// The process, by its one thread.
        thread: ThreadId,
        /// The thread that made it: what that would return to from a signal
        /// handler, the copy returns to.
        parent: ThreadId,
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

/// What the shell must do, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Write the trap byte at this address (the shell keeps the original).
    Plant {
        /// The site.
        address: u64,
    },
    /// Write the original byte back.
    Lift {
        /// The site.
        address: u64,
    },
    /// Write the original byte at this address of a copy of the memory, if it
    /// has a trap of juror's there; it may have been made before that was
    /// planted, or after it was lifted.
    RestoreCopied {
        /// The copy.
        process: ThreadId,
        /// Where the trap may be.
        address: u64,
    },
    /// Write the trap byte at this address of a copy of the memory, unless it
    /// was made with it; the original byte is kept, as for
    /// [`Operation::Plant`]. [`Input::Lost`] if it cannot be written.
    PlantCopied {
        /// The copy.
        process: ThreadId,
        /// The site.
        address: u64,
    },
    /// No byte of juror's is in the copy any more: let it run alone, or be a
    /// debuggee with an engine of its own.
    ReleaseCopy {
        /// The copy.
        process: ThreadId,
    },
    /// Set a stopped thread's program counter.
    SetCounter {
        /// The thread.
        thread: ThreadId,
        /// Its new program counter.
        address: u64,
    },
    /// Push `back` on a stopped thread's stack and set its program counter to
    /// `to`. If the push faults, the shell changes nothing, drops the
    /// operations for this thread that follow in the same list, and answers
    /// [`Input::Faulted`]; the engine then has the processor raise the fault.
    EmulateCall {
        /// The thread.
        thread: ThreadId,
        /// The callee.
        to: u64,
        /// The return address.
        back: u64,
    },
    /// Say which instructions can follow the one at `address`, which the
    /// stopped thread executes next, from its registers and the memory; no
    /// other thread moves. Answered by [`Input::FollowSet`]. Ordered with
    /// [`StepBy::FollowSet`] alone.
    FindFollowSet {
        /// The thread.
        thread: ThreadId,
        /// Where the instruction is.
        address: u64,
    },
    /// Let a stopped thread run, but give it no signal: traps stand at all
    /// that can follow the one instruction that it is to execute. A signal
    /// that comes is told as ever, and ends the step.
    RunToFollowSet {
        /// The thread.
        thread: ThreadId,
    },
    /// Let a stopped thread execute one instruction.
    StepThread {
        /// The thread.
        thread: ThreadId,
    },
    /// Let a stopped thread run.
    ContinueThread {
        /// The thread.
        thread: ThreadId,
    },
    /// Make a running thread stop; its stop arrives as an input later.
    HoldThread {
        /// The thread.
        thread: ThreadId,
    },
    /// Tell upper floors: the thread has arrived at a site of these owners,
    /// each for the first time for this execution of the instruction. The
    /// thread stays stopped until [`Input::Resume`].
    ///
    /// The kernel's program counter is still one byte after `address`: no
    /// system call is spent on a thread that leaves through a copy. The shell
    /// shows `address` to everybody who asks, and the engine orders
    /// [`Operation::SetCounter`] or [`Operation::EmulateCall`] before it lets
    /// the thread run or step. A shell that lets go of the thread otherwise
    /// (detach) sets the counter itself. The same holds for a thread whose
    /// trap has been handed in but is not reported yet.
    Report {
        /// The thread.
        thread: ThreadId,
        /// The site.
        address: u64,
        /// Who is to be notified.
        owners: Owners,
    },
    /// Tell upper floors: the step they asked for is done.
    ReportStep {
        /// The thread.
        thread: ThreadId,
        /// Where the program counter is now.
        address: u64,
    },
    /// Tell upper floors: the thread they asked to halt is stopped.
    ReportHalted {
        /// The thread.
        thread: ThreadId,
    },
    /// The thread executed a trap that no site explains: when the byte there
    /// is the program's own trap, its signal is the program's; otherwise the
    /// trap was lifted in the meantime, and the thread goes back to `address`
    /// and runs.
    ///
    /// Which of the two it is, the shell decides from the original byte. It
    /// sets the counter back by itself in the second case; in both the engine
    /// waits for [`Input::Resume`] and lets the thread run from where it is.
    Unexplained {
        /// The thread.
        thread: ThreadId,
        /// Where the trap is.
        address: u64,
    },
}
