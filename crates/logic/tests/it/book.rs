//! What the chapter of the book about formulas and expressions says.

use juror_event::Verdict::{self, *};
use juror_logic::{Formula, Letter, Machine, Meaning, Regex, Table};

fn p() -> Formula {
    Formula::Proposition(0)
}

fn q() -> Formula {
    Formula::Proposition(1)
}

/// The verdicts before the first step and after each.
fn verdicts(mut machine: Machine, letters: &[u64]) -> Vec<Verdict> {
    let mut state = machine.initial();
    let mut verdicts = vec![machine.verdict(state)];
    for letter in letters {
        state = machine.step(state, Letter(*letter)).unwrap();
        verdicts.push(machine.verdict(state));
    }
    verdicts
}

fn check(formula: &Formula, letters: &[u64], expected: &[Verdict]) {
    let machine = Machine::of_formula(formula).unwrap();
    assert_eq!(verdicts(machine, letters), expected, "{formula:?}");
}

fn table(formula: &Formula) -> Table {
    let mut machine = Machine::of_formula(formula).unwrap();
    machine.to_table(1_000).unwrap()
}

#[test]
fn four_verdicts() {
    let [request, response] = [1, 2];
    check(
        &p().implies(q().eventually()).always(),
        &[request, 0, response, request],
        &[
            PresumablySatisfied,
            PresumablyViolated,
            PresumablyViolated,
            PresumablySatisfied,
            PresumablyViolated,
        ],
    );
    check(&Formula::True.next(), &[], &[Satisfied]);
}

#[test]
fn the_earliest_moment() {
    let both = p().and(q()).eventually();
    let neither = p().implies(q().negation()).always();
    check(&both.and(neither), &[], &[Violated]);
    let answered = p().implies(q().next()).always();
    let silent = q().negation().always();
    check(
        &answered.and(silent),
        &[0, 1],
        &[PresumablySatisfied, PresumablySatisfied, Violated],
    );
    let open = p().eventually().or(p().negation().always());
    check(&open, &[], &[Satisfied]);
}

#[test]
fn looking_back() {
    let back = p().implies(q().once()).always();
    let ahead = p().negation().weak_until(q());
    assert_eq!(table(&back), table(&ahead));
}

#[test]
fn what_counts_steps() {
    let counts = p().and(q().next());
    assert!(!table(&counts).is_stutter_invariant());
    let instead = p().and(p().until(q()));
    assert!(table(&instead).is_stutter_invariant());
    let ends = p().and(p().negation().eventually().next());
    assert!(table(&ends).is_stutter_invariant());
}

#[test]
fn expressions() {
    let [open, close] = [0, 1].map(Regex::proposition);
    let check = |regex: &Regex, meaning, letters: &[u64], last| {
        let machine = Machine::of_expression(regex, meaning).unwrap();
        assert_eq!(verdicts(machine, letters).last(), Some(&last), "{regex:?}");
    };
    let not = open.clone().then(close.clone()).complement();
    check(&not, Meaning::MatchRequired, &[1], PresumablySatisfied);
    check(&not, Meaning::MatchRequired, &[1, 2], PresumablyViolated);
    check(&not, Meaning::MatchRequired, &[1, 2, 1], Satisfied);
    check(&open.clone().star(), Meaning::MatchViolates, &[], Violated);
    let pair = open.then(close);
    check(
        &pair,
        Meaning::MatchViolates,
        &[0, 1, 1],
        PresumablySatisfied,
    );
    check(&pair, Meaning::MatchViolates, &[0, 1, 1, 2], Violated);
}
