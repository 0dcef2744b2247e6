//! Flat forms compared with the trees from which they are compiled.

use super::*;
use crate::evaluate::{execute, truth};
use juror_event::Unavailability;
use proptest::prelude::*;

const SLOTS: u16 = 4;

/// The variables and captures.
#[derive(Debug, Clone, PartialEq)]
struct Values {
    variables: Vec<Value>,
    captures: Vec<Value>,
}

impl Environment for Values {
    fn variable(&self, slot: u16) -> Option<&Value> {
        self.variables.get(usize::from(slot))
    }

    fn capture(&self, slot: u8) -> Option<&Value> {
        self.captures.get(usize::from(slot))
    }
}

impl Store for Values {
    fn assign(&mut self, slot: u16, value: Value) {
        if let Some(variable) = self.variables.get_mut(usize::from(slot)) {
            *variable = value;
        }
    }
}

/// Generates values of all kinds, including numbers near overflow.
fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => (-3..4_i128).prop_map(Value::Int),
        1 => any::<i64>().prop_map(|n| Value::Int(n.into())),
        1 => any::<i128>().prop_map(Value::Int),
        1 => prop::sample::select(vec![i64::MIN, i64::MIN + 1, i64::MAX])
            .prop_map(|n| Value::Int(n.into())),
        3 => prop_oneof![0..5_u64, any::<u64>(), Just(u64::MAX)].prop_map(Value::Address),
        3 => any::<bool>().prop_map(Value::Bool),
        1 => prop_oneof![Just(1.5), Just(f64::NAN)].prop_map(Value::Float),
        1 => Just(Value::String("text".into())),
        1 => Just(Value::Unavailable(Unavailability::OptimizedOut)),
        1 => Just(Value::Unavailable(Unavailability::NotCaptured)),
    ]
}

fn any_operator() -> impl Strategy<Value = BinaryOperator> {
    use BinaryOperator as Op;
    prop::sample::select(vec![
        Op::Or,
        Op::Or,
        Op::And,
        Op::And,
        Op::Equal,
        Op::NotEqual,
        Op::Less,
        Op::LessEqual,
        Op::Greater,
        Op::GreaterEqual,
        Op::In,
        Op::BitOr,
        Op::BitXor,
        Op::BitAnd,
        Op::ShiftLeft,
        Op::ShiftRight,
        Op::Add,
        Op::Subtract,
        Op::Multiply,
        Op::Divide,
        Op::Remainder,
    ])
}

fn term(kind: TermKind) -> Term {
    Term { kind, span: 0..1 }
}

fn any_term() -> impl Strategy<Value = Term> {
    let leaf = prop_oneof![
        any_value().prop_map(|value| term(TermKind::Constant(value))),
        // One slot more than exist.
        (0..SLOTS + 1).prop_map(|slot| term(TermKind::Variable(slot))),
        (0..SLOTS as u8 + 1).prop_map(|slot| term(TermKind::Capture(slot))),
    ];
    leaf.prop_recursive(6, 40, 2, |inner| {
        let operators = vec![
            UnaryOperator::Not,
            UnaryOperator::Not,
            UnaryOperator::Negate,
            UnaryOperator::Plus,
            UnaryOperator::Complement,
        ];
        let unary = (prop::sample::select(operators), inner.clone());
        let binary = (any_operator(), inner.clone(), inner.clone());
        let conditional = (inner.clone(), inner.clone(), inner.clone());
        let arithmetic = (0..SLOTS as u8 + 1, inner);
        prop_oneof![
            1 => unary.prop_map(|(operator, operand)| term(TermKind::Unary {
                operator,
                operand: Box::new(operand),
            })),
            5 => binary.prop_map(|(operator, left, right)| term(TermKind::Binary {
                operator,
                left: Box::new(left),
                right: Box::new(right),
            })),
            1 => conditional.prop_map(|(condition, then, otherwise)| term(TermKind::Conditional {
                condition: Box::new(condition),
                then: Box::new(then),
                otherwise: Box::new(otherwise),
            })),
            1 => arithmetic.prop_map(|(slot, exact)| term(TermKind::Arithmetic {
                slot,
                exact: Box::new(exact),
            })),
        ]
    })
}

fn any_values() -> impl Strategy<Value = Values> {
    let some = || prop::collection::vec(any_value(), usize::from(SLOTS));
    (some(), some()).prop_map(|(variables, captures)| Values {
        variables,
        captures,
    })
}

fn any_kind() -> impl Strategy<Value = Kind> {
    prop::sample::select(vec![
        Kind::Integer,
        Kind::Boolean,
        Kind::Float,
        Kind::Address,
        Kind::String,
        Kind::Unknown,
    ])
}

proptest! {
    #![proptest_config(juror_testing::with_cases(4_000))]

    #[test]
    fn a_condition_is_as_true_as_its_term(term in any_term(), values in any_values()) {
        if let Some(found) = FlatCondition::new(&term).and_then(|flat| flat.truth(&values)) {
            prop_assert_eq!(Ok(found), truth(&term, &values));
        }
    }

    #[test]
    fn updates_assign_what_their_terms_are(
        terms in prop::collection::vec((0..SLOTS, any_kind(), any_term()), 1..4),
        values in any_values(),
    ) {
        let updates = terms.into_iter().map(|(variable, holds, value)| Update::Assign {
            variable,
            holds,
            value,
            span: 0..1,
        });
        let updates: Vec<Update> = updates.collect();
        let Some(flat) = FlatUpdates::new(&updates) else {
            return Ok(());
        };
        let (mut flatly, mut as_trees) = (values.clone(), values);
        if flat.execute(&mut flatly).is_some() {
            prop_assert_eq!(execute(&updates, &mut as_trees), Ok(()));
            // A NaN is not equal to itself, and no flat form assigns one.
            prop_assert_eq!(format!("{flatly:?}"), format!("{as_trees:?}"));
        }
    }
}

fn condition(text: &str) -> (Term, Option<FlatCondition>) {
    let source = format!(
        "property x event e = before f(p, n) var v = 7 var b = true var s = {{1}} \
         state init {{ on e when {text} }}"
    );
    let (properties, diagnostics) = crate::load(&source);
    let guard = properties.first().and_then(|property| {
        let state = property.states().first()?;
        state.transitions.first()?.guard.clone()
    });
    let guard = guard.unwrap_or_else(|| panic!("{diagnostics:#?}"));
    let flat = FlatCondition::new(&guard);
    (guard, flat)
}

#[test]
fn what_people_write_is_flat() {
    let values = Values {
        variables: vec![Value::Int(7), Value::Bool(true), Value::Bool(false)],
        captures: vec![Value::Address(0x1000), Value::Int(3)],
    };
    for (text, expected) in [
        ("n + 1 > v", false),
        ("n < v and b", true),
        ("n < v and not b or p == null", false),
        ("not (n == 3) or v - n * 2 == 1", true),
        ("p + 8 > p and p - p == 0", true),
        ("v % 4 == 3 and v / 2 == n and -n < 0", true),
        ("b", true),
        ("(n > 3 ? n : v) == 7", true),
        ("b ? n == 3 : p == null", true),
        ("(b and n == 4 ? 1 : n < v ? 2 : 3) - 1 == 1", true),
    ] {
        let (guard, flat) = condition(text);
        let flat = flat.unwrap_or_else(|| panic!("{text} is not flat"));
        assert_eq!(flat.truth(&values), Some(expected), "{text}");
        assert_eq!(truth(&guard, &values), Ok(expected), "{text}");
    }
    assert_eq!(condition("n in s").1, None);
}

#[test]
fn terms_that_are_large_stay_trees() {
    let long = format!("n{} > v", " + n * v".repeat(40));
    assert_eq!(condition(&long).1, None);
}

#[test]
fn numbers_compare_by_each_operator() {
    use BinaryOperator as Op;
    let operators = [
        (Op::Equal, [false, true, false]),
        (Op::NotEqual, [true, false, true]),
        (Op::Less, [true, false, false]),
        (Op::LessEqual, [true, true, false]),
        (Op::Greater, [false, false, true]),
        (Op::GreaterEqual, [false, true, true]),
    ];
    let right = [Scalar::Int(2), Scalar::Address(2)];
    for (operator, expected) in operators {
        for (number, expected) in (1..4).zip(expected) {
            for left in [Scalar::Int(number), Scalar::Address(number as u64)] {
                for right in right {
                    let found = compare(operator, left, right);
                    assert_eq!(found, Some(expected), "{left:?} {operator} {right:?}");
                }
            }
        }
    }
    let truths = |operator| compare(operator, Scalar::Bool(true), Scalar::Bool(false));
    assert_eq!(truths(Op::Equal), Some(false));
    assert_eq!(truths(Op::NotEqual), Some(true));
    assert_eq!(truths(Op::Less), None);
}

#[test]
fn integers_are_computed_by_each_operator() {
    use BinaryOperator as Op;
    for (operator, expected) in [
        (Op::Add, 23),
        (Op::Subtract, 1),
        (Op::Multiply, 132),
        (Op::Divide, 1),
        (Op::Remainder, 1),
        (Op::BitAnd, 0b1000),
        (Op::BitOr, 0b1111),
        (Op::BitXor, 0b0111),
    ] {
        assert_eq!(integers(operator, 12, 11), Some(expected), "{operator}");
    }
}
