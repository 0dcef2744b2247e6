//! Looking whether a run gets on.

use super::{Control, End, Step, traced};
use crate::blocking::{self, TaskState};
use crate::cancel;
use crate::error::ExploreError;
use crate::own_waits::OwnWait;
use crate::threads::Standing;
use juror_debuggee::{Debuggee, StopEvent, ThreadId};
use juror_schedule::{PointKind, State, Task};
use std::time::{Duration, Instant};

/// The time after which the shell looks whether a run gets on.
const TICK: Duration = Duration::from_millis(400);

/// The same while all of its threads wait.
const STANDING: Duration = Duration::from_millis(25);

/// The time that a thread which does not get on computes at most: that of being looked at.
const RESTING: Duration = Duration::from_millis(5);

/// The time that a thread computes without a point before others may go first.
const TURNING: Duration = Duration::from_millis(500);

impl Control {
    /// Waits for an event of the debuggee, or until it is to be looked whether the run gets on.
    pub(super) fn wait_or_look(
        &mut self,
        debuggee: &mut Debuggee,
    ) -> Result<Option<StopEvent>, ExploreError> {
        if self.inputs.are_kept() || self.is_stopping {
            return Ok(Some(debuggee.wait()?));
        }
        let pause = if self.bearer().is_some() {
            TICK
        } else {
            STANDING
        };
        let next = self.looked_at + pause;
        let next = self.keys.alarm().map_or(next, |alarm| next.min(alarm));
        Ok(debuggee.wait_until(next)?)
    }

    /// Looks whether the run gets on: its threads may wait in the kernel for what does not come, or turn
    /// in a loop without a point. No thread is stopped for that, unless it turns.
    pub(super) fn look(&mut self, debuggee: &mut Debuggee) -> Result<(), ExploreError> {
        if cancel::is_cancelled() {
            return Err(ExploreError::Cancelled);
        }
        let now = Instant::now();
        // The time during which juror itself was stopped, or had no processor, is not the run's.
        let late = now.saturating_duration_since(self.looked_at);
        self.until = self
            .until
            .map(|until| until + late.saturating_sub(TICK * 2));
        self.looked_at = now;
        let waited = self.waited_for_itself.take();
        if self.waits_for_itself(debuggee) {
            let points = self.scheduler.points();
            self.waited_for_itself = Some(points);
            if waited == Some(points) {
                self.stands = Some(End::Deadlock);
                return Ok(());
            }
        }
        let alone = self.time_without_point(debuggee, now);
        let bearer = self.bearer();
        let state = bearer.and_then(|bearer| blocking::state(debuggee.pid(), bearer.0));
        let waits = matches!(state, None | Some(TaskState::Sleeps));
        let is_late = self.until.is_some_and(|until| now > until);
        // A program that was stopped does not sleep.
        let rests = waits || alone < RESTING;
        if rests && is_late || self.time.is_some_and(|time| alone > time) {
            self.stands = Some(End::Endless);
            return Ok(());
        }
        let is_asked = self.keys.alarm().is_some_and(|alarm| alarm <= now);
        let stopped = match bearer {
            Some(bearer) if alone >= TURNING && !self.is_in_call(bearer) => Some(bearer),
            _ if is_asked => bearer.or_else(|| self.started.first().copied()),
            _ => None,
        };
        if let Some(thread) = stopped {
            self.is_stopping = true;
            debuggee.stop_for_alarm(thread)?;
        }
        Ok(())
    }

    /// A thread has been stopped since time has passed: the user's, or that of a thread which turns in
    /// a loop without a point.
    pub(super) fn take_stopped(
        &mut self,
        debuggee: &mut Debuggee,
        stopped: ThreadId,
    ) -> Result<Option<Step>, ExploreError> {
        self.is_stopping = false;
        if cancel::is_cancelled() {
            return Err(ExploreError::Cancelled);
        }
        let now = Instant::now();
        if self.keys.take_alarm(now) {
            let thread = stopped;
            return Ok(Some(Step::Event(StopEvent::TimePassed { thread })));
        }
        let turns = !self.inputs.are_kept()
            && self.bearer() == Some(stopped)
            && !self.is_in_call(stopped)
            && self.time_without_point(debuggee, now) >= TURNING;
        if !turns {
            self.let_go(debuggee, stopped)?;
        } else if self.may_probe(debuggee)? {
            return Ok(Some(Step::Turns { thread: stopped }));
        } else {
            let kind = PointKind::Preempted;
            self.reach(debuggee, stopped, Standing::Ready, (kind, 0, 0))?;
        }
        Ok(None)
    }

    /// Returns whether a thread has made a call that may wait, and has not seen its end.
    pub(super) fn is_in_call(&self, thread: ThreadId) -> bool {
        matches!(self.threads.standing(thread), Standing::InCall(_))
    }

    /// Returns the object of the program's own for which a thread waits in the kernel.
    fn own_wait(&self, debuggee: &Debuggee, thread: ThreadId) -> Option<OwnWait> {
        let made = match self.threads.standing(thread) {
            Standing::InCall(number) => Some(number),
            _ => None,
        };
        self.inherited.own_wait(debuggee, thread, made)
    }

    /// Returns whether all threads wait, some of them in the kernel, for objects of the program's own.
    fn waits_for_itself(&self, debuggee: &Debuggee) -> bool {
        let process = debuggee.pid();
        let sleeps =
            |thread: ThreadId| blocking::state(process, thread.0) == Some(TaskState::Sleeps);
        let waits = |task: &Task| match task.state() {
            State::Waits { deadline: None, .. } => true,
            State::InKernel => {
                let thread = traced(task.id());
                sleeps(thread) && self.own_wait(debuggee, thread).is_some()
            }
            _ => false,
        };
        let tasks = self.scheduler.tasks();
        let has_signal = |task: &Task| blocking::pending_signal(process, task.id().0).is_some();
        let is_closed = !self.threads.has_timer && !debuggee.has_made_processes();
        is_closed
            && tasks.iter().any(|task| *task.state() == State::InKernel)
            && tasks.iter().all(|task| waits(task) && !has_signal(task))
    }

    /// Returns for how long the thread that has the baton has computed without a point.
    fn time_without_point(&mut self, debuggee: &Debuggee, now: Instant) -> Duration {
        let bearer = self.bearer();
        let process = debuggee.pid();
        let points = self.scheduler.points();
        let computed = bearer.map(|bearer| blocking::computed(process, bearer.0));
        match (bearer, self.seen) {
            (Some(bearer), Some((then, points_then, computed_then)))
                if (bearer, points) == (then, points_then) =>
            {
                // Not the time: other programs may keep it from running.
                computed.unwrap_or_default().saturating_sub(computed_then)
            }
            _ => {
                let seen = bearer.zip(computed);
                self.seen = seen.map(|(bearer, computed)| (bearer, points, computed));
                if seen.is_some() {
                    self.until = self.time.map(|time| now + time);
                }
                Duration::ZERO
            }
        }
    }
}
