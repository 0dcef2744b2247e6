//! Past operators against their definitions, one by one: what each says at each
//! step of every trace, as the verdict of "now it holds".

use juror_event::Verdict;
use juror_logic::{Bound, Formula, Letter, Machine, TimedMachine};
use juror_testing::Numbers;
use std::sync::Arc;

const P: u8 = 0;
const Q: u8 = 1;

/// What says what a formula says at the last step of a trace.
struct Now {
    machine: Machine,
    timed: TimedMachine,
}

impl Now {
    /// "At some step that is the last one, the formula holds" is true exactly
    /// then if the run ended now.
    fn new(formula: &Formula) -> Now {
        let whole = at_last_step(formula);
        // A run that goes on has no last step; this keeps it undecided.
        let never = Formula::Proposition(63);
        let open = never.clone().and(never.always().eventually().next());
        Now {
            machine: Machine::of_formula(&whole.or(open.eventually())).unwrap(),
            timed: timed(formula),
        }
    }

    fn in_steps(&mut self, letters: &[Letter]) -> bool {
        let mut state = self.machine.initial();
        for letter in letters {
            state = self.machine.step(state, *letter).unwrap();
        }
        assert!(!self.machine.is_decided(state));
        self.machine.verdict(state) == Verdict::PresumablySatisfied
    }
}

fn at_last_step(formula: &Formula) -> Formula {
    let last = Formula::WeakNext(Arc::new(Formula::False));
    last.and(formula.clone()).eventually()
}

fn timed(formula: &Formula) -> TimedMachine {
    TimedMachine::of_formula(&at_last_step(formula)).unwrap()
}

fn in_time(machine: &TimedMachine, letters: &[Letter], times: &[u64]) -> bool {
    let mut state = machine.initial();
    for (letter, time) in letters.iter().zip(times) {
        machine.step(&mut state, *letter, *time).unwrap();
    }
    machine.verdict(&state).at_end() == Verdict::Satisfied
}

fn check(formula: &Formula, defined: impl Fn(&[Letter]) -> bool) {
    let mut numbers = Numbers(0x9a5);
    let mut says = Now::new(formula);
    let mut held = 0;
    for _ in 0..300 {
        let length = 1 + numbers.below(9);
        let letters = numbers.letters(length, 2);
        let expected = defined(&letters);
        let found = says.in_steps(&letters);
        assert_eq!(found, expected, "{formula:?} {letters:?}");
        let times: Vec<u64> = (0..length).collect();
        let found = in_time(&says.timed, &letters, &times);
        assert_eq!(found, expected, "{formula:?} {letters:?}, told times");
        held += u32::from(expected);
    }
    assert!((1..300).contains(&held), "{formula:?}: {held}");
}

fn p() -> Formula {
    Formula::Proposition(P)
}

fn q() -> Formula {
    Formula::Proposition(Q)
}

fn steps(from: u32, to: Option<u32>) -> Bound {
    Bound::Steps { from, to }
}

/// The same number of nanoseconds: the traces have a step in each.
fn time(bound: Bound) -> Option<Bound> {
    match bound {
        Bound::Steps { from, to } => Some(Bound::Time {
            from: u64::from(from),
            to: to.map(u64::from),
        }),
        _ => None,
    }
}

fn bounds() -> [Bound; 10] {
    [
        Bound::Unbounded,
        steps(0, Some(0)),
        steps(0, Some(1)),
        steps(0, Some(3)),
        steps(1, Some(1)),
        steps(1, Some(3)),
        steps(2, Some(3)),
        steps(3, Some(7)),
        steps(2, None),
        steps(4, Some(4)),
    ]
}

/// The distances from the last step that a bound allows in a trace.
fn distances(bound: Bound, length: usize) -> impl Iterator<Item = usize> {
    (0..length).filter(move |distance| match bound {
        Bound::Steps { from, to } => {
            *distance >= from as usize && to.is_none_or(|to| *distance <= to as usize)
        }
        _ => true,
    })
}

#[test]
fn yesterday() {
    check(&p().yesterday(), |trace| {
        trace.len() > 1 && trace[trace.len() - 2].has(P)
    });
    check(&Formula::WeakYesterday(Arc::new(p())), |trace| {
        trace.len() == 1 || trace[trace.len() - 2].has(P)
    });
    check(&p().yesterday().yesterday(), |trace| {
        trace.len() > 2 && trace[trace.len() - 3].has(P)
    });
}

#[test]
fn once() {
    for bound in bounds() {
        let formula = Formula::Since(Formula::True.into(), p().into(), bound);
        check(&formula, |trace| {
            let last = trace.len() - 1;
            distances(bound, trace.len()).any(|distance| trace[last - distance].has(P))
        });
    }
}

#[test]
fn historically() {
    for bound in bounds() {
        let formula = Formula::Trigger(Formula::False.into(), p().into(), bound);
        check(&formula, |trace| {
            let last = trace.len() - 1;
            distances(bound, trace.len()).all(|distance| trace[last - distance].has(P))
        });
    }
}

#[test]
fn since() {
    for bound in bounds() {
        let formula = Formula::Since(p().into(), q().into(), bound);
        check(&formula, |trace| {
            let last = trace.len() - 1;
            distances(bound, trace.len()).any(|distance| {
                let start = last - distance;
                trace[start].has(Q) && trace[start + 1..].iter().all(|letter| letter.has(P))
            })
        });
    }
}

#[test]
fn trigger() {
    for bound in bounds() {
        let formula = Formula::Trigger(p().into(), q().into(), bound);
        check(&formula, |trace| {
            let last = trace.len() - 1;
            distances(bound, trace.len()).all(|distance| {
                let start = last - distance;
                trace[start].has(Q) || trace[start + 1..].iter().any(|letter| letter.has(P))
            })
        });
    }
}

/// A step in each nanosecond: bounds in time say what bounds in steps say.
#[test]
fn bounds_in_time() {
    let mut numbers = Numbers(0x71e5);
    for bound in bounds() {
        let Some(in_time_bound) = time(bound) else {
            continue;
        };
        for with in [
            |a, b, c| Formula::Since(a, b, c),
            |a, b, c| Formula::Trigger(a, b, c),
        ] {
            let mut says_in_steps = Now::new(&with(p().into(), q().into(), bound));
            let says_in_time = timed(&with(p().into(), q().into(), in_time_bound));
            for _ in 0..50 {
                let length = 1 + numbers.below(12);
                let letters = numbers.letters(length, 2);
                let times: Vec<u64> = (100..100 + length).collect();
                let found = in_time(&says_in_time, &letters, &times);
                assert_eq!(
                    found,
                    says_in_steps.in_steps(&letters),
                    "{bound:?} {letters:?}"
                );
            }
        }
    }
}

/// A thousand formulas that were true at once do not make the memory grow.
#[test]
fn memory_is_bounded() {
    let bound = Bound::Time {
        from: 500,
        to: Some(1_000),
    };
    let formula = Formula::Since(Formula::True.into(), p().into(), bound).always();
    let machine = TimedMachine::of_formula(&formula.eventually()).unwrap();
    let mut state = machine.initial();
    for time in 0..5_000 {
        machine.step(&mut state, Letter(1), time).unwrap();
    }
    assert!(serde_json::to_string(&state).unwrap().len() < 400);
}
