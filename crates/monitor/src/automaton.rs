//! What can be known of a property before its first event: which transitions
//! a state has for an event, what each state's verdict is, what it needs.

use crate::slices::copy_values;
use juror_event::{EventId, Value, Verdict};
use juror_language::{
    Branch, Environment, EvaluationError, Property, StateId, Store, Transition, execute, truth,
};
use std::ops::Range;
use std::sync::Arc;

/// What a state needs of one event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StateNeed {
    pub event: EventId,
    /// The hoisted captures that its transitions use.
    pub hoisted: u64,
}

/// A property prepared for stepping.
#[derive(Debug)]
pub(crate) struct Automaton {
    pub property: Arc<Property>,
    /// Transitions of all states, grouped by state and event, as positions
    /// among those of the state.
    transitions: Vec<u32>,
    /// Row by row of states: where the transitions for each event are.
    dispatch: Vec<Range<u32>>,
    /// By state.
    verdicts: Vec<Verdict>,
    /// By state: what it needs.
    pub needs: Vec<Vec<StateNeed>>,
    /// By event: which slice parameters it binds.
    masks: Vec<u32>,
    /// By event: the captures that are always read.
    pub declared: Vec<u64>,
}

impl Automaton {
    pub(crate) fn new(property: Arc<Property>) -> Automaton {
        let mut transitions = Vec::new();
        let mut dispatch = Vec::new();
        for state in property.states() {
            // A slice in a final state is never updated.
            let active = if state.is_final {
                &[][..]
            } else {
                &state.transitions
            };
            for event in 0..property.events.len() {
                let start = count(transitions.len());
                let of_event = |t: &Transition| usize::from(t.event.0) == event;
                transitions.extend(
                    (0..)
                        .zip(active)
                        .filter(|(_, t)| of_event(t))
                        .map(|(position, _): (u32, _)| position),
                );
                dispatch.push(start..count(transitions.len()));
            }
        }
        let events = || (0..property.events.len()).map(|event| EventId(event as u16));
        let declared: Vec<u64> = events().map(|e| property.declared_captures(e)).collect();
        Automaton {
            verdicts: verdicts(&property),
            needs: needs(&property, &declared),
            masks: masks(&property),
            transitions,
            dispatch,
            declared,
            property,
        }
    }

    /// The verdict of a slice in this state.
    pub(crate) fn verdict(&self, state: StateId) -> Verdict {
        let verdict = self.verdicts.get(state.index()).copied();
        verdict.unwrap_or(Verdict::PresumablySatisfied)
    }

    /// Which slice parameters an event binds; bit n is parameter n.
    pub(crate) fn mask(&self, event: EventId) -> u32 {
        self.masks.get(usize::from(event.0)).copied().unwrap_or(0)
    }

    /// The distinct sets of slice parameters that events bind.
    pub(crate) fn distinct_masks(&self) -> Vec<u32> {
        let mut masks = self.masks.clone();
        masks.sort_unstable();
        masks.dedup();
        masks
    }

    /// True when slices that get into this state are forgotten.
    pub(crate) fn is_final(&self, state: StateId) -> bool {
        self.property.state(state).is_some_and(|s| s.is_final)
    }

    /// Takes the event in a state: the next state, and in `environment` what
    /// `variables` become. Nothing when no transition is taken.
    ///
    /// After an error `environment` means nothing.
    pub(crate) fn take(
        &self,
        state: StateId,
        variables: &[Value],
        event: EventId,
        captures: &[Value],
        environment: &mut [Value],
    ) -> Result<Option<StateId>, EvaluationError> {
        let Some(branch) = self.branch(state, variables, event, captures)? else {
            return Ok(None);
        };
        copy_values(environment, variables);
        if !branch.updates.is_empty() {
            let mut frame = UpdateFrame {
                variables: environment,
                captures,
            };
            execute(&branch.updates, &mut frame)?;
        }
        Ok(Some(branch.target))
    }

    /// The branch that a state takes on an event: transitions in order, the
    /// first whose guard holds, or fails and has an `else`.
    fn branch(
        &self,
        state: StateId,
        variables: &[Value],
        event: EventId,
        captures: &[Value],
    ) -> Result<Option<&Branch>, EvaluationError> {
        let events = self.property.events.len();
        let row = state.index() * events + usize::from(event.0);
        let range = match self.dispatch.get(row) {
            Some(range) if usize::from(event.0) < events => {
                range.start as usize..range.end as usize
            }
            _ => return Ok(None),
        };
        let Some(state) = self.property.state(state) else {
            return Ok(None);
        };
        let frame = GuardFrame {
            variables,
            captures,
        };
        for &position in self.transitions.get(range).unwrap_or(&[]) {
            let Some(transition) = state.transitions.get(position as usize) else {
                continue;
            };
            let holds = match &transition.guard {
                Some(guard) => truth(guard, &frame)?,
                None => true,
            };
            if holds {
                return Ok(Some(&transition.success));
            }
            if let Some(failure) = &transition.failure {
                return Ok(Some(failure));
            }
        }
        Ok(None)
    }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// The states that a state's transitions lead to.
fn successors(state: &juror_language::State) -> impl Iterator<Item = usize> + '_ {
    let transitions = if state.is_final {
        &[][..]
    } else {
        &state.transitions
    };
    transitions.iter().flat_map(|transition| {
        let failure = transition.failure.iter();
        std::iter::once(&transition.success)
            .chain(failure)
            .map(|branch| branch.target.index())
    })
}

/// The verdict of each state: decided when no state of the other sort can be
/// reached from it (guards are taken to be able to hold).
fn verdicts(property: &Property) -> Vec<Verdict> {
    let reaches_accepting = reaching(property, true);
    let reaches_other = reaching(property, false);
    let sorts = reaches_accepting.into_iter().zip(reaches_other);
    let states = property.states().iter().zip(sorts);
    states
        .map(|(state, sorts)| match (state.accepting, sorts) {
            (true, (_, false)) => Verdict::Satisfied,
            (true, _) => Verdict::PresumablySatisfied,
            (false, (false, _)) => Verdict::Violated,
            (false, _) => Verdict::PresumablyViolated,
        })
        .collect()
}

/// For each state, whether a state with this `accepting` is reached from it,
/// itself included: backwards from those states, each edge looked at once.
fn reaching(property: &Property, accepting: bool) -> Vec<bool> {
    let mut predecessors = vec![Vec::new(); property.states().len()];
    for (position, state) in property.states().iter().enumerate() {
        for successor in successors(state) {
            if let Some(list) = predecessors.get_mut(successor) {
                list.push(position);
            }
        }
    }
    let mut reaching = vec![false; property.states().len()];
    let states = property.states().iter().enumerate();
    let mut pending: Vec<usize> = states
        .filter(|(_, state)| state.accepting == accepting)
        .map(|(position, _)| position)
        .collect();
    while let Some(position) = pending.pop() {
        match reaching.get_mut(position) {
            Some(seen) if !*seen => *seen = true,
            _ => continue,
        }
        pending.extend(predecessors.get(position).into_iter().flatten().copied());
    }
    reaching
}

fn needs(property: &Property, declared: &[u64]) -> Vec<Vec<StateNeed>> {
    let of_state = |state: &juror_language::State| {
        let mut needs: Vec<StateNeed> = Vec::new();
        let active = if state.is_final {
            &[][..]
        } else {
            &state.transitions
        };
        for transition in active {
            let always = declared.get(usize::from(transition.event.0));
            let hoisted = transition.captures & !always.copied().unwrap_or(0);
            match needs.iter_mut().find(|n| n.event == transition.event) {
                Some(need) => need.hoisted |= hoisted,
                None => needs.push(StateNeed {
                    event: transition.event,
                    hoisted,
                }),
            }
        }
        needs
    };
    property.states().iter().map(of_state).collect()
}

fn masks(property: &Property) -> Vec<u32> {
    let of_event = |binding: &Vec<Option<u8>>| {
        (0..32)
            .zip(binding)
            .filter(|(_, slot)| slot.is_some())
            .fold(0, |mask, (parameter, _): (u32, _)| mask | 1 << parameter)
    };
    property.bindings.iter().map(of_event).collect()
}

/// What a guard sees.
struct GuardFrame<'a> {
    variables: &'a [Value],
    captures: &'a [Value],
}

impl Environment for GuardFrame<'_> {
    fn variable(&self, slot: u16) -> Option<&Value> {
        self.variables.get(usize::from(slot))
    }

    fn capture(&self, slot: u8) -> Option<&Value> {
        self.captures.get(usize::from(slot))
    }
}

/// What an update sees and changes.
struct UpdateFrame<'a> {
    variables: &'a mut [Value],
    captures: &'a [Value],
}

impl Environment for UpdateFrame<'_> {
    fn variable(&self, slot: u16) -> Option<&Value> {
        self.variables.get(usize::from(slot))
    }

    fn capture(&self, slot: u8) -> Option<&Value> {
        self.captures.get(usize::from(slot))
    }
}

impl Store for UpdateFrame<'_> {
    fn assign(&mut self, slot: u16, value: Value) {
        if let Some(variable) = self.variables.get_mut(usize::from(slot)) {
            *variable = value;
        }
    }
}
