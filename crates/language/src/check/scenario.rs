//! Scenarios: triggers and visible names.
//!
//! A scenario may be for properties of other files. If the caller does not know the
//! properties, their states, actions and names are not checked.

use super::scope::{NamedContextValue, Scope};
use super::{Checker, Source, Uses, empty_property};
use crate::property::Property;
use crate::scenario::{ContextValue, Reaction, Scenario, StateName, Trigger};
use crate::syntax::{
    File, Name, PropertyDeclaration, ReactionDeclaration, ScenarioDeclaration, TriggerDeclaration,
};
use crate::term::Kind;
use juror_event::Verdict;
use juror_fault::Diagnostic;
use std::collections::HashMap;

/// The verdicts and their names.
const VERDICTS: [(&str, Verdict); 4] = [
    ("satisfied", Verdict::Satisfied),
    ("presumably satisfied", Verdict::PresumablySatisfied),
    ("presumably violated", Verdict::PresumablyViolated),
    ("violated", Verdict::Violated),
];

/// The properties whose names are visible.
pub(super) struct Known<'p> {
    /// The properties that a reaction concerns; `None` if unknown.
    pub properties: Option<Vec<&'p Property>>,
}

/// The properties to which scenarios may apply.
#[derive(Clone, Copy)]
pub(crate) struct Among<'p> {
    pub properties: &'p [&'p Property],
    /// True if there are no others.
    pub is_all: bool,
}

impl<'p> Among<'p> {
    /// Returns the properties to which a scenario may apply; `None` if unknown.
    fn of(self, declaration: &ScenarioDeclaration) -> Option<&'p [&'p Property]> {
        let named = &declaration.properties;
        let is_settled = if named.is_empty() {
            !self.properties.is_empty()
        } else {
            named.iter().all(|name| self.has(name))
        };
        (self.is_all || is_settled).then_some(self.properties)
    }

    fn has(self, name: &Name) -> bool {
        let mut known = self.properties.iter();
        known.any(|property| *property.name == *name.text)
    }
}

/// Checks the scenarios of a file; returns those without errors, and diagnostics.
pub(crate) fn check_scenarios(
    file: &File,
    uses: &Uses<'_>,
    among: Among<'_>,
) -> (Vec<Scenario>, Vec<Diagnostic>) {
    let mut sources: Vec<Source<'_>> = uses.seen.iter().map(Source::of_used).collect();
    sources.push(Source::own(&file.shared));
    let mut scenarios = Vec::new();
    let mut diagnostics = Vec::new();
    let mut names: HashMap<&str, &Name> = HashMap::new();
    let is_known = |it: &PropertyDeclaration| among.has(&it.name);
    // Properties with errors are missing here, and errors in scenarios may follow from
    // that.
    let is_sound = !uses.is_partial && file.properties.iter().all(is_known);
    for declaration in &file.scenarios {
        let variables = PropertyDeclaration {
            variables: declaration.variables.clone(),
            ..empty_property()
        };
        let mut checker = Checker::new(&variables, &sources, uses.is_partial);
        checker.declare_functions();
        // Errors in shared declarations are reported with the properties.
        checker.diagnostics.clear();
        checker.needs_unread = false;
        checker.unique(&mut names, &declaration.name, "scenario");
        checker.declare_variables();
        scenarios.extend(checker.scenario(declaration, among.of(declaration).filter(|_| is_sound)));
        diagnostics.append(&mut checker.diagnostics);
    }
    (scenarios, diagnostics)
}

impl Checker<'_> {
    fn scenario(
        &mut self,
        declaration: &ScenarioDeclaration,
        properties: Option<&[&Property]>,
    ) -> Option<Scenario> {
        self.scenario_variables();
        let all = properties.unwrap_or(&[]).iter().map(|it| &*it.name);
        let all: Vec<&str> = all.collect();
        for name in &declaration.properties {
            if properties.is_some() {
                self.known_property(name, &all);
            }
        }
        let is_meant = |property: &&&Property| {
            let mut wanted = declaration.properties.iter();
            declaration.properties.is_empty() || wanted.any(|name| *name.text == *property.name)
        };
        let own: Option<Vec<&Property>> =
            properties.map(|all| all.iter().filter(is_meant).copied().collect());
        let mut reactions = Vec::new();
        for reaction in &declaration.reactions {
            reactions.extend(self.reaction(reaction, own.as_deref()));
        }
        if declaration.reactions.is_empty() && declaration.complete {
            let message = format!("scenario `{}` has no reactions", declaration.name.text);
            let warning =
                Diagnostic::warning("no-reaction", declaration.name.span.clone(), message);
            self.diagnostics
                .push(warning.help("for example: `on verdict violated { backtrace stop }`"));
        }
        if self.has_errors() || !declaration.complete {
            return None;
        }
        Some(Scenario {
            name: declaration.name.text.clone(),
            description: declaration.description.clone(),
            properties: declaration
                .properties
                .iter()
                .map(|name| name.text.clone())
                .collect(),
            variables: std::mem::take(&mut self.variables),
            reactions,
            span: declaration.span.clone(),
        })
    }

    /// Reports a variable that has the name of a context value.
    fn scenario_variables(&mut self) {
        let reserved: Vec<Name> = self
            .declaration
            .variables
            .iter()
            .map(|variable| variable.name.clone())
            .filter(|name| {
                CONTEXT_VALUES
                    .iter()
                    .any(|(known, ..)| *known == &*name.text)
                    || *name.text == *super::scope::PROGRAM
            })
            .collect();
        for name in reserved {
            let message = format!("`{}` is reserved in scenarios", name.text);
            let error = Diagnostic::error("reserved-name", name.span, message);
            self.diagnostics.push(error.help("choose another name"));
        }
    }

    fn known_property(&mut self, name: &Name, known: &[&str]) {
        if known.contains(&&*name.text) {
            return;
        }
        let error = self.unknown("unknown-property", "property", name, known.iter().copied());
        let error = match (&error.help, known) {
            (Some(_), _) => error,
            (None, []) => error
                .help("no property is loaded: load its file with `use`, or with `--property FILE`"),
            (None, _) => error.help(format!("known: `{}`", known.join("`, `"))),
        };
        self.diagnostics.push(error);
    }

    fn reaction(
        &mut self,
        declaration: &ReactionDeclaration,
        properties: Option<&[&Property]>,
    ) -> Option<Reaction> {
        if let (Some(name), Some(known)) = (&declaration.property, properties) {
            let names: Vec<&str> = known.iter().map(|it| &*it.name).collect();
            self.known_property(name, &names);
        }
        let is_meant = |property: &&&Property| {
            let wanted = declaration.property.as_ref();
            wanted.is_none_or(|name| *name.text == *property.name)
        };
        let known = Known {
            properties: properties.map(|all| all.iter().filter(is_meant).copied().collect()),
        };
        let trigger = self.trigger(&declaration.trigger, &known)?;
        if let (Some(name), false) = (&declaration.property, trigger.is_of_monitor()) {
            let message = "this trigger does not concern a property";
            let error = Diagnostic::error("not-of-a-property", name.span.clone(), message);
            self.diagnostics
                .push(error.help("`of` is allowed with `enter`, `leave`, `verdict` and `action`"));
        }
        let mut scope =
            Scope::of_reaction(context_values(&trigger, &known), known.properties.is_none());
        let guard = match &declaration.guard {
            Some(guard) => Some(self.condition(guard, &mut scope)?),
            None => None,
        };
        let actions = self.actions(&declaration.body, &mut scope, &known);
        Some(Reaction {
            trigger,
            property: declaration.property.as_ref().map(|it| it.text.clone()),
            guard,
            body: self.reaction_block(actions?, scope),
            span: declaration.span.clone(),
        })
    }

    fn trigger(&mut self, trigger: &TriggerDeclaration, known: &Known<'_>) -> Option<Trigger> {
        Some(match trigger {
            TriggerDeclaration::Enter(names) => Trigger::Enter(self.state_names(names, known)?),
            TriggerDeclaration::Leave(names) => Trigger::Leave(self.state_names(names, known)?),
            TriggerDeclaration::Verdict(names) => Trigger::Verdict(self.verdicts(names)?),
            TriggerDeclaration::Action(name) => self.action_trigger(name, known)?,
            TriggerDeclaration::Start => Trigger::Start,
            TriggerDeclaration::Exit => Trigger::Exit,
            TriggerDeclaration::Stop => Trigger::Stop,
            TriggerDeclaration::Signal(name) => {
                Trigger::Signal(name.as_ref().map(|name| name.text.clone()))
            }
        })
    }

    fn verdicts(&mut self, names: &[Name]) -> Option<Vec<Verdict>> {
        let mut verdicts = Vec::new();
        let mut is_sound = true;
        for name in names {
            match VERDICTS.iter().find(|(known, _)| *known == &*name.text) {
                Some((_, verdict)) => verdicts.push(*verdict),
                None => {
                    is_sound = false;
                    let known = VERDICTS.map(|(known, _)| known);
                    let error = self.unknown("unknown-verdict", "verdict", name, known);
                    let error = match error.help {
                        Some(_) => error,
                        None => error.help(format!("verdicts: `{}`", known.join("`, `"))),
                    };
                    self.diagnostics.push(error);
                }
            }
        }
        if names.is_empty() {
            verdicts.extend(VERDICTS.map(|(_, verdict)| verdict));
        }
        is_sound.then_some(verdicts)
    }

    /// Resolves states by name or class.
    pub(super) fn state_names(
        &mut self,
        names: &[Name],
        known: &Known<'_>,
    ) -> Option<Vec<StateName>> {
        let mut states = Vec::new();
        let mut is_sound = true;
        for name in names {
            states.push(match &*name.text {
                "accepting" => StateName::Accepting,
                "non-accepting" => StateName::NonAccepting,
                "final" => StateName::Final,
                text => {
                    is_sound &= self.known_state(name, known);
                    StateName::Named(text.into())
                }
            });
        }
        is_sound.then_some(states)
    }

    fn known_state(&mut self, name: &Name, known: &Known<'_>) -> bool {
        let Some(properties) = &known.properties else {
            return true;
        };
        let states = properties.iter().flat_map(|property| property.states());
        let names: Vec<&str> = states.map(|state| &*state.name).collect();
        if names.contains(&&*name.text) {
            return true;
        }
        let error = self.unknown("unknown-state", "state", name, names.iter().copied());
        let error = match error.help {
            Some(_) => error,
            None => error.help(
                "the states of formulas have no names; use `accepting`, `non-accepting`, `final`",
            ),
        };
        self.diagnostics.push(error);
        false
    }

    fn action_trigger(&mut self, name: &Name, known: &Known<'_>) -> Option<Trigger> {
        if let Some(properties) = &known.properties {
            let names: Vec<&str> = properties.iter().flat_map(|it| action_names(it)).collect();
            if !names.contains(&&*name.text) {
                let error = self.unknown("unknown-action", "action", name, names.iter().copied());
                let error = match error.help {
                    Some(_) => error,
                    None => error.help(
                        "declare actions at states and transitions of the property: `state full \
                         action alarm`",
                    ),
                };
                self.diagnostics.push(error);
                return None;
            }
        }
        Some(Trigger::Action(name.text.clone()))
    }
}

/// Iterates over the names of a property's actions.
fn action_names(property: &Property) -> impl Iterator<Item = &str> {
    property.states().iter().flat_map(|state| {
        let branches = state.transitions.iter().flat_map(|it| it.branches());
        let branches = branches.filter_map(|branch| branch.action.as_deref());
        branches.chain(state.action.as_deref())
    })
}

/// The context values of all triggers, by name.
const CONTEXT_VALUES: &[(&str, ContextValue, Kind)] = &[
    ("property_name", ContextValue::Property, Kind::String),
    ("event_name", ContextValue::Event, Kind::String),
    ("old_state", ContextValue::OldState, Kind::String),
    ("new_state", ContextValue::NewState, Kind::String),
    ("verdict", ContextValue::Verdict, Kind::String),
    ("thread", ContextValue::Thread, Kind::Integer),
    ("stop_reason", ContextValue::Reason, Kind::String),
    ("signal_name", ContextValue::Signal, Kind::String),
    ("exit_status", ContextValue::ExitStatus, Kind::Integer),
    ("point", ContextValue::Point, Kind::Integer),
    ("old_value", ContextValue::OldValue, Kind::String),
    ("new_value", ContextValue::NewValue, Kind::String),
];

fn fixed(wanted: &[ContextValue]) -> Vec<NamedContextValue> {
    let chosen = CONTEXT_VALUES
        .iter()
        .filter(|(_, context_value, _)| wanted.contains(context_value));
    chosen
        .map(|(name, context_value, kind)| NamedContextValue {
            name: (*name).into(),
            context_value: context_value.clone(),
            kind: *kind,
        })
        .collect()
}

/// Returns the context values of a point.
pub(super) fn point_context_values(is_watch: bool) -> Vec<NamedContextValue> {
    if is_watch {
        fixed(&[
            ContextValue::Point,
            ContextValue::Thread,
            ContextValue::OldValue,
            ContextValue::NewValue,
        ])
    } else {
        fixed(&[ContextValue::Point, ContextValue::Thread])
    }
}

fn context_values(trigger: &Trigger, known: &Known<'_>) -> Vec<NamedContextValue> {
    let mut context_values = match trigger {
        Trigger::Start => return fixed(&[ContextValue::Thread]),
        Trigger::Exit => return fixed(&[ContextValue::ExitStatus]),
        Trigger::Stop => return fixed(&[ContextValue::Reason, ContextValue::Thread]),
        Trigger::Signal(_) => return fixed(&[ContextValue::Signal, ContextValue::Thread]),
        _ => fixed(&[
            ContextValue::Property,
            ContextValue::Event,
            ContextValue::OldState,
            ContextValue::NewState,
            ContextValue::Verdict,
            ContextValue::Thread,
        ]),
    };
    let mut add = |name: &str, context_value: ContextValue, kind| {
        if !context_values.iter().any(|known| *known.name == *name) {
            let name = name.into();
            context_values.push(NamedContextValue {
                name,
                context_value,
                kind,
            });
        }
    };
    for property in known.properties.iter().flatten() {
        for name in &property.slice {
            add(name, ContextValue::Parameter(name.clone()), Kind::Unknown);
        }
        for variable in &property.variables {
            let name = &variable.name;
            add(name, ContextValue::Variable(name.clone()), Kind::Unknown);
        }
    }
    context_values
}
