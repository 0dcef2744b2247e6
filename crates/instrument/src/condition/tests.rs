//! Tests compiled conditions against the evaluation at the prompt, over a page of memory.

use super::compile::{Names, truth, value};
use super::node::{Node, Scalar, Word};
use super::operand::{NotCompiled, Operand, OperandLocation, Unknown};
use super::{Check, Condition, value_of};
use crate::word_chain::interpret;
use juror_arch::abi;
use juror_event::{Conversion, Value};
use juror_language::{ExpressionKind, parse_expression};
use juror_monitor::lowering::{Origin, WordCapture, WordKind};
use juror_symbols::{BitField, Type};
use juror_values::error::ValueError;
use juror_values::expression::{Scope, evaluate};
use juror_values::pretty_printers::PrettyPrinters;
use juror_values::read_plan::Machine;
use juror_values::standard_types::LibraryTypes;
use juror_values::typed::{Memory, Number, Typed};
use proptest::prelude::*;

const START: u64 = 0x1000;

struct Page(Vec<u8>);

impl Memory for Page {
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        let start = address.checked_sub(START).map(|offset| offset as usize);
        let bytes = start.and_then(|start| self.0.get(start..start.checked_add(buffer.len())?));
        bytes.is_some_and(|bytes| {
            buffer.copy_from_slice(bytes);
            true
        })
    }
}

impl Machine for Page {
    fn register(&self, number: u8) -> u64 {
        // The bits above a small value in its register are arbitrary.
        if number == 5 {
            0xdead_0000_0000_002a
        } else {
            0
        }
    }
    fn vector(&self, number: u8) -> Option<u64> {
        (number == 0).then(|| 1.5f64.to_bits())
    }
    fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        Memory::read(self, address, buffer)
    }
}

fn page() -> Page {
    let mut bytes = vec![0; 0x1000];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(0, &(-7i32).to_le_bytes());
    put(4, &[200]);
    put(8, &u64::MAX.to_le_bytes());
    put(16, &0x1080u64.to_le_bytes());
    put(24, &2.5f64.to_le_bytes());
    put(32, &0.5f32.to_le_bytes());
    put(40, b"hello\0");
    put(48, &0x1028u64.to_le_bytes());
    put(64, &0b1110_1000u32.to_le_bytes());
    put(68, &[1]);
    put(88, &1u32.to_le_bytes());
    put(72, &0xffff_0000u64.to_le_bytes());
    for (index, number) in [1i32, -2, 3, 4].iter().enumerate() {
        put(0x80 + 4 * index, &number.to_le_bytes());
    }
    put(0xffd, b"end");
    put(80, &0x1ffdu64.to_le_bytes());
    Page(bytes)
}

fn typed(name: &str) -> Option<Typed> {
    let builtin = |name: &str| Type::builtin(name).unwrap();
    let at = |r#type: Type, offset: u64| Some(Typed::in_memory(r#type, START + offset));
    match name {
        "i" => at(builtin("int"), 0),
        "u" => at(builtin("unsigned char"), 4),
        "l" => at(builtin("unsigned long"), 8),
        "p" => at(builtin("int").pointer_to(), 16),
        "d" => at(builtin("double"), 24),
        "f" => at(builtin("float"), 32),
        "t" => at(builtin("char").array_of(8), 40),
        "q" => at(builtin("char").pointer_to(), 48),
        "n" => at(builtin("int").pointer_to(), 56),
        "b" => Some(Typed {
            bits: Some(BitField {
                offset_bits: 3,
                size_bits: 5,
            }),
            ..at(builtin("int"), 64)?
        }),
        "c" => at(builtin("unsigned int"), 88),
        "y" => Some(Typed {
            bits: Some(BitField {
                offset_bits: 3,
                size_bits: 5,
            }),
            ..at(builtin("unsigned int"), 64)?
        }),
        "z" => at(builtin("bool"), 68),
        "w" => at(builtin("int").pointer_to(), 72),
        "e" => at(builtin("char").pointer_to(), 80),
        "a" => at(builtin("int").array_of(4), 0x80),
        "m" => at(builtin("int").array_of(2).array_of(2), 0x80),
        "v" => at(Type::void().pointer_to(), 16),
        "r" => Some(Typed::of_bytes(
            builtin("int"),
            42i32.to_le_bytes().to_vec(),
        )),
        "x" => Some(Typed::of_bytes(
            builtin("double"),
            1.5f64.to_le_bytes().to_vec(),
        )),
        _ => None,
    }
}

impl Names for Page {
    fn name(&self, name: &str) -> Result<Operand, Unknown> {
        let value =
            typed(name).ok_or_else(|| Unknown::Missing(format!("there is no `{name}`").into()))?;
        match name {
            "r" => Ok(Operand::new(
                value.r#type,
                OperandLocation::Bits(Word::Register(abi::INTEGER_ARGUMENTS[0] as u8)),
            )),
            "x" => Ok(Operand::new(
                value.r#type,
                OperandLocation::Bits(Word::Vector(0)),
            )),
            _ => Operand::of(value),
        }
    }
    fn register(&self, _: &str) -> Result<Operand, Unknown> {
        Err(Unknown::UntilHit)
    }
    fn argument(&self, _: u8) -> Result<Operand, Unknown> {
        Err(Unknown::UntilHit)
    }
    fn type_named(&self, name: &str) -> Option<Type> {
        Type::builtin(name)
    }
}

impl Scope for Page {
    fn name(&self, name: &str) -> Result<Typed, ValueError> {
        typed(name).ok_or_else(|| format!("there is no `{name}`").into())
    }
    fn register(&self, name: &str) -> Result<Typed, ValueError> {
        Err(format!("no {name}").into())
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

/// Returns the value of the compiled expression, or `None` if it has no result.
fn compiled(text: &str) -> Result<Option<Scalar>, NotCompiled> {
    let (expression, diagnostics) = parse_expression(text);
    assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
    Ok(truth(&expression.unwrap(), &page())?.evaluate(&page()))
}

/// Returns the value by the evaluation at the prompt.
fn evaluated(text: &str) -> Result<Scalar, ValueError> {
    let (expression, _) = parse_expression(text);
    let page = page();
    let value = evaluate(&expression.unwrap(), &page).map_err(|error| error.message)?;
    Ok(match value.number(&page)? {
        Number::Int(number) => Scalar::Int(number),
        Number::Float(number) => Scalar::Float(number),
        Number::Wide(number) => Scalar::Float(number.double()),
        Number::Bool(truth) => Scalar::Bool(truth),
        Number::Pointer(address, _) => Scalar::Address(address),
    })
}

#[test]
fn conditions_are_compiled_to_what_they_say() {
    for (text, expected) in [
        ("i", Scalar::Int(-7)),
        ("u + 100", Scalar::Int(300)),
        ("l", Scalar::Int(i128::from(u64::MAX))),
        ("~u", Scalar::Int(-201)),
        ("f / 3 == (f + 0.0) / 3", Scalar::Bool(false)),
        ("-f / 3 + f / 3", Scalar::Float(0.0)),
        ("sizeof(i + 1)", Scalar::Int(4)),
        ("sizeof(f * 2)", Scalar::Int(4)),
        ("sizeof(u << i)", Scalar::Int(4)),
        ("sizeof(i ? 1 : l)", Scalar::Int(8)),
        ("~i", Scalar::Int(6)),
        ("r == 42", Scalar::Bool(true)),
        ("x * 2", Scalar::Float(3.0)),
        ("d > f", Scalar::Bool(true)),
        ("b", Scalar::Int(-3)),
        ("*p", Scalar::Int(1)),
        ("p[1]", Scalar::Int(-2)),
        ("a[i + 9]", Scalar::Int(3)),
        ("m[1][0]", Scalar::Int(3)),
        ("*(p + 3)", Scalar::Int(4)),
        ("p + 1 - p", Scalar::Int(1)),
        ("&a[2]", Scalar::Address(0x1088)),
        ("&a[2] == p + 2", Scalar::Bool(true)),
        ("t == \"hello\"", Scalar::Bool(true)),
        ("q == \"hell\"", Scalar::Bool(false)),
        ("q != \"hello!\"", Scalar::Bool(true)),
        ("q[4] == 'o'", Scalar::Bool(true)),
        ("!n", Scalar::Bool(true)),
        ("n && *n", Scalar::Bool(false)),
        ("n == null", Scalar::Bool(true)),
        ("(unsigned char)i", Scalar::Int(249)),
        ("(char)u", Scalar::Int(-56)),
        ("*(int *)v", Scalar::Int(1)),
        ("(bool)i", Scalar::Bool(true)),
        ("sizeof a", Scalar::Int(16)),
        ("z == 1", Scalar::Bool(true)),
        ("+u", Scalar::Int(200)),
        ("+z", Scalar::Int(1)),
        ("-x + +d", Scalar::Float(1.0)),
        ("i < 0 ? u : 7", Scalar::Int(200)),
        ("i > 0 ? u : d", Scalar::Float(2.5)),
        ("(i < 0 ? u : d) / 16", Scalar::Float(12.5)),
        ("(n ? *n : 2) + 1", Scalar::Int(3)),
        ("n ? z : false", Scalar::Bool(false)),
        ("z ? z : 7", Scalar::Int(1)),
        ("*(p ? p + 1 : p)", Scalar::Int(-2)),
        ("(n ? n : p)[1]", Scalar::Int(-2)),
        ("i ? u ? 1 : 2 : 3", Scalar::Int(1)),
        ("!i ? 1 : !u ? 2 : 3", Scalar::Int(3)),
        // Unsigned types wrap, operands and results; a narrow bit field is promoted to `int`.
        ("c - 2", Scalar::Int(0xffff_ffff)),
        ("-c", Scalar::Int(0xffff_ffff)),
        ("c - 2 > 10", Scalar::Bool(true)),
        ("i < c", Scalar::Bool(false)),
        ("i + c", Scalar::Int(0xffff_fffa)),
        ("i + l", Scalar::Int(i128::from(u64::MAX - 7))),
        ("l * l", Scalar::Int(1)),
        ("l + 2", Scalar::Int(1)),
        ("-l", Scalar::Int(1)),
        ("i / c", Scalar::Int(0xffff_fff9)),
        ("c << 31 << 1", Scalar::Int(0)),
        ("i >> c", Scalar::Int(-4)),
        ("1 ? i : c", Scalar::Int(0xffff_fff9)),
        ("y - 30", Scalar::Int(-1)),
        ("u - 201", Scalar::Int(-1)),
        ("sizeof i - 5", Scalar::Int(i128::from(u64::MAX))),
        ("c + 4294967295", Scalar::Int(0x1_0000_0000)),
        // Signed types are exact, and keep their own type in what follows.
        ("2147483647 + 1", Scalar::Int(0x8000_0000)),
        ("2147483647 + 1 + (c - 2)", Scalar::Int(0x7fff_ffff)),
        (
            "9223372036854775807 + 1 - 1",
            Scalar::Int(i128::from(i64::MAX)),
        ),
        ("(i ? t : q) == \"hello\"", Scalar::Bool(true)),
    ] {
        assert_eq!(compiled(text), Ok(Some(expected)), "{text}");
        assert_eq!(evaluated(text), Ok(expected), "{text}");
    }
}

#[test]
fn a_condition_without_a_result_is_evaluated() {
    for text in [
        "*n",
        "*w == 1",
        "i / 0",
        "c << 32",
        "e == \"ends\"",
        "*(i * 1000)",
    ] {
        assert_eq!(compiled(text), Ok(None), "{text}");
        assert!(evaluated(text).is_err(), "{text}");
    }
    for text in ["$1 == i", "^i", "(float)i > 1", "t[0..2] == i"] {
        assert_eq!(compiled(text), Err(NotCompiled::Evaluate), "{text}");
    }
}

#[test]
fn errors_are_found_when_a_condition_is_compiled() {
    for (text, expected) in [
        ("nothing > 1", "there is no `nothing`"),
        ("$1 && nothing", "there is no `nothing`"),
        ("*d", "`double` is not a pointer"),
        (
            "*v",
            "`void *` does not say what it points to; cast it first",
        ),
        ("i == \"x\"", "this is not text"),
        ("p * 2", "`*` does not apply to a pointer and a number"),
        ("i[2]", "`int` has no elements"),
        ("p.x", "`int` has no fields"),
        ("-p", "a pointer has no negative"),
        ("&b", "a bit field has no address"),
        ("(queue)i", "there is no type `queue` in the program"),
    ] {
        match compiled(text) {
            Err(NotCompiled::Wrong(error)) => assert_eq!(error.message, expected, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

/// Returns the machine word of an event that reads an expression.
fn word(text: &str, conversion: Option<Conversion>) -> Option<WordCapture> {
    let (expression, _) = parse_expression(text);
    let check = Check {
        node: Some(value(&expression.unwrap(), &page()).ok()?),
        level: 0,
    };
    check.word(conversion)
}

#[test]
fn chains_of_loads_are_machine_words() {
    use Origin::{Constant, Register};
    let signed = |bytes| Some(Conversion::Signed { bytes });
    let (int, address) = (WordKind::Signed, WordKind::Address);
    let of = |origin, reads: &[i32], bytes, kind| {
        Some(WordCapture {
            origin,
            reads: reads.to_vec(),
            bytes,
            kind,
        })
    };
    for (text, conversion, expected) in [
        ("i", None, of(Constant(0x1000), &[0], 4, int)),
        ("p", None, of(Constant(0x1010), &[0], 8, address)),
        ("p[1]", None, of(Constant(0x1010), &[0, 4], 4, int)),
        ("((int *)v)[1]", None, of(Constant(0x1010), &[0, 4], 4, int)),
        ("((int *)l)[1]", None, of(Constant(0x1008), &[0, 4], 4, int)),
        ("&a[2]", None, of(Constant(0x1088), &[], 8, address)),
        ("a[2]", None, of(Constant(0x1088), &[0], 4, int)),
        ("r", None, of(Register(7), &[], 4, int)),
        ("(char)r", None, of(Register(7), &[], 1, int)),
        ("z", None, of(Constant(0x1044), &[0], 1, WordKind::Boolean)),
        ("5", None, of(Constant(5), &[], 8, int)),
        ("p[1]", signed(2), of(Constant(0x1010), &[0, 4], 2, int)),
        ("r", signed(4), of(Register(7), &[], 4, int)),
        // A computed, truncated or differently encoded value is no machine word.
        ("r", signed(8), None),
        ("(char)i", None, None),
        ("((int *)i)[1]", None, None),
        ("i + 1", None, None),
        ("&p[1]", None, None),
        ("a[i]", None, None),
        ("b", None, None),
        ("d", None, None),
        ("x", None, None),
        ("p[1]", Some(Conversion::Float32), None),
    ] {
        assert_eq!(word(text, conversion), expected, "{text} {conversion:?}");
    }
}

/// Returns the value of the bytes of an expression in another type.
fn evaluated_as(text: &str, conversion: Conversion) -> Option<Value> {
    let r#type = match conversion {
        Conversion::Signed { bytes: 1 } => Type::builtin("signed char"),
        Conversion::Signed { bytes: 2 } => Type::builtin("short"),
        Conversion::Signed { bytes: 4 } => Type::builtin("int"),
        Conversion::Unsigned { .. } => Type::builtin("unsigned long"),
        Conversion::Bool => Type::builtin("bool"),
        _ => Some(Type::void().pointer_to()),
    };
    let (expression, _) = parse_expression(text);
    let page = page();
    let value = evaluate(&expression.unwrap(), &page).ok()?;
    let other = Typed {
        r#type: r#type?,
        bits: None,
        ..value
    };
    Some(match other.number(&page).ok()? {
        Number::Int(number) => Value::Int(number),
        Number::Bool(truth) => Value::Bool(truth),
        Number::Pointer(address, _) => Value::Address(address),
        Number::Float(_) | Number::Wide(_) => return None,
    })
}

fn conversions() -> impl Strategy<Value = Conversion> {
    prop::sample::select(vec![
        Conversion::Signed { bytes: 1 },
        Conversion::Signed { bytes: 2 },
        Conversion::Signed { bytes: 4 },
        Conversion::Unsigned { bytes: 8 },
        Conversion::Bool,
        Conversion::Address,
    ])
}

/// Generates expressions that are mostly chains of loads.
fn chains() -> impl Strategy<Value = String> {
    let names = ["i", "l", "p", "v", "n", "w", "q", "a", "m", "r", "z", "b"];
    let leaf = prop::sample::select(names.map(str::to_owned).to_vec());
    leaf.prop_recursive(4, 8, 1, |inner| {
        let around = prop::sample::select(vec![
            ("*(", ")"),
            ("&(", ")"),
            ("((int *)", ")"),
            ("((long *)", ")"),
            ("((int **)", ")"),
            ("((char)", ")"),
            ("((unsigned long)", ")"),
            ("(", ")[1]"),
            ("(", ")[-2]"),
        ]);
        (around, inner).prop_map(|((before, behind), it)| format!("{before}{it}{behind}"))
    })
}

fn expressions() -> impl Strategy<Value = String> {
    let names = prop::sample::select(vec![
        "i", "u", "l", "c", "y", "p", "d", "f", "t", "q", "n", "b", "z", "w", "e", "a", "m", "v",
        "r", "x",
    ])
    .prop_map(str::to_owned);
    let numbers = prop_oneof![
        Just(0i64),
        Just(1),
        Just(3),
        Just(i64::MAX),
        any::<i64>().prop_map(|number| number.saturating_abs()),
    ]
    .prop_map(|number| number.to_string());
    let sizes = names.clone().prop_map(|name| format!("(sizeof {name})"));
    let leaf = prop_oneof![6 => names, 1 => sizes, 2 => numbers, 1 => Just("1.5".to_owned())];
    leaf.prop_recursive(4, 24, 2, |inner| {
        let binary = prop::sample::select(vec![
            "+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "==", "!=", "<", "<=", ">", ">=",
            "&&", "||",
        ]);
        let unary = prop::sample::select(vec![
            "-",
            "~",
            "+",
            "!",
            "*",
            "&",
            "(char)",
            "(unsigned int)",
            "(int *)",
        ]);
        prop_oneof![
            3 => (inner.clone(), binary, inner.clone())
                .prop_map(|(left, operator, right)| format!("({left} {operator} {right})")),
            2 => (unary, inner.clone()).prop_map(|(operator, it)| format!("({operator}({it}))")),
            1 => (inner.clone(), inner.clone()).prop_map(|(it, index)| format!("({it}[{index}])")),
            1 => (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(it, then, otherwise)| format!("({it} ? {then} : {otherwise})")),
            1 => inner.prop_map(|it| format!("({it} == \"hello\")")),
        ]
    })
}

proptest! {
    #![proptest_config(juror_testing::with_cases(2000))]
    #[test]
    fn compiled_and_evaluated_agree(text in expressions()) {
        match (compiled(&text), evaluated(&text)) {
            (Ok(Some(value)), Ok(expected)) => prop_assert!(
                value == expected || format!("{value:?}") == format!("{expected:?}"),
                "{value:?} {expected:?}"
            ),
            (Ok(Some(value)), Err(error)) => prop_assert!(false, "{value:?} but {error}"),
            // An earlier operand may decide before the error is reached.
            (Err(NotCompiled::Wrong(error)), Ok(value)) => prop_assert!(
                text.contains("&&") || text.contains("||") || text.contains('?'),
                "{error} but {value:?}"
            ),
            _ => {}
        }
    }

    #[test]
    fn words_are_what_is_compiled(text in prop_oneof![4 => chains(), 1 => expressions()]) {
        let Some(capture) = word(&text, None) else { return Ok(()) };
        let (expression, _) = parse_expression(&text);
        let node = value(&expression.unwrap(), &page()).unwrap();
        let expected = node.evaluate(&page()).map(value_of);
        let found = interpret(&capture, &page(), None).map(|word| capture.kind.value_of(word));
        prop_assert_eq!(format!("{found:?}"), format!("{expected:?}"));
    }

    #[test]
    fn words_of_another_type_are_what_is_evaluated(
        text in chains(),
        conversion in conversions(),
    ) {
        let Some(capture) = word(&text, Some(conversion)) else { return Ok(()) };
        let expected = evaluated_as(&text, conversion);
        let found = interpret(&capture, &page(), None).map(|word| capture.kind.value_of(word));
        prop_assert_eq!(format!("{found:?}"), format!("{expected:?}"));
    }
}

#[test]
fn each_caller_that_a_condition_names_needs_a_frame() {
    for (text, expected) in [
        ("i", 1),
        ("^i", 2),
        ("^^i > 0", 3),
        ("^i + ^^i", 3),
        ("$_caller_is(\"f\")", 2),
        ("$_any_caller_is(\"f\", 5)", 6),
    ] {
        let condition = Condition::parse(text, &[]).expect("a condition");
        assert_eq!(condition.frame_count(), expected, "{text}");
    }
}

#[test]
fn a_condition_tells_whether_it_changes_the_program() {
    for (text, expected) in [
        ("i > 1", false),
        ("f(i)", true),
        ("a.size() > 1", true),
        ("(i = 5) > 1", true),
    ] {
        let condition = Condition::parse(text, &[]).expect("a condition");
        assert_eq!(condition.has_effects(), expected, "{text}");
    }
}

#[test]
fn arguments_and_results_have_a_meaning_in_events_alone() {
    for text in ["arg 1 + 1", "ret"] {
        let condition = Condition::of_capture(text).expect("a read");
        let expression = condition.expression();
        let is_of_call = expression.all_parts().into_iter().any(|part| {
            matches!(
                part.kind,
                ExpressionKind::Argument(_) | ExpressionKind::Return
            )
        });
        assert!(is_of_call, "{text}");
    }
    assert!(Condition::of_capture("a +").is_err());
    assert!(Condition::parse("a +", &[]).is_err());
}

#[test]
fn a_check_that_is_not_compiled_keeps_its_frame() {
    let prepared = |outcome| super::prepared(outcome, 3);
    let evaluated = prepared(Err(NotCompiled::Evaluate)).expect("a check");
    assert!(!evaluated.is_compiled());
    assert_eq!(evaluated.level(), 3);
    assert_eq!(evaluated.value(&page()), None);
    let compiled = prepared(truth_of("i")).expect("a check");
    assert!(compiled.is_compiled());
    assert_eq!(compiled.value(&page()), Some(Value::Int(-7)));
    assert!(prepared(truth_of("nothing")).is_err());
}

fn truth_of(text: &str) -> Result<Node, NotCompiled> {
    let (expression, _) = parse_expression(text);
    truth(&expression.expect("an expression"), &page())
}
