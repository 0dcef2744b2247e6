//! The abstract machine: where it can be after what has been shown.
//!
//! A *belief* is the set of all states in which the machine can be after showing
//! what was shown, steps that do not show included. What has been computed once
//! is kept, so following a run that has been at these places before is a look into
//! a table.

use crate::Fault;
use crate::asm::environment::{Possibilities, Stop};
use crate::asm::program::{FunctionId, Model};
use crate::asm::state::State;
use rustc_hash::FxHashMap;
use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What a state shows: the values of some functions of the abstract machine.
pub type Shown = Vec<String>;

/// The numbers of abstract states.
pub(super) type Belief = Arc<BTreeSet<u32>>;

/// The abstract machine: its states by number, as they are needed.
#[derive(Debug)]
pub(super) struct Above<M> {
    model: M,
    functions: Vec<FunctionId>,
    states: Vec<State>,
    numbers: FxHashMap<State, u32>,
    /// By state: what it shows.
    shown: Vec<Arc<Shown>>,
    /// By state: those after it, once they are known.
    successors: Vec<Option<Arc<[u32]>>>,
    /// What is left of a belief after something was shown.
    after: FxHashMap<(Belief, Arc<Shown>), Belief>,
    /// The machine itself has gone wrong.
    pub failed: bool,
}

impl<M: Borrow<Model>> Above<M> {
    pub fn new(model: M, functions: Vec<FunctionId>) -> Above<M> {
        Above {
            model,
            functions,
            states: Vec::new(),
            numbers: FxHashMap::default(),
            shown: Vec::new(),
            successors: Vec::new(),
            after: FxHashMap::default(),
            failed: false,
        }
    }

    pub fn model(&self) -> &Model {
        self.model.borrow()
    }

    /// What the functions are called.
    pub fn names(&self) -> Vec<String> {
        let ids = self.functions.iter();
        ids.map(|id| self.model().show_location(*id, &[])).collect()
    }

    fn number(&mut self, state: State) -> Result<u32, Fault> {
        if let Some(number) = self.numbers.get(&state) {
            return Ok(*number);
        }
        let model = self.model();
        let functions = self.functions.iter();
        let shown: Result<Shown, Fault> = functions
            .map(|id| {
                let value = model.value_at(&state, *id, &[]).map_err(Stop::fault)?;
                Ok(model.show(&value))
            })
            .collect();
        let shown = shown?;
        let number = self.states.len() as u32;
        self.shown.push(Arc::new(shown));
        self.successors.push(None);
        self.numbers.insert(state.clone(), number);
        self.states.push(state);
        Ok(number)
    }

    fn numbered(&mut self, states: Vec<State>) -> Result<Vec<u32>, Fault> {
        states.into_iter().map(|state| self.number(state)).collect()
    }

    /// The states in which the machine begins.
    pub fn initial(&mut self) -> Result<Vec<u32>, Fault> {
        let states = next_states(self.model(), None);
        let numbers = states.and_then(|states| self.numbered(states));
        self.failed |= numbers.is_err();
        numbers
    }

    fn successors(&mut self, number: u32) -> Result<Arc<[u32]>, Fault> {
        let position = number as usize;
        if let Some(known) = self.successors.get(position).and_then(Option::as_ref) {
            return Ok(Arc::clone(known));
        }
        let states = match self.states.get(position) {
            Some(state) => next_states(self.model(), Some(state)),
            None => Ok(Vec::new()),
        };
        let numbers = states.and_then(|states| self.numbered(states));
        self.failed |= numbers.is_err();
        let numbers: Arc<[u32]> = numbers?.into();
        if let Some(entry) = self.successors.get_mut(position) {
            *entry = Some(Arc::clone(&numbers));
        }
        Ok(numbers)
    }

    pub fn shows(&self, number: u32) -> Option<&Arc<Shown>> {
        self.shown.get(number as usize)
    }

    /// These states, and those that steps which do not show lead to.
    fn closed(&mut self, from: BTreeSet<u32>) -> Result<Belief, Fault> {
        let mut all = from.clone();
        let mut left: Vec<u32> = from.into_iter().collect();
        while let Some(number) = left.pop() {
            for next in self.successors(number)?.iter() {
                if self.shows(*next) == self.shows(number) && all.insert(*next) {
                    left.push(*next);
                }
            }
        }
        Ok(Arc::new(all))
    }

    /// What can be shown first.
    pub fn possible_first(&mut self) -> Result<BTreeSet<Shown>, Fault> {
        let numbers = self.initial()?;
        let shown = numbers.iter().filter_map(|number| self.shows(*number));
        Ok(shown.map(|shown| Shown::clone(shown)).collect())
    }

    /// Where the machine begins, as far as it shows this.
    pub fn begin(&mut self, shown: &Arc<Shown>) -> Result<Belief, Fault> {
        let numbers = self.initial()?;
        let alike = numbers
            .into_iter()
            .filter(|number| self.shows(*number) == Some(shown));
        let alike = alike.collect();
        self.closed(alike)
    }

    /// What is left of a belief when something else is shown.
    pub fn step(&mut self, belief: &Belief, shown: &Arc<Shown>) -> Result<Belief, Fault> {
        let key = (Arc::clone(belief), Arc::clone(shown));
        if let Some(known) = self.after.get(&key) {
            return Ok(Arc::clone(known));
        }
        let mut next = BTreeSet::new();
        for number in belief.iter() {
            for after in self.successors(*number)?.iter() {
                if self.shows(*after) == Some(shown) {
                    next.insert(*after);
                }
            }
        }
        let next = self.closed(next)?;
        self.after.insert(key, Arc::clone(&next));
        Ok(next)
    }

    /// What can be shown next.
    pub fn possible(&mut self, belief: &Belief) -> Result<BTreeSet<Shown>, Fault> {
        let mut possible = BTreeSet::new();
        for number in belief.iter() {
            for after in self.successors(*number)?.iter() {
                possible.extend(self.shows(*after).map(|shown| Shown::clone(shown)));
            }
        }
        Ok(possible)
    }
}

fn next_states(model: &Model, state: Option<&State>) -> Result<Vec<State>, Fault> {
    let mut states = BTreeSet::new();
    let mut fault = None;
    let each = |result: Result<State, Fault>| {
        match result {
            Ok(state) => {
                states.insert(state);
            }
            Err(wrong) => fault = Some(wrong),
        }
        fault.is_none()
    };
    match state {
        Some(state) => model.all(
            &mut Possibilities::default(),
            |possibilities| model.step(state, possibilities).map(|step| step.state),
            each,
        ),
        None => model.beginnings(each),
    }
    match fault {
        Some(fault) => Err(fault),
        None => Ok(states.into_iter().collect()),
    }
}
