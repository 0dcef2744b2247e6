//! The stop events of the debuggee.

use super::{Control, Step, scheduled, traced};
use crate::blocking::libc_numbers::RESTART;
use crate::blocking::{self, TaskState};
use crate::error::ExploreError;
use crate::input::Inputs;
use crate::points::Site;
use crate::threads::Standing;
use juror_debuggee::{Debuggee, Owners, StopEvent, SystemCallPhase, ThreadId};
use juror_schedule::{Footprint, Input, Point, PointKind, State};
use std::rc::Rc;
use std::time::Duration;

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
        let Some(thread) = bearer.filter(|thread| self.is_in_call(*thread)) else {
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

    /// Returns the next event; none if it is to be looked whether the run gets on. A call that another
    /// thread has ended comes before what that thread does next, so that the order does not depend on
    /// how fast the kernel is.
    pub(super) fn next_event(
        &mut self,
        debuggee: &mut Debuggee,
    ) -> Result<Option<StopEvent>, ExploreError> {
        if self.inputs.are_kept() {
            debuggee.set_alarm(self.keys.alarm())?;
        }
        if self.inputs.are_fed() {
            return Ok(Some(debuggee.wait()?));
        }
        if self.held.is_empty() {
            let Some(event) = self.wait_or_look(debuggee)? else {
                return Ok(None);
            };
            let is_bearers = event.waiting_thread() == self.bearer();
            if !is_bearers || !self.has_ended_call(debuggee)? {
                return Ok(Some(event));
            }
            self.held.push_back(event);
        }
        if self.has_ended_call(debuggee)? {
            return self.wait_or_look(debuggee);
        }
        match self.held.pop_front() {
            Some(event) => Ok(Some(event)),
            None => self.wait_or_look(debuggee),
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
                if debuggee.is_ending() {
                    // A signal ends the program: no thread sees that this one has ended.
                    self.is_ending = true;
                    return Ok(Some(Step::Event(event)));
                }
                if self.scheduler.task_of(scheduled(thread)).is_some() {
                    self.input(Input::Ended {
                        thread: scheduled(thread),
                    })?;
                }
                Ok(Some(Step::Event(event)))
            }
            StopEvent::TimePassed { thread } => self.take_stopped(debuggee, thread),
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
}
