//! States: the sorted locations whose values differ from the initial ones.
//!
//! Invariant: a state has no entry with the initial value, and none about an unreachable
//! object. So equal states have equal bytes, and the number of an unreachable object can
//! be reused.

use super::program::FunctionId;
use super::value::{Value, decode_number, encode_number};
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// A location of a state: a function and its arguments.
pub(super) type Location = (FunctionId, Vec<Value>);

/// A location with its value.
pub(super) type Entry = (Location, Value);

/// A state of a model.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct State {
    /// Sorted by location, without duplicates.
    entries: Vec<Entry>,
}

/// Objects, as pairs of class and number.
pub(super) type Objects = BTreeSet<(u32, u32)>;

impl State {
    pub(super) fn get(&self, id: FunctionId, arguments: &[Value]) -> Option<&Value> {
        let order = |entry: &Entry| {
            let ((of, at), _) = entry;
            of.cmp(&id).then_with(|| at[..].cmp(arguments))
        };
        let found = self.entries.binary_search_by(order).ok()?;
        self.entries.get(found).map(|(_, value)| value)
    }

    /// Returns the entries of one function, in the order of its arguments.
    pub(super) fn of(&self, id: FunctionId) -> &[Entry] {
        let start = self.entries.partition_point(|((of, _), _)| *of < id);
        let end = self.entries.partition_point(|((of, _), _)| *of <= id);
        self.entries.get(start..end).unwrap_or_default()
    }

    /// Returns the state with some values changed; the changes are sorted by location.
    /// `None` removes the entry.
    pub(super) fn changed<'a>(
        &self,
        changes: impl IntoIterator<Item = (&'a Location, Option<&'a Value>)>,
    ) -> State {
        let changes = changes.into_iter();
        let mut entries = Vec::with_capacity(self.entries.len() + changes.size_hint().0);
        let mut old = self.entries.iter().peekable();
        for (place, value) in changes {
            while let Some(entry) = old.next_if(|(other, _)| other < place) {
                entries.push(entry.clone());
            }
            old.next_if(|(other, _)| other == place);
            entries.extend(value.map(|value| (place.clone(), value.clone())));
        }
        entries.extend(old.cloned());
        State { entries }
    }

    /// Returns the reachable objects: those in values of locations without object
    /// arguments, and of locations whose object arguments are reachable.
    pub(super) fn live(&self) -> Objects {
        let mut live = Objects::new();
        loop {
            let before = live.len();
            for ((_, arguments), value) in &self.entries {
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

    /// Removes the entries about unreachable objects.
    pub(super) fn forget_unreachable(&mut self) {
        let live = self.live();
        self.entries
            .retain(|((_, arguments), _)| all_live(arguments, &live));
    }

    /// Returns the locations at which this state or another has an entry, with both
    /// values.
    pub(super) fn differences<'a>(
        &'a self,
        other: &'a State,
    ) -> Vec<(&'a Location, Option<&'a Value>, Option<&'a Value>)> {
        let (mut these, mut those) = (
            self.entries.iter().peekable(),
            other.entries.iter().peekable(),
        );
        let mut places = Vec::new();
        loop {
            let order = match (these.peek(), those.peek()) {
                (None, None) => return places,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((this, _)), Some((that, _))) => this.cmp(that),
            };
            let this = these.next_if(|_| order.is_le());
            let that = those.next_if(|_| order.is_ge());
            if let Some((place, _)) = this.or(that) {
                let value = |entry: Option<&'a Entry>| entry.map(|(_, value)| value);
                places.push((place, value(this), value(that)));
            }
        }
    }

    /// Appends the encoded state to `bytes`.
    pub(super) fn encode(&self, bytes: &mut Vec<u8>) {
        for ((id, arguments), value) in &self.entries {
            encode_number(u64::from(id.0), bytes);
            encode_number(arguments.len() as u64, bytes);
            arguments.iter().for_each(|value| value.encode(bytes));
            value.encode(bytes);
        }
    }

    /// Decodes a state written by [`State::encode`].
    pub(super) fn decode(mut bytes: &[u8]) -> State {
        // An entry has at least three bytes, and usually not many more.
        let mut entries = Vec::with_capacity(bytes.len() / 4);
        while let Some(entry) = decode_entry(&mut bytes) {
            entries.push(entry);
        }
        State { entries }
    }
}

fn decode_entry(bytes: &mut &[u8]) -> Option<Entry> {
    let id = FunctionId(u32::try_from(decode_number(bytes)?).ok()?);
    let count = decode_number(bytes)?;
    let arguments: Option<Vec<Value>> = (0..count).map(|_| Value::decode(bytes)).collect();
    Some(((id, arguments?), Value::decode(bytes)?))
}

/// Returns whether all objects in some values are live.
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

    /// Returns the state with these entries.
    fn state(entries: &[(u32, Vec<Value>, Value)]) -> State {
        entries.iter().fold(State::default(), |state, entry| {
            let (id, arguments, value) = entry;
            state.changed([(&(FunctionId(*id), arguments.clone()), Some(value))])
        })
    }

    #[test]
    fn objects_that_nothing_refers_to_are_forgotten() {
        // A root refers to 1, which refers to 2; 3 and 4 refer to each other.
        let mut state = state(&[
            (0, vec![], object(1)),
            (1, vec![object(1)], object(2)),
            (1, vec![object(3)], object(4)),
            (1, vec![object(4)], object(3)),
        ]);
        assert_eq!(state.live(), Objects::from([(0, 1), (0, 2)]));
        state.forget_unreachable();
        assert_eq!(state.of(FunctionId(1)).len(), 1);
    }

    #[test]
    fn bytes_are_read_as_the_state_they_are_of() {
        let state = state(&[
            (0, vec![], Value::Integer(-5)),
            (2, vec![object(1), Value::Boolean(true)], Value::Undefined),
            (2, vec![], Value::set([object(1), object(300)])),
        ]);
        let mut bytes = Vec::new();
        state.encode(&mut bytes);
        assert_eq!(State::decode(&bytes), state);
    }

    #[test]
    fn changes_are_as_in_a_map() {
        let number = |number: i64| Value::Integer(number);
        let place = |at: i64| (FunctionId(at as u32 / 2), vec![number(at % 2)]);
        let mut map = std::collections::BTreeMap::new();
        let mut now = State::default();
        for round in 0..200_i64 {
            let mut changes = std::collections::BTreeMap::new();
            for at in 0..8 {
                // The changes, and which of them remove an entry, are pseudorandom.
                let mixed = (round * 31 + at * 17) * (round + 3) % 11;
                if mixed < 4 {
                    changes.insert(place(at), (mixed > 0).then(|| number(mixed)));
                }
            }
            for (place, value) in &changes {
                match value {
                    Some(value) => map.insert(place.clone(), value.clone()),
                    None => map.remove(place),
                };
            }
            let before = now.clone();
            let changes = changes.iter();
            now = now.changed(changes.map(|(at, value)| (at, value.as_ref())));
            for at in 0..8 {
                let (id, arguments) = place(at);
                assert_eq!(now.get(id, &arguments), map.get(&place(at)));
            }
            assert_eq!(
                now.of(FunctionId(1)).len(),
                map.keys().filter(|it| it.0.0 == 1).count()
            );
            for (place, old, new) in before.differences(&now) {
                assert_eq!(old, before.get(place.0, &place.1));
                assert_eq!(new, now.get(place.0, &place.1));
            }
        }
        assert!(!map.is_empty());
    }
}
