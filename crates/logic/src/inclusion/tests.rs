//! Which expressions have one normal form, and which inclusions their forms show.

use crate::expression::{Expressions, NOTHING};
use crate::{Guard, Regex};
use Regex::{Empty, Nothing};
use std::sync::Arc;

// The constructors of `Regex` may simplify; these write down what is meant.
fn letter(required: u64, forbidden: u64) -> Regex {
    Regex::Letter(Guard {
        required,
        forbidden,
    })
}

fn a() -> Regex {
    letter(1, 0)
}

fn b() -> Regex {
    letter(2, 0)
}

fn c() -> Regex {
    letter(4, 0)
}

fn any() -> Regex {
    letter(0, 0)
}

fn everything() -> Regex {
    star(any())
}

fn then(first: Regex, second: Regex) -> Regex {
    Regex::Sequence(Arc::new(first), Arc::new(second))
}

fn or(first: Regex, second: Regex) -> Regex {
    Regex::Choice(Arc::new(first), Arc::new(second))
}

fn both(first: Regex, second: Regex) -> Regex {
    Regex::Both(Arc::new(first), Arc::new(second))
}

fn not(part: Regex) -> Regex {
    Regex::Complement(Arc::new(part))
}

fn repeat(part: Regex, from: u32, to: Option<u32>) -> Regex {
    Regex::Repeat {
        expression: Arc::new(part),
        from,
        to,
    }
}

fn star(part: Regex) -> Regex {
    repeat(part, 0, None)
}

fn maybe(part: Regex) -> Regex {
    repeat(part, 0, Some(1))
}

/// Asserts that each pair has one normal form, or two.
#[track_caller]
fn check(pairs: &[(Regex, Regex)], is_one: bool) {
    let mut wrong = Vec::new();
    for pair in pairs {
        let mut expressions = Expressions::new().unwrap();
        let (one, other) = (expressions.of(&pair.0), expressions.of(&pair.1));
        if (one.unwrap() == other.unwrap()) != is_one {
            wrong.push(pair);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn sequences_are_flat_and_count() {
    check(
        &[
            (then(a(), then(b(), a())), then(then(a(), b()), a())),
            (then(a(), Empty), a()),
            (then(Empty, Empty), Empty),
            (then(a(), Nothing), Nothing),
            (then(a(), a()), repeat(a(), 2, Some(2))),
            (then(repeat(a(), 1, Some(2)), a()), repeat(a(), 2, Some(3))),
            (then(star(a()), a()), repeat(a(), 1, None)),
            (then(everything(), any()), repeat(any(), 1, None)),
            (
                then(b(), then(a(), then(a(), c()))),
                then(b(), then(repeat(a(), 2, Some(2)), c())),
            ),
            // The sum of the counts is too large: both stay.
            (
                then(repeat(a(), u32::MAX, None), repeat(a(), 5, Some(5))),
                then(repeat(a(), u32::MAX, None), repeat(a(), 5, Some(5))),
            ),
        ],
        true,
    );
    check(
        &[
            (then(a(), b()), then(b(), a())),
            (then(a(), a()), a()),
            (then(star(a()), star(b())), star(a())),
        ],
        false,
    );
}

#[test]
fn choices_are_sets_without_what_others_include() {
    check(
        &[
            (or(a(), or(b(), c())), or(or(c(), a()), b())),
            (or(a(), Nothing), a()),
            (or(Nothing, Nothing), Nothing),
            (or(a(), a()), a()),
            (or(a(), any()), any()),
            (or(a(), everything()), everything()),
            (or(Empty, a()), maybe(a())),
            (or(Empty, star(a())), star(a())),
            (or(then(a(), b()), not(then(a(), b()))), everything()),
            (or(a(), not(letter(3, 0))), everything()),
            (
                or(repeat(a(), 1, Some(2)), repeat(a(), 3, Some(4))),
                repeat(a(), 1, Some(4)),
            ),
            (
                or(repeat(a(), 4, None), repeat(a(), 1, Some(3))),
                repeat(a(), 1, None),
            ),
        ],
        true,
    );
    check(
        &[
            (
                or(repeat(a(), 1, Some(2)), repeat(a(), 4, Some(5))),
                repeat(a(), 1, Some(5)),
            ),
            (or(letter(3, 0), not(a())), everything()),
        ],
        false,
    );
}

#[test]
fn conjunctions_are_sets_without_what_includes_others() {
    check(
        &[
            (
                both(star(a()), both(star(b()), star(c()))),
                both(both(star(c()), star(a())), star(b())),
            ),
            (both(a(), b()), letter(3, 0)),
            (both(a(), letter(0, 1)), Nothing),
            (both(a(), Nothing), Nothing),
            (both(then(a(), b()), everything()), then(a(), b())),
            (both(everything(), everything()), everything()),
            (both(then(a(), b()), not(then(a(), b()))), Nothing),
            (both(star(a()), Empty), Empty),
            (both(a(), Empty), Nothing),
            (both(star(any()), a()), a()),
            (
                both(repeat(a(), 0, Some(9)), repeat(a(), 2, Some(3))),
                repeat(a(), 2, Some(3)),
            ),
        ],
        true,
    );
    check(&[(both(a(), b()), or(a(), b()))], false);
}

#[test]
fn complements_of_complements_are_nothing_new() {
    check(
        &[
            (not(not(then(a(), b()))), then(a(), b())),
            (not(Nothing), everything()),
            (not(everything()), Nothing),
            (letter(1, 1), Nothing),
        ],
        true,
    );
    check(&[(not(a()), letter(0, 1))], false);
}

#[test]
fn repetitions_have_one_form() {
    check(
        &[
            (repeat(a(), 3, Some(2)), Nothing),
            (repeat(a(), 0, Some(0)), Empty),
            (repeat(a(), 1, Some(1)), a()),
            (repeat(Nothing, 0, Some(4)), Empty),
            (repeat(Nothing, 2, Some(4)), Nothing),
            (repeat(Empty, 2, Some(4)), Empty),
            (star(everything()), everything()),
            (repeat(everything(), 3, Some(3)), everything()),
            (star(star(a())), star(a())),
            (star(maybe(a())), star(a())),
            (repeat(maybe(a()), 2, Some(3)), repeat(a(), 0, Some(3))),
            (
                repeat(repeat(a(), 1, Some(2)), 2, Some(3)),
                repeat(a(), 2, Some(6)),
            ),
            (
                repeat(repeat(a(), 2, Some(2)), 3, Some(3)),
                repeat(a(), 6, Some(6)),
            ),
            (
                repeat(repeat(a(), 1, None), 2, Some(3)),
                repeat(a(), 2, None),
            ),
            (
                repeat(repeat(a(), 2, Some(3)), 2, Some(3)),
                repeat(a(), 4, Some(9)),
            ),
            (
                repeat(repeat(a(), 2, Some(3)), 1, Some(2)),
                repeat(a(), 2, Some(6)),
            ),
            (
                star(or(Empty, or(then(a(), b()), c()))),
                star(or(then(a(), b()), c())),
            ),
        ],
        true,
    );
    check(
        &[
            // 2, 4 and 6 letters, and not 3.
            (
                repeat(repeat(a(), 2, Some(2)), 1, Some(3)),
                repeat(a(), 2, Some(6)),
            ),
            (star(repeat(a(), 2, Some(2))), star(a())),
            // 0 letters, and 2 or more.
            (star(repeat(a(), 2, None)), star(a())),
            (
                repeat(repeat(a(), 5, Some(6)), 2, Some(3)),
                repeat(a(), 10, Some(18)),
            ),
        ],
        false,
    );
}

#[test]
fn inclusions_that_forms_show() {
    let both_ways = |large: &Regex, small: &Regex| {
        let mut expressions = Expressions::new().unwrap();
        let large = expressions.of(large).unwrap();
        let small = expressions.of(small).unwrap();
        assert_ne!(small, NOTHING);
        let includes = expressions.includes(large, small).unwrap();
        (includes, expressions.includes(small, large).unwrap())
    };
    for (large, small) in [
        (any(), a()),
        (a(), letter(1, 2)),
        (a(), letter(5, 2)),
        (maybe(a()), Empty),
        (everything(), then(a(), b())),
        (not(a()), not(any())),
        (or(a(), b()), a()),
        (or(a(), then(b(), c())), or(letter(1, 2), then(b(), c()))),
        (then(a(), b()), both(then(a(), b()), star(c()))),
        (star(any()), both(star(a()), star(b()))),
        (star(b()), both(star(a()), star(b()))),
        (then(a(), star(b())), a()),
        (then(star(b()), a()), a()),
        (then(a(), then(maybe(b()), c())), then(a(), c())),
        (
            then(maybe(c()), then(a(), b())),
            then(letter(3, 0), letter(6, 0)),
        ),
        (repeat(a(), 1, Some(4)), repeat(a(), 2, Some(3))),
        (repeat(a(), 1, Some(4)), repeat(a(), 1, Some(3))),
        (repeat(a(), 1, Some(4)), repeat(a(), 2, Some(4))),
        (star(a()), repeat(a(), 2, None)),
        (star(any()), star(a())),
        (star(or(a(), b())), repeat(a(), 2, Some(3))),
        (star(then(a(), b())), then(a(), b())),
        (repeat(then(star(a()), b()), 1, None), then(star(a()), b())),
        (star(star(or(a(), then(b(), c())))), then(b(), c())),
        (
            repeat(or(repeat(a(), 2, Some(5)), b()), 1, Some(3)),
            repeat(a(), 2, Some(5)),
        ),
        (both(star(a()), star(b())), star(letter(3, 0))),
    ] {
        assert_eq!(
            both_ways(&large, &small),
            (true, false),
            "{large:?} and {small:?}"
        );
    }
    for (one, other) in [
        (a(), b()),
        (letter(1, 2), b()),
        (repeat(a(), 1, Some(3)), repeat(a(), 2, Some(4))),
        (star(a()), star(b())),
        (then(a(), b()), then(a(), c())),
        (then(a(), b()), a()),
        (repeat(then(a(), b()), 2, Some(3)), then(a(), b())),
        (not(a()), a()),
    ] {
        assert_eq!(
            both_ways(&one, &other),
            (false, false),
            "{one:?} and {other:?}"
        );
    }
}
