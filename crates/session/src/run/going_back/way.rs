//! The way of a walk from where it has set out.

use crate::run::going_back::waypoints::Origin;
use juror_checkpoint::thinning::{Limits, Pace};
use std::time::{Duration, Instant};

/// The time for which a walk is near to where it has set out.
const NEAR: Duration = Duration::from_millis(50);

/// The way of a walk.
#[derive(Debug)]
pub(super) struct Way {
    pub(super) origin: Origin,
    set_out: Instant,
    /// The time of the last look whether a checkpoint is due.
    looked: (u64, Instant),
    pace: Pace,
    /// The number of schedule points at which it is looked next.
    goal: u64,
    /// The time that was not the run's.
    spent: Duration,
}

impl Way {
    pub(super) fn from(origin: Origin) -> Way {
        let now = Instant::now();
        Way {
            origin,
            set_out: now,
            looked: (origin.points(), now),
            pace: Pace::default(),
            goal: 0,
            spent: Duration::ZERO,
        }
    }

    /// The run goes on.
    pub(super) fn begin(&mut self) {
        *self = Way::from(self.origin);
    }

    /// Returns the number of schedule points at which it is looked next, where the run has made some.
    pub(super) fn next_look(&mut self, points: u64) -> u64 {
        self.goal = self.pace.next(self.looked.0).max(points + 1);
        self.goal
    }

    /// Returns whether it is to be looked now.
    pub(super) fn looks(&self, points: u64) -> bool {
        points >= self.goal
    }

    /// Returns the time of the run so far.
    pub(super) fn time(&self) -> Duration {
        let passed = self.set_out.elapsed().saturating_sub(self.spent);
        self.origin.time() + passed
    }

    /// Returns whether the run is near to where it has set out: it goes back to there again most likely.
    pub(super) fn is_near(&self) -> bool {
        self.set_out.elapsed() < NEAR
    }

    /// Notes that it has been looked, for which the time since `begun` was spent.
    pub(super) fn note_look(&mut self, points: u64, begun: Instant, limits: Limits) {
        let (_, before) = self.looked;
        let passed = begun.saturating_duration_since(before);
        self.pace.looked(passed, limits.interval);
        self.spent += begun.elapsed();
        self.looked = (points, Instant::now());
    }

    /// Returns before how many schedule points the walk sets out next, after it has come to so many: the
    /// way is twice as long at least.
    pub(super) fn further_back(&self, points: u64) -> u64 {
        let origin = self.origin.points();
        origin.saturating_sub(points.saturating_sub(origin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_become_twice_as_long() {
        let way = |points| {
            Way::from(Origin::Checkpoint {
                number: 1,
                points,
                time: Duration::ZERO,
            })
        };
        assert_eq!(way(90).further_back(100), 80);
        assert_eq!(way(79).further_back(100), 58);
        assert_eq!(way(40).further_back(100), 0);
        assert_eq!(Way::from(Origin::Start).further_back(100), 0);
    }

    #[test]
    fn a_look_comes_after_the_place_where_the_run_is() {
        let mut way = Way::from(Origin::Start);
        assert_eq!(way.next_look(0), 8);
        assert!(!way.looks(7) && way.looks(8));
        // Something else has happened there.
        assert_eq!(way.next_look(20), 21);
        assert!(!way.looks(20));
    }
}
