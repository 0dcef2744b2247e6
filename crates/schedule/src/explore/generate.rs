//! Random programs.

use super::meaning::{EACH, LOCKS, Meaning, Statement};
use crate::Random;
use std::vec::Vec;

impl Meaning {
    /// Returns a random program.
    pub(super) fn random(seed: u64, threads: usize, blocks: usize) -> Meaning {
        let mut random = Random::new(seed);
        let meets = random.one_in(4);
        let threads = (0..threads)
            .map(|_| {
                let mut statements = Vec::new();
                for _ in 0..1 + random.index(blocks) {
                    block(&mut random, &mut statements);
                }
                if meets {
                    let place = [0, statements.len()][random.index(2)];
                    statements.insert(place, Statement::Meet);
                }
                statements
            })
            .collect();
        Meaning { threads }
    }

    /// Returns a random program of nested locks alone.
    pub(super) fn of_locks(seed: u64, threads: usize) -> Meaning {
        let mut random = Random::new(seed);
        let threads = (0..threads).map(|_| {
            let mut statements = Vec::new();
            for _ in 0..1 + random.index(2) {
                nested_locks(&mut random, &mut statements);
            }
            statements
        });
        Meaning {
            threads: threads.collect(),
        }
    }
}

/// Appends a few statements that belong together.
fn block(random: &mut Random, statements: &mut Vec<Statement>) {
    use Statement as S;
    let [lock, condition, variable, semaphore] = [0; 4].map(|_: usize| random.index(EACH));
    match random.index(10) {
        0 | 1 => {
            let inner = simple(random, variable);
            statements.extend([S::Lock(lock), inner, S::Unlock(lock)]);
        }
        2 => {
            let inner = simple(random, variable);
            let other = 1 - lock;
            statements.extend([S::Lock(lock), S::Lock(other), inner]);
            statements.extend([S::Unlock(other), S::Unlock(lock)]);
        }
        3 => {
            let inner = simple(random, variable);
            statements.extend([S::TryLock(lock, 2), inner, S::Unlock(lock)]);
        }
        4 | 5 => {
            let wait = S::Await {
                condition,
                lock,
                variable,
            };
            statements.extend([S::Lock(lock), wait]);
            if random.one_in(2) {
                statements.push(S::Write(variable, 0));
            }
            statements.push(S::Unlock(lock));
        }
        6 => {
            let tell = if random.one_in(2) {
                S::Signal(condition)
            } else {
                S::Broadcast(condition)
            };
            statements.extend([S::Lock(lock), S::Write(variable, 1), tell, S::Unlock(lock)]);
        }
        7 => statements.push(S::TakeOne(semaphore)),
        8 => statements.push(S::AddOne(semaphore)),
        _ => statements.push(simple(random, variable)),
    }
}

/// Appends locks that are taken one after the other, and given back in any order.
fn nested_locks(random: &mut Random, statements: &mut Vec<Statement>) {
    let mut free: Vec<usize> = (0..LOCKS).collect();
    let mut held = Vec::new();
    for _ in 0..1 + random.index(3) {
        let lock = free.remove(random.index(free.len()));
        statements.push(Statement::Lock(lock));
        held.push(lock);
        if held.len() > 1 && random.one_in(4) {
            let lock = held.remove(random.index(held.len()));
            statements.push(Statement::Unlock(lock));
        }
    }
    while !held.is_empty() {
        let lock = held.remove(random.index(held.len()));
        statements.push(Statement::Unlock(lock));
    }
}

fn simple(random: &mut Random, variable: usize) -> Statement {
    let value = 1 + random.index(2) as u32;
    match random.index(3) {
        0 => Statement::Write(variable, value),
        1 => Statement::Increase(variable, value),
        _ => Statement::Read(variable),
    }
}
