//! Tests of native monitors; the general monitor is the oracle.

mod automata;
mod changing;
mod formulas;
mod interleavings;
mod reasons;
mod shipped;

use super::{
    EventWords, HeaderWord, Lowered, NotNative, Options, Origin, Why, WordCapture, WordKind,
    WordMonitor, lower,
};
use crate::monitor::Monitor;
use crate::step::Occurrence;
use juror_event::{Capture, EventId, Read, Unavailability, Value};
use juror_language::Property;
use proptest::prelude::*;
use std::sync::Arc;

type Words = WordMonitor<Vec<u64>>;

fn capture(kind: WordKind) -> WordCapture {
    WordCapture {
        origin: Origin::Register(7),
        reads: Vec::new(),
        bytes: 8,
        kind,
    }
}

/// Operations on values of the event are not captured, as if unbounded integers gave the
/// same results.
fn is_never_made(capture: &Capture) -> bool {
    matches!(capture.read, Read::Arithmetic(_))
}

/// Every capture is a signed number, but parameters of an odd position are addresses.
fn words_of(property: &Property) -> Vec<Result<EventWords, NotNative>> {
    let of_event = |event: &juror_event::SymbolicEvent| {
        let captures = event.captures.iter().map(|it| {
            let is_address = &*it.name == "b";
            let kind = if is_address {
                WordKind::Address
            } else {
                WordKind::Signed
            };
            (!is_never_made(it)).then(|| capture(kind))
        });
        Ok(EventWords {
            captures: captures.collect(),
        })
    };
    property.events.iter().map(of_event).collect()
}

fn lowered(property: Property, records: usize) -> Result<Lowered, NotNative> {
    let words = words_of(&property);
    let monitor = Monitor::with_history(Arc::new(property), records).unwrap();
    let options = Options {
        stripes: 2,
        journals: 3,
        listening: 0,
    };
    lower(&monitor, &words, &options)
}

/// The two monitors of one property, with the same numbers of states.
fn pair(property: Property, records: usize) -> Result<(Monitor, Words), NotNative> {
    let lowered = lowered(property, records)?;
    let (plan, behaviour) = (Arc::clone(&lowered.plan), lowered.behaviour.clone());
    let monitor = Monitor::of(plan, behaviour, records);
    Ok((monitor, WordMonitor::new(lowered, Vec::new()).unwrap()))
}

/// An event: its number, its values, the thread and the address.
type Given = (u16, Vec<Value>, u32, u64);

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        12 => (0..4_i64).prop_map(|n| Value::Int(n.into())),
        4 => (0..40_i64).prop_map(|n| Value::Int(n.into())),
        2 => (0..3_u64).prop_map(Value::Address),
        1 => (-2..0_i64).prop_map(|n| Value::Int(n.into())),
        1 => prop_oneof![
            Just(i128::from(i64::MAX)),
            Just(i128::from(i64::MIN)),
            Just(i128::from(u64::MAX)),
        ].prop_map(Value::Int),
        1 => Just(Value::Unavailable(Unavailability::Unreadable { address: 8 })),
    ]
}

fn events(count: usize) -> impl Strategy<Value = Vec<Given>> {
    let values = prop::collection::vec(value(), 4);
    prop::collection::vec((0..5_u16, values, 1..3_u32, 0..2_u64), 0..count)
}

/// Returns an event of a property, and the values that are needed; those of parameters
/// `b` are addresses.
fn occurrence_values(monitor: &Monitor, given: &Given) -> (EventId, Vec<Value>) {
    let (event, values, _, _) = given;
    let property = Arc::clone(monitor.property());
    let event = EventId(event % property.events.len() as u16);
    let symbolic = property.event(event).unwrap();
    let need = monitor.needs()[usize::from(event.0)];
    let captures = symbolic.captures.iter().enumerate();
    let values = captures.map(|(slot, capture)| match &values[slot % 4] {
        _ if need.captures >> slot & 1 == 0 || is_never_made(capture) => {
            Value::Unavailable(Unavailability::NotCaptured)
        }
        Value::Int(number) if &*capture.name == "b" && *number >= 0 => {
            Value::Address(*number as u64)
        }
        // All values of a parameter have the kind of its capture.
        Value::Address(address) if &*capture.name == "a" => Value::Int((*address).into()),
        value => value.clone(),
    });
    (event, values.collect())
}

/// Gives an event to both monitors.
fn step_both(monitor: &mut Monitor, words: &mut Words, given: &Given) {
    let (event, values) = occurrence_values(monitor, given);
    let occurrence = Occurrence {
        thread: given.2,
        address: given.3,
        time: given.3 * 7,
        values: &values,
    };
    let expected = monitor.step(event, &occurrence);
    let found = words.step(event, &occurrence);
    match (&expected, &found) {
        (Ok(expected), Ok(found)) => {
            let expected = crate::step::Step {
                needs_changed: found.needs_changed,
                ..*expected
            };
            assert_eq!(&expected, found);
            assert_eq!(monitor.changes(), words.changes());
        }
        _ => assert_eq!(expected, found),
    }
    assert_eq!(monitor.needs(), words.needs());
    assert_eq!(monitor.verdict(), words.verdict());
    assert_eq!(monitor.sequence(), words.sequence());
    assert_eq!(monitor.violations(), words.violations());
}

/// Compares everything that can be seen of two monitors.
fn compare(monitor: &Monitor, words: &Words) {
    let slices = words.slices();
    assert_eq!(monitor.slices().count(), slices.len());
    for (expected, found) in monitor.slices().zip(&slices) {
        assert_eq!(expected.id, found.id);
        assert_eq!(expected.binding, found.binding);
        assert_eq!(expected.state, found.state);
        assert_eq!(expected.environment, found.environment);
        // Equal numbers may be of different kinds.
        let shown = |values: &[Value]| format!("{values:?}");
        assert_eq!(shown(expected.environment), shown(&found.environment));
        assert_eq!(expected.verdict, found.verdict);
        assert_eq!(expected.ended, found.ended);
        assert_eq!(monitor.path(expected.id), words.path(found.id));
    }
    assert_eq!(monitor.peak_count() as u64, words.peak_count());
    assert_eq!(monitor.slice_count() as u64, words.slice_count());
    let made = words.table.made();
    if made <= monitor.history.capacity() as u64 {
        assert!(*monitor == words.to_monitor());
        assert_eq!(monitor.snapshot(), words.snapshot());
    }
}

/// Brings the numbers of a table that has taken no event near the end of their range.
fn use_up_numbers(words: &mut Words) {
    let (events, records) = (0x7fff_fffa_u64, 0x7fff_fff0_u64);
    let table = &mut words.table;
    table.set_header(HeaderWord::EventsBefore, events.wrapping_neg());
    table.set_header(HeaderWord::RecordsBefore, records.wrapping_neg());
    table.set_header(HeaderWord::Drawn, events << 32 | records);
}

/// Runs events through both monitors; clones them on the way. Returns the number of
/// general steps and of all.
fn run(property: Property, records: usize, events: &[Given]) -> Option<(u64, u64)> {
    let (mut monitor, mut words) = pair(property, records).ok()?;
    if events.len() % 2 == 1 {
        use_up_numbers(&mut words);
    }
    let middle = events.len() / 2;
    let mut copies = None;
    for (number, event) in events.iter().enumerate() {
        if number == middle {
            copies = Some((monitor.clone(), words.clone()));
        }
        step_both(&mut monitor, &mut words, event);
        if number % 5 == 0 {
            compare(&monitor, &words);
        }
    }
    compare(&monitor, &words);
    if let Some((mut monitor, mut words)) = copies {
        compare(&monitor, &words);
        let mut later = WordMonitor::new(words.lowered.clone(), Vec::new()).unwrap();
        assert!(later.take_over(&monitor));
        compare(&monitor, &later);
        if middle.is_multiple_of(2) {
            words = later;
        }
        for event in &events[middle..] {
            step_both(&mut monitor, &mut words, event);
        }
        compare(&monitor, &words);
    }
    let mut quiet = words.clone();
    let open = |it: crate::SliceView<'_>| {
        !it.ended && it.verdict == juror_event::Verdict::PresumablyViolated
    };
    let is_open = monitor.slices().any(open);
    assert_eq!(quiet.finish_quietly(), !is_open);
    assert_eq!(monitor.finish(), words.finish());
    assert_eq!(monitor.verdict(), words.verdict());
    if !is_open {
        assert_eq!(quiet.verdict(), words.verdict());
        assert_eq!(quiet.slices(), words.slices());
        assert_eq!(quiet.ended_count(), monitor.ended_count());
    }
    let gates = words.gates().values().sum();
    Some((gates, words.sequence()))
}

#[test]
fn numbers_go_on_beyond_the_end_of_their_range() {
    let source = "property p\nslice on a\nevent use = before use(a)\n\
        state s accepting { on use -> t }\nstate t accepting { on use -> s }\n";
    let property = juror_language::load(source).0.remove(0);
    let (mut monitor, mut words) = pair(property, 64).unwrap();
    use_up_numbers(&mut words);
    for number in 0..20_i64 {
        let given = (0, vec![Value::Int((number % 3).into()); 4], 1, 0);
        step_both(&mut monitor, &mut words, &given);
        compare(&monitor, &words);
    }
    assert_eq!(words.gates().get(&Why::Numbers), Some(&1));
    assert_eq!((words.sequence(), words.table.made()), (20, 20));
}
