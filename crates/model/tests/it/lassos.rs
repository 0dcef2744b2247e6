//! Formulas have one meaning for monitors and for the checker: over random runs that go
//! round, the checker has the verdict of the definition, and a monitor's verdict is final
//! exactly where the checker's automaton knows of no other continuation.

use juror_event::Verdict as Final;
use juror_logic::{Buchi, Formula, Letter, Machine};
use juror_model::{
    Automaton, Change, Fault, Options, Participants, Step, System, Verdict, Visitor, accepting_run,
};
use juror_testing::Numbers;
use juror_testing::formulas::Lasso as Run;
use juror_testing::formulas::{Kind, random_formula};
use std::collections::BTreeSet;

/// A run: letters, and then others again and again.
struct Lasso {
    letters: Vec<Letter>,
    cycle: usize,
}

impl System for Lasso {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial(&self, (): &mut (), visitor: &mut impl Visitor) {
        visitor.next(&[0], Participants::one(0));
    }

    fn successors(&self, (): &mut (), state: &[u8], visitor: &mut impl Visitor) {
        let next = state[0] as usize + 1;
        let next = if next == self.letters.len() {
            self.cycle
        } else {
            next
        };
        visitor.next(&[next as u8], Participants::one(0));
    }

    fn may_end(&self, (): &mut (), _state: &[u8]) -> bool {
        false
    }

    fn letter(&self, (): &mut (), state: &[u8]) -> Result<Letter, Fault> {
        Ok(self.letters[state[0] as usize])
    }

    fn steps(&self, _state: &[u8], _number: usize) -> Vec<Step> {
        Vec::new()
    }

    fn actors(&self, _state: &[u8]) -> Vec<String> {
        vec!["run".to_owned()]
    }

    fn values(&self, _state: &[u8]) -> Vec<Change> {
        Vec::new()
    }
}

/// The nodes in which an automaton may be after some letters.
fn nodes_after(automaton: &Automaton, letters: &[Letter]) -> BTreeSet<u32> {
    let first = (!automaton.nodes.is_empty()).then_some(0);
    letters
        .iter()
        .fold(first.into_iter().collect(), |nodes, letter| {
            let nodes: BTreeSet<u32> = nodes;
            let next = nodes.iter().flat_map(|node| automaton.open(*node, *letter));
            next.map(|edge| edge.to).collect()
        })
}

/// How many verdicts of the monitor were final.
fn check(formula: &Formula, lasso: &Lasso) -> usize {
    let violating = Automaton::violating(formula).unwrap();
    let options = Options::default();
    let report = accepting_run(lasso, &violating, false, "it", &options, &mut |_, _| true);
    let (prefix, cycle) = lasso.letters.split_at(lasso.cycle);
    let run = Run {
        stem: prefix.to_vec(),
        cycle: cycle.to_vec(),
    };
    let defined = run.holds(formula);
    assert_eq!(report.verdict() == Verdict::Holds, defined, "{formula:?}");

    // The automaton is that of the formula's negation, and no other one.
    let negation = formula.clone().negation();
    let buchi = Buchi::of_formula(&negation).unwrap();
    assert_eq!(violating.nodes.len(), buchi.nodes.len());
    let fulfilling = Automaton::violating(&negation).unwrap();
    let mut machine = Machine::of_formula(formula).unwrap();
    let mut state = machine.initial();
    let mut finals = 0;
    for end in 0..=lasso.letters.len() {
        let seen = &lasso.letters[..end];
        if let Some(letter) = seen.last() {
            state = machine.step(state, *letter).unwrap();
        }
        let verdict = machine.verdict(state);
        // From each node of an automaton an accepting run goes out.
        let can_be_violated = !nodes_after(&violating, seen).is_empty();
        let can_hold = !nodes_after(&fulfilling, seen).is_empty();
        assert_eq!(
            verdict == Final::Satisfied,
            !can_be_violated,
            "{formula:?} {seen:?}"
        );
        assert_eq!(
            verdict == Final::Violated,
            !can_hold,
            "{formula:?} {seen:?}"
        );
        match verdict {
            Final::Satisfied => assert!(defined, "{formula:?}"),
            Final::Violated => assert!(!defined, "{formula:?}"),
            _ => continue,
        }
        finals += 1;
    }
    finals
}

#[test]
fn monitors_and_the_checker_agree() {
    let mut numbers = Numbers(0xfeed);
    let mut finals = 0;
    for round in 0..3000 {
        let kind = if round % 2 == 0 {
            Kind::Future
        } else {
            Kind::Steps
        };
        let size = 1 + numbers.below(8);
        let formula = random_formula(&mut numbers, size, 3, kind);
        let length = 1 + numbers.below(7);
        let letters = numbers.letters(length, 3);
        let cycle = numbers.below(length) as usize;
        finals += check(&formula, &Lasso { letters, cycle });
    }
    assert!(finals > 1000, "{finals}");
}
