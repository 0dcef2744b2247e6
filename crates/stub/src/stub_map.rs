//! What each program counter of a stub means.
//!
//! | phase | the event | the original registers |
//! | --- | --- | --- |
//! | [`StubPhase::Free`] | has not happened | on the stack, as far as they are pushed |
//! | [`StubPhase::Locked`] | has not happened; a lock may be held | on the stack |
//! | [`StubPhase::Committed`] | must be finished | on the stack |
//! | [`StubPhase::Done`] | has happened, or the thread is muted | on the stack, until popped |
//! | [`StubPhase::Twin`] | has happened | in the registers |
//!
//! The ways out are in [`crate::lead_out`].

use crate::emit::{Locks, can_abandon};
use crate::head::{Piece, Place, Relocated};
use juror_monitor::lowering::{Base, Phase, Why};
use std::sync::Arc;

/// Where the original flags are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FlagsAt {
    /// In the flags register.
    Live,
    /// In the second word that was pushed: `lahf` and `seto al`.
    Slot,
    /// In `rax`, in the same form.
    Rax,
    /// In `rax` after the addition: the top bit of `al` is the overflow flag.
    RaxAdded,
}

/// What is on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The number of words: `rax`, the flags, and the saved registers in order.
    pub pushed: usize,
    /// Where the flags are.
    pub flags: FlagsAt,
}

/// How far a thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    /// `done` sections have happened, and the next has not begun.
    Begin { done: usize },
    /// An operation of a section comes next, or runs.
    Step { section: usize, op: usize },
    /// A section of a return site has happened, and its call is still pending.
    Ending { section: usize },
    /// All sections have happened, or none is to happen.
    Done,
}

/// Why a thread that faults at an instruction, or comes through the gate to it,
/// leaves the stub.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leave {
    /// It does not: a fault here is one of juror.
    Not,
    /// A gate of the monitor: the event is taken by a general step.
    Gate(Why),
    /// A captured value cannot be read: the event is taken by a general step.
    Capture,
    /// The call returns to an address that is not patched.
    ReturnSite,
    /// There is no room for another pending call.
    Calls,
    /// The pending call is not the innermost, or its event is not one of this stub.
    OtherCall,
    /// The stack has no room for the stub. The program might fault there itself.
    Stack,
}

/// What is known of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    pub frame: Frame,
    pub position: Position,
    pub leave: Leave,
}

/// What a map knows of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SectionMap {
    /// The address of the table.
    pub table: u64,
    /// By operation: the phase before it.
    pub phases: Vec<Phase>,
    /// By operation: the locks that are held before it.
    pub held: Vec<Locks>,
    /// By operation: the lock that it takes.
    pub takes: Vec<Option<(Base, u32)>>,
}

/// The phase of a thread in a stub.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StubPhase {
    /// The step of a section can be abandoned, and no lock is held.
    Free {
        /// The section, or the next one.
        section: usize,
    },
    /// The step of a section can be abandoned, and a lock may be held.
    Locked {
        /// The section.
        section: usize,
    },
    /// The step of a section must be finished.
    Committed {
        /// The section.
        section: usize,
    },
    /// All steps have been made.
    Done,
    /// An instruction of the relocated head.
    Twin {
        /// The original address.
        original: u64,
    },
}

/// Where an original register is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Saved {
    /// In the register itself.
    Register,
    /// On the stack, this many bytes above the stack pointer.
    Stack(u64),
    /// It is the stack pointer, plus this many bytes.
    StackPointer(u64),
}

/// The map of a stub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StubMap {
    /// The address of the stub.
    pub at: u64,
    /// Its size in bytes.
    pub size: u64,
    /// The address of the event.
    pub entry: u64,
    /// What kind of address it is.
    pub place: Place,
    /// The relocated head.
    pub relocated: Relocated,
    /// The start of each instruction outside of the relocated head, ascending.
    pub(crate) marks: Arc<[(usize, Mark)]>,
    pub(crate) saved: Arc<[u8]>,
    pub(crate) sections: Arc<[SectionMap]>,
    /// By section: the address at which a thread with the program's registers
    /// begins it.
    pub(crate) reentries: Vec<u64>,
}

/// What a counter of a stub belongs to.
pub(crate) enum Found<'a> {
    Stub(&'a Mark),
    Twin(&'a Piece),
}

impl StubMap {
    /// Tells whether an address is in the stub.
    pub fn contains(&self, counter: u64) -> bool {
        counter.wrapping_sub(self.at) < self.size
    }

    /// Returns the phase of a thread; none if no instruction begins there.
    pub fn phase(&self, counter: u64) -> Option<StubPhase> {
        Some(match self.find(counter)? {
            Found::Twin(piece) => StubPhase::Twin {
                original: piece.original,
            },
            Found::Stub(mark) => match mark.position {
                Position::Begin { done } => StubPhase::Free { section: done },
                Position::Done => StubPhase::Done,
                Position::Ending { section } => StubPhase::Committed { section },
                Position::Step { section, op } => match self.phase_of(section, op)? {
                    Phase::Free => StubPhase::Free { section },
                    Phase::Locked => StubPhase::Locked { section },
                    Phase::Committed => StubPhase::Committed { section },
                },
            },
        })
    }

    /// Returns where an original register is for a thread at `counter`; registers
    /// go by their numbers in instructions.
    pub fn saved(&self, counter: u64, register: u8) -> Option<Saved> {
        let pushed = match self.find(counter)? {
            Found::Twin(_) => 0,
            Found::Stub(mark) => mark.frame.pushed,
        };
        Some(self.saved_in(pushed, register))
    }

    /// Returns why a thread leaves that faulted at `counter`, or came through the
    /// gate to it.
    pub fn leave(&self, counter: u64) -> Leave {
        match self.find(counter) {
            Some(Found::Stub(mark)) => mark.leave,
            _ => Leave::Not,
        }
    }

    /// Returns the instructions that may fault without a fault of the program.
    pub fn faulting(&self) -> impl Iterator<Item = u64> + '_ {
        let marks = self.marks.iter();
        let faulting =
            marks.filter(|(_, mark)| matches!(mark.leave, Leave::Capture | Leave::Stack));
        faulting.map(|(offset, _)| self.at.wrapping_add(*offset as u64))
    }

    /// Returns the address at which a thread goes on that stands at an original
    /// instruction of the head, without an event.
    pub fn twin_of(&self, original: u64) -> Option<u64> {
        if original == self.entry {
            // An `endbr64` that stays has no effect.
            return Some(self.relocated.at);
        }
        self.relocated.twin_of(original)
    }

    /// Returns the number of sections.
    pub fn sections(&self) -> usize {
        self.sections.len()
    }

    pub(crate) fn find(&self, counter: u64) -> Option<Found<'_>> {
        if let Some(piece) = self.relocated.piece_at(counter) {
            return Some(Found::Twin(piece));
        }
        let offset = usize::try_from(counter.checked_sub(self.at)?).ok()?;
        let at = self
            .marks
            .binary_search_by_key(&offset, |mark| mark.0)
            .ok()?;
        Some(Found::Stub(&self.marks.get(at)?.1))
    }

    pub(crate) fn phase_of(&self, section: usize, op: usize) -> Option<Phase> {
        self.sections.get(section)?.phases.get(op).copied()
    }

    /// Returns where a register is when `pushed` words are on the stack.
    pub(crate) fn saved_in(&self, pushed: usize, register: u8) -> Saved {
        const RAX: u8 = 0;
        const RSP: u8 = 4;
        let saved = self.saved.iter().position(|saved| *saved == register);
        let word = match (register, saved) {
            (RSP, _) => return Saved::StackPointer(8 * pushed as u64),
            (RAX, _) => 0,
            (_, Some(at)) => 2 + at,
            (_, None) => return Saved::Register,
        };
        match pushed.checked_sub(word + 1) {
            Some(above) => Saved::Stack(8 * above as u64),
            None => Saved::Register,
        }
    }

    /// Returns the locks that a step may hold at an operation; none if it must be
    /// finished.
    pub(crate) fn locks_at(&self, section: usize, op: usize) -> Option<Locks> {
        let map = self.sections.get(section)?;
        if !can_abandon(*map.phases.get(op)?) {
            return None;
        }
        let mut locks = map.held.get(op)?.clone();
        locks.extend(map.takes.get(op).copied().flatten());
        Some(locks)
    }
}
