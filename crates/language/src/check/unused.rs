//! Declarations without effect.

use super::declarations::Parameter;
use super::formula::Environment;
use super::grounding::{Argument, Grounding};
use super::{Checker, Source};
use crate::syntax::Name;
use juror_fault::Diagnostic;

impl<'a> Checker<'a> {
    /// Checks unused propositions and formulas: their events and names must be correct,
    /// too. Events that only they use are not the property's.
    pub(super) fn check_unused(&mut self, parameters: &[Parameter<'a>]) {
        let Some(source) = self.sources.last().copied() else {
            return;
        };
        let shared = self.sources.iter().rev().nth(1).copied();
        let events = self.events.clone();
        let counts = self.declared_counts.clone();
        let kinds = self.capture_kinds.clone();
        let slots = self.event_slots.clone();
        let used = (self.used_events.clone(), self.used_names.clone());
        let nobody = self.declaration.name.text.is_empty();
        let looked_at = if nobody { shared } else { Some(source) };
        if let Some(Source { declarations, .. }) = looked_at {
            for declaration in &declarations.propositions {
                if !used.1.contains(&*declaration.name.text) {
                    let arguments = vec![Argument::Any; declaration.parameters.len()];
                    let mut grounding = Grounding::new(&[]);
                    let name = &declaration.name;
                    self.ground_proposition(declaration, None, arguments, name, &mut grounding);
                }
            }
            for definition in &declarations.definitions {
                // A parameter may be a formula or an argument, which only a use
                // decides.
                if !used.1.contains(&*definition.name.text) && definition.parameters.is_empty() {
                    let outside = Environment::outside();
                    let mut grounding = Grounding::new(parameters);
                    self.formula(&definition.formula, &outside, &mut grounding);
                }
            }
        }
        self.events = events;
        self.declared_counts = counts;
        self.capture_kinds = kinds;
        self.event_slots = slots;
        (self.used_events, self.used_names) = used;
    }

    /// Warns of the property's own unused declarations; shared ones may be used by
    /// others.
    pub(super) fn warn_of_unused(&mut self) {
        let declarations = &self.declaration.declarations;
        let mut warnings = Vec::new();
        for event in &declarations.events {
            let slot = self.event_slots.get(&*event.name.text).copied();
            let used = slot.and_then(|slot| self.used_events.get(usize::from(slot)));
            if used == Some(&false) {
                let what = if self.declaration.demands.is_empty() {
                    "no transition uses the event"
                } else {
                    "nothing uses the event"
                };
                warnings.push(unused("unused-event", &event.name, what));
            }
        }
        for (slot, variable) in (0_u16..).zip(&self.declaration.variables) {
            if !self.read_variables.contains(&slot) {
                let what = "no guard and no update reads the variable";
                warnings.push(unused("unused-variable", &variable.name, what));
            }
        }
        let propositions = declarations.propositions.iter().map(|p| &p.name);
        let definitions = declarations.definitions.iter().map(|d| &d.name);
        let functions = declarations.functions.iter().map(|f| &f.name);
        let others = [
            (
                propositions.collect::<Vec<_>>(),
                "unused-proposition",
                "nothing uses",
            ),
            (definitions.collect(), "unused-definition", "nothing uses"),
            (functions.collect(), "unused-function", "nothing calls"),
        ];
        for (names, code, what) in others {
            let names = names.into_iter();
            let unknown = names.filter(|name| !self.used_names.contains(&*name.text));
            warnings.extend(unknown.map(|name| unused(code, name, what)));
        }
        self.diagnostics.append(&mut warnings);
    }
}

fn unused(code: &'static str, name: &Name, what: &str) -> Diagnostic {
    let message = format!("{what} `{}`", name.text);
    Diagnostic::warning(code, name.span.clone(), message)
}
