//! The states of a property, all known before the first event, and what each event does
//! in them.

use super::checks::of_property;
use super::events::row_word;
use super::{Event, Lowering, WordCapture};
use crate::behaviour::Behaviour;
use crate::logic::LogicStates;
use crate::lowering::{Layout, NotNative, Why};
use crate::plan::Plan;
use juror_event::EventId;
use juror_language::{EvaluationError, StateId};
use std::sync::Arc;

/// The maximum number of states.
const STATES_MAX: usize = 1 << 14;
/// The maximum number of guards of the effects of one event.
pub(super) const GUARDS_MAX: usize = 4;

/// Reaches all states of a behaviour; returns it with them.
pub(super) fn explore(plan: &Plan, behaviour: &Behaviour) -> Result<Behaviour, NotNative> {
    let mut behaviour = behaviour.clone();
    if let Behaviour::Logic(states) = &mut behaviour {
        let too_many = |_| of_property(plan, "has too many states");
        let is_whole = reach_all(plan, Arc::make_mut(states)).map_err(too_many)?;
        if !is_whole {
            return Err(of_property(plan, "has too many states"));
        }
        for state in (0..states.count()).map(|it| StateId(it as u32)) {
            behaviour.prepare(plan, state).map_err(too_many)?;
        }
    }
    Ok(behaviour)
}

/// Takes every step from every state; returns false if there are too many.
fn reach_all(plan: &Plan, states: &mut LogicStates) -> Result<bool, EvaluationError> {
    let mut next = 0;
    while next < states.count() {
        for event in (0..plan.property.events.len()).map(|it| EventId(it as u16)) {
            let guards: Vec<u64> = states.effects.guards(event).map(|(bit, _)| bit).collect();
            for row in 0..1_usize << guards.len() {
                let held = guards.iter().enumerate();
                let held = held.filter(|(number, _)| row >> number & 1 == 1);
                let unguarded = states.effects.unguarded(event);
                let effects = held.fold(unguarded, |all, (_, bit)| all | bit);
                if effects != 0 {
                    states.step(StateId(next as u32), event, effects)?;
                }
            }
        }
        next += 1;
        if states.count() > STATES_MAX {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the number of states.
pub(super) fn count(plan: &Plan, behaviour: &Behaviour) -> Result<u32, NotNative> {
    let count = match behaviour {
        Behaviour::Automaton(_) => plan.property.states().len(),
        Behaviour::Logic(states) => states.count(),
        Behaviour::Timed(_) => 0,
    };
    match count {
        1..=STATES_MAX => Ok(count as u32),
        _ => Err(of_property(plan, "has too many states")),
    }
}

/// Returns the number of rows of each event: one for each combination of the guards of a
/// formula's effects.
pub(super) fn rows(plan: &Plan, behaviour: &Behaviour) -> Vec<u32> {
    let of = |event: usize| match behaviour {
        Behaviour::Logic(states) => {
            let guards = states.effects.guards(EventId(event as u16)).count();
            1_u32 << guards.min(31)
        }
        _ => 1,
    };
    (0..plan.property.events.len()).map(of).collect()
}

/// Returns the states that satisfy a condition, one bit each, 64 to a word.
fn bits_of(states: u32, is_such: impl Fn(StateId) -> bool) -> Vec<u64> {
    let mut bits = vec![0_u64; states.div_ceil(64) as usize];
    for state in (0..states).filter(|state| is_such(StateId(*state))) {
        if let Some(word) = bits.get_mut(state as usize / 64) {
            *word |= 1 << (state % 64);
        }
    }
    bits
}

/// Describes an event that binds all parameters; `None` if it does not.
pub(super) fn describe<'a>(
    lowering: &'a Lowering<'_>,
    id: EventId,
    captures: &'a [Option<WordCapture>],
) -> Option<Event<'a>> {
    let states = lowering.layout.sizes.states;
    let need_of = |state: StateId| {
        let needs = lowering.behaviour.needs(state).iter();
        needs.copied().find(|need| need.event == id)
    };
    let event = lowering.plan.property.event(id)?;
    let hoisted = (0..64).zip(&event.captures).filter(|(_, it)| it.hoisted);
    let hoisted: Vec<u32> = hoisted.map(|(slot, _)| slot).collect();
    let needing_captures = hoisted.iter().map(|&slot| {
        let needs = |state| need_of(state).is_some_and(|need| need.hoisted >> slot & 1 == 1);
        (slot, bits_of(states, needs))
    });
    let rows = *lowering.layout.sizes.rows.get(usize::from(id.0))?;
    let (mut guarded, mut gates) = (Vec::new(), Vec::<Why>::new());
    for row in 0..rows {
        for state in (0..states).map(StateId) {
            let word = row_word(lowering, id, row, state);
            if word & Layout::GUARDED != 0 {
                guarded.push(state);
            }
            let why = Why::of_row(word);
            gates.extend(why.filter(|why| !gates.contains(why)));
        }
    }
    Some(Event {
        id,
        captures,
        hoisted: hoisted.iter().fold(0, |mask, slot| mask | 1 << slot),
        keys: match lowering.plan.parameters() {
            0 => &[],
            _ => lowering.plan.whole_slots(id)?,
        },
        needing: bits_of(states, |state| need_of(state).is_some()),
        needing_captures: needing_captures.collect(),
        guarded,
        gates,
    })
}
