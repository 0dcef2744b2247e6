//! Formulas with bounds in time, over instances.

use crate::common::{effect, property};
use juror_event::{EventId, Value, Verdict};
use juror_language::{Demand, EffectAction};
use juror_logic::{Bound, Formula, Letter, TimedMachine};
use juror_monitor::{Monitor, Occurrence};
use proptest::prelude::*;
use std::sync::Arc;

/// `always (request implies eventually within 10 ns response)`, for each x.
fn answered() -> Formula {
    let within = Bound::Time {
        from: 0,
        to: Some(10),
    };
    let response = Formula::proposition(1).eventually_within(within);
    Formula::proposition(0).implies(response).always()
}

fn monitor() -> Monitor {
    let pulse = |event, bit| effect((event, &[Some(0)], bit, EffectAction::Pulse), None);
    let effects = vec![pulse(0, 0), pulse(1, 1)];
    let demand = Demand::Formula(answered());
    let property = property(&["x"], &["x", "x"], None, effects, demand);
    let monitor = Monitor::new(Arc::new(property)).unwrap();
    assert!(monitor.uses_time());
    monitor
}

fn step(monitor: &mut Monitor, event: u16, x: i64, time: u64) {
    let occurrence = Occurrence {
        thread: 1,
        address: 0,
        time,
        values: &[Value::Int(x.into())],
    };
    monitor.step(EventId(event), &occurrence).unwrap();
}

#[test]
fn a_deadline_violates_without_an_event() {
    let mut monitor = monitor();
    assert_eq!(monitor.next_deadline(), None);
    step(&mut monitor, 0, 7, 100);
    step(&mut monitor, 0, 8, 105);
    assert_eq!(monitor.next_deadline(), Some(111));
    step(&mut monitor, 1, 8, 106);
    assert_eq!(monitor.verdict(), Verdict::PresumablyViolated);
    assert_eq!(monitor.advance(110).violated, None);
    let passed = monitor.advance(111);
    assert!(passed.violated.is_some());
    let changes: Vec<_> = monitor.changes().iter().map(|c| c.slice).collect();
    assert_eq!(changes, [passed.violated.unwrap()]);
    let view = monitor.slice(changes[0]).unwrap();
    assert_eq!(view.binding, [Some(Value::Int(7))]);
    assert_eq!(monitor.violations()[0].event, None);
    assert_eq!(monitor.next_deadline(), None);
}

#[test]
fn an_event_tells_of_the_deadlines_before_it() {
    let mut monitor = monitor();
    step(&mut monitor, 0, 7, 100);
    step(&mut monitor, 0, 8, 200);
    assert_eq!(monitor.verdict(), Verdict::Violated);
    let expected = [Verdict::Violated, Verdict::PresumablyViolated];
    let found: Vec<_> = monitor.slices().skip(1).map(|s| s.verdict).collect();
    assert_eq!(found, expected);
    let waits = monitor.state_name(monitor.slices().last().unwrap().state);
    assert!(waits.contains("p1"), "{waits}");
}

proptest! {
    #[test]
    fn instances_are_what_their_own_events_say(
        events in prop::collection::vec((0..2_u16, 0..3_i64, 0..8_u64), 0..30),
    ) {
        let mut monitor = monitor();
        let machine = TimedMachine::of_formula(&answered()).unwrap();
        let mut alone = [machine.initial(), machine.initial(), machine.initial()];
        let mut time = 0;
        for (event, x, later) in events {
            time += later;
            step(&mut monitor, event, x, time);
            let letter = Letter(1 << event);
            machine.step(&mut alone[x as usize], letter, time).unwrap();
            for state in &mut alone {
                machine.advance(state, time);
            }
            let slices: Vec<_> = monitor.slices().collect();
            for (x, state) in alone.iter().enumerate() {
                let value = Some(Value::Int(x as i128));
                let own = slices.iter().find(|slice| slice.binding[0] == value);
                let verdict = own.unwrap_or(&slices[0]).verdict;
                prop_assert_eq!(verdict, machine.verdict(state));
            }
            let deadline = alone.iter().filter_map(|s| machine.next_deadline(s)).min();
            prop_assert_eq!(monitor.next_deadline(), deadline);
        }
    }
}
