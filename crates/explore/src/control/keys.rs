//! The user's key: a thread runs if it has the baton and the user lets it go. The user's commands
//! are requests for the moment at which the thread has the baton.

use super::{Control, Step, scheduled};
use crate::error::ExploreError;
use juror_debuggee::{Debuggee, DebuggeeError, Owners, StopEvent, ThreadControl, ThreadId};
use juror_schedule::{Scheduler, State};
use rustc_hash::FxHashMap;
use std::time::Instant;

/// The requests for threads.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// Threads that make one instruction, and whether they have made it.
    steps: FxHashMap<ThreadId, bool>,
    /// The points of the scheduler at which threads stand.
    arrivals: FxHashMap<ThreadId, u64>,
    /// The moment at which the user's alarm rings.
    alarm: Option<Instant>,
}

impl Keys {
    /// Returns whether the user's alarm rings, and unsets it then.
    pub(super) fn take_alarm(&mut self, now: Instant) -> bool {
        self.alarm.take_if(|at| *at <= now).is_some()
    }
}

impl Control {
    /// Notes that a thread stands at a point of the scheduler, before it is asked.
    pub(super) fn note_arrival(&mut self, thread: ThreadId, address: u64) {
        self.keys.arrivals.insert(thread, address);
        if let Some(is_made) = self.keys.steps.get_mut(&thread) {
            *is_made = true;
        }
    }

    /// Returns the event of the thread that has the baton, if others own a point where it stands,
    /// or if it has made its step.
    pub(super) fn event_of_others(
        &mut self,
        debuggee: &Debuggee,
        thread: ThreadId,
    ) -> Result<Option<StopEvent>, ExploreError> {
        let Some(address) = self.keys.arrivals.remove(&thread) else {
            return Ok(None);
        };
        let owners = others(debuggee.engine().owners_at(address));
        let is_made = self.keys.steps.get(&thread) == Some(&true);
        let event = if !owners.is_empty() {
            StopEvent::Hit {
                thread,
                address,
                owners,
            }
        } else if is_made {
            StopEvent::Stepped { thread, address }
        } else {
            return Ok(None);
        };
        self.keys.steps.remove(&thread);
        Ok(Some(event))
    }

    /// Lets a thread run, or make the step that was asked for.
    pub(super) fn let_go(
        &mut self,
        debuggee: &mut Debuggee,
        thread: ThreadId,
    ) -> Result<(), ExploreError> {
        Ok(if self.keys.steps.contains_key(&thread) {
            debuggee.step(thread)?
        } else {
            debuggee.resume(thread)?
        })
    }

    /// Lets the thread that has the baton go on if the user has asked for another one: that gets
    /// its turn when the scheduler says so.
    pub(super) fn resume_bearer(&mut self, debuggee: &mut Debuggee) -> Result<(), ExploreError> {
        let Some(bearer) = self.bearer() else {
            return Ok(());
        };
        let makes_thread = self.threads.maker.is_some_and(|(maker, _)| maker == bearer);
        if makes_thread || !self.held.is_empty() || !debuggee.is_waiting(bearer) {
            return Ok(());
        }
        self.let_go(debuggee, bearer)
    }

    /// Returns whether a thread runs when the user resumes it: it has the baton, or waits in the
    /// kernel, or is not the scheduler's.
    fn may_go(&self, thread: ThreadId) -> bool {
        let has_event = |event: &StopEvent| event.waiting_thread() == Some(thread);
        if self.held.iter().any(has_event) || self.threads.started.contains(&thread) {
            return false;
        }
        let Some(task) = self.scheduler.task_of(scheduled(thread)) else {
            return true;
        };
        let makes_thread = self.threads.maker.is_some_and(|(maker, _)| maker == thread);
        *task.state() == State::InKernel || self.bearer() == Some(thread) && !makes_thread
    }

    /// Returns the next event that is the user's.
    fn next_of_user(&mut self, debuggee: &mut Debuggee) -> Result<StopEvent, ExploreError> {
        loop {
            match self.step(debuggee)? {
                Step::Event(event) => {
                    if let Some(thread) = event.waiting_thread() {
                        self.keys.steps.remove(&thread);
                    }
                    return Ok(event);
                }
                Step::Exits { thread, .. } => self.let_go(debuggee, thread)?,
                Step::Deviated { .. } | Step::PartialDeadlock => {}
                Step::Diverged => {
                    let thread = self.bearer();
                    return Ok(StopEvent::Standstill { thread });
                }
                Step::Stands(_) => return Ok(StopEvent::Standstill { thread: None }),
            }
        }
    }
}

/// Returns the owners beside the scheduler.
pub(super) fn others(owners: Owners) -> Owners {
    owners - Owners::SCHEDULE
}

impl ThreadControl for Control {
    fn wait(&mut self, debuggee: &mut Debuggee) -> Result<StopEvent, DebuggeeError> {
        self.next_of_user(debuggee).map_err(|error| match error {
            ExploreError::Debuggee(error) => error,
            other => DebuggeeError::Schedule(other.to_string()),
        })
    }

    fn resume(&mut self, debuggee: &mut Debuggee, thread: ThreadId) -> Result<(), DebuggeeError> {
        self.keys.steps.remove(&thread);
        if self.may_go(thread) {
            debuggee.resume(thread)?;
        }
        Ok(())
    }

    fn step(&mut self, debuggee: &mut Debuggee, thread: ThreadId) -> Result<(), DebuggeeError> {
        self.keys.steps.insert(thread, false);
        if self.may_go(thread) {
            debuggee.step(thread)?;
        }
        Ok(())
    }

    fn set_alarm(&mut self, at: Option<Instant>) {
        self.keys.alarm = at;
    }

    fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }
}
