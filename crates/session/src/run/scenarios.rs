//! Scenarios: reactions to monitors and to the debugger.
//!
//! After Jakse, Falcone and Méhaut, *Interactive Runtime Verification* (2019), sections 6.5, 6.6.3
//! (SCNCMD) and 8.3. Triggers are resolved to numbers (`listening`), effects are produced statement
//! by statement (`performance`); both are pure. During a reaction every thread is stopped
//! (`reactions`, `carrying`), and its effects are executed as commands of the prompt (`effects`).
//!
//! **Invariant**: if no scenario is loaded, an event costs one test. An error in a reaction is
//! never lost: it stops the program, and is shown in the text of its scenario.

mod addresses;
pub(crate) mod carrying;
pub(crate) mod effects;
pub(crate) mod notifying;
pub(crate) mod permissions;
pub(crate) mod reactions;
#[cfg(test)]
mod tests;
pub(crate) mod waiting;

pub(crate) use crate::commands::scenario::{ACTIONS, loaded_sentence};
use crate::session::Session;
use crate::state::scenarios::Loaded;
use juror_fault::{CommandError, FileDiagnostics, SessionError};
use juror_language::{Diagnostic, Property, Scenario};
use juror_monitoring::listening::listeners;
use juror_monitoring::property_files::PropertySource;
use std::sync::Arc;

/// Parses the scenarios of a file, for these properties, with its diagnostics.
pub(crate) fn read(
    source: &PropertySource,
    properties: &[&Property],
) -> Result<(Vec<Scenario>, Vec<Diagnostic>), SessionError> {
    let loaded = source.load_among(properties);
    let errors = loaded.diagnostics.iter().any(Diagnostic::is_error);
    if errors {
        return Err(SessionError::Scenario {
            file: source.file.clone(),
            found: vec![FileDiagnostics {
                file: source.file.clone(),
                text: source.text.as_str().into(),
                diagnostics: loaded.diagnostics,
            }],
        });
    }
    Ok((loaded.scenarios, loaded.diagnostics))
}

impl Session {
    /// Returns the scenarios of a file, checked against the loaded ones.
    pub(crate) fn scenarios_of(
        &self,
        source: &PropertySource,
    ) -> Result<Vec<Scenario>, CommandError> {
        let shown = self.processes.monitors.shown().iter();
        let properties: Vec<Arc<Property>> = shown.map(|it| Arc::clone(&it.property)).collect();
        let known: Vec<&Property> = properties.iter().map(|it| &**it).collect();
        let (found, _) = read(source, &known)?;
        if let Some(same) = found
            .iter()
            .find(|it| self.scenarios.names().any(|name| *name == *it.name))
        {
            return Err(CommandError::with_help(
                format!("scenario `{}` is already loaded", same.name),
                format!("first delete it: scenario delete {}", same.name),
            ));
        }
        Ok(found)
    }

    /// Loads the scenarios of a file, after all others; returns their names.
    pub(crate) fn load_scenarios(
        &mut self,
        source: &PropertySource,
    ) -> Result<Vec<String>, CommandError> {
        let found = self.scenarios_of(source)?;
        if found.is_empty() {
            return Err(CommandError::with_help(
                format!("there is no scenario in {}", source.file),
                "a scenario begins with `scenario NAME`; properties come with property add",
            ));
        }
        let text: Arc<str> = source.text.as_str().into();
        let names = found.iter().map(|it| it.name.to_string()).collect();
        for scenario in found {
            let variables = scenario.variables.iter();
            let loaded = Loaded {
                variables: variables.map(|it| it.initial.clone()).collect(),
                scenario,
                file: source.file.clone(),
                text: Arc::clone(&text),
                is_enabled: true,
                reactions: 0,
                signal_points: Vec::new(),
            };
            self.scenarios.list.push(loaded);
            let number = self.scenarios.list.len() - 1;
            effects::await_signals(self, number)?;
        }
        self.renew_listeners();
        Ok(names)
    }

    /// Resolves the triggers of the scenarios to the present properties.
    pub(crate) fn renew_listeners(&mut self) {
        let scenarios = &self.scenarios.list;
        let listening: Vec<_> = self
            .processes
            .monitors
            .shown()
            .iter()
            .map(|monitored| {
                let all = scenarios.iter().map(|it| (it.is_enabled, &it.scenario));
                listeners(all, &monitored.property)
            })
            .collect();
        let is_any = listening.iter().any(|it| !it.is_empty());
        let listening = if is_any { listening } else { Vec::new() };
        for process in self.processes.all_mut() {
            process
                .monitors
                .subscriptions
                .listeners
                .clone_from(&listening);
        }
    }
}
