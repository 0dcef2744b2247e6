//! Checks that a model refines an abstract one.
//!
//! The claim is an *abstraction*: functions of the abstract model, each as an expression
//! over this one. Every run of this model must be a run of the abstract model as far as
//! these functions are observed; both may make unobservable (stuttering) steps. Both are
//! searched together: a state of this model is paired with the set of all states in which
//! the abstract one can be after the same observations. If that set becomes empty, the
//! models diverge, and the path is a shortest one.

mod abstract_machine;
mod budget;
mod search;
mod shadow;
#[cfg(test)]
mod tests;

use super::environment::Stop;
use super::program::{FunctionId, Model};
use crate::promela::Text;
use crate::system::System;
use crate::{Cut, Fault, Options, Trail};
use abstract_machine::AbstractMachine;
pub use abstract_machine::Observation;
use budget::GoOn;
use search::Search;
pub use shadow::{Mismatch, Shadow, ShadowError};
use std::collections::BTreeSet;

/// A divergence of two models.
#[derive(Debug)]
pub struct Divergence {
    /// The path of the refined model; the abstract model cannot make its last step.
    pub trail: Trail,
    /// Names of the observed functions.
    pub names: Vec<String>,
    /// The common observation before that step.
    pub before: Observation,
    /// The observation of the refined model after it.
    pub after: Observation,
    /// The possible next observations of the abstract model.
    pub possible: BTreeSet<Observation>,
}

/// The result of a refinement check.
#[derive(Debug)]
pub struct Refinement {
    /// The divergence, if there is one.
    pub divergence: Option<Divergence>,
    /// A fault of one of the models.
    pub fault: Option<Fault>,
    /// Whether the fault, or the cut, is in the abstract model.
    pub is_abstract: bool,
    /// The reason that not everything was searched.
    pub cut: Option<Cut>,
    /// Number of pairs of a state and a belief.
    pub states: u64,
    /// Maximum number of steps on the path to a pair.
    pub depth: u32,
}

impl Model {
    /// Returns the texts of the abstract model; empty if there is no claim.
    pub fn abstract_texts(&self) -> &[Text] {
        let abstraction = self.abstraction.as_deref();
        abstraction.map_or(&[], |abstraction| &abstraction.model.texts)
    }

    /// Returns the file name of the abstract model, if there is a claim.
    pub fn abstract_name(&self) -> Option<&str> {
        let abstraction = self.abstraction.as_deref()?;
        abstraction
            .model
            .texts
            .first()
            .map(|text| text.name.as_str())
    }

    /// Searches for a step that the abstract model does not make; `None` if there is no
    /// claim. `go_on` is called from time to time with the number of known pairs; the
    /// search stops if it returns false.
    pub fn refinement(&self, options: &Options, go_on: GoOn<'_>) -> Option<Refinement> {
        self.refinement_by(self, options, go_on)
    }

    /// As [`Model::refinement`], with the steps of this model made by another system.
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
        let mut search = Search::new(system, show, AbstractMachine::new(model, ids));
        Some(search.refinement(options, go_on))
    }

    /// Searches for a step of another system that this machine does not make. The
    /// observation of a state of the system is the values of functions without arguments,
    /// in source syntax.
    ///
    /// # Errors
    /// The machine has no such function.
    pub fn is_refined_by<S: System>(
        &self,
        system: &S,
        functions: &[&str],
        show: impl Fn(&[u8]) -> Observation,
        options: &Options,
        go_on: GoOn<'_>,
    ) -> Result<Refinement, Fault> {
        let abstract_machine = AbstractMachine::new(self, functions_of(self, functions)?);
        let mut search = Search::new(system, |state: &[u8]| Ok(show(state)), abstract_machine);
        Ok(search.refinement(options, go_on))
    }
}

/// Returns the functions without arguments with these names.
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
