//! A worker thread of a parallel search.
//!
//! A worker expands the segments of a layer that it has found itself, then steals
//! segments that other workers have not taken, since worker speeds vary. When none are
//! left, it posts the segments that it has found for the next layer and reports their
//! number.

use super::arena::Cursor;
use super::barrier::{Barrier, LayerResult, Participant, Progress};
use super::queues::Queues;
use super::sink::{Pool, Sink};
use crate::breadth::{Options, Predecessor};
use crate::cache_padded::buffer;
use crate::report::{Cut, Finding};
use crate::store::StateId;
use crate::system::System;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Number of states after which a worker publishes its progress.
const STATES_BETWEEN_CALLS: u64 = 1 << 11;

/// Called with the number of expanded and of known states; returns false to stop the
/// search.
pub(super) type GoOn<'a> = &'a mut dyn FnMut(u64, u64) -> bool;

/// Data shared by the workers.
pub(super) struct Common<'a, S> {
    pub system: &'a S,
    pub options: &'a Options,
    pub pool: Pool,
    pub queues: Queues,
    pub barrier: Barrier,
    pub searched: AtomicU64,
    pub state_bytes: AtomicU64,
    pub stop: AtomicBool,
}

impl<'a, S> Common<'a, S> {
    /// Returns the shared data of a search with a number of threads.
    pub fn new(system: &'a S, options: &'a Options, threads: usize) -> Common<'a, S> {
        Common {
            system,
            options,
            pool: Pool::new(),
            queues: Queues::new(threads),
            barrier: Barrier::new(options),
            searched: AtomicU64::default(),
            state_bytes: AtomicU64::default(),
            stop: AtomicBool::default(),
        }
    }
}

/// The findings of a worker.
#[derive(Default)]
pub(super) struct Found {
    pub transitions: u64,
    /// The error, and the state in which it was found; `None` for an initial state.
    pub finding: Option<(Finding, Option<StateId>)>,
    pub cut: Option<Cut>,
}

/// A worker thread, with the data that it alone changes.
pub(super) struct Worker<'a, S: System> {
    common: &'a Common<'a, S>,
    number: usize,
    scratch: S::Scratch,
    sink: Sink<'a>,
    found: Found,
    /// Number of states that it has expanded.
    count: u64,
    /// Published parts of that number and of the size of its states in bytes.
    reported: (u64, u64),
}

impl<'a, S: System> Worker<'a, S> {
    /// Returns the worker of a number.
    pub fn new(common: &'a Common<'a, S>, number: usize) -> Worker<'a, S> {
        Worker {
            common,
            number,
            scratch: common.system.scratch(),
            sink: Sink::new(&common.pool, common.options.all),
            found: Found::default(),
            count: 0,
            reported: (0, 0),
        }
    }

    /// Generates the initial states; called by the first thread.
    pub fn initial(&mut self) -> Progress {
        let system = self.common.system;
        system.initial(&mut self.scratch, &mut self.sink);
        self.end_layer(0);
        let fault = self.sink.fault.take();
        self.found.finding = fault.map(|fault| (Finding::Fault(fault), None));
        self.common
            .barrier
            .begin(self.part(self.sink.cursor.states))
    }

    /// Expands a layer; called by the first thread.
    pub fn layer(&mut self, progress: Progress, go_on: GoOn<'_>) -> Progress {
        let new = self.expand_all(progress.layer, &mut Some(go_on));
        self.common.barrier.next(self.part(new))
    }

    /// Expands layers that are large enough for several threads, until the search is
    /// over; called by the other threads.
    pub fn help(mut self) -> (Found, Cursor) {
        let participant = Participant(&self.common.barrier);
        let mut last = None;
        while let Some(progress) = participant.0.join(last) {
            last = Some(progress.layer);
            let new = self.expand_all(progress.layer, &mut None);
            participant.0.report(self.part(new));
        }
        self.finished()
    }

    /// Returns the results of this worker for a layer with a number of new states.
    fn part(&self, new: u64) -> LayerResult {
        let is_wrong = self.found.finding.is_some() && !self.common.options.all;
        LayerResult {
            new,
            is_over: is_wrong || self.found.cut.is_some(),
        }
    }

    /// Expands states of a layer as long as there are segments. Returns the number of new
    /// states.
    fn expand_all(&mut self, layer: u32, go_on: &mut Option<GoOn<'_>>) -> u64 {
        let known = self.sink.cursor.states;
        self.expand_segments(layer, go_on);
        self.end_layer(layer.wrapping_add(1));
        self.sink.cursor.states - known
    }

    fn expand_segments(&mut self, layer: u32, go_on: &mut Option<GoOn<'_>>) {
        let (queues, pool) = (&self.common.queues, &self.common.pool);
        let posted = queues.posted(layer);
        let (mut state, mut predecessor) = (buffer(), Predecessor::none());
        let (before, from) = posted.split_at(self.number.min(posted.len()));
        let others = before.iter().enumerate();
        let own_first = from.iter().enumerate();
        let own_first = own_first.map(|(after, it)| (before.len() + after, it));
        for (thread, segments) in own_first.chain(others) {
            while let Some(segment) = segments.get(queues.take(layer, thread)) {
                let mut segment = *segment;
                while let Some(id) = segment.next(&pool.arena) {
                    if !self.goes_on(go_on) {
                        return;
                    }
                    pool.arena.get(id, &mut state);
                    let note = pool.arena.note(id);
                    predecessor.load(note, |id, bytes| pool.arena.get(id, bytes));
                    self.expand(id, &state, &predecessor.state);
                }
            }
        }
    }

    /// Posts the segments that were found for the next layer.
    fn end_layer(&mut self, next: u32) {
        self.sink.flush();
        self.sink.release();
        let segments = self.sink.cursor.segments();
        self.common.queues.post(next, self.number, segments);
        if self.sink.is_full {
            let limit = self.common.options.states_max;
            self.cut(Cut::States { limit });
        }
    }

    /// Called before each state is expanded: publishes progress from time to time. Returns
    /// whether to continue.
    fn goes_on(&mut self, go_on: &mut Option<GoOn<'_>>) -> bool {
        if self.common.stop.load(Ordering::Relaxed) {
            return false;
        }
        if self.count.is_multiple_of(STATES_BETWEEN_CALLS) {
            self.publish(go_on);
        }
        true
    }

    /// Returns the findings of this worker.
    pub fn finished(mut self) -> (Found, Cursor) {
        self.found.transitions = self.sink.transitions;
        (self.found, self.sink.cursor)
    }

    /// Publishes the progress of this worker; the first one calls `go_on`.
    fn publish(&mut self, go_on: &mut Option<GoOn<'_>>) {
        let (common, reported) = (self.common, self.reported);
        let scratch = common.system.scratch_bytes(&self.scratch);
        self.reported = (self.count, bytes_of(&self.sink.cursor) + scratch);
        let add = |to: &AtomicU64, amount: u64| to.fetch_add(amount, Ordering::Relaxed) + amount;
        let searched = add(&common.searched, self.reported.0 - reported.0);
        let state_bytes = add(&common.state_bytes, self.reported.1 - reported.1);
        let known = common.pool.known.0.load(Ordering::Relaxed);
        let (options, limit) = (common.options, common.options.memory_bytes_max);
        // A thread that waits to grow the table waits for this one, too.
        self.sink.release();
        let remembered = common.system.memory_bytes();
        if state_bytes + common.pool.table_bytes() + remembered > limit {
            self.cut(Cut::Memory { limit });
        } else if known > u64::from(options.states_max) {
            let limit = options.states_max;
            self.cut(Cut::States { limit });
        } else if let Some(go_on) = go_on
            && !go_on(searched, known)
        {
            self.cut(Cut::Interrupted);
        }
    }

    fn cut(&mut self, cut: Cut) {
        self.found.cut.get_or_insert(cut);
        self.common.stop.store(true, Ordering::Relaxed);
    }

    fn expand(&mut self, id: StateId, state: &[u8], before: &[u8]) {
        self.count += 1;
        let system = self.common.system;
        let wrong = system.wrong(&mut self.scratch, state);
        self.sink.from = id.0;
        self.sink.successors = 0;
        let (scratch, sink) = (&mut self.scratch, &mut self.sink);
        // After a fault, the argument of `successors_after` does not hold.
        if self.common.options.all || before.is_empty() {
            system.successors(scratch, state, sink)
        } else {
            system.successors_after(scratch, before, state, sink)
        }
        let fault = wrong.or(self.sink.fault.take());
        let is_stuck = self.sink.successors == 0
            && self.common.options.deadlocks
            && !system.may_end(&mut self.scratch, state);
        let finding = fault.map(Finding::Fault);
        if let Some(finding) = finding.or(is_stuck.then_some(Finding::Deadlock))
            && self.found.finding.is_none()
        {
            self.found.finding = Some((finding, Some(id)));
            if !self.common.options.all {
                self.common.stop.store(true, Ordering::Relaxed);
            }
        }
    }
}

/// Returns the size of the states of a worker in bytes.
pub(super) fn bytes_of(cursor: &Cursor) -> u64 {
    cursor.words * size_of::<u64>() as u64
}
