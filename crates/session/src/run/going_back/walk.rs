//! A run that is made again in silence, event by event: what would have stopped it is counted.
//!
//! The events are handled as in the run that the user saw, so a point stops it where it did then.

mod setting_out;

use crate::run::going_back::again::Kept;
use crate::run::going_back::here::{Numbers, Standing, path_of};
use crate::run::going_back::last_write::Watched;
use crate::run::going_back::way::Way;
use crate::run::going_back::waypoints;
use crate::run::pause::{Goal, Pause};
use crate::run::watchpoints;
use crate::session::Session;
use juror_debuggee::{
    Debuggee, MemoryAccess, Owner, Owners, StopEvent, SystemCallPhase, SystemCalls, ThreadId,
};
use juror_fault::CommandError;
use juror_points::watchpoints::Watchpoint;
use juror_schedule::ThreadPath;
use juror_view::StopReason;
use juror_view::observer::{Observer, SilentObserver};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Progress is shown after this time, and so often.
const PROGRESS_AFTER: Duration = Duration::from_secs(1);
const PROGRESS_EVERY: Duration = Duration::from_millis(200);

/// The number of schedule points before the place to which a walk leads, at which its sites are
/// inserted: a thread goes on between any two points, and is told.
const POINTS_BEFORE: u64 = 2;

/// `mmap`, `brk`, `mremap`.
const MAPPING: [u64; 3] = [9, 12, 25];

/// A walk.
pub(super) struct Walk<'a> {
    pub kept: &'a Kept,
    observer: &'a mut dyn Observer,
    /// The points at which the walk ends most likely.
    points: u64,
    /// The addresses that are sites of this walk, and from how many points on.
    sites: Vec<u64>,
    sites_from: u64,
    has_sites: bool,
    /// The next number of points to be told.
    told_at: Option<u64>,
    /// Whether each number of points is told from there on.
    tells_each: bool,
    /// The thread that makes one instruction.
    stepping: Option<ThreadId>,
    /// The number of stops so far.
    pub stops: u64,
    /// An object that is watched.
    watched: Option<Watched>,
    /// The last write to it.
    pub last: Option<LastAccess>,
    /// The arrivals at sites since the last schedule point.
    arrivals: FxHashMap<u64, u64>,
    stretch: u64,
    way: Way,
    started: Instant,
    shown: Instant,
}

/// A write to watched memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct LastAccess {
    /// Its number, counted from the start of the run.
    pub number: u64,
    /// The number of schedule points before it.
    pub points: u64,
    pub path: ThreadPath,
    /// The number of the system call that has written.
    pub system_call: Option<u64>,
}

/// A thing that happens.
#[derive(Debug, Default)]
pub(super) struct Happening {
    /// The thread, which waits; none after the end.
    pub thread: Option<ThreadId>,
    /// The site of the walk at which it stands, and how many arrivals there have been since the last
    /// schedule point.
    pub arrival: Option<(u64, u64)>,
    /// Why the run stops here, if it does. The stop is counted.
    pub stop: Option<StopReason>,
    /// The accesses to memory that is watched for this walk.
    pub accesses: Vec<MemoryAccess>,
    /// Whether the thread goes on, for the first time, after the number of points that was asked for.
    pub is_at_point: bool,
    /// Whether it has made its step.
    pub is_stepped: bool,
    /// Whether the program has ended.
    pub is_end: bool,
}

impl Walk<'_> {
    /// Has the walk tell of arrivals at these addresses from shortly before so many points on.
    pub(super) fn visit(&mut self, sites: Vec<u64>, points: u64) {
        self.sites = sites;
        self.sites_from = points.saturating_sub(POINTS_BEFORE);
        self.has_sites = false;
    }

    /// Has the walk tell when a thread goes on after so many points, if not before.
    pub(super) fn tell_no_later_than(&mut self, points: u64) {
        self.told_at.get_or_insert(points);
    }

    /// Has the walk tell when a thread goes on after so many points.
    pub(super) fn tell_at(&mut self, points: u64) {
        self.told_at = Some(points);
    }

    /// Has the walk tell of writes to memory.
    pub(super) fn watch(&mut self, watchpoint: Watchpoint) {
        self.watched = Some(Watched::new(watchpoint));
    }

    /// Has the walk tell of writes to memory that has no name.
    pub(super) fn watch_memory(&mut self, range: Range<u64>) {
        self.watched = Some(Watched::of_memory(vec![range]));
    }

    /// Ends that. Returns what was watched.
    pub(super) fn unwatch(
        &mut self,
        session: &mut Session,
    ) -> Result<Option<Watched>, CommandError> {
        let watched = self.watched.take();
        if let Some(id) = watched.as_ref().and_then(|watched| watched.id) {
            session.running_mut()?.debuggee.unwatch(id)?;
        }
        Ok(watched)
    }

    /// Returns the number of writes to the watched memory so far.
    pub(super) fn writes(&self) -> u64 {
        self.watched.as_ref().map_or(0, |watched| watched.writes)
    }

    /// Returns whether the memory has been there to be watched.
    pub(super) fn is_watching(&self) -> bool {
        self.watched.as_ref().is_some_and(|it| it.id.is_some())
    }

    /// Watches the memory as soon as it is mapped: before the program begins, or after a call that
    /// maps memory.
    pub(super) fn arm(&mut self, session: &mut Session) -> Result<(), CommandError> {
        let Some(watched) = self.watched.as_mut().filter(|it| it.id.is_none()) else {
            return Ok(());
        };
        watched.arm(session)?;
        let wanted = session.points.catchpoints.system_calls();
        let calls = match (watched.id, wanted) {
            (None, SystemCalls::None) => SystemCalls::Only(MAPPING.into()),
            (None, SystemCalls::Only(mut calls)) => {
                calls.extend(MAPPING);
                SystemCalls::Only(calls)
            }
            (_, wanted) => wanted,
        };
        session.running_mut()?.debuggee.catch_system_calls(calls);
        Ok(())
    }

    /// Has the walk tell each time that a thread goes on after a point, from so many points on.
    pub(super) fn tell_each_from(&mut self, points: u64) {
        self.told_at = Some(points.max(1));
        self.tells_each = true;
    }

    /// Returns whether the number of points is to be told, once.
    fn take_told(&mut self, points: u64) -> bool {
        let is_told = self.told_at.is_some_and(|at| points >= at);
        if is_told {
            self.told_at = self.tells_each.then_some(points + 1);
        }
        is_told
    }

    /// Ends the visits.
    pub(super) fn visit_no_more(&mut self, session: &mut Session) -> Result<(), CommandError> {
        let program = session.running_mut()?;
        let has_sites = std::mem::take(&mut self.has_sites);
        for address in self.sites.drain(..) {
            if has_sites {
                program.debuggee.remove(address, Owner::Step)?;
            }
        }
        Ok(())
    }

    /// Lets a thread make one instruction. Returns what ends the step, or comes before that; nothing
    /// if the step is made, and the program could go on.
    pub(super) fn step(
        &mut self,
        session: &mut Session,
        thread: ThreadId,
    ) -> Result<Happening, CommandError> {
        self.stepping = Some(thread);
        self.insert_sites(session)?;
        session.running_mut()?.debuggee.step(thread)?;
        let happening = self.next(session);
        self.stepping = None;
        happening
    }

    /// Lets the program begin. Returns what happens at once.
    pub(super) fn start(
        &mut self,
        session: &mut Session,
    ) -> Result<Option<Happening>, CommandError> {
        self.way.begin();
        self.insert_sites(session)?;
        self.arm(session)?;
        if !self.is_from_start() {
            session.running_mut()?.debuggee.resume_all()?;
            return Ok(None);
        }
        let pause = session.begin(&mut SilentObserver)?;
        session.running_mut()?.debuggee.resume_all()?;
        Ok(pause.and_then(|pause| self.paused(pause)))
    }

    /// Inserts the sites if it is time, and asks to be told of the next number of points.
    fn insert_sites(&mut self, session: &mut Session) -> Result<(), CommandError> {
        let program = session.running_mut()?;
        let points = points_of(&program.debuggee);
        if !self.has_sites && points >= self.sites_from {
            self.has_sites = true;
            for address in &self.sites {
                program.insert(*address, Owner::Step)?;
            }
        }
        let next = (!self.has_sites).then_some(self.sites_from);
        let told = self.told_at.filter(|at| *at > points || next.is_none());
        // Steps are counted by what ends them.
        let look = (self.stepping.is_none()).then(|| self.way.next_look(points));
        let goal = next.into_iter().chain(told).chain(look).min();
        program.debuggee.stop_at_point(goal);
        Ok(())
    }

    /// Returns the next thing that happens; its thread waits.
    ///
    /// # Errors
    /// The user has interrupted the walk, or the program cannot be run.
    pub(super) fn next(&mut self, session: &mut Session) -> Result<Happening, CommandError> {
        loop {
            session.control.permit_run()?;
            if session.control.cancel.load(Ordering::Relaxed) {
                return Err(interrupted());
            }
            self.show_progress(session);
            let event = session.next_stop_event()?;
            if let Some(happening) = self.take(session, event)? {
                return Ok(happening);
            }
        }
    }

    /// Lets the thread of a happening go on, and all others.
    pub(super) fn go_on(
        &mut self,
        session: &mut Session,
        happening: &Happening,
    ) -> Result<(), CommandError> {
        // A stop of one thread may have halted the others.
        let debuggee = &mut session.running_mut()?.debuggee;
        if let Some(thread) = happening.thread {
            debuggee.resume(thread)?;
        }
        Ok(debuggee.resume_all()?)
    }

    fn take(
        &mut self,
        session: &mut Session,
        event: StopEvent,
    ) -> Result<Option<Happening>, CommandError> {
        let points = points_of(&session.running()?.debuggee);
        if points != self.stretch {
            self.stretch = points;
            self.arrivals.clear();
        }
        let is_going_on = matches!(event, StopEvent::Hit { .. } | StopEvent::Stepped { .. });
        let is_at_point = is_going_on && self.take_told(points);
        let looks = self.stepping.is_none() && self.way.looks(points);
        self.insert_sites(session)?;
        match event {
            StopEvent::Hit {
                thread,
                address,
                owners,
            } => {
                let observer = &mut SilentObserver;
                let pause = session.on_hit(thread, address, owners, observer, &[])?;
                let happening = Happening {
                    thread: Some(thread),
                    arrival: self.arrive(address, owners),
                    is_at_point,
                    stop: pause.and_then(|pause| self.stop_of(pause)),
                    ..Happening::default()
                };
                let is_any = happening.arrival.is_some()
                    || happening.stop.is_some()
                    || is_at_point
                    || self.stepping == Some(thread);
                if !is_any {
                    session.go_on(thread, Goal::default())?;
                }
                Ok(is_any.then_some(happening))
            }
            StopEvent::Stepped { thread, .. } => {
                let is_stepped = self.stepping == Some(thread);
                if is_at_point || is_stepped {
                    return Ok(Some(Happening {
                        thread: Some(thread),
                        is_at_point,
                        is_stepped,
                        ..Happening::default()
                    }));
                }
                if looks {
                    let begun = Instant::now();
                    let limits = session.checkpoints.waypoints.limits(self.way.is_near());
                    let place = (points, self.way.time());
                    waypoints::keep_place(session, thread, place, limits);
                    self.way.note_look(points, begun, limits);
                }
                // The sites have been inserted.
                session.running_mut()?.debuggee.resume(thread)?;
                Ok(None)
            }
            StopEvent::Interrupted { .. } => Err(interrupted()),
            StopEvent::Called { thread } => {
                session.running_mut()?.debuggee.resume(thread)?;
                Ok(None)
            }
            StopEvent::Exited { .. } | StopEvent::Killed { .. } => Ok(Some(Happening {
                is_end: true,
                ..Happening::default()
            })),
            StopEvent::Accessed { thread, accesses } => {
                self.take_accesses(session, thread, accesses)
            }
            event => {
                if let StopEvent::SystemCall { thread, phase, .. } = event {
                    self.arm(session)?;
                    let wanted = session.points.catchpoints.system_calls();
                    if self.stepping == Some(thread) && wanted == SystemCalls::None {
                        // The call was caught for this walk alone: it is the step.
                        if matches!(phase, SystemCallPhase::Exit { .. }) {
                            return Ok(Some(Happening {
                                thread: Some(thread),
                                is_stepped: true,
                                ..Happening::default()
                            }));
                        }
                        session.running_mut()?.debuggee.step(thread)?;
                        return Ok(None);
                    }
                }
                let observer = &mut SilentObserver;
                let pause = session.take(event, observer, Goal::default())?;
                Ok(pause.and_then(|pause| self.paused(pause)))
            }
        }
    }

    /// Takes accesses to memory: those that are watched for this walk, and the others.
    fn take_accesses(
        &mut self,
        session: &mut Session,
        thread: ThreadId,
        accesses: Vec<MemoryAccess>,
    ) -> Result<Option<Happening>, CommandError> {
        let own = self.watched.as_ref().and_then(|it| it.id);
        let is_own = |access: &MemoryAccess| Some(access.watch) == own;
        let (own, others): (Vec<_>, Vec<_>) = accesses.into_iter().partition(is_own);
        if own.is_empty() {
            let event = StopEvent::Accessed {
                thread,
                accesses: others,
            };
            let pause = session.take(event, &mut SilentObserver, Goal::default())?;
            return Ok(pause.and_then(|pause| self.paused(pause)));
        }
        if let Some(watched) = &mut self.watched {
            watched.take(session)?;
        }
        let debuggee = &session.running()?.debuggee;
        if let (Some(path), Some(access)) = (path_of(debuggee, thread), own.last()) {
            self.last = Some(LastAccess {
                number: self.writes(),
                points: points_of(debuggee),
                path,
                system_call: access.system_call,
            });
        }
        let pause = watchpoints::on_access(session, thread, &others)?;
        Ok(Some(Happening {
            thread: Some(thread),
            stop: pause.and_then(|pause| self.stop_of(pause)),
            accesses: own,
            ..Happening::default()
        }))
    }

    fn arrive(&mut self, address: u64, owners: Owners) -> Option<(u64, u64)> {
        if !owners.contains(Owners::STEP) || !self.sites.contains(&address) {
            return None;
        }
        let count = self.arrivals.entry(address).or_default();
        *count += 1;
        Some((address, *count))
    }

    fn paused(&mut self, pause: Pause) -> Option<Happening> {
        let thread = pause.thread();
        let is_end = matches!(pause, Pause::Ended(_));
        let stop = self.stop_of(pause);
        (is_end || stop.is_some()).then_some(Happening {
            thread,
            stop,
            is_end,
            ..Happening::default()
        })
    }

    fn stop_of(&mut self, pause: Pause) -> Option<StopReason> {
        let Pause::Reason(reason, _) = pause else {
            return None;
        };
        self.stops += 1;
        Some(reason)
    }

    fn show_progress(&mut self, session: &Session) {
        if self.started.elapsed() < PROGRESS_AFTER || self.shown.elapsed() < PROGRESS_EVERY {
            return;
        }
        self.shown = Instant::now();
        if let Ok(program) = session.running() {
            let points = points_of(&program.debuggee);
            self.observer
                .progress("going back", points.min(self.points), self.points);
        }
    }

    /// Returns whether a thread stands with these registers, but for the numbers of threads.
    pub(super) fn stands_as(
        &self,
        session: &Session,
        thread: ThreadId,
        standing: &Standing,
    ) -> Result<bool, CommandError> {
        let program = session.running()?;
        let Some(then) = self.kept.program() else {
            return Ok(false);
        };
        if path_of(&program.debuggee, thread) != Some(standing.path) {
            return Ok(false);
        }
        let numbers = Numbers::of(&then.debuggee, &program.debuggee);
        let registers = program.registers(thread)?;
        Ok(numbers.have_same_registers(&standing.registers, registers))
    }
}

impl Drop for Walk<'_> {
    fn drop(&mut self) {
        if self.started.elapsed() >= PROGRESS_AFTER {
            self.observer.progress("going back", 1, 1);
        }
    }
}

/// Returns the number of schedule points that the run has reached.
pub(super) fn points_of(debuggee: &Debuggee) -> u64 {
    debuggee.scheduler().map_or(0, |it| it.points())
}

/// Returns the error of a walk that the user has interrupted.
fn interrupted() -> CommandError {
    CommandError::new("interrupted: the run stands where it stood")
}
