//! Tests operations on captured values against the prompt, and against the monitors' exact
//! operations if these are to give the same results.

use super::super::compile::{Names, truth};
use super::super::node::{Node, Word};
use super::super::operand::{Operand, OperandLocation, Unknown};
use super::super::value_of;
use super::Captured;
use juror_event::Value;
use juror_language::{Environment, TermKind, parse_expression};
use juror_symbols::Type;
use juror_values::error::ValueError;
use juror_values::expression::{Scope, evaluate};
use juror_values::pretty_printers::PrettyPrinters;
use juror_values::standard_types::LibraryTypes;
use juror_values::typed::{Memory, Number, Typed};
use proptest::prelude::*;

/// The types of the operands, by number.
const TYPES: [&str; 9] = [
    "int",
    "unsigned int",
    "long",
    "unsigned long",
    "unsigned char",
    "float",
    "double",
    "bool",
    "int *",
];

fn type_of(number: usize) -> Option<Type> {
    match *TYPES.get(number)? {
        "int *" => Some(Type::builtin("int")?.pointer_to()),
        name => Type::builtin(name),
    }
}

/// The captured values.
#[derive(Debug)]
struct Event(Vec<Value>);

impl Names for Event {
    fn name(&self, _: &str) -> Result<Operand, Unknown> {
        Err(Unknown::UntilHit)
    }
    fn register(&self, name: &str) -> Result<Operand, Unknown> {
        let number: usize = name.parse().map_err(|_| Unknown::UntilHit)?;
        let bytes = if TYPES[number] == "float" { 4 } else { 8 };
        let word = Word::Captured(number as u8, bytes);
        Ok(Operand::new(
            type_of(number).unwrap(),
            OperandLocation::Bits(word),
        ))
    }
    fn argument(&self, _: u8) -> Result<Operand, Unknown> {
        Err(Unknown::UntilHit)
    }
    fn type_named(&self, name: &str) -> Option<Type> {
        Type::builtin(name)
    }
}

impl Memory for Event {
    fn read(&self, _: u64, _: &mut [u8]) -> bool {
        false
    }
}

impl Scope for Event {
    fn name(&self, name: &str) -> Result<Typed, ValueError> {
        Err(format!("no {name}").into())
    }
    fn register(&self, name: &str) -> Result<Typed, ValueError> {
        let number: usize = name.parse().unwrap();
        let r#type = type_of(number).unwrap();
        let size = r#type.size().unwrap() as usize;
        let bytes = match &self.0[number] {
            Value::Int(it) => it.to_le_bytes().to_vec(),
            Value::Float(it) if size == 4 => (*it as f32).to_le_bytes().to_vec(),
            Value::Float(it) => it.to_le_bytes().to_vec(),
            Value::Bool(it) => vec![u8::from(*it)],
            Value::Address(it) => it.to_le_bytes().to_vec(),
            other => panic!("{other:?}"),
        };
        Ok(Typed::of_bytes(r#type, bytes[..size].to_vec()))
    }
    fn argument(&self, position: u8) -> Result<Typed, ValueError> {
        Err(format!("no {position}").into())
    }
    fn returned(&self) -> Result<Typed, ValueError> {
        Err("nothing".into())
    }
    fn caller(&self) -> Result<Box<dyn Scope + '_>, ValueError> {
        Err("none".into())
    }
    fn standard_types(&self) -> Option<&dyn LibraryTypes> {
        Some(PrettyPrinters::standard())
    }
    fn type_named(&self, name: &str) -> Option<Type> {
        Type::builtin(name)
    }
    fn memory(&self) -> &dyn Memory {
        self
    }
}

impl Environment for Event {
    fn variable(&self, _: u16) -> Option<&Value> {
        None
    }
    fn capture(&self, slot: u8) -> Option<&Value> {
        self.0.get(usize::from(slot))
    }
}

/// Returns a comparison as the guard of a monitor; `v0` is the first value.
fn guard(text: &str) -> Option<juror_language::Term> {
    let names: Vec<String> = (0..TYPES.len()).map(|it| format!("v{it}")).collect();
    let source = format!(
        "property x event e = before f({}) state init {{ on e when {text} }}",
        names.join(", ")
    );
    let (properties, _) = juror_language::load(&source);
    let state = properties.first()?.states().first()?;
    state.transitions.first()?.guard.clone()
}

fn node_of(text: &str, event: &Event) -> Option<Node> {
    let (expression, _) = parse_expression(&text.replace('v', "$"));
    truth(&expression?, event).ok()
}

fn evaluated(text: &str, event: &Event) -> Option<Value> {
    let (expression, _) = parse_expression(&text.replace('v', "$"));
    let value = evaluate(&expression?, event).ok()?;
    Some(match value.number(event).ok()? {
        Number::Int(number) => Value::Int(number),
        Number::Float(number) => Value::Float(number),
        Number::Bool(truth) => Value::Bool(truth),
        Number::Pointer(address, _) => Value::Address(address),
        Number::Wide(_) => return None,
    })
}

fn operations() -> impl Strategy<Value = String> {
    let values = (0..TYPES.len()).prop_map(|number| format!("v{number}"));
    let numbers = prop::sample::select(vec!["0", "1", "3", "100", "4294967295", "0.5", "true"]);
    let leaf = prop_oneof![4 => values, 1 => numbers.prop_map(str::to_owned)];
    let part = leaf.prop_recursive(3, 12, 2, |inner| {
        let operators = prop::sample::select(vec![
            "+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "==", "<", ">=",
        ]);
        let signs = prop::sample::select(vec!["-", "~", "not "]);
        prop_oneof![
            4 => (inner.clone(), operators, inner.clone())
                .prop_map(|(left, operator, right)| format!("({left} {operator} {right})")),
            1 => (signs, inner.clone()).prop_map(|(sign, it)| format!("({sign}{it})")),
            1 => (inner.clone(), inner.clone(), inner)
                .prop_map(|(it, then, otherwise)| format!("({it} < 1 ? {then} : {otherwise})")),
        ]
    });
    let comparisons = prop::sample::select(vec!["==", "!=", "<", "<=", ">", ">="]);
    (part.clone(), comparisons, part)
        .prop_map(|(left, operator, right)| format!("{left} {operator} {right}"))
}

fn events() -> impl Strategy<Value = Event> {
    let number =
        || prop_oneof![3 => -3..4_i64, 1 => any::<i64>(), 1 => Just(-1), 1 => Just(1 << 40)];
    prop::collection::vec(number(), TYPES.len()).prop_map(|numbers| {
        let value = |(number, name): (&i64, &&str)| match *name {
            "int" => Value::Int((*number as i32).into()),
            "unsigned int" => Value::Int((*number as u32).into()),
            "long" => Value::Int((*number).into()),
            "unsigned long" => Value::Int((*number as u64).into()),
            "unsigned char" => Value::Int((*number as u8).into()),
            "float" => Value::Float(f64::from(*number as f32 / 4.0)),
            "double" => Value::Float(*number as f64 / 4.0),
            "bool" => Value::Bool(number & 1 == 1),
            _ => Value::Address(*number as u64),
        };
        Event(numbers.iter().zip(&TYPES).map(value).collect())
    })
}

proptest! {
    #![proptest_config(juror_testing::with_cases(6000))]

    #[test]
    fn operations_give_the_result_of_the_prompt(text in operations(), event in events()) {
        let Some(node) = node_of(&text, &event) else { return Ok(()) };
        if let Some(value) = node.evaluate(&Captured(&event.0)).map(value_of) {
            prop_assert_eq!(Some(value), evaluated(&text, &event));
        }
    }

    #[test]
    fn exact_operations_give_the_same_result(text in operations(), event in events()) {
        let Some(node) = node_of(&text, &event).filter(Node::is_exact) else { return Ok(()) };
        let Some(term) = guard(&text) else { return Ok(()) };
        let exact = match term.kind {
            TermKind::Arithmetic { exact, .. } => *exact,
            _ => term,
        };
        if let Some(Value::Bool(truth)) = node.evaluate(&Captured(&event.0)).map(value_of) {
            prop_assert_eq!(juror_language::truth(&exact, &event).ok(), Some(truth));
        }
    }
}

#[test]
fn a_quotient_by_zero_is_the_programs() {
    let zero = |name: &&str| match *name {
        "float" | "double" => Value::Float(0.0),
        "bool" => Value::Bool(false),
        "int *" => Value::Address(0),
        _ => Value::Int(0),
    };
    let event = Event(TYPES.iter().map(zero).collect());
    let value = |text| {
        let node = node_of(text, &event).unwrap();
        assert!(!node.is_exact(), "{text}");
        node.evaluate(&Captured(&event.0)).map(value_of)
    };
    assert_eq!(value("1.0 / v6 > 1e300 + v6"), Some(Value::Bool(true)));
    assert_eq!(value("1.0 / v2 > 1e300 + v6"), Some(Value::Bool(true)));
    assert_eq!(value("v6 / v6 == v6 / v6"), Some(Value::Bool(false)));
    assert_eq!(value("v6 / 0 != v6"), Some(Value::Bool(true)));
    // With a constant divisor other than zero the operation is left to the monitor.
    assert!(node_of("v6 / 4 == v6", &event).unwrap().is_exact());
    assert!(node_of("v6 / 0.5 == v6", &event).unwrap().is_exact());
}

/// Tests results that exceed `int`, beside an unsigned number.
#[test]
fn the_chosen_side_has_the_type_that_both_have_in_common() {
    let event = Event(
        TYPES
            .iter()
            .map(|name| match *name {
                "float" | "double" => Value::Float(1.0),
                "bool" => Value::Bool(true),
                "int *" => Value::Address(1),
                "int" => Value::Int(-1),
                "long" => Value::Int(1 << 40),
                "unsigned char" => Value::Int(32),
                _ => Value::Int(1),
            })
            .collect(),
    );
    for (text, expected) in [
        ("(v1 < 1 ? v1 : (v0 << v4)) == 0", true),
        ("((v1 < 1 ? v1 : (v0 << v4)) & (-v2)) < (~v0)", false),
        (
            "(v1 < 2 ? (v0 * 4294967295) : v1) == 4294967297 - 8589934592",
            true,
        ),
        ("(v1 < 2 ? -(v0 << v4) : v1) == 0", true),
        ("(v1 < 2 ? (v1 < 2 ? (v0 << v4) : v0) : v1) == 0", true),
        ("(v1 < 2 ? (v0 << v4) : v3) == 18446744069414584320", true),
        ("(v1 < 2 ? (v0 << v4) : v2) == -4294967296", true),
        ("(v1 < 2 ? (v0 << v4) : v0) == -4294967296", true),
        ("(v1 < 2 ? (v0 << v4) : v6) == -4294967296", true),
    ] {
        assert_eq!(
            evaluated(text, &event),
            Some(Value::Bool(expected)),
            "{text}"
        );
        let node = node_of(text, &event).unwrap();
        let value = node.evaluate(&Captured(&event.0)).map(value_of);
        assert_eq!(value, Some(Value::Bool(expected)), "{text}");
    }
}
