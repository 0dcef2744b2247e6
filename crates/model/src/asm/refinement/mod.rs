//! Does a model only what an abstract one does?
//!
//! The claim is an *abstraction*: functions of the abstract model, each as an
//! expression over this one. Every run of this model must be one of the
//! abstract model, as far as these functions show; either may make steps that
//! do not show. Both are searched together: a state of this model with all
//! states in which the abstract one can be after showing the same. Where none
//! is left, the two part, on a shortest way.

mod above;
mod shadow;
#[cfg(test)]
mod tests;

use super::environment::Stop;
use super::program::{FunctionId, Model};
use crate::promela::Text;
use crate::system::{Participants, System, Visitor};
use crate::{Cut, Fault, Options, Trail};
pub use above::Shown;
use above::{Above, Belief};
use rustc_hash::FxHashMap;
pub use shadow::{Astray, Parted, Shadow};
use std::collections::BTreeSet;
use std::sync::Arc;

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
    /// It is the abstract one, of whose texts the fault speaks.
    pub is_abstract_wrong: bool,
    /// Why not everything was searched.
    pub cut: Option<Cut>,
    /// Pairs of a state and what the abstract model may be in.
    pub states: u64,
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
    /// there is no claim.
    pub fn refinement(
        &self,
        options: &Options,
        go_on: &mut dyn FnMut(u64) -> bool,
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
        let mut search = Search::new(self, show, Above::new(model, ids));
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
        go_on: &mut dyn FnMut(u64) -> bool,
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

enum End {
    All,
    Cut(Cut),
    Divergence(Box<Divergence>),
}

/// A state of the refined system, and where the abstract machine can be.
struct Node {
    state: Arc<[u8]>,
    belief: Belief,
    shown: Arc<Shown>,
    parent: Option<usize>,
}

/// States, with what they show.
type Steps = Arc<[(Arc<[u8]>, Arc<Shown>)]>;

struct Search<'a, S, F> {
    system: &'a S,
    show: F,
    above: Above<&'a Model>,
    /// In the order of discovery.
    nodes: Vec<Node>,
    known: FxHashMap<(Arc<[u8]>, Belief), usize>,
    /// By state: those after it, with what they show.
    steps: FxHashMap<Arc<[u8]>, Steps>,
}

impl<'a, S: System, F: Fn(&[u8]) -> Result<Shown, Fault>> Search<'a, S, F> {
    fn new(system: &'a S, show: F, above: Above<&'a Model>) -> Search<'a, S, F> {
        Search {
            system,
            show,
            above,
            nodes: Vec::new(),
            known: FxHashMap::default(),
            steps: FxHashMap::default(),
        }
    }

    fn refinement(&mut self, options: &Options, go_on: &mut dyn FnMut(u64) -> bool) -> Refinement {
        let result = self.run(options, go_on);
        let mut refinement = Refinement {
            divergence: None,
            fault: None,
            is_abstract_wrong: self.above.failed,
            cut: None,
            states: self.nodes.len() as u64,
        };
        match result {
            Ok(End::Divergence(divergence)) => refinement.divergence = Some(*divergence),
            Ok(End::Cut(cut)) => refinement.cut = Some(cut),
            Ok(End::All) => {}
            Err(fault) => refinement.fault = Some(fault),
        }
        refinement
    }

    fn run(&mut self, options: &Options, go_on: &mut dyn FnMut(u64) -> bool) -> Result<End, Fault> {
        for state in next_states(self.system, None)? {
            let shown = Arc::new((self.show)(&state)?);
            let belief = self.above.begin(&shown)?;
            if belief.is_empty() {
                return Ok(End::Divergence(Box::new(Divergence {
                    trail: Trail::through(self.system, &[state.to_vec()], None),
                    names: self.above.names(),
                    before: Shown::new(),
                    after: Shown::clone(&shown),
                    possible: self.above.possible_first()?,
                })));
            }
            self.push(state, belief, shown, None);
        }
        let mut next = 0;
        while next < self.nodes.len() {
            if self.nodes.len() > options.states_max as usize {
                let limit = options.states_max;
                return Ok(End::Cut(Cut::States { limit }));
            }
            if next % 1024 == 0 && !go_on(self.nodes.len() as u64) {
                return Ok(End::Cut(Cut::Interrupted));
            }
            if let Some(divergence) = self.expand(next)? {
                return Ok(End::Divergence(Box::new(divergence)));
            }
            next += 1;
        }
        Ok(End::All)
    }

    fn push(&mut self, state: Arc<[u8]>, belief: Belief, shown: Arc<Shown>, parent: Option<usize>) {
        let number = self.nodes.len();
        let key = (Arc::clone(&state), Arc::clone(&belief));
        if let std::collections::hash_map::Entry::Vacant(entry) = self.known.entry(key) {
            entry.insert(number);
            self.nodes.push(Node {
                state,
                belief,
                shown,
                parent,
            });
        }
    }

    /// The states after one, with what they show.
    fn steps(&mut self, state: &Arc<[u8]>) -> Result<Steps, Fault> {
        if let Some(known) = self.steps.get(state) {
            return Ok(Arc::clone(known));
        }
        let mut steps = Vec::new();
        for next in next_states(self.system, Some(state))? {
            let shown = Arc::new((self.show)(&next)?);
            steps.push((next, shown));
        }
        let steps: Steps = steps.into();
        self.steps.insert(Arc::clone(state), Arc::clone(&steps));
        Ok(steps)
    }

    fn expand(&mut self, number: usize) -> Result<Option<Divergence>, Fault> {
        let Some(node) = self.nodes.get(number) else {
            return Ok(None);
        };
        let (belief, before) = (Arc::clone(&node.belief), Arc::clone(&node.shown));
        let here = Arc::clone(&node.state);
        for (state, shown) in self.steps(&here)?.iter() {
            let belief = match *shown == before {
                true => Arc::clone(&belief),
                false => self.above.step(&belief, shown)?,
            };
            if belief.is_empty() {
                return self.divergence(number, state, &before, shown).map(Some);
            }
            self.push(Arc::clone(state), belief, Arc::clone(shown), Some(number));
        }
        Ok(None)
    }

    fn divergence(
        &mut self,
        number: usize,
        state: &[u8],
        before: &Arc<Shown>,
        shown: &Arc<Shown>,
    ) -> Result<Divergence, Fault> {
        let mut states = vec![state.to_vec()];
        let mut here = Some(number);
        let mut belief = None;
        while let Some(node) = here.and_then(|here| self.nodes.get(here)) {
            belief.get_or_insert_with(|| Arc::clone(&node.belief));
            states.push(node.state.to_vec());
            here = node.parent;
        }
        states.reverse();
        let possible = match belief {
            Some(belief) => self.above.possible(&belief)?,
            None => BTreeSet::new(),
        };
        Ok(Divergence {
            trail: Trail::through(self.system, &states, None),
            names: self.above.names(),
            before: Shown::clone(before),
            after: Shown::clone(shown),
            possible,
        })
    }
}

/// The states after one, or the initial ones, each once and in one order.
fn next_states<S: System>(system: &S, state: Option<&[u8]>) -> Result<Vec<Arc<[u8]>>, Fault> {
    struct Found(BTreeSet<Arc<[u8]>>, Option<Fault>);
    impl Visitor for Found {
        fn next(&mut self, state: &[u8], _participants: Participants) -> bool {
            self.0.insert(state.into());
            true
        }
        fn fault(&mut self, fault: Fault) -> bool {
            self.1 = Some(fault);
            false
        }
    }
    let mut found = Found(BTreeSet::new(), None);
    let mut scratch = system.scratch();
    match state {
        Some(state) => system.successors(&mut scratch, state, &mut found),
        None => system.initial(&mut scratch, &mut found),
    }
    match found.1 {
        Some(fault) => Err(fault),
        None => Ok(found.0.into_iter().collect()),
    }
}
