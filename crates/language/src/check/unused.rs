//! What is declared and has no effect.

use super::Checker;
use crate::diagnostic::Diagnostic;
use crate::syntax::Name;

impl Checker<'_> {
    /// Warns of what the property itself declares and nothing uses; what it
    /// shares, others may use.
    pub(super) fn warn_of_unused(&mut self) {
        let declarations = &self.declaration.declarations;
        let mut warnings = Vec::new();
        for event in &declarations.events {
            let slot = self.event_slots.get(&*event.name.text).copied();
            let used = slot.and_then(|slot| self.used_events.get(usize::from(slot)));
            if used == Some(&false) {
                let what = match self.declaration.demands.is_empty() {
                    true => "no transition is for the event",
                    false => "nothing speaks of the event",
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
                "nothing speaks of",
            ),
            (
                definitions.collect(),
                "unused-definition",
                "nothing speaks of",
            ),
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
