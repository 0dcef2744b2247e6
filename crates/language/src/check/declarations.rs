//! Slice parameters, variables and the names of states.

use super::Checker;
use super::scope::Scope;
use crate::property::{StateId, Variable};
use crate::syntax::{DemandKind, Name, ParameterSort};
use crate::term::{Kind, Term, TermKind};
use juror_event::Value;
use juror_fault::Diagnostic;
use std::collections::HashMap;

/// A parameter of a property, from `slice on` or `for each`.
#[derive(Clone, Copy)]
pub(super) struct Parameter<'a> {
    pub name: &'a Name,
    pub sort: ParameterSort,
}

impl Parameter<'_> {
    /// Returns the kind of its values.
    pub(super) fn kind(self) -> Kind {
        match self.sort {
            ParameterSort::Thread | ParameterSort::Integer => Kind::Integer,
            ParameterSort::Address => Kind::Address,
            ParameterSort::Text => Kind::String,
            ParameterSort::Value => Kind::Unknown,
        }
    }
}

impl<'a> Checker<'a> {
    /// Reports names that are declared more than once, also across used files.
    pub(super) fn unique_declarations(&mut self) {
        // Only a formula cannot name an event that has the name of an operator.
        let mut demands = self.declaration.demands.iter();
        let is_formula = demands.any(|it| matches!(it.kind, DemandKind::Formula(_)));
        for source in self.sources.clone() {
            let declarations = source.declarations;
            self.at_origin(source.origin, |checker| {
                let mut events: HashMap<&str, &Name> = HashMap::new();
                for event in &declarations.events {
                    checker.unique(&mut events, &event.name, "event");
                    if is_formula {
                        checker.not_an_operator(&event.name);
                    }
                }
                // All of these can be named in a formula.
                let mut others: HashMap<&str, &Name> = HashMap::new();
                for proposition in &declarations.propositions {
                    checker.unique(&mut others, &proposition.name, "proposition");
                    checker.not_an_operator(&proposition.name);
                }
                for definition in &declarations.definitions {
                    checker.unique(&mut others, &definition.name, "formula");
                    checker.not_an_operator(&definition.name);
                }
                for (name, other) in &others {
                    if let Some(event) = events.get(name) {
                        let message = format!("`{name}` is also an event");
                        let error =
                            Diagnostic::error("duplicate-name", other.span.clone(), message);
                        let label = error.label(event.span.clone(), "the event is here");
                        checker.diagnostics.push(label);
                    }
                }
                let mut functions: HashMap<&str, &Name> = HashMap::new();
                for function in &declarations.functions {
                    checker.unique(&mut functions, &function.name, "function");
                }
            });
        }
    }

    fn not_an_operator(&mut self, name: &Name) {
        if crate::parse::PREFIX_WORDS.contains(&&*name.text) {
            let message = format!("`{}` is an operator of formulas", name.text);
            let error = Diagnostic::error("reserved-name", name.span.clone(), message);
            self.diagnostics.push(error.help("choose another name"));
        }
    }

    /// Returns the parameters of the property, each name once.
    pub(super) fn parameters(&mut self) -> Vec<Parameter<'a>> {
        let declaration = self.declaration;
        let mut names = HashMap::new();
        let mut parameters = Vec::new();
        let sliced = declaration.slice.iter().map(|name| Parameter {
            name,
            sort: match &*name.text {
                "thread" if !self.capture_names.contains("thread") => ParameterSort::Thread,
                _ => ParameterSort::Value,
            },
        });
        let sliced: Vec<Parameter<'a>> = sliced.collect();
        let quantified = declaration
            .for_each
            .iter()
            .flat_map(|each| &each.parameters);
        let quantified = quantified.map(|parameter| Parameter {
            name: &parameter.name,
            sort: parameter.sort,
        });
        for parameter in sliced.into_iter().chain(quantified) {
            if self.unique(&mut names, parameter.name, "slice parameter") {
                parameters.push(parameter);
            }
        }
        parameters
    }

    /// Checks that every event binds every parameter of an automaton.
    pub(super) fn bound_parameters(&mut self, parameters: &[Parameter<'_>]) {
        for parameter in parameters {
            let name = parameter.name;
            let mut captures = self.events.iter().flat_map(|event| &event.captures);
            if captures.any(|capture| !capture.hoisted && capture.name == name.text) {
                continue;
            }
            let known: Vec<&str> = self
                .events
                .iter()
                .flat_map(|event| &event.captures)
                .map(|capture| &*capture.name)
                .collect();
            let error = Diagnostic::error(
                "unbound-slice",
                name.span.clone(),
                format!("no event binds the slice parameter `{}`", name.text),
            );
            let error = match crate::suggest(&name.text, known) {
                Some(similar) => error.help(format!("did you mean `{similar}`?")),
                None if parameter.sort == ParameterSort::Thread => error.help(format!(
                    "capture the thread in an event: `before function({} = thread)`",
                    name.text
                )),
                None => error.help(format!(
                    "bind it by a capture of that name: `before function({})`",
                    name.text
                )),
            };
            self.diagnostics.push(error);
        }
    }

    /// Resolves the constraint on the parameters (`where`).
    pub(super) fn constraint(&mut self, parameters: &[Parameter<'_>]) -> Option<Term> {
        let constraint = self.declaration.for_each.as_ref()?.constraint.as_ref()?;
        let names = parameters.iter().map(|p| (p.name.text.clone(), p.kind()));
        let mut scope = Scope::of_parameters(names.collect());
        let term = self.condition(constraint, &mut scope)?;
        self.warn_of_contradiction(&term, &constraint.span);
        Some(term)
    }

    /// Declares variables and their initial values.
    pub(super) fn declare_variables(&mut self) {
        let declaration = self.declaration;
        let mut names: HashMap<&str, &Name> = HashMap::new();
        for variable in &declaration.variables {
            let initial = self.constant(&variable.initial);
            if !self.unique(&mut names, &variable.name, "variable") {
                continue;
            }
            let slot = u16::try_from(self.variables.len()).unwrap_or(u16::MAX);
            self.variable_slots.insert(&variable.name.text, slot);
            self.variables.push(Variable {
                name: variable.name.text.clone(),
                initial,
                span: variable.span.clone(),
            });
        }
        let events = &declaration.declarations.events;
        for capture in events.iter().flat_map(|event| &event.captures) {
            if let Some(variable) = names.get(&*capture.name.text) {
                let error = Diagnostic::error(
                    "duplicate-name",
                    capture.name.span.clone(),
                    format!(
                        "`{}` is a parameter here and a variable elsewhere",
                        capture.name.text
                    ),
                );
                let help = format!(
                    "give the parameter another name: `{0}_now = {0}`",
                    capture.name.text
                );
                self.diagnostics.push(
                    error
                        .label(variable.span.clone(), "the variable is here")
                        .help(help),
                );
            }
        }
    }

    /// Evaluates an initial expression; after an error returns an arbitrary value.
    fn constant(&mut self, expression: &crate::Expression) -> Value {
        let fallback = Value::Unavailable(juror_event::Unavailability::NotCaptured);
        let Some((term, _)) = self.term(expression, &mut Scope::constant()) else {
            return fallback;
        };
        match term.kind {
            TermKind::Constant(value) => value,
            _ => {
                // `and` and `or` are not folded during construction.
                match crate::evaluate(&term, &Nothing) {
                    Ok(value) => value,
                    Err(problem) => {
                        self.error("bad-constant", &problem.span, problem.message);
                        fallback
                    }
                }
            }
        }
    }

    /// Numbers the states, so that transitions may refer to later ones.
    pub(super) fn declare_states(&mut self) {
        let declaration = self.declaration;
        let mut names: HashMap<&str, &Name> = HashMap::new();
        for (position, state) in declaration.states.iter().enumerate() {
            if self.unique(&mut names, &state.name, "state") {
                let id = StateId(u32::try_from(position).unwrap_or(u32::MAX));
                self.state_slots.insert(&state.name.text, id);
            }
        }
        if declaration.states.is_empty() && declaration.complete {
            let error = Diagnostic::error(
                "no-states",
                declaration.name.span.clone(),
                format!("property `{}` has no states", declaration.name.text),
            );
            self.diagnostics.push(error.help(
                "write at least `state init { on EVENT -> STATE }`, or a formula: `ltl always …`",
            ));
        } else if !declaration.states.is_empty()
            && declaration.states.iter().all(|s| s.transitions.is_empty())
            && declaration.complete
        {
            let error = Diagnostic::error(
                "no-transitions",
                declaration.name.span.clone(),
                format!("property `{}` has no transitions", declaration.name.text),
            );
            self.diagnostics
                .push(error.help("without transitions no event changes its verdict"));
        }
    }

    /// The state marked `initial`, else the one named `init`, else the first.
    pub(super) fn initial_state(&mut self) -> StateId {
        let states = &self.declaration.states;
        let mut marked = states.iter().enumerate().filter_map(|(position, state)| {
            let span = state.initial.as_ref()?;
            Some((position, span))
        });
        let first_marked = marked.next();
        let mut errors: Vec<Diagnostic> = Vec::new();
        if let Some((_, first)) = first_marked {
            errors.extend(marked.map(|(_, other)| {
                Diagnostic::error("two-initial", other.clone(), "there are two initial states")
                    .label(first.clone(), "the first is here")
            }));
        }
        let position = first_marked
            .map(|(position, _)| position)
            .or_else(|| states.iter().position(|state| &*state.name.text == "init"))
            .unwrap_or(0);
        let span = states.get(position).and_then(|s| s.is_final.clone());
        if let Some(span) = span {
            errors.push(
                Diagnostic::error("final-initial", span, "the initial state cannot be final")
                    .help("a final state is one that ends a slice"),
            );
        }
        self.diagnostics.append(&mut errors);
        StateId(u32::try_from(position).unwrap_or(u32::MAX))
    }

    /// Returns the kind of the variable in a slot.
    pub(super) fn variable_kind(&self, slot: u16) -> Kind {
        self.variables
            .get(usize::from(slot))
            .map_or(Kind::Unknown, |variable| Kind::of(&variable.initial))
    }
}

/// The environment of constants.
pub(super) struct Nothing;

impl crate::Environment for Nothing {
    fn variable(&self, _slot: u16) -> Option<&Value> {
        None
    }

    fn capture(&self, _slot: u8) -> Option<&Value> {
        None
    }
}
