//! The abstract machine: where it can be after what has been shown.
//!
//! A *belief* is the set of all states in which the machine can be after showing
//! what was shown, steps that do not show included. What has been computed once
//! is kept, so following a run that has been at these places before is a look into
//! a table.

use super::room::{Halt, Room};
use crate::Fault;
use crate::asm::environment::Stop;
use crate::asm::possibilities::Possibilities;
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

/// What a number in a belief takes, in bytes: nodes of trees are not full.
const BELIEVED_BYTES: usize = 8;

/// What is shown takes so many bytes.
pub(super) fn bytes_of(shown: &Shown) -> usize {
    let texts = shown.iter();
    texts.map(|text| size_of::<String>() + text.len()).sum()
}

/// The abstract machine: its states by number, as they are needed.
#[derive(Debug)]
pub(super) struct Above<M> {
    model: M,
    functions: Vec<FunctionId>,
    /// By number: the bytes of the state.
    states: Vec<Arc<[u8]>>,
    numbers: FxHashMap<Arc<[u8]>, u32>,
    /// By state: what it shows.
    shown: Vec<Arc<Shown>>,
    /// By state: those after it, once they are known.
    successors: Vec<Option<Arc<[u32]>>>,
    /// What is left of a belief after something was shown.
    left: FxHashMap<(Belief, Arc<Shown>), Belief>,
    /// The machine itself has gone wrong, or has too many states.
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
            left: FxHashMap::default(),
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

    fn number(&mut self, state: &State, room: &mut Room<'_>) -> Result<u32, Halt> {
        let model = self.model();
        let bytes: Arc<[u8]> = model.bytes(state).into();
        if let Some(number) = self.numbers.get(&bytes) {
            return Ok(*number);
        }
        let functions = self.functions.iter();
        let shown: Result<Shown, Fault> = functions
            .map(|id| {
                let value = model.value_at(state, *id, &[]).map_err(Stop::fault)?;
                Ok(model.show(&value))
            })
            .collect();
        let shown = shown?;
        room.keep_state(self.states.len(), bytes.len() + bytes_of(&shown))?;
        let number = self.states.len() as u32;
        self.shown.push(Arc::new(shown));
        self.successors.push(None);
        self.numbers.insert(Arc::clone(&bytes), number);
        self.states.push(bytes);
        Ok(number)
    }

    /// The states that come after one, or at the beginning.
    fn after(&mut self, state: Option<&State>, room: &mut Room<'_>) -> Result<Vec<u32>, Halt> {
        let states = next_states(self.model(), state).map_err(Halt::from);
        let numbers = states.and_then(|states| {
            let numbers = states.iter().map(|state| self.number(state, room));
            numbers.collect()
        });
        self.failed |= numbers.is_err();
        numbers
    }

    /// The states in which the machine begins.
    pub fn initial(&mut self, room: &mut Room<'_>) -> Result<Vec<u32>, Halt> {
        self.after(None, room)
    }

    fn successors(&mut self, number: u32, room: &mut Room<'_>) -> Result<Arc<[u32]>, Halt> {
        let position = number as usize;
        if let Some(known) = self.successors.get(position).and_then(Option::as_ref) {
            return Ok(Arc::clone(known));
        }
        let state = self.states.get(position);
        let state = state.map(|bytes| self.model().state(bytes));
        let numbers = match state {
            Some(state) => self.after(Some(&state), room)?,
            None => Vec::new(),
        };
        room.keep(size_of_val(&numbers[..]))?;
        let numbers: Arc<[u32]> = numbers.into();
        if let Some(entry) = self.successors.get_mut(position) {
            *entry = Some(Arc::clone(&numbers));
        }
        Ok(numbers)
    }

    pub fn shows(&self, number: u32) -> Option<&Arc<Shown>> {
        self.shown.get(number as usize)
    }

    /// These states, and those that steps which do not show lead to.
    fn closed(&mut self, from: BTreeSet<u32>, room: &mut Room<'_>) -> Result<Belief, Halt> {
        let mut all = from.clone();
        let mut open: Vec<u32> = from.into_iter().collect();
        while let Some(number) = open.pop() {
            for next in self.successors(number, room)?.iter() {
                if self.shows(*next) == self.shows(number) && all.insert(*next) {
                    open.push(*next);
                }
            }
        }
        Ok(Arc::new(all))
    }

    /// What can be shown first.
    pub fn possible_first(&mut self, room: &mut Room<'_>) -> Result<BTreeSet<Shown>, Halt> {
        let numbers = self.initial(room)?;
        let shown = numbers.iter().filter_map(|number| self.shows(*number));
        Ok(shown.map(|shown| Shown::clone(shown)).collect())
    }

    /// Where the machine begins, as far as it shows this.
    pub fn begin(&mut self, shown: &Arc<Shown>, room: &mut Room<'_>) -> Result<Belief, Halt> {
        let numbers = self.initial(room)?;
        let alike = numbers
            .into_iter()
            .filter(|number| self.shows(*number) == Some(shown));
        let alike = alike.collect();
        self.closed(alike, room)
    }

    /// What is left of a belief when something else is shown.
    pub fn step(
        &mut self,
        belief: &Belief,
        shown: &Arc<Shown>,
        room: &mut Room<'_>,
    ) -> Result<Belief, Halt> {
        let key = (Arc::clone(belief), Arc::clone(shown));
        if let Some(known) = self.left.get(&key) {
            return Ok(Arc::clone(known));
        }
        let mut next = BTreeSet::new();
        for number in belief.iter() {
            for after in self.successors(*number, room)?.iter() {
                if self.shows(*after) == Some(shown) {
                    next.insert(*after);
                }
            }
        }
        let next = self.closed(next, room)?;
        room.keep(next.len() * BELIEVED_BYTES)?;
        self.left.insert(key, Arc::clone(&next));
        Ok(next)
    }

    /// What can be shown next.
    pub fn possible(
        &mut self,
        belief: &Belief,
        room: &mut Room<'_>,
    ) -> Result<BTreeSet<Shown>, Halt> {
        let mut possible = BTreeSet::new();
        for number in belief.iter() {
            for after in self.successors(*number, room)?.iter() {
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
