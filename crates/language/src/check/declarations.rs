//! Slice parameters, variables and the names of states.

use super::Checker;
use crate::diagnostic::Diagnostic;
use crate::property::{StateId, Variable};
use crate::syntax::Name;
use crate::term::{Kind, TermKind};
use juror_event::Value;
use std::collections::HashMap;

impl Checker<'_> {
    /// Every slice parameter is there once, and an event binds it.
    pub(super) fn slice_parameters(&mut self) {
        let declaration = self.declaration;
        let mut names = HashMap::new();
        for name in &declaration.slice {
            if !self.unique(&mut names, name, "slice parameter") {
                continue;
            }
            let bound = declaration
                .events
                .iter()
                .flat_map(|event| &event.captures)
                .any(|capture| capture.name.text == name.text);
            if !bound {
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
                    None => error.help(format!(
                        "an event binds it by a parameter of that name: `before function({})`",
                        name.text
                    )),
                };
                self.diagnostics.push(error);
            }
        }
    }

    /// Variables and their initial values.
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
        for capture in declaration.events.iter().flat_map(|event| &event.captures) {
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

    /// The value of an initial expression; after an error any value will do.
    fn constant(&mut self, expression: &crate::Expression) -> Value {
        let fallback = Value::Unavailable(juror_event::Unavailability::NotCaptured);
        let Some((term, _)) = self.term(expression, &mut super::expression::Scope::constant())
        else {
            return fallback;
        };
        match term.kind {
            TermKind::Constant(value) => value,
            _ => {
                // `and` and `or` are not folded while they are built.
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

    /// States get their numbers, so that transitions can lead forward.
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
            self.diagnostics
                .push(error.help("write at least `state init { on EVENT -> STATE }`"));
        } else if declaration.states.iter().all(|s| s.transitions.is_empty())
            && declaration.complete
        {
            let error = Diagnostic::error(
                "no-transitions",
                declaration.name.span.clone(),
                format!("property `{}` has no transitions", declaration.name.text),
            );
            self.diagnostics
                .push(error.help("without one nothing that happens changes its verdict"));
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

    /// What the variable in a slot holds.
    pub(super) fn variable_kind(&self, slot: u16) -> Kind {
        self.variables
            .get(usize::from(slot))
            .map_or(Kind::Unknown, |variable| Kind::of(&variable.initial))
    }
}

/// The environment of constants.
struct Nothing;

impl crate::Environment for Nothing {
    fn variable(&self, _slot: u16) -> Option<&Value> {
        None
    }

    fn capture(&self, _slot: u8) -> Option<&Value> {
        None
    }
}
