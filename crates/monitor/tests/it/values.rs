//! Monitors as values: copied, compared, kept and brought back; and events as
//! plain numbers.

use crate::common::{differ, effect, property};
use juror_event::{EventId, Value, Verdict};
use juror_language::{Demand, EffectAction, Property, load};
use juror_logic::{Bound, Formula};
use juror_monitor::{Change, Monitor, Occurrence, Snapshot, SnapshotError};
use proptest::prelude::*;
use std::sync::Arc;

/// No read between close and the next open.
fn automaton() -> Property {
    let source = "property closed slice on f
        event open = before o(f)
        event read = before r(f)
        event close = before c(f)
        event gone = before g(f)
        var n = 0
        state opened { on close { n += 1 } -> closed }
        state closed { on open -> opened on read -> bad on gone -> over }
        state bad non-accepting
        state over final";
    load(source).0.remove(0)
}

/// The same, each event once for each of two roles.
fn template() -> Property {
    let pulse = |event, binding: &[Option<u8>], bit| {
        effect((event, binding, bit, EffectAction::Pulse), None)
    };
    let effects = vec![
        pulse(0, &[Some(0), None], 0),
        pulse(1, &[None, Some(0)], 1),
        effect((2, &[Some(0), None], 2, EffectAction::Set), None),
        effect((3, &[Some(0), None], 2, EffectAction::Clear), None),
    ];
    let [open, read, closed] = [0, 1, 2].map(Formula::proposition);
    let formula = closed.implies(read.negation().weak_until(open)).always();
    property(
        &["a", "b"],
        &["f", "f", "f", "f"],
        differ(&[(0, 1)]),
        effects,
        Demand::Formula(formula),
    )
}

/// One parameter, no bounds.
fn formula() -> Property {
    let pulse = |event, bit| effect((event, &[Some(0)], bit, EffectAction::Pulse), None);
    let [open, read, close] = [0, 1, 2].map(Formula::proposition);
    let after = read.negation().weak_until(open).next();
    property(
        &["f"],
        &["f", "f", "f", "f"],
        None,
        vec![pulse(0, 0), pulse(1, 1), pulse(2, 2)],
        Demand::Formula(close.implies(after).always()),
    )
}

fn timed() -> Property {
    let pulse = |event, bit| effect((event, &[Some(0)], bit, EffectAction::Pulse), None);
    let within = Bound::Time {
        from: 0,
        to: Some(20),
    };
    let answered = Formula::proposition(1).eventually_within(within);
    property(
        &["f"],
        &["f", "f", "f", "f"],
        None,
        vec![pulse(0, 0), pulse(1, 1)],
        Demand::Formula(Formula::proposition(0).implies(answered).always()),
    )
}

fn properties() -> [Property; 4] {
    [automaton(), template(), formula(), timed()]
}

type Events = Vec<(u16, i64)>;

fn step(monitor: &mut Monitor, event: u16, f: i64, time: u64) {
    // Some of the values are their own words and some are not.
    let value = match f {
        0..2 => Value::Int(f.into()),
        2 => Value::String("two".into()),
        _ => Value::Int((-f).into()),
    };
    let occurrence = Occurrence {
        thread: 1,
        address: 0x10,
        time,
        values: &[value],
    };
    monitor.step(EventId(event), &occurrence).unwrap();
}

fn events() -> impl Strategy<Value = Events> {
    prop::collection::vec((0..4_u16, 0..4_i64), 0..30)
}

/// Properties of one and of two parameters, whose events bind some of them, also
/// with transitions from the first state to itself.
fn pairs() -> Vec<Property> {
    let events = |names: [&str; 4]| -> String {
        let [a, b, c, d] = names;
        format!(
            "event make = before m({a}) event stay = before s({b})
             event next = before n({c}) event gone = before d({d})"
        )
    };
    let states = "state none { on make -> fresh on stay -> none }
         state fresh { on next -> used on gone -> over on stay -> fresh }
         state used { on make -> fresh on stay -> bad on gone -> over }
         state bad non-accepting { on gone -> over }
         state over final";
    let heads = [
        ("i", events(["i", "i", "i", "i"])),
        ("c, i", events(["c, i", "c, i", "c, i", "c, i"])),
        ("c, i", events(["c, i", "c", "i", "c, i"])),
        ("c, i", events(["i", "i, c", "c", "c, i"])),
    ];
    let of = |(slice, events): (&str, String)| {
        let (mut properties, diagnostics) =
            load(&format!("property p slice on {slice} {events} {states}"));
        assert_eq!(properties.len(), 1, "{diagnostics:?}");
        properties.remove(0)
    };
    let mut all: Vec<Property> = heads.map(of).into();
    // The whole binding at each event, and at some of them a part.
    let [make, stay, next] = [0, 1, 2].map(Formula::proposition);
    let formula = make
        .implies(stay.negation().weak_until(next).next())
        .always();
    for bindings in [
        [[true, true]; 3],
        [[true, true], [true, false], [false, true]],
    ] {
        let effects = (0_u16..).zip(bindings).map(|(event, [first, second])| {
            let binding = [first.then_some(0), second.then_some(1)];
            effect((event, &binding, event as u8, EffectAction::Pulse), None)
        });
        all.push(property(
            &["c", "i"],
            &["c,i", "c,i", "c,i", "c,i"],
            None,
            effects.collect(),
            Demand::Formula(formula.clone()),
        ));
    }
    all
}

/// What the last event did to the verdicts of slices.
fn verdict_changes(monitor: &Monitor) -> Vec<Change> {
    let changes = monitor.changes().iter().copied();
    let is_one = |change: &Change| change.verdict_before != change.verdict_after;
    changes.filter(is_one).collect()
}

proptest! {
    #![proptest_config(juror_testing::with_cases(100))]

    #[test]
    fn plain_numbers_of_pairs_are_the_same_events(
        events in prop::collection::vec((0..4_u16, 0..3_u64, 0..3_u64), 0..40),
    ) {
        for property in pairs() {
            let property = Arc::new(property);
            let mut values = Monitor::with_history(Arc::clone(&property), 0).unwrap();
            let mut words = values.clone();
            for (event, c, i) in &events {
                let captures = &property.events[usize::from(*event)].captures;
                let named = captures.iter().map(|capture| match &*capture.name {
                    "c" => *c,
                    _ => *i,
                });
                let plain: Vec<u64> = named.collect();
                let read: Vec<Value> = plain.iter().map(|n| Value::Int((*n).into())).collect();
                let occurrence = Occurrence { thread: 0, address: 0, time: 0, values: &read };
                values.step(EventId(*event), &occurrence).unwrap();
                words.step_words(EventId(*event), &plain).unwrap();
                prop_assert_eq!(verdict_changes(&words), verdict_changes(&values));
                prop_assert_eq!(words.verdict(), values.verdict());
                prop_assert_eq!(words.slice_count(), values.slice_count());
            }
            prop_assert_eq!(&words, &values);
        }
    }

    #[test]
    fn a_monitor_that_is_brought_back_goes_on_equally(before in events(), after in events()) {
        for property in properties() {
            let property = Arc::new(property);
            let mut monitor = Monitor::with_history(Arc::clone(&property), 8).unwrap();
            let mut time = 0;
            for (event, f) in &before {
                time += 3;
                step(&mut monitor, *event, *f, time);
            }
            let text = serde_json::to_string(&monitor.snapshot()).unwrap();
            let snapshot: Snapshot = serde_json::from_str(&text).unwrap();
            let mut restored = Monitor::restore(Arc::clone(&property), &snapshot).unwrap();
            let mut copy = monitor.clone();
            prop_assert_eq!(&restored, &monitor);
            prop_assert_eq!(restored.needs(), monitor.needs());
            for (event, f) in &after {
                time += 3;
                step(&mut monitor, *event, *f, time);
                step(&mut copy, *event, *f, time);
                step(&mut restored, *event, *f, time);
                prop_assert_eq!(&restored, &monitor);
                prop_assert_eq!(&copy, &monitor);
                prop_assert_eq!(restored.needs(), monitor.needs());
                prop_assert_eq!(restored.verdict(), monitor.verdict());
                prop_assert_eq!(restored.next_deadline(), monitor.next_deadline());
            }
            for (one, other) in monitor.slices().zip(restored.slices()) {
                prop_assert_eq!(one.id, other.id);
                prop_assert_eq!(one.binding, other.binding);
                prop_assert_eq!(monitor.path(one.id).events.len(), restored.path(other.id).events.len());
            }
        }
    }

    #[test]
    fn plain_numbers_are_the_same_events(before in events(), f in 0..4_i64) {
        for property in properties() {
            let property = Arc::new(property);
            let mut values = Monitor::with_history(Arc::clone(&property), 0).unwrap();
            let mut words = values.clone();
            for (event, f) in &before {
                let occurrence = Occurrence {
                    thread: 0,
                    address: 0,
                    time: 0,
                    values: &[Value::Int((*f).into())],
                };
                values.step(EventId(*event), &occurrence).unwrap();
                words.step_words(EventId(*event), &[*f as u64]).unwrap();
                prop_assert_eq!(verdict_changes(&words), verdict_changes(&values));
                prop_assert_eq!(words.verdict(), values.verdict());
            }
            prop_assert_eq!(&words, &values);
            step(&mut values, 0, f, 1);
            step(&mut words, 0, f, 1);
            prop_assert_eq!(words.needs(), values.needs());
            prop_assert_eq!(&words, &values);
        }
    }
}

#[test]
fn monitors_that_went_different_ways_differ() {
    for property in properties() {
        let monitor = Monitor::new(Arc::new(property)).unwrap();
        let (mut one, mut other) = (monitor.clone(), monitor.clone());
        step(&mut one, 2, 1, 0);
        step(&mut other, 2, 0, 0);
        step(&mut one, 0, 1, 0);
        assert_ne!(one, other);
        assert_ne!(one, monitor);
    }
}

#[test]
fn a_snapshot_of_another_property_is_refused() {
    let snapshot = Monitor::new(Arc::new(automaton())).unwrap().snapshot();
    let other = Monitor::restore(Arc::new(formula()), &snapshot);
    assert_eq!(other.err(), Some(SnapshotError::OtherProperty));
}

/// Two properties are equal if they say the same, whatever file they were read from.
#[test]
fn a_snapshot_is_of_the_same_property_in_another_file() {
    let of_file = |name: &str| Property {
        source_name: Some(name.into()),
        ..automaton()
    };
    let mut monitor = Monitor::new(Arc::new(of_file("one.prop"))).unwrap();
    step(&mut monitor, 2, 1, 0);
    let moved = Arc::new(of_file("other.prop"));
    let restored = Monitor::restore(moved, &monitor.snapshot()).unwrap();
    assert_eq!(restored.snapshot(), monitor.snapshot());
}

#[test]
fn violations_of_one_kind_are_counted() {
    let mut monitor = Monitor::new(Arc::new(automaton())).unwrap();
    for f in 0..4 {
        step(&mut monitor, 2, f, 10);
        step(&mut monitor, 1, f, 20);
    }
    let [group] = monitor.violations() else {
        panic!("{:?}", monitor.violations());
    };
    assert_eq!((group.count, group.address, group.time), (4, 0x10, 20));
    assert_eq!((group.first_sequence, group.last_sequence), (2, 8));
    assert_eq!(monitor.violation_count(), 4);
}

#[test]
fn a_violated_formula_says_what_failed() {
    let mut property = formula();
    let [open, read, _] = [0, 1, 2].map(Formula::proposition);
    let demand = read
        .clone()
        .negation()
        .always()
        .and(open.negation().always());
    if let juror_language::Behaviour::Logic(logic) = &mut property.behaviour {
        logic.demand = Demand::Formula(demand);
    }
    let mut monitor = Monitor::new(Arc::new(property)).unwrap();
    step(&mut monitor, 2, 1, 0);
    step(&mut monitor, 1, 1, 0);
    assert_eq!(monitor.verdict(), Verdict::Violated);
    let slice = monitor.violations()[0].first;
    let failed = monitor.failed_parts(slice);
    assert_eq!(failed.len(), 1);
    assert!(failed[0].contains("p1"), "{failed:?}");
}

/// Objects come and go, by text that is never the same: nothing piles up.
#[test]
fn live_slices_stay_few_while_bindings_end() {
    let mut monitor = Monitor::new(Arc::new(automaton())).unwrap();
    let mut bytes = 0;
    for n in 0..20_000 {
        let values = [Value::String(format!("file {n}").into())];
        for event in [2, 3] {
            let occurrence = Occurrence {
                thread: 1,
                address: 0,
                time: 0,
                values: &values,
            };
            monitor.step(EventId(event), &occurrence).unwrap();
        }
        assert_eq!(monitor.slice_count(), 1);
        if n == 5_000 {
            bytes = monitor.bytes();
        }
    }
    assert_eq!(monitor.ended_count(), 20_000);
    assert_eq!(monitor.peak_count(), 2);
    assert_eq!(monitor.bytes(), bytes);
}
