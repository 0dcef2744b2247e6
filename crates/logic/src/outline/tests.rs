use super::*;
use crate::clause::Window;
use crate::timed::OperatorMemory;
use proptest::prelude::*;
use std::sync::Arc;

const MS: u64 = 1_000_000;

fn within(from: u64, to: u64) -> Bound {
    Bound::Time {
        from: from * MS,
        to: Some(to * MS),
    }
}

fn name(bit: u8) -> String {
    char::from(b'a' + bit).to_string()
}

fn proposition(bit: u8) -> Formula {
    Formula::Proposition(bit)
}

/// Renders each state as `VERDICT: LETTERS→STATE .. TIME→STATE ..`, letters as numbers.
fn drawn(formula: &Formula) -> Result<Vec<String>, NoOutline> {
    let machine = TimedMachine::of_formula(formula).expect("a machine");
    let outline = machine.outline()?;
    let state = |state: &OutlineState| {
        let mut ways: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for (guard, to) in &state.steps {
            let letters = ways.entry(*to).or_default();
            letters.push(guard.required.to_string());
        }
        let mut said: Vec<String> = ways
            .iter()
            .map(|(to, letters)| format!("{}→{to}", letters.join(",")))
            .collect();
        for (passed, to) in &state.passing {
            let passed: Vec<String> = passed.iter().map(|it| it.describe(&name, false)).collect();
            said.push(format!("{}→{to}", passed.join(" and ")));
        }
        format!("{:?}: {}", state.verdict, said.join(" "))
    };
    Ok(outline.states.iter().map(state).collect())
}

#[track_caller]
fn check(formula: &Formula, expected: &[&str]) {
    assert_eq!(drawn(formula).expect("an outline"), expected);
}

fn answered(bound: Bound) -> Formula {
    let answer = proposition(1).eventually_within(bound);
    proposition(0).implies(answer).always()
}

#[test]
fn a_deadline_is_a_transition() {
    check(
        &answered(within(0, 5)),
        &[
            "PresumablySatisfied: 0,2,3→0 1→1",
            "PresumablyViolated: 2,3→0 0,1→1 5 ms over→2",
            "Violated: ",
        ],
    );
}

#[test]
fn a_wait_that_is_renewed_is_one_wait() {
    let silent = proposition(1).negation().always_within(within(0, 5));
    check(
        &proposition(0).implies(silent).always(),
        &[
            "PresumablySatisfied: 0,2→0 1→1 3→2",
            "PresumablySatisfied: 0,1→1 2,3→2 5 ms over→0",
            "Violated: ",
        ],
    );
}

#[test]
fn both_ends_of_a_bound_are_transitions() {
    check(
        &proposition(0).eventually_within(within(2, 5)),
        &[
            "PresumablyViolated: 0,1→1",
            "PresumablyViolated: 0,1→1 2 ms passed→2",
            "PresumablyViolated: 0→2 1→3 5 ms over→4",
            "Satisfied: ",
            "Violated: ",
        ],
    );
}

#[test]
fn memory_is_dropped_when_it_no_longer_matters() {
    let recently = Formula::Since(
        Arc::new(Formula::True),
        Arc::new(proposition(1)),
        within(0, 5),
    );
    check(
        &proposition(0).implies(recently).always(),
        &[
            "PresumablySatisfied: 0→0 1→1 2,3→2",
            "Violated: ",
            "PresumablySatisfied: 0,1,2,3→2 5 ms over→0",
        ],
    );
}

/// Returns a bound in time without an end.
fn from(from: u64) -> Bound {
    Bound::Time {
        from: from * MS,
        to: None,
    }
}

fn once(bit: u8, bound: Bound) -> Formula {
    Formula::Since(Formula::True.into(), proposition(bit).into(), bound)
}

#[test]
fn a_long_bound_is_one_wait() {
    check(
        &answered(within(0, 3_600_000)),
        &[
            "PresumablySatisfied: 0,2,3→0 1→1",
            "PresumablyViolated: 2,3→0 0,1→1 3600 s over→2",
            "Violated: ",
        ],
    );
}

#[test]
fn a_part_that_follows_from_another_is_not_waited_for() {
    let both = proposition(0).and(proposition(1));
    check(
        &both
            .always_within(within(1, 3))
            .or(proposition(0).always_within(within(0, 2))),
        &[
            "PresumablySatisfied: 0,2→1 1,3→2",
            "PresumablySatisfied: 0,1,2,3→1 1 ms passed and 1 ms passed→3",
            "PresumablySatisfied: 0,2→1 1,3→2 1 ms passed and 1 ms passed→4",
            "PresumablySatisfied: 3→3 0,1,2→5 3 ms over and 3 ms over→6",
            "PresumablySatisfied: 1,3→4 0,2→5 2 ms over→6",
            "Violated: ",
            "Satisfied: ",
        ],
    );
}

#[test]
fn a_bound_ends_after_another_starts_at_the_same_time() {
    check(
        &proposition(0)
            .eventually_within(within(0, 2))
            .and(proposition(1).eventually_within(within(2, 5))),
        &[
            "PresumablyViolated: 0,2→1 1,3→2",
            "PresumablyViolated: 0,2→1 1,3→2 2 ms passed→3",
            "PresumablyViolated: 0,1,2,3→2 2 ms passed→4",
            "PresumablyViolated: 0→3 1→4 2→5 3→6 2 ms over→7",
            "PresumablyViolated: 0,1→4 2,3→6 5 ms over→7",
            "PresumablyViolated: 0,2→5 1,3→6 2 ms over→7",
            "Satisfied: ",
            "Violated: ",
        ],
    );
    let both = proposition(0).and(once(1, within(0, 2)));
    check(
        &both.eventually_within(within(2, 5)),
        &[
            "PresumablyViolated: 0,1→1 2,3→2",
            "PresumablyViolated: 0,1→1 2,3→2 2 ms passed→3",
            "PresumablyViolated: 0,1,2,3→2 2 ms passed→4",
            "PresumablyViolated: 0,1→3 2→4 3→5 5 ms over→6",
            "PresumablyViolated: 0,2→4 1,3→5 2 ms over→3 2 ms over and 5 ms over→6 5 ms over→6",
            "Satisfied: ",
            "Violated: ",
        ],
    );
}

#[test]
fn a_start_is_within_a_bound_without_end_for_good() {
    let past = once(1, from(2));
    check(
        &proposition(0).implies(past.clone()).always(),
        &[
            "PresumablySatisfied: 0→0 1,3→1 2→2",
            "Violated: ",
            "PresumablySatisfied: 1,3→1 0,2→2 2 ms passed→3",
            "PresumablySatisfied: 0,1,2,3→3",
        ],
    );
    // Other bounds end then as before.
    let answered = |to| {
        let answer = proposition(0).eventually_within(within(0, to));
        let answered = proposition(1).implies(answer).always();
        proposition(0).implies(past.clone()).always().and(answered)
    };
    check(
        &answered(5),
        &[
            "PresumablySatisfied: 0→0 1,3→1 2→2",
            "Violated: ",
            "PresumablyViolated: 1,3→1 0,2→2 2 ms passed→3",
            "PresumablyViolated: 0,2→3 1,3→4 5 ms over→1",
            "PresumablySatisfied: 2→3 0,1,3→4",
        ],
    );
    check(
        &answered(2),
        &[
            "PresumablySatisfied: 0→0 1,3→1 2→2",
            "Violated: ",
            "PresumablyViolated: 1,3→1 0,2→2 2 ms passed→3",
            "PresumablyViolated: 0,2→3 1,3→4 2 ms over→1",
            "PresumablySatisfied: 2→3 0,1,3→4",
        ],
    );
}

#[test]
fn bounds_in_steps_are_counted_beside_bounds_in_time() {
    let steps = |from, to| Bound::Steps { from, to: Some(to) };
    check(
        &once(1, steps(1, 2)).eventually_within(within(0, 2)),
        &[
            "PresumablyViolated: 0→1 2→2",
            "PresumablyViolated: 0→1 2→2 2 ms over→4",
            "PresumablyViolated: 0,2→3 2 ms over→4",
            "Satisfied: ",
            "Violated: ",
        ],
    );
    let past = proposition(0).implies(once(1, steps(0, 2))).always();
    check(
        &past.and(answered(within(0, 5))),
        &[
            "PresumablySatisfied: 0→0 1→1 2,3→2",
            "Violated: ",
            "PresumablySatisfied: 2,3→2 0→3 1→4",
            "PresumablySatisfied: 0→0 2,3→2 1→5",
            "PresumablyViolated: 2,3→2 0,1→5 5 ms over→1",
            "PresumablyViolated: 1→1 2,3→2 0→5 5 ms over→1",
        ],
    );
}

#[test]
fn waits_without_number_are_not_drawn() {
    let part = proposition(1).eventually_within(within(2, 5));
    assert_eq!(drawn(&answered(within(2, 5))), Err(NoOutline::Waits(part)));
    let past = once(1, within(2, 5));
    let whole = proposition(0).implies(past.clone()).always();
    assert_eq!(drawn(&whole), Err(NoOutline::Waits(past)));
}

#[test]
fn an_outline_has_no_more_states_than_it_may_have() {
    let soon = |to| {
        let bound = Bound::Steps {
            from: 0,
            to: Some(to),
        };
        proposition(0).eventually_within(bound)
    };
    // One for the first step and each later one, and one for each final verdict.
    let most = SKELETONS_MAX as u32 - 3;
    let states = drawn(&soon(most)).map(|states| states.len());
    assert_eq!(states, Ok(SKELETONS_MAX));
    assert_eq!(drawn(&soon(most + 1)), Err(NoOutline::TooLarge));
}

/// Returns the next time after now at which a bound of the state starts or ends.
fn next_end(machine: &TimedMachine, state: &TimedState) -> Option<u64> {
    let clauses = state.positive.iter().chain(&state.negative);
    let windows = clauses.flat_map(|clause| &clause.atoms);
    let mut ends: Vec<u64> = Vec::new();
    for atom in windows {
        if let Window::Time { from, to } = atom.window {
            ends.push(from);
            ends.extend(to.map(|to| to + 1));
        }
    }
    for (operator_memory, tracked) in state.memory.iter().zip(machine.arena().tracked()) {
        if let (OperatorMemory::Since(times), Tracked::Since { bound, .. }) =
            (operator_memory, tracked)
            && let Bound::Time { from, to } = bound
        {
            for time in times {
                ends.push(time + from);
                ends.extend(to.map(|to| time + to + 1));
            }
        }
    }
    ends.into_iter().filter(|end| *end > state.now).min()
}

fn formulas() -> impl Strategy<Value = Formula> {
    let bound = prop_oneof![
        3 => (1_u64..4).prop_map(|to| within(0, to)),
        1 => (1_u64..3, 0_u64..3).prop_map(|(from, more)| within(from, from + more)),
        2 => Just(Bound::Unbounded),
    ];
    let leaf = (0_u8..2).prop_map(Formula::Proposition);
    // Past operators contain no future operators.
    let past = leaf.clone().prop_recursive(2, 6, 2, {
        let bound = bound.clone();
        move |inner| {
            prop_oneof![
                inner.clone().prop_map(Formula::negation),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| a.and(b)),
                (inner.clone(), inner, bound.clone()).prop_map(|(a, b, bound)| Formula::Since(
                    a.into(),
                    b.into(),
                    bound
                )),
            ]
        }
    });
    past.prop_recursive(3, 12, 2, move |inner| {
        prop_oneof![
            inner.clone().prop_map(Formula::negation),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a.and(b)),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a.or(b)),
            (inner.clone(), bound.clone()).prop_map(|(a, bound)| a.eventually_within(bound)),
            (inner.clone(), bound.clone()).prop_map(|(a, bound)| a.always_within(bound)),
            inner.clone().prop_map(|a| a.always()),
            (inner.clone(), inner, bound.clone()).prop_map(|(a, b, bound)| Formula::Until(
                a.into(),
                b.into(),
                bound
            )),
        ]
    })
}

/// Returns whether there is an outline, after comparing it with the formula over a run.
fn follow(formula: &Formula, run: &[(u64, u64)]) -> bool {
    let Ok(machine) = TimedMachine::of_formula(formula) else {
        return false;
    };
    let Ok(outline) = machine.outline() else {
        return false;
    };
    let passing = outline.states.iter().flat_map(|state| &state.passing);
    assert!(passing.into_iter().all(|(passed, _)| !passed.is_empty()));
    let propositions = machine.propositions();
    let (mut state, mut at) = (machine.initial(), 0);
    let mut time = 0;
    for (letter, delay) in run {
        time += delay;
        while let Some(end) = next_end(&machine, &state).filter(|end| *end <= time) {
            let before = state.clone();
            machine.advance(&mut state, end);
            let passed = machine.passed(&before, end);
            let mut ways = outline.states[at].passing.iter();
            if let Some((_, to)) = ways.find(|(way, _)| *way == passed) {
                at = *to;
            }
            assert_eq!(outline.states[at].verdict, machine.verdict(&state));
        }
        if machine.is_decided(&state) {
            break;
        }
        machine
            .step(&mut state, Letter(*letter), time)
            .expect("a step");
        let letter = letter & propositions;
        let mut ways = outline.states[at].steps.iter();
        let way = ways.find(|(guard, _)| guard.required == letter);
        at = way.expect("each letter leads somewhere").1;
        assert_eq!(outline.states[at].verdict, machine.verdict(&state));
    }
    true
}

proptest! {
    #![proptest_config(juror_testing::with_cases(3_000))]

    /// Times are multiples of half a millisecond, plus two nanoseconds. Time is
    /// continuous in an outline: one bound ends before another starts even if no
    /// nanosecond lies between them. Here a bound ends at an odd nanosecond, and nothing
    /// else happens at one.
    #[test]
    fn an_outline_says_what_the_formula_says(
        formula in formulas(),
        run in prop::collection::vec((0_u64..4, 0_u64..8, -1_i64..2), 1..12),
    ) {
        let run: Vec<(u64, u64)> = run
            .into_iter()
            .map(|(letter, halves, more)| {
                (letter, (halves * MS / 2).saturating_add_signed(2 * more))
            })
            .collect();
        follow(&formula, &run);
    }
}
