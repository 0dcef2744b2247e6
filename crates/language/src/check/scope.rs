//! The names that are visible to an expression: none, the parameters of a function or
//! property, variables and captures of an event, or variables and context values of a
//! scenario; and local variables in all of them.

use crate::scenario::{ContextValue, Input};
use crate::syntax::Name;
use crate::term::Kind;

/// The keyword for a value of the program in a scenario.
pub(super) const PROGRAM: &str = "program";

/// A context value of a reaction, with its name.
#[derive(Debug, Clone)]
pub(super) struct NamedContextValue {
    pub name: Box<str>,
    pub context_value: ContextValue,
    pub kind: Kind,
}

/// The context values of a reaction, and the inputs that it was found to use.
#[derive(Default)]
pub(super) struct ReactionNames {
    pub context_values: Vec<NamedContextValue>,
    /// True if the properties are unknown: any name may be one of theirs.
    pub is_open: bool,
    pub reads: Vec<Input>,
}

/// The visible names besides local variables.
pub(super) enum Names {
    /// None: the value is constant.
    Constant,
    /// Variables, and the captures of this event.
    Event(u16),
    /// None: a function sees its parameters only.
    Function,
    /// The parameters of the property.
    Parameters(Vec<(Box<str>, Kind)>),
    /// Variables and context values of a reaction.
    Reaction(ReactionNames),
}

/// The visible names of an expression, and the captures that it was found to use.
pub(super) struct Scope {
    pub names: Names,
    /// The captures used so far: bit n is slot n.
    pub captures: u64,
    /// The nesting depth of the current expression.
    pub depth: u32,
    /// The local variables, the innermost last; the slot of each is at least its
    /// position.
    pub locals: Vec<Local>,
    /// The next free slot of a local variable.
    pub locals_count: u16,
}

/// A local variable.
#[derive(Clone)]
pub(super) struct Local {
    pub name: Name,
    pub slot: u16,
    pub kind: Kind,
}

impl Scope {
    fn of(names: Names) -> Scope {
        Scope {
            names,
            captures: 0,
            depth: 0,
            locals: Vec::new(),
            locals_count: 0,
        }
    }

    /// Creates a scope without names.
    pub(super) fn constant() -> Scope {
        Scope::of(Names::Constant)
    }

    /// Creates a scope with variables and the captures of an event.
    pub(super) fn of_event(event: u16) -> Scope {
        Scope::of(Names::Event(event))
    }

    /// Creates the scope of a function.
    pub(super) fn of_function() -> Scope {
        Scope::of(Names::Function)
    }

    /// Creates a scope with the parameters of the property, each in its slot.
    pub(super) fn of_parameters(parameters: Vec<(Box<str>, Kind)>) -> Scope {
        Scope::of(Names::Parameters(parameters))
    }

    /// Creates a scope with the variables of a scenario and the context values of its
    /// reaction.
    pub(super) fn of_reaction(context_values: Vec<NamedContextValue>, is_open: bool) -> Scope {
        Scope::of(Names::Reaction(ReactionNames {
            context_values,
            is_open,
            reads: Vec::new(),
        }))
    }

    /// Creates the scope of the reaction of a point that is set here: the parameters of
    /// the slice stay visible.
    pub(super) fn of_point(&self, mut context_values: Vec<NamedContextValue>) -> Scope {
        let mut is_open = false;
        if let Names::Reaction(names) = &self.names {
            is_open = names.is_open;
            let parameters = names.context_values.iter();
            let parameters =
                parameters.filter(|it| matches!(it.context_value, ContextValue::Parameter(_)));
            context_values.extend(parameters.cloned());
        }
        Scope {
            locals: self.locals.clone(),
            locals_count: self.locals_count,
            ..Scope::of_reaction(context_values, is_open)
        }
    }

    /// Returns true for the scope of a reaction.
    pub(super) fn is_of_reaction(&self) -> bool {
        matches!(self.names, Names::Reaction(_))
    }

    /// Returns the inputs that the reaction was found to use.
    pub(super) fn reads(self) -> Vec<Input> {
        match self.names {
            Names::Reaction(names) => names.reads,
            _ => Vec::new(),
        }
    }

    /// Returns the context value with this name.
    pub(super) fn context_value(&self, name: &str) -> Option<(ContextValue, Kind)> {
        let Names::Reaction(names) = &self.names else {
            return None;
        };
        let found = names
            .context_values
            .iter()
            .find(|context_value| *context_value.name == *name);
        match found {
            Some(found) => Some((found.context_value.clone(), found.kind)),
            None if names.is_open => Some((ContextValue::Parameter(name.into()), Kind::Unknown)),
            None => None,
        }
    }

    /// Returns true if the reaction has this context value.
    pub(super) fn has_context_value(&self, wanted: &ContextValue) -> bool {
        match &self.names {
            Names::Reaction(names) => names
                .context_values
                .iter()
                .any(|it| it.context_value == *wanted),
            _ => false,
        }
    }

    /// Returns the position of an input of the reaction, adding it if necessary.
    pub(super) fn read(&mut self, input: Input) -> usize {
        let Names::Reaction(names) = &mut self.names else {
            return usize::MAX;
        };
        let known = names.reads.iter().position(|it| *it == input);
        known.unwrap_or_else(|| {
            names.reads.push(input);
            names.reads.len() - 1
        })
    }

    /// Returns the event whose captures are visible.
    pub(super) fn event(&self) -> Option<u16> {
        match self.names {
            Names::Event(event) => Some(event),
            _ => None,
        }
    }

    /// Declares a local variable; returns its slot.
    pub(super) fn declare(&mut self, name: &Name, kind: Kind) -> u16 {
        let slot = self.locals_count;
        self.locals_count = self.locals_count.saturating_add(1);
        self.locals.push(Local {
            name: name.clone(),
            slot,
            kind,
        });
        slot
    }

    /// Returns the local variable with this name.
    pub(super) fn local(&self, name: &str) -> Option<&Local> {
        let mut locals = self.locals.iter().rev();
        locals.find(|local| &*local.name.text == name)
    }
}
