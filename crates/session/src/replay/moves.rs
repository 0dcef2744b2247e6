//! Moves over the events of a recording, forwards and backwards.
//!
//! After the rules EVENT, CONT and STEP of Jakse, Falcone and Méhaut (section 6), with the
//! recording in place of the program; a step is an event. To go backwards, a snapshot of the
//! monitors is restored, and they take the events from there again.
//!
//! **Invariant**: the number of snapshots is bounded, and the first is the beginning. Going back
//! costs at most one stride of events more than the distance itself.

use crate::replay::RecordedRun;
use crate::state::control::refused;
use juror_control::decision;
use juror_control::decision::{Meaning, Owner};
use juror_control::{Mode, Settled};
use juror_fault::CommandError;
use juror_trace::How;
use juror_view::observer::{Observer, SilentObserver};
use juror_view::{Outcome, RecordedEnd, StopReason};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The limit of snapshots.
const SNAPSHOTS_MAX: u64 = 32;
/// The minimal distance of two snapshots, in events.
const STRIDE_MIN: u64 = 1024;
/// The number of events between two checks for an interrupt.
const LOOK_EVENTS: u64 = 4096;

/// Returns the distance between the snapshots of a recording.
pub(super) fn stride(events: u64) -> u64 {
    STRIDE_MIN.max(events.div_ceil(SNAPSHOTS_MAX))
}

/// The goal of a resuming command.
#[derive(Debug, Clone, Copy)]
pub(super) enum Goal {
    /// None: only a stop ends it.
    Never,
    /// This many events of any thread, or of one.
    Events { left: u64, thread: Option<u32> },
}

impl Goal {
    /// Counts an event of a thread; returns whether the goal is reached.
    fn reached(&mut self, of: u32) -> bool {
        match self {
            Goal::Events { left, thread } if thread.is_none_or(|it| it == of) => {
                *left = left.saturating_sub(1);
                *left == 0
            }
            _ => false,
        }
    }
}

/// Progress is shown after this time.
const PROGRESS_AFTER: Duration = Duration::from_secs(1);

/// Returns whether `continue N` passes a stop: only breakpoints that stay. Verdicts, evaluation
/// errors and Ctrl-C are always shown.
fn may_be_passed(reason: &StopReason) -> bool {
    let is_kept = matches!(
        reason,
        StopReason::Breakpoint {
            temporary: false,
            ..
        }
    );
    is_kept && reason.may_be_passed()
}

impl RecordedRun {
    /// Returns whether the run is over: the position is after its last event.
    pub(super) fn is_over(&self) -> bool {
        self.control.mode() == Mode::Init
    }

    /// Continues until a stop, the goal or the end.
    pub(super) fn go_on(
        &mut self,
        mut goal: Goal,
        mut passes: u64,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        self.control.begin().map_err(refused)?;
        self.is_interrupted.store(false, Ordering::Relaxed);
        let started = Instant::now();
        while self.position < self.tape.count {
            self.control.run().map_err(refused)?;
            let stop = self.take_event(observer);
            self.control.notify();
            let thread = self.event_thread();
            let mut moment = decision::Moment::default();
            if let Some(reason) = stop {
                moment.stop(Owner::Monitor, reason);
            }
            if let Some(reason) = self.stops.ask(self.position, &self.tape, true) {
                moment.stop(Owner::Developer, reason);
            }
            if self.is_interrupted(started, observer) {
                moment.stop(Owner::Developer, StopReason::Interrupted);
            }
            if goal.reached(thread) {
                moment.reach(StopReason::Step);
            }
            match moment.meaning() {
                Meaning::Stop(reason) if passes > 0 && may_be_passed(&reason) => passes -= 1,
                Meaning::Stop(reason) | Meaning::Goal(reason) => {
                    return self.stand(reason, observer);
                }
                Meaning::ScenariosOnly | Meaning::Nothing => {}
            }
        }
        observer.progress("going on", 1, 1);
        Ok(self.end())
    }

    /// Takes the next event; returns the reason of a property to stop there, if any.
    fn take_event(&mut self, observer: &mut dyn Observer) -> Option<StopReason> {
        let (batch, event) = self.tape.event(self.position + 1)?;
        self.position += 1;
        let reason = self.offline.step(0, batch, event, observer);
        let newest = self.snapshots.last().map_or(0, |it| it.position);
        if self.position >= newest + self.stride {
            self.snapshots.push(self.snapshot());
        }
        reason
    }

    /// Checks periodically for Ctrl-C, and shows progress.
    fn is_interrupted(&self, started: Instant, observer: &mut dyn Observer) -> bool {
        if !self.position.is_multiple_of(LOOK_EVENTS) {
            return false;
        }
        if started.elapsed() > PROGRESS_AFTER {
            observer.progress("going on", self.position, self.tape.count);
        }
        self.is_interrupted.load(Ordering::Relaxed)
    }

    /// Shows a stop.
    fn stand(
        &mut self,
        reason: StopReason,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        observer.progress("going on", 1, 1);
        self.control.owe_stop().map_err(refused)?;
        match self.control.settle().map_err(refused)? {
            Settled::Show => Ok(self.stopped(reason)),
            Settled::Quiet => Ok(Outcome::Done),
        }
    }

    /// Passes the last event and ends the properties. After going back, the monitors are as they
    /// were before the end.
    fn end(&mut self) -> Outcome {
        let before = self.snapshot();
        let how = self.tape.how;
        let is_decided = self.tape.fault.is_none() && how.is_none_or(How::is_final);
        let end = match &self.tape.fault {
            Some(_) => self.offline.leave(),
            None => self.offline.finish(how),
        };
        self.offline.monitors.properties = before.properties;
        self.control.end();
        self.selected = None;
        Outcome::RecordedEnd(Box::new(RecordedEnd {
            recording: self.name.clone(),
            events: self.tape.count,
            ended: how.map(|how| {
                match how {
                    How::Exited(_) => "exited",
                    How::Killed(_) => "killed",
                    How::Detached => "detached",
                    How::Stopped => "stopped",
                }
                .to_owned()
            }),
            fault: self.fault_words(),
            decided: is_decided,
            end,
        }))
    }

    /// Goes back to the last earlier event with a stop or the goal, or to the beginning.
    pub(super) fn go_back(
        &mut self,
        mut goal: Goal,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        // From the end, the last event is the first one back.
        let mut end = if self.is_over() {
            self.tape.count + 1
        } else {
            self.position
        };
        let all = end;
        self.is_interrupted.store(false, Ordering::Relaxed);
        let started = Instant::now();
        while end > 1 {
            let start = self.snapshot_before(end - 1);
            let found = self.last_stop_between(start, end, &mut goal);
            if let Some((position, reason)) = found {
                self.seek(position);
                return self.stand_again(reason, observer);
            }
            if started.elapsed() > PROGRESS_AFTER {
                observer.progress("going back", all - start, all);
            }
            if start > 0 && self.is_interrupted.load(Ordering::Relaxed) {
                self.seek(start);
                return self.stand_again(StopReason::Interrupted, observer);
            }
            end = start + 1;
        }
        self.seek(0);
        self.stand_again(StopReason::Started, observer)
    }

    /// Returns the last event to stop at, of those after `start` and before `end`.
    fn last_stop_between(
        &mut self,
        start: u64,
        end: u64,
        goal: &mut Goal,
    ) -> Option<(u64, StopReason)> {
        let mut stop = None;
        self.restore_snapshot(start);
        while self.position + 1 < end {
            let by_monitor = self.take_event(&mut SilentObserver);
            let mut moment = decision::Moment::default();
            if let Some(reason) = by_monitor {
                moment.stop(Owner::Monitor, reason);
            }
            if let Some(reason) = self.stops.ask(self.position, &self.tape, false) {
                moment.stop(Owner::Developer, reason);
            }
            if let Meaning::Stop(reason) = moment.meaning() {
                stop = Some((self.position, reason));
            }
        }
        // Goals are counted from the end.
        let mut position = end - 1;
        while position > stop.as_ref().map_or(start, |(at, _)| *at) {
            let event = self.tape.event(position).map(|(_, event)| event.thread);
            if event.is_some_and(|thread| goal.reached(thread)) {
                return Some((position, StopReason::Step));
            }
            position -= 1;
        }
        stop
    }

    /// Returns the position of the newest snapshot before an event.
    fn snapshot_before(&self, event: u64) -> u64 {
        let after = self.snapshots.partition_point(|it| it.position < event);
        let before = after.checked_sub(1).and_then(|it| self.snapshots.get(it));
        before.map_or(0, |it| it.position)
    }

    /// Restores the monitors to a snapshot.
    fn restore_snapshot(&mut self, position: u64) {
        let moment = self.snapshots.iter().find(|it| it.position == position);
        if let Some(moment) = moment {
            self.offline.monitors.properties = moment.properties.clone();
            self.position = moment.position;
        }
    }

    /// Goes to an event without stopping on the way.
    pub(super) fn seek(&mut self, position: u64) {
        let position = position.min(self.tape.count);
        let snapshots = self.snapshot_before(position + 1);
        // From here, or from an earlier snapshot.
        if self.position > position || snapshots > self.position {
            self.restore_snapshot(snapshots);
        }
        while self.position < position {
            self.take_event(&mut SilentObserver);
        }
    }

    /// Shows the event after going to another one.
    pub(super) fn stand_again(
        &mut self,
        reason: StopReason,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        observer.progress("going back", 1, 1);
        self.control.end();
        match self.position {
            0 => self.control.load().map_err(refused)?,
            _ => self.control.attach().map_err(refused)?,
        }
        Ok(self.stopped(reason))
    }

    /// Returns the thread of the present event.
    pub(super) fn event_thread(&self) -> u32 {
        let event = self.tape.event(self.position);
        event.map_or(0, |(_, event)| event.thread)
    }

    /// Drops the snapshots, because the properties have changed, and evaluates from the beginning
    /// to the present position.
    pub(super) fn begin_again(&mut self) {
        let position = self.position;
        crate::replay::learn(&mut self.offline, &self.tape);
        self.position = 0;
        self.snapshots = vec![self.snapshot()];
        self.seek(position);
    }
}
