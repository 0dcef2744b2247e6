//! Slicing against its definition: for a binding, the automaton run alone
//! over the events whose bindings it contains.

use juror_event::{EventId, Value, Verdict};
use juror_language::{Branch, Environment, Property, StateId, Store, execute, load, truth};
use juror_monitor::{EventNeed, Monitor, Occurrence};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

type Binding = Vec<Option<i64>>;
type Taken = (u16, Vec<i64>);

/// The automaton alone, as simply as can be.
#[derive(Debug, Clone, PartialEq)]
struct Alone {
    state: StateId,
    variables: Vec<Value>,
}

struct Frame<'a> {
    variables: &'a mut Vec<Value>,
    captures: &'a [Value],
}

impl Environment for Frame<'_> {
    fn variable(&self, slot: u16) -> Option<&Value> {
        self.variables.get(usize::from(slot))
    }
    fn capture(&self, slot: u8) -> Option<&Value> {
        self.captures.get(usize::from(slot))
    }
}

impl Store for Frame<'_> {
    fn assign(&mut self, slot: u16, value: Value) {
        self.variables[usize::from(slot)] = value;
    }
}

fn values(of: &[i64]) -> Vec<Value> {
    of.iter().map(|&n| Value::Int(n.into())).collect()
}

impl Alone {
    fn new(property: &Property) -> Alone {
        let variables = property.variables.iter();
        Alone {
            state: property.initial(),
            variables: variables.map(|v| v.initial.clone()).collect(),
        }
    }

    fn state<'a>(&self, property: &'a Property) -> &'a juror_language::State {
        &property.states()[self.state.index()]
    }

    /// Takes an event; true when a transition was taken.
    fn take(&mut self, property: &Property, (event, of): &Taken) -> bool {
        let captures = values(of);
        let mut frame = Frame {
            variables: &mut self.variables,
            captures: &captures,
        };
        let state = &property.states()[self.state.index()];
        let mut chosen: Option<&Branch> = None;
        for transition in &state.transitions {
            if state.is_final || transition.event != EventId(*event) {
                continue;
            }
            let holds = transition
                .guard
                .as_ref()
                .is_none_or(|g| truth(g, &frame).unwrap());
            chosen = if holds {
                Some(&transition.success)
            } else {
                transition.failure.as_ref()
            };
            if chosen.is_some() {
                break;
            }
        }
        let Some(branch) = chosen else {
            return false;
        };
        execute(&branch.updates, &mut frame).unwrap();
        self.state = branch.target;
        true
    }

    fn verdict(&self, property: &Property) -> Verdict {
        let mut seen = BTreeSet::new();
        let mut pending = vec![self.state];
        while let Some(state) = pending.pop() {
            let state_data = &property.states()[state.index()];
            if seen.insert(state) && !state_data.is_final {
                for transition in &state_data.transitions {
                    pending.push(transition.success.target);
                    pending.extend(transition.failure.as_ref().map(|b| b.target));
                }
            }
        }
        let accepting = |s: &StateId| property.states()[s.index()].accepting;
        let decided = seen.iter().all(|s| accepting(s) == accepting(&self.state));
        match (accepting(&self.state), decided) {
            (true, true) => Verdict::Satisfied,
            (true, false) => Verdict::PresumablySatisfied,
            (false, false) => Verdict::PresumablyViolated,
            (false, true) => Verdict::Violated,
        }
    }
}

fn binding_of(property: &Property, (event, of): &Taken) -> Binding {
    property.bindings[usize::from(*event)]
        .iter()
        .map(|slot| slot.map(|slot| of[usize::from(slot)]))
        .collect()
}

fn contains(large: &Binding, small: &Binding) -> bool {
    large.iter().zip(small).all(|(l, s)| s.is_none() || l == s)
}

fn joined(a: &Binding, b: &Binding) -> Option<Binding> {
    a.iter()
        .zip(b)
        .map(|(a, b)| match (a, b) {
            (Some(a), Some(b)) if a != b => None,
            _ => Some(a.or(*b)),
        })
        .collect()
}

/// All bindings that events and their combinations make.
fn closure(property: &Property, trace: &[Taken]) -> BTreeSet<Binding> {
    let mut all = BTreeSet::from([vec![None; property.slice.len()]]);
    for taken in trace {
        let binding = binding_of(property, taken);
        let more: Vec<Binding> = all
            .iter()
            .filter_map(|other| joined(other, &binding))
            .collect();
        all.extend(more);
    }
    all
}

fn slices_of(monitor: &Monitor) -> BTreeMap<Binding, Alone> {
    let number = |value: &Value| {
        value
            .as_integer()
            .and_then(|n| i64::try_from(n).ok())
            .unwrap()
    };
    let live = monitor.slices().filter(|slice| !slice.ended);
    live.map(|slice| {
        let binding = slice
            .binding
            .iter()
            .map(|v| v.as_ref().map(number))
            .collect();
        let alone = Alone {
            state: slice.state,
            variables: slice.environment.to_vec(),
        };
        (binding, alone)
    })
    .collect()
}

fn needs_of(monitor: &Monitor) -> Vec<EventNeed> {
    let property = monitor.property();
    let occupied: BTreeSet<StateId> = monitor
        .slices()
        .filter(|slice| !slice.ended)
        .map(|slice| slice.state)
        .collect();
    let events = 0..property.events.len();
    events
        .map(|event| {
            let id = EventId(event as u16);
            let transitions = occupied
                .iter()
                .map(|s| &property.states()[s.index()])
                .filter(|s| !s.is_final)
                .flat_map(|s| &s.transitions)
                .filter(|t| t.event == id);
            let captures = transitions.clone().fold(0, |mask, t| mask | t.captures);
            EventNeed {
                needed: transitions.count() > 0,
                captures: captures | property.declared_captures(id),
            }
        })
        .collect()
}

fn step(monitor: &mut Monitor, (event, of): &Taken) {
    let before = monitor.needs().to_vec();
    let values = values(of);
    let occurrence = Occurrence {
        thread: 0,
        address: 0,
        time: 0,
        values: &values,
    };
    let step = monitor.step(EventId(*event), &occurrence).unwrap();
    assert_eq!(step.taken, !monitor.changes().is_empty());
    assert_eq!(monitor.needs(), needs_of(monitor));
    assert!(step.needs_changed || before == monitor.needs());
}

/// Parameters, then `x`, which every event captures last.
const EVENTS: [&str; 6] = ["", "a, ", "b, ", "a, b, ", "b, c, ", "a, c, "];

/// A property of four states over these events, from numbers.
fn source(parameters: usize, transitions: &[(usize, usize, usize, usize)], last: &str) -> String {
    let names = ["a", "b", "c"];
    let mut text = format!("property p slice on {}\n", names[..parameters].join(", "));
    let usable = |event: &str| names[parameters..].iter().all(|name| !event.contains(name));
    let events: Vec<usize> = (0..EVENTS.len()).filter(|&e| usable(EVENTS[e])).collect();
    for (number, &event) in events.iter().enumerate() {
        text += &format!("event e{number} = before f({}x)\n", EVENTS[event]);
    }
    text += "var n = 0\n";
    for state in 0..4 {
        let marks = match state {
            0 => "initial",
            1 => "non-accepting",
            2 => "accepting",
            _ => last,
        };
        text += &format!("state s{state} {marks} {{\n");
        for (_, event, form, target) in transitions.iter().filter(|t| t.0 == state) {
            let event = event % events.len();
            text += &match form {
                0 => format!("on e{event} -> s{target}\n"),
                1 => format!("on e{event} when x < 2 {{ n += x }} -> s{target}\n"),
                2 => {
                    format!("on e{event} when x < 2 {{ n += 1 }} -> s{target} else {{ n += 10 }}\n")
                }
                _ => format!("on e{event} when n < 4 {{ n += 1 }} else -> s{target}\n"),
            };
        }
        text += "}\n";
    }
    text
}

fn property_of(source: &str) -> Option<Arc<Property>> {
    let (mut properties, _) = load(source);
    // One without transitions is no property.
    properties.pop().map(Arc::new)
}

fn transitions() -> impl Strategy<Value = Vec<(usize, usize, usize, usize)>> {
    prop::collection::vec((0..4_usize, 0..6_usize, 0..4_usize, 0..4_usize), 2..14)
}

fn raw_trace() -> impl Strategy<Value = Vec<(usize, [i64; 3])>> {
    prop::collection::vec((0..6_usize, [0..3_i64, 0..3, 0..4]), 0..24)
}

fn trace_for(property: &Property, raw: &[(usize, [i64; 3])]) -> Vec<Taken> {
    raw.iter()
        .map(|(event, numbers)| {
            let event = event % property.events.len();
            let count = property.events[event].captures.len();
            // `x` is the last capture and has the larger range.
            let mut of = numbers[..count - 1].to_vec();
            of.push(numbers[2]);
            (event as u16, of)
        })
        .collect()
}

proptest! {
    #![proptest_config(juror_testing::with_cases(600))]

    #[test]
    fn slices_are_what_the_definition_says(
        parameters in 1..4_usize,
        transitions in transitions(),
        raw in raw_trace(),
    ) {
        let Some(property) = property_of(&source(parameters, &transitions, "non-accepting")) else {
            return Ok(());
        };
        let trace = trace_for(&property, &raw);
        let mut monitor = Monitor::new(Arc::clone(&property)).unwrap();
        for taken in &trace {
            step(&mut monitor, taken);
        }
        let found = slices_of(&monitor);
        let mut worst = Verdict::Satisfied;
        for binding in closure(&property, &trace) {
            let mut alone = Alone::new(&property);
            worst = worst.max(alone.verdict(&property));
            for taken in trace.iter().filter(|t| contains(&binding, &binding_of(&property, t))) {
                alone.take(&property, taken);
                worst = worst.max(match alone.verdict(&property) {
                    Verdict::Violated => Verdict::Violated,
                    _ => Verdict::Satisfied,
                });
            }
            worst = worst.max(alone.verdict(&property));
            // The slice that knows most of the binding stands for it.
            let inside = found.iter().filter(|(other, _)| contains(&binding, other));
            let bound = |binding: &Binding| binding.iter().flatten().count();
            let (nearest, slice) = inside.max_by_key(|(other, _)| bound(other)).unwrap();
            prop_assert_eq!(slice, &alone, "{:?} by {:?}\n{:?}", binding, nearest, trace);
        }
        // The worst now; a presumption that the monitor once had may be gone.
        let found_worst = monitor.verdict();
        let now = found.values().map(|s| s.verdict(&property)).max().unwrap();
        prop_assert_eq!(found_worst, now);
        prop_assert_eq!(found_worst == Verdict::Violated, worst == Verdict::Violated);
    }

    #[test]
    fn final_states_forget(
        transitions in transitions(),
        raw in raw_trace(),
        accepting in any::<bool>(),
    ) {
        let last = if accepting { "final" } else { "non-accepting final" };
        let Some(property) = property_of(&source(1, &transitions, last)) else {
            return Ok(());
        };
        let trace = trace_for(&property, &raw);
        let mut monitor = Monitor::new(Arc::clone(&property)).unwrap();
        let mut base = Alone::new(&property);
        let mut slices: BTreeMap<Binding, Alone> = BTreeMap::new();
        let mut violated = false;
        for taken in &trace {
            step(&mut monitor, taken);
            let binding = binding_of(&property, taken);
            if binding == [None] {
                base.take(&property, taken);
                slices.values_mut().for_each(|slice| { slice.take(&property, taken); });
            } else if let Some(slice) = slices.get_mut(&binding) {
                slice.take(&property, taken);
            } else {
                let mut slice = base.clone();
                if slice.take(&property, taken) {
                    slices.insert(binding, slice);
                }
            }
            violated |= slices.values().chain([&base]).any(|s| s.verdict(&property) == Verdict::Violated);
            slices.retain(|_, slice| !slice.state(&property).is_final);
            let mut expected = slices.clone();
            expected.insert(vec![None], base.clone());
            prop_assert_eq!(slices_of(&monitor), expected);
            prop_assert_eq!(monitor.verdict() == Verdict::Violated, violated);
        }
    }
}

/// The event creates a slice of its own, and a copy of each slice that declines it, where
/// the constraint admits what both bind together.
#[test]
fn copies_beside_a_new_slice_obey_the_constraint() {
    let source = "property p for each value a, c where a != c
        event open = before f(a) event use = before g(c)
        state init { on open -> opened on use -> used }
        state opened { on open -> init }
        state used { on use -> init }";
    let (properties, diagnostics) = load(source);
    assert!(!properties.is_empty(), "{diagnostics:#?}");
    let property = Arc::new(properties.into_iter().next().unwrap());
    let mut monitor = Monitor::new(Arc::clone(&property)).unwrap();
    for taken in [(0, vec![1]), (0, vec![2]), (1, vec![1])] {
        step(&mut monitor, &taken);
    }
    let found = slices_of(&monitor);
    let states = found.iter().map(|(binding, alone)| {
        let name = &alone.state(&property).name;
        (binding.as_slice(), &**name)
    });
    let expected = [
        (&[None, None][..], "init"),
        (&[None, Some(1)], "used"),
        (&[Some(1), None], "opened"),
        (&[Some(2), None], "opened"),
        (&[Some(2), Some(1)], "opened"),
    ];
    assert_eq!(states.collect::<Vec<_>>(), expected);
}
