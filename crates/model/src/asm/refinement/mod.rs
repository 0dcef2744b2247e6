//! Does a model only what an abstract one does?
//!
//! The claim is an *abstraction*: functions of the abstract model, each as an
//! expression over this one. Every run of this model must be one of the
//! abstract model, as far as these functions show; either may make steps that
//! do not show. Both are searched together: a state of this model with all
//! states in which the abstract one can be after showing the same. Where none
//! is left, the two part, on a shortest way.

mod above;
mod room;
mod search;
mod shadow;
#[cfg(test)]
mod tests;

use super::environment::Stop;
use super::program::{FunctionId, Model};
use crate::promela::Text;
use crate::system::System;
use crate::{Cut, Fault, Options, Trail};
use above::Above;
pub use above::Shown;
use room::GoOn;
use search::Search;
pub use shadow::{Astray, Parted, Shadow};
use std::collections::BTreeSet;

/// Where two models part.
#[derive(Debug)]
pub struct Divergence {
    /// The way of the refined model, its last step being the one that the
    /// abstract model does not make.
    pub trail: Trail,
    /// What the functions are called.
    pub names: Vec<String>,
    /// What both show before that step.
    pub before: Shown,
    /// What the refined model shows after it.
    pub after: Shown,
    /// What the abstract model can show next instead.
    pub possible: BTreeSet<Shown>,
}

/// What a search for a divergence has come to.
#[derive(Debug)]
pub struct Refinement {
    /// Where the models part.
    pub divergence: Option<Divergence>,
    /// What is wrong in one of the models.
    pub fault: Option<Fault>,
    /// It is the abstract one of whose texts the fault speaks, or that was cut short.
    pub is_abstract: bool,
    /// Why not everything was searched.
    pub cut: Option<Cut>,
    /// Pairs of a state and what the abstract model may be in.
    pub states: u64,
    /// The most steps on the way to such a pair.
    pub depth: u32,
}

impl Model {
    /// The texts of the abstract model; none if there is no claim.
    pub fn abstract_texts(&self) -> &[Text] {
        let abstraction = self.abstraction.as_deref();
        abstraction.map_or(&[], |abstraction| &abstraction.model.texts)
    }

    /// The file of the abstract model, if there is a claim.
    pub fn abstract_name(&self) -> Option<&str> {
        let abstraction = self.abstraction.as_deref()?;
        abstraction
            .model
            .texts
            .first()
            .map(|text| text.name.as_str())
    }

    /// Searches for a step that the abstract model does not make; nothing if
    /// there is no claim. `go_on` is asked now and then with how many states are
    /// known, and ends the search with `false`.
    pub fn refinement(&self, options: &Options, go_on: GoOn<'_>) -> Option<Refinement> {
        self.refinement_by(self, options, go_on)
    }

    /// The same, where another system makes the steps of this model.
    pub fn refinement_by<S: System>(
        &self,
        system: &S,
        options: &Options,
        go_on: GoOn<'_>,
    ) -> Option<Refinement> {
        let abstraction = self.abstraction.as_deref()?;
        let model = &abstraction.model;
        let ids = abstraction.pairs.iter().map(|(id, _)| *id).collect();
        let show = |state: &[u8]| {
            let state = self.state(state);
            let pairs = abstraction.pairs.iter();
            let shown = pairs.map(|(_, term)| {
                let value = self.evaluate(&state, term).map_err(Stop::fault)?;
                Ok(self.show(&value))
            });
            shown.collect()
        };
        let mut search = Search::new(system, show, Above::new(model, ids));
        Some(search.refinement(options, go_on))
    }

    /// Searches for a step of another system that this machine does not make. What
    /// a state of the system shows are the values of functions without arguments,
    /// as they are written.
    ///
    /// # Errors
    /// The machine has no such function.
    pub fn is_refined_by<S: System>(
        &self,
        system: &S,
        functions: &[&str],
        show: impl Fn(&[u8]) -> Shown,
        options: &Options,
        go_on: GoOn<'_>,
    ) -> Result<Refinement, Fault> {
        let above = Above::new(self, functions_of(self, functions)?);
        let mut search = Search::new(system, |state: &[u8]| Ok(show(state)), above);
        Ok(search.refinement(options, go_on))
    }
}

/// The functions without arguments that have these names.
fn functions_of(model: &Model, names: &[&str]) -> Result<Vec<FunctionId>, Fault> {
    let ids = names.iter().map(|name| {
        let id = model.nullary(name).map(|(id, _)| id);
        id.ok_or_else(|| {
            let message = format!("the model has no function `{name}` without arguments");
            Fault::new("unknown-name", message, None)
        })
    });
    ids.collect()
}
