//! The specification: what the kernel does with futex calls, written down naively over the
//! memory itself. It shares nothing with the machine but the interpreter of plain instructions.

use super::driver::call_of;
use super::program::{Instruction, Program, tid, tid_word, word_at};
use super::world::{Life, World};
use crate::{ChoiceKind, FutexCall, Standstill};
use std::vec::Vec;

/// A thread that waits, and for what.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Waiting {
    pub(super) thread: usize,
    word: usize,
    mask: u32,
    deadline: Option<u64>,
    is_pi: bool,
}

/// The state of the specification. Waiting threads are in the order of their arrival.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Specification {
    pub(super) world: World,
    pub(super) waiting: Vec<Waiting>,
    pub(super) sleeping: Vec<(usize, u64)>,
    pub(super) in_kernel: Vec<usize>,
    pub(super) held_by_user: Vec<usize>,
    pub(super) signalled: Vec<usize>,
    pub(super) now: u64,
    pub(super) spurious: u32,
    /// Whether others may go first behind a call that does not wait.
    stops_behind_calls: bool,
}

const INVALID: i64 = -22;

impl Specification {
    pub(super) fn new(program: &Program, spurious: u32, stops_behind_calls: bool) -> Specification {
        Specification {
            world: World::new(program),
            waiting: Vec::new(),
            sleeping: Vec::new(),
            in_kernel: Vec::new(),
            held_by_user: Vec::new(),
            signalled: Vec::new(),
            now: 0,
            spurious,
            stops_behind_calls,
        }
    }

    fn lives(&self, thread: usize) -> bool {
        self.world.threads[thread].life == Life::Lives
    }

    pub(super) fn waits(&self, thread: usize) -> bool {
        self.waiting.iter().any(|it| it.thread == thread)
    }

    fn sleeps(&self, thread: usize) -> bool {
        self.sleeping.iter().any(|it| it.0 == thread)
    }

    pub(super) fn deadline(&self, thread: usize) -> Option<u64> {
        let mut waiting = self.waiting.iter();
        let mut sleeping = self.sleeping.iter();
        match waiting.find(|it| it.thread == thread) {
            Some(waiting) => waiting.deadline,
            None => sleeping.find(|it| it.0 == thread).map(|it| it.1),
        }
    }

    /// Returns true if nothing but the user may hinder a thread.
    pub(super) fn can_run(&self, thread: usize) -> bool {
        self.lives(thread)
            && !self.waits(thread)
            && !self.sleeps(thread)
            && !self.in_kernel.contains(&thread)
    }

    /// Returns what may happen next, in the order of choices.
    pub(super) fn possible(&self) -> Vec<(ChoiceKind, usize)> {
        let mut possible = Vec::new();
        if self.world.has_crashed {
            return possible;
        }
        for thread in 0..self.world.threads.len() {
            if !self.lives(thread) || self.held_by_user.contains(&thread) {
                continue;
            }
            if self.can_run(thread) {
                possible.push((ChoiceKind::Run, thread));
            }
            if self.signalled.contains(&thread) && !self.in_kernel.contains(&thread) {
                possible.push((ChoiceKind::Deliver, thread));
            }
            if self.deadline(thread).is_some() {
                possible.push((ChoiceKind::TimeOut, thread));
            }
            let mut waiting = self.waiting.iter();
            if self.spurious != 0 && waiting.any(|it| it.thread == thread && !it.is_pi) {
                possible.push((ChoiceKind::Spurious, thread));
            }
        }
        if possible.iter().all(|it| it.0 == ChoiceKind::Spurious) {
            possible.clear();
        }
        possible.sort_unstable();
        possible
    }

    /// Returns why nothing may happen next.
    pub(super) fn standstill(&self) -> Standstill {
        let threads = 0..self.world.threads.len();
        let mut living = threads.filter(|thread| self.lives(*thread)).peekable();
        if living.peek().is_none() {
            Standstill::Over
        } else if !self.in_kernel.is_empty() {
            Standstill::Outside
        } else if living.any(|thread| {
            self.held_by_user.contains(&thread)
                && (self.can_run(thread)
                    || self.deadline(thread).is_some()
                    || self.signalled.contains(&thread))
        }) {
            Standstill::User
        } else {
            Standstill::Deadlock
        }
    }

    /// Lets something happen, and the thread run to its next point.
    pub(super) fn step(&mut self, program: &Program, kind: ChoiceKind, thread: usize) {
        match kind {
            ChoiceKind::Run | ChoiceKind::Wake => {}
            ChoiceKind::Deliver => {
                self.signalled.retain(|it| *it != thread);
                self.world.threads[thread].handled += 1;
                if self.waits(thread) || self.sleeps(thread) {
                    self.release(program, thread, -4);
                }
            }
            ChoiceKind::TimeOut => {
                self.now = self.now.max(self.deadline(thread).unwrap());
                for other in 0..self.world.threads.len() {
                    if self.deadline(other).is_some_and(|it| it <= self.now) {
                        let result = if self.sleeps(other) { 0 } else { -110 };
                        self.release(program, other, result);
                    }
                }
            }
            ChoiceKind::Spurious => {
                self.spurious -= 1;
                self.release(program, thread, 0);
            }
        }
        self.run(program, thread);
    }

    fn run(&mut self, program: &Program, thread: usize) {
        use Instruction as I;
        if self.world.threads[thread].stands {
            self.world.threads[thread].stands = false;
            match self.world.instruction(program, thread) {
                I::Wait { .. } | I::Futex(..) | I::LockPi(..) => match self.call(program, thread) {
                    Some(result) => {
                        self.world.finish(program, thread, result);
                        if self.stops_behind_calls {
                            return;
                        }
                    }
                    None => return,
                },
                I::Sleep(duration) => {
                    self.sleeping.push((thread, self.now + duration));
                    self.sleeping.sort_unstable();
                    return;
                }
                I::Enter => {
                    self.world.execute(program, thread);
                    self.in_kernel.push(thread);
                    self.in_kernel.sort_unstable();
                    return;
                }
                I::Exit => return self.exit(program, thread),
                _ => {
                    self.world.execute(program, thread);
                }
            }
        }
        self.world.run_on(program, thread);
    }

    /// A thread's wait ends.
    fn release(&mut self, program: &Program, thread: usize, result: i64) {
        self.waiting.retain(|it| it.thread != thread);
        self.sleeping.retain(|it| it.0 != thread);
        self.world.finish(program, thread, result);
    }

    fn waiters(&self, word: usize, mask: u32) -> Vec<usize> {
        let at = |it: &&Waiting| it.word == word && it.mask & mask != 0;
        self.waiting.iter().filter(at).map(|it| it.thread).collect()
    }

    fn wake(&mut self, program: &Program, word: usize, mask: u32, count: i32) -> i64 {
        let mut woken = self.waiters(word, mask);
        woken.truncate(count as usize);
        for thread in &woken {
            self.release(program, *thread, 0);
        }
        woken.len() as i64
    }

    fn has_owner(&self, word: usize) -> bool {
        self.waiting.iter().any(|it| it.word == word && it.is_pi)
    }

    /// Makes a call; no result if it waits.
    fn call(&mut self, program: &Program, thread: usize) -> Option<i64> {
        let instruction = self.world.instruction(program, thread);
        let call = call_of(instruction, &self.world, thread, self.now);
        let own = tid(thread);
        Some(match call {
            FutexCall::Wait {
                address,
                expected,
                mask,
                deadline,
            } => {
                let word = word_at(address);
                if mask == 0 {
                    INVALID
                } else if self.world.memory[word] != expected {
                    -11
                } else {
                    self.waiting.push(Waiting {
                        thread,
                        word,
                        mask,
                        deadline,
                        is_pi: false,
                    });
                    return None;
                }
            }
            FutexCall::Wake {
                address,
                count,
                mask,
            } => {
                let word = word_at(address);
                if mask == 0 || self.has_owner(word) {
                    INVALID
                } else {
                    self.wake(program, word, mask, count.max(1))
                }
            }
            FutexCall::Requeue {
                from,
                to,
                wake,
                requeue,
                expected,
            } => {
                let (from, to) = (word_at(from), word_at(to));
                if expected.is_some_and(|it| it != self.world.memory[from]) {
                    return Some(-11);
                }
                let woken = self.wake(program, from, u32::MAX, wake);
                let mut moved = self.waiters(from, u32::MAX);
                moved.truncate(requeue as usize);
                for thread in &moved {
                    let index = self.waiting.iter().position(|it| it.thread == *thread);
                    let waiting = self.waiting.remove(index.unwrap());
                    self.waiting.push(Waiting {
                        word: to,
                        ..waiting
                    });
                }
                woken + moved.len() as i64
            }
            FutexCall::WakeOp {
                first,
                second,
                wake_first,
                wake_second,
                operation,
            } => {
                let (first, second) = (word_at(first), word_at(second));
                // Only additions with the comparison `==` are used.
                assert_eq!(operation >> 24, 0x10, "operation {operation:x}");
                let old = self.world.memory[second];
                self.world.memory[second] = old.wrapping_add(operation >> 12 & 0xFFF);
                let mut woken = self.wake(program, first, u32::MAX, wake_first);
                if old == operation & 0xFFF {
                    woken += self.wake(program, second, u32::MAX, wake_second);
                }
                woken
            }
            FutexCall::LockPi { address, deadline } => {
                let word = word_at(address);
                let value = self.world.memory[word];
                match value & 0x3FFF_FFFF {
                    0 => {
                        self.take(word, thread, value & 0x4000_0000);
                        0
                    }
                    owner if owner == own => -35,
                    owner => {
                        let owner = owner as usize - 100;
                        if self.world.threads.get(owner).is_none() || !self.lives(owner) {
                            return Some(-3);
                        }
                        self.world.memory[word] |= 0x8000_0000;
                        self.waiting.push(Waiting {
                            thread,
                            word,
                            mask: u32::MAX,
                            deadline,
                            is_pi: true,
                        });
                        return None;
                    }
                }
            }
            FutexCall::TryLockPi { address } => {
                let word = word_at(address);
                let value = self.world.memory[word];
                match value & 0x3FFF_FFFF {
                    0 => {
                        self.take(word, thread, value & 0x4000_0000);
                        0
                    }
                    owner if owner == own => -35,
                    _ => -11,
                }
            }
            FutexCall::UnlockPi { address } => {
                let word = word_at(address);
                if self.world.memory[word] & 0x3FFF_FFFF != own {
                    return Some(-1);
                }
                self.give_on(program, word, 0);
                0
            }
        })
    }

    /// A thread gets a lock with priority inheritance that nobody has.
    fn take(&mut self, word: usize, thread: usize, died: u32) {
        let waited_for = self.waiters(word, u32::MAX).iter().any(|it| *it != thread);
        let waiters = u32::from(waited_for) << 31;
        self.world.memory[word] = tid(thread) | waiters | died;
    }

    /// A lock with priority inheritance goes to who waits for it.
    fn give_on(&mut self, program: &Program, word: usize, died: u32) {
        match self.waiters(word, u32::MAX).first() {
            Some(heir) => {
                let heir = *heir;
                self.take(word, heir, died);
                self.release(program, heir, 0);
            }
            None => self.world.memory[word] = died,
        }
    }

    fn exit(&mut self, program: &Program, thread: usize) {
        for (word, is_pi) in &program.robust {
            let value = self.world.memory[*word];
            if value & 0x3FFF_FFFF != tid(thread) {
                continue;
            }
            if *is_pi && self.has_owner(*word) {
                self.give_on(program, *word, 0x4000_0000);
                continue;
            }
            self.world.memory[*word] = value & 0x8000_0000 | 0x4000_0000;
            if value & 0x8000_0000 != 0 && !is_pi {
                self.wake(program, *word, u32::MAX, 1);
            }
        }
        self.world.execute(program, thread);
        self.signalled.retain(|it| *it != thread);
        if thread != 0 {
            self.world.memory[tid_word(thread)] = 0;
            self.wake(program, tid_word(thread), u32::MAX, 1);
        }
    }
}
