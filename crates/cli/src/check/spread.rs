//! The properties of a check, and their slices, spread over threads.
//!
//! The main thread orders the events and hands them out in *portions*. Each thread has some
//! of the properties, or of their slices, and takes all events of each portion. Their
//! findings are shown in the order of events, one portion at a time.
//!
//! **Invariant**: the output is that of one thread, since all that is shown, faults of the
//! traces included, has its position among the steps of a portion. Threads may be ahead of
//! the output; if the output ends early, their further work is dropped. Threads with some
//! of the slices may not know the output of one thread; then nothing is shown, and the run
//! is repeated.

use super::cursor::{self, Cursor, Next};
use super::{Checking, Left, Run, Slices};
use crate::driver::Observer as _;
use juror_monitoring::offline::{Finding, Part, Said, Standing, merge};
use juror_trace::Batch;
use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// The minimum number of events of a portion.
pub const PORTION_EVENTS: usize = 4096;
/// The maximum number of portions that are handed out.
const PORTIONS_AHEAD: usize = 4;

/// A step of a portion.
enum Step {
    /// A batch of this trace begins. `all_begun`: each trace has begun.
    Batch {
        trace: usize,
        batch: Arc<Batch>,
        all_begun: bool,
    },
    /// Events of a batch.
    Events {
        trace: usize,
        batch: Arc<Batch>,
        events: Range<usize>,
    },
    /// Any other item.
    Other(Next),
}

/// A part of the steps of a run.
#[derive(Default)]
struct Portion {
    steps: Vec<Step>,
    events: usize,
}

/// The findings of a thread in a portion.
struct Found {
    findings: Vec<Finding>,
    /// The standings of its shares of slices.
    standings: Vec<Standing>,
}

/// The threads, each with its properties.
#[derive(Default)]
struct Workers {
    portions: Vec<Sender<Arc<Portion>>>,
    found: Vec<Receiver<Found>>,
    threads: Vec<JoinHandle<Part>>,
    /// No more findings are needed.
    is_over: Arc<AtomicBool>,
}

impl Workers {
    fn start(parts: Vec<Part>) -> io::Result<Workers> {
        let mut workers = Workers::default();
        for part in parts {
            let (portions, to_take) = channel();
            let (to_tell, found) = channel();
            let is_over = Arc::clone(&workers.is_over);
            let thread = std::thread::Builder::new().name("properties".to_owned());
            let thread = thread.spawn(move || work(part, &to_take, &to_tell, &is_over))?;
            workers.threads.push(thread);
            workers.portions.push(portions);
            workers.found.push(found);
        }
        Ok(workers)
    }

    /// Hands out a portion.
    fn give(&self, portion: &Arc<Portion>) {
        for worker in &self.portions {
            // A thread that has ended is reported when its findings are received.
            let _ = worker.send(Arc::clone(portion));
        }
    }

    /// Returns the findings in the oldest portion that was not asked for.
    fn findings(&self) -> io::Result<(Vec<Said>, Vec<Standing>)> {
        let mut all = Vec::new();
        let mut standings = Vec::new();
        for worker in &self.found {
            let mut found = worker.recv().map_err(|_| gone())?;
            all.append(&mut found.findings);
            standings.append(&mut found.standings);
        }
        Ok((merge(all), standings))
    }

    /// Returns the properties after all portions.
    fn finish(mut self) -> io::Result<Vec<Part>> {
        self.portions.clear();
        let threads = std::mem::take(&mut self.threads).into_iter();
        threads
            .map(|thread| thread.join().map_err(|_| gone()))
            .collect()
    }
}

fn gone() -> io::Error {
    io::Error::other("a thread that evaluates properties has ended")
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.portions.clear();
        for thread in self.threads.drain(..) {
            // Its properties are not needed.
            let _ = thread.join();
        }
    }
}

/// Takes portions until there are no more. Returns the properties.
fn work(
    mut part: Part,
    portions: &Receiver<Arc<Portion>>,
    to_tell: &Sender<Found>,
    is_over: &AtomicBool,
) -> Part {
    while let Ok(portion) = portions.recv() {
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        let mut findings = Vec::new();
        let mut number = 0;
        for step in &portion.steps {
            match step {
                Step::Batch { trace, batch, .. } => part.learn(*trace, batch),
                Step::Events {
                    trace,
                    batch,
                    events,
                } => {
                    part.take(*trace, (batch, events.clone()), number, &mut findings);
                    number += events.len() as u64;
                }
                Step::Other(_) => {}
            }
        }
        // Its batches are used again once no thread has them.
        drop(portion);
        let found = Found {
            findings,
            standings: part.standings(),
        };
        if to_tell.send(found).is_err() {
            break;
        }
    }
    part
}

impl Checking<'_> {
    /// Returns the number of threads that evaluate the properties of a run, with their
    /// slices spread or not.
    ///
    /// It is one if events are waited for, since findings must not wait, and if the JSON of
    /// the end has the states of the properties at the first violation, since other threads
    /// would be ahead of it.
    pub(super) fn evaluators(&self, run: &Run, with_slices: bool) -> usize {
        let shows_states = self.output.wants_state_changes() && !self.check.keep_going;
        if shows_states || !run.cursors.iter().all(Cursor::is_file) {
            return 1;
        }
        self.offline.part_count(self.plan.jobs, with_slices)
    }

    /// Takes the events of a run with several threads. Returns nothing if the run is to be
    /// repeated without spread slices.
    pub(super) fn take_events_spread(
        &mut self,
        run: &mut Run,
        count: usize,
        slices: Slices,
    ) -> io::Result<Option<Left>> {
        let wants_state_changes = self.output.wants_state_changes();
        let is_spread = slices == Slices::Spread;
        let parts = self.offline.parts(count, wants_state_changes, is_spread);
        let workers = Workers::start(parts)?;
        let mut under_way = VecDeque::new();
        let mut is_complete = false;
        loop {
            while !is_complete && under_way.len() < PORTIONS_AHEAD {
                let portion;
                (portion, is_complete) = self.next_portion(run);
                let portion = Arc::new(portion);
                workers.give(&portion);
                under_way.push_back(portion);
            }
            let Some(portion) = under_way.pop_front() else {
                return Err(gone());
            };
            let (said, standings) = workers.findings()?;
            self.offline.begin_portion(&standings);
            if !self.offline.is_sure(&said) {
                return Ok(None);
            }
            if let Some(left) = self.show_portion(run, &portion, said)? {
                if under_way.is_empty() && is_complete && !matches!(left, Left::Shown) {
                    self.offline.take_back(workers.finish()?);
                }
                return Ok(Some(left));
            }
            give_back(run, portion);
        }
    }

    /// Returns the next steps, and whether they are the last.
    fn next_portion(&self, run: &mut Run) -> (Portion, bool) {
        let mut portion = Portion::default();
        while portion.events < self.plan.portion_events {
            let next = cursor::next(&mut run.cursors, self.check.merge);
            match next {
                Next::Event(trace) => portion.add_events(run, trace, self.check.merge),
                Next::Batch(trace) => {
                    let all_begun = run.cursors.iter().all(Cursor::has_batch);
                    let cursor = run.cursors.get(trace);
                    portion.steps.extend(cursor.map(|cursor| Step::Batch {
                        trace,
                        batch: Arc::clone(cursor.batch()),
                        all_begun,
                    }));
                }
                other => {
                    let is_last = match &other {
                        Next::Fault(..) => !self.check.keep_going,
                        _ => true,
                    };
                    portion.steps.push(Step::Other(other));
                    if is_last {
                        return (portion, true);
                    }
                }
            }
        }
        (portion, false)
    }

    /// Shows the findings in a portion. Returns why no more is taken.
    fn show_portion(
        &mut self,
        run: &mut Run,
        portion: &Portion,
        said: Vec<Said>,
    ) -> io::Result<Option<Left>> {
        let mut said = said.into_iter().peekable();
        let mut number = 0;
        for step in &portion.steps {
            let left = match step {
                Step::Batch {
                    trace,
                    batch,
                    all_begun,
                } => self.begin_batch(run, *trace, batch, *all_begun)?,
                Step::Other(next) => self.take_other(run, next)?,
                Step::Events {
                    trace,
                    batch,
                    events,
                } => {
                    let first = number;
                    let before = run.events;
                    number += events.len() as u64;
                    while let Some(one) = said.next_if(|one| one.event < number) {
                        let index = one.event - first;
                        run.events = before + index + 1;
                        let event = events.start + index as usize;
                        if self.show_event(run, *trace, (batch, event), one)? {
                            return Ok(Some(Left::Shown));
                        }
                    }
                    run.events = before + events.len() as u64;
                    self.offline.count(*trace, batch, events.clone());
                    None
                }
            };
            if left.is_some() {
                return Ok(left);
            }
        }
        Ok(None)
    }

    /// Shows the findings at an event. Returns whether nothing more is to be shown.
    fn show_event(
        &mut self,
        run: &mut Run,
        trace: usize,
        (batch, event): (&Batch, usize),
        said: Said,
    ) -> io::Result<bool> {
        for change in &said.changes {
            self.output.state_change(change);
        }
        let (Some(reason), Some(event)) = (said.reason, batch.events.get(event)) else {
            return Ok(false);
        };
        self.stop_at(run, trace, event, reason)
    }
}

impl Portion {
    /// Adds the next event of a trace; without merging, also the events after it.
    fn add_events(&mut self, run: &mut Run, trace: usize, merged: bool) {
        let Some(cursor) = run.cursors.get_mut(trace) else {
            return;
        };
        let events = cursor.take_events(merged);
        self.events += events.len();
        let continues = |step: &&mut Step| match step {
            Step::Events {
                trace: last,
                events: before,
                ..
            } => *last == trace && before.end == events.start,
            _ => false,
        };
        match self.steps.last_mut().filter(continues) {
            Some(Step::Events { events: before, .. }) => before.end = events.end,
            _ => self.steps.push(Step::Events {
                trace,
                batch: Arc::clone(cursor.batch()),
                events,
            }),
        }
    }
}

/// Returns the batches of a portion that are no longer used to their sources.
fn give_back(run: &Run, portion: Arc<Portion>) {
    let steps = Arc::into_inner(portion).map(|portion| portion.steps);
    for step in steps.into_iter().flatten() {
        if let Step::Batch { trace, batch, .. } | Step::Events { trace, batch, .. } = step
            && let Some(cursor) = run.cursors.get(trace)
        {
            cursor.give_back(batch);
        }
    }
}
