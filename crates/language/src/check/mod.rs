//! Syntax tree to properties: names become slots, and what has no meaning is
//! rejected where it stands.
//!
//! Invariant: a property comes out only when there is no error in it; every
//! slot, state and event number in it is valid.

mod declarations;
mod event;
mod expression;
mod place;
mod reachability;
mod state;
mod updates;

use crate::diagnostic::Diagnostic;
use crate::property::{Behaviour, Property, State, StateId, Variable};
use crate::suggest::suggest;
use crate::syntax::{File, Name, PropertyDeclaration};
use crate::term::Kind;
use juror_event::SymbolicEvent;
use std::collections::HashMap;
use std::ops::Range;

/// How many captures an event may have: they are counted in a bit mask.
const CAPTURES_MAX: usize = 64;
/// How many slice parameters a property may have.
const SLICE_PARAMETERS_MAX: usize = 16;
/// How many events, variables or states a property may have: monitors keep a
/// table of states by events.
const ITEMS_MAX: usize = 1_000;
/// How many known names a message lists.
const LISTED_MAX: usize = 8;

/// Resolves a file: the properties without errors, and what is to be said.
///
/// What the parser could not read is not reported again, and a property it
/// belongs to is checked but not returned.
pub fn check(file: &File) -> (Vec<Property>, Vec<Diagnostic>) {
    let mut properties = Vec::new();
    let mut diagnostics = Vec::new();
    let mut names: HashMap<&str, &Name> = HashMap::new();
    for declaration in &file.properties {
        let mut checker = Checker::new(declaration);
        checker.unique(&mut names, &declaration.name, "property");
        let property = checker.property();
        properties.extend(property);
        diagnostics.append(&mut checker.diagnostics);
    }
    (properties, diagnostics)
}

/// One property being checked.
struct Checker<'a> {
    declaration: &'a PropertyDeclaration,
    diagnostics: Vec<Diagnostic>,
    events: Vec<SymbolicEvent>,
    /// For each event, what is known about each of its captures.
    capture_kinds: Vec<Vec<Kind>>,
    /// Which events a transition is for.
    used_events: Vec<bool>,
    event_slots: HashMap<&'a str, u16>,
    variables: Vec<Variable>,
    variable_slots: HashMap<&'a str, u16>,
    state_slots: HashMap<&'a str, StateId>,
}

impl<'a> Checker<'a> {
    fn new(declaration: &'a PropertyDeclaration) -> Checker<'a> {
        Checker {
            declaration,
            diagnostics: Vec::new(),
            events: Vec::new(),
            capture_kinds: Vec::new(),
            used_events: Vec::new(),
            event_slots: HashMap::new(),
            variables: Vec::new(),
            variable_slots: HashMap::new(),
            state_slots: HashMap::new(),
        }
    }

    fn property(&mut self) -> Option<Property> {
        let declaration = self.declaration;
        if !self.within_limits() {
            return None;
        }
        self.declare_events();
        self.declare_variables();
        self.declare_states();
        self.slice_parameters();
        let states: Vec<State> = self.resolved_states();
        let initial = self.initial_state();
        if !self.has_errors() {
            self.warn_of_unused(&states, initial);
        }
        if self.has_errors() || !declaration.complete {
            return None;
        }
        let events = std::mem::take(&mut self.events);
        Some(Property {
            name: declaration.name.text.clone(),
            description: declaration.description.clone(),
            source_name: None,
            slice: declaration.slice.iter().map(|n| n.text.clone()).collect(),
            bindings: bindings(declaration, &events),
            events,
            variables: std::mem::take(&mut self.variables),
            constraint: None,
            behaviour: Behaviour::Automaton { states, initial },
            span: declaration.span.clone(),
        })
    }

    fn within_limits(&mut self) -> bool {
        let declaration = self.declaration;
        let before = self.diagnostics.len();
        for (count, limit, what) in [
            (declaration.events.len(), ITEMS_MAX, "events"),
            (declaration.variables.len(), ITEMS_MAX, "variables"),
            (declaration.states.len(), ITEMS_MAX, "states"),
            (
                declaration.slice.len(),
                SLICE_PARAMETERS_MAX,
                "slice parameters",
            ),
        ] {
            if count > limit {
                self.diagnostics.push(Diagnostic::error(
                    "too-many",
                    declaration.name.span.clone(),
                    format!("a property has at most {limit} {what}, and this has {count}"),
                ));
            }
        }
        before == self.diagnostics.len()
    }

    fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    fn error(&mut self, code: &'static str, span: &Range<usize>, message: impl Into<String>) {
        let error = Diagnostic::error(code, span.clone(), message);
        self.diagnostics.push(error);
    }

    /// Enters a name; false, and an error, when it is there already.
    fn unique<'n>(
        &mut self,
        names: &mut HashMap<&'n str, &'n Name>,
        name: &'n Name,
        what: &str,
    ) -> bool {
        match names.get(&*name.text) {
            Some(first) => {
                let error = Diagnostic::error(
                    "duplicate-name",
                    name.span.clone(),
                    format!("there are two {} `{}`", plural(what), name.text),
                );
                self.diagnostics
                    .push(error.label(first.span.clone(), "the first is here"));
                false
            }
            None => {
                names.insert(&name.text, name);
                true
            }
        }
    }

    fn unknown<'n>(
        &mut self,
        code: &'static str,
        what: &str,
        name: &Name,
        known: impl IntoIterator<Item = &'n str>,
    ) -> Diagnostic {
        let message = format!("there is no {what} `{}`", name.text);
        let mut known: Vec<&str> = known.into_iter().collect();
        // Sorted, so that the same text gives the same message each time.
        known.sort_unstable();
        let error = Diagnostic::error(code, name.span.clone(), message);
        let suggestion = suggest(&name.text, known.iter().copied());
        let listed = matches!(what, "event" | "state") && (1..=LISTED_MAX).contains(&known.len());
        if suggestion.is_none() && listed {
            let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
            return error.help(format!("known: {}", known.join(", ")));
        }
        error.did_you_mean(suggestion)
    }
}

fn plural(what: &str) -> String {
    match what.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{what}s"),
    }
}

/// For each event and slice parameter, the capture that binds it.
fn bindings(declaration: &PropertyDeclaration, events: &[SymbolicEvent]) -> Vec<Vec<Option<u8>>> {
    let slot_of = |event: &SymbolicEvent, parameter: &Name| {
        let slot = event
            .captures
            .iter()
            .position(|capture| !capture.hoisted && capture.name == parameter.text)?;
        u8::try_from(slot).ok()
    };
    let of_event = |event| {
        declaration
            .slice
            .iter()
            .map(|parameter| slot_of(event, parameter))
            .collect()
    };
    events.iter().map(of_event).collect()
}
