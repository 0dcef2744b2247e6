//! Evaluations that are suspended in functions of the program which they call.

use juror_debuggee::ThreadId;
use juror_language::Expression;
use juror_program::calls::{EffectResults, PlannedCall};
use juror_program::program::Program;
use juror_program::stack::frames::Frame;
use juror_program::stack::unwinding::{Drops, FrameDropping, frame_dropping_functions};
use juror_values::format::Radix;
use rustc_hash::FxHashSet;
use std::cell::RefCell;
use std::ops::Range;

/// The use of an evaluation's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It is shown and added to the value history.
    Print(Radix),
    /// The same, unless it is void.
    Call,
    /// The expression assigns: its value is shown as that of the place.
    Assign,
    /// It decides whether a breakpoint stops.
    Condition,
}

/// A suspended evaluation.
pub(crate) struct Evaluation {
    pub(crate) number: u32,
    pub(crate) thread: ThreadId,
    /// Its source text.
    pub(crate) text: String,
    pub(crate) expression: Expression,
    pub(crate) purpose: Purpose,
    /// The stack and level that give its names their meaning.
    pub(crate) frames: Vec<Frame>,
    pub(crate) level: usize,
    pub(crate) results: RefCell<EffectResults>,
    /// The number of calls that its thread had open before.
    pub(crate) depth: usize,
    pub(crate) call: Option<ActiveCall>,
    /// Whether it was suspended at a stop that the user has seen.
    pub(crate) was_suspended: bool,
    /// The value of [`Session::announced`] before it.
    pub(crate) announced: Option<(ThreadId, u64)>,
}

/// The call that an evaluation waits for.
pub(crate) struct ActiveCall {
    pub(crate) planned: PlannedCall,
    /// The span of the call in the expression.
    pub(crate) span: Range<usize>,
    /// The address of its result, if that is returned in memory.
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
    /// Functions whose assumed result type was reported.
    pub(crate) assumed: FxHashSet<String>,
}

impl Evaluations {
    /// Returns the innermost evaluation of a thread.
    pub(crate) fn innermost(&self, thread: ThreadId) -> Option<u32> {
        let mut own = self.open.iter().rev();
        own.find(|one| one.thread == thread).map(|one| one.number)
    }

    /// Returns whether none is open.
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Returns the function in which the last one runs.
    pub(crate) fn running_function(&self) -> Option<String> {
        self.open.last().map(|one| one.function().to_owned())
    }

    /// Removes all evaluations, because the process has ended.
    pub(crate) fn clear(&mut self) {
        self.open.clear();
    }

    pub(crate) fn next_number(&self) -> u32 {
        self.open.last().map_or(0, |one| one.number) + 1
    }

    /// Removes those of a thread from `depth` on; outermost first.
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
    /// It was left by `longjmp`.
    Jumped,
    /// It was left by an exception that nothing in it catches.
    Threw,
}

/// Called if no handler was found: the unwinder does not pass the frame from which juror called.
pub(crate) const UNCAUGHT: &str = "std::terminate";

/// The points that detect the end of a call.
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
