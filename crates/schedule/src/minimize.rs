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
    /// What is left, in the order in which it happens. The last one is the switch that decides:
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
pub fn minimize(
    deviations: &[Deviation],
    runs_max: u32,
    mut fails: impl FnMut(&[Deviation]) -> bool,
) -> Minimized {
    let mut kept = deviations.to_vec();
    let mut runs = 0;
    let mut parts = 1;
    while !kept.is_empty() {
        let length = kept.len().div_ceil(parts);
        let found = (0..parts).find_map(|part| {
            let begin = part * length;
            let end = kept.len().min(begin + length);
            if runs == runs_max || begin >= end {
                return None;
            }
            let without: Vec<Deviation> = kept
                .iter()
                .enumerate()
                .filter(|(index, _)| !(begin..end).contains(index))
                .map(|(_, deviation)| *deviation)
                .collect();
            runs += 1;
            fails(&without).then_some(without)
        });
        match found {
            Some(without) => {
                kept = without;
                parts = (parts - 1).max(2).min(kept.len().max(1));
            }
            None if runs == runs_max => break,
            None if length == 1 => {
                return Minimized {
                    deviations: kept,
                    runs,
                    is_minimal: true,
                };
            }
            None => parts = (parts * 2).min(kept.len()),
        }
    }
    Minimized {
        is_minimal: kept.is_empty(),
        deviations: kept,
        runs,
    }
}
