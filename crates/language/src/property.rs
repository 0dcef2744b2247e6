//! A property that has been checked: names are positions, and what each event
//! reads is known.

use crate::term::{Term, Update};
use juror_event::{EventId, SymbolicEvent, Value};
use std::ops::Range;

/// The position of a state among those of its property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateId(pub u16);

/// A behaviour: an automaton over events, with variables.
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
    /// The names of the slice parameters.
    pub slice: Vec<Box<str>>,
    /// The events, by [`EventId`].
    pub events: Vec<SymbolicEvent>,
    /// For each event, for each slice parameter: the slot of the capture that
    /// binds it.
    pub bindings: Vec<Vec<Option<u8>>>,
    /// The variables, by slot.
    pub variables: Vec<Variable>,
    /// The states, by [`StateId`].
    pub states: Vec<State>,
    /// Where it starts.
    pub initial: StateId,
    /// Where it stands.
    pub span: Range<usize>,
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
    /// The captures that the guard and the updates use: bit n is slot n.
    pub captures: u64,
    /// Where it stands.
    pub span: Range<usize>,
}

/// What a transition does.
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    /// The updates, in order.
    pub updates: Vec<Update>,
    /// The next state.
    pub target: StateId,
    /// Where it stands.
    pub span: Range<usize>,
}

impl Property {
    /// The event of this number.
    pub fn event(&self, id: EventId) -> Option<&SymbolicEvent> {
        self.events.get(usize::from(id.0))
    }

    /// The state of this number.
    pub fn state(&self, id: StateId) -> Option<&State> {
        self.states.get(usize::from(id.0))
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
