//! Regions: equivalence of timed states, and the next time at which the region changes.

use super::{DemandedClause, NoOutline, Passed, PastKey, Phase, Skeleton};
use crate::clause::{Clause, Window};
use crate::normal::{FormulaId, Tracked};
use crate::timed::OperatorMemory;
use crate::{Bound, Formula, TimedMachine, TimedState};
use std::collections::BTreeSet;

/// Minimum unit in nanoseconds: leaves room for the fractions of a region.
const WITHIN_UNIT_MIN: u64 = 1_000;
/// Maximum time of a region, in units; it is beyond the longest bound.
const UNITS_MAX: u64 = 100_000;
/// The step number of every region.
const STEPS: u64 = 1 << 40;

/// The clock of the regions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    /// Unit in nanoseconds.
    unit: u64,
    /// The time of every region.
    now: u64,
}

impl Clock {
    /// Returns a clock whose unit is the greatest common divisor of the bounds; `None` if
    /// that is too small.
    pub(super) fn of_bounds(ends: &[u64]) -> Option<Clock> {
        let longest = ends.iter().copied().max().unwrap_or(0);
        let unit = match ends.iter().copied().fold(0, greatest_divisor) {
            0 => WITHIN_UNIT_MIN,
            unit => unit,
        };
        let units = longest / unit + 2;
        (unit >= WITHIN_UNIT_MIN && units <= UNITS_MAX).then_some(Clock {
            unit,
            now: unit * units,
        })
    }

    /// Returns the representative state of a region.
    pub(super) fn region(self, machine: &TimedMachine, mut state: TimedState) -> TimedState {
        let now = state.now;
        for (operator_memory, bound) in state.memory.iter_mut().zip(bounds(machine)) {
            forget(operator_memory, bound, state.now, state.steps);
        }
        let fractions: BTreeSet<u64> = clocks(machine, &state)
            .map(|time| self.fraction(time, state.now))
            .filter(|fraction| *fraction != 0)
            .collect();
        // Spaced evenly: only the order matters.
        let gap = self.unit / (fractions.len() as u64 + 1);
        let moved = |time: u64, now: u64| {
            let (units, fraction) = self.distance(time, now);
            let place = fractions.range(..fraction).count() as u64 + 1;
            let fraction = match fraction {
                0 => 0,
                _ => place * gap,
            };
            let distance = units * i128::from(self.unit) + i128::from(fraction);
            u64::try_from(i128::from(self.now) + distance).unwrap_or(0)
        };
        for clause in state.positive.iter_mut().chain(&mut state.negative) {
            for atom in &mut clause.atoms {
                if let Window::Time { from, to } = &mut atom.window {
                    if *from != 0 {
                        *from = moved(*from, now);
                    }
                    *to = to.map(|to| moved(to, now));
                }
            }
            clause.atoms.sort_unstable();
        }
        state.positive.sort_unstable();
        state.negative.sort_unstable();
        let steps = state.steps;
        for (operator_memory, bound) in state.memory.iter_mut().zip(bounds(machine)) {
            if let OperatorMemory::Since(times) = operator_memory {
                for time in times {
                    *time = match bound {
                        Bound::Steps { .. } => STEPS - (steps - *time).min(STEPS),
                        _ => moved(*time, now),
                    };
                }
            }
        }
        (state.now, state.steps) = (self.now, STEPS);
        state
    }

    /// Returns the next time at which another region starts; `None` if the future does
    /// not depend on time.
    pub(super) fn next(self, machine: &TimedMachine, state: &TimedState) -> Option<u64> {
        let fractions: BTreeSet<u64> = clocks(machine, state)
            .map(|time| self.fraction(time, state.now))
            .collect();
        let nearest = fractions.iter().copied().find(|fraction| *fraction != 0);
        let step = match (fractions.contains(&0), nearest) {
            (false, None) => return None,
            (false, Some(nearest)) => nearest,
            // A time after one of them, and before the next.
            (true, nearest) => nearest.unwrap_or(self.unit) / 2,
        };
        Some(state.now + step)
    }

    /// Returns the distance of a time from now: whole units, and the remainder.
    fn distance(self, time: u64, now: u64) -> (i128, u64) {
        let distance = i128::from(time) - i128::from(now);
        let unit = i128::from(self.unit);
        (distance.div_euclid(unit), distance.rem_euclid(unit) as u64)
    }

    fn fraction(self, time: u64, now: u64) -> u64 {
        self.distance(time, now).1
    }
}

fn greatest_divisor(a: u64, b: u64) -> u64 {
    match b {
        0 => a,
        _ => greatest_divisor(b, a % b),
    }
}

/// Returns the bounds of the past operators, in the order of the memory.
fn bounds(machine: &TimedMachine) -> impl Iterator<Item = Bound> + '_ {
    let tracked = machine.arena().tracked().iter();
    tracked.map(|tracked| match tracked {
        Tracked::Since { bound, .. } => *bound,
        _ => Bound::Unbounded,
    })
}

/// Drops times that have left their bound, and normalises those that are within it for
/// good.
fn forget(operator_memory: &mut OperatorMemory, bound: Bound, now: u64, steps: u64) {
    let (from, to, now) = match bound {
        Bound::Unbounded => return,
        Bound::Steps { from, to } => (u64::from(from), to.map(u64::from), steps),
        Bound::Time { from, to } => (from, to, now),
    };
    let OperatorMemory::Since(times) = operator_memory else {
        return;
    };
    match to {
        Some(to) => times.retain(|time| now - *time <= to),
        None => {
            for time in times {
                *time = (*time).max(now.saturating_sub(from));
            }
        }
    }
}

/// Returns the times of a state that the future depends on.
fn clocks<'a>(machine: &'a TimedMachine, state: &'a TimedState) -> impl Iterator<Item = u64> + 'a {
    let clauses = state.positive.iter().chain(&state.negative);
    let windows = clauses.flat_map(|clause| &clause.atoms);
    let windows = windows.flat_map(|atom| match atom.window {
        Window::Time { from, to } => [(from != 0).then_some(from), to],
        _ => [None, None],
    });
    let memory = state.memory.iter().zip(bounds(machine));
    let memory = memory.flat_map(|(operator_memory, bound)| {
        let times: Vec<u64> = match (operator_memory, bound) {
            (OperatorMemory::Since(times), Bound::Time { from, to }) => {
                let counts = |time: &u64| to.is_some() || state.now - *time < from;
                times.iter().copied().filter(counts).collect()
            }
            _ => Vec::new(),
        };
        times
    });
    windows.flatten().chain(memory)
}

impl TimedMachine {
    /// Returns a state without its times.
    pub(super) fn skeleton(&self, state: &TimedState) -> Result<Skeleton, NoOutline> {
        let side = |clauses: &[Clause]| {
            let mut side: Vec<DemandedClause> = clauses
                .iter()
                .map(|clause| self.demanded(clause, state.now))
                .collect::<Result<_, _>>()?;
            side.sort_unstable();
            Ok::<_, NoOutline>(side)
        };
        let memory = state.memory.iter().zip(bounds(self)).enumerate();
        let memory = memory.map(|(index, (operator_memory, bound))| {
            Ok(match (operator_memory, bound) {
                (OperatorMemory::Held(held), _) => PastKey::Held(*held),
                (OperatorMemory::Since(times), Bound::Time { from, .. }) => {
                    if times.len() > 1 {
                        return Err(NoOutline::Waits(self.past(index)));
                    }
                    let phase = |time: &u64| {
                        if state.now - *time < from {
                            Phase::Before
                        } else {
                            Phase::Inside
                        }
                    };
                    PastKey::Since(times.front().map(phase))
                }
                (OperatorMemory::Since(times), _) => {
                    PastKey::Steps(times.iter().map(|time| state.steps - *time).collect())
                }
            })
        });
        Ok((
            side(&state.positive)?,
            side(&state.negative)?,
            memory.collect::<Result<_, _>>()?,
        ))
    }

    fn demanded(&self, clause: &Clause, now: u64) -> Result<DemandedClause, NoOutline> {
        let mut atoms = Vec::with_capacity(clause.atoms.len());
        let mut timed: BTreeSet<FormulaId> = BTreeSet::new();
        for atom in &clause.atoms {
            let phase = match atom.window {
                Window::Time { from, .. } => {
                    if !timed.insert(atom.formula) {
                        return Err(NoOutline::Waits(self.arena().formula(atom.formula, None)));
                    }
                    if from > now {
                        Phase::Before
                    } else {
                        Phase::Inside
                    }
                }
                window => Phase::Untimed(window),
            };
            atoms.push((atom.formula, phase));
        }
        atoms.sort_unstable();
        Ok((clause.strong, atoms))
    }

    fn past(&self, index: usize) -> Formula {
        match self.arena().tracked().get(index) {
            Some(Tracked::Since {
                keeps,
                starts,
                bound,
                ..
            }) => Formula::Since(
                self.arena().formula(*keeps, None).into(),
                self.arena().formula(*starts, None).into(),
                *bound,
            ),
            _ => Formula::True,
        }
    }

    /// Returns the ends of bounds that pass if time advances in a state.
    pub(super) fn passed(&self, state: &TimedState, later: u64) -> Vec<Passed> {
        let of = |side: &[Clause]| -> BTreeSet<(FormulaId, bool)> {
            let atoms = side.iter().flat_map(|clause| &clause.atoms);
            let passed = atoms.filter_map(|atom| match atom.window {
                Window::Time { to: Some(to), .. } if to < later => Some((atom.formula, true)),
                Window::Time { from, .. } if from > state.now && from <= later => {
                    Some((atom.formula, false))
                }
                _ => None,
            });
            passed.collect()
        };
        let mut found: BTreeSet<Passed> = BTreeSet::new();
        let mut named = of(&state.positive);
        // Waits of the negation are reported as the formula states them.
        let ends = |(formula, is_over): (FormulaId, bool)| (self.arena().bound(formula), is_over);
        let own: Vec<(Bound, bool)> = named.iter().copied().map(ends).collect();
        let others = of(&state.negative).into_iter();
        named.extend(others.filter(|other| !own.contains(&ends(*other))));
        for (formula, is_over) in named {
            let after_ns = end_of(self.arena().bound(formula), is_over);
            let part = self.arena().formula(formula, None);
            found.insert(Passed {
                after_ns,
                is_over,
                part,
            });
        }
        let memory = state.memory.iter().zip(bounds(self)).enumerate();
        for (index, (operator_memory, bound)) in memory {
            let (OperatorMemory::Since(times), Bound::Time { from, to }) = (operator_memory, bound)
            else {
                continue;
            };
            for time in times {
                let age = |now: u64| now - *time;
                let begins = age(state.now) < from && age(later) >= from;
                let is_over = to.is_some_and(|to| age(state.now) <= to && age(later) > to);
                if begins || is_over {
                    found.insert(Passed {
                        after_ns: end_of(bound, is_over),
                        is_over,
                        part: self.past(index),
                    });
                }
            }
        }
        found.into_iter().collect()
    }
}

fn end_of(bound: Bound, is_over: bool) -> u64 {
    match (bound, is_over) {
        (Bound::Time { to: Some(to), .. }, true) => to,
        (Bound::Time { from, .. }, _) => from,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_of_time_divides_all_bounds() {
        let max = UNITS_MAX * 1_000;
        for (ends, expected) in [
            (&[][..], Some((1_000, 2_000))),
            (&[0], Some((1_000, 2_000))),
            (&[5_000_000], Some((5_000_000, 15_000_000))),
            (&[4_000, 0, 6_000], Some((2_000, 10_000))),
            (&[5_000, 4_000], Some((1_000, 7_000))),
            // The unit is too small, or the longest bound has too many of them.
            (&[5_000, 4_001], None),
            (&[999], None),
            (&[1_000, max - 2_000], Some((1_000, max))),
            (&[1_000, max - 1_000], None),
        ] {
            let clock = Clock::of_bounds(ends);
            let found = clock.map(|clock| (clock.unit, clock.now));
            assert_eq!(found, expected, "{ends:?}");
        }
    }
}
