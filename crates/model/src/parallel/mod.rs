//! Breadth-first search with several threads.
//!
//! All threads share one [table] of the states, and each writes the states that it
//! finds first into pieces of an [arena] that no other writes to. So a state is looked
//! for where it was found; nothing is sent, and nobody waits for a lock. The states of a
//! layer lie in small segments, and who has none left takes those of another thread. A
//! layer is complete before the next begins, so trails are the shortest and the counts
//! are those of one thread.
//!
//! Layers that take less time than a thread takes to begin are expanded by one
//! thread alone; for those between two such layers the threads stay.

mod arena;
mod board;
mod record;
mod sink;
mod table;
#[cfg(test)]
mod tests;
mod worker;

use crate::breadth::Options;
use crate::report::{Cut, Finding, Report};
use crate::store::StateId;
use crate::system::System;
use crate::trail::{Trail, fault_number};
use arena::Cursor;
use board::{Board, Meeting};
use sink::Pool;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::thread;
use worker::{Common, Expanded, Found, GoOn, Layers, Worker, bytes_of};

/// Fewer states than this are not worth a thread.
const FEW: u64 = 256;

/// Searches all states with so many threads.
pub(crate) fn parallel<S: System>(
    system: &S,
    jobs: usize,
    options: &Options,
    go_on: GoOn<'_>,
) -> Report {
    let jobs = jobs.clamp(1, 64);
    let mut search = Search {
        system,
        options,
        pool: Pool::new(),
        board: Board::new(jobs),
        cursors: (0..jobs).map(|_| Cursor::default()).collect(),
        report: Report::empty(),
        searched: 0,
        layer: 0,
    };
    search.all(go_on);
    // Each thread may have found a few more before it heard that these are too many.
    let states = search.known().min(u64::from(options.states_max));
    let memory_bytes = search.state_bytes() + search.pool.table_bytes() + system.memory_bytes();
    Report {
        states,
        memory_bytes,
        ..search.report
    }
}

struct Search<'a, S: System> {
    system: &'a S,
    options: &'a Options,
    pool: Pool,
    board: Board,
    /// By thread.
    cursors: Vec<Cursor>,
    report: Report,
    /// How many states have been expanded.
    searched: u64,
    /// The number of the layer that is expanded next.
    layer: u32,
}

impl<S: System> Search<'_, S> {
    fn known(&self) -> u64 {
        self.cursors.iter().map(|cursor| cursor.states).sum()
    }

    fn state_bytes(&self) -> u64 {
        self.cursors.iter().map(bytes_of).sum()
    }

    fn common(&self, threads: usize) -> Common<'_, S> {
        Common {
            system: self.system,
            options: self.options,
            pool: &self.pool,
            board: &self.board,
            meeting: Meeting::new(threads),
            searched: AtomicU64::new(self.searched),
            state_bytes: AtomicU64::new(self.state_bytes()),
            stop: AtomicBool::new(false),
        }
    }

    fn all(&mut self, go_on: GoOn<'_>) {
        self.begin();
        while !self.is_over() {
            let known = self.known();
            let count = known - self.searched;
            if count == 0 {
                return;
            }
            self.expand(known, count >= FEW, go_on);
            if !self.is_over() {
                self.finish_layer();
            }
        }
    }

    /// The initial states.
    fn begin(&mut self) {
        let cursor = self.cursors.first_mut().map(std::mem::take);
        let common = self.common(1);
        let worker = Worker::new(&common, 0, cursor.unwrap_or_default());
        let (found, cursor) = worker.initial(self.layer);
        if let Some(first) = self.cursors.first_mut() {
            *first = cursor;
        }
        self.tell(found);
    }

    fn is_over(&self) -> bool {
        self.report.cut.is_some() || self.report.finding.is_some() && !self.options.all
    }

    /// Expands a layer, where so many states are known: in one thread, or in all of them
    /// with those after it that are worth it.
    fn expand(&mut self, known: u64, is_worth_all: bool, go_on: GoOn<'_>) {
        let left = self.options.depth_max.saturating_sub(self.report.depth);
        let (threads, count_max) = match is_worth_all {
            true => (self.cursors.len(), left.saturating_add(1)),
            false => (1, 1),
        };
        let layers = Layers {
            first: self.layer,
            known,
            count_max,
        };
        self.board.clear(self.layer.wrapping_add(1));
        let cursors: Vec<Cursor> = self.cursors.drain(..threads).collect();
        let bytes = cursors.iter().map(bytes_of).sum();
        let all = self.expanded(cursors, bytes, layers, go_on);
        // All threads tell the same of this.
        let first = all.first();
        let count = first.map_or(1, |expanded| expanded.layers);
        self.searched = first.map_or(known, |expanded| expanded.searched);
        self.report.depth += count - 1;
        self.layer = self.layer.wrapping_add(count);
        let (cursors, found): (Vec<Cursor>, Vec<Found>) =
            all.into_iter().map(|it| (it.cursor, it.found)).unzip();
        self.cursors.splice(..0, cursors);
        found.into_iter().for_each(|found| self.tell(found));
    }

    /// Expands layers with a thread for each cursor; the first thread is this. So many
    /// bytes have been written by them.
    fn expanded(
        &self,
        cursors: Vec<Cursor>,
        bytes: u64,
        layers: Layers,
        go_on: GoOn<'_>,
    ) -> Vec<Expanded> {
        let mut common = self.common(cursors.len());
        *common.state_bytes.get_mut() += bytes;
        let common = &common;
        let mut tasks = cursors.into_iter().enumerate().map(|(number, cursor)| {
            // Each makes its worker itself: what two threads write must not lie
            // side by side in memory.
            move |go_on: Option<GoOn<'_>>| Worker::new(common, number, cursor).layers(layers, go_on)
        });
        thread::scope(|scope| {
            let own = tasks.next();
            let helpers: Vec<_> = tasks.map(|task| scope.spawn(move || task(None))).collect();
            let mut expanded: Vec<_> = own.map(|task| task(Some(go_on))).into_iter().collect();
            for helper in helpers {
                match helper.join() {
                    Ok(other) => expanded.push(other),
                    // A panic of a thread is one of the search.
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            expanded
        })
    }

    fn finish_layer(&mut self) {
        if self.known() > u64::from(self.options.states_max) {
            self.report.cut.get_or_insert(Cut::States {
                limit: self.options.states_max,
            });
        } else if self.known() > self.searched {
            if self.report.depth >= self.options.depth_max {
                self.report.cut.get_or_insert(Cut::Depth {
                    limit: self.options.depth_max,
                });
            } else {
                self.report.depth += 1;
            }
        }
    }

    /// Counts what was found, and reports what is wrong first.
    fn tell(&mut self, found: Found) {
        self.report.transitions += found.transitions;
        self.report.cut = self.report.cut.or(found.cut);
        if let Some((finding, state)) = found.finding
            && self.report.finding.is_none()
        {
            let trail = match state {
                Some(state) => self.trail(&finding, state),
                None => Trail::default(),
            };
            self.report.finding = Some((finding, trail));
        }
    }

    fn trail(&self, finding: &Finding, end: StateId) -> Trail {
        let arena = &self.pool.arena;
        let mut states = Vec::new();
        let mut here = end;
        // Before an initial state there is nothing, which has the number 0.
        while here != StateId(0) {
            let mut state = Vec::new();
            arena.get(here, &mut state);
            states.push(state);
            here = StateId(arena.note(here));
        }
        states.reverse();
        let step = match (finding, states.last()) {
            (Finding::Fault(fault), Some(state)) => fault_number(self.system, state, fault),
            _ => None,
        };
        Trail::through(self.system, &states, step)
    }
}
