//! Which names an expression sees: nothing, a function's parameters, those of
//! the property, or variables and the captures of an event; and local variables
//! in all of them.

use crate::syntax::Name;
use crate::term::Kind;

/// Which names an expression sees beside local variables.
pub(super) enum Names {
    /// None: the value is known before the run.
    Constant,
    /// Variables, and the captures of the event.
    Event(u16),
    /// None: a function knows its parameters only.
    Function,
    /// The parameters of the property.
    Parameters(Vec<(Box<str>, Kind)>),
}

/// Which names an expression sees, and which captures it was seen to use.
pub(super) struct Scope {
    pub names: Names,
    /// The captures used so far: bit n is slot n.
    pub captures: u64,
    /// Local variables, the innermost last; the slot of each is its position
    /// at most.
    pub locals: Vec<Local>,
    /// The next slot of a local variable that is free.
    pub locals_count: u16,
}

/// A local variable.
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
            locals: Vec::new(),
            locals_count: 0,
        }
    }

    /// No names at all.
    pub(super) fn constant() -> Scope {
        Scope::of(Names::Constant)
    }

    /// Variables, and the captures of an event.
    pub(super) fn of_event(event: u16) -> Scope {
        Scope::of(Names::Event(event))
    }

    /// What a function sees.
    pub(super) fn of_function() -> Scope {
        Scope::of(Names::Function)
    }

    /// The parameters of the property, each in its slot.
    pub(super) fn of_parameters(parameters: Vec<(Box<str>, Kind)>) -> Scope {
        Scope::of(Names::Parameters(parameters))
    }

    /// The event whose captures are visible.
    pub(super) fn event(&self) -> Option<u16> {
        match self.names {
            Names::Event(event) => Some(event),
            _ => None,
        }
    }

    /// Makes a local variable visible.
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

    /// The local variable of this name.
    pub(super) fn local(&self, name: &str) -> Option<&Local> {
        let mut locals = self.locals.iter().rev();
        locals.find(|local| &*local.name.text == name)
    }
}
