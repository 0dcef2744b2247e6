//! Grounding: propositions and events in a formula become bits of a letter, and the
//! clauses of propositions become effects of events.
//!
//! `holds(t, a)` and `holds(t, b)` are two bits; each clause of `holds` produces an
//! effect on both. The arguments determine the instances that an event concerns: for a
//! parameter of the property, the value of the event's capture must equal that of the
//! instance.

use super::Checker;
use super::declarations::Parameter;
use super::scope::Scope;
use super::state::and;
use crate::property::{Effect, EffectAction, Proposition};
use crate::syntax::{
    BinaryOperator, EventReference, Name, PropositionAction, PropositionClause,
    PropositionDeclaration,
};
use crate::term::{Term, TermKind};
use juror_event::{EventId, Read, Value};
use juror_fault::Diagnostic;
use std::collections::HashMap;
use std::ops::Range;

/// The maximum number of propositions in a letter.
const PROPOSITIONS_MAX: usize = 64;

/// The argument for a parameter of a proposition.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Argument {
    /// The parameter of the property at this position.
    Parameter(usize),
    /// A constant.
    Constant(Value),
    /// Any value.
    Any,
}

/// A proposition or event with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Ground {
    name: Box<str>,
    arguments: Option<Vec<Argument>>,
}

/// The propositions of one property, in the order of use.
pub(super) struct Grounding<'p> {
    pub parameters: &'p [Parameter<'p>],
    pub propositions: Vec<Proposition>,
    pub effects: Vec<Effect>,
    bits: HashMap<Ground, u8>,
    /// The number of parts of formulas that have been made.
    pub parts: usize,
    /// The nesting of the current formulas.
    pub depth: usize,
    /// An operator that counts single steps, with its name.
    pub counts_steps: Option<(Range<usize>, String)>,
}

impl<'p> Grounding<'p> {
    pub(super) fn new(parameters: &'p [Parameter<'p>]) -> Grounding<'p> {
        Grounding {
            parameters,
            propositions: Vec::new(),
            effects: Vec::new(),
            bits: HashMap::new(),
            parts: 0,
            depth: 0,
            counts_steps: None,
        }
    }

    /// Returns the position of a parameter of the property.
    pub(super) fn parameter(&self, name: &str) -> Option<usize> {
        let mut names = self.parameters.iter();
        names.position(|parameter| &*parameter.name.text == name)
    }

    fn shown(&self, name: &str, arguments: &[Argument]) -> Box<str> {
        if arguments.is_empty() {
            return name.into();
        }
        let shown: Vec<String> = arguments
            .iter()
            .map(|argument| match argument {
                Argument::Parameter(position) => match self.parameters.get(*position) {
                    Some(parameter) => parameter.name.text.to_string(),
                    None => "?".to_owned(),
                },
                Argument::Constant(value) => value.to_string(),
                Argument::Any => "any".to_owned(),
            })
            .collect();
        format!("{name}({})", shown.join(", ")).into()
    }
}

impl<'a> Checker<'a> {
    /// Returns the bit of a declared proposition with its arguments.
    pub(super) fn ground_proposition(
        &mut self,
        declaration: &'a PropositionDeclaration,
        origin: Option<&'a Range<usize>>,
        arguments: Vec<Argument>,
        used: &Name,
        grounding: &mut Grounding<'_>,
    ) -> Option<u8> {
        self.used_names.insert(&declaration.name.text);
        if arguments.len() != declaration.parameters.len() {
            self.wrong_count(used, declaration.parameters.len(), arguments.len());
            return None;
        }
        let ground = Ground {
            name: declaration.name.text.clone(),
            arguments: Some(arguments.clone()),
        };
        if let Some(bit) = grounding.bits.get(&ground) {
            return Some(*bit);
        }
        let clauses = &declaration.clauses;
        let persistent = (clauses.iter()).any(|c| c.action != PropositionAction::Pulse);
        let span = origin.unwrap_or(&declaration.span).clone();
        let shown = grounding.shown(&declaration.name.text, &arguments);
        let bit = self.new_bit(shown, persistent, span, used, grounding)?;
        grounding.bits.insert(ground, bit);
        for clause in clauses {
            self.at_origin(origin, |checker| {
                checker.clause_effect(clause, origin, declaration, &arguments, bit, grounding)
            });
        }
        Some(bit)
    }

    fn new_bit(
        &mut self,
        name: Box<str>,
        persistent: bool,
        span: Range<usize>,
        used: &Name,
        grounding: &mut Grounding<'_>,
    ) -> Option<u8> {
        let bit = grounding.propositions.len();
        if bit >= PROPOSITIONS_MAX {
            let message = format!("a property can have at most {PROPOSITIONS_MAX} propositions");
            self.error("too-many", &used.span, message);
            return None;
        }
        grounding.propositions.push(Proposition {
            name,
            persistent,
            span,
        });
        u8::try_from(bit).ok()
    }

    pub(super) fn wrong_count(&mut self, used: &Name, expected: usize, found: usize) {
        let plural = if expected == 1 { "" } else { "s" };
        let message = format!(
            "`{}` takes {expected} argument{plural}, and {found} are given",
            used.text
        );
        self.error("wrong-arguments", &used.span, message);
    }

    /// Returns the effect of one clause on one bit.
    fn clause_effect(
        &mut self,
        clause: &PropositionClause,
        origin: Option<&Range<usize>>,
        declaration: &PropositionDeclaration,
        arguments: &[Argument],
        bit: u8,
        grounding: &mut Grounding<'_>,
    ) -> Option<()> {
        let event = self.clause_event(clause, origin)?;
        let mut scope = Scope::of_event(event);
        let guard = (clause.guard.as_ref()).map(|guard| self.condition(guard, &mut scope));
        let mut guard = match guard {
            Some(guard) => Some(guard?),
            None => None,
        };
        let mut binding = vec![None; grounding.parameters.len()];
        for (parameter, argument) in declaration.parameters.iter().zip(arguments) {
            let slot = self.bound_capture(event, parameter)?;
            let site = (slot, &clause.span);
            self.bind(site, argument, &mut binding, &mut guard, &mut scope);
        }
        if let (Some(origin), Some(guard)) = (origin, &mut guard) {
            relocate(guard, origin);
        }
        grounding.effects.push(Effect {
            event: EventId(event),
            binding,
            guard,
            captures: scope.captures,
            proposition: bit,
            action: match clause.action {
                PropositionAction::Set => EffectAction::Set,
                PropositionAction::Clear => EffectAction::Clear,
                PropositionAction::Pulse => EffectAction::Pulse,
            },
            span: origin.unwrap_or(&clause.span).clone(),
        });
        Some(())
    }

    fn bind(
        &mut self,
        (slot, span): (u8, &Range<usize>),
        argument: &Argument,
        binding: &mut [Option<u8>],
        guard: &mut Option<Term>,
        scope: &mut Scope,
    ) {
        let other = match argument {
            Argument::Any => return,
            Argument::Constant(value) => TermKind::Constant(value.clone()),
            Argument::Parameter(position) => match binding.get_mut(*position) {
                // The same parameter twice: both captures must be equal.
                Some(Some(first)) if *first != slot => {
                    scope.captures |= 1 << *first;
                    TermKind::Capture(*first)
                }
                Some(free) => {
                    *free = Some(slot);
                    return;
                }
                None => return,
            },
        };
        scope.captures |= 1 << slot;
        let term = |kind| Term {
            kind,
            span: span.clone(),
        };
        let equal = term(TermKind::Binary {
            operator: BinaryOperator::Equal,
            left: Box::new(term(TermKind::Capture(slot))),
            right: Box::new(term(other)),
        });
        *guard = Some(match guard.take() {
            Some(guard) => and(equal, guard),
            None => equal,
        });
    }

    /// Returns the slot of the event of a clause.
    fn clause_event(
        &mut self,
        clause: &PropositionClause,
        origin: Option<&Range<usize>>,
    ) -> Option<u16> {
        let slot = match &clause.event {
            EventReference::Inline(event) => self.inline_event(event, origin),
            EventReference::Named(name) => match self.event_slot_named(&name.text) {
                Some(slot) => slot,
                None => {
                    self.unknown_event(name);
                    return None;
                }
            },
        };
        if let Some(used) = self.used_events.get_mut(usize::from(slot)) {
            *used = true;
        }
        Some(slot)
    }

    /// Returns the capture of an event that a parameter of a proposition denotes;
    /// context values need no declaration.
    fn bound_capture(&mut self, event: u16, parameter: &Name) -> Option<u8> {
        let scope = Scope::of_event(event);
        if let Some(slot) = self.capture_named(&parameter.text, &scope) {
            return Some(slot);
        }
        let kind = self.events.get(usize::from(event))?.kind;
        if let Some((read, known)) = super::context_values::read(&parameter.text, kind) {
            return self.bound_context_value(event, parameter, &read, known);
        }
        let symbolic = self.events.get(usize::from(event))?;
        let message = format!(
            "the event `{}` does not bind `{}`",
            symbolic.name, parameter.text
        );
        let error = Diagnostic::error("unbound-parameter", symbolic.span.clone(), message)
            .label(parameter.span.clone(), "the parameter of the proposition")
            .help(format!(
                "capture it in the event: `({})` or `({} = arg 1)`",
                parameter.text, parameter.text
            ));
        self.diagnostics.push(error);
        None
    }

    fn bound_context_value(
        &mut self,
        event: u16,
        parameter: &Name,
        read: &Read,
        known: crate::term::Kind,
    ) -> Option<u8> {
        let mut scope = Scope::of_event(event);
        let name = parameter.text.to_string();
        let slot = self.capture_slot(&parameter.span, &mut scope, read.clone(), name, known)?;
        // A capture that binds an instance is always read.
        let captures = &mut self.events.get_mut(usize::from(event))?.captures;
        captures.get_mut(usize::from(slot))?.hoisted = false;
        Some(slot)
    }

    /// Returns the bit of an event, which is true at the steps at which it occurs.
    pub(super) fn ground_event(
        &mut self,
        slot: u16,
        arguments: Option<Vec<Argument>>,
        used: &Name,
        grounding: &mut Grounding<'_>,
    ) -> Option<u8> {
        if let Some(used) = self.used_events.get_mut(usize::from(slot)) {
            *used = true;
        }
        let event = self.events.get(usize::from(slot))?;
        let name = event.name.clone();
        let span = event.span.clone();
        let declared = event.captures.iter().filter(|c| !c.hoisted);
        let captures: Vec<Box<str>> = declared.map(|capture| capture.name.clone()).collect();
        if let Some(given) = arguments.as_ref().filter(|a| a.len() != captures.len()) {
            self.wrong_count(used, captures.len(), given.len());
            return None;
        }
        let ground = Ground {
            name: name.clone(),
            arguments: arguments.clone(),
        };
        if let Some(bit) = grounding.bits.get(&ground) {
            return Some(*bit);
        }
        let shown = grounding.shown(&name, arguments.as_deref().unwrap_or(&[]));
        let bit = self.new_bit(shown, false, span.clone(), used, grounding)?;
        grounding.bits.insert(ground, bit);
        let mut scope = Scope::of_event(slot);
        let mut binding = vec![None; grounding.parameters.len()];
        let mut guard = None;
        // More captures than have slots are an error of the event.
        for (position, capture) in (0_u8..64).zip(&captures) {
            let by_name = || grounding.parameter(capture).map(Argument::Parameter);
            let argument = match &arguments {
                Some(arguments) => arguments.get(usize::from(position)).cloned(),
                None => by_name(),
            };
            let argument = argument.unwrap_or(Argument::Any);
            let site = (position, &used.span);
            self.bind(site, &argument, &mut binding, &mut guard, &mut scope);
        }
        grounding.effects.push(Effect {
            event: EventId(slot),
            binding,
            guard,
            captures: scope.captures,
            proposition: bit,
            action: EffectAction::Pulse,
            span,
        });
        Some(bit)
    }
}

/// Moves the positions of a term of another file to the `use`, where its errors are
/// reported.
fn relocate(term: &mut Term, span: &Range<usize>) {
    term.span = span.clone();
    for part in term.parts_mut() {
        relocate(part, span);
    }
}
