//! Random walks through the explored states, with the inputs and operations of
//! the engine on the way.

use super::System;
use super::machine::State;
use super::program::Program;
use super::tests::{disturbed_programs, patched_programs, stepping_programs};
use crate::engine::Rule;
use crate::{Input, Operation, StepBy};

/// The maximum number of actions of a walk.
const LENGTH: usize = 300;

/// A walk of one program.
pub(crate) struct Walk {
    pub(crate) program: String,
    pub(crate) step_by: StepBy,
    pub(crate) steps: Vec<(Input, Vec<Operation>)>,
}

/// Walks of each program, with each disturbance.
pub(crate) fn all(count: u64) -> impl Iterator<Item = Walk> {
    let programs = disturbed_programs().chain(patched_programs());
    programs.flat_map(move |program| (0..count).map(move |seed| walk(&program, seed)))
}

/// Walks of the algorithm without a rule.
pub(crate) fn without(rule: Rule, count: u64) -> impl Iterator<Item = Walk> {
    let programs = stepping_programs().chain(patched_programs());
    programs.flat_map(move |program| {
        let program = Program {
            without: Some(rule),
            ..program
        };
        (0..count).map(move |seed| walk(&program, seed))
    })
}

fn walk(program: &Program, seed: u64) -> Walk {
    let program = &Program {
        records: true,
        ..*program
    };
    let mut state: State = program.initial();
    let mut random = seed.wrapping_mul(2).wrapping_add(1);
    let mut actions = Vec::new();
    let mut steps = Vec::new();
    for _ in 0..LENGTH {
        actions.clear();
        program.actions(&state, &mut actions);
        // Knuth's multiplier; the high bits are the random ones.
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let index = (random >> 33) as usize % actions.len().max(1);
        let Some(&action) = actions.get(index) else {
            break;
        };
        match program.apply(&state, action) {
            Ok(next) => state = next,
            Err(_) => break,
        }
        steps.extend(
            state
                .transcript
                .iter_mut()
                .flat_map(|transcript| transcript.drain(..)),
        );
    }
    Walk {
        program: format!("{program:?}, seed {seed}"),
        step_by: program.step_by,
        steps,
    }
}
