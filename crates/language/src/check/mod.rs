//! The checker: resolves the names of a syntax tree to slots, and reports meaningless
//! code.
//!
//! **Invariant:** a property is returned only if it has no errors; every slot, state
//! and event number in it is valid.

mod computed;
mod context_values;
mod contradiction;
mod declarations;
mod event;
mod expression;
mod formula;
mod function;
mod grounding;
mod guards;
mod hoisting;
mod kinds;
mod logic;
mod names;
mod pattern;
mod program_types;
mod reachability;
mod reaction;
mod scenario;
mod scope;
mod sequence;
mod state;
mod unused;
mod updates;

pub(crate) use scenario::{Among, check_scenarios};

use crate::property::{Behaviour, Property, StateId, Variable};
use crate::syntax::{Declarations, File, Name, PropertyDeclaration};
use crate::term::{Function, Kind};
use juror_event::SymbolicEvent;
use juror_fault::Diagnostic;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// The maximum number of captures of an event, which are bits of a mask.
const CAPTURES_MAX: usize = 64;
/// The maximum number of slice parameters of a property.
const SLICE_PARAMETERS_MAX: usize = 16;
/// The maximum number of events, variables or states of a property: monitors keep a
/// table of states by events.
const ITEMS_MAX: usize = 1_000;

/// The declarations of another file, and the `use` that imports them, where diagnostics
/// about them are reported.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Used<'a> {
    pub declarations: &'a Declarations,
    pub span: &'a Range<usize>,
}

/// The declarations that a file sees of the files that it uses, the nearest last.
#[derive(Debug, Clone, Default)]
pub(crate) struct Uses<'a> {
    pub seen: Vec<Used<'a>>,
    /// True if some files could not be read: unknown names may be declared there.
    pub is_partial: bool,
}

/// Checks a file; returns the properties without errors, and diagnostics.
///
/// Syntax errors are not reported again; a property with syntax errors is checked but
/// not returned. The used files are not read; see [`crate::load_with`].
pub fn check(file: &File) -> (Vec<Property>, Vec<Diagnostic>) {
    check_with(file, &Uses::default())
}

/// Checks a file with the declarations of the files that it uses.
pub(crate) fn check_with(file: &File, uses: &Uses<'_>) -> (Vec<Property>, Vec<Diagnostic>) {
    let mut sources: Vec<Source<'_>> = uses.seen.iter().map(Source::of_used).collect();
    sources.push(Source::own(&file.shared));
    let mut properties = Vec::new();
    let mut diagnostics = Vec::new();
    let mut names: HashMap<&str, &Name> = HashMap::new();
    // Declarations that no property uses must be correct, too.
    let nobody = empty_property();
    let mut checker = Checker::new(&nobody, &sources, uses.is_partial);
    checker.shared_declarations();
    diagnostics.append(&mut checker.diagnostics);
    for declaration in &file.properties {
        let mut checker = Checker::new(declaration, &sources, uses.is_partial);
        checker.unique(&mut names, &declaration.name, "property");
        let property = checker.property();
        properties.extend(property);
        diagnostics.append(&mut checker.diagnostics);
    }
    (properties, distinct(diagnostics))
}

/// Removes duplicate diagnostics: several properties may share a declaration.
fn distinct(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut seen = HashSet::new();
    let mut kept = Vec::new();
    for diagnostic in diagnostics {
        let key = (
            diagnostic.code,
            diagnostic.span.clone(),
            diagnostic.message.clone(),
        );
        if seen.insert(key) {
            kept.push(diagnostic);
        }
    }
    kept
}

fn empty_property() -> PropertyDeclaration {
    PropertyDeclaration {
        name: Name {
            text: "".into(),
            span: 0..0,
        },
        description: None,
        slice: Vec::new(),
        for_each: None,
        declarations: Declarations::default(),
        variables: Vec::new(),
        states: Vec::new(),
        demands: Vec::new(),
        complete: false,
        span: 0..0,
    }
}

/// Declarations that a property sees, and for those of another file the `use` that
/// imports them.
#[derive(Clone, Copy)]
struct Source<'a> {
    declarations: &'a Declarations,
    origin: Option<&'a Range<usize>>,
}

impl<'a> Source<'a> {
    fn own(declarations: &'a Declarations) -> Source<'a> {
        Source {
            declarations,
            origin: None,
        }
    }

    fn of_used(used: &Used<'a>) -> Source<'a> {
        Source {
            declarations: used.declarations,
            origin: Some(used.span),
        }
    }
}

/// The state of the check of one property.
struct Checker<'a> {
    declaration: &'a PropertyDeclaration,
    /// The declarations that it sees, its own last.
    sources: Vec<Source<'a>>,
    diagnostics: Vec<Diagnostic>,
    events: Vec<SymbolicEvent>,
    /// By event: the number of declared captures.
    declared_counts: Vec<usize>,
    /// By event and capture: what is known about the value.
    capture_kinds: Vec<Vec<Kind>>,
    /// By event: true if a transition or proposition refers to it.
    used_events: Vec<bool>,
    event_slots: HashMap<&'a str, u16>,
    variables: Vec<Variable>,
    variable_slots: HashMap<&'a str, u16>,
    /// The variables that a guard or update reads.
    read_variables: HashSet<u16>,
    state_slots: HashMap<&'a str, StateId>,
    functions: Arc<Vec<Function>>,
    /// By name: the position, and the number of parameters.
    function_slots: HashMap<&'a str, (u16, usize)>,
    /// True while functions are checked: their calls need no table.
    in_function: bool,
    /// The functions, propositions and formulas that are used.
    used_names: HashSet<&'a str>,
    /// The names that events give to their captures.
    capture_names: HashSet<&'a str>,
    /// The names of declarations that have syntax errors.
    unread: HashSet<&'a str>,
    /// True if there are declarations in files that could not be read.
    is_partial: bool,
    /// True if a declaration with a syntax error is used.
    needs_unread: bool,
}

impl<'a> Checker<'a> {
    fn new(
        declaration: &'a PropertyDeclaration,
        shared: &[Source<'a>],
        is_partial: bool,
    ) -> Checker<'a> {
        let mut sources = shared.to_vec();
        sources.push(Source::own(&declaration.declarations));
        let captures = sources
            .iter()
            .flat_map(|source| captures(source.declarations));
        let capture_names = captures.collect();
        let unread = sources.iter().flat_map(|it| &it.declarations.unread);
        let unread = unread.map(|name| &*name.text).collect();
        Checker {
            declaration,
            sources,
            diagnostics: Vec::new(),
            events: Vec::new(),
            declared_counts: Vec::new(),
            capture_kinds: Vec::new(),
            used_events: Vec::new(),
            event_slots: HashMap::new(),
            variables: Vec::new(),
            variable_slots: HashMap::new(),
            read_variables: HashSet::new(),
            state_slots: HashMap::new(),
            functions: Arc::default(),
            function_slots: HashMap::new(),
            in_function: false,
            used_names: HashSet::new(),
            capture_names,
            unread,
            is_partial,
            needs_unread: false,
        }
    }

    fn property(&mut self) -> Option<Property> {
        let declaration = self.declaration;
        if !self.within_limits() {
            return None;
        }
        self.unique_declarations();
        self.declare_functions();
        self.declare_events();
        self.declare_variables();
        let parameters = self.parameters();
        let constraint = self.constraint(&parameters);
        let is_logic = !declaration.demands.is_empty();
        self.exclusive_behaviour(is_logic);
        let behaviour = if is_logic {
            let logic = self.logic(&parameters);
            logic.map(Behaviour::Logic)
        } else {
            let automaton = self.automaton();
            if declaration.complete && !self.needs_unread {
                self.bound_parameters(&parameters);
            }
            Some(automaton)
        };
        if self.is_sound() {
            self.warn_of_unused();
        }
        self.check_unused(&parameters);
        if !self.is_sound() {
            return None;
        }
        let slice: Vec<Box<str>> = parameters.iter().map(|p| p.name.text.clone()).collect();
        Some(Property {
            name: declaration.name.text.clone(),
            description: declaration.description.clone(),
            source_name: None,
            bindings: bindings(&slice, &self.events),
            slice,
            events: std::mem::take(&mut self.events),
            variables: std::mem::take(&mut self.variables),
            functions: Arc::clone(&self.functions),
            constraint,
            behaviour: behaviour?,
            span: declaration.span.clone(),
        })
    }

    /// Checks the states.
    fn automaton(&mut self) -> Behaviour {
        self.declare_states();
        let states = self.resolved_states();
        let initial = self.initial_state();
        if self.is_sound() {
            self.warn_of_unreachable(&states, initial);
            self.warn_of_stuck(&states);
            self.warn_of_guards(&states);
        }
        Behaviour::Automaton { states, initial }
    }

    /// Checks that there are either states or a formula or expression, since each
    /// defines steps in its own way.
    fn exclusive_behaviour(&mut self, is_logic: bool) {
        let declaration = self.declaration;
        let (true, Some(demand)) = (is_logic, declaration.demands.first()) else {
            return;
        };
        if let Some(state) = declaration.states.first() {
            self.diagnostics.push(
                Diagnostic::error(
                    "two-behaviours",
                    state.name.span.clone(),
                    "a property has states or a formula, not both",
                )
                .label(demand.span.clone(), "the demand is here")
                .help("write two properties; they can share events declared before the first"),
            );
        }
        if let Some(variable) = declaration.variables.first() {
            self.diagnostics.push(
                Diagnostic::error(
                    "variable-without-states",
                    variable.name.span.clone(),
                    "only properties with states have variables",
                )
                .label(demand.span.clone(), "this has a formula or expression")
                .help(
                    "use a proposition to keep state for a formula: `proposition open set … \
                     cleared …`",
                ),
            );
        }
    }

    /// Checks all declarations that properties may share.
    fn shared_declarations(&mut self) {
        self.unique_declarations();
        self.declare_functions();
        let own: Vec<Source<'a>> = self.sources.clone();
        for source in own {
            for event in &source.declarations.events {
                self.event_slot_named(&event.name.text);
            }
        }
        self.check_unused(&[]);
    }

    /// Runs a check of a declaration; if it is in another file, its diagnostics are
    /// reported at the `use`.
    fn at_origin<T>(
        &mut self,
        origin: Option<&Range<usize>>,
        check: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before = self.diagnostics.len();
        let result = check(self);
        if let Some(origin) = origin {
            for diagnostic in self.diagnostics.iter_mut().skip(before) {
                diagnostic.span = origin.clone();
                diagnostic.labels.clear();
            }
        }
        result
    }

    fn within_limits(&mut self) -> bool {
        let declaration = self.declaration;
        let before = self.diagnostics.len();
        let parameters = declaration.for_each.as_ref();
        let parameters = parameters.map_or(0, |each| each.parameters.len());
        let all = |count: fn(&Declarations) -> usize| {
            let counts = self.sources.iter().map(|s| count(s.declarations));
            counts.sum::<usize>()
        };
        let counts = [
            (all(|d| d.events.len()), ITEMS_MAX, "events"),
            (all(|d| d.propositions.len()), ITEMS_MAX, "propositions"),
            (all(|d| d.functions.len()), ITEMS_MAX, "functions"),
            (declaration.variables.len(), ITEMS_MAX, "variables"),
            (declaration.states.len(), ITEMS_MAX, "states"),
            (
                declaration.slice.len() + parameters,
                SLICE_PARAMETERS_MAX,
                "slice parameters",
            ),
        ];
        for (count, limit, what) in counts {
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

    /// Returns true if there are no errors, including syntax errors.
    fn is_sound(&self) -> bool {
        self.declaration.complete && !self.has_errors()
    }

    fn has_errors(&self) -> bool {
        self.needs_unread || self.diagnostics.iter().any(Diagnostic::is_error)
    }

    fn error(&mut self, code: &'static str, span: &Range<usize>, message: impl Into<String>) {
        let error = Diagnostic::error(code, span.clone(), message);
        self.diagnostics.push(error);
    }
}

/// Iterates over the names of the captures of these declarations.
fn captures(declarations: &Declarations) -> impl Iterator<Item = &str> {
    let inline = declarations
        .propositions
        .iter()
        .flat_map(|proposition| &proposition.clauses)
        .filter_map(|clause| match &clause.event {
            crate::syntax::EventReference::Inline(event) => Some(&**event),
            crate::syntax::EventReference::Named(_) => None,
        });
    let events = declarations.events.iter().chain(inline);
    events
        .flat_map(|event| &event.captures)
        .map(|capture| &*capture.name.text)
}

/// Returns for each event and slice parameter the capture that binds it.
fn bindings(slice: &[Box<str>], events: &[SymbolicEvent]) -> Vec<Vec<Option<u8>>> {
    let slot_of = |event: &SymbolicEvent, parameter: &str| {
        let slot = event
            .captures
            .iter()
            .position(|capture| !capture.hoisted && &*capture.name == parameter)?;
        u8::try_from(slot).ok()
    };
    let of_event = |event| {
        let slots = slice.iter().map(|parameter| slot_of(event, parameter));
        slots.collect()
    };
    events.iter().map(of_event).collect()
}
