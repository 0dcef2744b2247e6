//! Memoization of results by the parts of a state that they read.
//!
//! A result depends only on the locations that are read. So states that agree on these
//! locations share one result, which is computed once. It is stored in a decision tree:
//! each inner node says which location to read next, with a child for each value; the
//! leaves are results.
//!
//! Invariant: a result is a function of the values read before it was known, in the order
//! of reading.

use super::state::{Location, Objects, State};
use super::value::Value;
use rustc_hash::{FxHashMap, FxHashSet};
use std::mem::size_of;
use std::sync::Arc;

/// A read of a state.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Look {
    /// The value of a location.
    Place(Location),
    /// The set of objects.
    Objects,
}

/// The result of a read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Seen {
    /// The value; `None` if the state has no entry for the location.
    Value(Option<Value>),
    Objects(Objects),
}

/// The reads of a state in order, without duplicates.
#[derive(Debug, Default)]
pub(super) struct ReadLog {
    seen: Vec<(Look, Seen)>,
    places: FxHashSet<Location>,
    has_objects: bool,
}

impl ReadLog {
    /// Records a read of a location.
    pub fn place(&mut self, place: &Location, value: Option<&Value>) {
        if self.places.insert(place.clone()) {
            let look = Look::Place(place.clone());
            self.seen.push((look, Seen::Value(value.cloned())));
        }
    }

    /// Records a read of the set of objects.
    pub fn objects(&mut self, objects: &Objects) {
        if !std::mem::replace(&mut self.has_objects, true) {
            self.seen
                .push((Look::Objects, Seen::Objects(objects.clone())));
        }
    }
}

#[derive(Debug)]
enum Node<T> {
    /// No result is known here.
    Open,
    Look(Look, FxHashMap<Seen, usize>),
    Outcome(Arc<T>),
}

/// Results by reads.
#[derive(Debug)]
pub(super) struct Memo<T> {
    nodes: Vec<Node<T>>,
    bytes: usize,
    bytes_max: usize,
}

impl<T> Memo<T> {
    /// Returns an empty tree with a maximum size in bytes.
    pub fn new(bytes_max: usize) -> Memo<T> {
        Memo {
            nodes: vec![Node::Open],
            bytes: 0,
            bytes_max,
        }
    }

    /// Returns the size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the result of a state, if it is known for a state with the same reads.
    pub fn find(&self, state: &State) -> Option<Arc<T>> {
        let mut at = 0;
        loop {
            let (look, ways) = match self.nodes.get(at)? {
                Node::Open => return None,
                Node::Outcome(outcome) => return Some(Arc::clone(outcome)),
                Node::Look(look, ways) => (look, ways),
            };
            let seen = match look {
                Look::Place((id, arguments)) => Seen::Value(state.get(*id, arguments).cloned()),
                Look::Objects => Seen::Objects(state.live()),
            };
            at = *ways.get(&seen)?;
        }
    }

    /// Stores the result of all states with these reads, if it fits; `bytes` is the size
    /// of the result.
    pub fn keep(&mut self, log: ReadLog, outcome: Arc<T>, bytes: usize) {
        let seen = log.seen.iter().map(|(look, seen)| bytes_of(look, seen));
        let bytes = bytes + size_of::<Node<T>>() + seen.sum::<usize>();
        if self.bytes + bytes > self.bytes_max {
            return;
        }
        let mut at = 0;
        for (look, seen) in log.seen {
            let next = self.nodes.len();
            let Some(node) = self.nodes.get_mut(at) else {
                return;
            };
            if let Node::Open = node {
                *node = Node::Look(look, FxHashMap::default());
            }
            let Node::Look(_, ways) = node else {
                return;
            };
            at = *ways.entry(seen).or_insert(next);
            if at == next {
                self.nodes.push(Node::Open);
            }
        }
        if let Some(node @ Node::Open) = self.nodes.get_mut(at) {
            *node = Node::Outcome(outcome);
            self.bytes += bytes;
        }
    }
}

/// Returns the size of a read and its result in bytes.
fn bytes_of(look: &Look, seen: &Seen) -> usize {
    let place = match look {
        Look::Place((_, arguments)) => arguments.iter().map(Value::bytes).sum(),
        Look::Objects => 0,
    };
    let there = match seen {
        Seen::Value(value) => value.as_ref().map_or(0, Value::bytes),
        Seen::Objects(objects) => objects.len() * size_of::<(u32, u32)>() * 2,
    };
    size_of::<Node<()>>() + 2 * size_of::<(Seen, usize)>() + place + there
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asm::program::FunctionId;

    /// A state with these values of functions 0 to 3; a value of 0 means no entry.
    fn state(values: [i64; 4]) -> State {
        let places = (0..4).map(|id| (FunctionId(id), Vec::new()));
        let values = values.map(|it| (it != 0).then_some(Value::Integer(it)));
        let places: Vec<Location> = places.collect();
        State::default().changed(places.iter().zip(values.iter().map(Option::as_ref)))
    }

    /// Reads function 0, and depending on it function 1 or 2.
    fn outcome(state: &State, log: &mut ReadLog) -> Option<Value> {
        let mut look = |id: u32| {
            let place = (FunctionId(id), Vec::new());
            let value = state.get(place.0, &place.1).cloned();
            log.place(&place, value.as_ref());
            value
        };
        let next = if look(0).is_some() { 1 } else { 2 };
        look(0);
        look(next)
    }

    #[test]
    fn states_with_equal_reads_share_one_result() {
        for bytes_max in [0, 600, usize::MAX] {
            let mut memo = Memo::new(bytes_max);
            let mut found = 0;
            for number in 0..81 {
                let state = state([1, 3, 9, 27].map(|place| number / place % 3));
                let mut log = ReadLog::default();
                let expected = outcome(&state, &mut log);
                match memo.find(&state) {
                    Some(known) => {
                        found += 1;
                        assert_eq!(*known, expected);
                    }
                    None => memo.keep(log, Arc::new(expected), 0),
                }
                assert!(memo.bytes() <= bytes_max);
            }
            // After 0 has one of three values, two locations with three values each are
            // read.
            match bytes_max {
                0 => assert_eq!(found, 0),
                usize::MAX => assert_eq!(found, 81 - 9),
                _ => assert!(found > 0 && found < 81 - 9),
            }
        }
    }

    #[test]
    fn objects_are_looked_at_as_a_whole() {
        let with = |numbers: &[u32]| {
            let objects = numbers.iter().map(|number| Value::Object(0, *number));
            let (place, value) = ((FunctionId(0), Vec::new()), Value::set(objects));
            State::default().changed([(&place, Some(&value))])
        };
        let mut memo = Memo::new(usize::MAX);
        let mut log = ReadLog::default();
        log.objects(&with(&[0, 2]).live());
        memo.keep(log, Arc::new("two"), 0);
        assert_eq!(memo.find(&with(&[0, 2])).as_deref(), Some(&"two"));
        assert_eq!(memo.find(&with(&[0, 1])), None);
    }
}
