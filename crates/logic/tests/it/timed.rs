//! Formulas with bounds in time against the definitions over timed traces.

use crate::common::holds;
use juror_event::Verdict;
use juror_logic::{Bound, Formula, Letter, LogicError, Machine, TimedMachine, TimedState};
use juror_testing::Numbers;
use juror_testing::formulas::{Kind, random_formula};

/// Runs a machine over a trace and compares each verdict with the definitions:
/// an undecided one with the run so far, a final one with the run so far and
/// with all that comes later.
fn check(formula: &Formula, letters: &[Letter], times: &[u64]) -> Result<bool, String> {
    let machine = TimedMachine::of_formula(formula).map_err(|error| error.to_string())?;
    let mut state = machine.initial();
    let mut decided: Option<Verdict> = None;
    for (step, letter) in letters.iter().enumerate() {
        if let Some(deadline) = machine.next_deadline(&state)
            && deadline <= times[step]
        {
            let before = machine.verdict(&state);
            machine.advance(&mut state, deadline);
            let after = machine.verdict(&state);
            if before.at_end() != after.at_end() && !machine.is_decided(&state) {
                return Err(format!("{before} became {after} without a step"));
            }
        }
        machine
            .step(&mut state, *letter, times[step])
            .map_err(|error| error.to_string())?;
        let verdict = machine.verdict(&state);
        let seen = (&letters[..=step], &times[..=step]);
        let defined = holds(formula, seen.0, seen.1, 0);
        let says = verdict.at_end() == Verdict::Satisfied;
        match decided {
            Some(decided) if decided != verdict => {
                return Err(format!("{decided} became {verdict}"));
            }
            Some(_) => {}
            // A final verdict may differ from the run that ends here only where
            // it is about whether there is a next step.
            None if machine.is_decided(&state) => decided = Some(verdict),
            None if says != defined => {
                return Err(format!("{verdict} after {seen:?}, defined: {defined}"));
            }
            None => {}
        }
    }
    Ok(decided.is_some())
}

fn timed_trace(numbers: &mut Numbers, length: u64) -> (Vec<Letter>, Vec<u64>) {
    let letters = numbers.letters(length, 3);
    let mut now = numbers.below(3);
    let times = letters
        .iter()
        .map(|_| {
            now += numbers.below(4);
            now
        })
        .collect();
    (letters, times)
}

#[test]
fn verdicts_are_the_definition() {
    let mut numbers = Numbers(0x71de);
    let mut decided = 0;
    for _ in 0..4_000 {
        let size = 1 + numbers.below(10);
        let formula = random_formula(&mut numbers, size, 3, Kind::Time);
        for _ in 0..8 {
            let length = 1 + numbers.below(8);
            let (letters, times) = timed_trace(&mut numbers, length);
            match check(&formula, &letters, &times) {
                Ok(final_verdict) => decided += u32::from(final_verdict),
                Err(error) => panic!("{formula:?}\n{error}"),
            }
        }
    }
    assert!(decided > 1_000, "{decided}");
}

/// A final verdict never contradicts a longer run: whatever follows, what is
/// defined for a long enough run is what was said.
#[test]
fn final_verdicts_stay_true() {
    let mut numbers = Numbers(0xf17a1);
    let mut checked = 0;
    for _ in 0..4_000 {
        let size = 1 + numbers.below(8);
        let formula = random_formula(&mut numbers, size, 2, Kind::Time);
        let (letters, times) = timed_trace(&mut numbers, 12);
        let machine = TimedMachine::of_formula(&formula).unwrap();
        let mut state = machine.initial();
        for step in 0..4 {
            machine
                .step(&mut state, letters[step], times[step])
                .unwrap();
        }
        if machine.is_decided(&state) {
            // Twelve steps are more than any nesting of `next` here sees.
            let says = machine.verdict(&state) == Verdict::Satisfied;
            assert_eq!(holds(&formula, &letters, &times, 0), says, "{formula:?}");
            checked += 1;
        }
    }
    assert!(checked > 1_000, "{checked}");
}

fn within(from: u64, to: u64) -> Bound {
    Bound::Time { from, to: Some(to) }
}

fn run(formula: &Formula, trace: &[(u64, u64)]) -> (TimedMachine, TimedState) {
    let machine = TimedMachine::of_formula(formula).unwrap();
    let mut state = machine.initial();
    for (time, letter) in trace {
        machine.step(&mut state, Letter(*letter), *time).unwrap();
    }
    (machine, state)
}

#[test]
fn a_deadline_decides_without_a_step() {
    let formula = Formula::Proposition(0).eventually_within(within(0, 5));
    let (machine, mut state) = run(&formula, &[(100, 0)]);
    assert_eq!(machine.verdict(&state), Verdict::PresumablyViolated);
    assert_eq!(machine.next_deadline(&state), Some(106));
    machine.advance(&mut state, 105);
    assert_eq!(machine.verdict(&state), Verdict::PresumablyViolated);
    machine.advance(&mut state, 106);
    assert_eq!(machine.verdict(&state), Verdict::Violated);
    assert_eq!(machine.next_deadline(&state), None);

    let formula = Formula::Proposition(0).always_within(within(0, 5));
    let (machine, mut state) = run(&formula, &[(100, 1)]);
    assert_eq!(machine.next_deadline(&state), Some(106));
    machine.advance(&mut state, 200);
    assert_eq!(machine.verdict(&state), Verdict::Satisfied);
}

#[test]
fn both_ends_belong_to_a_bound() {
    let check = |bound: Bound, time: u64, expected: Verdict| {
        let formula = Formula::Proposition(0).eventually_within(bound);
        let (machine, state) = run(&formula, &[(10, 0), (time, 1)]);
        assert_eq!(machine.verdict(&state), expected, "{bound:?} at {time}");
    };
    check(within(0, 5), 15, Verdict::Satisfied);
    check(within(0, 5), 16, Verdict::Violated);
    check(within(3, 5), 13, Verdict::Satisfied);
    check(within(3, 5), 12, Verdict::PresumablyViolated);
    // The same instant, in a later step.
    check(within(0, 0), 10, Verdict::Satisfied);
    check(within(0, 0), 11, Verdict::Violated);
}

/// However many requests wait, the state does not grow where the bound begins
/// at once.
#[test]
fn obligations_that_follow_from_others_are_dropped() {
    let answered = Formula::Proposition(1).eventually_within(within(0, 1_000_000));
    let formula = Formula::Proposition(0).implies(answered).always();
    let (_, few) = run(&formula, &[(0, 1), (1, 1)]);
    let trace: Vec<(u64, u64)> = (0..1_000).map(|step| (step, 1)).collect();
    let (_, many) = run(&formula, &trace);
    let size = |state: &TimedState| serde_json::to_string(state).unwrap().len();
    assert!(size(&many) <= size(&few) + 20);
}

#[test]
fn states_are_values() {
    let formula = Formula::Since(
        Formula::Proposition(0).into(),
        Formula::Proposition(1).into(),
        within(2, 9),
    )
    .always();
    let (machine, state) = run(&formula, &[(0, 2), (3, 1), (3, 3)]);
    let text = serde_json::to_string(&state).unwrap();
    let mut read: TimedState = serde_json::from_str(&text).unwrap();
    assert_eq!(read, state);
    let again = TimedMachine::of_formula(&formula).unwrap();
    let mut original = state;
    machine.step(&mut original, Letter(1), 8).unwrap();
    again.step(&mut read, Letter(1), 8).unwrap();
    assert_eq!(read, original);
}

/// How long ago the window of an obligation began makes no difference to what may come.
#[test]
fn obligations_with_open_windows_are_the_same() {
    let within = |from| Bound::Time { from, to: Some(9) };
    let states = [2, 4].map(|from| {
        let formula = Formula::proposition(0).eventually_within(within(from));
        let machine = TimedMachine::of_formula(&formula).expect("a machine");
        let mut state = machine.initial();
        machine.step(&mut state, Letter(0), 0).expect("a step");
        let early = state.clone();
        machine.advance(&mut state, 5);
        (early, state)
    });
    let [(early, open), (other_early, other_open)] = states;
    assert_ne!(early, other_early);
    assert_eq!(open, other_open);
}

#[test]
fn a_machine_without_time_refuses_bounds_in_time() {
    let [p, q] = [0, 1].map(Formula::proposition);
    let soon = within(0, 5);
    for formula in [
        p.clone().eventually_within(soon),
        p.clone().always_within(soon),
        Formula::Since(p.clone().into(), q.clone().into(), soon),
        Formula::Trigger(p.clone().into(), q.clone().into(), soon),
    ] {
        assert_eq!(Machine::of_formula(&formula).err(), Some(LogicError::Timed));
        let within = formula.clone().and(q.clone()).next();
        assert_eq!(Machine::of_formula(&within).err(), Some(LogicError::Timed));
        assert!(TimedMachine::of_formula(&formula).is_ok());
    }
    // A bound that excludes nothing is none.
    let any = p.eventually_within(Bound::Time { from: 0, to: None });
    assert!(Machine::of_formula(&any).is_ok());
}

#[test]
fn a_past_operator_of_the_future_has_no_timed_machine() {
    let p = Formula::proposition(0);
    let refused = Some(LogicError::PastOfFuture);
    for (part, expected) in [
        (p.clone().eventually(), refused),
        (p.clone().next(), refused),
        (p.clone().eventually_within(within(0, 5)), refused),
        // These are constants.
        (Formula::True.eventually(), None),
        (Formula::False.next(), None),
        (p, None),
    ] {
        for formula in [part.clone().once(), part.yesterday()] {
            let found = TimedMachine::of_formula(&formula).err();
            assert_eq!(found, expected, "{formula:?}");
        }
    }
}

#[test]
fn the_width_of_a_formula_is_how_late_its_deadlines_are() {
    let [p, q] = [0, 1].map(Formula::proposition);
    let (near, far) = (within(2, 5), within(0, 9));
    let open = Bound::Time { from: 3, to: None };
    let steps = Bound::Steps {
        from: 0,
        to: Some(7),
    };
    let soon = |bound| p.clone().eventually_within(bound);
    let stays = |bound| q.clone().always_within(bound);
    for (formula, expected) in [
        (soon(Bound::Unbounded), &[][..]),
        (soon(near), &[5]),
        (stays(near), &[5]),
        (stays(far).or(stays(near)).and(soon(far)), &[5, 9]),
        (soon(open), &[]),
        (soon(steps), &[]),
        // The past sets no deadline.
        (
            Formula::Since(p.clone().into(), q.clone().into(), near),
            &[],
        ),
    ] {
        let machine = TimedMachine::of_formula(&formula).unwrap();
        assert_eq!(machine.widths(), expected, "{formula:?}");
    }
}

#[test]
fn the_obligations_of_a_state_have_the_time_that_is_left() {
    let formula = Formula::Proposition(0).eventually_within(within(3_000, 5_000));
    let (machine, mut state) = run(&formula, &[(100, 0)]);
    let describe = |state: &TimedState| machine.explain(state).describe(&|_| "p".to_owned());
    let said = describe(&state);
    assert_eq!(said, "waits for `eventually from 3 us to 5 us p`");
    machine.advance(&mut state, 1_100);
    let said = describe(&state);
    assert_eq!(said, "waits for `eventually from 2 us to 4 us p`");
    machine.advance(&mut state, 4_100);
    assert_eq!(describe(&state), "waits for `eventually within 1 us p`");
    // Time does not go back.
    let before = state.clone();
    machine.advance(&mut state, 4_000);
    assert_eq!(state, before);
    machine.advance(&mut state, 5_101);
    assert_eq!(machine.verdict(&state), Verdict::Violated);
    assert_eq!(describe(&state), "");
}
