//! Arbitrary formulas and regular expressions, and letters for them.
//!
//! A tree is read from the front of the bytes, one operator per byte; the rest are the
//! letters.

use juror_event::Verdict;
use juror_logic::{Bound, Formula, Guard, Letter, Machine, Meaning, Regex, TimedMachine};
use std::sync::Arc;

/// The maximum number of states.
const STATES_MAX: usize = 300;
const LETTERS_MAX: usize = 24;
/// The maximum size of a tree.
const SIZE_MAX: u32 = 10;

/// Runs the target with an input.
pub fn fuzz(bytes: &[u8]) {
    let mut input = Input { bytes, size: 0 };
    match input.byte() {
        Some(kind) if kind.is_multiple_of(3) => {
            let regex = input.regex();
            for meaning in [Meaning::MatchRequired, Meaning::MatchViolates] {
                if let Ok(machine) = Machine::of_expression(&regex, meaning) {
                    run(machine, input.bytes);
                }
            }
            let _ = regex.display(&name).to_string();
        }
        Some(_) => {
            let formula = input.formula();
            formulas(&formula, input.bytes);
        }
        None => {}
    }
}

fn name(bit: u8) -> String {
    format!("p{bit}")
}

fn formulas(formula: &Formula, letters: &[u8]) {
    let _ = formula.display(&name).to_string();
    let _ = formula.step_operators();
    if let Ok(machine) = TimedMachine::of_formula(formula) {
        timed(&machine, formula, letters);
    }
    let Ok(machine) = Machine::of_formula(formula) else {
        return;
    };
    let Ok(mirror) = Machine::of_formula(&formula.clone().negation()) else {
        return;
    };
    let (one, other) = (run(machine, letters), run(mirror, letters));
    for (one, other) in one.into_iter().zip(other) {
        assert_eq!(one as u8, 3 - other as u8, "{formula:?}");
    }
}

/// Checks that a machine and its table agree; returns their verdicts.
fn run(machine: Machine, letters: &[u8]) -> Vec<Verdict> {
    let mut machine = machine.with_states_max(STATES_MAX);
    let table = machine.clone().to_table(STATES_MAX).ok();
    let (mut state, mut place) = (machine.initial(), machine.initial());
    let mut verdicts = vec![machine.verdict(state)];
    for byte in letters.iter().take(LETTERS_MAX) {
        let Ok(next) = machine.step(state, letter(*byte)) else {
            break;
        };
        assert!(!machine.is_decided(state) || machine.verdict(next) == machine.verdict(state));
        state = next;
        verdicts.push(machine.verdict(state));
        if let Some(table) = &table {
            place = table.step(place, letter(*byte));
            assert_eq!(table.verdict(place), machine.verdict(state));
        }
    }
    let _ = machine.explain(state).describe(&name);
    verdicts
}

/// Checks that a machine with times decides no earlier than one without, and agrees with it
/// until then.
fn timed(machine: &TimedMachine, formula: &Formula, letters: &[u8]) {
    let mut without = Machine::of_formula(formula).ok();
    let (mut state, mut place) = (machine.initial(), Default::default());
    for byte in letters.iter().take(LETTERS_MAX) {
        let time = u64::from(byte >> 4);
        if let Some(deadline) = machine.next_deadline(&state) {
            machine.advance(&mut state, deadline);
        }
        if machine.step(&mut state, letter(*byte), time).is_err() {
            return;
        }
        let Some(other) = &mut without else { continue };
        let Ok(next) = other.step(place, letter(*byte)) else {
            return;
        };
        place = next;
        match (machine.is_decided(&state), other.is_decided(place)) {
            (false, true) => {}
            (false, false) | (true, true) => {
                assert_eq!(machine.verdict(&state), other.verdict(place), "{formula:?}");
            }
            (true, false) => panic!("decided too early: {formula:?}"),
        }
    }
    let _ = machine.explain(&state).describe(&name);
}

/// Returns a letter: three adjacent propositions, and one far away.
fn letter(byte: u8) -> Letter {
    Letter(u64::from(byte & 7) | u64::from(byte >> 3 & 1) << 63)
}

struct Input<'a> {
    bytes: &'a [u8],
    size: u32,
}

impl Input<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    /// Returns the next operator; 0 if the tree is large enough.
    fn operator(&mut self) -> u8 {
        self.size += 1;
        if self.size > SIZE_MAX {
            0
        } else {
            self.byte().unwrap_or(0)
        }
    }

    fn proposition(&mut self) -> u8 {
        [0, 1, 2, 63][usize::from(self.byte().unwrap_or(0) % 4)]
    }

    fn bound(&mut self) -> Bound {
        let byte = self.byte().unwrap_or(0);
        let (from, length) = (byte >> 2 & 3, byte >> 4 & 7);
        let to = (byte < 0x80).then(|| from + length);
        match byte & 3 {
            0 | 1 => Bound::Unbounded,
            2 => Bound::Steps {
                from: u32::from(from),
                to: to.map(u32::from),
            },
            _ => Bound::Time {
                from: u64::from(from),
                to: to.map(u64::from),
            },
        }
    }

    fn formula(&mut self) -> Formula {
        let operator = self.operator() % 16;
        let mut part = || Arc::new(self.formula());
        match operator {
            1 => Formula::True,
            2 => Formula::False,
            3 => Formula::Not(part()),
            4 => Formula::Next(part()),
            5 => Formula::WeakNext(part()),
            6 => Formula::Yesterday(part()),
            7 => Formula::WeakYesterday(part()),
            8 => Formula::And(part(), part()),
            9 => Formula::Or(part(), part()),
            10 => Formula::Until(part(), part(), self.bound()),
            11 => Formula::Release(part(), part(), self.bound()),
            12 => Formula::Since(part(), part(), self.bound()),
            13 => Formula::Trigger(part(), part(), self.bound()),
            14 => Formula::Until(Arc::new(Formula::True), part(), self.bound()),
            15 => Formula::Release(Arc::new(Formula::False), part(), self.bound()),
            _ => Formula::Proposition(self.proposition()),
        }
    }

    fn regex(&mut self) -> Regex {
        match self.operator() % 9 {
            1 => Regex::Nothing,
            2 => Regex::Empty,
            3 => self.regex().then(self.regex()),
            4 => self.regex().or(self.regex()),
            5 => self.regex().and(self.regex()),
            6 => self.regex().complement(),
            7 => self.regex().star(),
            8 => {
                let byte = self.byte().unwrap_or(0);
                let (from, length) = (u32::from(byte & 3), u32::from(byte >> 2 & 7));
                let to = (byte < 0x80).then(|| from + length);
                self.regex().repeat(from, to)
            }
            _ => Regex::Letter(Guard {
                required: 1 << self.proposition(),
                forbidden: u64::from(self.byte().unwrap_or(0) & 7),
            }),
        }
    }
}
