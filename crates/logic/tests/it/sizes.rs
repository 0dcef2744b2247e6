//! The limits of what is written: recursive functions take a formula or an expression
//! only if it is not nested too deeply and does not have too many parts, whichever
//! operators and sides nest it.

use juror_logic::{
    Bound, Formula, Letter, LogicError, Machine, Meaning, Regex, TimedMachine, decidable,
    decidable_expression,
};
use std::sync::Arc;

const DEPTH_MAX: usize = 256;
const SIZE_MAX: usize = 10_000;

/// Puts a part into a larger one.
type Wrap<T> = fn(T) -> T;

const P: Formula = Formula::Proposition(0);

/// Returns each way to put a formula into another, with its name.
fn formula_wraps() -> Vec<(&'static str, Wrap<Formula>)> {
    const ALWAYS: Bound = Bound::Unbounded;
    use Formula as F;
    fn p() -> Arc<Formula> {
        Arc::new(P)
    }
    vec![
        ("not", |it| F::Not(it.into())),
        ("next", |it| F::Next(it.into())),
        ("weak next", |it| F::WeakNext(it.into())),
        ("yesterday", |it| F::Yesterday(it.into())),
        ("weak yesterday", |it| F::WeakYesterday(it.into())),
        ("and, left", |it| F::And(it.into(), p())),
        ("and, right", |it| F::And(p(), it.into())),
        ("or, left", |it| F::Or(it.into(), p())),
        ("or, right", |it| F::Or(p(), it.into())),
        ("until, left", |it| F::Until(it.into(), p(), ALWAYS)),
        ("until, right", |it| F::Until(p(), it.into(), ALWAYS)),
        ("release, left", |it| F::Release(it.into(), p(), ALWAYS)),
        ("release, right", |it| F::Release(p(), it.into(), ALWAYS)),
        ("since, left", |it| F::Since(it.into(), p(), ALWAYS)),
        ("since, right", |it| F::Since(p(), it.into(), ALWAYS)),
        ("trigger, left", |it| F::Trigger(it.into(), p(), ALWAYS)),
        ("trigger, right", |it| F::Trigger(p(), it.into(), ALWAYS)),
    ]
}

/// Returns each way to put an expression into another, with its name.
fn expression_wraps() -> Vec<(&'static str, Wrap<Regex>)> {
    use Regex as R;
    fn p() -> Arc<Regex> {
        Arc::new(Regex::proposition(0))
    }
    vec![
        ("complement", |it| R::Complement(it.into())),
        ("repeat", |it| R::Repeat {
            expression: it.into(),
            from: 1,
            to: Some(1),
        }),
        ("sequence, first", |it| R::Sequence(it.into(), p())),
        ("sequence, second", |it| R::Sequence(p(), it.into())),
        ("choice, first", |it| R::Choice(it.into(), p())),
        ("choice, second", |it| R::Choice(p(), it.into())),
        ("both, first", |it| R::Both(it.into(), p())),
        ("both, second", |it| R::Both(p(), it.into())),
    ]
}

/// Returns this many levels: a part that is wrapped `levels - 1` times.
fn nested<T>(levels: usize, wrap: Wrap<T>, innermost: T) -> T {
    (1..levels).fold(innermost, |part, _| wrap(part))
}

/// Returns a part of this size, an odd number, that is nested as little as possible.
fn broad<T>(size: usize, part: &dyn Fn() -> T, join: &dyn Fn(T, T) -> T) -> T {
    if size <= 2 {
        return part();
    }
    let left = ((size - 1) / 2) | 1;
    let right = size - 1 - left;
    join(broad(left, part, join), broad(right, part, join))
}

/// Returns the errors of all that takes a formula from outside.
fn formula_errors(formula: &Formula) -> Vec<Option<LogicError>> {
    vec![
        Machine::of_formula(formula).err(),
        TimedMachine::of_formula(formula).err(),
        decidable(formula).err(),
    ]
}

/// Returns the errors of all that takes an expression from outside.
fn expression_errors(expression: &Regex) -> Vec<Option<LogicError>> {
    let meanings = [Meaning::MatchViolates, Meaning::MatchRequired];
    meanings
        .into_iter()
        .flat_map(|meaning| {
            [
                Machine::of_expression(expression, meaning).err(),
                decidable_expression(expression, meaning).err(),
            ]
        })
        .collect()
}

/// Checks that all are refused for this reason, or none for either limit.
#[track_caller]
fn check(errors: &[Option<LogicError>], expected: Option<LogicError>, what: &str) {
    for error in errors {
        match &expected {
            Some(_) => assert_eq!(*error, expected, "{what}"),
            None => assert!(
                !matches!(
                    error,
                    Some(LogicError::TooDeep { .. } | LogicError::TooLarge { .. })
                ),
                "{what}: {error:?}"
            ),
        }
    }
}

const TOO_DEEP: Option<LogicError> = Some(LogicError::TooDeep { limit: DEPTH_MAX });
const TOO_LARGE: Option<LogicError> = Some(LogicError::TooLarge { limit: SIZE_MAX });

#[test]
fn a_formula_that_is_nested_too_deeply_is_refused() {
    for (name, wrap) in formula_wraps() {
        let deeper = nested(DEPTH_MAX + 1, wrap, P);
        check(&formula_errors(&deeper), TOO_DEEP, name);
        // Beside a formula that is not, on either side.
        for deeper in [P.and(deeper.clone()), deeper.clone().and(P)] {
            check(&formula_errors(&deeper), TOO_DEEP, name);
        }
    }
}

#[test]
fn a_formula_at_the_limit_of_depth_is_taken() {
    for (name, wrap) in formula_wraps() {
        let deep = nested(DEPTH_MAX, wrap, P);
        // The automaton of many operators may be too large, which is another error.
        let errors = [
            Machine::of_formula(&deep).err(),
            TimedMachine::of_formula(&deep).err(),
        ];
        check(&errors, None, name);
    }
}

#[test]
fn a_formula_of_too_many_parts_is_refused() {
    let sized = |size: usize| {
        let and = |left: Formula, right: Formula| Formula::And(left.into(), right.into());
        let inner = broad(size - 1 - usize::from(size % 2 == 1), &|| P, &and);
        let next = Formula::Next(inner.into());
        match size % 2 {
            1 => Formula::Next(next.into()),
            _ => next,
        }
    };
    for size in [2, 3, SIZE_MAX - 1, SIZE_MAX] {
        check(&formula_errors(&sized(size)), None, &size.to_string());
    }
    for size in [SIZE_MAX + 1, SIZE_MAX + 2, 3 * SIZE_MAX] {
        check(&formula_errors(&sized(size)), TOO_LARGE, &size.to_string());
    }
    // Parts that are shared count as often as they occur.
    for (name, wrap) in formula_wraps().into_iter().take(5) {
        let shared = (0..20).fold(wrap(P), |part, _| {
            let part = Arc::new(part);
            Formula::Or(Arc::clone(&part), part)
        });
        check(&formula_errors(&shared), TOO_LARGE, name);
    }
}

#[test]
fn an_expression_that_is_nested_too_deeply_is_refused() {
    for (name, wrap) in expression_wraps() {
        let deeper = nested(DEPTH_MAX + 1, wrap, Regex::proposition(0));
        check(&expression_errors(&deeper), TOO_DEEP, name);
        let p = Regex::proposition(0);
        for deeper in [p.clone().then(deeper.clone()), deeper.clone().then(p)] {
            check(&expression_errors(&deeper), TOO_DEEP, name);
        }
        let deep = nested(DEPTH_MAX, wrap, Regex::proposition(0));
        let errors = [Machine::of_expression(&deep, Meaning::MatchRequired).err()];
        check(&errors, None, name);
    }
}

#[test]
fn an_expression_of_too_many_parts_is_refused() {
    let sized = |size: usize| {
        let join = |first: Regex, second: Regex| Regex::Choice(first.into(), second.into());
        let part = || Regex::proposition(0);
        match size % 2 {
            1 => broad(size, &part, &join),
            _ => broad(size - 1, &part, &join).complement(),
        }
    };
    for size in [1, SIZE_MAX - 1, SIZE_MAX] {
        check(&expression_errors(&sized(size)), None, &size.to_string());
    }
    for size in [SIZE_MAX + 1, SIZE_MAX + 2, 3 * SIZE_MAX] {
        check(
            &expression_errors(&sized(size)),
            TOO_LARGE,
            &size.to_string(),
        );
    }
}

#[test]
fn a_machine_has_no_more_states_than_it_may_have() {
    let answered = P.implies(Formula::proposition(1).eventually()).always();
    for (limit, has_room) in [(1, false), (2, true)] {
        let machine = Machine::of_formula(&answered).expect("a machine");
        let mut machine = machine.with_states_max(limit);
        let next = machine.step(machine.initial(), Letter(1));
        assert_eq!(next.is_ok(), has_room, "{next:?}");
        if !has_room {
            assert_eq!(next, Err(LogicError::TooManyStates { limit }));
        }
    }
}
