//! The triggers of reactions, resolved to numbers.
//!
//! **Invariant**: whether a step of a monitor concerns a reaction is decided from the numbers of
//! states and events, without a name and without allocating.

use juror_event::{EventId, Verdict};
use juror_language::{Property, Reaction, Scenario, StateId, StateName, Trigger};
use juror_monitor::Change;

/// A reaction of a scenario, by their positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReactionId {
    /// The position of the scenario.
    pub scenario: u32,
    /// The position of the reaction in it.
    pub reaction: u32,
}

/// A reaction that waits for the steps of one monitor.
#[derive(Debug, Clone, PartialEq)]
pub struct Listener {
    /// The reaction.
    pub id: ReactionId,
    awaited: Awaited,
}

/// A trigger, resolved for one property.
#[derive(Debug, Clone, PartialEq)]
enum Awaited {
    Enter(States),
    Leave(States),
    /// A verdict, as a mask of [`verdict_bit`].
    Verdict(u8),
    Action {
        /// By state number: whether the state has the action.
        states: Box<[bool]>,
        /// The branches of transitions that have the action.
        branches: Box<[Awaiting]>,
    },
}

/// A branch of a transition.
#[derive(Debug, Clone, PartialEq)]
struct Awaiting {
    from: StateId,
    event: EventId,
    to: StateId,
    /// The number of the branch, if the step alone does not determine it.
    number: Option<u32>,
}

impl Awaiting {
    fn is_taken_by(&self, change: &Change, event: EventId) -> bool {
        (self.from, self.event, self.to) == (change.from, event, change.to)
            && (self.number.is_none() || self.number == change.branch)
    }
}

/// A set of states of a property.
#[derive(Debug, Clone, PartialEq)]
pub struct States {
    /// By state number, for an automaton.
    numbered: Box<[bool]>,
    /// For a formula, whose states have no names: the accepting states.
    accepting: bool,
    /// For a formula: the non-accepting states.
    non_accepting: bool,
    is_automaton: bool,
}

impl States {
    /// Resolves state names for a property.
    pub fn of(names: &[StateName], property: &Property) -> States {
        let is_meant = |state: &juror_language::State| {
            names.iter().any(|name| match name {
                StateName::Named(name) => *state.name == **name,
                StateName::Accepting => state.accepting,
                StateName::NonAccepting => !state.accepting,
                StateName::Final => state.is_final,
            })
        };
        States {
            numbered: property.states().iter().map(is_meant).collect(),
            accepting: names.contains(&StateName::Accepting),
            non_accepting: names.contains(&StateName::NonAccepting),
            is_automaton: !property.states().is_empty(),
        }
    }

    /// Returns whether the set is empty.
    fn is_empty(&self) -> bool {
        if self.is_automaton {
            !self.numbered.contains(&true)
        } else {
            !self.accepting && !self.non_accepting
        }
    }

    /// Returns whether a state is in the set.
    pub fn contains(&self, state: StateId, verdict: Verdict) -> bool {
        if self.is_automaton {
            return self.numbered.get(state.index()).copied().unwrap_or(false);
        }
        if accepts(verdict) {
            self.accepting
        } else {
            self.non_accepting
        }
    }
}

fn accepts(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Satisfied | Verdict::PresumablySatisfied)
}

fn verdict_bit(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Satisfied => 1,
        Verdict::PresumablySatisfied => 2,
        Verdict::PresumablyViolated => 4,
        Verdict::Violated => 8,
    }
}

impl Listener {
    /// Resolves a reaction for one property; `None` if it does not concern the property.
    pub fn of(id: ReactionId, reaction: &Reaction, property: &Property) -> Option<Listener> {
        if reaction
            .property
            .as_ref()
            .is_some_and(|name| **name != *property.name)
        {
            return None;
        }
        let awaited = match &reaction.trigger {
            Trigger::Enter(names) => Awaited::Enter(some(States::of(names, property))?),
            Trigger::Leave(names) => Awaited::Leave(some(States::of(names, property))?),
            Trigger::Verdict(verdicts) => {
                let bits = verdicts.iter().map(|&verdict| verdict_bit(verdict));
                Awaited::Verdict(bits.fold(0, |all, bit| all | bit))
            }
            Trigger::Action(name) => action(name, property)?,
            Trigger::Start | Trigger::Exit | Trigger::Stop | Trigger::Signal(_) => return None,
        };
        Some(Listener { id, awaited })
    }

    /// Returns whether a step of a slice triggers the reaction.
    pub fn matches(&self, change: &Change, event: EventId) -> bool {
        // A slice that was just created was not in the state of its parent.
        let moves = change.from != change.to;
        match &self.awaited {
            Awaited::Enter(states) => moves && states.contains(change.to, change.verdict_after),
            Awaited::Leave(states) => moves && states.contains(change.from, change.verdict_before),
            Awaited::Verdict(bits) => {
                change.verdict_before != change.verdict_after
                    && bits & verdict_bit(change.verdict_after) != 0
            }
            Awaited::Action { states, branches } => {
                let enters = states.get(change.to.index()).copied().unwrap_or(false);
                let mut branches = branches.iter();
                (moves && enters) || branches.any(|it| it.is_taken_by(change, event))
            }
        }
    }
}

fn some(states: States) -> Option<States> {
    (!states.is_empty()).then_some(states)
}

fn action(name: &str, property: &Property) -> Option<Awaited> {
    let is_meant = |action: &Option<Box<str>>| action.as_deref() == Some(name);
    let states: Box<[bool]> = property
        .states()
        .iter()
        .map(|it| is_meant(&it.action))
        .collect();
    let mut awaited = Vec::new();
    for (from, state) in (0..).map(StateId).zip(property.states()) {
        let branches = state.branches();
        for (event, number, branch) in branches.filter(|(.., it)| is_meant(&it.action)) {
            let is_needed = state.has_twin(event, branch);
            awaited.push(Awaiting {
                from,
                event,
                to: branch.target,
                number: is_needed.then_some(number),
            });
        }
    }
    let is_any = states.contains(&true) || !awaited.is_empty();
    is_any.then(|| Awaited::Action {
        states,
        branches: awaited.into(),
    })
}

/// Returns the reactions of scenarios to the steps of a property's monitor, in the order of the
/// scenarios. `is_enabled` says which scenarios are enabled.
pub fn listeners<'s>(
    scenarios: impl IntoIterator<Item = (bool, &'s Scenario)>,
    property: &Property,
) -> Vec<Listener> {
    let mut listeners = Vec::new();
    for (number, (is_enabled, scenario)) in (0..).zip(scenarios) {
        let is_for = scenario.properties.is_empty()
            || scenario
                .properties
                .iter()
                .any(|name| **name == *property.name);
        if !is_enabled || !is_for {
            continue;
        }
        for (position, reaction) in (0..).zip(&scenario.reactions) {
            let id = ReactionId {
                scenario: number,
                reaction: position,
            };
            listeners.extend(Listener::of(id, reaction, property));
        }
    }
    listeners
}
