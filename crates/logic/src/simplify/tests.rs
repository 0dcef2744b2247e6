//! Which formulas have one normal form, and which do not.

use crate::normal::{Arena, FormulaId};
use crate::{Bound, Formula, LogicError};
use Formula::{False, True};
use std::sync::Arc;

const ALWAYS: Bound = Bound::Unbounded;
const NOW: Bound = steps(0, Some(0));
const LATER: Bound = steps(1, None);
const NEVER: Bound = steps(3, Some(1));

const fn steps(from: u32, to: Option<u32>) -> Bound {
    Bound::Steps { from, to }
}

const fn time(from: u64, to: Option<u64>) -> Bound {
    Bound::Time { from, to }
}

fn p(bit: u8) -> Formula {
    Formula::Proposition(bit)
}

// The constructors of `Formula` simplify; these write down what is meant.
fn not(part: Formula) -> Formula {
    Formula::Not(Arc::new(part))
}

fn and(left: Formula, right: Formula) -> Formula {
    Formula::And(Arc::new(left), Arc::new(right))
}

fn or(left: Formula, right: Formula) -> Formula {
    Formula::Or(Arc::new(left), Arc::new(right))
}

fn next(part: Formula) -> Formula {
    Formula::Next(Arc::new(part))
}

fn weak_next(part: Formula) -> Formula {
    Formula::WeakNext(Arc::new(part))
}

fn until(keeps: Formula, reaches: Formula, bound: Bound) -> Formula {
    Formula::Until(Arc::new(keeps), Arc::new(reaches), bound)
}

fn release(frees: Formula, keeps: Formula, bound: Bound) -> Formula {
    Formula::Release(Arc::new(frees), Arc::new(keeps), bound)
}

fn eventually(part: Formula) -> Formula {
    until(True, part, ALWAYS)
}

fn always(part: Formula) -> Formula {
    release(False, part, ALWAYS)
}

fn normal(arena: &mut Arena, formula: &Formula) -> FormulaId {
    arena.add(formula).unwrap().0
}

/// Asserts that each pair has one normal form, or two; so have the negations.
#[track_caller]
fn check(pairs: &[(Formula, Formula)], is_one: bool) {
    let mut wrong = Vec::new();
    for (written, simple) in pairs {
        for (one, other) in [
            (written.clone(), simple.clone()),
            (not(written.clone()), not(simple.clone())),
        ] {
            let mut arena = Arena::new();
            if (normal(&mut arena, &one) == normal(&mut arena, &other)) != is_one {
                wrong.push((one, other));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn conjunctions_and_disjunctions_are_sets() {
    check(
        &[
            (and(p(0), and(p(1), p(2))), and(and(p(2), p(0)), p(1))),
            (or(p(0), or(p(1), p(2))), or(or(p(2), p(0)), p(1))),
            (and(p(0), p(0)), p(0)),
            (and(p(0), True), p(0)),
            (or(p(0), False), p(0)),
            (and(True, True), True),
            (or(False, False), False),
            (and(p(0), False), False),
            (or(p(0), True), True),
            (and(and(p(0), p(1)), not(p(0))), False),
            (
                and(next(and(p(0), p(1))), weak_next(not(and(p(0), p(1))))),
                False,
            ),
            (
                or(next(or(p(0), p(1))), weak_next(not(or(p(0), p(1))))),
                True,
            ),
            (or(or(p(0), p(1)), not(p(0))), True),
            (not(and(p(0), p(1))), or(not(p(0)), not(p(1)))),
        ],
        true,
    );
    check(
        &[
            (and(p(0), or(p(1), p(2))), and(p(0), p(1))),
            (and(p(0), p(1)), or(p(0), p(1))),
        ],
        false,
    );
}

#[test]
fn next_of_a_constant_is_one_where_the_run_may_end() {
    check(&[(next(False), False), (weak_next(True), True)], true);
    check(
        &[
            (next(True), True),
            (weak_next(False), False),
            (next(p(0)), weak_next(p(0))),
        ],
        false,
    );
}

#[test]
fn until_is_simplified() {
    check(
        &[
            (until(p(0), False, ALWAYS), False),
            (until(p(0), p(1), NEVER), False),
            (until(p(0), p(1), time(3, Some(1))), False),
            (until(False, p(1), ALWAYS), p(1)),
            (until(False, p(1), steps(0, Some(9))), p(1)),
            (until(False, p(1), LATER), False),
            (until(p(0), True, ALWAYS), True),
            (until(p(0), True, time(0, Some(9))), True),
            (until(p(0), p(1), NOW), p(1)),
            (until(p(0), p(1), steps(0, None)), until(p(0), p(1), ALWAYS)),
            (until(p(0), p(1), time(0, None)), until(p(0), p(1), ALWAYS)),
            (eventually(until(p(0), p(1), ALWAYS)), eventually(p(1))),
            (
                until(p(0), until(p(0), p(1), ALWAYS), ALWAYS),
                until(p(0), p(1), ALWAYS),
            ),
            (
                eventually(always(eventually(p(0)))),
                always(eventually(p(0))),
            ),
        ],
        true,
    );
    check(
        &[
            (until(p(0), True, LATER), True),
            (until(p(0), p(1), steps(0, Some(1))), p(1)),
            (until(p(0), p(1), time(1, None)), until(p(0), p(1), ALWAYS)),
            (
                until(p(2), until(p(0), p(1), ALWAYS), ALWAYS),
                until(p(2), p(1), ALWAYS),
            ),
            (
                until(p(0), until(p(0), p(1), ALWAYS), steps(0, Some(4))),
                until(p(0), p(1), steps(0, Some(4))),
            ),
            (
                eventually(until(p(0), p(1), steps(0, Some(4)))),
                eventually(p(1)),
            ),
            (
                until(p(1), always(eventually(p(0))), ALWAYS),
                always(eventually(p(0))),
            ),
            (eventually(always(p(0))), always(p(0))),
            (
                eventually(release(p(1), eventually(p(0)), ALWAYS)),
                release(p(1), eventually(p(0)), ALWAYS),
            ),
            (
                eventually(always(until(p(1), p(0), ALWAYS))),
                always(until(p(1), p(0), ALWAYS)),
            ),
        ],
        false,
    );
}

#[test]
fn release_is_simplified() {
    check(
        &[
            (release(p(0), True, ALWAYS), True),
            (release(p(0), p(1), NEVER), True),
            (release(True, p(1), ALWAYS), p(1)),
            (release(True, p(1), LATER), True),
            (release(p(0), False, ALWAYS), False),
            (release(p(0), p(1), NOW), p(1)),
            (always(release(p(0), p(1), ALWAYS)), always(p(1))),
            (
                release(p(0), release(p(0), p(1), ALWAYS), ALWAYS),
                release(p(0), p(1), ALWAYS),
            ),
            (always(eventually(always(p(0)))), eventually(always(p(0)))),
        ],
        true,
    );
    check(
        &[
            (release(p(0), False, LATER), False),
            (
                release(p(2), release(p(0), p(1), ALWAYS), ALWAYS),
                release(p(2), p(1), ALWAYS),
            ),
            (always(release(p(0), p(1), steps(0, Some(4)))), always(p(1))),
            (
                release(p(1), eventually(always(p(0))), ALWAYS),
                eventually(always(p(0))),
            ),
            (always(eventually(p(0))), eventually(p(0))),
            (
                always(until(p(1), always(p(0)), ALWAYS)),
                until(p(1), always(p(0)), ALWAYS),
            ),
            (
                always(eventually(release(p(1), p(0), ALWAYS))),
                eventually(release(p(1), p(0), ALWAYS)),
            ),
            (
                release(p(2), and(p(0), p(1)), ALWAYS),
                and(always(p(0)), always(p(1))),
            ),
        ],
        false,
    );
}

#[test]
fn always_is_said_of_each_part() {
    let mut arena = Arena::new();
    let whole = normal(&mut arena, &always(and(p(0), p(1))));
    let parts = normal(&mut arena, &and(always(p(0)), always(p(1))));
    assert_eq!(whole, parts);
}

#[test]
fn past_operators_that_no_step_decides_are_constants() {
    let since = |keeps: Formula, starts: Formula, bound| {
        Formula::Since(Arc::new(keeps), Arc::new(starts), bound)
    };
    let trigger = |frees: Formula, keeps: Formula, bound| {
        Formula::Trigger(Arc::new(frees), Arc::new(keeps), bound)
    };
    check(
        &[
            (since(p(0), False, ALWAYS), False),
            (since(p(0), True, ALWAYS), True),
            (since(p(0), True, steps(0, Some(9))), True),
            (since(p(0), p(1), NEVER), False),
            (since(p(0), True, NEVER), False),
            (since(p(0), True, time(3, Some(1))), False),
            (trigger(p(0), True, ALWAYS), True),
            (trigger(p(0), False, ALWAYS), False),
            (trigger(p(0), p(1), NEVER), True),
            (trigger(p(0), False, NEVER), True),
            (since(p(0), eventually(True), ALWAYS), True),
        ],
        true,
    );
    check(
        &[
            (since(p(0), True, LATER), True),
            (trigger(p(0), False, LATER), False),
            (since(True, p(0), ALWAYS), p(0)),
        ],
        false,
    );
}

#[test]
fn the_number_of_operators_without_end_is_limited() {
    let many = |count: u32| {
        let parts = (0..count).map(|from| until(True, p(0), steps(from, None)));
        parts.fold(True, Formula::and)
    };
    let mut arena = Arena::new();
    arena.add(&many(3)).unwrap();
    assert_eq!(arena.all_untils(), 0b111);
    let mut arena = Arena::new();
    arena.add(&many(128)).unwrap();
    assert_eq!(arena.all_untils(), u128::MAX);
    let error = Arena::new().add(&many(129)).unwrap_err();
    assert_eq!(error, LogicError::TooManyUntils { limit: 128 });
    for (bit, is_taken) in [(63, true), (64, false)] {
        assert_eq!(Arena::new().add(&p(bit)).is_ok(), is_taken);
    }
}
