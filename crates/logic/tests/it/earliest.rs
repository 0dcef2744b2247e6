//! Final verdicts come at the earliest step: against all endless continuations
//! of a simple form.

use crate::common::words;
use juror_event::Verdict;
use juror_logic::{Formula, Letter, Machine, decidable};
use juror_testing::Numbers;
use juror_testing::formulas::Lasso;
use juror_testing::formulas::{Kind, random_formula};

/// Whether some endless continuations satisfy the formula and some violate it.
fn continuations(
    formula: &Formula,
    prefix: &[Letter],
    stems: &[Vec<Letter>],
    cycles: &[Vec<Letter>],
) -> (bool, bool) {
    let (mut satisfied, mut violated) = (false, false);
    for stem in stems {
        for cycle in cycles.iter().filter(|cycle| !cycle.is_empty()) {
            let lasso = Lasso {
                stem: [prefix, stem].concat(),
                cycle: cycle.clone(),
            };
            if lasso.holds(formula) {
                satisfied = true
            } else {
                violated = true
            }
            if satisfied && violated {
                return (true, true);
            }
        }
    }
    (satisfied, violated)
}

fn check(formula: &Formula, prefix: &[Letter], stems: &[Vec<Letter>], cycles: &[Vec<Letter>]) {
    let mut machine = Machine::of_formula(formula).unwrap();
    let mut state = machine.initial();
    for letter in prefix {
        state = machine.step(state, *letter).unwrap();
    }
    let expected = match continuations(formula, prefix, stems, cycles) {
        (true, true) => None,
        (true, false) => Some(Verdict::Satisfied),
        (false, true) => Some(Verdict::Violated),
        (false, false) => panic!("no continuation"),
    };
    let verdict = machine.verdict(state);
    let found = machine.is_decided(state).then_some(verdict);
    assert_eq!(found, expected, "{formula:?} after {prefix:?}");
}

fn explore(seed: u64, kind: Kind, sizes: u64, count: u32, stem: usize, cycle: usize) {
    let (stems, cycles) = (words(2, stem), words(2, cycle));
    let mut numbers = Numbers(seed);
    for _ in 0..count {
        let size = 1 + numbers.below(sizes);
        let formula = random_formula(&mut numbers, size, 2, kind);
        let length = numbers.below(5);
        let prefix = numbers.letters(length, 2);
        check(&formula, &prefix, &stems, &cycles);
    }
}

#[test]
fn future_formulas_are_decided_at_the_earliest_step() {
    explore(0xa11, Kind::Future, 9, 600, 2, 3);
}

#[test]
fn past_formulas_and_bounds_are_decided_at_the_earliest_step() {
    explore(0x9a57, Kind::Steps, 6, 400, 3, 2);
}

#[test]
fn contradictions_far_ahead_are_seen_at_once() {
    let [p, q] = [0, 1].map(Formula::Proposition);
    let check = |formula: Formula, expected: Verdict| {
        let machine = Machine::of_formula(&formula).unwrap();
        assert_eq!(machine.verdict(machine.initial()), expected, "{formula:?}");
    };
    let endless = |formula: Formula| formula.eventually().always();
    check(
        endless(p.clone()).and(p.clone().negation().always().eventually()),
        Verdict::Violated,
    );
    check(
        endless(p.clone()).or(p.clone().negation().always().eventually()),
        Verdict::Satisfied,
    );
    check(
        p.clone()
            .and(q.clone())
            .eventually()
            .and(p.clone().implies(q.clone().negation()).always()),
        Verdict::Violated,
    );
    // What is once true stays so: "eventually once p" and "never p" exclude
    // each other.
    check(
        p.clone()
            .once()
            .eventually()
            .and(p.clone().negation().always()),
        Verdict::Violated,
    );
    // A past operator about the future.
    check(
        p.clone()
            .eventually()
            .once()
            .and(p.clone().negation().always()),
        Verdict::Violated,
    );
    check(endless(p), Verdict::PresumablySatisfied);
}

/// A bound that ends later leaves room after one that forbids the same.
#[test]
fn bounds_that_overlap_exclude_each_other_only_where_one_contains_the_other() {
    let [asked, told, p] = [0, 1, 2].map(Formula::Proposition);
    let bound = juror_logic::Bound::Steps {
        from: 0,
        to: Some(5),
    };
    let soon = asked.implies(p.clone().eventually_within(bound)).always();
    let never = told.implies(p.negation().always_within(bound)).always();
    for (letters, expected) in [
        ([1, 0, 0, 2], Verdict::Violated),
        ([2, 0, 0, 1], Verdict::PresumablyViolated),
        ([3, 0, 0, 0], Verdict::Violated),
    ] {
        let mut machine = Machine::of_formula(&soon.clone().and(never.clone())).unwrap();
        let mut state = machine.initial();
        for letter in letters {
            state = machine.step(state, Letter(letter)).unwrap();
        }
        assert_eq!(machine.verdict(state), expected, "{letters:?}");
    }
}

/// The only endless run goes round: each obligation is met by another of its steps.
#[test]
fn a_round_meets_what_each_of_its_steps_meets() {
    for length in 2..6 {
        let bits = 0..length;
        let only = |bit: u8| {
            let others = (0..length).filter(|other| *other != bit);
            let others = others.map(|other| Formula::Proposition(other).negation());
            others.fold(Formula::Proposition(bit), Formula::and)
        };
        let round = bits.clone().map(|bit| {
            let next = only((bit + 1) % length).next();
            Formula::Proposition(bit).implies(next).always()
        });
        let met = bits.map(|bit| Formula::Proposition(bit).eventually().always());
        let whole = round.chain(met).fold(only(0), Formula::and);
        for (formula, expected) in [
            (whole.clone(), [Verdict::PresumablyViolated; 2]),
            (whole.negation(), [Verdict::PresumablySatisfied; 2]),
        ] {
            let mut machine = Machine::of_formula(&formula).unwrap();
            let initial = machine.initial();
            let next = machine.step(initial, Letter(1)).unwrap();
            let found = [initial, next].map(|state| machine.verdict(state));
            assert_eq!(found, expected, "{length} steps");
        }
    }
}

#[test]
fn what_no_run_can_decide_is_known() {
    let [p, q] = [0, 1].map(Formula::Proposition);
    let check = |formula: Formula, satisfied: bool, violated: bool| {
        let found = decidable(&formula).unwrap();
        assert_eq!((found.satisfied, found.violated), (satisfied, violated));
    };
    check(p.clone().always(), false, true);
    check(p.clone().eventually(), true, false);
    check(p.clone().until(q.clone()), true, true);
    check(p.clone().eventually().always(), false, false);
    check(
        p.clone().implies(q.clone().eventually()).always(),
        false,
        false,
    );
    check(
        p.clone().always().or(q.clone().eventually().always()),
        false,
        false,
    );
    // Parts that share nothing: all of them, or one.
    let (never, some) = (p.always(), q.eventually());
    check(never.clone().and(some.clone()), false, true);
    check(never.or(some), true, false);
}

/// Before its window an `until` cannot be fulfilled; a new one at every step
/// puts nothing off for ever.
#[test]
fn an_until_comes_to_its_window() {
    let (stems, cycles) = (words(1, 2), words(1, 2));
    for from in 0..4 {
        let bound = juror_logic::Bound::Steps { from, to: None };
        for reached in [Formula::True, Formula::proposition(0)] {
            let often = reached.eventually_within(bound).always();
            let mirror = often.clone().negation();
            for formula in [often, mirror] {
                for length in 0..4 {
                    check(&formula, &vec![Letter(0); length], &stems, &cycles);
                }
            }
        }
    }
}
