//! Going over the events of a recording, forwards and backwards.
//!
//! After the rules EVENT, CONT and STEP of Jakse, Falcone and Méhaut (section 6),
//! with the recording in place of the program; a step is an event. Backwards, the
//! monitors of an earlier moment take the events from there once more.
//!
//! Invariant: the number of kept moments is bounded, and the first is the
//! beginning. A way back costs at most the events of one stride more than the way
//! itself.

use crate::replay::RecordedRun;
use juror_rules::control::{Mode, Settled};
use juror_rules::decision;
use juror_rules::decision::{Meaning, Owner};
use juror_trace::How;
use juror_view::error::CommandError;
use juror_view::observer::{Nobody, Observer};
use juror_view::{Outcome, RecordedEnd, StopReason};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How many moments are kept at the most.
const MOMENTS_MAX: u64 = 32;
/// No two are nearer to each other.
const STRIDE_MIN: u64 = 1024;
/// After so many events it is asked whether somebody waits.
const LOOK_EVENTS: u64 = 4096;

/// How far the moments of a recording are from each other.
pub(super) fn stride(events: u64) -> u64 {
    STRIDE_MIN.max(events.div_ceil(MOMENTS_MAX))
}

/// Which events end a command that goes on.
#[derive(Debug, Clone, Copy)]
pub(super) enum Goal {
    /// None: only a stop does.
    Never,
    /// So many of any thread, or of one.
    Events { left: u64, thread: Option<u32> },
}

impl Goal {
    /// An event of a thread has happened: whether that was the last one.
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

/// Progress is shown when a way takes so long.
const PROGRESS_AFTER: Duration = Duration::from_secs(1);

/// Whether `continue N` passes it: a breakpoint that is kept. A verdict, what could
/// not be evaluated and Ctrl-C are always shown.
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
    /// The run is over: its last event has been passed.
    pub(super) fn is_over(&self) -> bool {
        self.control.mode() == Mode::Init
    }

    /// Goes on until somebody wants to stop, the goal is reached, or there is no
    /// more.
    pub(super) fn go_on(
        &mut self,
        mut goal: Goal,
        mut passes: u64,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        self.control.begin()?;
        self.is_interrupted.store(false, Ordering::Relaxed);
        let started = Instant::now();
        while self.position < self.tape.count {
            self.control.run()?;
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
            if self.is_told_to_stop(started, observer) {
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

    /// Takes the next event; why a property wants to stop there, if so.
    fn take_event(&mut self, observer: &mut dyn Observer) -> Option<StopReason> {
        let (batch, event) = self.tape.event(self.position + 1)?;
        self.position += 1;
        let reason = self.offline.step(0, batch, event, observer);
        let newest = self.kept.last().map_or(0, |it| it.position);
        if self.position >= newest + self.stride {
            self.kept.push(self.moment());
        }
        reason
    }

    /// Now and then: whether Ctrl-C was pressed. Shows how far it has come.
    fn is_told_to_stop(&self, started: Instant, observer: &mut dyn Observer) -> bool {
        if !self.position.is_multiple_of(LOOK_EVENTS) {
            return false;
        }
        if started.elapsed() > PROGRESS_AFTER {
            observer.progress("going on", self.position, self.tape.count);
        }
        self.is_interrupted.load(Ordering::Relaxed)
    }

    /// A stop is owed, and shown.
    fn stand(
        &mut self,
        reason: StopReason,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        observer.progress("going on", 1, 1);
        self.control.owe_stop()?;
        match self.control.settle()? {
            Settled::Show => Ok(self.stopped(reason)),
            Settled::Quiet => Ok(Outcome::Done),
        }
    }

    /// The last event has been passed: what the end makes of the properties. Those
    /// who go back find the monitors as they were before it.
    fn end(&mut self) -> Outcome {
        let before = self.moment();
        let how = self.tape.how;
        let is_decided = self.tape.fault.is_none() && how.is_none_or(How::is_final);
        let end = match &self.tape.fault {
            Some(_) => self.offline.leave(),
            None => self.offline.finish(how),
        };
        self.offline.monitors.properties = before.properties;
        self.control.end();
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

    /// Back to the last event before this one at which somebody wants to stop, or
    /// that is the goal; to the beginning where there is none.
    pub(super) fn go_back(
        &mut self,
        mut goal: Goal,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        // Standing behind the end, the last event is the first one back.
        let mut end = match self.is_over() {
            true => self.tape.count + 1,
            false => self.position,
        };
        let all = end;
        self.is_interrupted.store(false, Ordering::Relaxed);
        let started = Instant::now();
        while end > 1 {
            let start = self.kept_before(end - 1);
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

    /// Of the events after `start` and before `end`, the last at which to stop.
    fn last_stop_between(
        &mut self,
        start: u64,
        end: u64,
        goal: &mut Goal,
    ) -> Option<(u64, StopReason)> {
        let mut stop = None;
        self.put_back(start);
        while self.position + 1 < end {
            let by_monitor = self.take_event(&mut Nobody);
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

    /// The newest of the moments that are kept in which an event has not happened.
    fn kept_before(&self, event: u64) -> u64 {
        let after = self.kept.partition_point(|it| it.position < event);
        let before = after.checked_sub(1).and_then(|it| self.kept.get(it));
        before.map_or(0, |it| it.position)
    }

    /// The monitors are as they were at a moment that is kept.
    fn put_back(&mut self, position: u64) {
        let moment = self.kept.iter().find(|it| it.position == position);
        if let Some(moment) = moment {
            self.offline.monitors.properties = moment.properties.clone();
            self.position = moment.position;
        }
    }

    /// Goes to an event without stopping on the way.
    pub(super) fn seek(&mut self, position: u64) {
        let position = position.min(self.tape.count);
        let kept = self.kept_before(position + 1);
        // From here, or from a moment before.
        if self.position > position || kept > self.position {
            self.put_back(kept);
        }
        while self.position < position {
            self.take_event(&mut Nobody);
        }
    }

    /// One has gone to another event, and it is shown.
    pub(super) fn stand_again(
        &mut self,
        reason: StopReason,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        observer.progress("going back", 1, 1);
        self.control.end();
        match self.position {
            0 => self.control.load()?,
            _ => self.control.attach()?,
        }
        Ok(self.stopped(reason))
    }

    /// The thread of the event at which one stands.
    pub(super) fn event_thread(&self) -> u32 {
        let event = self.tape.event(self.position);
        event.map_or(0, |(_, event)| event.thread)
    }

    /// Properties have come or gone: the moments that were kept are of others.
    /// Goes from the beginning to where one stands.
    pub(super) fn begin_again(&mut self) {
        let position = self.position;
        crate::replay::learn(&mut self.offline, &self.tape);
        self.position = 0;
        self.kept = vec![self.moment()];
        self.seek(position);
    }
}
