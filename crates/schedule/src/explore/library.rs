//! Locks, condition variables, semaphores and barriers of words and futex calls, as libraries
//! write them; and a writer of code.

use super::program::{Instruction, Operand, Register, Word, address, tid_word};
use crate::{FutexCall, LockMode, LockStep};
use std::vec::Vec;

const ALL: u32 = u32::MAX;

/// Writes the code of a thread. Registers 2 and 3 are the library's.
#[derive(Debug, Clone, Default)]
pub(super) struct Writer {
    code: Vec<Instruction>,
    /// Whether the code says what its locks mean.
    notes: bool,
}

use Instruction as I;
use Operand::{Constant, Register as Reg};

impl Writer {
    pub(super) fn new() -> Writer {
        Writer {
            code: Vec::new(),
            notes: true,
        }
    }

    pub(super) fn code(self) -> Vec<Instruction> {
        self.code
    }

    pub(super) fn here(&self) -> usize {
        self.code.len()
    }

    pub(super) fn put(&mut self, instruction: Instruction) -> &mut Writer {
        self.code.push(instruction);
        self
    }

    /// Lets a jump that was written before come here.
    pub(super) fn land(&mut self, jump: usize) {
        let here = self.code.len();
        match &mut self.code[jump] {
            I::Jump(to) | I::JumpIfEqual(_, _, to) | I::JumpIfDifferent(_, _, to) => *to = here,
            other => panic!("{other:?} is no jump"),
        }
    }

    /// Writes a jump that lands later.
    pub(super) fn jump_if_equal(&mut self, register: Register, value: u32) -> usize {
        self.put(I::JumpIfEqual(register, Constant(value), 0));
        self.here() - 1
    }

    pub(super) fn jump_if_different(&mut self, register: Register, value: u32) -> usize {
        self.put(I::JumpIfDifferent(register, Constant(value), 0));
        self.here() - 1
    }

    fn note(&mut self, word: Word, step: LockStep) {
        if self.notes {
            self.put(I::Note(address(word), step, LockMode::Exclusive));
        }
    }

    pub(super) fn wait(&mut self, register: Register, word: Word, expected: Operand) {
        self.wait_until(register, word, expected, None);
    }

    pub(super) fn wait_until(
        &mut self,
        register: Register,
        word: Word,
        expected: Operand,
        timeout: Option<u64>,
    ) {
        self.put(I::Wait {
            register,
            word,
            expected,
            mask: ALL,
            timeout,
        });
    }

    pub(super) fn wake(&mut self, word: Word, count: i32) {
        self.put(I::Futex(
            3,
            FutexCall::Wake {
                address: address(word),
                count,
                mask: ALL,
            },
        ));
    }

    /// U. Drepper, *Futexes Are Tricky*, the second mutex: 0 free, 1 taken, 2 waited for.
    pub(super) fn lock(&mut self, word: Word) -> &mut Writer {
        self.put(I::CompareSwap(3, word, Constant(0), Constant(1)));
        let taken = self.jump_if_equal(3, 0);
        self.note(word, LockStep::Wants { is_timed: false });
        let again = self.here();
        self.put(I::Swap(3, word, Constant(2)));
        let free = self.jump_if_equal(3, 0);
        self.wait(3, word, Constant(2));
        self.put(I::Jump(again));
        self.land(taken);
        self.land(free);
        self.note(word, LockStep::Takes { is_tried: false });
        self
    }

    /// As `lock`, but gives up after a time; register 3 is 1 then, and 0 otherwise.
    pub(super) fn lock_timed(&mut self, word: Word, timeout: u64) -> &mut Writer {
        self.put(I::CompareSwap(3, word, Constant(0), Constant(1)));
        let taken = self.jump_if_equal(3, 0);
        self.note(word, LockStep::Wants { is_timed: true });
        let again = self.here();
        self.put(I::Swap(3, word, Constant(2)));
        let free = self.jump_if_equal(3, 0);
        self.wait_until(3, word, Constant(2), Some(timeout));
        self.put(I::JumpIfDifferent(3, Constant((-110_i32) as u32), again));
        self.note(word, LockStep::GivesUp);
        self.put(I::Let(3, Constant(1)));
        self.put(I::Jump(0));
        let end = self.here() - 1;
        self.land(taken);
        self.land(free);
        self.note(word, LockStep::Takes { is_tried: true });
        self.put(I::Let(3, Constant(0)));
        self.land(end);
        self
    }

    /// Register 3 is 0 if the lock was taken.
    pub(super) fn try_lock(&mut self, word: Word) -> &mut Writer {
        self.put(I::CompareSwap(3, word, Constant(0), Constant(1)));
        let busy = self.jump_if_different(3, 0);
        self.note(word, LockStep::Takes { is_tried: true });
        self.land(busy);
        self
    }

    pub(super) fn unlock(&mut self, word: Word) -> &mut Writer {
        self.note(word, LockStep::Drops);
        self.put(I::Swap(3, word, Constant(0)));
        let nobody = self.jump_if_different(3, 2);
        self.wake(word, 1);
        self.land(nobody);
        self
    }

    /// Waits for a condition variable, whose word counts signals. Register 2 is used.
    pub(super) fn wait_condition(&mut self, condition: Word, lock: Word) -> &mut Writer {
        self.put(I::Load(2, condition));
        self.unlock(lock);
        self.wait(3, condition, Reg(2));
        self.lock(lock)
    }

    pub(super) fn signal(&mut self, condition: Word) -> &mut Writer {
        self.put(I::Add(3, condition, 1));
        self.wake(condition, 1);
        self
    }

    pub(super) fn broadcast(&mut self, condition: Word) -> &mut Writer {
        self.put(I::Add(3, condition, 1));
        self.wake(condition, i32::MAX);
        self
    }

    /// Takes one from a semaphore, whose word is its count; the next word is that of those who wait.
    pub(super) fn take_one(&mut self, word: Word) -> &mut Writer {
        let again = self.here();
        self.put(I::Load(2, word));
        let empty = self.jump_if_equal(2, 0);
        self.put(I::Let(3, Reg(2)));
        self.put(I::Sum(3, u32::MAX));
        self.put(I::CompareSwap(3, word, Reg(2), Reg(3)));
        // The old value, if it was taken.
        self.put(I::JumpIfDifferent(3, Reg(2), again));
        self.put(I::Jump(0));
        let end = self.here() - 1;
        self.land(empty);
        self.wait(3, word, Constant(0));
        self.put(I::Jump(again));
        self.land(end);
        self
    }

    pub(super) fn add_one(&mut self, word: Word) -> &mut Writer {
        self.put(I::Add(3, word, 1));
        self.wake(word, 1);
        self
    }

    /// Waits until `count` threads are at a barrier, of two words: those who came, and the turn.
    pub(super) fn meet(&mut self, word: Word, count: u32) -> &mut Writer {
        self.put(I::Load(2, word + 1));
        self.put(I::Add(3, word, 1));
        let last = self.jump_if_equal(3, count - 1);
        let again = self.here();
        self.put(I::Load(3, word + 1));
        self.put(I::JumpIfDifferent(3, Reg(2), 0));
        let passed = self.here() - 1;
        self.wait(3, word + 1, Reg(2));
        self.put(I::Jump(again));
        self.land(last);
        self.put(I::Store(word, Constant(0)));
        self.put(I::Add(3, word + 1, 1));
        self.wake(word + 1, i32::MAX);
        self.land(passed);
        self
    }

    pub(super) fn join(&mut self, thread: usize) -> &mut Writer {
        let again = self.here();
        self.put(I::Load(2, tid_word(thread)));
        let ended = self.jump_if_equal(2, 0);
        self.wait(3, tid_word(thread), Reg(2));
        self.put(I::Jump(again));
        self.land(ended);
        self
    }
}

/// Returns the code of the first thread: it starts all others, and joins them.
pub(super) fn start_and_join(threads: usize) -> Vec<Instruction> {
    let mut writer = Writer::new();
    for thread in 1..=threads {
        writer.put(I::Spawn(thread));
    }
    for thread in 1..=threads {
        writer.join(thread);
    }
    writer.code()
}
