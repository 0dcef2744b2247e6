use super::*;
use proptest::prelude::*;
use std::hash::DefaultHasher;

fn hash_of(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i64>().prop_map(|n| Value::Int(i128::from(n))),
        any::<u64>().prop_map(|n| Value::Int(i128::from(n))),
        any::<u64>().prop_map(Value::Address),
        any::<bool>().prop_map(Value::Bool),
        any::<f64>().prop_map(Value::Float),
        ".*".prop_map(|t: String| Value::String(t.into())),
        prop::collection::vec(any::<i64>(), 0..4)
            .prop_map(|n| Value::Set(n.into_iter().map(|n| Value::Int(n.into())).collect())),
        prop::collection::vec(any::<u64>(), 0..4)
            .prop_map(|n| Value::Sequence(n.into_iter().map(Value::Address).collect())),
        prop::collection::vec((any::<u64>(), any::<bool>()), 0..4).prop_map(|n| {
            let entries = n
                .into_iter()
                .map(|(k, v)| (Value::Address(k), Value::Bool(v)));
            Value::Map(entries.collect())
        }),
    ]
}

proptest! {
    #[test]
    fn equal_values_have_equal_hashes(a in any_value(), b in any_value()) {
        prop_assert_eq!(&a, &a.clone());
        if a == b {
            prop_assert_eq!(hash_of(&a), hash_of(&b));
        }
    }

    #[test]
    fn the_order_agrees_with_equality(
        a in any_value(), b in any_value(), c in any_value()
    ) {
        prop_assert_eq!(a == b, a.cmp(&b) == Ordering::Equal);
        prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
        if a <= b && b <= c {
            prop_assert!(a <= c);
        }
    }

    #[test]
    fn an_address_equals_its_number(n in any::<u64>()) {
        prop_assert_eq!(Value::Address(n), Value::Int(i128::from(n)));
        prop_assert_eq!(hash_of(&Value::Address(n)), hash_of(&Value::Int(i128::from(n))));
    }
}

#[test]
fn a_value_is_no_larger_than_its_integer_needs() {
    assert!(size_of::<Value>() <= 32);
}

#[test]
fn text_from_the_debuggee_is_escaped() {
    assert_eq!(
        Value::String("\u{1b}[2J".into()).to_string(),
        "\"\\u{1b}[2J\""
    );
}

fn integers(numbers: &[i128]) -> Vec<Value> {
    numbers.iter().copied().map(Value::Int).collect()
}

fn set(numbers: &[i128]) -> Value {
    Value::Set(integers(numbers).into_iter().collect())
}

fn sequence(numbers: &[i128]) -> Value {
    Value::Sequence(integers(numbers).into_iter().collect())
}

fn map(numbers: &[i128]) -> Value {
    let entries = integers(numbers).into_iter();
    Value::Map(entries.map(|it| (it, Value::Bool(true))).collect())
}

/// Values in ascending order, how they are shown, and the names of their types.
fn ascending() -> Vec<(Value, &'static str, &'static str)> {
    let unavailable = Value::Unavailable;
    vec![
        (Value::Bool(false), "false", "boolean"),
        (Value::Bool(true), "true", "boolean"),
        (Value::Int(-1), "-1", "integer"),
        (Value::Address(16), "0x10", "address"),
        (Value::Int(17), "17", "integer"),
        (Value::Float(-0.5), "-0.5", "float"),
        (Value::Float(0.0), "0.0", "float"),
        (Value::Float(2.0), "2.0", "float"),
        (Value::Float(f64::NAN), "NaN", "float"),
        (Value::String("a".into()), "\"a\"", "text"),
        (Value::String("b".into()), "\"b\"", "text"),
        (sequence(&[2, 1]), "[2, 1]", "sequence"),
        (sequence(&[3]), "[3]", "sequence"),
        (set(&[1, 2]), "{1, 2}", "set"),
        (set(&[2]), "{2}", "set"),
        (map(&[1, 2]), "{1: true, 2: true}", "map"),
        (map(&[2]), "{2: true}", "map"),
        (
            unavailable(Unavailability::Unreadable { address: 16 }),
            "<memory at 0x10 cannot be read>",
            "unavailable",
        ),
        (
            unavailable(Unavailability::NoValue),
            "<no value>",
            "unavailable",
        ),
        (
            unavailable(Unavailability::NoElement),
            "<there is no such element>",
            "unavailable",
        ),
        (
            unavailable(Unavailability::OptimizedOut),
            "<optimized out>",
            "unavailable",
        ),
        (
            unavailable(Unavailability::NotCaptured),
            "<not captured>",
            "unavailable",
        ),
    ]
}

#[test]
fn values_of_all_types_have_an_order() {
    let values: Vec<Value> = ascending().into_iter().map(|(value, ..)| value).collect();
    for (position, left) in values.iter().enumerate() {
        for (other, right) in values.iter().enumerate() {
            assert_eq!(left.cmp(right), position.cmp(&other), "{left} {right}");
            assert_eq!(left == right, position == other, "{left} {right}");
            assert_eq!(left < right, position < other, "{left} {right}");
        }
    }
}

#[test]
fn values_and_their_types_are_shown() {
    for (value, shown, type_name) in ascending() {
        assert_eq!(value.to_string(), shown);
        assert_eq!(value.type_name(), type_name);
    }
}

#[test]
fn different_values_have_different_hashes() {
    let hashes = ascending().into_iter().map(|(value, ..)| hash_of(&value));
    let distinct: std::collections::BTreeSet<u64> = hashes.collect();
    assert_eq!(distinct.len(), ascending().len());
}

#[test]
fn zeros_are_equal_and_so_are_all_that_are_no_number() {
    let other_nan = f64::from_bits(f64::NAN.to_bits() ^ 1);
    for (left, right) in [(0.0, -0.0), (f64::NAN, other_nan), (f64::NAN, -f64::NAN)] {
        let (left, right) = (Value::Float(left), Value::Float(right));
        assert_eq!(left, right);
        assert_eq!(left.cmp(&right), Ordering::Equal);
        assert_eq!(hash_of(&left), hash_of(&right));
    }
}

#[test]
fn only_numbers_stand_for_integers() {
    assert_eq!(Value::Int(-7).as_integer(), Some(-7));
    let largest = Value::Address(u64::MAX).as_integer();
    assert_eq!(largest, Some(i128::from(u64::MAX)));
    assert_eq!(Value::Bool(true).as_integer(), None);
    assert_eq!(Value::Float(1.0).as_integer(), None);
}

#[test]
fn the_depth_counts_collections_around_one_another() {
    assert_eq!(Value::Int(7).depth(), 0);
    for collection in [set(&[]), sequence(&[1]), map(&[1])] {
        assert_eq!(collection.depth(), 1, "{collection}");
        let around = Value::Sequence([collection].into_iter().collect());
        assert_eq!(around.depth(), 2, "{around}");
    }
}
