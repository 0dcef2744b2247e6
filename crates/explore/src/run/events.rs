//! The stop events of the debuggee.

use super::{Run, scheduled, traced};
use crate::blocking::{self, TaskState};
use crate::error::ExploreError;
use crate::outcome::Outcome;
use crate::points::Site;
use crate::report;
use crate::threads::Standing;
use juror_debuggee::{StopEvent, SystemCallPhase, ThreadId};
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

impl Run {
    /// Tells the scheduler if the thread that has the baton waits in a system call. Nobody else
    /// runs, so it sleeps there or comes back soon. Returns whether it waits.
    pub(super) fn note_waiting_call(&mut self) -> Result<bool, ExploreError> {
        let bearer = self.bearer();
        let is_in_call = |thread: &ThreadId| self.threads.standing(*thread) == Standing::InCall;
        let Some(thread) = bearer.filter(is_in_call) else {
            return Ok(false);
        };
        let process = self.program.debuggee.pid();
        let mut looks = 0;
        loop {
            match blocking::state(process, thread.0) {
                Some(TaskState::Sleeps) if looks >= LOOKS => {
                    self.input(Input::Call {
                        thread: scheduled(thread),
                    })?;
                    return Ok(true);
                }
                Some(TaskState::Sleeps) => looks += 1,
                Some(TaskState::Runs) => looks = 0,
                Some(TaskState::Stopped) | None => return Ok(false),
            }
            std::thread::sleep(LOOK_PAUSE);
        }
    }

    /// Returns the next event. A call that another thread has ended comes before what that thread
    /// does next, so that the order does not depend on how fast the kernel is.
    pub(super) fn next_event(&mut self) -> Result<StopEvent, ExploreError> {
        if self.held.is_empty() {
            let event = self.program.debuggee.wait()?;
            let is_bearers = event.waiting_thread() == self.bearer();
            if !is_bearers || !self.has_ended_call() {
                return Ok(event);
            }
            self.held.push_back(event);
        }
        if self.has_ended_call() {
            return Ok(self.program.debuggee.wait()?);
        }
        match self.held.pop_front() {
            Some(event) => Ok(event),
            None => Ok(self.program.debuggee.wait()?),
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
    pub(super) fn has_ended_call(&self) -> bool {
        let process = self.program.debuggee.pid();
        let mut tasks = self.scheduler.tasks().iter();
        tasks.any(|task| {
            *task.state() == State::InKernel
                && blocking::state(process, task.id().0) != Some(TaskState::Sleeps)
        })
    }

    /// Takes a stop event. Returns the end of the run if that is one.
    pub(super) fn take(&mut self, event: StopEvent) -> Result<Option<Outcome>, ExploreError> {
        match event {
            StopEvent::Hit {
                thread, address, ..
            } => self.take_hit(thread, address)?,
            StopEvent::SystemCall {
                thread,
                number,
                phase: SystemCallPhase::Entry { arguments },
            } => return self.take_entry(thread, number, arguments),
            StopEvent::SystemCall {
                thread,
                number,
                phase: SystemCallPhase::Exit { result },
            } => self.take_exit(thread, number, result)?,
            StopEvent::ThreadStarted { thread } => {
                self.thread_count += 1;
                self.program.number_started_thread(thread);
                self.threads.started.insert(thread);
                if let Some((parent, child)) = self.threads.maker
                    && child == thread
                {
                    self.introduce(parent, child)?;
                }
            }
            StopEvent::ThreadEnded { thread } => {
                self.threads.forget(thread);
                if self.scheduler.task_of(scheduled(thread)).is_some() {
                    self.input(Input::Ended {
                        thread: scheduled(thread),
                    })?;
                }
            }
            StopEvent::Signal {
                thread,
                signal,
                fatal: true,
                ..
            } => {
                let place = Some(report::place_of(&self.program, thread));
                return Ok(Some(Outcome::Killed { signal, place }));
            }
            StopEvent::Killed { signal, .. } => {
                let place = None;
                return Ok(Some(Outcome::Killed { signal, place }));
            }
            StopEvent::Exited { status } => return Ok(Some(Outcome::Exited { status })),
            StopEvent::TimePassed { thread } => return self.look(thread),
            StopEvent::ModulesChanged { thread } => {
                self.program.update_modules();
                self.program.debuggee.resume(thread)?;
            }
            other => {
                if let Some(thread) = other.waiting_thread() {
                    self.program.debuggee.resume(thread)?;
                }
            }
        }
        Ok(None)
    }

    pub(super) fn take_hit(&mut self, thread: ThreadId, address: u64) -> Result<(), ExploreError> {
        if self.returns.contains(&address) && self.end_condition(thread, address)? {
            return Ok(());
        }
        let site = self.sites.by_address.get(&address).copied();
        let (kind, standing) = match site {
            Some(Site::Call(Some(lock))) => (PointKind::Synchronisation, Standing::LockCall(lock)),
            Some(Site::Call(None)) => (PointKind::Synchronisation, Standing::Ready),
            Some(Site::Access) | None => (PointKind::Access, Standing::Ready),
        };
        let object = match site {
            Some(Site::Call(_)) => self.program.debuggee.registers(thread)?.arguments()[0],
            _ => 0,
        };
        self.reach(thread, standing, (kind, address, object))
    }

    /// A thread that has the baton stands at a point.
    pub(super) fn reach(
        &mut self,
        thread: ThreadId,
        standing: Standing,
        (kind, site, object): (PointKind, u64, u64),
    ) -> Result<(), ExploreError> {
        self.note_lock(thread)?;
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
    pub(super) fn look(&mut self, stopped: ThreadId) -> Result<Option<Outcome>, ExploreError> {
        let now = Instant::now();
        if now > self.until {
            return self.endless().map(Some);
        }
        self.program.debuggee.set_alarm(Some(now + TICK))?;
        let bearer = self.bearer();
        let process = self.program.debuggee.pid();
        let points = self.scheduler.points();
        let computed = bearer.map(|bearer| blocking::computed(process, bearer.0));
        let turns = match (bearer, self.seen) {
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
        };
        if turns && bearer == Some(stopped) {
            let kind = PointKind::Preempted;
            self.reach(stopped, Standing::Ready, (kind, 0, 0))?;
        } else {
            self.program.debuggee.resume(stopped)?;
        }
        Ok(None)
    }
}
