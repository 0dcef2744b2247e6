//! Parallel breadth-first search.
//!
//! All threads share one [table] of atomic words that index the states, and each thread
//! writes the states that it finds first to chunks of an [arena] that no other thread
//! writes to. A state is looked up where it was found; states are never sent between
//! threads, and nobody waits for a lock except while the table grows. Worker speeds vary,
//! so the states of a layer are divided into small segments, and idle workers steal
//! segments of others. A layer is complete before the next begins, so trails are shortest
//! and the counts are those of one thread.
//!
//! The alternative, in which each thread owns the states of some hashes and receives them
//! from the others, took a third more processor time than one thread: each state that was
//! sent, known or not, was written and read by two cores.
//!
//! Layers that take less time than waking a thread are expanded by one thread alone.

mod arena;
mod barrier;
mod queues;
mod record;
mod sink;
mod table;
#[cfg(test)]
mod tests;
mod worker;

use crate::breadth::Options;
use crate::report::{Finding, Report};
use crate::store::StateId;
use crate::system::System;
use crate::trail::{Trail, fault_number};
use arena::{Arena, Cursor};
use barrier::{Participant, Progress};
use std::thread;
use worker::{Common, Found, GoOn, Worker, bytes_of};

/// Minimum number of states of a layer for several threads; fewer are expanded before
/// another thread wakes up.
const LAYER_STATES_MIN: u64 = 32;

/// Searches all states with a number of threads.
pub(crate) fn parallel<S: System>(
    system: &S,
    jobs: usize,
    options: &Options,
    go_on: GoOn<'_>,
) -> Report {
    let jobs = jobs.clamp(1, 64);
    let common = Common::new(system, options, jobs);
    let (progress, ended) = expanded(&common, jobs, go_on);
    let mut report = Report {
        depth: progress.layer,
        memory_bytes: common.pool.table_bytes() + system.memory_bytes(),
        ..Report::empty()
    };
    for (found, cursor) in ended {
        report.states += cursor.states;
        report.memory_bytes += bytes_of(&cursor);
        report.transitions += found.transitions;
        report.cut = report.cut.or(found.cut);
        if report.finding.is_none() {
            let arena = &common.pool.arena;
            report.finding = found.finding.map(|(finding, state)| {
                let trail = state.map(|state| trail(system, arena, &finding, state));
                (finding, trail.unwrap_or_default())
            });
        }
    }
    report.cut = report.cut.or(progress.cut);
    // Each thread may have found a few more before it noticed the limit.
    report.states = report.states.min(u64::from(options.states_max));
    report
}

/// Expands all layers. Returns the progress, and the findings of each thread.
fn expanded<S: System>(
    common: &Common<'_, S>,
    jobs: usize,
    go_on: GoOn<'_>,
) -> (Progress, Vec<(Found, Cursor)>) {
    thread::scope(|scope| {
        let _first = Participant(&common.barrier);
        let mut worker = Worker::new(common, 0);
        let mut helpers = Vec::new();
        let mut progress = worker.initial();
        while !progress.is_over {
            if progress.is_large && helpers.is_empty() {
                // Each thread creates its own worker, so that data written by two threads
                // is not adjacent in memory.
                let help = |number| scope.spawn(move || Worker::new(common, number).help());
                helpers.extend((1..jobs).map(help));
            }
            progress = worker.layer(progress, go_on);
        }
        let mut ended = vec![worker.finished()];
        for helper in helpers {
            match helper.join() {
                Ok(other) => ended.push(other),
                // A panic of a thread is a panic of the search.
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        (progress, ended)
    })
}

/// Returns the trail to a faulty state.
fn trail<S: System>(system: &S, arena: &Arena, finding: &Finding, end: StateId) -> Trail {
    let mut states = Vec::new();
    let mut here = end;
    // The predecessor of an initial state is 0.
    while here != StateId(0) {
        let mut state = Vec::new();
        arena.get(here, &mut state);
        states.push(state);
        here = StateId(arena.note(here));
    }
    states.reverse();
    let step = match (finding, states.last()) {
        (Finding::Fault(fault), Some(state)) => fault_number(system, state, fault),
        _ => None,
    };
    Trail::through(system, &states, step)
}
