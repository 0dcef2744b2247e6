//! Names, types and parts that have no meaning where they stand.

use super::{HEAD, check, check_source};
use juror_language::load;

#[track_caller]
fn check_guard(guard: &str, code: &str, underlined: &str, help: &str) {
    check(
        &format!("state init {{ on push when {guard} }}"),
        code,
        underlined,
        help,
    );
}

#[test]
fn unknown_names() {
    check("state init { on psuh }", "unknown-event", "psuh", "`push`");
    check(
        "state init { on push -> raedy } state ready",
        "unknown-state",
        "raedy",
        "`ready`",
    );
    check(
        "state init { on push { conut = 1 } }",
        "unknown-variable",
        "conut",
        "`count`",
    );
    check(
        "state init { on push { other = 1 } }",
        "unknown-variable",
        "other",
        "var other",
    );
    check_guard("cuont > 1", "unknown-name", "cuont", "`count`");
    check_guard("qeue->x > 1", "unknown-name", "qeue", "`queue`");
    check_guard(
        "elsewhere > 1",
        "unknown-name",
        "elsewhere",
        "capture it in the event",
    );
    check(
        "slice on quue state init { on push }",
        "unbound-slice",
        "quue",
        "`queue`",
    );
    check(
        "slice on owner state init { on push }",
        "unbound-slice",
        "owner",
        "before function(owner)",
    );
    check(
        "event e = before f(x: inti) state init { on e }",
        "unknown-type",
        "inti",
        "`int`",
    );
}

#[test]
fn known_names_are_listed_when_none_is_near() {
    check("state init { on x }", "unknown-event", "x", "known: `push`");
    check(
        "state a { on push -> sink } state b",
        "unknown-state",
        "sink",
        "known: `a`, `b`",
    );
}

#[test]
fn names_that_are_there_twice() {
    check("state a { on push } state a", "duplicate-name", "a", "");
    check(
        "event push = before f state a { on push }",
        "duplicate-name",
        "push",
        "",
    );
    check(
        "var count = 1 state a { on push }",
        "duplicate-name",
        "count",
        "",
    );
    check(
        "event e = before f(x, x) state a { on e }",
        "duplicate-name",
        "x",
        "",
    );
    check(
        "event e = before f(count) state a { on e }",
        "duplicate-name",
        "count",
        "count_now",
    );
    check(
        "slice on queue, queue state a { on push }",
        "duplicate-name",
        "queue",
        "",
    );
    check("state a { on push }\nproperty p", "duplicate-name", "p", "");
    check(
        "state a initial { on push } state b initial",
        "two-initial",
        "initial",
        "",
    );
    check(
        "state a accepting non-accepting { on push }",
        "conflicting-words",
        "non-accepting",
        "",
    );
}

#[test]
fn types() {
    check_guard("count", "not-boolean", "count", "!= 0");
    check_guard("queue and count", "type-mismatch", "queue and count", "");
    check_guard("size == \"x\"", "type-mismatch", "size == \"x\"", "");
    check_guard("open > false", "type-mismatch", "open > false", "");
    check_guard("open + 1 == 2", "type-mismatch", "open + 1", "");
    check_guard("not count", "type-mismatch", "not count", "");
    check_guard("-open == 1", "type-mismatch", "-open", "");
    check_guard("(size & 1.5) == 1", "type-mismatch", "(size & 1.5)", "");
    check_guard("count < 1 / 0", "bad-constant", "1 / 0", "");
    check_guard(
        "&queue->x + &queue->y == null",
        "type-mismatch",
        "&queue->x + &queue->y",
        "",
    );
    check(
        "state a { on push { count = true } }",
        "type-mismatch",
        "true",
        "",
    );
    check("state a { on push { open = 1 } }", "type-mismatch", "1", "");
    check(
        "state a { on push { open += 1 } }",
        "type-mismatch",
        "open += 1",
        "",
    );
    check(
        "state a { on push { if count { open = true } } }",
        "not-boolean",
        "count",
        "",
    );
}

#[test]
fn what_has_no_place_in_a_property() {
    check_guard("$1 == 0", "not-in-properties", "$1", "`arg 1`");
    check_guard("$$ == 0", "not-in-properties", "$$", "write out the value");
    check_guard(
        "sizeof(f(queue)) == 8",
        "not-in-properties",
        "(f(queue))",
        "pure",
    );
    check_guard("(long)4 == 4", "bad-read", "(long)4", "a parameter");
    check_guard("volume(queue) == 8", "unknown-function", "volume", "pure");
    check_guard("f(queue)->x == 8", "not-in-properties", "f(queue)", "pure");
    check(
        "event e = before f(x = g(y)) state init { on e }",
        "not-in-properties",
        "g(y)",
        "pure",
    );
    check_guard("queue[count] == 8", "bad-place", "count", "in the guard");
    check_guard("((queue_t *)limits)->x == 8", "unknown-name", "limits", "");
    check_guard("*count == 8", "bad-place", "count", "");
    check_guard(
        "size<count->init",
        "bad-place",
        "count",
        "a space before the arrow",
    );
    check(
        "state a { on push { size = 1 } }",
        "assignment-to-parameter",
        "size",
        "size_seen",
    );
    check(
        "var x = count state a { on push }",
        "not-constant",
        "count",
        "",
    );
    check(
        "var x = 1 + queue->n state a { on push }",
        "not-constant",
        "queue->n",
        "",
    );
    check(
        "event e = before f(x = ret) state a { on e }",
        "return-before-call",
        "ret",
        "after",
    );
    check(
        "event e = before f returns x state a { on e }",
        "return-before-call",
        "returns",
        "after",
    );
    check(
        "event e = before f(x = {a}) state a { on e }",
        "syntax",
        "{",
        "",
    );
    check(
        "event e = before f(x = \"t\") state a { on e }",
        "bad-read",
        "\"t\"",
        "",
    );
    check(
        "event e = before f(x = &arg 1) state a { on e }",
        "bad-read",
        "&arg 1",
        "",
    );
    check(
        "event e = before f(x = arg 0) state a { on e }",
        "bad-argument",
        "0",
        "from 1",
    );
}

#[test]
fn automata_without_meaning() {
    check("", "no-states", "p", "");
    check("state a", "no-transitions", "p", "");
    check("state a final { on push }", "final-initial", "final", "");
    check("state a { on push } state b", "unreachable-state", "b", "");
    check(
        "event e = before f state a { on push }",
        "unused-event",
        "e",
        "",
    );
    check(
        "state a { on push on push -> b } state b",
        "never-taken",
        "on push -> b",
        "",
    );
    check(
        "state a { on push -> b } state b final { on push }",
        "never-taken",
        "on push",
        "",
    );
    check_source("", "no-property", "", "property NAME");
}

#[test]
fn collections_and_functions() {
    check(
        "var s = {} state a { on push { s[1] = 2 } }",
        "type-mismatch",
        "s",
        "s = s + {x}",
    );
    check(
        "var s = {} state a { on push when s[1] == 2 }",
        "type-mismatch",
        "s",
        "x in s",
    );
    check(
        "var s = {} state a { on push { s = s + 1 } }",
        "type-mismatch",
        "s + 1",
        "",
    );
    check(
        "var s = {} state a { on push { s = [] } }",
        "type-mismatch",
        "[]",
        "",
    );
    check_guard("3 in count", "type-mismatch", "3 in count", "");
    check_guard("len(count) > 3", "type-mismatch", "len(count)", "");
    check_guard("len(queue, 3) > 3", "wrong-arguments", "len(queue, 3)", "");
    check_guard("lenn(queue) > 3", "unknown-function", "lenn", "`len`");
    check(
        "state a { on push { for x in 3 { count = x } } }",
        "type-mismatch",
        "3",
        "0..9",
    );
    check(
        "state a { on push { for count in [1] { } } }",
        "duplicate-name",
        "count",
        "another",
    );
    check(
        "state a { on push { return 3 } }",
        "return-outside",
        "return 3",
        "",
    );
    check(
        "state a { on push { add(count, 1) } }",
        "syntax",
        "(",
        "pure",
    );
    let function =
        |body: &str| format!("function f(a) {{ {body} }} state a {{ on push when f(1) }}");
    check(
        &function("return count"),
        "unknown-name",
        "count",
        "pass it",
    );
    check(
        &function("count = 1 return a"),
        "unknown-variable",
        "count",
        "pure",
    );
    check(&function("a = 1"), "no-return", "f", "return");
    check(&function("return a->x"), "bad-place", "a->x", "pass it");
    check(&function("return g(a)"), "unknown-function", "g", "");
    check(
        "function len(a) { return a } state a { on push }",
        "duplicate-name",
        "len",
        "",
    );
    check(
        "function f(a, a) { return a } state a { on push }",
        "duplicate-name",
        "a",
        "",
    );
    check(
        "function f(a) { return a } function f(b) { return b } state a { on push }",
        "duplicate-name",
        "f",
        "",
    );
}

#[test]
fn ignored_and_actions() {
    check("state a { on push ignore size > 3 }", "syntax", "size", "");
    check("state a action { on push }", "syntax", "{", "");
    let source = format!(
        "{HEAD}state a action entered {{
            on push when size > 3 ignore when open -> b action \"is full\" else -> a
            on push ignore when count > 7
            on push {{ count = 1 open = true }}
        }} state b"
    );
    let (properties, diagnostics) = load(&source);
    assert_eq!(diagnostics, []);
    let state = &properties[0].states()[0];
    assert_eq!(state.action.as_deref(), Some("entered"));
    let actions: Vec<Option<&str>> = (state.transitions.iter())
        .map(|transition| transition.success.action.as_deref())
        .collect();
    assert_eq!(actions, [Some("is full"), None, None, None]);
    let guards: Vec<bool> = state
        .transitions
        .iter()
        .map(|t| t.guard.is_some())
        .collect();
    assert_eq!(guards, [true, true, true, false]);
    assert!(state.transitions.iter().all(|t| t.failure.is_none()));
}
