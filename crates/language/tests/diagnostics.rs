//! What is said about mistakes, and where.

mod common;

use common::check_found;
use juror_language::{Diagnostic, load};

/// A property around one mistake.
const HEAD: &str = "property p\nevent push = before push(queue, size: int)\n\
                    var count = 0\nvar open = false\n";

#[track_caller]
fn check_source(source: &str, code: &str, underlined: &str, help: &str) {
    let (_, diagnostics) = load(source);
    check_found(source, &diagnostics, code, underlined, help);
}

#[track_caller]
fn check(rest: &str, code: &str, underlined: &str, help: &str) {
    check_source(&format!("{HEAD}{rest}"), code, underlined, help);
}

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
        "let the event read it",
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
    check_guard("$$ == 0", "not-in-properties", "$$", "write it out");
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
fn syntax() {
    check_source("proprety p", "syntax", "proprety", "`property`");
    check_source(
        "property p { event e = before f }",
        "syntax",
        "{",
        "no braces",
    );
    check(
        "evnt e = before f state a { on push }",
        "syntax",
        "evnt",
        "`event`",
    );
    check(
        "event e = befor f state a { on push }",
        "syntax",
        "befor",
        "`before`",
    );
    check(
        "event e = before Ring<int, 4>::push(value) state a { on push }",
        "syntax",
        "Ring",
        "\"Ring<int>::..\"",
    );
    check(
        "event e = before f(*p) state a { on push }",
        "syntax",
        "*",
        "name",
    );
    check(
        "event e = before f in libc state a { on push }",
        "syntax",
        "libc",
        "",
    );
    check("state a { push }", "syntax", "push", "");
    check("state a { on push when } state b", "syntax", "}", "");
    check(
        "state a { on push { count++ } }",
        "syntax",
        "+",
        "count += 1",
    );
    check(
        "state a { on push { queue->x = 1 } }",
        "syntax",
        "->",
        "own variables",
    );
    check("state a { on push -> } ", "syntax", "}", "");
    check("state a { on push", "syntax", "", "");
    check(
        "state a { on push else -> a }",
        "else-without-when",
        "else",
        "",
    );
    check(
        "state a acepting { on push }",
        "syntax",
        "acepting",
        "`accepting`",
    );
    check(
        "var if = 3 state a { on push }",
        "syntax",
        "if",
        "another name",
    );
    check("slice queue state a { on push }", "syntax", "queue", "");
    check("on push -> a", "syntax", "on", "braces of a state");
}

#[test]
fn after_a_mistake_the_rest_is_still_read() {
    let source = format!(
        "{HEAD}event e = befor f
         event bad = after
         state a {{ on push when ) -> b; on psuh; on push {{ count = }} on push -> c }}
         state b {{ on pusch }}"
    );
    let (properties, diagnostics) = load(&source);
    assert!(properties.is_empty());
    let underlined: Vec<&str> = diagnostics
        .iter()
        .filter(|d| d.is_error())
        .map(|d| &source[d.span.clone()])
        .collect();
    let expected = ["befor", "state", ")", "psuh", "}", "c", "pusch"];
    assert_eq!(underlined, expected);
}

#[test]
fn too_much_of_anything_is_an_error() {
    let captures: Vec<String> = (0..65).map(|n| format!("c{n}")).collect();
    let event = format!(
        "event e = before f({}) state a {{ on e }}",
        captures.join(", ")
    );
    let (_, diagnostics) = load(&format!("property p {event}"));
    assert!(diagnostics.iter().any(|d| d.code == "too-many"));

    let fields: Vec<String> = (0..70).map(|n| format!("q->f{n} > 0")).collect();
    let guards = fields.join(" and ");
    let source = format!("property p event e = before f(q) state a {{ on e when {guards} }}");
    let (_, diagnostics) = load(&source);
    assert!(
        diagnostics
            .iter()
            .any(|d: &Diagnostic| d.code == "too-many")
    );
}

#[track_caller]
fn check_silent(rest: &str, code: &str) {
    let source = format!("{HEAD}{rest}");
    let (_, diagnostics) = load(&source);
    let found = diagnostics.iter().find(|d| d.code == code);
    assert_eq!(found, None, "{source}");
}

#[test]
fn guards_that_overlap_or_leave_a_gap() {
    let two = |first: &str, second: &str| {
        format!("state a {{ on push when {first} -> b on push when {second} -> a }} state b")
    };
    check(
        &two("count < 5", "count > 3"),
        "overlapping-guards",
        "count > 3",
        "`else`",
    );
    check(
        &two("size < 5", "3 < size"),
        "overlapping-guards",
        "3 < size",
        "",
    );
    check(
        &two("size != 7", "size < 9"),
        "overlapping-guards",
        "size < 9",
        "",
    );
    check(
        &two("count < 5", "count > 5"),
        "gap-in-guards",
        "count > 5",
        "ignore when",
    );
    check(
        &two("size + 1 < 5", "size + 1 > 7"),
        "gap-in-guards",
        "size + 1 > 7",
        "",
    );
    check(
        &two("count >= 5", "count > 7"),
        "never-taken",
        "on push when count > 7 -> a",
        "",
    );
    check(
        &two("not (count < 5)", "count > 7 and count < 9"),
        "never-taken",
        "on push when count > 7 and count < 9 -> a",
        "",
    );
    for (first, second) in [
        ("count < 5", "count >= 5"),
        ("count == 3", "count == 5"),
        // What is narrow goes first.
        ("count == 3", "count < 5"),
        ("count < 5", "size > 5"),
        ("queue->n < 5", "queue->m > 3"),
        ("queue->n < 5.5", "queue->n > 6.5"),
        ("open", "not open"),
        ("size < 5 and open", "size > 3"),
    ] {
        let source = two(first, second);
        for code in ["overlapping-guards", "gap-in-guards", "never-taken"] {
            check_silent(&source, code);
        }
    }
    check_silent(
        "state a { on push when count < 3 -> b else -> a } state b",
        "gap-in-guards",
    );
}

#[test]
fn what_is_declared_and_has_no_effect() {
    check(
        "state a { on push { count = 1 } }",
        "unused-variable",
        "count",
        "",
    );
    check(
        "function f(x) { return x } state a { on push }",
        "unused-function",
        "f",
        "",
    );
    check(
        "proposition x set push state a { on push }",
        "unused-proposition",
        "x",
        "",
    );
    check(
        "state a { on push -> b } state b { on push }",
        "stuck-state",
        "b",
        "-> STATE",
    );
    check_silent("state a { on push -> b } state b", "stuck-state");
    check_silent(
        "state a { on push -> b } state b non-accepting { on push }",
        "stuck-state",
    );
    check(
        "for each value queue where queue != queue state a { on push }",
        "contradiction",
        "queue != queue",
        "",
    );
    check_silent(
        "for each value queue, size where queue < size and size < 9 state a { on push }",
        "contradiction",
    );
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
