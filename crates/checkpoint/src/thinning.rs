//! The checkpoints of a run that are kept: dense near the place from which the run goes back, and ever
//! further apart beyond it, so that their number grows with the logarithm of the run.
//!
//! A run goes back to somewhere near most often. From the last checkpoint before that place it is made
//! again, so what matters of a gap between two checkpoints is its length in proportion to its distance:
//! that checkpoint is dropped which leaves the least such gap.
//!
//! Pure; the checkpoints themselves are the caller's, by their numbers.
//!
//! **Invariant**: never more than the limits are kept, and the marks are in the order of the run.

use std::time::Duration;

/// A checkpoint, by its place in the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// The caller's number of it.
    pub number: u64,
    /// The number of schedule points before it.
    pub points: u64,
    /// The time that the run takes from its start to it.
    pub time: Duration,
    /// The memory that it alone holds, in bytes.
    pub bytes: u64,
}

/// The number of checkpoints that are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most checkpoints.
    pub count: usize,
    /// The most memory, in bytes.
    pub bytes: u64,
    /// The least time of the run between two of them.
    pub interval: Duration,
}

/// The most memory of all checkpoints, and the part of the free memory that they may take.
const BYTES_MAX: u64 = 2 << 30;
const PART_OF_FREE: u64 = 4;

/// The time of a run between two checkpoints, in proportion to the time that it takes to make one: on the
/// way from the start, and near a place.
const FAR_IN_COSTS: u32 = 16;
const NEAR_IN_COSTS: u32 = 2;

/// The least such times: a page that is written after a checkpoint is copied.
const FAR_INTERVAL: Duration = Duration::from_millis(50);
const NEAR_INTERVAL: Duration = Duration::from_millis(5);

impl Limits {
    /// Returns the limits with so much free memory, in bytes.
    pub fn with_free(free: u64) -> Limits {
        Limits {
            count: 24,
            bytes: (free / PART_OF_FREE).min(BYTES_MAX),
            interval: NEAR_INTERVAL,
        }
    }

    /// Returns the limits if it takes so long to make a checkpoint, and whether the way is a short one: on
    /// a long one most of the time is the run's.
    #[must_use]
    pub fn with_cost(self, cost: Duration, is_near: bool) -> Limits {
        let (least, in_costs) = if is_near {
            (NEAR_INTERVAL, NEAR_IN_COSTS)
        } else {
            (FAR_INTERVAL, FAR_IN_COSTS)
        };
        Limits {
            interval: least.max(cost * in_costs),
            ..self
        }
    }
}

/// The checkpoints that are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Thinning {
    /// In the order of the run.
    marks: Vec<Mark>,
}

impl Thinning {
    /// Returns the checkpoints, in the order of the run.
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// Returns the last checkpoint before a number of schedule points.
    pub fn before(&self, points: u64) -> Option<Mark> {
        let marks = self.marks.iter().rev();
        marks.copied().find(|mark| mark.points < points)
    }

    /// Returns whether a checkpoint is to be made where the run is: none is near.
    pub fn is_due(&self, points: u64, time: Duration, limits: Limits) -> bool {
        let at = self.marks.partition_point(|mark| mark.points < points);
        let (before, after) = self.marks.split_at(at);
        let start = Duration::ZERO;
        let last = before.last().map_or(start, |mark| mark.time);
        let is_far = |other: Duration| time.abs_diff(other) >= limits.interval;
        let is_there = after.first().is_some_and(|mark| mark.points == points);
        !is_there && is_far(last) && after.first().is_none_or(|mark| is_far(mark.time))
    }

    /// Keeps a checkpoint that has been made where the run is, and drops others. Returns the numbers of
    /// those that are dropped, which may include it.
    pub fn keep(&mut self, mark: Mark, limits: Limits) -> Vec<u64> {
        let at = self.marks.partition_point(|it| it.points < mark.points);
        // Two walks may differ in their times; their order is that of the run.
        let least = at.checked_sub(1).and_then(|before| self.marks.get(before));
        let time = mark.time.max(least.map_or(Duration::ZERO, |it| it.time));
        let most = self.marks.get(at).map_or(time, |it| it.time);
        let time = time.min(most);
        self.marks.insert(at, Mark { time, ..mark });
        self.thin(time, limits)
    }

    /// Drops checkpoints until the limits hold, for a run that is at a time. Returns their numbers.
    pub fn thin(&mut self, now: Duration, limits: Limits) -> Vec<u64> {
        let mut dropped = Vec::new();
        while self.marks.len() > limits.count || self.bytes() > limits.bytes {
            let Some(least) = self.least(now, limits.interval) else {
                break;
            };
            dropped.push(self.marks.remove(least).number);
        }
        dropped
    }

    /// Notes how much memory a checkpoint holds.
    pub fn measured(&mut self, number: u64, bytes: u64) {
        for mark in self.marks.iter_mut().filter(|it| it.number == number) {
            mark.bytes = bytes;
        }
    }

    /// Drops a checkpoint.
    pub fn drop(&mut self, number: u64) {
        self.marks.retain(|mark| mark.number != number);
    }

    /// Returns the memory of all.
    fn bytes(&self) -> u64 {
        let bytes = self.marks.iter().map(|mark| mark.bytes);
        bytes.fold(0, u64::saturating_add)
    }

    /// Returns the index of the checkpoint that is missed least at a time.
    fn least(&self, now: Duration, interval: Duration) -> Option<usize> {
        let indexes = 0..self.marks.len();
        indexes.min_by(|&one, &other| {
            let ratio = |index| self.ratio_without(index, now, interval);
            ratio(one).total_cmp(&ratio(other))
        })
    }

    /// Returns the gap that is left without a checkpoint, in proportion to its distance from a time.
    fn ratio_without(&self, index: usize, now: Duration, interval: Duration) -> f64 {
        let time = |index: usize| self.marks.get(index).map(|mark| mark.time);
        let before = index.checked_sub(1).and_then(time);
        let before = before.unwrap_or(Duration::ZERO);
        // Beyond the last one the run goes on, at least to where it is.
        let last = time(index).unwrap_or_default().max(now);
        let after = time(index + 1).unwrap_or(last + interval);
        let gap = after.saturating_sub(before);
        let distance = if now > after {
            now - after
        } else if now < before {
            before - now
        } else {
            Duration::ZERO
        };
        gap.as_secs_f64() / (distance + interval).as_secs_f64()
    }
}

/// The number of schedule points after which it is looked next whether a checkpoint is due: about so
/// many as pass in a part of the interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace(u64);

/// The most points between two looks.
const PACE_MAX: u64 = 256;

impl Default for Pace {
    fn default() -> Pace {
        Pace(8)
    }
}

impl Pace {
    /// Returns the number of points of the next look.
    pub fn next(self, points: u64) -> u64 {
        points + self.0
    }

    /// Notes the time since the last look.
    pub fn looked(&mut self, passed: Duration, interval: Duration) {
        self.0 = if passed < interval / 4 {
            (self.0 * 2).min(PACE_MAX)
        } else if passed > interval {
            (self.0 / 4).max(1)
        } else {
            self.0
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn limits(count: usize, bytes: u64) -> Limits {
        Limits {
            count,
            bytes,
            interval: Duration::from_millis(1),
        }
    }

    fn mark(number: u64) -> Mark {
        Mark {
            number,
            points: number,
            time: Duration::from_millis(number),
            bytes: 1,
        }
    }

    /// Returns the checkpoints of a run that was made once, with one each millisecond.
    fn after(length: u64, limits: Limits) -> Thinning {
        let mut thinning = Thinning::default();
        for number in 1..=length {
            assert!(thinning.is_due(number, Duration::from_millis(number), limits));
            thinning.keep(mark(number), limits);
        }
        thinning
    }

    #[test]
    fn checkpoints_thin_out_with_their_distance() {
        for length in [10, 100, 1_000, 20_000] {
            let thinning = after(length, limits(20, 100));
            for distance in 1..length {
                let place = length - distance;
                let found = thinning.before(place + 1).map_or(0, |it| it.points);
                // From the last one before the place the run is made again.
                let again = place - found;
                assert!(
                    again <= 2 * distance + 2,
                    "{again} at {distance} of {length}: {:?}",
                    thinning.marks()
                );
            }
        }
    }

    #[test]
    fn those_after_the_place_are_thinned_as_well() {
        let mut thinning = after(1_000, limits(20, 100));
        let now = Duration::from_millis(10);
        thinning.thin(now, limits(6, 100));
        assert_eq!(thinning.marks().len(), 6);
        assert!(thinning.before(1_001).is_some_and(|it| it.points > 500));
    }

    #[test]
    fn none_is_due_near_another_one() {
        let limits = Limits {
            interval: Duration::from_millis(50),
            ..limits(4, 100)
        };
        let mut thinning = Thinning::default();
        let at = Duration::from_millis;
        assert!(!thinning.is_due(10, at(49), limits));
        assert!(thinning.is_due(10, at(50), limits));
        thinning.keep(mark(60), limits);
        assert!(!thinning.is_due(60, at(500), limits));
        assert!(!thinning.is_due(59, at(30), limits));
        assert!(!thinning.is_due(61, at(100), limits));
        assert!(thinning.is_due(61, at(110), limits));
        assert_eq!(thinning.before(60), None);
        thinning.drop(60);
        assert!(thinning.is_due(60, at(60), limits));
    }

    #[test]
    fn the_pace_follows_the_run() {
        let interval = Duration::from_millis(8);
        let mut pace = Pace::default();
        for _ in 0..10 {
            pace.looked(Duration::from_micros(10), interval);
        }
        assert_eq!(pace.next(5), 5 + PACE_MAX);
        for _ in 0..10 {
            pace.looked(Duration::from_millis(80), interval);
        }
        assert_eq!(pace.next(5), 6);
        let before = pace;
        pace.looked(Duration::from_millis(4), interval);
        assert_eq!(pace, before);
    }

    #[test]
    fn limits_follow_the_free_memory_and_the_cost() {
        assert_eq!(Limits::with_free(1 << 20).bytes, 1 << 18);
        assert_eq!(Limits::with_free(1 << 40).bytes, 2 << 30);
        let free = Limits::with_free(0);
        let slow = |is_near| free.with_cost(Duration::from_millis(10), is_near).interval;
        assert_eq!(slow(false), Duration::from_millis(160));
        assert_eq!(slow(true), Duration::from_millis(20));
        assert_eq!(free.with_cost(Duration::ZERO, true), free);
    }

    /// Returns which checkpoint is dropped, by the definition: without it the largest gap in proportion
    /// to its distance is least, of those gaps that dropping one can make.
    fn dropped_by_definition(marks: &[Mark], now: u64) -> u64 {
        let mut best: Option<(f64, u64)> = None;
        for (index, candidate) in marks.iter().enumerate() {
            let mut rest: Vec<u64> = marks.iter().map(|it| it.time.as_millis() as u64).collect();
            let own = rest.remove(index);
            let before = rest.iter().copied().filter(|it| *it < own).max();
            let after = rest.iter().copied().find(|it| *it > own);
            let (start, end) = (before.unwrap_or(0), after.unwrap_or(own.max(now) + 1));
            let distance = match now {
                now if now > end => now - end,
                now if now < start => start - now,
                _ => 0,
            };
            let ratio = (end - start) as f64 / (distance + 1) as f64;
            if best.is_none_or(|(least, _)| ratio < least) {
                best = Some((ratio, candidate.number));
            }
        }
        best.map_or(0, |(_, number)| number)
    }

    proptest! {
        #[test]
        fn the_one_that_is_missed_least_is_dropped(
            numbers in proptest::collection::btree_set(1_u64..500, 2..12),
            now in 0_u64..600,
        ) {
            let marks: Vec<Mark> = numbers.iter().copied().map(mark).collect();
            let mut thinning = Thinning { marks: marks.clone() };
            let limits = limits(marks.len() - 1, 1_000);
            let dropped = thinning.thin(Duration::from_millis(now), limits);
            prop_assert_eq!(dropped, vec![dropped_by_definition(&marks, now)]);
        }

        #[test]
        fn limits_hold_and_the_order_is_that_of_the_run(
            taken in proptest::collection::vec((1_u64..1_000, 0_u64..1_000, 0_u64..50), 1..60),
            count in 1_usize..10,
            bytes in 0_u64..200,
        ) {
            let limits = limits(count, bytes);
            let mut thinning = Thinning::default();
            let mut living = std::collections::BTreeSet::new();
            for (number, (points, time, bytes)) in (0..).zip(taken) {
                let time = Duration::from_millis(time);
                if !thinning.is_due(points, time, limits) {
                    continue;
                }
                living.insert(number);
                let taken = Mark { number, points, time, bytes };
                for dropped in thinning.keep(taken, limits) {
                    prop_assert!(living.remove(&dropped));
                }
                let marks = thinning.marks();
                prop_assert!(marks.len() <= count && thinning.bytes() <= limits.bytes);
                prop_assert!(marks.is_sorted_by(|one, other| one.points < other.points));
                prop_assert!(marks.is_sorted_by_key(|it| it.time));
                let numbers: std::collections::BTreeSet<u64> =
                    marks.iter().map(|it| it.number).collect();
                prop_assert_eq!(&numbers, &living);
            }
        }
    }
}
