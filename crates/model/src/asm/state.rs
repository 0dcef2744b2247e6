//! States: for each function that changes, the places whose values differ from
//! those of the beginning.
//!
//! Invariant: a state has no entry that says what would be so without it, and
//! none about an object that nothing refers to any more. So equal states have
//! equal bytes, and an object that is forgotten leaves its number to a new one.

use super::value::{Value, decode_number, encode_number};
use std::collections::{BTreeMap, BTreeSet};

/// The values of one function, by its arguments.
pub(super) type Entries = BTreeMap<Vec<Value>, Value>;

/// A state of a model.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State {
    /// By slot.
    pub(super) entries: Vec<Entries>,
}

/// Objects, each as its class and its number.
pub(super) type Objects = BTreeSet<(u32, u32)>;

impl State {
    pub(super) fn new(slots: usize) -> State {
        State {
            entries: vec![Entries::new(); slots],
        }
    }

    pub(super) fn get(&self, slot: usize, arguments: &[Value]) -> Option<&Value> {
        self.entries.get(slot)?.get(arguments)
    }

    pub(super) fn set(&mut self, slot: usize, arguments: Vec<Value>, value: Value) {
        if let Some(entries) = self.entries.get_mut(slot) {
            entries.insert(arguments, value);
        }
    }

    /// The objects that can be reached: from places without objects among their
    /// arguments, and from places of objects that can be reached.
    pub(super) fn live(&self) -> Objects {
        let mut live = Objects::new();
        loop {
            let before = live.len();
            for (arguments, value) in self.entries.iter().flatten() {
                if all_live(arguments, &live) {
                    value.objects(&mut |class, number| {
                        live.insert((class, number));
                    });
                }
            }
            if live.len() == before {
                return live;
            }
        }
    }

    /// Forgets what is said about objects that cannot be reached.
    pub(super) fn forget_unreachable(&mut self) {
        let live = self.live();
        for entries in &mut self.entries {
            entries.retain(|arguments, _| all_live(arguments, &live));
        }
    }

    /// Its bytes, after those that are there.
    pub(super) fn encode(&self, bytes: &mut Vec<u8>) {
        for entries in &self.entries {
            encode_number(entries.len() as u64, bytes);
            for (arguments, value) in entries {
                encode_number(arguments.len() as u64, bytes);
                arguments.iter().for_each(|value| value.encode(bytes));
                value.encode(bytes);
            }
        }
    }

    /// The state of these bytes, which [`State::encode`] has written.
    pub(super) fn decode(mut bytes: &[u8], slots: usize) -> State {
        let mut state = State::new(slots);
        for entries in &mut state.entries {
            let Some(count) = decode_number(&mut bytes) else {
                break;
            };
            for _ in 0..count {
                let Some((arguments, value)) = decode_entry(&mut bytes) else {
                    break;
                };
                entries.insert(arguments, value);
            }
        }
        state
    }
}

fn decode_entry(bytes: &mut &[u8]) -> Option<(Vec<Value>, Value)> {
    let count = decode_number(bytes)?;
    let arguments: Option<Vec<Value>> = (0..count).map(|_| Value::decode(bytes)).collect();
    Some((arguments?, Value::decode(bytes)?))
}

/// Whether all objects among some values are of these.
pub(super) fn all_live(arguments: &[Value], live: &Objects) -> bool {
    let mut all = true;
    for argument in arguments {
        argument.objects(&mut |class, number| all &= live.contains(&(class, number)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(number: u32) -> Value {
        Value::Object(0, number)
    }

    #[test]
    fn objects_that_nothing_refers_to_are_forgotten() {
        let mut state = State::new(2);
        // A root refers to 1, which refers to 2; 3 and 4 refer to each other.
        state.set(0, vec![], object(1));
        state.set(1, vec![object(1)], object(2));
        state.set(1, vec![object(3)], object(4));
        state.set(1, vec![object(4)], object(3));
        assert_eq!(state.live(), Objects::from([(0, 1), (0, 2)]));
        state.forget_unreachable();
        assert_eq!(state.entries[1].len(), 1);
    }

    #[test]
    fn bytes_are_read_as_the_state_they_are_of() {
        let mut state = State::new(3);
        state.set(0, vec![], Value::Integer(-5));
        state.set(2, vec![object(1), Value::Boolean(true)], Value::Undefined);
        state.set(2, vec![], Value::set([object(1), object(300)]));
        let mut bytes = Vec::new();
        state.encode(&mut bytes);
        assert_eq!(State::decode(&bytes, 3), state);
    }
}
