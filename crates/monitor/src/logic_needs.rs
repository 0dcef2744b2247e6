//! The events that an instance of a formula needs in a state.
//!
//! An event is needed if it can change the state: every combination of its effects that
//! is possible for one instance is tried. So the release of a lock is not needed while
//! nobody holds it, and a decided instance needs nothing.

use crate::logic::{LogicStates, is_decided};
use crate::plan::{Plan, StateNeed};
use juror_event::EventId;
use juror_language::{EvaluationError, StateId};

/// Events with more roles, or more guards in one combination, are assumed to change
/// anything.
const COMBINED_MAX: usize = 5;

/// Computes the needs of a state, unless known.
///
/// # Errors
/// If the formula has more states than are kept.
pub(crate) fn ask(
    states: &mut LogicStates,
    plan: &Plan,
    state: StateId,
) -> Result<(), EvaluationError> {
    if states.known_needs(state).is_some() {
        return Ok(());
    }
    let mut needs = Vec::new();
    if !is_decided(states.verdict(state)) {
        for event in 0..plan.property.events.len() {
            let event = EventId(event as u16);
            if can_change(states, plan, state, event)? {
                let always = plan.declared.get(usize::from(event.0)).copied();
                let hoisted = states.effects.captures(event, always.unwrap_or(0));
                needs.push(StateNeed { event, hoisted });
            }
        }
    }
    states.set_needs(state, needs);
    Ok(())
}

fn can_change(
    states: &mut LogicStates,
    plan: &Plan,
    state: StateId,
    event: EventId,
) -> Result<bool, EvaluationError> {
    let roles = plan.roles(event);
    if roles.len() > COMBINED_MAX {
        return Ok(true);
    }
    let guards = (0..64_u32).zip(states.effects.of(event));
    let guarded = guards
        .filter(|(_, effect)| effect.guard.is_some())
        .fold(0_u64, |mask, (number, _)| mask | 1 << number);
    for combination in 1..1_u32 << roles.len() {
        if is_excluded(plan, event, combination) {
            continue;
        }
        let has = |number: &usize| combination >> number & 1 == 1;
        let chosen = roles.iter().enumerate().filter(|(number, _)| has(number));
        let effects = chosen.fold(0, |effects, (_, role)| effects | role.effects);
        // Each effect with a guard may be absent.
        let optional = effects & guarded;
        if optional.count_ones() as usize > COMBINED_MAX {
            return Ok(true);
        }
        let mut away = optional;
        loop {
            let present = effects & !away;
            if present != 0 && states.step(state, event, present)? != state {
                return Ok(true);
            }
            if away == 0 {
                break;
            }
            away = (away - 1) & optional;
        }
    }
    Ok(false)
}

/// Returns true if no instance can have all these roles at once.
fn is_excluded(plan: &Plan, event: EventId, combination: u32) -> bool {
    let roles = plan.roles(event);
    let chosen = || {
        let numbered = roles.iter().enumerate();
        numbered.filter(|(number, _)| combination >> number & 1 == 1)
    };
    chosen().any(|(first, one)| {
        let others = chosen().filter(|(second, _)| *second > first);
        others
            .into_iter()
            .any(|(_, other)| plan.excludes(one, other))
    })
}
