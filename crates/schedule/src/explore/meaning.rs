//! Random programs of locks, condition variables, semaphores and barriers, and what they mean.
//!
//! A program is written twice: as code over words and futex calls, which the machine runs, and
//! as statements, which are interpreted here with locks that are locks. Both must end in the same
//! ways.

use super::library::Writer;
use super::program::{Instruction as I, Operand, Program};
use super::search::End;
use std::collections::{BTreeSet, HashSet};
use std::vec;
use std::vec::Vec;

/// A statement. Locks, variables and so on are numbered each for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Statement {
    Lock(usize),
    Unlock(usize),
    /// Goes on with what is behind `usize` statements if the lock is not free.
    TryLock(usize, usize),
    /// Waits for the condition while the variable is 0; the lock is held.
    Await {
        condition: usize,
        lock: usize,
        variable: usize,
    },
    Signal(usize),
    Broadcast(usize),
    TakeOne(usize),
    AddOne(usize),
    /// Waits for all threads.
    Meet,
    Write(usize, u32),
    /// Reads a variable, then writes the sum.
    Increase(usize, u32),
    /// Notes a variable's value as the thread's result.
    Read(usize),
}

/// The number of conditions, semaphores and variables.
pub(super) const EACH: usize = 2;
/// The number of locks.
pub(super) const LOCKS: usize = 4;

/// The words of the code.
mod word {
    pub(super) const LOCK: usize = 0;
    pub(super) const CONDITION: usize = 4;
    pub(super) const SEMAPHORE: usize = 6;
    pub(super) const BARRIER: usize = 8;
    pub(super) const VARIABLE: usize = 10;
    pub(super) const RESULT: usize = 12;
}

/// A program as statements.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Meaning {
    pub(super) threads: Vec<Vec<Statement>>,
}

impl Meaning {
    /// Returns the code.
    pub(super) fn program(&self) -> Program {
        let count = self.threads.len();
        let mut code = vec![super::library::start_and_join(count)];
        for (number, statements) in self.threads.iter().enumerate() {
            code.push(code_of(number, statements, count as u32));
        }
        let variables = word::VARIABLE..word::VARIABLE + EACH;
        let results = word::RESULT..word::RESULT + count;
        Program {
            code,
            results: variables.chain(results).collect(),
            ..Program::default()
        }
    }

    /// Returns the ways in which the program ends.
    pub(super) fn ends(&self) -> BTreeSet<(End, Vec<u32>)> {
        let first = State {
            threads: vec![Thread::default(); self.threads.len()],
            owners: [None; LOCKS],
            semaphores: [0; EACH],
            variables: [0; EACH],
        };
        let mut ends = BTreeSet::new();
        let mut seen = HashSet::from([first.clone()]);
        let mut pending = vec![first];
        while let Some(state) = pending.pop() {
            let mut is_stuck = true;
            for thread in 0..self.threads.len() {
                for next in self.steps(&state, thread) {
                    is_stuck = false;
                    if seen.insert(next.clone()) {
                        pending.push(next);
                    }
                }
            }
            if is_stuck {
                let is_over = |(thread, code): (&Thread, &Vec<Statement>)| thread.at == code.len();
                let mut threads = state.threads.iter().zip(&self.threads);
                let end = if threads.all(is_over) {
                    End::Over
                } else {
                    End::Deadlock
                };
                let results = state.threads.iter().map(|thread| thread.result);
                ends.insert((end, state.variables.into_iter().chain(results).collect()));
            }
        }
        ends
    }

    /// Returns the states after a step of a thread.
    fn steps(&self, state: &State, thread: usize) -> Vec<State> {
        let mut next = state.clone();
        let own = &mut next.threads[thread];
        let Some(statement) = self.threads[thread].get(own.at) else {
            return Vec::new();
        };
        own.at += 1;
        match *statement {
            Statement::Lock(lock) => {
                if next.owners[lock].is_some() {
                    return Vec::new();
                }
                next.owners[lock] = Some(thread);
            }
            Statement::TryLock(lock, length) => {
                if next.owners[lock].is_some() {
                    own.at += length;
                } else {
                    next.owners[lock] = Some(thread);
                }
            }
            Statement::Unlock(lock) => next.owners[lock] = None,
            Statement::Await { lock, variable, .. } => match own.phase {
                Phase::Runs if next.variables[variable] != 0 => {}
                // A write without the lock, and its signal, may come before the wait.
                Phase::Runs => {
                    own.at -= 1;
                    own.phase = Phase::Looked;
                }
                Phase::Looked => {
                    own.at -= 1;
                    own.phase = Phase::Waits;
                    next.owners[lock] = None;
                }
                Phase::Waits | Phase::Met => return Vec::new(),
                Phase::Woken => {
                    if next.owners[lock].is_some() {
                        return Vec::new();
                    }
                    own.at -= 1;
                    own.phase = Phase::Runs;
                    next.owners[lock] = Some(thread);
                }
            },
            Statement::Broadcast(condition) => {
                for waiter in self.waiters(&next, condition) {
                    next.threads[waiter].phase = Phase::Woken;
                }
            }
            Statement::Signal(condition) => {
                let waiters = self.waiters(&next, condition);
                if waiters.is_empty() {
                    return vec![next];
                }
                // At least one: those who are about to wait see that the word has changed.
                return (1_u32..1 << waiters.len())
                    .map(|chosen| {
                        let mut next = next.clone();
                        for (index, waiter) in waiters.iter().enumerate() {
                            if chosen >> index & 1 == 1 {
                                next.threads[*waiter].phase = Phase::Woken;
                            }
                        }
                        next
                    })
                    .collect();
            }
            Statement::TakeOne(semaphore) => {
                let Some(left) = next.semaphores[semaphore].checked_sub(1) else {
                    return Vec::new();
                };
                next.semaphores[semaphore] = left;
            }
            Statement::AddOne(semaphore) => next.semaphores[semaphore] += 1,
            Statement::Meet => {
                if own.phase == Phase::Met {
                    return Vec::new();
                }
                own.phase = Phase::Met;
                own.at -= 1;
                if next.threads.iter().all(|it| it.phase == Phase::Met) {
                    for thread in &mut next.threads {
                        thread.phase = Phase::Runs;
                        thread.at += 1;
                    }
                }
            }
            Statement::Write(variable, value) => next.variables[variable] = value,
            Statement::Increase(variable, by) => match own.register.take() {
                None => {
                    own.register = Some(next.variables[variable]);
                    own.at -= 1;
                }
                Some(value) => next.variables[variable] = value + by,
            },
            Statement::Read(variable) => own.result = next.variables[variable],
        }
        vec![next]
    }

    fn waiters(&self, state: &State, of: usize) -> Vec<usize> {
        let waits = |thread: &usize| {
            let own = &state.threads[*thread];
            own.phase == Phase::Waits
                && matches!(self.threads[*thread].get(own.at),
                    Some(Statement::Await { condition, .. }) if *condition == of)
        };
        (0..state.threads.len()).filter(waits).collect()
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
enum Phase {
    #[default]
    Runs,
    /// It has seen that it must wait.
    Looked,
    Waits,
    Woken,
    Met,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Thread {
    at: usize,
    phase: Phase,
    register: Option<u32>,
    result: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    threads: Vec<Thread>,
    owners: [Option<usize>; LOCKS],
    semaphores: [u32; EACH],
    variables: [u32; EACH],
}

fn code_of(thread: usize, statements: &[Statement], threads: u32) -> Vec<I> {
    let mut writer = Writer::new();
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (at, statement) in statements.iter().enumerate() {
        while let Some((end, jump)) = open.pop() {
            if end != at {
                open.push((end, jump));
                break;
            }
            writer.land(jump);
        }
        match *statement {
            Statement::Lock(lock) => {
                writer.lock(word::LOCK + lock);
            }
            Statement::Unlock(lock) => {
                writer.unlock(word::LOCK + lock);
            }
            Statement::TryLock(lock, length) => {
                writer.try_lock(word::LOCK + lock);
                open.push((at + 1 + length, writer.jump_if_different(3, 0)));
            }
            Statement::Await {
                condition,
                lock,
                variable,
            } => {
                let again = writer.here();
                writer.put(I::Load(0, word::VARIABLE + variable));
                let ready = writer.jump_if_different(0, 0);
                writer.wait_condition(word::CONDITION + condition, word::LOCK + lock);
                writer.put(I::Jump(again));
                writer.land(ready);
            }
            Statement::Signal(condition) => {
                writer.signal(word::CONDITION + condition);
            }
            Statement::Broadcast(condition) => {
                writer.broadcast(word::CONDITION + condition);
            }
            Statement::TakeOne(semaphore) => {
                writer.take_one(word::SEMAPHORE + semaphore);
            }
            Statement::AddOne(semaphore) => {
                writer.add_one(word::SEMAPHORE + semaphore);
            }
            Statement::Meet => {
                writer.meet(word::BARRIER, threads);
            }
            Statement::Write(variable, value) => {
                writer.put(I::Store(
                    word::VARIABLE + variable,
                    Operand::Constant(value),
                ));
            }
            Statement::Increase(variable, by) => {
                writer.put(I::Load(0, word::VARIABLE + variable));
                writer.put(I::Sum(0, by));
                writer.put(I::Store(word::VARIABLE + variable, Operand::Register(0)));
            }
            Statement::Read(variable) => {
                writer.put(I::Load(0, word::VARIABLE + variable));
                writer.put(I::Store(word::RESULT + thread, Operand::Register(0)));
            }
        }
    }
    for (_, jump) in open {
        writer.land(jump);
    }
    writer.code()
}
