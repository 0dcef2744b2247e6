//! Merges the equivalent states of an outline.

use super::{Outline, OutlineState, Passed};
use crate::Guard;
use juror_event::Verdict;
use rustc_hash::FxHashMap;

/// The observations that distinguish states: the verdict, and the blocks of the
/// successors.
type Signature<'a> = (Verdict, Vec<(Guard, usize)>, Vec<(&'a [Passed], usize)>);

/// Returns the outline with one state for each block of equivalent states, numbered in
/// the order of discovery.
pub(super) fn merged(outline: Outline) -> Outline {
    let mut blocks = vec![0; outline.states.len()];
    let mut count = 0;
    loop {
        let mut known: FxHashMap<(usize, Signature<'_>), usize> = FxHashMap::default();
        let next: Vec<usize> = outline
            .states
            .iter()
            .zip(&blocks)
            .map(|(state, block)| {
                let fresh = known.len();
                *known
                    .entry((*block, signature(state, *block, &blocks)))
                    .or_insert(fresh)
            })
            .collect();
        let divided = known.len();
        blocks = next;
        if divided == count {
            break;
        }
        count = divided;
    }
    let mut states: Vec<Option<OutlineState>> = vec![None; count];
    for (state, block) in outline.states.iter().zip(&blocks) {
        if let Some(place @ None) = states.get_mut(*block) {
            let (verdict, steps, passing) = signature(state, *block, &blocks);
            let passing = passing.into_iter();
            *place = Some(OutlineState {
                verdict,
                steps,
                passing: passing.map(|(passed, to)| (passed.to_vec(), to)).collect(),
            });
        }
    }
    Outline {
        states: states.into_iter().flatten().collect(),
    }
}

/// Returns the signature of a state. Passing time that leads to a state of the same block
/// is left out.
fn signature<'a>(state: &'a OutlineState, own: usize, blocks: &[usize]) -> Signature<'a> {
    let block = |to: usize| blocks.get(to).copied().unwrap_or(0);
    let steps = state.steps.iter();
    let passing = state.passing.iter();
    (
        state.verdict,
        steps.map(|(guard, to)| (*guard, block(*to))).collect(),
        passing
            .map(|(passed, to)| (passed.as_slice(), block(*to)))
            .filter(|(_, to)| *to != own)
            .collect(),
    )
}
