use super::*;
use crate::{Property, load};

/// The variables and captures of a test.
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
        self.variables[usize::from(slot)] = value;
    }
}

/// `p` is a null pointer, `p->len` cannot be read, `q` is a valid pointer and `q->len`
/// is 5, `t` is a string.
fn values(property: &Property) -> Values {
    let captures = property.events[0].captures.iter();
    Values {
        variables: property
            .variables
            .iter()
            .map(|v| v.initial.clone())
            .collect(),
        captures: captures
            .map(|capture| match &*capture.name {
                "p" => Value::Address(0),
                "q" => Value::Address(0x1000),
                "t" => Value::String("text".into()),
                "q->len" => Value::Int(5),
                _ if matches!(capture.read, juror_event::Read::Arithmetic(_)) => {
                    Value::Unavailable(Unavailability::NotCaptured)
                }
                _ => Value::Unavailable(Unavailability::Unreadable { address: 8 }),
            })
            .collect(),
    }
}

fn source(transition: &str) -> String {
    format!(
        "property x event e = before f(p, q, t) \
         var n = 7 var big = 170141183460469231731687303715884105727 var f = 1.5 var b = true \
         var a = null var s = \"old\" \
         state init {{ on e {transition} }}"
    )
}

#[track_caller]
fn property(source: &str) -> Property {
    let (mut properties, diagnostics) = load(source);
    assert_eq!(properties.len(), 1, "{diagnostics:#?}");
    properties.remove(0)
}

#[track_caller]
fn check(guard: &str, expected: Result<bool, (&str, &str)>) {
    let source = source(&format!("when {guard}"));
    let property = property(&source);
    let guard = property.states()[0].transitions[0].guard.as_ref();
    let found = truth(guard.expect("there is a guard"), &values(&property));
    match (found, expected) {
        (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{source}"),
        (Err(error), Err((underlined, message))) => {
            assert_eq!(&source[error.span.clone()], underlined, "{error}");
            assert!(error.message.contains(message), "{error}");
        }
        (found, expected) => panic!("{found:?} for {expected:?} in {source}"),
    }
}

#[test]
fn guards() {
    check("n > 6 and not (n > 7)", Ok(true));
    check("n % 4 == 3 and -n / 2 == -3 and (n & 3) == 3", Ok(true));
    check("n << 2 == 28 and n >> 1 == 3 and ~n == -8", Ok(true));
    check(
        "p == null and q != null and q == 0x1000 and q > p",
        Ok(true),
    );
    check(
        "q + 8 == 0x1008 and q - 8 < q and q - p == 4096 and q % 16 == 0",
        Ok(true),
    );
    check("f < 2 and f * 2 == 3 and n > 6.5 and n + 0.5 > 7", Ok(true));
    check("t == \"text\" and t < \"texts\" and t != s", Ok(true));
    check("b == true and b != false", Ok(true));
    check("q->len > 4 or p->len > 4", Ok(true));
    check("p != null and p->len > 3", Ok(false));
    check("b", Ok(true));
    // As in C, values of the program are true if they are not zero.
    check("q->len and not (p or not q)", Ok(true));
    check("p or q->len - 5", Ok(false));
}

/// The transitions of `when guard ignore when doubt … else …`: which of both is taken.
#[test]
fn what_is_ignored_holds_neither_way() {
    for (guard, doubt, expected) in [
        ("n == 7", "n == 7", [false, false]),
        ("n == 7", "n == 8", [true, false]),
        ("n == 8", "n == 7", [false, false]),
        ("n == 8", "n == 8", [false, true]),
    ] {
        let source = source(&format!(
            "when {guard} ignore when {doubt} -> init else -> init"
        ));
        let property = property(&source);
        let values = values(&property);
        let transitions = property.states()[0].transitions.iter();
        let guards = transitions.map(|it| it.guard.as_ref().expect("it has a guard"));
        let held: Vec<bool> = guards
            .map(|guard| truth(guard, &values).expect("it has a value"))
            .collect();
        assert_eq!(held, expected, "{source}");
    }
}

#[test]
fn local_variables_are_those_that_are_given() {
    let property = property(&source(""));
    let local = |slot| Term {
        kind: TermKind::Local(slot),
        span: 0..1,
    };
    let locals = [Value::Int(1), Value::Int(2)];
    for (slot, expected) in [(0, 1), (1, 2)] {
        let found = evaluate_in(&local(slot), &values(&property), &locals);
        assert_eq!(found, Ok(Value::Int(expected)));
    }
}

/// Captures as the program has them: addresses, which may be read as texts.
struct Texts<'a>(Vec<(&'a juror_event::Read, Value)>);

impl Environment for Texts<'_> {
    fn variable(&self, _: u16) -> Option<&Value> {
        Some(&Value::Bool(true))
    }

    fn capture(&self, slot: u8) -> Option<&Value> {
        self.0.get(usize::from(slot)).map(|(_, value)| value)
    }
}

#[test]
fn what_is_compared_with_a_text_is_read_as_one() {
    for guard in [
        "q == \"text\"",
        "\"text\" == q",
        "(b ? q : p) == \"text\"",
        "(b ? q : \"none\") == \"text\"",
    ] {
        let property = property(&source(&format!("when {guard}")));
        let captures = property.events[0].captures.iter();
        let texts = Texts(captures.map(|it| (&it.read, as_read(&it.read))).collect());
        let guard_term = property.states()[0].transitions[0].guard.as_ref();
        let found = truth(guard_term.expect("there is a guard"), &texts);
        assert_eq!(found, Ok(true), "{guard}");
    }
}

fn as_read(read: &juror_event::Read) -> Value {
    match read {
        juror_event::Read::Convert(_, juror_event::Conversion::String) => {
            Value::String("text".into())
        }
        _ => Value::Address(0x1000),
    }
}

/// Messages about it underline all of it.
#[test]
fn a_conditional_that_is_decided_is_where_it_was_written() {
    let written = "true ? n == 7 : n == 8";
    let source = source(&format!("when {written}"));
    let property = property(&source);
    let guard = property.states()[0].transitions[0].guard.as_ref();
    let guard = guard.expect("there is a guard");
    assert_eq!(&source[guard.span.clone()], written);
    assert_eq!(truth(guard, &values(&property)), Ok(true));
}

#[test]
fn what_has_no_value_is_an_error_never_false() {
    check(
        "p->len > 3",
        Err(("p->len", "memory at 0x8 cannot be read")),
    );
    check("not p->ok", Err(("p->ok", "not available")));
    check("p->ok", Err(("p->ok", "not available")));
    check("b and p->len > 3", Err(("p->len", "not available")));
    check("big + n > 0", Err(("big + n", "too large")));
    check("big * 2 > 0", Err(("big * 2", "too large")));
    check("big << 1 > 0", Err(("big << 1", "too large")));
    check("1 << (n + 121) > 0", Err(("1 << (n + 121)", "0 to 127")));
    check("n / (n - 7) > 0", Err(("n / (n - 7)", "division by zero")));
    check("n % (n - 7) > 0", Err(("n % (n - 7)", "division by zero")));
    check("t", Err(("t", "expected true or false")));
    check("t and b", Err(("t", "expected true or false")));
    check("q->len == t", Err(("q->len == t", "an integer and text")));
    check("q == t", Err(("q == t", "an address and text")));
    check("q == b", Err(("q == b", "an address and a boolean")));
    check("q + q == n", Err(("q + q", "not defined")));
    check("p - 1 == q", Err(("p - 1", "address space")));
    check("-q == n", Err(("-q", "an address")));
}

#[test]
fn what_the_types_of_the_program_do_not_hold_is_an_error() {
    let source = source("when q->len << 40 > n");
    let property = property(&source);
    let guard = property.states()[0].transitions[0].guard.as_ref();
    let mut values = values(&property);
    let slot = property.events[0]
        .captures
        .iter()
        .position(|it| &*it.name == "q->len << 40");
    let slot = slot.expect("it is captured");
    for (captured, expected) in [
        (Value::Int(0), Ok(false)),
        (Value::Unavailable(Unavailability::NotCaptured), Ok(true)),
        (
            Value::Unavailable(Unavailability::NoValue),
            Err("the types of the program"),
        ),
    ] {
        values.captures[slot] = captured;
        match (truth(guard.expect("there is a guard"), &values), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected),
            (Err(error), Err(message)) => assert!(error.message.contains(message), "{error}"),
            (found, expected) => panic!("{found:?} for {expected:?}"),
        }
    }
}

#[track_caller]
fn check_update(block: &str, expected: Result<&str, &str>) {
    let source = source(&format!("{{ {block} }}"));
    let property = property(&source);
    let mut values = values(&property);
    let updates = &property.states()[0].transitions[0].success.updates;
    match (execute(updates, &mut values), expected) {
        (Ok(()), Ok(expected)) => {
            let variables = property.variables.iter().zip(&values.variables);
            let changed: Vec<String> = variables
                .filter(|(variable, value)| variable.initial != **value)
                .map(|(variable, value)| format!("{}={value}", variable.name))
                .collect();
            assert_eq!(changed.join(" "), expected, "{block}");
        }
        (Err(error), Err(expected)) => {
            assert!(error.message.contains(expected), "{block}: {error}");
        }
        (found, expected) => panic!("{found:?} for {expected:?} in {block}"),
    }
}

#[test]
fn updates() {
    check_update("n = n + 1; f = n a = q", Ok("n=8 f=8.0 a=0x1000"));
    check_update("n += 2 n *= 3 n -= 1", Ok("n=26"));
    check_update("s = t b = n == 7 and false", Ok("b=false s=\"text\""));
    check_update(
        "if n > 3 { n = 1 if b { n = 2 } } else if b { n = 3 } else { n = 4 }",
        Ok("n=2"),
    );
    check_update(
        "if n < 3 { n = 1 } else if b { n = 3 } else { n = 4 }",
        Ok("n=3"),
    );
    check_update("n = q->len", Ok("n=5"));
    check_update("n = t", Err("holds an integer, and this is text"));
    check_update("b = q->len", Err("holds a boolean, and this is an integer"));
    check_update("n = p->len", Err("not available"));
    check_update("n = big + n", Err("too large"));
}

/// A property whose only event has no captures.
fn collection_source(rest: &str, transition: &str) -> String {
    format!(
        "function double(x) {{ return x + x }}
         function sum(values) {{ var total = 0 for value in values {{ total += value }} return total }}
         function factorial(n) {{ if n < 2 {{ return 1 }} return n * factorial(n - 1) }}
         function forever(n) {{ return forever(n) }}
         function nothing(n) {{ if n > 99 {{ return 1 }} }}
         function twice(n) {{ if n == 0 {{ return 0 }} return [twice(n - 1), twice(n - 1)] }}
         function deep(n) {{ if n == 0 {{ return [] }} return [deep(n - 1)] }}
         property x event e = before f(p, q, t)
         var s = {{1, 2}} var m = {{1: \"one\", 2: \"two\"}} var l = [10, 20] var n = 7 var b = true
         var d = {{:}} var o = {{}} {rest}
         state init {{ on e {transition} }}"
    )
}

#[track_caller]
fn check_collection(guard: &str, expected: Result<bool, &str>) {
    let property = property(&collection_source("", &format!("when {guard}")));
    let guard_term = property.states()[0].transitions[0].guard.as_ref();
    let found = truth(guard_term.expect("a guard"), &values(&property));
    match (found, expected) {
        (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{guard}"),
        (Err(error), Err(message)) => assert!(error.message.contains(message), "{guard}: {error}"),
        (found, expected) => panic!("{found:?} for {expected:?} in {guard}"),
    }
}

#[test]
fn collections() {
    check_collection("1 in s and not (3 in s) and 2 in m and 20 in l", Ok(true));
    check_collection("s + {3} == {1, 2, 3} and (s | {2}) == s", Ok(true));
    check_collection("(s & {2, 5}) == {2} and s - {2} == {1}", Ok(true));
    check_collection(
        "m - {1} == {2: \"two\"} and m + {1: 5} == {1: 5, 2: \"two\"}",
        Ok(true),
    );
    check_collection("l + [30] == [10, 20, 30] and l != [20, 10]", Ok(true));
    check_collection(
        "m[1] == \"one\" and l[1] == 20 and l[n - 7] == 10",
        Ok(true),
    );
    check_collection(
        "len(s) == 2 and len(m) == 2 and len(l) == 2 and len(\"äb\") == 2",
        Ok(true),
    );
    check_collection(
        "add(s, 5) == {1, 2, 5} and remove(s, 1) == {2} and add(l, 1)[2] == 1",
        Ok(true),
    );
    check_collection(
        "get(m, 9, \"x\") == \"x\" and get(l, 0, 5) == 10 and get(l, 2, 5) == 5",
        Ok(true),
    );
    check_collection(
        "keys(m) == s and values(m) == [\"one\", \"two\"] and set([1, 1]) == {1}",
        Ok(true),
    );
    check_collection(
        "range(0, 3) == [0, 1, 2] and len(range(5, 2)) == 0",
        Ok(true),
    );
    check_collection(
        "min(n, 3) == 3 and max(n, 3.5) == 7 and abs(-n) == 7",
        Ok(true),
    );
    check_collection(
        "[n, {n: s}][1][7] == {1, 2} and {s: 1}[{2, 1}] == 1",
        Ok(true),
    );
    check_collection("d == {:} and o == {} and len(o) == 0", Ok(true));
    check_collection("m[3] == 1", Err("no key 3"));
    check_collection("l[2] == 1", Err("none at position 2"));
    check_collection("l[-1] == 1", Err("none at position -1"));
    check_collection("l[\"x\"] == 1", Err("a position must be an integer"));
    check_collection("q->len in l", Ok(false));
    check_collection("p->len in l", Err("not available"));
}

#[test]
fn functions() {
    check_collection(
        "double(n) == 14 and sum(l) == 30 and sum(range(0, 82)) == 3321",
        Ok(true),
    );
    check_collection("factorial(10) == 3628800", Ok(true));
    check_collection("forever(1) == 1", Err("nested too deeply"));
    check_collection("nothing(1) == 1", Err("without `return`"));
    check_collection("len(twice(40)) == 2", Err("steps"));
    check_collection("len(deep(17)) == 1", Err("16 levels"));
    check_collection(
        "sum(range(0, 100000)) + sum(range(0, 100000)) > 0 and sum(range(0, 100000)) + sum(range(0, 100000)) > 0 and sum(range(0, 100000)) + sum(range(0, 100000)) > 0",
        Err("steps"),
    );
    check_collection("range(n - 7, 100001) == l", Err("at most"));
}

#[track_caller]
fn check_block(block: &str, expected: Result<&str, &str>) {
    let property = property(&collection_source("", &format!("{{ {block} }}")));
    let mut values = values(&property);
    let updates = &property.states()[0].transitions[0].success.updates;
    match (execute(updates, &mut values), expected) {
        (Ok(()), Ok(expected)) => {
            let variables = property.variables.iter().zip(&values.variables);
            let changed: Vec<String> = variables
                .filter(|(variable, value)| variable.initial != **value)
                .map(|(variable, value)| format!("{}={value}", variable.name))
                .collect();
            assert_eq!(changed.join(" "), expected, "{block}");
        }
        (Err(error), Err(expected)) => {
            assert!(error.message.contains(expected), "{block}: {error}")
        }
        (found, expected) => panic!("{found:?} for {expected:?} in {block}"),
    }
}

#[test]
fn blocks() {
    check_block(
        "s += {9} l[0] = 5 m[1] = l",
        Ok("s={1, 2, 9} m={1: [5, 20], 2: \"two\"} l=[5, 20]"),
    );
    check_block("l[1] += 2 d[n] = s", Ok("l=[10, 22] d={7: {1, 2}}"));
    check_block("d[1] = [1, 2] d[1][0] = 9", Ok("d={1: [9, 2]}"));
    check_block("for x in s { n += x }", Ok("n=10"));
    check_block("for k in m { o += {k} }", Ok("o={1, 2}"));
    check_block("for i in 0..5 { if i % 2 == 0 { n += i } }", Ok("n=13"));
    check_block("var y = n * 2 for x in l { y += x } n = y", Ok("n=44"));
    check_block("for x in l { for y in s { n += x * y } }", Ok("n=97"));
    check_block("l[5] = 1", Err("none at position 5"));
    check_block("d[1][2] = 3", Err("no key 1"));
    check_block("for x in q->len { n = 1 }", Err("needs a collection"));
    check_block(
        "for i in 0..100000 { for j in 0..100000 { n += 1 } }",
        Err("steps"),
    );
    check_block("for i in 0..40 { d = {1: d} }", Err("16 levels"));
    check_block("for i in 0..40 { l = l + l }", Err("steps"));
}

#[test]
fn the_rows_of_a_board() {
    let source = "function distinct(cells) {
             var seen = {}
             for cell in cells {
                 if cell != 0 and cell in seen { return false }
                 seen += {cell}
             }
             return true
         }
         function consistent(board) {
             for i in 0..9 {
                 var row = [] var column = [] var box = []
                 for j in 0..9 {
                     row = add(row, board[9 * i + j])
                     column = add(column, board[9 * j + i])
                     box = add(box, board[27 * (i / 3) + 3 * (i % 3) + 9 * (j / 3) + j % 3])
                 }
                 if not (distinct(row) and distinct(column) and distinct(box)) { return false }
             }
             return true
         }
         property sudoku event placed = after place(board)
         state init { on placed when consistent(board[0..81]) -> init else -> wrong }
         state wrong non-accepting";
    let property = property(source);
    let guard = property.states()[0].transitions[0]
        .guard
        .as_ref()
        .expect("a guard");
    let mut cells = vec![Value::Int(0); 81];
    let mut check = |changes: &[(usize, i128)], expected: bool| {
        for (cell, digit) in changes {
            cells[*cell] = Value::Int(*digit);
        }
        let board = Value::Sequence(cells.iter().cloned().collect());
        let values = Values {
            variables: Vec::new(),
            captures: vec![Value::Int(0), board],
        };
        assert_eq!(truth(guard, &values), Ok(expected), "{changes:?}");
    };
    check(&[], true);
    check(&[(0, 5), (40, 5), (80, 5)], true);
    check(&[(4, 5)], false);
    check(&[(4, 0), (20, 5)], false);
    check(&[(20, 0), (72, 5)], false);
    check(&[(72, 0)], true);
}
