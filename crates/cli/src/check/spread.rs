//! The properties of a check, and their slices, spread over threads.
//!
//! **Invariant**: the output is that of one thread. If threads with some of the slices do not know
//! it, nothing is shown, and the run is repeated.

use super::{Checking, Left, Run, Slices};
use crate::driver::Observer as _;
use juror_checking::cursor::Cursor;
use juror_checking::portions::{Portion, Step, give_back};
use juror_checking::workers::{Workers, gone};
use juror_monitoring::offline::Said;
use juror_trace::Batch;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

/// The maximum number of portions that are handed out.
const PORTIONS_AHEAD: usize = 4;

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
                (portion, is_complete) = Portion::next(
                    &mut run.cursors,
                    self.check.merge,
                    self.check.keep_going,
                    self.plan.portion_events,
                );
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
            give_back(&run.cursors, portion);
        }
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
