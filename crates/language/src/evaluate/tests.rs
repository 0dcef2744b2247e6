use super::*;
use crate::{Property, load};

/// Variables and captures of a test.
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

/// `p` is a null pointer, `p->len` cannot be read, `q` points somewhere
/// and `q->len` is 5, `t` is text.
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
                "t" => Value::Text("text".into()),
                "q->len" => Value::Int(5),
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
    check("q->len", Err(("q->len", "expected true or false")));
    check("q->len and b", Err(("q->len", "expected true or false")));
    check("q->len == t", Err(("q->len == t", "an integer and text")));
    check("q == t", Err(("q == t", "an address and text")));
    check("q == b", Err(("q == b", "an address and a boolean")));
    check("q + q == n", Err(("q + q", "no meaning")));
    check("p - 1 == q", Err(("p - 1", "address space")));
    check("-q == n", Err(("-q", "an address")));
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
