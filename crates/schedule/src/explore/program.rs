//! The small language: words of memory, four registers a thread, futex calls.

use crate::{Access, AccessKind, CLOCK, Footprint, FutexCall, LockMode, LockStep, PointKind};
use std::vec::Vec;

/// The number of words before those that the kernel clears when a thread ends.
pub(super) const WORDS: usize = 24;
/// The number of threads that a program may have.
pub(super) const THREADS_MAX: usize = 6;

/// A word of memory by its number.
pub(super) type Word = usize;

/// Returns the address of a word.
pub(super) fn address(word: Word) -> u64 {
    0x1000 + 4 * word as u64
}

/// Returns the word of an address.
pub(super) fn word_at(address: u64) -> Word {
    (address as usize - 0x1000) / 4
}

/// Returns the word that the kernel clears when a thread ends.
pub(super) fn tid_word(thread: usize) -> Word {
    WORDS + thread
}

/// Returns the kernel id of a thread.
pub(super) fn tid(thread: usize) -> u32 {
    100 + thread as u32
}

/// A value of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Operand {
    Constant(u32),
    Register(usize),
    /// The thread's id.
    Tid,
}

/// A register.
pub(super) type Register = usize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Instruction {
    Load(Register, Word),
    Store(Word, Operand),
    /// `xchg`
    Swap(Register, Word, Operand),
    /// `lock cmpxchg`: register (old value), word, expected, new.
    CompareSwap(Register, Word, Operand, Operand),
    /// `lock xadd`
    Add(Register, Word, u32),
    Let(Register, Operand),
    Sum(Register, u32),
    Jump(usize),
    JumpIfEqual(Register, Operand, usize),
    JumpIfDifferent(Register, Operand, usize),
    Wait {
        register: Register,
        word: Word,
        expected: Operand,
        mask: u32,
        timeout: Option<u64>,
    },
    Futex(Register, FutexCall),
    LockPi(Register, Word, Option<u64>),
    Yield,
    /// The beginning of a turn of a loop.
    Turn,
    Sleep(u64),
    /// A system call that returns when the outside wants it.
    Enter,
    Spawn(usize),
    /// What the program means.
    Note(u64, LockStep, LockMode),
    /// The program aborts if the register has another value.
    Assert(Register, Operand),
    /// The program aborts if the register has this value.
    Refuse(Register, Operand),
    Exit,
}

/// A program: the code of each thread, of which the first exists at the beginning.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Program {
    pub(super) code: Vec<Vec<Instruction>>,
    /// Words that are not 0 at the beginning.
    pub(super) initial: Vec<(Word, u32)>,
    /// Words of robust futexes, and whether they have priority inheritance.
    pub(super) robust: Vec<(Word, bool)>,
    /// Words whose final values are compared.
    pub(super) results: Vec<Word>,
    /// Whether plain accesses of memory are points.
    pub(super) only_atomic: bool,
}

impl Program {
    pub(super) fn instruction(&self, thread: usize, counter: usize) -> Instruction {
        let code = &self.code[thread];
        code.get(counter).copied().unwrap_or(Instruction::Exit)
    }

    /// Returns what kind of point an instruction is, if it is one.
    pub(super) fn point_kind(&self, instruction: Instruction) -> Option<PointKind> {
        use Instruction as I;
        match instruction {
            I::Load(..) | I::Store(..) if self.only_atomic => None,
            I::Load(..) | I::Store(..) | I::Swap(..) | I::CompareSwap(..) | I::Add(..) => {
                Some(PointKind::Access)
            }
            I::Wait { .. } | I::Futex(..) | I::LockPi(..) => Some(PointKind::Futex),
            I::Yield => Some(PointKind::Yield),
            I::Turn => Some(PointKind::Loop),
            I::Sleep(_) | I::Enter => Some(PointKind::Call),
            I::Exit => Some(PointKind::Exit),
            _ => None,
        }
    }

    /// Returns the object of an instruction: its word.
    pub(super) fn object(&self, instruction: Instruction) -> u64 {
        let footprint = self.footprint(instruction, 0, |_| 0);
        footprint.accesses().first().map_or(0, |it| it.address)
    }

    /// Returns what an instruction touches; `value` gives the value of a word.
    pub(super) fn footprint(
        &self,
        instruction: Instruction,
        thread: usize,
        value: impl Fn(Word) -> u32,
    ) -> Footprint {
        use Instruction as I;
        let read = |word| Access::read(address(word), 4);
        let write = |word| Access::write(address(word), 4);
        match instruction {
            I::Load(_, word) => Footprint::of(read(word)),
            I::Store(word, _) | I::Add(_, word, _) => Footprint::of(write(word)),
            I::Swap(_, word, Operand::Constant(new)) if value(word) == new => {
                Footprint::of(Access {
                    kind: AccessKind::WriteSame,
                    ..write(word)
                })
            }
            I::CompareSwap(_, word, Operand::Constant(expected), _) if value(word) != expected => {
                Footprint::of(Access {
                    kind: AccessKind::WriteSame,
                    ..write(word)
                })
            }
            I::Swap(_, word, _) | I::CompareSwap(_, word, ..) => Footprint::of(write(word)),
            I::Wait { word, timeout, .. } | I::LockPi(_, word, timeout) => {
                let footprint = Footprint::of(write(word));
                match timeout {
                    Some(_) => footprint.and(Access::read(CLOCK, 1)),
                    None => footprint,
                }
            }
            I::Futex(_, call) => match call {
                FutexCall::Wake { address, .. }
                | FutexCall::TryLockPi { address }
                | FutexCall::UnlockPi { address } => Footprint::of(Access::write(address, 4)),
                FutexCall::Requeue { from, to, .. } => {
                    Footprint::of(Access::write(from, 4)).and(Access::write(to, 4))
                }
                FutexCall::WakeOp { first, second, .. } => {
                    Footprint::of(Access::write(first, 4)).and(Access::write(second, 4))
                }
                _ => Footprint::UNKNOWN,
            },
            I::Sleep(_) => Footprint::of(Access::read(CLOCK, 1)),
            I::Enter => Footprint::UNKNOWN,
            I::Exit => {
                let footprint = Footprint::of(write(tid_word(thread)));
                let robust = self.robust.iter().map(|(word, _)| write(*word));
                robust.fold(footprint, Footprint::and)
            }
            _ => Footprint::NONE,
        }
    }
}
