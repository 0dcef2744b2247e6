//! What is said about guards, states and declarations that have no effect.

use super::{HEAD, check};
use juror_language::load;

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
    // What is ignored is no gap.
    for ignoring in [
        "on push when count < 3 ignore when count == 1 -> b else -> a",
        "on push ignore when count == 1 when count < 3 -> b else -> a",
        "on push when count < 5 -> b on push when count > 5 ignore when count == 5 -> a",
        "on push when count < 5 ignore when size > 2 -> b on push when count > 5 -> a",
    ] {
        let source = format!("state a {{ {ignoring} }} state b");
        check_silent(&source, "gap-in-guards");
    }
    check(
        "state a { on push when count < 5 ignore when count == 2 -> b on push when count > 7 -> a } \
         state b",
        "gap-in-guards",
        "count > 7",
        "ignore when",
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
