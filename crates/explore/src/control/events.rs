//! The stop events of the debuggee.

use super::{Control, End, Step, scheduled, traced};
use crate::blocking::libc_numbers::RESTART;
use crate::blocking::{self, TaskState};
use crate::cancel;
use crate::error::ExploreError;
use crate::input::Inputs;
use crate::own_waits::OwnWait;
use crate::points::Site;
use crate::threads::Standing;
use juror_debuggee::{Debuggee, Owners, StopEvent, SystemCallPhase, ThreadId};
use juror_schedule::{Footprint, Input, Point, PointKind, State, Task};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The time after which the shell looks whether a run gets on. To look, it stops a thread, and a few
/// system calls fail for that as for a signal.
pub(super) const TICK: Duration = Duration::from_millis(400);

/// The time that a thread which does not get on computes at most: that of being looked at.
const RESTING: Duration = Duration::from_millis(5);

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
        let is_alone = self.scheduler.tasks().len() == 1;
        if self.inputs.are_fed() || self.inputs.are_kept() && is_alone {
            return Ok(false);
        }
        let bearer = self.bearer();
        let is_in_call =
            |thread: &ThreadId| matches!(self.threads.standing(*thread), Standing::InCall(_));
        let Some(thread) = bearer.filter(is_in_call) else {
            return Ok(false);
        };
        let mut looks = 0;
        loop {
            match blocking::state(debuggee.pid(), thread.0) {
                Some(TaskState::Sleeps) if looks >= LOOKS => {
                    self.note_given_away(thread);
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
        if self.inputs.are_kept() {
            debuggee.set_alarm(self.keys.alarm())?;
        }
        if self.inputs.are_fed() {
            return Ok(debuggee.wait()?);
        }
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

    /// Returns the thread if a signal has led one out of the kernel, which waits there for the
    /// scheduler, and it stands at its next point.
    fn is_in_handler(&self, event: &StopEvent) -> Option<ThreadId> {
        let thread = match event {
            StopEvent::Hit { thread, .. } => *thread,
            StopEvent::SystemCall {
                thread,
                number,
                phase: SystemCallPhase::Entry { .. },
            } => match self.threads.standing(*thread) {
                Standing::InCall(call) if *number == call || *number == RESTART => return None,
                _ => *thread,
            },
            _ => return None,
        };
        Some(thread).filter(|thread| self.is_away(*thread))
    }

    /// Returns whether a thread waits in the kernel, for the scheduler.
    pub(super) fn is_away(&self, thread: ThreadId) -> bool {
        let task = self.scheduler.task_of(scheduled(thread));
        task.is_some_and(|task| *task.state() == State::InKernel)
    }

    /// Returns whether a thread that waits in the kernel, for the scheduler, does so no longer.
    pub(super) fn has_ended_call(&self, debuggee: &mut Debuggee) -> Result<bool, ExploreError> {
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
        if let Some(thread) = self.is_in_handler(&event) {
            self.threads.stands(thread, Standing::Ready);
            self.threads.returned.insert(thread, event);
            self.input(Input::Returned {
                thread: scheduled(thread),
            })?;
            return Ok(None);
        }
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
                self.started.push(thread);
                self.note_beginning(thread);
                if let Some((parent, child)) = self.threads.maker
                    && child == thread
                {
                    self.introduce(debuggee, parent, child)?;
                }
                Ok(Some(Step::Event(event)))
            }
            StopEvent::ThreadEnded { thread } => {
                blocking::wait_until_gone(debuggee.pid(), thread.0);
                self.threads.forget(thread);
                if self.scheduler.task_of(scheduled(thread)).is_some() {
                    self.input(Input::Ended {
                        thread: scheduled(thread),
                    })?;
                }
                Ok(Some(Step::Event(event)))
            }
            StopEvent::TimePassed { thread } => self.look(debuggee, thread),
            StopEvent::Signal {
                thread,
                signal,
                fatal,
                ..
            } if matches!(self.inputs, Inputs::Recorded(_)) => {
                self.take_kept_signal(debuggee, event, (thread, signal, fatal))
            }
            event => {
                self.note_end(&event);
                Ok(Some(Step::Event(event)))
            }
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
        let sites = Rc::clone(&self.sites);
        match sites.by_address.get(&address) {
            Some(Site::Access(instruction)) => {
                self.reach_access(debuggee, thread, (address, Some(instruction)))?;
            }
            Some(Site::Loop) => self.reach_access(debuggee, thread, (address, None))?,
            Some(Site::Makes) => self.note_code(debuggee, thread)?,
            Some(Site::Call(lock)) => {
                let standing = lock.map_or(Standing::Ready, Standing::LockCall);
                let object = debuggee.registers(thread)?.arguments()[0];
                let kind = PointKind::Synchronisation;
                self.reach(debuggee, thread, standing, (kind, address, object))?;
            }
            None if self.probe(debuggee, thread, address)? => self.let_go(debuggee, thread)?,
            None => {
                let kind = PointKind::Access;
                self.reach(debuggee, thread, Standing::Ready, (kind, address, 0))?;
            }
        }
        Ok(None)
    }

    /// A thread that has the baton stands at a point, of which it is not known what follows.
    pub(super) fn reach(
        &mut self,
        debuggee: &Debuggee,
        thread: ThreadId,
        standing: Standing,
        (kind, site, object): (PointKind, u64, u64),
    ) -> Result<(), ExploreError> {
        let point = Point {
            kind,
            site,
            object,
            state: 0,
            footprint: Footprint::UNKNOWN,
        };
        self.reach_point(debuggee, thread, standing, point)
    }

    /// A thread that has the baton stands at a point.
    pub(super) fn reach_point(
        &mut self,
        debuggee: &Debuggee,
        thread: ThreadId,
        standing: Standing,
        point: Point,
    ) -> Result<(), ExploreError> {
        self.note_lock(debuggee, thread)?;
        self.note_point(debuggee, (thread, standing), &point);
        self.threads.stands(thread, standing);
        self.input(Input::Reached {
            thread: scheduled(thread),
            point,
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
        if self.inputs.are_kept() {
            if self.keys.take_alarm(now) {
                let thread = stopped;
                return Ok(Some(Step::Event(StopEvent::TimePassed { thread })));
            }
            self.let_go(debuggee, stopped)?;
            return Ok(None);
        }
        // The time during which juror itself was stopped, or had no processor, is not the run's.
        let late = now.saturating_duration_since(self.looked_at);
        self.until = self
            .until
            .map(|until| until + late.saturating_sub(TICK * 2));
        self.looked_at = now;
        debuggee.set_alarm(Some(now + TICK))?;
        if self.keys.take_alarm(now) {
            let thread = stopped;
            return Ok(Some(Step::Event(StopEvent::TimePassed { thread })));
        }
        let waited = self.waited_for_itself.take();
        if self.waits_for_itself(debuggee, stopped) {
            let points = self.scheduler.points();
            self.waited_for_itself = Some(points);
            if waited == Some(points) {
                self.stands = Some(End::Deadlock);
                return Ok(None);
            }
        }
        let is_bearer = self.bearer() == Some(stopped);
        if is_bearer && matches!(self.threads.standing(stopped), Standing::InCall(_)) {
            // It has slept in its call all the time, and could not be seen to: if each of its calls
            // stops it, it is stopped once more after it was let go.
            self.input(Input::Call {
                thread: scheduled(stopped),
            })?;
            self.let_go(debuggee, stopped)?;
            return Ok(None);
        }
        let alone = self.time_without_point(debuggee, now);
        let state = self
            .bearer()
            .and_then(|bearer| blocking::state(debuggee.pid(), bearer.0));
        let waits = matches!(state, None | Some(TaskState::Sleeps));
        let is_late = self.until.is_some_and(|until| now > until);
        // A program that was stopped does not sleep.
        let rests = waits || alone < RESTING;
        if rests && is_late || self.time.is_some_and(|time| alone > time) {
            self.stands = Some(End::Endless);
            return Ok(None);
        }
        if alone < TURNING || !is_bearer {
            self.let_go(debuggee, stopped)?;
        } else if self.may_probe(debuggee)? {
            return Ok(Some(Step::Turns { thread: stopped }));
        } else {
            let kind = PointKind::Preempted;
            self.reach(debuggee, stopped, Standing::Ready, (kind, 0, 0))?;
        }
        Ok(None)
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
    /// `stopped` has been stopped for the look.
    fn waits_for_itself(&self, debuggee: &Debuggee, stopped: ThreadId) -> bool {
        let process = debuggee.pid();
        let sleeps = |thread: ThreadId| {
            thread == stopped || blocking::state(process, thread.0) == Some(TaskState::Sleeps)
        };
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
