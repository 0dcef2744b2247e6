//! Checkpoints on the way of a run that is made again, and the way from one of them.
//!
//! They are made while a walk leads to a place, where a thread goes on after a schedule point, and nothing
//! of what happens then has happened. A walk from one goes as one from the start does from there; if it does
//! not come to its place, the run is launched.
//!
//! **Invariant**: points count from a checkpoint as they would from the start. If their hits before it
//! are not known, as they have been set or changed since, the checkpoint does not serve.

use crate::run::catchpoints;
use crate::run::going_back::again::Kept;
use crate::run::points::all_points;
use crate::session::Session;
use crate::state::selection::Selection;
use crate::state::waypoints::{PointCount, Waypoint};
use juror_checkpoint::thinning::Limits;
use juror_debuggee::{FrozenRun, Owner, ThreadId};
use juror_fault::CommandError;
use juror_monitoring::monitors::Monitors;
use juror_program::program::Program;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The error of a walk that sets out where it has before, and cannot.
pub(super) const GONE: &str = "a checkpoint of the run is gone";

/// The start of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Origin {
    /// The start of the run.
    #[default]
    Start,
    /// A checkpoint.
    Checkpoint {
        /// Its number.
        number: u64,
        /// The number of schedule points before it.
        points: u64,
        /// The time of the run before it.
        time: Duration,
    },
}

impl Origin {
    /// Returns the number of schedule points before it.
    pub(super) fn points(self) -> u64 {
        match self {
            Origin::Start => 0,
            Origin::Checkpoint { points, .. } => points,
        }
    }

    pub(super) fn time(self) -> Duration {
        match self {
            Origin::Start => Duration::ZERO,
            Origin::Checkpoint { time, .. } => time,
        }
    }
}

impl Kept {
    /// Makes the run again from the last checkpoint before a number of schedule points, or from its start.
    /// Returns from where.
    pub(super) fn set_out_before(
        &self,
        session: &mut Session,
        points: u64,
    ) -> Result<Origin, CommandError> {
        if points == 0 || self.starts_anew.get() {
            self.launch(session)?;
            return Ok(Origin::Start);
        }
        loop {
            self.prepare(session);
            let counts = counts(session);
            let properties = properties(&session.processes.monitors);
            let waypoints = std::mem::take(&mut session.checkpoints.waypoints);
            let serves =
                |it: &Waypoint| it.properties == properties && has_all(&it.counts, &counts);
            let found = waypoints.before(points, serves);
            let gone = found.map(|(mark, waypoint)| (mark, go_on_from(session, waypoint)));
            let gone = gone.map(|(mark, gone)| (mark, gone.is_ok()));
            session.checkpoints.waypoints = waypoints;
            match gone {
                Some((mark, true)) => {
                    self.has_used_checkpoints.set(true);
                    return Ok(Origin::Checkpoint {
                        number: mark.number,
                        points: mark.points,
                        time: mark.time,
                    });
                }
                // It is gone, or there is no memory.
                Some((mark, false)) => session.checkpoints.waypoints.drop(mark.number),
                None => {
                    self.launch(session)?;
                    return Ok(Origin::Start);
                }
            }
        }
    }

    /// Makes the run again from where a walk has set out.
    pub(super) fn set_out_from(
        &self,
        session: &mut Session,
        origin: Origin,
    ) -> Result<Origin, CommandError> {
        match origin {
            Origin::Start => self.set_out_before(session, 0),
            Origin::Checkpoint { points, .. } => {
                let gone = self.set_out_before(session, points + 1)?;
                if gone.points() == points {
                    return Ok(gone);
                }
                // The counts from there must be made anew.
                Err(CommandError::new(GONE))
            }
        }
    }
}

/// Makes a checkpoint where a thread goes on in a walk, if one is due. That the walk goes on does not
/// depend on it.
pub(super) fn keep_place(
    session: &mut Session,
    thread: ThreadId,
    (points, time): (u64, Duration),
    limits: Limits,
) {
    if !session.checkpoints.waypoints.is_due(points, time, limits) {
        return;
    }
    let begun = Instant::now();
    match waypoint(session, thread) {
        Ok(Some(waypoint)) => {
            let waypoints = &mut session.checkpoints.waypoints;
            waypoints.keep((points, time), waypoint, begun.elapsed(), limits);
        }
        Ok(None) => {}
        // The next would fail as well.
        Err(_) => session.checkpoints.waypoints.refuse(),
    }
}

fn waypoint(session: &mut Session, thread: ThreadId) -> Result<Option<Waypoint>, CommandError> {
    let process = &mut *session.processes;
    let Some(program) = &mut process.program else {
        return Ok(None);
    };
    process.monitors.leave_native(program)?;
    let frozen = program.debuggee.freeze_run();
    let frozen = frozen.map_err(|error| CommandError::new(error.to_string()))?;
    let Some(run) = frozen else {
        return Ok(None);
    };
    let program = program.state();
    let monitors = session.processes.monitors.kept();
    Ok(Some(Waypoint {
        run,
        program,
        thread,
        properties: properties(&monitors),
        monitors,
        announced: session.processes.stop.announced,
        last_hit: session.processes.last_hit,
        passes: session.points.breakpoints.passes.clone(),
        hardware_passes: session.points.hardware.passes.clone(),
        exit_violations: session.processes.exit_violations.clone(),
        counts: counts(session),
    }))
}

/// Makes a process at a checkpoint the present one of a session that is prepared for it.
fn go_on_from(session: &mut Session, waypoint: &Waypoint) -> Result<(), CommandError> {
    let points = points_of(&waypoint.run, &waypoint.monitors);
    let thawed = waypoint.run.copy(&points);
    let thawed = thawed.map_err(|error| CommandError::new(error.to_string()))?;
    let threads = thawed.threads;
    let number = |thread: ThreadId| {
        let found = threads.iter().find(|(then, _)| *then == thread);
        found.map_or(ThreadId(0), |(_, now)| *now)
    };
    let mut program = Program::restored(&waypoint.program, thawed.debuggee, number);
    session.user.apply(&mut program);
    session.control.share_interrupter(&mut program.debuggee)?;
    program.debuggee.set_follow(session.options.follow);
    program
        .debuggee
        .keep_terminal(session.launch.keeps_terminal);
    let process = &mut *session.processes;
    process.selection = Selection::of_thread(number(waypoint.thread));
    // The run writes no trace, so nothing of one is said.
    let _ = process.monitors.go_back(&waypoint.monitors, None, number);
    process
        .exit_violations
        .clone_from(&waypoint.exit_violations);
    let renumbered = |(thread, at): (ThreadId, u64)| (number(thread), at);
    process.stop.announced = waypoint.announced.map(renumbered);
    process.last_hit = waypoint.last_hit.map(renumbered);
    session.points.breakpoints.bind(&mut program);
    session.points.catchpoints.bind(&mut program);
    session.points.breakpoints.passes = waypoint.passes.renumbered(number);
    session.points.hardware.passes = waypoint.hardware_passes.renumbered(number);
    session.processes.program = Some(program);
    catchpoints::renew_catchpoints(session);
    let process = &mut *session.processes;
    if let Some(program) = &mut process.program {
        session.points.hardware.settle(program)?;
        process.watchpoints.settle(program)?;
        // The present ones are inserted.
        for &(address, owner, count) in waypoint.run.points() {
            for _ in 0..if is_users(owner) { count } else { 0 } {
                let _ = program.debuggee.remove(address, owner);
            }
        }
        program.debuggee.set_silent(true);
    }
    put_counts(session, &waypoint.counts);
    session.control.state.restore(false);
    Ok(())
}

fn is_users(owner: Owner) -> bool {
    matches!(owner, Owner::Developer | Owner::Scenario)
}

/// Returns the points to insert in a process at a checkpoint. Those of the user are inserted while its
/// threads are placed: one that stands at such a point has been told of it.
fn points_of(run: &FrozenRun, monitors: &Monitors) -> Vec<(u64, Owner, u32)> {
    let then = run.points().iter().copied();
    let is_meant = |owner: Owner| {
        matches!(owner, Owner::Monitor | Owner::Return | Owner::Schedule) || is_users(owner)
    };
    let mut points: Vec<_> = then.filter(|(_, owner, _)| is_meant(*owner)).collect();
    let internal = monitors.internal_points();
    points.extend(internal.map(|address| (address, Owner::Internal, 1)));
    points
}

/// Returns the hits of the user's points.
fn counts(session: &mut Session) -> Vec<PointCount> {
    let mut counts: Vec<PointCount> = all_points(session)
        .map(|(kind, point)| {
            let condition = point.condition.as_ref().map(|it| it.text.as_str());
            PointCount {
                number: point.number,
                identity: format!(
                    "{} {} {:?} {:?}",
                    kind.word(),
                    point.enabled,
                    point.thread,
                    condition
                ),
                hits: point.hits,
                locations: Vec::new(),
            }
        })
        .collect();
    for breakpoint in session.points.breakpoints.iter() {
        let mut counts = counts.iter_mut();
        let Some(count) = counts.find(|it| it.number == breakpoint.point.number) else {
            continue;
        };
        for location in breakpoint.locations.iter() {
            count.locations.push((location.number, location.hits));
            if !location.enabled {
                count.identity += &format!(" -{}", location.number);
            }
        }
    }
    counts
}

fn put_counts(session: &mut Session, counts: &[PointCount]) {
    let of = |number: u32| counts.iter().find(|it| it.number == number);
    for (_, point) in all_points(session) {
        point.hits = of(point.number).map_or(0, |count| count.hits);
    }
    for breakpoint in session.points.breakpoints.iter_mut() {
        let Some(count) = of(breakpoint.point.number) else {
            continue;
        };
        for location in breakpoint.locations.iter_mut() {
            let mut hits = count.locations.iter();
            let found = hits.find(|(number, _)| *number == location.number);
            location.hits = found.map_or(0, |(_, hits)| *hits);
        }
    }
}

/// Returns whether the hits of all present points are known from before.
fn has_all(then: &[PointCount], now: &[PointCount]) -> bool {
    // A convenience variable may have had another value.
    let is_fixed = |count: &PointCount| !count.identity.contains('$');
    now.iter().all(|count| {
        let mut then = then.iter();
        is_fixed(count) && then.any(|it| it.number == count.number && it.identity == count.identity)
    })
}

fn properties(monitors: &Monitors) -> Vec<(Arc<str>, bool)> {
    let shown = monitors.shown().iter();
    shown
        .map(|monitored| (Arc::clone(&monitored.text), monitored.is_enabled))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(number: u32, identity: &str, hits: u64) -> PointCount {
        PointCount {
            number,
            identity: identity.to_owned(),
            hits,
            locations: Vec::new(),
        }
    }

    #[test]
    fn a_checkpoint_serves_if_it_knows_the_hits_of_all_points() {
        let then = [count(1, "a", 3), count(2, "b", 0)];
        assert!(has_all(&then, &[]) && has_all(&then, &then));
        // One has been deleted.
        assert!(has_all(&then, &[count(2, "b", 7)]));
        // One has been set, or given another condition.
        assert!(!has_all(&then, &[count(3, "a", 0)]));
        assert!(!has_all(&then, &[count(1, "b", 3)]));
        let variable = [count(1, "x == $1", 3)];
        assert!(!has_all(&variable, &variable));
    }
}
