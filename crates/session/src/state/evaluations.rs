//! Expressions that wait for functions of the program which they call.

use juror_debuggee::ThreadId;
use juror_language::Expression;
use juror_program::calls::{CallResults, PlannedCall};
use juror_program::program::Program;
use juror_program::stack::frames::Frame;
use juror_program::stack::unwinding::{Drops, FrameDropping, frame_dropping_functions};
use juror_values::format::Radix;
use rustc_hash::FxHashSet;
use std::cell::RefCell;
use std::ops::Range;

/// What is done with the value of an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It is shown and kept.
    Print(Radix),
    /// The same, unless there is none.
    Call,
    /// It decides whether a breakpoint stops.
    Condition,
}

/// An expression on its way to a value.
pub(crate) struct Evaluation {
    pub(crate) number: u32,
    pub(crate) thread: ThreadId,
    /// As it was typed.
    pub(crate) text: String,
    pub(crate) expression: Expression,
    pub(crate) purpose: Purpose,
    /// The stack in which its names have their meaning, and where.
    pub(crate) frames: Vec<Frame>,
    pub(crate) level: usize,
    pub(crate) results: RefCell<CallResults>,
    /// How many calls its thread had open before.
    pub(crate) depth: usize,
    pub(crate) call: Option<ActiveCall>,
    /// The person at the prompt has seen it stop.
    pub(crate) was_suspended: bool,
    /// What [`Session::announced`] was before.
    pub(crate) announced: Option<(ThreadId, u64)>,
}

/// The call that an evaluation waits for.
pub(crate) struct ActiveCall {
    pub(crate) planned: PlannedCall,
    /// Where it stands in the expression.
    pub(crate) span: Range<usize>,
    /// Where its result will be, when that comes back in memory.
    pub(crate) room: Option<u64>,
    pub(crate) exits: Exits,
}

impl Evaluation {
    pub(crate) fn function(&self) -> &str {
        self.call.as_ref().map_or("", |call| &call.planned.name)
    }
}

/// The evaluations that have no value yet.
#[derive(Default)]
pub(crate) struct Evaluations {
    pub(crate) open: Vec<Evaluation>,
    /// Functions of which was said that the type of their result is assumed.
    pub(crate) assumed: FxHashSet<String>,
}

impl Evaluations {
    /// The innermost one of a thread.
    pub(crate) fn innermost(&self, thread: ThreadId) -> Option<u32> {
        let mut own = self.open.iter().rev();
        own.find(|one| one.thread == thread).map(|one| one.number)
    }

    /// Whether none is open.
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// The function in which the last one runs.
    pub(crate) fn running_function(&self) -> Option<String> {
        self.open.last().map(|one| one.function().to_owned())
    }

    /// The process is gone, and they with it.
    pub(crate) fn clear(&mut self) {
        self.open.clear();
    }

    pub(crate) fn next_number(&self) -> u32 {
        self.open.last().map_or(0, |one| one.number) + 1
    }

    /// Takes out those of a thread from the one at `depth` on; outermost first.
    pub(crate) fn take_from(&mut self, thread: ThreadId, depth: usize) -> Vec<Evaluation> {
        let (taken, left) = std::mem::take(&mut self.open)
            .into_iter()
            .partition(|one| one.thread == thread && one.depth >= depth);
        self.open = left;
        taken
    }
}

/// How a call of an evaluation has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallEnd {
    /// It returned.
    Returned,
    /// `longjmp` leaves it.
    Jumped,
    /// An exception leaves it that nothing in it catches.
    Threw,
}

/// Called when no handler was found: the unwinder does not go past the frame
/// from where juror called.
pub(crate) const UNCAUGHT: &str = "std::terminate";

/// Where the points of a call stand.
#[derive(Debug, Default)]
pub(crate) struct Exits {
    pub(crate) jumps: Vec<FrameDropping>,
    pub(crate) uncaught: Vec<u64>,
}

impl Exits {
    pub(crate) fn find(program: &Program) -> Exits {
        let jumps = frame_dropping_functions(program)
            .into_iter()
            .filter(|exit| matches!(exit.drops, Drops::Jump | Drops::ContextJump));
        let uncaught = program.modules.definitions(UNCAUGHT, |_| true);
        let mut uncaught: Vec<u64> = uncaught.iter().map(|bound| bound.address()).collect();
        uncaught.sort_unstable();
        uncaught.dedup();
        Exits {
            jumps: jumps.collect(),
            uncaught,
        }
    }

    pub(crate) fn addresses(&self) -> impl Iterator<Item = u64> + '_ {
        let jumps = self.jumps.iter().map(|jump| jump.address);
        jumps.chain(self.uncaught.iter().copied())
    }
}
