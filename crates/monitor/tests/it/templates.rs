//! Formulas with parameters against their definition: for every tuple of
//! values that fulfils the constraint, the ground formula evaluated on the
//! whole run.

use crate::common::{compare, differ, effect, property};
use juror_event::{EventId, Value, Verdict};
use juror_language::{
    Behaviour, BinaryOperator, Demand, Effect, EffectAction, Environment, Property, TermKind, truth,
};
use juror_logic::{Formula, Guard, Letter, Machine, MachineState, Meaning, Regex};
use juror_monitor::{Monitor, Occurrence, SliceView};
use proptest::prelude::*;
use std::sync::Arc;

/// Values of events are below this; the rest of a domain was never seen.
const SEEN: i64 = 3;

/// The formula of one tuple, as simply as can be.
struct Ground {
    tuple: Vec<i64>,
    machine: Machine,
    state: MachineState,
    valuation: u64,
}

struct Captures(Vec<Value>);

impl Environment for Captures {
    fn variable(&self, _: u16) -> Option<&Value> {
        None
    }
    fn capture(&self, slot: u8) -> Option<&Value> {
        self.0.get(usize::from(slot))
    }
}

fn logic_of(property: &Property) -> &juror_language::Logic {
    match &property.behaviour {
        Behaviour::Logic(logic) => logic,
        Behaviour::Automaton { .. } => panic!("not a formula"),
    }
}

impl Ground {
    fn new(property: &Property, tuple: Vec<i64>) -> Ground {
        let machine = match &logic_of(property).demand {
            Demand::Formula(formula) => Machine::of_formula(formula),
            Demand::Expression {
                expression,
                meaning,
            } => Machine::of_expression(expression, *meaning),
        };
        let machine = machine.unwrap();
        Ground {
            state: machine.initial(),
            machine,
            tuple,
            valuation: 0,
        }
    }

    fn take(&mut self, property: &Property, event: u16, of: &[i64]) {
        let captures = Captures(of.iter().map(|&n| Value::Int(n.into())).collect());
        let concerns = |effect: &&Effect| {
            let mut parameters = effect.binding.iter().zip(&self.tuple);
            effect.event == EventId(event)
                && parameters.all(|(slot, value)| {
                    slot.is_none_or(|slot| of.get(usize::from(slot)) == Some(value))
                })
                && effect
                    .guard
                    .as_ref()
                    .is_none_or(|g| truth(g, &captures).unwrap())
        };
        let effects: Vec<&Effect> = logic_of(property).effects.iter().filter(concerns).collect();
        if effects.is_empty() {
            return;
        }
        let mut pulses = 0;
        for effect in effects {
            let bit = 1 << effect.proposition;
            match effect.action {
                EffectAction::Set => self.valuation |= bit,
                EffectAction::Clear => self.valuation &= !bit,
                EffectAction::Pulse => pulses |= bit,
                EffectAction::Step => {}
            }
        }
        let letter = Letter(self.valuation | pulses);
        self.state = self.machine.step(self.state, letter).unwrap();
    }

    fn verdict(&self) -> Verdict {
        self.machine.verdict(self.state)
    }
}

/// All tuples over these domains that fulfil the constraint.
fn tuples(property: &Property, domain: impl Fn(usize) -> Vec<i64>) -> Vec<Vec<i64>> {
    struct Parameters(Vec<Value>);
    impl Environment for Parameters {
        fn variable(&self, slot: u16) -> Option<&Value> {
            self.0.get(usize::from(slot))
        }
        fn capture(&self, _: u8) -> Option<&Value> {
            None
        }
    }
    let mut all: Vec<Vec<i64>> = vec![Vec::new()];
    for parameter in 0..property.slice.len() {
        let longer = all.iter().flat_map(|tuple| {
            domain(parameter).into_iter().map(move |value| {
                let mut tuple = tuple.clone();
                tuple.push(value);
                tuple
            })
        });
        all = longer.collect();
    }
    all.retain(|tuple| {
        let values = tuple.iter().map(|&n| Value::Int(n.into())).collect();
        let constraint = property.constraint.as_ref();
        constraint.is_none_or(|term| truth(term, &Parameters(values)).unwrap())
    });
    all
}

/// The slice that knows most of a tuple.
fn nearest<'a, 'b>(slices: &'b [SliceView<'a>], tuple: &[i64]) -> &'b SliceView<'a> {
    let inside = |slice: &&SliceView<'_>| {
        let mut both = slice.binding.iter().zip(tuple);
        both.all(|(bound, value)| {
            let bound = bound.as_ref().and_then(Value::as_integer);
            bound.is_none_or(|bound| bound == i128::from(*value))
        })
    };
    let bound = |slice: &SliceView<'_>| slice.binding.iter().flatten().count();
    let found: Vec<_> = slices.iter().filter(inside).collect();
    let best = *found.iter().max_by_key(|slice| bound(slice)).unwrap();
    for other in found {
        let mut both = other.binding.iter().zip(&best.binding);
        let is_below = both.all(|(other, best)| other.is_none() || other == best);
        assert!(
            is_below,
            "{:?} and {:?} for {tuple:?}",
            other.binding, best.binding
        );
    }
    best
}

fn step(monitor: &mut Monitor, event: u16, of: &[i64]) {
    let values: Vec<Value> = of.iter().map(|&n| Value::Int(n.into())).collect();
    let occurrence = Occurrence {
        thread: 1,
        address: 0,
        time: 0,
        values: &values,
    };
    monitor.step(EventId(event), &occurrence).unwrap();
}

/// Event, captures that bind the parameters, proposition, action, and whether
/// it has a guard.
type EffectRow = (u16, [Option<u8>; 3], u8, u8, bool);

#[derive(Debug, Clone)]
struct Case {
    parameters: usize,
    differ: bool,
    effects: Vec<EffectRow>,
    demand: Demand,
    trace: Vec<(u16, [i64; 2])>,
}

impl Case {
    fn property(&self) -> Property {
        let names = ["a", "b", "c"];
        let effects = self
            .effects
            .iter()
            .map(|(event, binding, bit, action, guarded)| {
                let action = match action {
                    0 => EffectAction::Set,
                    1 => EffectAction::Clear,
                    _ => EffectAction::Pulse,
                };
                let guard = guarded.then(|| {
                    let one = TermKind::Constant(Value::Int(1));
                    compare(TermKind::Capture(0), BinaryOperator::Less, one)
                });
                effect((*event, &binding[..self.parameters], *bit, action), guard)
            });
        let pairs: &[(u16, u16)] = if self.differ && self.parameters > 1 {
            &[(0, 1)]
        } else {
            &[]
        };
        property(
            &names[..self.parameters],
            &["x, y", "x, y", "x, y"],
            differ(pairs),
            effects.collect(),
            self.demand.clone(),
        )
    }
}

fn formula() -> impl Strategy<Value = Formula> {
    let leaf = (0..3_u8).prop_map(Formula::proposition);
    leaf.prop_recursive(4, 10, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(Formula::negation),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a.and(b)),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a.or(b)),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a.until(b)),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a.since(b)),
            inner.clone().prop_map(Formula::eventually),
            inner.clone().prop_map(Formula::always),
            inner.clone().prop_map(Formula::next),
            inner.clone().prop_map(Formula::once),
            inner.prop_map(Formula::yesterday),
        ]
    })
}

fn expression() -> impl Strategy<Value = Regex> {
    let leaf = (0..8_u64, 0..8_u64).prop_map(|(required, forbidden)| {
        let forbidden = forbidden & !required;
        Regex::Letter(Guard {
            required,
            forbidden,
        })
    });
    leaf.prop_recursive(3, 6, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a.then(b)),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a.or(b)),
            inner.prop_map(Regex::star),
        ]
    })
}

fn demand() -> impl Strategy<Value = Demand> {
    prop_oneof![
        4 => formula().prop_map(Demand::Formula),
        1 => (expression(), any::<bool>()).prop_map(|(expression, required)| {
            let meaning = match required {
                true => Meaning::MatchRequired,
                false => Meaning::MatchViolates,
            };
            Demand::Expression { expression, meaning }
        }),
    ]
}

fn case() -> impl Strategy<Value = Case> {
    let slot = || prop_oneof![2 => Just(None), 1 => Just(Some(0_u8)), 2 => Just(Some(1))];
    let effect = (
        0..3_u16,
        [slot(), slot(), slot()],
        0..3_u8,
        0..3_u8,
        prop::bool::weighted(0.2),
    );
    (
        0..4_usize,
        any::<bool>(),
        prop::collection::vec(effect, 1..6),
        demand(),
        prop::collection::vec((0..3_u16, [0..SEEN, 0..SEEN]), 0..12),
    )
        .prop_map(|(parameters, differ, effects, demand, trace)| Case {
            parameters,
            differ,
            effects,
            demand,
            trace,
        })
}

fn check_case(case: &Case) {
    let property = Arc::new(case.property());
    let mut monitor = Monitor::new(Arc::clone(&property)).unwrap();
    // Values that no event has: what is still to be bound.
    let domain = |parameter: usize| (0..SEEN).chain([SEEN + parameter as i64]).collect();
    let mut grounds: Vec<Ground> = tuples(&property, domain)
        .into_iter()
        .map(|tuple| Ground::new(&property, tuple))
        .collect();
    for (event, of) in &case.trace {
        step(&mut monitor, *event, of);
        let slices: Vec<_> = monitor.slices().collect();
        let mut worst = Verdict::Satisfied;
        for ground in &mut grounds {
            ground.take(&property, *event, of);
            let found = nearest(&slices, &ground.tuple);
            let verdict = ground.verdict();
            assert_eq!(found.verdict, verdict, "{:?} after {of:?}", ground.tuple);
            worst = worst.max(verdict);
        }
        assert_eq!(monitor.verdict(), worst);
        if case.parameters == 1 {
            // Nothing is kept that is as the base is.
            let base = slices[0].state;
            assert!(slices[1..].iter().all(|slice| slice.state != base));
        }
    }
}

proptest! {
    #![proptest_config(juror_testing::with_cases(2_000))]

    #[test]
    fn formulas_are_what_every_tuple_says(case in case()) {
        check_case(&case);
    }
}

/// `eventually nested(t, a, b) implies always not nested(u, b, a)`.
fn lock_order() -> Property {
    use EffectAction::{Clear, Set};
    let (t, u, a, b) = (0, 1, 2, 3);
    let mut effects = Vec::new();
    // holds(t, a), holds(t, b), holds(u, a), holds(u, b)
    for (bit, (thread, lock)) in [(t, a), (t, b), (u, a), (u, b)].into_iter().enumerate() {
        let mut binding = [None; 4];
        binding[thread] = Some(0);
        binding[lock] = Some(1);
        effects.push(effect((0, &binding, bit as u8, Set), None));
        effects.push(effect((1, &binding, bit as u8, Clear), None));
    }
    let holds = Formula::proposition;
    let nested = |first: u8, second: u8| {
        let waits = holds(first).until(holds(second));
        holds(first).and(holds(second).negation()).and(waits)
    };
    let formula = nested(0, 1)
        .eventually()
        .implies(nested(3, 2).negation().always());
    property(
        &["t", "u", "a", "b"],
        &["x, m", "x, m"],
        differ(&[(0, 1), (2, 3)]),
        effects,
        Demand::Formula(formula),
    )
}

/// Ten threads take pairs of ten locks and let them go, each step by another
/// thread; `reversed` says which pairs are taken against the order.
fn lock_trace(reversed: impl Fn(i64, i64, i64) -> bool) -> Vec<(u16, [i64; 2])> {
    let mut trace = Vec::new();
    let mut owners = [None; 10];
    // What each thread is about to do, the next at the end.
    let mut plans: Vec<Vec<(u16, usize)>> = vec![Vec::new(); 10];
    let mut seed = 7_u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize % below
    };
    for _ in 0..2_000 {
        let thread = random(10);
        if plans[thread].is_empty() {
            let (one, other) = (random(10), random(10));
            let (low, high) = (one.min(other), one.max(other));
            if low < high {
                let (first, second) = if reversed(thread as i64, low as i64, high as i64) {
                    (high, low)
                } else {
                    (low, high)
                };
                plans[thread] = vec![(1, first), (1, second), (0, second), (0, first)];
            }
        }
        let Some(&(event, lock)) = plans[thread].last() else {
            continue;
        };
        match event {
            0 if owners[lock].is_some() => continue,
            0 => owners[lock] = Some(thread),
            _ => owners[lock] = None,
        }
        plans[thread].pop();
        // Locks are numbered from 100: their values are not those of threads.
        trace.push((event, [thread as i64, 100 + lock as i64]));
    }
    trace
}

#[track_caller]
fn check_locks(reversed: impl Fn(i64, i64, i64) -> bool, violated: bool, peak_max: usize) {
    let property = Arc::new(lock_order());
    let trace = lock_trace(reversed);
    let mut monitor = Monitor::new(Arc::clone(&property)).unwrap();
    for (event, of) in &trace {
        step(&mut monitor, *event, of);
    }
    let domain = |parameter: usize| match parameter {
        0 | 1 => (0..10).collect(),
        _ => (100..110).collect(),
    };
    let all = tuples(&property, domain);
    assert_eq!(all.len(), 8_100);
    let slices: Vec<_> = monitor.slices().collect();
    let mut violations = 0;
    for tuple in all {
        let mut ground = Ground::new(&property, tuple);
        for (event, of) in &trace {
            ground.take(&property, *event, of);
        }
        // A look through all slices for each tuple would take too long.
        violations += u64::from(ground.verdict() == Verdict::Violated);
    }
    let found = slices
        .iter()
        .filter(|slice| slice.verdict == Verdict::Violated);
    assert_eq!(found.count() as u64, violations);
    assert_eq!(violations > 0, violated);
    assert_eq!(monitor.verdict() == Verdict::Violated, violated);
    assert_eq!(monitor.violation_count(), violations);
    assert!(monitor.peak_count() <= peak_max, "{}", monitor.peak_count());
}

/// Beyond the values of its four parameters; in the tables for the instances that
/// there were at once, since memory is kept for others.
#[test]
fn an_instance_takes_few_bytes() {
    let mut monitor = Monitor::with_history(Arc::new(lock_order()), 0).unwrap();
    for (event, of) in lock_trace(|_, _, _| false) {
        step(&mut monitor, event, &of);
    }
    let (bytes, instances) = (monitor.bytes(), monitor.peak_count());
    assert!(instances > 500, "{instances}");
    assert!(bytes <= (32 + 48) * instances, "{bytes}: {instances}");
}

#[test]
fn locks_in_one_order() {
    check_locks(|_, _, _| false, false, 2_500);
}

#[test]
fn one_thread_takes_locks_the_other_way() {
    check_locks(|thread, low, _| thread == 3 && low == 2, true, 2_500);
}
