//! Schedules are made small: as few deviations as still fail.
//!
//! A. Zeller, R. Hildebrandt, *Simplifying and Isolating Failure-Inducing Input* (TSE 2002).
//! Deviations are named by the points of their thread, so one can be left out and the others
//! stay where they are.

use crate::choice::Deviation;
use alloc::vec::Vec;

/// A schedule that was made small.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Minimized {
    /// The deviations that are left, in the order in which they happen. The last one is the switch that decides:
    /// from then on all is as usual, and fails.
    pub deviations: Vec<Deviation>,
    /// The number of runs that it took.
    pub runs: u32,
    /// Whether each deviation is needed: without it the run does not fail. Otherwise the runs
    /// were used up before that was known.
    pub is_minimal: bool,
}

/// Returns a part of `deviations`, which fail, that still fails, after at most `runs_max` runs.
/// `fails` makes a run with some of them ([`Replay::of_some`](crate::Replay::of_some)), and says
/// whether it fails in the same way.
///
/// When no single one can be left out, pairs are tried: often one switches to a thread, and the
/// other back.
pub fn minimize(
    deviations: &[Deviation],
    runs_max: u32,
    mut fails: impl FnMut(&[Deviation]) -> bool,
) -> Minimized {
    let mut runs = 0;
    let mut fails_without = |kept: &[Deviation], is_left_out: &dyn Fn(usize) -> bool| {
        if runs == runs_max {
            return Err(UsedUp);
        }
        runs += 1;
        let part: Vec<Deviation> = kept
            .iter()
            .enumerate()
            .filter(|(index, _)| !is_left_out(*index))
            .map(|(_, deviation)| *deviation)
            .collect();
        Ok(fails(&part).then_some(part))
    };
    let mut kept = deviations.to_vec();
    let ended = loop {
        if let Err(ended) = leave_out_parts(&mut kept, &mut fails_without) {
            break Err(ended);
        }
        match leave_out_pair(&mut kept, &mut fails_without) {
            Ok(true) => {}
            Ok(false) => break Ok(()),
            Err(ended) => break Err(ended),
        }
    };
    Minimized {
        deviations: kept,
        runs,
        is_minimal: ended.is_ok(),
    }
}

/// No more runs may be made.
struct UsedUp;

/// Makes a run of those that are kept without some of them, by index. Returns the others if
/// it fails.
type FailsWithout<'a> =
    dyn FnMut(&[Deviation], &dyn Fn(usize) -> bool) -> Result<Option<Vec<Deviation>>, UsedUp> + 'a;

/// Leaves out parts, smaller and smaller ones, until each single one that is kept is needed.
fn leave_out_parts(
    kept: &mut Vec<Deviation>,
    fails_without: &mut FailsWithout<'_>,
) -> Result<(), UsedUp> {
    let mut parts = 1;
    while !kept.is_empty() {
        let length = kept.len().div_ceil(parts);
        let mut found = None;
        for begin in (0..kept.len()).step_by(length) {
            let part = begin..begin + length;
            found = fails_without(kept, &|index| part.contains(&index))?;
            if found.is_some() {
                break;
            }
        }
        match found {
            Some(without) => {
                *kept = without;
                parts = (parts - 1).max(2).min(kept.len().max(1));
            }
            None if length == 1 => break,
            None => parts = (parts * 2).min(kept.len()),
        }
    }
    Ok(())
}

/// Leaves out two at once. Returns false if each pair is needed.
fn leave_out_pair(
    kept: &mut Vec<Deviation>,
    fails_without: &mut FailsWithout<'_>,
) -> Result<bool, UsedUp> {
    for distance in 1..kept.len() {
        for first in 0..kept.len() - distance {
            let pair = [first, first + distance];
            if let Some(without) = fails_without(kept, &|index| pair.contains(&index))? {
                *kept = without;
                return Ok(true);
            }
        }
    }
    Ok(false)
}
