//! An automaton prepared for stepping: the transitions of each state by event, the
//! verdict of each state, and its needs.

use crate::logic::stays_open;
use crate::plan::{Plan, StateNeed};
use crate::slices::copy_values;
use juror_event::{EventId, Value, Verdict};
use juror_language::{
    Branch, Environment, EvaluationError, FlatCondition, FlatUpdates, Property, StateId, Store,
    Transition, branch_number, execute, truth,
};
use std::ops::Range;
use std::sync::Arc;

/// No transition handles the event.
const IGNORED: u32 = u32::MAX;
/// Guards or updates must be evaluated.
const GUARDED: u32 = u32::MAX - 1;

impl Taken {
    /// Returns `Goes`, or `Ignored` if both states are the same.
    #[inline]
    pub(crate) fn to(from: StateId, to: StateId) -> Taken {
        if from == to {
            Taken::Ignored
        } else {
            Taken::Goes(to)
        }
    }

    /// Returns the resulting state.
    #[inline]
    pub(crate) fn leads(self, from: StateId) -> StateId {
        match self {
            Taken::Ignored => from,
            Taken::Goes(to) | Taken::Updates(to) => to,
        }
    }
}

/// An automaton prepared for stepping.
#[derive(Debug)]
pub(crate) struct Automaton {
    pub property: Arc<Property>,
    /// Transitions of all states, grouped by state and event, as positions among those
    /// of the state.
    transitions: Vec<Flat>,
    /// By state and event: the range of the transitions.
    dispatch: Vec<Range<u32>>,
    /// By state and event: the next state if the first transition for the event has
    /// neither guard nor updates.
    direct: Vec<u32>,
    /// By state and event: the next state if the event changes nothing else; the same
    /// state if it changes nothing.
    quick: Vec<u32>,
    /// By event: true if no transition for it has a guard or updates.
    plain: Vec<bool>,
    /// By state.
    verdicts: Vec<Verdict>,
    /// By state: true if its slices are forgotten.
    finals: Vec<bool>,
    /// By state: its needs.
    needs: Vec<Vec<StateNeed>>,
    /// True if some branches differ in their actions only.
    has_twins: bool,
}

/// A transition: its position among those of its state, and the flat forms of its guard
/// and updates, if they have one.
#[derive(Debug)]
struct Flat {
    position: u32,
    guard: Option<FlatCondition>,
    success: Option<FlatUpdates>,
    failure: Option<FlatUpdates>,
}

impl Flat {
    fn new(position: u32, transition: &Transition) -> Flat {
        let failure = transition.failure.as_ref();
        Flat {
            position,
            guard: transition.guard.as_ref().and_then(FlatCondition::new),
            success: FlatUpdates::new(&transition.success.updates),
            failure: failure.and_then(|branch| FlatUpdates::new(&branch.updates)),
        }
    }
}

/// A transition with the flat forms of its guard and updates, as far as they have one.
pub(crate) struct Alternative<'a> {
    pub transition: &'a Transition,
    pub guard: Option<&'a FlatCondition>,
    pub success: Option<&'a FlatUpdates>,
    pub failure: Option<&'a FlatUpdates>,
}

/// A branch that is taken.
struct Chosen<'a> {
    /// Its number in its state.
    number: u32,
    branch: &'a Branch,
    /// The flat form of its updates.
    updates: Option<&'a FlatUpdates>,
}

/// The effect of an event on a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// No effect.
    Ignored,
    /// The slice enters this state; its variables do not change.
    Goes(StateId),
    /// The slice enters this state with new variables.
    Updates(StateId),
}

impl Automaton {
    pub(crate) fn new(plan: &Plan) -> Automaton {
        let property = Arc::clone(&plan.property);
        let mut direct = Vec::new();
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
                        .map(|(position, t): (u32, _)| Flat::new(position, t)),
                );
                dispatch.push(start..count(transitions.len()));
                direct.push(direct_target(active.iter().find(|t| of_event(t))));
            }
        }
        let events = property.events.len();
        let plain = (0..events).map(|event| {
            let column = direct.iter().skip(event).step_by(events.max(1));
            column.into_iter().all(|&target| target != GUARDED)
        });
        let verdicts = verdicts(&property);
        let finals: Vec<bool> = property.states().iter().map(|s| s.is_final).collect();
        let quick = direct.iter().enumerate().map(|(position, &target)| {
            let from = position / events.max(1);
            let to = target as usize;
            let both = verdicts.get(from).zip(verdicts.get(to));
            let stays_open = both.is_some_and(|(before, after)| stays_open(*before, *after));
            let is_quiet = stays_open && finals.get(to) == Some(&false);
            match target {
                IGNORED => count(from),
                _ if target != GUARDED && is_quiet => target,
                _ => GUARDED,
            }
        });
        let twins = |state: &juror_language::State| {
            let mut branches = state.branches();
            branches.any(|(event, _, branch)| state.has_twin(event, branch))
        };
        Automaton {
            has_twins: property.states().iter().any(twins),
            quick: quick.collect(),
            plain: plain.collect(),
            finals,
            verdicts,
            needs: needs(&property, &plan.declared),
            transitions,
            dispatch,
            direct,
            property,
        }
    }

    /// Iterates over the transitions of a state for an event, in the order in which they
    /// are tried, with the flat forms of their guards and updates.
    pub(crate) fn alternatives(
        &self,
        state: StateId,
        event: EventId,
    ) -> impl Iterator<Item = Alternative<'_>> {
        let row = state.index() * self.property.events.len() + usize::from(event.0);
        let range = self.dispatch.get(row).cloned().unwrap_or(0..0);
        let range = range.start as usize..range.end as usize;
        let of_state = self.property.state(state);
        let flat = self.transitions.get(range).unwrap_or(&[]).iter();
        flat.filter_map(move |flat| {
            Some(Alternative {
                transition: of_state?.transitions.get(flat.position as usize)?,
                guard: flat.guard.as_ref(),
                success: flat.success.as_ref(),
                failure: flat.failure.as_ref(),
            })
        })
    }

    /// Returns true if branches of some state differ in their actions only.
    pub(crate) fn has_any_twins(&self) -> bool {
        self.has_twins
    }

    /// Returns true if branches of the state for the event differ in their actions only.
    pub(crate) fn has_twins(&self, state: StateId, event: EventId) -> bool {
        // Few properties have any, and a state may have a thousand branches.
        if !self.has_twins {
            return false;
        }
        let Some(state) = self.property.state(state) else {
            return false;
        };
        let mut branches = state.branches().filter(|(of, _, _)| *of == event);
        branches.any(|(event, _, branch)| state.has_twin(event, branch))
    }

    /// Returns the needs of a state.
    #[inline]
    pub(crate) fn needs(&self, state: StateId) -> &[StateNeed] {
        let needs = self.needs.get(state.index());
        needs.map_or(&[], |needs| needs)
    }

    /// Returns the verdict of a slice in this state.
    #[inline]
    pub(crate) fn verdict(&self, state: StateId) -> Verdict {
        let verdict = self.verdicts.get(state.index()).copied();
        verdict.unwrap_or(Verdict::PresumablySatisfied)
    }

    /// Returns true if slices that enter this state are forgotten.
    #[inline]
    pub(crate) fn is_final(&self, state: StateId) -> bool {
        self.finals.get(state.index()).copied().unwrap_or(false)
    }

    /// Returns the next state if the event changes nothing else: no variables, no final
    /// verdict, and no slice ends.
    #[inline]
    pub(crate) fn quick(&self, state: StateId, event: EventId) -> Option<StateId> {
        let events = self.plain.len();
        let position = state.index() * events + usize::from(event.0);
        let next = *self.quick.get(position)?;
        (next != GUARDED && usize::from(event.0) < events).then_some(StateId(next))
    }

    /// Returns true if no transition for the event depends on its values.
    #[inline]
    pub(crate) fn is_plain(&self, event: EventId) -> bool {
        let plain = self.plain.get(usize::from(event.0));
        plain.copied().unwrap_or(false)
    }

    /// Returns the next state if neither guards nor updates must be evaluated, else
    /// `None`.
    #[inline]
    pub(crate) fn direct(&self, state: StateId, event: EventId) -> Option<Taken> {
        let events = self.property.events.len();
        let column = usize::from(event.0);
        if column >= events {
            return Some(Taken::Ignored);
        }
        match self.direct.get(state.index() * events + column) {
            Some(&GUARDED) => None,
            Some(&IGNORED) | None => Some(Taken::Ignored),
            Some(&target) => Some(Taken::Goes(StateId(target))),
        }
    }

    /// Takes the event in a state, and writes the new values of `variables` to
    /// `environment` if they change.
    ///
    /// After an error the contents of `environment` are unspecified.
    #[inline]
    pub(crate) fn take(
        &self,
        state: StateId,
        variables: &[Value],
        event: EventId,
        captures: &[Value],
        environment: &mut [Value],
    ) -> Result<Taken, EvaluationError> {
        if let Some(taken) = self.direct(state, event) {
            return Ok(taken);
        }
        let Some(chosen) = self.branch(state, variables, event, captures)? else {
            return Ok(Taken::Ignored);
        };
        let Chosen {
            branch, updates, ..
        } = chosen;
        if branch.updates.is_empty() {
            return Ok(Taken::Goes(branch.target));
        }
        copy_values(environment, variables);
        let mut frame = UpdateFrame {
            variables: environment,
            captures,
        };
        if updates.is_none_or(|flat| flat.execute(&mut frame).is_none()) {
            // Some variables may have been assigned.
            copy_values(frame.variables, variables);
            execute(&branch.updates, &mut frame)?;
        }
        Ok(Taken::Updates(branch.target))
    }

    /// Returns the number of the branch that a state took on an event, if the step
    /// alone does not determine it, from the variables before the step.
    pub(crate) fn branch_taken(
        &self,
        state: StateId,
        variables: &[Value],
        event: EventId,
        captures: &[Value],
    ) -> Option<u32> {
        if !self.has_twins {
            return None;
        }
        let taken = self.branch(state, variables, event, captures).ok()?;
        taken.map(|chosen| chosen.number)
    }

    /// Returns the branch that a state takes on an event: the first transition whose
    /// guard holds, or whose guard fails and which has an `else`.
    fn branch(
        &self,
        state: StateId,
        variables: &[Value],
        event: EventId,
        captures: &[Value],
    ) -> Result<Option<Chosen<'_>>, EvaluationError> {
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
        for flat in self.transitions.get(range).unwrap_or(&[]) {
            let Some(transition) = state.transitions.get(flat.position as usize) else {
                continue;
            };
            let quickly = || flat.guard.as_ref()?.truth(&frame);
            let holds = match &transition.guard {
                Some(guard) => match quickly() {
                    Some(holds) => holds,
                    None => truth(guard, &frame)?,
                },
                None => true,
            };
            let number = branch_number(flat.position, holds);
            if holds {
                return Ok(Some(Chosen {
                    number,
                    branch: &transition.success,
                    updates: flat.success.as_ref(),
                }));
            }
            if let Some(failure) = &transition.failure {
                return Ok(Some(Chosen {
                    number,
                    branch: failure,
                    updates: flat.failure.as_ref(),
                }));
            }
        }
        Ok(None)
    }
}

fn direct_target(transition: Option<&Transition>) -> u32 {
    match transition {
        None => IGNORED,
        Some(transition) if transition.guard.is_some() => GUARDED,
        Some(transition) if !transition.success.updates.is_empty() => GUARDED,
        Some(transition) => transition.success.target.0,
    }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// Iterates over the target states of a state's transitions.
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

/// Computes the verdict of each state: decided if no state of the other kind is
/// reachable from it, assuming that every guard can hold.
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

/// Computes for each state whether a state with this `accepting` is reachable from it,
/// including itself: a backward search from those states that visits each edge once.
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

/// The values that a guard reads.
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

/// The values that an update reads and changes.
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
