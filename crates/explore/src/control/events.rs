//! The stop events of the debuggee.

use super::{Control, End, Step, scheduled, traced};
use crate::blocking::{self, TaskState};
use crate::cancel;
use crate::error::ExploreError;
use crate::points::Site;
use crate::threads::Standing;
use juror_debuggee::{Debuggee, Owners, StopEvent, SystemCallPhase, ThreadId};
use juror_schedule::{Footprint, Input, Point, PointKind, State};
use std::time::{Duration, Instant};

/// The time after which the shell looks whether a run gets on. To look, it stops a thread, and a few
/// system calls fail for that as for a signal.
pub(super) const TICK: Duration = Duration::from_millis(400);

/// The time that a thread computes without a point before others may go first.
const TURNING: Duration = Duration::from_millis(500);

/// The number of times that a thread is seen asleep before it is taken to wait, and the pause
/// between them.
const LOOKS: u32 = 2;
const LOOK_PAUSE: Duration = Duration::from_micros(20);

impl Control {
    /// Tells the scheduler if the thread that has the baton waits in a system call. Nobody else
    /// runs, so it sleeps there or comes back soon. Returns whether it waits.
    pub(super) fn note_waiting_call(
        &mut self,
        debuggee: &mut Debuggee,
    ) -> Result<bool, ExploreError> {
        let bearer = self.bearer();
        let is_in_call = |thread: &ThreadId| self.threads.standing(*thread) == Standing::InCall;
        let Some(thread) = bearer.filter(is_in_call) else {
            return Ok(false);
        };
        let mut looks = 0;
        loop {
            match blocking::state(debuggee.pid(), thread.0) {
                Some(TaskState::Sleeps) if looks >= LOOKS => {
                    self.input(Input::Call {
                        thread: scheduled(thread),
                    })?;
                    return Ok(true);
                }
                Some(TaskState::Sleeps) => looks += 1,
                Some(TaskState::Runs) => looks = 0,
                // The stops of a call are several if every call of the program stops.
                Some(TaskState::Stopped) if debuggee.handle_pending(thread)? => looks = 0,
                Some(TaskState::Stopped) | None => return Ok(false),
            }
            std::thread::sleep(LOOK_PAUSE);
        }
    }

    /// Returns the next event. A call that another thread has ended comes before what that thread
    /// does next, so that the order does not depend on how fast the kernel is.
    pub(super) fn next_event(
        &mut self,
        debuggee: &mut Debuggee,
    ) -> Result<StopEvent, ExploreError> {
        if self.held.is_empty() {
            let event = debuggee.wait()?;
            let is_bearers = event.waiting_thread() == self.bearer();
            if !is_bearers || !self.has_ended_call(debuggee)? {
                return Ok(event);
            }
            self.held.push_back(event);
        }
        if self.has_ended_call(debuggee)? {
            return Ok(debuggee.wait()?);
        }
        match self.held.pop_front() {
            Some(event) => Ok(event),
            None => Ok(debuggee.wait()?),
        }
    }

    pub(super) fn bearer(&self) -> Option<ThreadId> {
        let path = self.scheduler.bearer_now()?;
        let mut tasks = self.scheduler.tasks().iter();
        tasks
            .find(|task| task.path() == path)
            .map(|task| traced(task.id()))
    }

    /// Returns whether a thread that waits in the kernel, for the scheduler, does so no longer.
    fn has_ended_call(&self, debuggee: &mut Debuggee) -> Result<bool, ExploreError> {
        let tasks = self.scheduler.tasks().iter();
        for task in tasks.filter(|task| *task.state() == State::InKernel) {
            let thread = traced(task.id());
            loop {
                match blocking::state(debuggee.pid(), thread.0) {
                    Some(TaskState::Sleeps) => break,
                    // It may sleep again: a call that was interrupted is made once more.
                    Some(TaskState::Runs) => std::thread::sleep(LOOK_PAUSE),
                    Some(TaskState::Stopped) if debuggee.handle_pending(thread)? => {}
                    Some(TaskState::Stopped) | None => return Ok(true),
                }
            }
        }
        Ok(false)
    }

    /// Takes a stop event. Returns it if it concerns the caller.
    pub(super) fn take(
        &mut self,
        debuggee: &mut Debuggee,
        event: StopEvent,
    ) -> Result<Option<Step>, ExploreError> {
        match event {
            StopEvent::Hit {
                thread,
                address,
                owners,
            } if owners.contains(Owners::SCHEDULE) => self.take_hit(debuggee, thread, address),
            StopEvent::SystemCall {
                thread,
                number,
                phase: SystemCallPhase::Entry { arguments },
            } => self.take_entry(debuggee, thread, number, arguments),
            StopEvent::SystemCall {
                thread,
                number,
                phase: SystemCallPhase::Exit { result },
            } => self.take_exit(debuggee, thread, number, result),
            StopEvent::ThreadStarted { thread } => {
                self.threads.started.insert(thread);
                if let Some((parent, child)) = self.threads.maker
                    && child == thread
                {
                    self.introduce(debuggee, parent, child)?;
                }
                Ok(Some(Step::Event(event)))
            }
            StopEvent::ThreadEnded { thread } => {
                self.threads.forget(thread);
                if self.scheduler.task_of(scheduled(thread)).is_some() {
                    self.input(Input::Ended {
                        thread: scheduled(thread),
                    })?;
                }
                Ok(Some(Step::Event(event)))
            }
            StopEvent::TimePassed { thread } => self.look(debuggee, thread),
            event => Ok(Some(Step::Event(event))),
        }
    }

    fn take_hit(
        &mut self,
        debuggee: &mut Debuggee,
        thread: ThreadId,
        address: u64,
    ) -> Result<Option<Step>, ExploreError> {
        self.note_arrival(thread, address);
        if self.returns.contains(&address) && self.end_condition(debuggee, thread, address)? {
            if let Some(event) = self.event_of_others(debuggee, thread)? {
                return Ok(Some(Step::Event(event)));
            }
            self.let_go(debuggee, thread)?;
            return Ok(None);
        }
        let site = self.sites.by_address.get(&address).copied();
        let (kind, standing) = match site {
            Some(Site::Call(Some(lock))) => (PointKind::Synchronisation, Standing::LockCall(lock)),
            Some(Site::Call(None)) => (PointKind::Synchronisation, Standing::Ready),
            Some(Site::Access) | None => (PointKind::Access, Standing::Ready),
        };
        let object = match site {
            Some(Site::Call(_)) => debuggee.registers(thread)?.arguments()[0],
            _ => 0,
        };
        self.reach(debuggee, thread, standing, (kind, address, object))?;
        Ok(None)
    }

    /// A thread that has the baton stands at a point.
    pub(super) fn reach(
        &mut self,
        debuggee: &Debuggee,
        thread: ThreadId,
        standing: Standing,
        (kind, site, object): (PointKind, u64, u64),
    ) -> Result<(), ExploreError> {
        self.note_lock(debuggee, thread)?;
        self.threads.stands(thread, standing);
        self.input(Input::Reached {
            thread: scheduled(thread),
            point: Point {
                kind,
                site,
                object,
                state: 0,
                footprint: Footprint::UNKNOWN,
            },
        })
    }

    /// Looks whether the run gets on: a thread may wait in the kernel, or turn in a loop without
    /// a point.
    fn look(
        &mut self,
        debuggee: &mut Debuggee,
        stopped: ThreadId,
    ) -> Result<Option<Step>, ExploreError> {
        if cancel::is_cancelled() {
            return Err(ExploreError::Cancelled);
        }
        let now = Instant::now();
        // The time during which juror itself was stopped, or had no processor, is not the run's.
        let late = now.saturating_duration_since(self.looked_at);
        self.until = self.until.map(|until| until + late.saturating_sub(TICK * 2));
        self.looked_at = now;
        if self.until.is_some_and(|until| now > until) {
            self.stands = Some(End::Endless);
            return Ok(None);
        }
        debuggee.set_alarm(Some(now + TICK))?;
        if self.keys.take_alarm(now) {
            let thread = stopped;
            return Ok(Some(Step::Event(StopEvent::TimePassed { thread })));
        }
        let is_bearer = self.bearer() == Some(stopped);
        if is_bearer && self.threads.standing(stopped) == Standing::InCall {
            // It has slept in its call all the time, and could not be seen to: if each of its calls
            // stops it, it is stopped once more after it was let go.
            self.input(Input::Call {
                thread: scheduled(stopped),
            })?;
            self.let_go(debuggee, stopped)?;
            return Ok(None);
        }
        if self.is_turning(debuggee) && is_bearer {
            let kind = PointKind::Preempted;
            self.reach(debuggee, stopped, Standing::Ready, (kind, 0, 0))?;
        } else {
            self.let_go(debuggee, stopped)?;
        }
        Ok(None)
    }

    /// Returns whether the thread that has the baton has computed for long without a point.
    fn is_turning(&mut self, debuggee: &Debuggee) -> bool {
        let bearer = self.bearer();
        let process = debuggee.pid();
        let points = self.scheduler.points();
        let computed = bearer.map(|bearer| blocking::computed(process, bearer.0));
        match (bearer, self.seen) {
            (Some(bearer), Some((then, points_then, computed_then)))
                if (bearer, points) == (then, points_then) =>
            {
                // Not the time: other programs may keep it from running.
                computed.unwrap_or_default().saturating_sub(computed_then) > TURNING
            }
            _ => {
                let seen = bearer.zip(computed);
                self.seen = seen.map(|(bearer, computed)| (bearer, points, computed));
                false
            }
        }
    }
}
