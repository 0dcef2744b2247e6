//! The abstract machine, tracked as the set of states it can be in.
//!
//! A *belief* is the set of all states in which the machine can be after a sequence of
//! observations, including states reached by unobservable steps. Results are cached, so a
//! run through known beliefs is a table lookup. States, beliefs and observations are
//! numbered without duplicates.

use super::budget::{Budget, Halt};
use crate::Fault;
use crate::asm::environment::Stop;
use crate::asm::program::{FunctionId, Model};
use crate::asm::state::State;
use crate::asm::system::Known;
use rustc_hash::FxHashMap;
use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The observation of a state: the values of some functions of the abstract machine.
pub type Observation = Vec<String>;

/// Number of an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ShownId(u32);

/// Number of a belief.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Belief(u32);

/// Values numbered without duplicates.
#[derive(Debug)]
struct Numbered<T: ?Sized> {
    things: Vec<Arc<T>>,
    numbers: FxHashMap<Arc<T>, u32>,
}

impl<T: ?Sized + Eq + std::hash::Hash> Numbered<T> {
    fn new() -> Numbered<T> {
        Numbered {
            things: Vec::new(),
            numbers: FxHashMap::default(),
        }
    }

    fn get(&self, number: u32) -> Option<&Arc<T>> {
        self.things.get(number as usize)
    }

    /// Returns the number of a value; a new one is charged with its size in bytes.
    fn number(
        &mut self,
        thing: Arc<T>,
        bytes: usize,
        budget: &mut Budget<'_>,
    ) -> Result<u32, Halt> {
        if let Some(number) = self.numbers.get(&thing) {
            return Ok(*number);
        }
        budget.keep(bytes)?;
        let number = self.things.len() as u32;
        self.things.push(Arc::clone(&thing));
        self.numbers.insert(thing, number);
        Ok(number)
    }
}

/// Returns the size of an observation in bytes.
fn bytes_of(shown: &Observation) -> usize {
    let texts = shown.iter();
    texts.map(|text| size_of::<String>() + text.len()).sum()
}

/// The abstract machine, with its states numbered on demand.
#[derive(Debug)]
pub(super) struct AbstractMachine<M> {
    model: M,
    functions: Vec<FunctionId>,
    /// All observations of either machine.
    all_shown: Numbered<Observation>,
    /// Sorted state numbers.
    beliefs: Numbered<[u32]>,
    /// By number: the encoding of the state.
    states: Vec<Arc<[u8]>>,
    numbers: FxHashMap<Arc<[u8]>, u32>,
    /// By state: its observation.
    shown: Vec<ShownId>,
    /// By state: its successors, once computed.
    successors: Vec<Option<Arc<[u32]>>>,
    known: Known,
    /// Cached transitions between beliefs.
    left: FxHashMap<(Belief, ShownId), Belief>,
    /// Whether the machine is faulty, or has too many states.
    pub failed: bool,
}

impl<M: Borrow<Model>> AbstractMachine<M> {
    pub fn new(model: M, functions: Vec<FunctionId>) -> AbstractMachine<M> {
        AbstractMachine {
            known: Known::new(model.borrow()),
            model,
            functions,
            all_shown: Numbered::new(),
            beliefs: Numbered::new(),
            states: Vec::new(),
            numbers: FxHashMap::default(),
            shown: Vec::new(),
            successors: Vec::new(),
            left: FxHashMap::default(),
            failed: false,
        }
    }

    pub fn model(&self) -> &Model {
        self.model.borrow()
    }

    /// Returns the names of the observed functions.
    pub fn names(&self) -> Vec<String> {
        let ids = self.functions.iter();
        ids.map(|id| self.model().show_location(*id, &[])).collect()
    }

    fn number(&mut self, state: &State, budget: &mut Budget<'_>) -> Result<u32, Halt> {
        let model: &Model = self.model.borrow();
        let bytes = model.bytes(state);
        if let Some(number) = self.numbers.get(&bytes[..]) {
            return Ok(*number);
        }
        let bytes: Arc<[u8]> = bytes.into();
        let functions = self.functions.iter();
        let shown: Result<Observation, Fault> = functions
            .map(|id| {
                let value = model.value_at(state, *id, &[]).map_err(Stop::fault)?;
                Ok(model.show(&value))
            })
            .collect();
        let shown = self.show(shown?, budget)?;
        budget.keep_state(self.states.len(), bytes.len())?;
        let number = self.states.len() as u32;
        self.shown.push(shown);
        self.successors.push(None);
        self.numbers.insert(Arc::clone(&bytes), number);
        self.states.push(bytes);
        Ok(number)
    }

    /// Returns the number of an observation.
    pub fn show(&mut self, shown: Observation, budget: &mut Budget<'_>) -> Result<ShownId, Halt> {
        let bytes = bytes_of(&shown);
        let number = self.all_shown.number(Arc::new(shown), bytes, budget)?;
        Ok(ShownId(number))
    }

    /// Returns an observation by its number.
    pub fn shown(&self, shown: ShownId) -> Observation {
        let shown = self.all_shown.get(shown.0);
        shown.map_or_else(Observation::new, |shown| Observation::clone(shown))
    }

    /// Returns the size of the memoized steps in bytes.
    pub fn known_bytes(&self) -> u64 {
        self.known.bytes() as u64
    }

    /// Returns whether a belief is empty.
    pub fn is_empty(&self, belief: Belief) -> bool {
        self.states_of(belief).is_empty()
    }

    fn states_of(&self, belief: Belief) -> Arc<[u32]> {
        self.beliefs.get(belief.0).cloned().unwrap_or_default()
    }

    /// Returns the distinct successors of a state, or the distinct initial states.
    fn after(&mut self, state: Option<&State>, budget: &mut Budget<'_>) -> Result<Vec<u32>, Halt> {
        let states = self.next_states(state).map_err(Halt::from);
        let numbers = states.and_then(|states| {
            let numbers = states.iter().map(|state| self.number(state, budget));
            numbers.collect()
        });
        self.failed |= numbers.is_err();
        let mut numbers: Vec<u32> = numbers?;
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
    }

    fn next_states(&mut self, state: Option<&State>) -> Result<Vec<State>, Fault> {
        let model: &Model = self.model.borrow();
        let Some(state) = state else {
            let (mut states, mut fault) = (Vec::new(), None);
            model.initial_states(|state| {
                match state {
                    Ok(state) => states.push(state),
                    Err(wrong) => fault = Some(wrong),
                }
                fault.is_none()
            });
            return fault.map_or(Ok(states), Err);
        };
        let outcomes = model.known_outcomes(state, &mut self.known);
        let states = outcomes.iter().map(|outcome| match outcome {
            Ok(changes) => Ok(model.after(state, changes)),
            Err(fault) => Err(fault.clone()),
        });
        states.collect()
    }

    /// Returns the initial states.
    pub fn initial(&mut self, budget: &mut Budget<'_>) -> Result<Vec<u32>, Halt> {
        self.after(None, budget)
    }

    fn successors(&mut self, number: u32, budget: &mut Budget<'_>) -> Result<Arc<[u32]>, Halt> {
        let position = number as usize;
        if let Some(known) = self.successors.get(position).and_then(Option::as_ref) {
            return Ok(Arc::clone(known));
        }
        let state = self.states.get(position);
        let state = state.map(|bytes| self.model().state(bytes));
        let numbers = match state {
            Some(state) => self.after(Some(&state), budget)?,
            None => Vec::new(),
        };
        budget.keep(size_of_val(&numbers[..]))?;
        let numbers: Arc<[u32]> = numbers.into();
        if let Some(entry) = self.successors.get_mut(position) {
            *entry = Some(Arc::clone(&numbers));
        }
        Ok(numbers)
    }

    fn shows(&self, state: u32) -> Option<ShownId> {
        self.shown.get(state as usize).copied()
    }

    /// Returns the closure of a set of states under unobservable steps, as a belief.
    fn closed(&mut self, from: BTreeSet<u32>, budget: &mut Budget<'_>) -> Result<Belief, Halt> {
        let mut all = from.clone();
        let mut open: Vec<u32> = from.into_iter().collect();
        while let Some(number) = open.pop() {
            for next in self.successors(number, budget)?.iter() {
                if self.shows(*next) == self.shows(number) && all.insert(*next) {
                    open.push(*next);
                }
            }
        }
        let states: Arc<[u32]> = all.into_iter().collect();
        let bytes = size_of_val(&states[..]);
        Ok(Belief(self.beliefs.number(states, bytes, budget)?))
    }

    /// Returns the possible initial observations.
    pub fn possible_first(
        &mut self,
        budget: &mut Budget<'_>,
    ) -> Result<BTreeSet<Observation>, Halt> {
        let numbers = self.initial(budget)?;
        let shown = numbers.iter().filter_map(|number| self.shows(*number));
        Ok(shown.map(|shown| self.shown(shown)).collect())
    }

    /// Returns the belief after an initial observation.
    pub fn begin(&mut self, shown: ShownId, budget: &mut Budget<'_>) -> Result<Belief, Halt> {
        let numbers = self.initial(budget)?;
        let alike = numbers
            .into_iter()
            .filter(|number| self.shows(*number) == Some(shown));
        let alike = alike.collect();
        self.closed(alike, budget)
    }

    /// Returns the belief after a different observation.
    pub fn step(
        &mut self,
        belief: Belief,
        shown: ShownId,
        budget: &mut Budget<'_>,
    ) -> Result<Belief, Halt> {
        if let Some(known) = self.left.get(&(belief, shown)) {
            return Ok(*known);
        }
        let mut next = BTreeSet::new();
        for number in self.states_of(belief).iter() {
            for after in self.successors(*number, budget)?.iter() {
                if self.shows(*after) == Some(shown) {
                    next.insert(*after);
                }
            }
        }
        let next = self.closed(next, budget)?;
        budget.keep(0)?;
        self.left.insert((belief, shown), next);
        Ok(next)
    }

    /// Returns the possible next observations.
    pub fn possible(
        &mut self,
        belief: Belief,
        budget: &mut Budget<'_>,
    ) -> Result<BTreeSet<Observation>, Halt> {
        let mut possible = BTreeSet::new();
        for number in self.states_of(belief).iter() {
            for after in self.successors(*number, budget)?.iter() {
                possible.extend(self.shows(*after).map(|shown| self.shown(shown)));
            }
        }
        Ok(possible)
    }
}
