//! The memory and the threads of a program, without anything that waits.

use super::program::{Instruction, Operand, Program, THREADS_MAX, WORDS, Word, tid, tid_word};
use crate::random::mix;
use crate::{LockMode, LockStep};
use std::vec;
use std::vec::Vec;

/// Whether a thread exists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) enum Life {
    #[default]
    NotYet,
    Lives,
    Gone,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Thread {
    pub(super) life: Life,
    pub(super) counter: usize,
    pub(super) registers: [u32; 4],
    /// Whether it stands before the instruction, as it has told.
    pub(super) stands: bool,
    /// The signals that it handled.
    pub(super) handled: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct World {
    pub(super) memory: Vec<u32>,
    pub(super) threads: Vec<Thread>,
    pub(super) has_crashed: bool,
}

/// What a thread did before it came to its next point.
#[derive(Debug, Clone, Copy)]
pub(super) enum Event {
    Started(usize),
    Noted(u64, LockStep, LockMode),
}

impl World {
    pub(super) fn new(program: &Program) -> World {
        let mut memory = vec![0; WORDS + THREADS_MAX];
        for (word, value) in &program.initial {
            memory[*word] = *value;
        }
        let mut threads = vec![Thread::default(); program.code.len()];
        threads[0].life = Life::Lives;
        World {
            memory,
            threads,
            has_crashed: false,
        }
    }

    pub(super) fn value(&self, thread: usize, operand: Operand) -> u32 {
        match operand {
            Operand::Constant(value) => value,
            Operand::Register(register) => self.threads[thread].registers[register],
            Operand::Tid => tid(thread),
        }
    }

    pub(super) fn instruction(&self, program: &Program, thread: usize) -> Instruction {
        program.instruction(thread, self.threads[thread].counter)
    }

    /// Executes an instruction that no other thread can be seen in.
    pub(super) fn execute(&mut self, program: &Program, thread: usize) -> Option<Event> {
        use Instruction as I;
        let instruction = self.instruction(program, thread);
        let set = |world: &mut World, register: usize, value: u32| {
            world.threads[thread].registers[register] = value;
        };
        let mut next = self.threads[thread].counter + 1;
        let mut event = None;
        match instruction {
            I::Load(register, word) => set(self, register, self.memory[word]),
            I::Store(word, operand) => self.memory[word] = self.value(thread, operand),
            I::Swap(register, word, operand) => {
                let new = self.value(thread, operand);
                let old = std::mem::replace(&mut self.memory[word], new);
                set(self, register, old);
            }
            I::CompareSwap(register, word, expected, new) => {
                let old = self.memory[word];
                if old == self.value(thread, expected) {
                    self.memory[word] = self.value(thread, new);
                }
                set(self, register, old);
            }
            I::Add(register, word, value) => {
                let old = self.memory[word];
                self.memory[word] = old.wrapping_add(value);
                set(self, register, old);
            }
            I::Let(register, operand) => set(self, register, self.value(thread, operand)),
            I::Sum(register, value) => {
                let sum = self.threads[thread].registers[register].wrapping_add(value);
                set(self, register, sum);
            }
            I::Jump(to) => next = to,
            I::JumpIfEqual(register, operand, to) => {
                if self.threads[thread].registers[register] == self.value(thread, operand) {
                    next = to;
                }
            }
            I::JumpIfDifferent(register, operand, to) => {
                if self.threads[thread].registers[register] != self.value(thread, operand) {
                    next = to;
                }
            }
            I::Spawn(child) => {
                self.threads[child].life = Life::Lives;
                self.memory[tid_word(child)] = tid(child);
                event = Some(Event::Started(child));
            }
            I::Note(lock, step, mode) => event = Some(Event::Noted(lock, step, mode)),
            I::Assert(register, operand) => {
                let holds = self.threads[thread].registers[register] == self.value(thread, operand);
                self.has_crashed |= !holds;
            }
            I::Refuse(register, operand) => {
                let is_it = self.threads[thread].registers[register] == self.value(thread, operand);
                self.has_crashed |= is_it;
            }
            I::Exit => self.threads[thread].life = Life::Gone,
            I::Wait { .. } | I::Futex(..) | I::LockPi(..) | I::Yield | I::Turn => {}
            I::Sleep(_) | I::Enter => {}
        }
        self.threads[thread].counter = next;
        self.threads[thread].stands = false;
        event
    }

    /// Executes what no other thread sees, up to the next point, unless the program crashes.
    pub(super) fn run_on(&mut self, program: &Program, thread: usize) -> Vec<Event> {
        let mut events = Vec::new();
        for _ in 0..10_000 {
            let instruction = self.instruction(program, thread);
            if self.has_crashed || program.point_kind(instruction).is_some() {
                self.threads[thread].stands = true;
                return events;
            }
            events.extend(self.execute(program, thread));
        }
        panic!("thread {thread} never comes to a point");
    }

    /// A call of a thread returns.
    pub(super) fn finish(&mut self, program: &Program, thread: usize, result: i64) {
        use Instruction as I;
        match self.instruction(program, thread) {
            I::Wait { register, .. } | I::Futex(register, _) | I::LockPi(register, ..) => {
                self.threads[thread].registers[register] = result as u32;
            }
            _ => {}
        }
        self.threads[thread].counter += 1;
        self.threads[thread].stands = false;
    }

    /// Returns a value that differs if a thread's registers do, and is not 0.
    pub(super) fn state_of(&self, thread: usize) -> u64 {
        let thread = &self.threads[thread];
        let values = thread.registers.iter().map(|it| u64::from(*it));
        let all = values.chain([thread.counter as u64, u64::from(thread.handled)]);
        all.fold(1, |hash, value| mix(hash ^ value.wrapping_add(hash << 7))) | 1
    }

    pub(super) fn results(&self, program: &Program) -> Vec<u32> {
        let value = |word: &Word| self.memory[*word];
        program.results.iter().map(value).collect()
    }
}
