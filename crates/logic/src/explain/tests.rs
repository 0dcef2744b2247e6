//! The obligations of states, and the parts that failed.

use super::*;

fn name(bit: u8) -> String {
    ["request", "response", "closed"][usize::from(bit)].to_owned()
}

fn check(formula: &Formula, letters: &[u64], expected: &str) {
    let mut machine = Machine::of_formula(formula).unwrap();
    let mut state = machine.initial();
    for letter in letters {
        state = machine.step(state, Letter(*letter)).unwrap();
    }
    assert_eq!(machine.explain(state).describe(&name), expected);
}

#[test]
fn a_state_says_what_it_waits_for() {
    let [request, response, closed] = [0, 1, 2].map(Formula::Proposition);
    check(&closed.clone().eventually(), &[0], "waits for `closed`");
    let answered = request
        .clone()
        .implies(response.clone().eventually())
        .always();
    check(
        &answered,
        &[0],
        "needs `always (request implies eventually response)`",
    );
    check(
        &answered,
        &[1],
        "waits for `response`, and needs `always (request implies eventually response)`",
    );
    check(
        &request.clone().until(response.clone()),
        &[1],
        "waits for `response` with `request` until then",
    );
    let bound = Bound::Steps {
        from: 0,
        to: Some(5),
    };
    check(
        &closed.eventually_within(bound),
        &[0, 0],
        "waits for `eventually within 3 steps closed`",
    );
    check(
        &request.clone().next().or(response.clone().eventually()),
        &[0],
        "waits for a next step with `request`\nor waits for `response`",
    );
    check(
        &response.always().next(),
        &[0],
        "waits for a next step, and needs `always response`",
    );
    // A run that ends meets these.
    let weak_next = |part: Formula| Formula::WeakNext(part.into());
    check(&weak_next(request.clone()), &[0], "needs `request`");
    check(
        &weak_next(request.clone().eventually()),
        &[0],
        "needs `eventually request`",
    );
    check(
        &weak_next(Formula::False).or(request.next()),
        &[0],
        "needs that there is no next step\nor waits for a next step with `request`",
    );
}

/// Returns the alternatives after a step of a conjunction whose parts each have two.
fn ways(parts: impl Iterator<Item = Formula>) -> Vec<Way> {
    let whole = parts.fold(Formula::True, Formula::and);
    let mut machine = Machine::of_formula(&whole).unwrap();
    let state = machine.step(machine.initial(), Letter(u64::MAX)).unwrap();
    machine.explain(state).ways
}

#[test]
fn many_alternatives_are_told_as_a_disjunction() {
    let p = |part: u8| Formula::proposition(2 * part);
    let q = |part: u8| Formula::proposition(2 * part + 1);
    let waits = |part| p(part).next().or(q(part).negation().eventually());
    let needs = |part| Formula::WeakNext(p(part).into()).or(q(part).always());
    let mixed = |part| p(part).next().or(q(part).always());
    for (count, expected) in [(3, 8), (4, 16), (5, 16)] {
        let ways = ways((0..count).map(waits));
        assert_eq!(ways.len(), expected, "{count} parts");
        for way in &ways {
            assert_eq!(way.awaited.len(), usize::from(count));
            assert_eq!(way.kept, []);
        }
    }
    let of_three = waits(3).or(p(4).next().next());
    assert_eq!(ways((0..3).map(waits).chain([of_three])).len(), 8);
    for (last, awaited, kept) in [
        (
            waits(4),
            vec![p(4).or(q(4).negation().eventually())],
            vec![],
        ),
        (needs(4), vec![], vec![p(4).or(q(4).always())]),
        (mixed(4), vec![], vec![q(4).always().or(p(4))]),
    ] {
        for way in ways((0..4).map(needs).chain([last])) {
            let of_last = |formulas: &[Formula]| {
                let of_last = |formula: &&Formula| formula.propositions() >= 1 << 8;
                formulas.iter().filter(of_last).cloned().collect::<Vec<_>>()
            };
            assert_eq!(of_last(&way.awaited), awaited);
            assert_eq!(of_last(&way.kept), kept);
        }
    }
}

#[test]
fn nothing_is_left_after_a_final_verdict_or_in_a_state_of_another_machine() {
    let [p, q] = [0, 1].map(Formula::Proposition);
    let match_violates = crate::Meaning::MatchViolates;
    let machines = [
        Machine::of_formula(&p.clone().eventually()),
        Machine::of_formula(&p.eventually().or(q.always())),
        Machine::of_expression(&Regex::proposition(0), match_violates),
    ];
    for machine in machines {
        let mut machine = machine.unwrap();
        assert_ne!(machine.explain(machine.initial()), Explanation::default());
        let state = machine.step(machine.initial(), Letter(1)).unwrap();
        assert!(machine.is_decided(state));
        assert_eq!(machine.explain(state), Explanation::default());
        let next = MachineState(machine.state_count() as u32);
        assert_eq!(machine.explain(next), Explanation::default());
    }
}

#[test]
fn an_expression_says_what_is_left() {
    let regex = Regex::proposition(0).then(Regex::proposition(2).star());
    let mut machine = Machine::of_expression(&regex, crate::Meaning::MatchRequired).unwrap();
    let state = machine.step(machine.initial(), Letter(1)).unwrap();
    assert_eq!(
        machine.explain(state).describe(&name),
        "left to match: closed*"
    );
}

#[test]
fn the_part_that_failed_is_named() {
    let [a, b, c] = [0, 1, 2].map(Formula::Proposition);
    let formula = a
        .clone()
        .and(b.clone())
        .always()
        .and(c.clone().eventually());
    let history = [3, 3, 1].map(Letter);
    let blame = formula.blame(&history).unwrap().unwrap();
    assert_eq!((blame.parts, blame.step), (vec![b.always()], 2));
    // Neither fails alone.
    let both = c.clone().eventually().and(a.and(c.negation().always()));
    let blame = both.blame(&[Letter(1)]).unwrap().unwrap();
    assert_eq!((blame.parts.len(), blame.step), (2, 0));
}
