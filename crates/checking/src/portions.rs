//! The steps of a run in portions: what threads evaluate at a time.
//!
//! **Invariant**: all that is shown, faults of the traces included, has its position among the
//! steps.

use crate::cursor::{self, Cursor, Next};
use juror_trace::Batch;
use std::ops::Range;
use std::sync::Arc;

/// The minimum number of events of a portion.
pub const PORTION_EVENTS: usize = 4096;

/// A step of a portion.
pub enum Step {
    /// A batch begins.
    Batch {
        /// The number of its trace.
        trace: usize,
        /// The batch.
        batch: Arc<Batch>,
        /// Whether each trace has begun.
        all_begun: bool,
    },
    /// Events of a batch.
    Events {
        /// The number of their trace.
        trace: usize,
        /// The batch.
        batch: Arc<Batch>,
        /// Their range in it.
        events: Range<usize>,
    },
    /// Any other item.
    Other(Next),
}

/// A part of the steps of a run.
#[derive(Default)]
pub struct Portion {
    /// The steps, in order.
    pub steps: Vec<Step>,
    events: usize,
}

impl Portion {
    /// Takes the next portion of the traces, with at least `events_min` events if there are as
    /// many. Returns it, and whether it is the last: a fault is, unless the check keeps going.
    pub fn next(
        cursors: &mut [Cursor],
        is_merged: bool,
        keeps_going: bool,
        events_min: usize,
    ) -> (Portion, bool) {
        let mut portion = Portion::default();
        while portion.events < events_min {
            let next = cursor::next(cursors, is_merged);
            match next {
                Next::Event(trace) => portion.add_events(cursors, trace, is_merged),
                Next::Batch(trace) => {
                    let all_begun = cursors.iter().all(Cursor::has_batch);
                    let cursor = cursors.get(trace);
                    portion.steps.extend(cursor.map(|cursor| Step::Batch {
                        trace,
                        batch: Arc::clone(cursor.batch()),
                        all_begun,
                    }));
                }
                other => {
                    let is_last = match &other {
                        Next::Fault(..) => !keeps_going,
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

    /// Adds the next event of a trace; without merging, also the events after it.
    fn add_events(&mut self, cursors: &mut [Cursor], trace: usize, is_merged: bool) {
        let Some(cursor) = cursors.get_mut(trace) else {
            return;
        };
        let events = cursor.take_events(is_merged);
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
pub fn give_back(cursors: &[Cursor], portion: Arc<Portion>) {
    let steps = Arc::into_inner(portion).map(|portion| portion.steps);
    for step in steps.into_iter().flatten() {
        if let Step::Batch { trace, batch, .. } | Step::Events { trace, batch, .. } = step
            && let Some(cursor) = cursors.get(trace)
        {
            cursor.give_back(batch);
        }
    }
}
