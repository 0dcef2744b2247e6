//! Tables against the machines that they are made of, how large machines get,
//! and what depends on the number of steps.

use juror_logic::{Formula, Guard, Letter, Machine, MachineState, Meaning, Regex, Table};
use juror_testing::Numbers;
use juror_testing::formulas::{Kind, random_formula};

fn table(formula: &Formula) -> Table {
    let mut machine = Machine::of_formula(formula).unwrap();
    machine.to_table(10_000).unwrap()
}

#[test]
fn tables_give_the_verdicts_of_their_machines() {
    let mut numbers = Numbers(0x7ab1e);
    for _ in 0..1_000 {
        let size = 1 + numbers.below(10);
        let formula = random_formula(&mut numbers, size, 3, Kind::Steps);
        let mut machine = Machine::of_formula(&formula).unwrap();
        let table = machine.to_table(10_000).unwrap();
        assert!(table.state_count() <= machine.state_count());
        for _ in 0..5 {
            let (mut state, mut place) = (machine.initial(), table.initial());
            for letter in numbers.letters(10, 3) {
                assert_eq!(machine.verdict(state), table.verdict(place));
                assert_eq!(machine.can_still(state), table.can_still(place));
                let origin = table.origin(place);
                assert_eq!(machine.verdict(origin), table.verdict(place));
                state = machine.step(state, letter).unwrap();
                place = table.step(place, letter);
            }
        }
    }
}

#[test]
fn equal_demands_have_equal_tables() {
    let [p, q] = [0, 1].map(Formula::Proposition);
    let check = |one: Formula, other: Formula| {
        assert_eq!(table(&one), table(&other), "{one:?} {other:?}");
    };
    let check_not = |one: Formula, other: Formula| {
        assert_ne!(table(&one), table(&other), "{one:?} {other:?}");
    };
    check(
        p.clone().implies(q.clone()).always(),
        q.clone().negation().implies(p.clone().negation()).always(),
    );
    check(
        p.clone().eventually().or(q.clone().eventually()),
        p.clone().or(q.clone()).eventually(),
    );
    check(
        p.clone().weak_until(q.clone()),
        p.clone().until(q.clone()).or(p.clone().always()),
    );
    // What held at the first step has always held once.
    check(p.clone().and(p.clone().once().always()), p.clone());
    // Within one unrolled bound.
    let bound = juror_logic::Bound::Steps {
        from: 1,
        to: Some(2),
    };
    check(
        p.clone().eventually_within(bound),
        p.clone().or(p.clone().next()).next(),
    );
    check_not(p.clone().always(), p.clone().eventually());
    check_not(p.clone().always(), p.clone().negation().eventually());
    check_not(p, q);
}

/// A formula and its negation never say the same, nor both nothing.
#[test]
fn a_negation_mirrors_its_formula() {
    let mut numbers = Numbers(0x907);
    for _ in 0..2_000 {
        let size = 1 + numbers.below(10);
        let formula = random_formula(&mut numbers, size, 3, Kind::Steps);
        let mut machine = Machine::of_formula(&formula).unwrap();
        let mut mirror = Machine::of_formula(&formula.clone().negation()).unwrap();
        let (mut state, mut image) = (machine.initial(), mirror.initial());
        for letter in numbers.letters(8, 3) {
            let (one, other) = (machine.verdict(state), mirror.verdict(image));
            assert_eq!(one as u8, 3 - other as u8, "{formula:?}: {one} and {other}");
            state = machine.step(state, letter).unwrap();
            image = mirror.step(image, letter).unwrap();
        }
    }
}

/// The canonical form keeps machines small: no formula of these gets anywhere
/// near the limit.
#[test]
fn random_formulas_have_few_states() {
    let mut numbers = Numbers(0xb16);
    let (mut largest, mut total, mut minimal) = (0, 0, 0);
    for _ in 0..1_000 {
        let size = 8 + numbers.below(13);
        let formula = random_formula(&mut numbers, size, 3, Kind::Future);
        let mut machine = Machine::of_formula(&formula).unwrap();
        let table = machine.to_table(10_000).unwrap();
        largest = largest.max(machine.state_count());
        total += machine.state_count();
        minimal += table.state_count();
    }
    println!("largest {largest} states, all {total}, minimal {minimal}");
    assert!(largest <= 300, "{largest}");
}

#[test]
fn random_formulas_with_past_and_bounds_have_few_states() {
    let mut numbers = Numbers(0xba57);
    let (mut largest, mut total, mut minimal) = (0, 0, 0);
    for _ in 0..300 {
        let size = 8 + numbers.below(8);
        let formula = random_formula(&mut numbers, size, 3, Kind::Steps);
        let mut machine = Machine::of_formula(&formula).unwrap();
        let table = machine.to_table(100_000).unwrap();
        largest = largest.max(machine.state_count());
        total += machine.state_count();
        minimal += table.state_count();
    }
    println!("largest {largest} states, all {total}, minimal {minimal}");
    assert!(largest <= 20_000, "{largest}");
}

#[test]
fn what_depends_on_the_number_of_steps_is_found() {
    let [p, q] = [0, 1].map(Formula::Proposition);
    let check = |formula: Formula, operators: &str, invariant: bool| {
        let names: Vec<&str> = formula
            .step_operators()
            .iter()
            .map(|it| it.name())
            .collect();
        assert_eq!(names.join(", "), operators);
        assert_eq!(
            table(&formula).is_stutter_invariant(),
            invariant,
            "{formula:?}"
        );
    };
    check(p.clone().until(q.clone()), "", true);
    check(p.clone().next(), "next", false);
    let after = p.clone().implies(q.clone().yesterday()).always();
    check(after, "yesterday", false);
    let after = Formula::WeakYesterday(q.clone().into());
    check(p.clone().implies(after).always(), "weak yesterday", false);
    // "p, and at some later step not p" needs a `next`, but counts nothing.
    check(
        p.clone().and(p.clone().negation().eventually().next()),
        "next",
        true,
    );
    let bound = juror_logic::Bound::Steps {
        from: 0,
        to: Some(3),
    };
    check(
        p.clone().eventually_within(bound),
        "a bound in steps",
        false,
    );
    check(p.once().implies(q).always(), "", true);
}

/// Propositions far apart are looked up in another way than those side by side.
#[test]
fn any_bits_of_a_letter_will_do() {
    let near = Formula::Proposition(0).until(Formula::Proposition(1).next());
    let far = Formula::Proposition(3).until(Formula::Proposition(61).next());
    let high = Formula::Proposition(62).until(Formula::Proposition(63).next());
    let spread = |letter: Letter, low: u32, high: u32| {
        Letter((letter.0 & 1) << low | (letter.0 >> 1 & 1) << high | (letter.0 >> 2) << 20)
    };
    let mut machines = [&near, &far, &high].map(|it| Machine::of_formula(it).unwrap());
    let mut tables = Vec::new();
    for machine in &mut machines {
        tables.push(machine.to_table(100).unwrap());
    }
    let bits = [(0, 1), (3, 61), (62, 63)];
    let mut numbers = Numbers(5);
    for _ in 0..100 {
        let mut states = [MachineState(0); 3];
        let mut places = [MachineState(0); 3];
        for letter in numbers.letters(6, 4) {
            for (place, (low, high)) in bits.into_iter().enumerate() {
                let letter = spread(letter, low, high);
                states[place] = machines[place].step(states[place], letter).unwrap();
                places[place] = tables[place].step(places[place], letter);
            }
            let verdicts = [0, 1, 2].map(|it| machines[it].verdict(states[it]));
            assert_eq!(verdicts, [verdicts[0]; 3]);
            assert_eq!([0, 1, 2].map(|it| tables[it].verdict(places[it])), verdicts);
        }
    }
}

#[test]
fn guards_of_a_state_take_each_letter_once() {
    let regex = Regex::Letter(Guard {
        required: 3,
        forbidden: 4,
    })
    .or(Regex::proposition(2).then(Regex::proposition(0)))
    .star();
    let mut machine = Machine::of_expression(&regex, Meaning::MatchRequired).unwrap();
    let table = machine.to_table(100).unwrap();
    for state in 0..table.state_count() as u32 {
        let successors = table.successors(MachineState(state));
        for letter in 0..8 {
            let takes: Vec<_> = successors.iter().filter(|it| it.0.takes(letter)).collect();
            assert_eq!(takes.len(), 1);
            assert_eq!(takes[0].1, table.step(MachineState(state), Letter(letter)));
        }
    }
}
