//! The checkpoints of a run that is made again: it goes back from the last one before a place, and
//! not from its start.

use juror_checkpoint::thinning::{Limits, Mark, Thinning};
use juror_debuggee::{FrozenRun, ThreadId};
use juror_monitoring::monitors::{Monitors, ViolatedSlice};
use juror_points::breakpoints::passes::Passes;
use juror_program::program::ProgramState;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The number of checkpoints after which the memory that they hold is measured again.
const MEASURED_EACH: u64 = 4;

/// A saved state of the run and its monitors. What the user has changed since does not go back.
pub(crate) struct Waypoint {
    pub(crate) run: FrozenRun,
    pub(crate) program: ProgramState,
    /// The thread that goes on there.
    pub(crate) thread: ThreadId,
    pub(crate) monitors: Monitors,
    pub(crate) announced: Option<(ThreadId, u64)>,
    pub(crate) last_hit: Option<(ThreadId, u64)>,
    pub(crate) passes: Passes,
    pub(crate) hardware_passes: Passes,
    pub(crate) exit_violations: Vec<ViolatedSlice>,
    pub(crate) counts: Vec<PointCount>,
    /// The texts of the properties that were monitored, and whether they were enabled.
    pub(crate) properties: Vec<(Arc<str>, bool)>,
}

/// The hits of a point so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PointCount {
    pub(crate) number: u32,
    /// The settings on which the number of hits depends.
    pub(crate) identity: String,
    pub(crate) hits: u64,
    /// By the number of the location.
    pub(crate) locations: Vec<(u32, u64)>,
}

/// The checkpoints of a run.
#[derive(Default)]
pub(crate) struct Waypoints {
    thinning: Thinning,
    waypoints: BTreeMap<u64, Waypoint>,
    last: u64,
    /// The time that it has taken to make one, at most of late.
    cost: Duration,
    /// Whether no more can be made in this run.
    is_refused: bool,
}

impl Waypoints {
    /// Returns the last checkpoint before a number of schedule points that serves.
    pub(crate) fn before(
        &self,
        points: u64,
        serves: impl Fn(&Waypoint) -> bool,
    ) -> Option<(Mark, &Waypoint)> {
        let marks = self.thinning.marks().iter().rev();
        let before = marks.filter(|mark| mark.points < points);
        let mut found = before.filter_map(|mark| Some((*mark, self.waypoints.get(&mark.number)?)));
        found.find(|(_, waypoint)| serves(waypoint))
    }

    /// Returns the limits of now, on a way that is short or long.
    pub(crate) fn limits(&self, is_near: bool) -> Limits {
        Limits::with_free(free_bytes()).with_cost(self.cost, is_near)
    }

    /// Returns whether a checkpoint is to be made where the run is.
    pub(crate) fn is_due(&self, points: u64, time: Duration, limits: Limits) -> bool {
        !self.is_refused && self.thinning.is_due(points, time, limits)
    }

    /// Keeps a checkpoint that took so long to make.
    pub(crate) fn keep(
        &mut self,
        (points, time): (u64, Duration),
        waypoint: Waypoint,
        cost: Duration,
        limits: Limits,
    ) {
        self.cost = cost.max(self.cost / 2);
        self.last += 1;
        let number = self.last;
        self.waypoints.insert(number, waypoint);
        if number.is_multiple_of(MEASURED_EACH) {
            for (number, waypoint) in &self.waypoints {
                let bytes = waypoint.run.held_bytes().unwrap_or_default();
                self.thinning.measured(*number, bytes);
            }
        }
        let bytes = self.waypoints.get(&number);
        let mark = Mark {
            number,
            points,
            time,
            bytes: bytes.and_then(|it| it.run.held_bytes()).unwrap_or_default(),
        };
        for dropped in self.thinning.keep(mark, limits) {
            self.waypoints.remove(&dropped);
        }
    }

    /// Drops a checkpoint.
    pub(crate) fn drop(&mut self, number: u64) {
        self.thinning.drop(number);
        self.waypoints.remove(&number);
    }

    /// No more checkpoints are made: it is impossible here.
    pub(crate) fn refuse(&mut self) {
        self.is_refused = true;
    }
}

/// Returns the memory that is free, in bytes; 0 if it is not known.
fn free_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or_default() << 10
}
