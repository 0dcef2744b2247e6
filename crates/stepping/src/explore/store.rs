//! A compact store of states.
//!
//! A state differs from its neighbours in one part: a processor, the engine, or
//! the orders. So each part is kept once, by a number, and a state is a few
//! numbers. The store is exact: parts are compared, and equal states are those
//! of equal numbers.

use super::machine::State;
use super::processor::Processor;
use crate::{Engine, Operation};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::hash::Hash;
use std::rc::Rc;

/// The maximum number of processors of a state.
const PROCESSORS: usize = 8;
/// Stands for a processor that does not exist.
const NONE: u32 = u32::MAX;

/// The parts of all states.
#[derive(Default)]
pub(super) struct Store {
    engines: Pool<Engine>,
    orders: Pool<VecDeque<Operation>>,
    processors: Pool<Processor>,
    /// States without their processors, engine and orders.
    rests: Pool<State>,
}

/// A state in a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Kept {
    engine: u32,
    orders: u32,
    rest: u32,
    processors: [u32; PROCESSORS],
}

impl super::Store<State> for Store {
    type Kept = Kept;

    fn keep(&mut self, mut state: State) -> Kept {
        let mut processors = [NONE; PROCESSORS];
        assert!(state.processors.len() <= PROCESSORS, "a larger array");
        for (number, processor) in processors.iter_mut().zip(state.processors.drain(..)) {
            *number = self.processors.number_of(processor);
        }
        Kept {
            engine: self.engines.number_of(std::mem::take(&mut state.engine)),
            orders: self.orders.number_of(std::mem::take(&mut state.orders)),
            processors,
            rest: self.rests.number_of(state),
        }
    }

    fn give(&self, kept: Kept) -> State {
        let numbers = kept.processors.iter().filter(|number| **number != NONE);
        State {
            engine: self.engines.get(kept.engine),
            orders: self.orders.get(kept.orders),
            processors: numbers.map(|number| self.processors.get(*number)).collect(),
            ..self.rests.get(kept.rest)
        }
    }
}

/// Values, each stored once.
struct Pool<T> {
    numbers: FxHashMap<Rc<T>, u32>,
    values: Vec<Rc<T>>,
}

impl<T> Default for Pool<T> {
    fn default() -> Pool<T> {
        Pool {
            numbers: FxHashMap::default(),
            values: Vec::new(),
        }
    }
}

impl<T: Clone + Eq + Hash> Pool<T> {
    fn number_of(&mut self, value: T) -> u32 {
        if let Some(number) = self.numbers.get(&value) {
            return *number;
        }
        let number = self.values.len() as u32;
        let value = Rc::new(value);
        self.values.push(Rc::clone(&value));
        self.numbers.insert(value, number);
        number
    }

    fn get(&self, number: u32) -> T {
        self.values[number as usize].as_ref().clone()
    }
}
