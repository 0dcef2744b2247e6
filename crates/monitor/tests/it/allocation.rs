//! An event that leaves the set of slices as it is allocates nothing.

use crate::common::{effect, property};
use juror_event::{EventId, Value};
use juror_language::{Demand, EffectAction, Property, load};
use juror_logic::Formula;
use juror_monitor::{Monitor, Occurrence};
use juror_testing::CountingAllocator;
use std::sync::Arc;

#[track_caller]
fn check(source: &str, first: &[(u16, &[i128])], repeated: &[(u16, &[i128])]) {
    let (mut properties, diagnostics) = load(source);
    assert_eq!(properties.len(), 1, "{diagnostics:#?}");
    check_property(properties.remove(0), first, repeated);
}

#[track_caller]
fn check_property(property: Property, first: &[(u16, &[i128])], repeated: &[(u16, &[i128])]) {
    let mut monitor = Monitor::with_history(Arc::new(property), 100).unwrap();
    let events = |events: &[(u16, &[i128])]| -> Vec<(EventId, Vec<Value>)> {
        let value = |&n: &i128| Value::Int(n);
        let event =
            |(id, values): &(u16, &[i128])| (EventId(*id), values.iter().map(value).collect());
        events.iter().map(event).collect()
    };
    let take = |monitor: &mut Monitor, id: EventId, values: &[Value]| {
        let occurrence = Occurrence {
            thread: 1,
            address: 2,
            time: 0,
            values,
        };
        monitor.step(id, &occurrence).unwrap()
    };
    for (id, values) in events(first) {
        take(&mut monitor, id, &values);
    }
    // From a clone too: a checkpoint that is restored is as cheap.
    let mut restored = monitor.clone();
    let repeated = events(repeated);
    for monitor in [&mut monitor, &mut restored] {
        // Buffers for more than one slice grow once.
        for (id, values) in &repeated {
            take(monitor, *id, values);
        }
        let before = CountingAllocator::allocations();
        let mut taken = 0;
        for _ in 0..1_000 {
            for (id, values) in &repeated {
                taken += u64::from(take(monitor, *id, values).taken);
            }
        }
        assert_eq!(CountingAllocator::allocations() - before, 0);
        assert!(taken > 0);
    }
}

#[test]
fn one_slice_parameter() {
    let source = "property p slice on q
        event new = after make(size) returns q
        event push = before push(q)
        event pop = before pop(q)
        event all = before all
        var capacity = 0
        var count = 0
        state init { on new { capacity = size } -> ready }
        state ready {
            on push when count < capacity { count += 1 } -> used else -> over
            on all { count = 0 }
        }
        state used { on pop when count > 0 and not (capacity == 0) { count -= 1 } -> ready }
        state over non-accepting";
    let first: &[(u16, &[i128])] = &[(0, &[2, 7]), (0, &[2, 8])];
    check(
        source,
        first,
        &[
            (1, &[7]),
            (2, &[7]),
            (3, &[]),
            (1, &[9]),
            (1, &[8]),
            (2, &[8]),
        ],
    );
}

#[test]
fn no_slice_parameter() {
    let source = "property p event e = before f(x) var n = 0
        state a { on e when x > 0 { n = x } -> b } state b { on e -> a }";
    check(source, &[], &[(0, &[3])]);
}

#[test]
fn three_slice_parameters() {
    let source = "property p slice on a, b, c
        event abc = before f(a, b, c) event ab = before g(a, b) event c = before h(c)
        var n = 0
        state init { on abc -> on1 }
        state on1 { on ab { n = 1 } -> on2 on c { n = 3 } }
        state on2 { on c { n = 2 } -> on1 }";
    let first: &[(u16, &[i128])] = &[(0, &[1, 2, 3]), (0, &[1, 2, 4]), (0, &[5, 6, 3])];
    check(
        source,
        first,
        &[(1, &[1, 2]), (2, &[3]), (2, &[4]), (0, &[1, 2, 3])],
    );
}

#[test]
fn a_formula_of_two_parameters() {
    let pulse = |event, binding: &[Option<u8>], bit| {
        effect((event, binding, bit, EffectAction::Pulse), None)
    };
    let effects = vec![
        pulse(0, &[Some(0), Some(1)], 0),
        pulse(1, &[Some(0), Some(1)], 1),
        pulse(2, &[Some(0), None], 2),
        pulse(2, &[None, Some(0)], 3),
    ];
    let [asked, answered, begun, ended] = [0, 1, 2, 3].map(Formula::proposition);
    let formula = asked.implies(answered.next()).always();
    let formula = formula.and(begun.or(ended).eventually());
    let property = property(
        &["a", "b"],
        &["x, y", "x, y", "x"],
        None,
        effects,
        Demand::Formula(formula),
    );
    check_property(
        property,
        &[(2, &[1]), (2, &[2]), (0, &[1, 2]), (1, &[1, 2])],
        &[(0, &[1, 2]), (1, &[1, 2]), (2, &[1])],
    );
}
