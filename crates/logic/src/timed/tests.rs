//! States of other machines, the memory of bounds, and limits.

use super::*;

fn time(from: u64, to: u64) -> Bound {
    Bound::Time { from, to: Some(to) }
}

fn machine(formula: &Formula) -> TimedMachine {
    TimedMachine::of_formula(formula).unwrap()
}

#[test]
fn a_state_of_another_machine_is_refused() {
    let once = Formula::proposition(0).once();
    let machine = machine(&once.implies(Formula::proposition(1).eventually()));
    let formulas = machine.arena().nodes().len() as u32;
    for (formula, memories, is_known) in [
        (0, 1, true),
        (formulas - 1, 1, true),
        (formulas, 1, false),
        (u32::MAX, 1, false),
        (0, 0, false),
        (0, 2, false),
        (formulas, 2, false),
    ] {
        let atom = |formula: u32| {
            let formula = serde_json::from_value(formula.into()).unwrap();
            Clause {
                strong: false,
                atoms: vec![Atom::new(formula)],
            }
        };
        for negative in [false, true] {
            let mut state = machine.initial();
            if negative {
                state.negative = vec![atom(formula)]
            } else {
                state.positive = vec![atom(formula)]
            }
            state.memory = vec![OperatorMemory::Held(false); memories];
            let found = machine.step(&mut state, Letter(0), 0);
            let refused = LogicError::NoSuchState { state: 0 };
            let expected = if is_known { Ok(()) } else { Err(refused) };
            assert_eq!(found, expected, "formula {formula}, {memories} memories");
        }
    }
}

#[test]
fn times_between_two_that_are_close_enough_are_dropped() {
    let kept = |bound, times: &[u64]| {
        let limits = Limits::of(bound);
        let mut kept = VecDeque::new();
        for time in times {
            limits.push(&mut kept, *time);
        }
        Vec::from(kept)
    };
    for (bound, times, expected) in [
        (time(0, 5), &[1, 2, 3][..], &[3][..]),
        (time(2, 5), &[0, 1], &[0, 1]),
        (time(2, 5), &[0, 1, 2, 3, 4], &[0, 4]),
        (time(2, 5), &[0, 1, 2, 3, 4, 5], &[0, 4, 5]),
        (time(2, 5), &[0, 4, 5, 8], &[0, 4, 8]),
        (time(2, 2), &[0, 1, 2, 2], &[0, 1, 2]),
        (Bound::Time { from: 2, to: None }, &[3, 4, 9], &[3]),
    ] {
        assert_eq!(kept(bound, times), expected, "{bound:?} {times:?}");
    }
}

#[test]
fn a_state_has_no_more_clauses_than_it_may_have() {
    let clauses = |count| few_enough(vec![Clause::default(); count]).map(|all| all.len());
    assert_eq!(clauses(CLAUSES_MAX), Ok(CLAUSES_MAX));
    let limit = CLAUSES_MAX;
    assert_eq!(
        clauses(CLAUSES_MAX + 1),
        Err(LogicError::TooManyWays { limit })
    );
}
