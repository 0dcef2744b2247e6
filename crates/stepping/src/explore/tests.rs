//! What is explored, and what must be found.

use super::chart::chart;
use super::machine::{Budget, Layout, Program, Way};
use super::{Explored, explore};
use crate::engine::Rule;

const NOTHING: Budget = Budget {
    halts: 0,
    steps: 0,
    faults: 0,
    signals: 0,
    ends: 0,
    toggles: 0,
    inserts: 0,
};

const QUIET: Program = Program {
    layout: Layout::Apart,
    way: Way::InPlace,
    budget: NOTHING,
    threads: 2,
    later: 0,
    without: None,
};

/// Every layout of the sites with every way past them that it allows.
fn programs() -> impl Iterator<Item = Program> {
    let layouts = [Layout::Apart, Layout::Adjacent, Layout::Itself];
    let ways = [Way::Skip, Way::Call, Way::Copy, Way::InPlace];
    layouts
        .into_iter()
        .flat_map(move |layout| {
            ways.map(|way| Program {
                layout,
                way,
                ..QUIET
            })
        })
        .filter(|program| {
            program.layout != Layout::Itself || matches!(program.way, Way::Copy | Way::InPlace)
        })
}

/// Explores all programs with these disturbances.
#[track_caller]
fn check(budget: Budget) -> Explored {
    check_all(programs().map(|program| Program { budget, ..program }))
}

#[track_caller]
fn check_all(programs: impl Iterator<Item = Program>) -> Explored {
    let mut sum = Explored::default();
    for program in programs {
        match explore(&program) {
            Ok(explored) => {
                println!("{program:?}: {explored:?}");
                sum.states += explored.states;
                sum.transitions += explored.transitions;
            }
            Err(counterexample) => panic!("{program:?}\n{}", chart(&program, &counterexample)),
        }
    }
    sum
}

#[test]
fn undisturbed() {
    check(NOTHING);
}

#[test]
fn halts() {
    check(Budget {
        halts: 1,
        ..NOTHING
    });
}

#[test]
fn steps() {
    check(Budget {
        steps: 2,
        ..NOTHING
    });
}

#[test]
fn faults() {
    check(Budget {
        faults: 1,
        ..NOTHING
    });
}

#[test]
fn signals() {
    check(Budget {
        signals: 1,
        ..NOTHING
    });
}

#[test]
fn ends() {
    check(Budget { ends: 1, ..NOTHING });
}

#[test]
fn starts() {
    check_all(programs().map(|program| Program {
        threads: 1,
        later: 1,
        ..program
    }));
}

#[test]
fn toggles() {
    check(Budget {
        toggles: 2,
        ..NOTHING
    });
}

#[test]
fn inserts() {
    check(Budget {
        inserts: 1,
        ..NOTHING
    });
}

/// The shortest counterexample to the algorithm without a rule.
#[track_caller]
fn find_without(rule: Rule, budget: Budget) -> String {
    let program = Program {
        without: Some(rule),
        budget,
        ..QUIET
    };
    match explore(&program) {
        Ok(explored) => panic!("nothing wrong without {rule:?}: {explored:?}"),
        Err(counterexample) => chart(&program, &counterexample),
    }
}

#[test]
fn without_holding_first() {
    println!("{}", find_without(Rule::HoldBeforeLift, NOTHING));
}
#[test]
fn without_planting_first() {
    println!("{}", find_without(Rule::PlantBeforeRelease, NOTHING));
}
#[test]
fn without_putting_back() {
    println!("{}", find_without(Rule::PutBackLateTrap, NOTHING));
}
#[test]
fn without_remembering() {
    println!(
        "{}",
        find_without(
            Rule::RememberArrival,
            Budget {
                faults: 1,
                ..NOTHING
            }
        )
    );
}
