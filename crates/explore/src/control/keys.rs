//! The user's key: a thread runs if it has the baton and the user lets it go. The user's commands
//! are requests for the moment at which the thread has the baton.

use super::copying::Numbers;
use super::silence::Silence;
use super::{Control, End, Step, scheduled, traced};
use crate::error::ExploreError;
use crate::input::Inputs;
use crate::threads::Standing;
use juror_debuggee::{
    Communication, Debuggee, DebuggeeError, Owners, StandstillKind, StopEvent, ThreadControl,
    ThreadId,
};
use juror_schedule::{
    Choice, ChoiceKind, Input, Order, PointKind, Scheduler, State, Strategy, Task,
};
use rustc_hash::FxHashMap;
use std::time::Instant;

/// The requests for threads.
#[derive(Debug, Clone, Default)]
pub(super) struct Keys {
    /// Threads that make one instruction, and whether they have made it.
    steps: FxHashMap<ThreadId, bool>,
    /// The points of the scheduler at which threads stand.
    arrivals: FxHashMap<ThreadId, u64>,
    /// Whether the user has chosen a thread.
    is_branched: bool,
    /// Whether the user may have stopped threads that run.
    may_have_stopped: bool,
    /// The moment at which the user's alarm rings.
    alarm: Option<Instant>,
    /// The number of points after which the next thread that goes on is told.
    stop_at: Option<u64>,
}

impl Keys {
    pub(super) fn alarm(&self) -> Option<Instant> {
        self.alarm
    }

    /// The threads have other numbers.
    pub(super) fn renumber(&mut self, numbers: Numbers<'_>) {
        numbers.keys(&mut self.steps);
        numbers.keys(&mut self.arrivals);
    }

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
    /// if it has made its step, or if the points are reached that were asked for.
    pub(super) fn event_of_others(
        &mut self,
        debuggee: &Debuggee,
        thread: ThreadId,
    ) -> Result<Option<StopEvent>, ExploreError> {
        let points = self.scheduler.points();
        let is_goal = self.keys.stop_at.take_if(|at| *at <= points).is_some();
        let Some(address) = self.keys.arrivals.remove(&thread) else {
            if !is_goal {
                return Ok(None);
            }
            let address = debuggee.registers(thread)?.instruction_pointer();
            self.keys.steps.remove(&thread);
            return Ok(Some(StopEvent::Stepped { thread, address }));
        };
        let owners = others(debuggee.engine().owners_at(address));
        let is_made = self.keys.steps.get(&thread) == Some(&true);
        let event = if !owners.is_empty() {
            StopEvent::Hit {
                thread,
                address,
                owners,
            }
        } else if is_made || is_goal {
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
        self.adjust_own_calls(debuggee)?;
        if self.keys.steps.contains_key(&thread) && debuggee.is_waiting(thread) {
            return Ok(debuggee.step(thread)?);
        }
        Ok(debuggee.resume(thread)?)
    }

    /// Lets the threads go on that run while others stand: the one that has the baton, and those
    /// that wait in the kernel. The user may have asked for another one, which gets its turn when
    /// the scheduler says so.
    pub(super) fn resume_running(&mut self, debuggee: &mut Debuggee) -> Result<(), ExploreError> {
        if !std::mem::take(&mut self.keys.may_have_stopped) {
            return Ok(());
        }
        let in_kernel = |task: &&Task| *task.state() == State::InKernel;
        let tasks = self.scheduler.tasks().iter().filter(in_kernel);
        let threads = tasks.map(|task| traced(task.id())).chain(self.bearer());
        let stopped = threads.filter(|thread| debuggee.is_waiting(*thread));
        for thread in stopped.collect::<Vec<_>>() {
            if self.may_go(thread) {
                self.let_go(debuggee, thread)?;
            }
        }
        Ok(())
    }

    /// Returns whether a thread runs when the user resumes it: it has the baton, or waits in the
    /// kernel, or is not the scheduler's.
    fn may_go(&self, thread: ThreadId) -> bool {
        if !self.orders.is_empty() || !self.told.is_empty() {
            return false;
        }
        let has_event = |event: &StopEvent| event.waiting_thread() == Some(thread);
        if self.held.iter().any(has_event) || self.threads.started.contains(&thread) {
            return false;
        }
        let Some(task) = self.scheduler.task_of(scheduled(thread)) else {
            return true;
        };
        let makes_thread = self.threads.maker.is_some_and(|(maker, _)| maker == thread);
        // One that is fed its inputs is not really in the kernel.
        let is_in_kernel = *task.state() == State::InKernel && !self.inputs.are_fed();
        is_in_kernel || self.bearer() == Some(thread) && !makes_thread
    }

    /// Returns the next event that is the user's.
    fn next_of_user(&mut self, debuggee: &mut Debuggee) -> Result<StopEvent, ExploreError> {
        self.keys.may_have_stopped = true;
        loop {
            match self.step(debuggee)? {
                Step::Event(event) => {
                    if let Some(thread) = event.waiting_thread() {
                        self.keys.steps.remove(&thread);
                    }
                    return Ok(event);
                }
                Step::Exits { thread, .. } | Step::Turns { thread } => {
                    self.let_go(debuggee, thread)?;
                }
                Step::Deviated { .. } => {}
                Step::PartialDeadlock => return self.standstill(StandstillKind::PartialDeadlock),
                Step::Diverged => return self.standstill(StandstillKind::Diverged),
                Step::Stands(End::Deadlock) => {
                    // Threads that wait in the kernel have not stopped.
                    debuggee.halt_all()?;
                    return self.standstill(StandstillKind::Deadlock);
                }
                Step::Stands(End::Endless | End::Choice) => {
                    return self.standstill(StandstillKind::Endless);
                }
            }
        }
    }

    /// Lets the thread go on that the user chooses, in place of the one that has the baton. The
    /// threads that follow go on in the usual order.
    fn branch(&mut self, debuggee: &Debuggee, thread: ThreadId) -> Result<(), ExploreError> {
        let cannot = |why: &str| Err(ExploreError::Choice(why.to_owned()));
        if self.stands.is_some() {
            return cannot("no thread goes on any more");
        }
        // The last choice may not be carried out yet.
        let is_pending = matches!(self.orders.make_contiguous(), [Order::Run { .. }]);
        let is_between = !self.orders.is_empty() && !is_pending;
        if is_between || !self.held.is_empty() || self.threads.maker.is_some() {
            return cannot("a thread is being started: step once more");
        }
        let Some(bearer) = self.bearer() else {
            return cannot("all threads wait for a system call");
        };
        if bearer == thread {
            return Ok(());
        }
        let standing = self.threads.standing(bearer);
        let may_change = debuggee.is_waiting(bearer) && (is_pending || standing == Standing::Ready);
        if !may_change {
            return cannot("the thread that runs is in a system call: step once more");
        }
        let Some(task) = self.scheduler.task_of(scheduled(thread)) else {
            return cannot("the thread is not known to the scheduler");
        };
        if !task.state().can_run() {
            return cannot("the thread waits, or is about to end");
        }
        let choice = Choice {
            kind: ChoiceKind::Run,
            thread: task.path(),
        };
        let before = self.scheduler.strategy().clone();
        self.scheduler.set_strategy(Strategy::Person);
        let kind = PointKind::Preempted;
        self.orders.clear();
        self.reach(debuggee, bearer, standing, (kind, 0, 0))?;
        // It says that a person must choose.
        self.orders.clear();
        if let Err(error) = self.input(Input::Choose { choice }) {
            self.scheduler.set_strategy(before);
            return Err(error);
        }
        self.scheduler.set_strategy(Strategy::RunOn);
        self.keys.is_branched = true;
        Ok(())
    }

    /// Returns the event of a standstill: of the thread that is the first to wait for another one,
    /// or has the baton, or comes first.
    fn standstill(&self, kind: StandstillKind) -> Result<StopEvent, ExploreError> {
        let deadlock = self.scheduler.deadlock();
        let waits = deadlock.and_then(|deadlock| Some(deadlock.circle.first()?.thread));
        let tasks = self.scheduler.tasks();
        let task = match waits.or_else(|| self.scheduler.bearer_now()) {
            Some(path) => tasks.iter().find(|task| task.path() == path),
            None => None,
        };
        let Some(task) = task.or_else(|| tasks.first()) else {
            return Err(ExploreError::Refused(
                "a program without threads".to_owned(),
            ));
        };
        let thread = traced(task.id());
        Ok(StopEvent::Standstill { thread, kind })
    }
}

/// Returns the owners beside the scheduler.
pub(super) fn others(owners: Owners) -> Owners {
    owners - Owners::SCHEDULE
}

fn told(error: ExploreError) -> DebuggeeError {
    match error {
        ExploreError::Debuggee(error) => error,
        other => DebuggeeError::Schedule(other.to_string()),
    }
}

impl ThreadControl for Control {
    fn wait(&mut self, debuggee: &mut Debuggee) -> Result<StopEvent, DebuggeeError> {
        self.next_of_user(debuggee).map_err(told)
    }

    fn resume(&mut self, debuggee: &mut Debuggee, thread: ThreadId) -> Result<(), DebuggeeError> {
        self.keys.steps.remove(&thread);
        if self.may_go(thread) {
            self.adjust_own_calls(debuggee).map_err(told)?;
            debuggee.resume(thread)?;
        }
        Ok(())
    }

    fn step(&mut self, debuggee: &mut Debuggee, thread: ThreadId) -> Result<(), DebuggeeError> {
        self.keys.steps.insert(thread, false);
        if self.may_go(thread) {
            self.adjust_own_calls(debuggee).map_err(told)?;
            debuggee.step(thread)?;
        }
        Ok(())
    }

    fn set_alarm(&mut self, at: Option<Instant>) {
        self.keys.alarm = at;
    }

    fn stop_at_point(&mut self, points: Option<u64>) {
        self.keys.stop_at = points;
    }

    fn set_silent(&mut self, debuggee: &Debuggee, is_silent: bool) {
        self.silence = is_silent.then(|| Silence::of(debuggee));
    }

    fn choose(&mut self, debuggee: &Debuggee, thread: ThreadId) -> Result<(), DebuggeeError> {
        self.branch(debuggee, thread)
            .map_err(|error| DebuggeeError::Schedule(error.to_string()))
    }

    fn is_branched(&self) -> bool {
        self.keys.is_branched
    }

    fn copy(&self) -> Option<Box<dyn ThreadControl>> {
        let copy: Box<dyn ThreadControl> = Box::new(self.copied()?);
        Some(copy)
    }

    fn renumber(&mut self, threads: &[(ThreadId, ThreadId)]) {
        self.renumber_threads(Numbers::new(threads));
    }

    fn calls_made(&self, thread: ThreadId) -> Option<(u32, usize)> {
        let Inputs::Fed(feeder) = &self.inputs else {
            return None;
        };
        let number = self.number_of(thread);
        Some((number, feeder.calls_made(number)))
    }

    fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    fn communication(&self) -> Option<&Communication> {
        self.communication.steps()
    }
}
