//! Declared names, and reports of unknown names.

use super::Checker;
use crate::suggest::suggest;
use crate::syntax::{EventDeclaration, FormulaDefinition, Name, PropositionDeclaration};
use juror_fault::Diagnostic;
use std::collections::HashMap;
use std::ops::Range;

/// The maximum number of known names that a message lists.
const LISTED_MAX: usize = 8;

impl<'a> Checker<'a> {
    pub(super) fn event_declaration(
        &self,
        name: &str,
    ) -> Option<(&'a EventDeclaration, Option<&'a Range<usize>>)> {
        self.sources.iter().rev().find_map(|source| {
            let events = &source.declarations.events;
            let found = events.iter().find(|event| &*event.name.text == name)?;
            Some((found, source.origin))
        })
    }

    pub(super) fn proposition_declaration(
        &self,
        name: &str,
    ) -> Option<(&'a PropositionDeclaration, Option<&'a Range<usize>>)> {
        self.sources.iter().rev().find_map(|source| {
            let propositions = &source.declarations.propositions;
            let found = propositions.iter().find(|p| &*p.name.text == name)?;
            Some((found, source.origin))
        })
    }

    pub(super) fn formula_definition(
        &self,
        name: &str,
    ) -> Option<(&'a FormulaDefinition, Option<&'a Range<usize>>)> {
        self.sources.iter().rev().find_map(|source| {
            let definitions = &source.declarations.definitions;
            let found = definitions.iter().find(|d| &*d.name.text == name)?;
            Some((found, source.origin))
        })
    }

    /// Declares a name; reports an error and returns false if it exists already.
    pub(super) fn unique<'n>(
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

    /// Reports an unknown name, unless its declaration, or a file that may contain it,
    /// could not be read, which has been reported.
    pub(super) fn report_unknown(&mut self, name: &str, error: Diagnostic) {
        if self.is_partial || self.unread.contains(name) {
            self.needs_unread = true;
        } else {
            self.diagnostics.push(error);
        }
    }

    pub(super) fn unknown<'n>(
        &mut self,
        code: &'static str,
        what: &str,
        name: &Name,
        known: impl IntoIterator<Item = &'n str>,
    ) -> Diagnostic {
        let message = format!("there is no {what} `{}`", name.text);
        let mut known: Vec<&str> = known.into_iter().collect();
        // Sorted, so that messages are deterministic.
        known.sort_unstable();
        known.dedup();
        let error = Diagnostic::error(code, name.span.clone(), message);
        let suggestion = suggest(&name.text, known.iter().copied());
        let listed = matches!(what, "event" | "state" | "proposition or event")
            && (1..=LISTED_MAX).contains(&known.len());
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
