//! A checked property: names are resolved to positions, and the values that each event
//! reads are known.

use crate::term::{Function, Term, Update};
use juror_event::{EventId, SymbolicEvent, Value};
use std::ops::Range;
use std::sync::Arc;

/// The position of a state among those of its property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateId(pub u32);

impl StateId {
    /// Returns the state as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A behaviour over events, with variables.
///
/// All spans are in bytes of the source from which it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Property {
    /// The name.
    pub name: Box<str>,
    /// The description.
    pub description: Option<Box<str>>,
    /// The file from which it was read; set by the caller that reads files.
    pub source_name: Option<Box<str>>,
    /// The names of the parameters: those after `slice on` or `for each`.
    pub slice: Vec<Box<str>>,
    /// The constraint on the parameters (`where t != u`): a term in which the variable
    /// in slot n is parameter n. Instances that violate it do not exist.
    pub constraint: Option<Term>,
    /// The events, by [`EventId`].
    pub events: Vec<SymbolicEvent>,
    /// By event and slice parameter: the slot of the capture that binds it. For
    /// automata only: an [`Effect`] of a formula has its own.
    pub bindings: Vec<Vec<Option<u8>>>,
    /// The variables, by slot.
    pub variables: Vec<Variable>,
    /// The functions that guards and updates call.
    pub functions: Arc<Vec<Function>>,
    /// The behaviour.
    pub behaviour: Behaviour,
    /// The position in the source, in bytes.
    pub span: Range<usize>,
}

/// The behaviour of a property.
#[derive(Debug, Clone, PartialEq)]
pub enum Behaviour {
    /// States and guarded transitions.
    Automaton {
        /// The states, by [`StateId`].
        states: Vec<State>,
        /// The initial state.
        initial: StateId,
    },
    /// A formula or a regular expression over propositions that events change.
    Logic(Logic),
}

/// A behaviour over propositions.
#[derive(Debug, Clone, PartialEq)]
pub struct Logic {
    /// The formula or expression.
    pub demand: Demand,
    /// The propositions, by their bit in a letter; at most 64.
    pub propositions: Vec<Proposition>,
    /// The effects of events on propositions. Several may belong to one event: they are
    /// tried in order, and all that apply take place in the same step.
    pub effects: Vec<Effect>,
}

/// The demand on propositions.
#[derive(Debug, Clone, PartialEq)]
pub enum Demand {
    /// A formula of temporal logic that must hold.
    Formula(juror_logic::Formula),
    /// A regular expression over letters: either a match is a violation, or the whole
    /// run must match.
    Expression {
        /// The expression.
        expression: juror_logic::Regex,
        /// The meaning of a match.
        meaning: juror_logic::Meaning,
    },
}

/// A proposition without free parameters: `holds(t, a)` for the parameters of the
/// instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposition {
    /// The display name: `holds(t, a)`.
    pub name: Box<str>,
    /// True if it stays true until it is cleared; otherwise it is true for one step
    /// only.
    pub persistent: bool,
    /// The position of its declaration.
    pub span: Range<usize>,
}

/// The effect of an event on a proposition in the instances that it concerns.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// The event.
    pub event: EventId,
    /// By parameter of the property: the slot of the capture that must equal the
    /// instance's value.
    pub binding: Vec<Option<u8>>,
    /// The condition for the effect.
    pub guard: Option<Term>,
    /// The captures that the guard uses: bit n is slot n.
    pub captures: u64,
    /// The bit of the proposition.
    pub proposition: u8,
    /// The change of the proposition.
    pub action: EffectAction,
    /// The position in the source, in bytes.
    pub span: Range<usize>,
}

/// The change of a proposition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EffectAction {
    /// True from this step on.
    Set,
    /// False from this step on.
    Clear,
    /// True in this step only.
    Pulse,
    /// No change: the event is a step also if none of its conditions holds.
    Step,
}

/// A variable of a property; each slice has its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// The name.
    pub name: Box<str>,
    /// The initial value.
    pub initial: Value,
    /// The position in the source, in bytes.
    pub span: Range<usize>,
}

/// A state of the automaton.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// The name.
    pub name: Box<str>,
    /// True if the property holds if the run ends here.
    pub accepting: bool,
    /// True if a slice that enters this state is forgotten.
    pub is_final: bool,
    /// The action that notifies scenarios when the state is entered.
    pub action: Option<Box<str>>,
    /// The transitions that leave the state, in the order in which they are tried.
    pub transitions: Vec<Transition>,
    /// The position in the source, in bytes.
    pub span: Range<usize>,
}

/// A transition of a state.
#[derive(Debug, Clone, PartialEq)]
pub struct Transition {
    /// The event.
    pub event: EventId,
    /// The guard; `None` is always true.
    pub guard: Option<Term>,
    /// The branch if the guard is true.
    pub success: Branch,
    /// The branch if the guard is false; with `None` the next transition is tried.
    pub failure: Option<Branch>,
    /// The `ignore when` clause, if the transition was written with one; it is already
    /// part of the guard.
    pub ignored: Option<Ignored>,
    /// The captures that the guard and the updates use: bit n is slot n.
    pub captures: u64,
    /// The position in the source, in bytes.
    pub span: Range<usize>,
}

/// The `ignore when` clause of a transition as written. Such a transition is expanded
/// into one two-way transition for each outcome except that of being ignored.
#[derive(Debug, Clone, PartialEq)]
pub struct Ignored {
    /// The condition under which the event is ignored.
    pub doubt: Term,
    /// The position of the guard, if there is one.
    pub guard: Option<Range<usize>>,
    /// True for the transition that represents the `else` branch.
    pub otherwise: bool,
}

/// A branch of a transition.
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    /// The updates, in order.
    pub updates: Vec<Update>,
    /// The target state.
    pub target: StateId,
    /// The action that notifies scenarios when the branch is taken.
    pub action: Option<Box<str>>,
    /// The position in the source, in bytes.
    pub span: Range<usize>,
}

impl Transition {
    /// Iterates over the branches for a true and a false guard.
    pub fn branches(&self) -> impl Iterator<Item = &Branch> {
        std::iter::once(&self.success).chain(&self.failure)
    }
}

impl State {
    /// Iterates over the branches of all transitions: the event, the number of the
    /// branch in this state, and the branch.
    pub fn branches(&self) -> impl Iterator<Item = (EventId, u32, &Branch)> {
        (0..).zip(&self.transitions).flat_map(|(position, it)| {
            let numbers = [true, false].map(|holds| branch_number(position, holds));
            let branches = numbers.into_iter().zip(it.branches());
            branches.map(|(number, branch)| (it.event, number, branch))
        })
    }

    /// Returns true if another branch for the same event leads to the same state with
    /// another action, so that the step alone does not identify the branch.
    pub fn has_twin(&self, event: EventId, branch: &Branch) -> bool {
        self.branches().any(|(other, _, twin)| {
            (other, twin.target) == (event, branch.target) && twin.action != branch.action
        })
    }
}

/// Returns the number of a branch in its state, from the position of the transition and
/// whether its guard holds.
pub fn branch_number(position: u32, holds: bool) -> u32 {
    position * 2 + u32::from(!holds)
}

impl Property {
    /// Returns the event with this number.
    pub fn event(&self, id: EventId) -> Option<&SymbolicEvent> {
        self.events.get(usize::from(id.0))
    }

    /// Returns the states of an automaton; empty for a formula or an expression.
    pub fn states(&self) -> &[State] {
        match &self.behaviour {
            Behaviour::Automaton { states, .. } => states,
            Behaviour::Logic(_) => &[],
        }
    }

    /// Returns the initial state of an automaton.
    pub fn initial(&self) -> StateId {
        match &self.behaviour {
            Behaviour::Automaton { initial, .. } => *initial,
            Behaviour::Logic(_) => StateId(0),
        }
    }

    /// Returns the state with this number.
    pub fn state(&self, id: StateId) -> Option<&State> {
        self.states().get(id.index())
    }

    /// Returns the declared captures of an event: bit n is slot n.
    pub fn declared_captures(&self, id: EventId) -> u64 {
        let captures = self.event(id).map_or(&[][..], |event| &event.captures);
        captures
            .iter()
            .take(64)
            .enumerate()
            .filter(|(_, capture)| !capture.hoisted)
            .fold(0, |mask, (slot, _)| mask | 1 << slot)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn branches_of_a_state_have_numbers_of_their_own() {
        let source = "property p event e = before f(n) event g = before h var x = 0
             state s {
                 on e when n > 2 { x = 1 } -> s else { x = 2 } -> t
                 on g -> t
                 on e when n > 1 -> t else { x = 3 } -> t
             }
             state t { on e -> s }";
        let (properties, diagnostics) = crate::load(source);
        let property = properties
            .first()
            .unwrap_or_else(|| panic!("{diagnostics:#?}"));
        let found: Vec<_> = property.states()[0].branches().collect();
        let places = found
            .iter()
            .map(|(event, number, branch)| (event.0, *number, branch.target.index()));
        let expected = [(0, 0, 0), (0, 1, 1), (1, 2, 1), (0, 4, 1), (0, 5, 1)];
        assert_eq!(places.collect::<Vec<_>>(), expected);
    }
}
