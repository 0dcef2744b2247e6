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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::property_files::PropertySource;
    use crate::samples::{id_of, monitored, take};

    const STATES: &str = "property p
        event a = before a()
        event b = before b()
        state idle accepting { on a -> busy on b -> idle action again }
        state busy accepting action alarm { on b -> idle action done on a -> broken }
        state broken non-accepting final {}\n";

    /// Returns the listeners of a scenario to the first property of a text.
    fn heard(properties: &str, is_enabled: bool, scenario: &str) -> Vec<Listener> {
        let source = PropertySource::new("p.prop", format!("{properties}\n{scenario}"));
        let loaded = source.load_among(&[]);
        let mut diagnostics = loaded.diagnostics.iter();
        assert!(
            diagnostics.all(|it| !it.is_error()),
            "{:?}",
            loaded.diagnostics
        );
        let scenarios = loaded.scenarios.iter().map(|it| (is_enabled, it));
        listeners(scenarios, &loaded.properties[0])
    }

    /// Checks which of the events trigger the only reaction of a scenario.
    #[track_caller]
    fn check(properties: &str, trigger: &str, events: &[(&str, &[i128], bool)]) {
        let scenario = format!("scenario s\non {trigger} {{ print \"it\" }}");
        let listeners = heard(properties, true, &scenario);
        let mut monitored = monitored(properties);
        for (number, (name, values, expected)) in events.iter().enumerate() {
            take(&mut monitored, name, values, 0);
            let event = id_of(&monitored, name);
            let changes = monitored.monitor.changes();
            let is_met = |it: &Listener| changes.iter().any(|change| it.matches(change, event));
            assert_eq!(
                listeners.iter().any(is_met),
                *expected,
                "{trigger}: event {number}"
            );
        }
    }

    #[test]
    fn a_step_that_stays_in_a_state_does_not_enter_it() {
        check(
            STATES,
            "enter idle",
            &[("b", &[], false), ("a", &[], false), ("b", &[], true)],
        );
    }

    #[test]
    fn a_step_that_stays_in_a_state_does_not_leave_it() {
        check(
            STATES,
            "leave idle",
            &[("b", &[], false), ("a", &[], true), ("b", &[], false)],
        );
    }

    #[test]
    fn a_verdict_is_awaited_only_when_it_changes() {
        check(
            STATES,
            "verdict violated",
            &[("a", &[], false), ("a", &[], true)],
        );
        check(
            STATES,
            "verdict presumably satisfied",
            &[("a", &[], false), ("b", &[], false)],
        );
        check(STATES, "verdict", &[("a", &[], false), ("a", &[], true)]);
    }

    #[test]
    fn the_action_of_a_state_is_met_by_entering_it() {
        check(
            STATES,
            "action alarm",
            &[("b", &[], false), ("a", &[], true), ("b", &[], false)],
        );
    }

    #[test]
    fn the_action_of_a_branch_is_met_by_that_branch() {
        check(
            STATES,
            "action done",
            &[("b", &[], false), ("a", &[], false), ("b", &[], true)],
        );
        check(
            STATES,
            "action again",
            &[("b", &[], true), ("a", &[], false), ("b", &[], false)],
        );
    }

    #[test]
    fn branches_between_the_same_states_are_told_apart() {
        let twins = "property p
            event a = before a(n)
            state s accepting { on a when n > 1 -> s action big else -> s action small }\n";
        check(
            twins,
            "action big",
            &[("a", &[5], true), ("a", &[0], false)],
        );
        check(
            twins,
            "action small",
            &[("a", &[5], false), ("a", &[0], true)],
        );
    }

    #[test]
    fn a_word_means_all_states_of_its_sort() {
        check(
            STATES,
            "enter accepting",
            &[("a", &[], true), ("a", &[], false)],
        );
        check(
            STATES,
            "enter non-accepting",
            &[("a", &[], false), ("a", &[], true)],
        );
        check(
            STATES,
            "enter final",
            &[("a", &[], false), ("a", &[], true)],
        );
    }

    #[test]
    fn the_states_of_a_formula_are_accepting_by_their_verdict() {
        let formula = "property p
            event a = before a()
            event b = before b()
            ltl always (a implies eventually b)\n";
        check(
            formula,
            "enter non-accepting",
            &[("a", &[], true), ("b", &[], false)],
        );
        check(
            formula,
            "enter accepting",
            &[("a", &[], false), ("b", &[], true)],
        );
        check(
            formula,
            "leave accepting",
            &[("a", &[], true), ("b", &[], false)],
        );
    }

    #[test]
    fn a_property_hears_the_enabled_reactions_that_are_for_it() {
        let others = format!(
            "{STATES}
            property q
            event c = before c()
            state lone accepting {{ on c -> lone action alarm }}\n"
        );
        let count = |is_enabled, scenario: &str| {
            heard(&others, is_enabled, &format!("scenario s {scenario}")).len()
        };
        assert_eq!(count(true, "\non enter busy { print 1 }"), 1);
        assert_eq!(count(false, "\non enter busy { print 1 }"), 0);
        assert_eq!(count(true, "for q\non enter lone { print 1 }"), 0);
        assert_eq!(count(true, "\non action alarm of q { print 1 }"), 0);
        assert_eq!(count(true, "\non action alarm of p { print 1 }"), 1);
        // A state of the other property alone, and no step of a monitor.
        assert_eq!(count(true, "\non enter lone { print 1 }"), 0);
        assert_eq!(
            count(true, "\non start { print 1 }\non stop { print 1 }"),
            0
        );
    }
}
