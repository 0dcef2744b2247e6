use super::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn number(n: u8) -> Value {
    Value::Int(n.into())
}

proptest! {
    #[test]
    fn they_are_what_the_standard_ones_are(
        changes in prop::collection::vec((any::<bool>(), 0..12_u8, any::<u8>()), 0..40)
    ) {
        let (mut set, mut map) = (Set::default(), Map::default());
        let (mut plain_set, mut plain_map) = (BTreeSet::new(), BTreeMap::new());
        for (put, key, value) in changes {
            let before = (set.clone(), plain_set.clone());
            if put {
                set.insert(number(key)).unwrap();
                map.insert(number(key), number(value)).unwrap();
                plain_set.insert(number(key));
                plain_map.insert(number(key), number(value));
            } else {
                set.remove(&number(key));
                map.remove(&number(key));
                plain_set.remove(&number(key));
                plain_map.remove(&number(key));
            }
            prop_assert!(set.iter().eq(plain_set.iter()));
            prop_assert!(map.iter().eq(plain_map.iter()));
            prop_assert_eq!(&set, &plain_set.iter().cloned().collect());
            prop_assert!(before.0.iter().eq(before.1.iter()));
        }
    }
}

#[test]
fn they_are_shown_as_they_are_written() {
    let set: Set = [2, 1, 2].map(number).into_iter().collect();
    assert_eq!(set.to_string(), "{1, 2}");
    let map: Map = [(number(1), Value::Set(set))].into_iter().collect();
    assert_eq!(map.to_string(), "{1: {1, 2}}");
    assert_eq!(Map::default().to_string(), "{:}");
    assert_eq!(Sequence::default().to_string(), "[]");
}

#[test]
fn depth_is_limited() {
    let mut value = number(0);
    for _ in 0..DEPTH_MAX {
        let mut around = Sequence::default();
        around.push(value).unwrap();
        value = Value::Sequence(around);
    }
    assert_eq!(Sequence::default().push(value.clone()), Err(TooDeep));
    assert_eq!(Set::default().insert(value), Err(TooDeep));
}

/// Returns a value in so many sequences.
fn nested(depth: u8) -> Value {
    (0..depth).fold(number(0), |value, _| {
        let mut around = Sequence::default();
        around.push(value).unwrap();
        Value::Sequence(around)
    })
}

#[test]
fn they_are_empty_until_something_is_put_into_them() {
    let (mut set, mut map) = (Set::default(), Map::default());
    let mut sequence = Sequence::default();
    assert!(set.is_empty() && map.is_empty() && sequence.is_empty());
    for count in 1..3_u8 {
        set.insert(number(count)).unwrap();
        map.insert(number(count), number(7)).unwrap();
        sequence.push(number(count)).unwrap();
        let count = usize::from(count);
        assert_eq!(
            (set.len(), map.len(), sequence.len()),
            (count, count, count)
        );
    }
    assert!(!set.is_empty() && !map.is_empty() && !sequence.is_empty());
    assert_eq!(map.to_string(), "{1: 7, 2: 7}");
    assert_eq!(map.get(&number(2)), Some(&number(7)));
    assert_eq!(map.get(&number(3)), None);
    assert!(set.contains(&number(2)) && !set.contains(&number(3)));
}

#[test]
fn values_of_a_sequence_are_replaced_and_removed_by_position() {
    let mut sequence: Sequence = [1, 2].map(number).into_iter().collect();
    let before = sequence.clone();
    assert_eq!(sequence.set(1, number(5)), Ok(true));
    assert_eq!(sequence.set(2, number(6)), Ok(false));
    assert_eq!(sequence.to_string(), "[1, 5]");
    assert_eq!(sequence.get(1), Some(&number(5)));
    assert_eq!(sequence.get(2), None);
    assert!(sequence.pop());
    assert_eq!(sequence.to_string(), "[1]");
    assert!(sequence.pop());
    assert!(!sequence.pop());
    assert_eq!(before.to_string(), "[1, 2]");
}

#[test]
fn each_way_to_put_something_in_counts_its_depth() {
    let inner = nested(3);
    let set: Set = [number(1), inner.clone(), number(2)].into_iter().collect();
    let keys: Map = [(inner.clone(), number(1)), (number(1), number(1))]
        .into_iter()
        .collect();
    let values: Map = [(number(1), inner.clone())].into_iter().collect();
    let mut sequence: Sequence = [number(1)].into_iter().collect();
    // Nothing is put in behind the end.
    assert_eq!(sequence.set(1, inner.clone()), Ok(false));
    assert_eq!(sequence.depth(), 1);
    assert_eq!(sequence.set(0, inner), Ok(true));
    let depths = [set.depth(), keys.depth(), values.depth(), sequence.depth()];
    assert_eq!(depths, [4; 4]);
}

#[test]
fn what_is_too_deep_is_left_out() {
    let deep = || nested(DEPTH_MAX);
    let set: Set = [number(1), deep(), number(2)].into_iter().collect();
    assert_eq!(set.to_string(), "{1, 2}");
    let sequence: Sequence = [number(1), deep(), number(2)].into_iter().collect();
    assert_eq!(sequence.to_string(), "[1, 2]");
    let entries = [(number(1), deep()), (deep(), number(1))];
    let map: Map = entries.into_iter().collect();
    assert_eq!(map.to_string(), "{:}");
    assert_eq!(sequence.clone().set(0, deep()), Err(TooDeep));
    assert_eq!(
        TooDeep.to_string(),
        "collections may be nested 16 levels deep, not more"
    );
}

#[test]
fn what_they_hold_makes_them_equal() {
    let set = |numbers: [u8; 2]| numbers.map(number).into_iter().collect::<Set>();
    assert_eq!(set([1, 2]), set([2, 1]));
    assert_ne!(set([1, 2]), set([1, 3]));
    assert_ne!(set([1, 2]), set([1, 1]));
    let shared = set([1, 2]);
    assert_eq!(shared, shared.clone());
}
