//! Which names an expression sees: nothing, a function's parameters, those of
//! the property, variables and the captures of an event, or what a scenario is
//! told; and local variables in all of them.

use crate::scenario::{Fact, Input};
use crate::syntax::Name;
use crate::term::Kind;

/// How a value of the program is asked for in a scenario.
pub(super) const PROGRAM: &str = "program";

/// Something that a reaction is told, with the name that stands for it.
#[derive(Debug, Clone)]
pub(super) struct FactName {
    pub name: Box<str>,
    pub fact: Fact,
    pub kind: Kind,
}

/// What a reaction sees, and what it was seen to read.
#[derive(Default)]
pub(super) struct Told {
    pub facts: Vec<FactName>,
    /// The properties are not known: any name may be one of theirs.
    pub is_open: bool,
    pub reads: Vec<Input>,
}

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
    /// Variables, and what a reaction is told.
    Reaction(Told),
}

/// Which names an expression sees, and which captures it was seen to use.
pub(super) struct Scope {
    pub names: Names,
    /// The captures used so far: bit n is slot n.
    pub captures: u64,
    /// How many expressions lie around the one that is looked at.
    pub depth: u32,
    /// Local variables, the innermost last; the slot of each is its position
    /// at most.
    pub locals: Vec<Local>,
    /// The next slot of a local variable that is free.
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

    /// The variables of a scenario, and what its reaction is told.
    pub(super) fn of_reaction(facts: Vec<FactName>, is_open: bool) -> Scope {
        Scope::of(Names::Reaction(Told {
            facts,
            is_open,
            reads: Vec::new(),
        }))
    }

    /// What the reaction of a point sees that is set here: the parameters of the
    /// slice stay what they are.
    pub(super) fn of_point(&self, mut facts: Vec<FactName>) -> Scope {
        let mut is_open = false;
        if let Names::Reaction(told) = &self.names {
            is_open = told.is_open;
            let parameters = told.facts.iter();
            let parameters = parameters.filter(|it| matches!(it.fact, Fact::Parameter(_)));
            facts.extend(parameters.cloned());
        }
        Scope {
            locals: self.locals.clone(),
            locals_count: self.locals_count,
            ..Scope::of_reaction(facts, is_open)
        }
    }

    /// Whether it is that of a reaction.
    pub(super) fn is_of_reaction(&self) -> bool {
        matches!(self.names, Names::Reaction(_))
    }

    /// What the reaction was seen to read.
    pub(super) fn reads(self) -> Vec<Input> {
        match self.names {
            Names::Reaction(told) => told.reads,
            _ => Vec::new(),
        }
    }

    /// What a reaction is told under this name.
    pub(super) fn fact(&self, name: &str) -> Option<(Fact, Kind)> {
        let Names::Reaction(told) = &self.names else {
            return None;
        };
        let found = told.facts.iter().find(|fact| *fact.name == *name);
        match found {
            Some(found) => Some((found.fact.clone(), found.kind)),
            None if told.is_open => Some((Fact::Parameter(name.into()), Kind::Unknown)),
            None => None,
        }
    }

    /// Whether a reaction is told this.
    pub(super) fn has_fact(&self, wanted: &Fact) -> bool {
        match &self.names {
            Names::Reaction(told) => told.facts.iter().any(|it| it.fact == *wanted),
            _ => false,
        }
    }

    /// The position of what a reaction reads.
    pub(super) fn read(&mut self, input: Input) -> usize {
        let Names::Reaction(told) = &mut self.names else {
            return usize::MAX;
        };
        let known = told.reads.iter().position(|it| *it == input);
        known.unwrap_or_else(|| {
            told.reads.push(input);
            told.reads.len() - 1
        })
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
