//! States: which are one, which are known, and the propositions that they depend on.

use juror_event::Verdict;
use juror_logic::{
    Bound, Formula, Guard, Letter, LogicError, Machine, MachineState, Meaning, Regex,
};

const P: Formula = Formula::Proposition(0);
const Q: Formula = Formula::Proposition(1);
const R: Formula = Formula::Proposition(2);

fn machine(formula: &Formula) -> Machine {
    Machine::of_formula(formula).expect("a machine")
}

fn run(machine: &mut Machine, letters: &[u64]) -> MachineState {
    letters.iter().fold(machine.initial(), |state, letter| {
        machine.step(state, Letter(*letter)).expect("a step")
    })
}

/// Returns the number of all states.
fn states(formula: &Formula) -> usize {
    let mut machine = machine(formula);
    machine.to_table(1_000).expect("a table");
    machine.state_count()
}

fn weak_next(formula: Formula) -> Formula {
    Formula::WeakNext(formula.into())
}

fn within_steps(to: u32) -> Bound {
    Bound::Steps {
        from: 0,
        to: Some(to),
    }
}

#[test]
fn a_step_that_was_made_is_known() {
    // Propositions side by side, and far apart.
    for bits in [[0, 1], [3, 61]] {
        let [p, q] = bits.map(Formula::Proposition);
        let mut machine = machine(&p.until(q));
        let [p, q] = bits.map(|bit| Letter(1 << bit));
        let initial = machine.initial();
        assert_eq!(machine.known_step(initial, p), None);
        for letter in [p, q] {
            let next = machine.step(initial, letter).expect("a step");
            assert_eq!(machine.known_step(initial, letter), Some(next));
        }
    }
}

/// A formula, one of independent parts, and an expression.
fn kinds() -> [Machine; 3] {
    let regex = Regex::proposition(0).then(Regex::proposition(1));
    [
        machine(&P.until(Q)),
        machine(&P.eventually().and(Q.always())),
        Machine::of_expression(&regex, Meaning::MatchRequired).expect("a machine"),
    ]
}

#[test]
fn a_state_of_another_machine_is_refused() {
    for mut machine in kinds() {
        let count = machine.state_count() as u32;
        for state in [count, count + 7, u32::MAX] {
            let error = LogicError::NoSuchState { state };
            let state = MachineState(state);
            assert_eq!(machine.step(state, Letter(0)), Err(error));
            assert_eq!(machine.successors(state), Err(error));
            assert_eq!(machine.verdict(state), Verdict::PresumablySatisfied);
            assert_eq!(machine.letters_that_matter(state), 0);
            assert_eq!(machine.propositions_ahead(state), u64::MAX);
        }
        let initial = machine.initial();
        assert_eq!(machine.propositions_ahead(initial), 3);
    }
}

#[test]
fn the_propositions_that_a_state_depends_on_now_and_later() {
    let check = |formula: &Formula, letters: &[u64], now: u64, later: u64| {
        let mut machine = machine(formula);
        let state = run(&mut machine, letters);
        let found = (
            machine.letters_that_matter(state),
            machine.propositions_ahead(state),
        );
        assert_eq!(found, (now, later), "{formula:?} after {letters:?}");
        // Again, and of the table.
        assert_eq!(machine.propositions_ahead(state), later);
        let table = machine.to_table(100).expect("a table");
        let steps = letters.iter().map(|letter| Letter(*letter));
        let state = steps.fold(table.initial(), |state, letter| table.step(state, letter));
        let found = (
            table.letters_that_matter(state),
            table.propositions_ahead(state),
        );
        assert_eq!(
            found,
            (now, later),
            "table of {formula:?} after {letters:?}"
        );
    };
    check(&P.next(), &[], 0, 1);
    check(&P.next(), &[0], 1, 1);
    check(&P.next(), &[0, 1], 0, 0);
    check(&P.until(Q), &[1, 1], 3, 3);
    let far = P.and(Q.next().next());
    check(&far, &[], 1, 3);
    check(&far, &[1], 0, 2);
    check(&far, &[1, 0], 2, 2);
    check(&far, &[0], 0, 0);
    // Independent parts.
    let parts = P.next().and(Q.next().next());
    check(&parts, &[], 0, 3);
    check(&parts, &[0], 1, 3);
    check(&parts, &[0, 1], 2, 2);
    check(&parts, &[0, 0], 0, 0);
    // The past is not read any more.
    let past = Q.once().and(P).or(P.always().next());
    check(&past, &[], 3, 3);
    check(&past, &[2], 1, 1);
}

#[test]
fn the_propositions_of_more_states_than_are_explored_may_be_any() {
    for (steps, is_known) in [(WITHIN_MOST, true), (WITHIN_MOST + 1, false)] {
        let soon = P.eventually_within(within_steps(steps));
        for (formula, propositions) in [(soon.clone(), 1), (soon.and(Q.always()), 3)] {
            let mut machine = machine(&formula);
            let initial = machine.initial();
            let expected = if is_known { propositions } else { u64::MAX };
            assert_eq!(machine.propositions_ahead(initial), expected, "{steps}");
        }
    }
}

/// The bound in steps whose formula has 256 states.
const WITHIN_MOST: u32 = 253;

#[test]
fn a_final_verdict_is_one_state() {
    let regex = |required, forbidden| {
        Regex::Letter(Guard {
            required,
            forbidden,
        })
    };
    let all = || Regex::any().star();
    // Each of these matches all words, and shows that only over all letters.
    let certain = |bit: u64| {
        let with = regex(bit, 0).then(all());
        with.or(regex(0, bit).then(all())).or(Regex::Empty)
    };
    let never = |bit: u64| certain(bit).complement();
    let either = |one, other| regex(1, 0).then(one).or(regex(0, 1).then(other));
    let required = |regex: Regex| Machine::of_expression(&regex, Meaning::MatchRequired);
    let machines = [
        Machine::of_formula(&P.until(Q)),
        Machine::of_formula(&P.eventually().or(Q.eventually())),
        Machine::of_formula(&P.always().and(Q.always())),
        // That the run ends is not what a final verdict is about.
        Machine::of_formula(&P.and(weak_next(Formula::False))),
        Machine::of_formula(&P.next().or(weak_next(Formula::True)).always()),
        required(either(certain(2), certain(4))),
        required(either(never(2), never(4)).or(Regex::proposition(2).then(Regex::any()))),
    ];
    for machine in machines {
        let mut machine = machine.expect("a machine");
        let mut waiting = vec![machine.initial()];
        let mut met = waiting.clone();
        while let Some(state) = waiting.pop() {
            for letter in 0..8 {
                let next = machine.step(state, Letter(letter)).expect("a step");
                if machine.is_decided(state) {
                    assert_eq!(next, state);
                }
                if !met.contains(&next) {
                    met.push(next);
                    waiting.push(next);
                }
            }
        }
        for verdict in [Verdict::Satisfied, Verdict::Violated] {
            let of_verdict = met.iter().filter(|it| machine.verdict(**it) == verdict);
            assert!(of_verdict.count() <= 1, "{verdict}");
        }
    }
}

#[test]
fn pasts_that_make_no_difference_are_one_state() {
    let mut machine = machine(&Q.once().and(P).or(P.always().next()));
    let [with, without] = [2, 0].map(|letter| run(&mut machine, &[letter]));
    assert_eq!(with, without);
    // Starts that are over, and those between two others that are near, are forgotten.
    for (from, to, most) in [
        (0, 2, 5),
        (1, 2, 8),
        (1, 3, 12),
        (2, 3, 14),
        (2, 6, 35),
        (3, 3, 17),
    ] {
        let bound = Bound::Steps { from, to: Some(to) };
        let once = Formula::Since(Formula::True.into(), Q.into(), bound);
        let count = states(&P.implies(once).always());
        assert!(count <= most, "from {from} to {to}: {count} states");
    }
}

#[test]
fn obligations_that_follow_from_others_are_not_kept() {
    // Of several waits for the same, the nearest one counts.
    let soon = Q.eventually_within(within_steps(5));
    assert_eq!(states(&P.and(soon.next()).eventually()), 8);
    // Also where the formula and its negation both have several alternatives.
    let soon = Q.eventually_within(within_steps(3));
    let stays = R.always_within(within_steps(3));
    let waits = P.and(soon.next()).eventually();
    let keeps = Q.implies(stays.next()).always();
    assert_eq!(states(&waits.clone().and(keeps.clone())), 26);
    assert_eq!(states(&waits.or(keeps)), 26);
}

#[test]
fn a_table_has_no_more_states_than_it_may_have() {
    let mut machine = machine(&P.until(Q));
    assert_eq!(machine.to_table(3).expect("a table").state_count(), 3);
    let error = machine.to_table(2).expect_err("too large");
    assert_eq!(error, LogicError::TooManyStates { limit: 2 });
}
