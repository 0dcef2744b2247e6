//! A property that has been checked: names are positions, and what each event
//! reads is known.

use crate::term::{Function, Term, Update};
use juror_event::{EventId, SymbolicEvent, Value};
use std::ops::Range;
use std::sync::Arc;

/// The position of a state among those of its property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateId(pub u32);

impl StateId {
    /// The same as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A behaviour over events, with variables.
///
/// All spans are in bytes of the source it was read from.
#[derive(Debug, Clone, PartialEq)]
pub struct Property {
    /// Its name.
    pub name: Box<str>,
    /// What it says, in words.
    pub description: Option<Box<str>>,
    /// The file it was read from; set by whoever reads files.
    pub source_name: Option<Box<str>>,
    /// The names of the parameters: those that the property is sliced on, or
    /// those that `for each` quantifies.
    pub slice: Vec<Box<str>>,
    /// What the parameters must fulfil (`where t != u`): a term in which the
    /// variable in slot n is parameter n. An instance that does not fulfil it
    /// does not exist.
    pub constraint: Option<Term>,
    /// The events, by [`EventId`].
    pub events: Vec<SymbolicEvent>,
    /// For each event, for each slice parameter: the slot of the capture that
    /// binds it. Automata only: an [`Effect`] of a formula has its own.
    pub bindings: Vec<Vec<Option<u8>>>,
    /// The variables, by slot.
    pub variables: Vec<Variable>,
    /// The functions that its guards and updates call.
    pub functions: Arc<Vec<Function>>,
    /// What it demands.
    pub behaviour: Behaviour,
    /// Where it stands.
    pub span: Range<usize>,
}

/// What a property demands.
#[derive(Debug, Clone, PartialEq)]
pub enum Behaviour {
    /// States and guarded transitions.
    Automaton {
        /// The states, by [`StateId`].
        states: Vec<State>,
        /// Where it starts.
        initial: StateId,
    },
    /// A formula or a regular expression over propositions that events set.
    Logic(Logic),
}

/// A behaviour over propositions.
#[derive(Debug, Clone, PartialEq)]
pub struct Logic {
    /// What is demanded of them.
    pub demand: Demand,
    /// The propositions, by the bit that they have in a letter; at most 64.
    pub propositions: Vec<Proposition>,
    /// What events do to them. Several may belong to one event: they are
    /// tried in order and all that apply take place in the same step.
    pub effects: Vec<Effect>,
}

/// What is demanded of propositions.
#[derive(Debug, Clone, PartialEq)]
pub enum Demand {
    /// A formula of temporal logic that must hold.
    Formula(juror_logic::Formula),
    /// A regular expression over letters: a match is a violation, or the
    /// whole run must match.
    Expression {
        /// The expression.
        expression: juror_logic::Regex,
        /// What a match means.
        meaning: juror_logic::Meaning,
    },
}

/// A proposition without free parameters: `holds(t, a)` for the parameters of
/// the instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposition {
    /// How it is shown: `holds(t, a)`.
    pub name: Box<str>,
    /// True until it is cleared; otherwise true for one step only.
    pub persistent: bool,
    /// Where its declaration stands.
    pub span: Range<usize>,
}

/// What an event does to a proposition in the instances that it concerns.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// The event.
    pub event: EventId,
    /// For each parameter of the property: the slot of the capture whose
    /// value the instance must have there.
    pub binding: Vec<Option<u8>>,
    /// What must be true for it to happen.
    pub guard: Option<Term>,
    /// The captures that the guard uses: bit n is slot n.
    pub captures: u64,
    /// The bit of the proposition.
    pub proposition: u8,
    /// What happens to it.
    pub action: EffectAction,
    /// Where it stands.
    pub span: Range<usize>,
}

/// What happens to a proposition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EffectAction {
    /// It is true from this step on.
    Set,
    /// It is false from this step on.
    Clear,
    /// It is true in this step only.
    Pulse,
}

/// A variable of a property; each slice has its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: Box<str>,
    /// Its value at the start.
    pub initial: Value,
    /// Where it stands.
    pub span: Range<usize>,
}

/// A state of the automaton.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// Its name.
    pub name: Box<str>,
    /// True when the property holds if the run ends here.
    pub accepting: bool,
    /// True when a slice that gets here is forgotten.
    pub is_final: bool,
    /// What scenarios are told when it is entered.
    pub action: Option<Box<str>>,
    /// What leads out, in the order in which it is tried.
    pub transitions: Vec<Transition>,
    /// Where it stands.
    pub span: Range<usize>,
}

/// A transition of a state.
#[derive(Debug, Clone, PartialEq)]
pub struct Transition {
    /// The event it is for.
    pub event: EventId,
    /// What must be true; nothing always is.
    pub guard: Option<Term>,
    /// What happens when it is.
    pub success: Branch,
    /// What happens when it is not; nothing lets the next transition try.
    pub failure: Option<Branch>,
    /// What `ignore when` says, where the transition was written with it: the guard has
    /// it already.
    pub ignored: Option<Ignored>,
    /// The captures that the guard and the updates use: bit n is slot n.
    pub captures: u64,
    /// Where it stands.
    pub span: Range<usize>,
}

/// How a transition with `ignore when` was written. It stands for as many with two
/// outcomes as it has others than to be ignored.
#[derive(Debug, Clone, PartialEq)]
pub struct Ignored {
    /// When the event is ignored.
    pub doubt: Term,
    /// Where the guard stands, if there is one.
    pub guard: Option<Range<usize>>,
    /// Whether this is what `else` says.
    pub otherwise: bool,
}

/// What a transition does.
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    /// The updates, in order.
    pub updates: Vec<Update>,
    /// The next state.
    pub target: StateId,
    /// What scenarios are told when it is taken.
    pub action: Option<Box<str>>,
    /// Where it stands.
    pub span: Range<usize>,
}

impl Transition {
    /// What it does when its guard is true, and when it is not.
    pub fn branches(&self) -> impl Iterator<Item = &Branch> {
        std::iter::once(&self.success).chain(&self.failure)
    }
}

impl State {
    /// What its transitions may do: the event, the branch, and its number in this
    /// state.
    pub fn branches(&self) -> impl Iterator<Item = (EventId, u32, &Branch)> {
        (0..).zip(&self.transitions).flat_map(|(position, it)| {
            let numbers = [true, false].map(|holds| branch_number(position, holds));
            let branches = numbers.into_iter().zip(it.branches());
            branches.map(|(number, branch)| (it.event, number, branch))
        })
    }

    /// Whether another branch leads to the same state on the same event, and has
    /// another action: the step alone does not tell which was taken.
    pub fn has_twin(&self, event: EventId, branch: &Branch) -> bool {
        self.branches().any(|(other, _, twin)| {
            (other, twin.target) == (event, branch.target) && twin.action != branch.action
        })
    }
}

/// The number of a branch in its state: of which transition, and whether it is the
/// one for a guard that holds.
pub fn branch_number(position: u32, holds: bool) -> u32 {
    position * 2 + u32::from(!holds)
}

impl Property {
    /// The event of this number.
    pub fn event(&self, id: EventId) -> Option<&SymbolicEvent> {
        self.events.get(usize::from(id.0))
    }

    /// The states of an automaton; none for a formula or an expression.
    pub fn states(&self) -> &[State] {
        match &self.behaviour {
            Behaviour::Automaton { states, .. } => states,
            Behaviour::Logic(_) => &[],
        }
    }

    /// The state in which an automaton starts.
    pub fn initial(&self) -> StateId {
        match &self.behaviour {
            Behaviour::Automaton { initial, .. } => *initial,
            Behaviour::Logic(_) => StateId(0),
        }
    }

    /// The state of this number.
    pub fn state(&self, id: StateId) -> Option<&State> {
        self.states().get(id.index())
    }

    /// The captures of an event that were declared: bit n is slot n.
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
