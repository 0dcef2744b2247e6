//! Random automata.

use super::{Given, changing, events, run};
use crate::lowering::Why;
use juror_event::Value;
use juror_language::{Property, load};
use proptest::prelude::*;

const GUARDS: &[&str] = &[
    "x > n",
    "x == y",
    "x != 2",
    "flag",
    "not flag",
    "x + 1 < n",
    "x * n >= 3",
    "x / y > 1",
    "x % y == 1",
    "flag and x > 0 or n == 2",
    "(x > 0 ? n : y) > 1",
    "not (x == 1 or y == 1)",
    "-x < n",
    "min(x, n) > 1",
    "n - x - y < 3 * (x - n)",
    "q->count > 1",
    "last == x",
    "last < 3",
    "is_odd(x) or are_near(x, n)",
    "x & 3 == y - 1",
    "((x + n) * (y - n) + (x * 2)) * ((x + 1) * (y + 1)) < (x + 1) * (y + (n * (x + 1)))",
];

const UPDATES: &[&str] = &[
    "n += x",
    "n = n * 1000003",
    "n -= 1",
    "n = x / y",
    "n = min(n, x)",
    "flag = x > 0",
    "flag = not flag",
    "n = x last = last + n",
    "last = null",
    "n = q->count",
    "n = y flag = n == x n += 1",
];

const STATES: usize = 4;

/// A transition: state, event, guard, updates, target, updates and target of the `else`.
type Drawn = (
    usize,
    usize,
    Option<usize>,
    Option<usize>,
    usize,
    Option<usize>,
    Option<usize>,
);

fn drawn() -> impl Strategy<Value = Drawn> {
    let some = |count: usize| prop::option::of(0..count);
    (
        0..STATES,
        0..5_usize,
        some(GUARDS.len()),
        some(UPDATES.len()),
        0..STATES,
        some(UPDATES.len()),
        prop::option::weighted(0.3, 0..STATES),
    )
}

/// The text of a property with this many parameters.
fn source(parameters: usize, has_all: bool, kinds: u8, transitions: &[Drawn]) -> String {
    let keys = ["a", "b"].get(..parameters).unwrap_or(&[]).join(", ");
    let slice = match parameters {
        0 => String::new(),
        _ => format!("slice on {keys}\n"),
    };
    let comma = if parameters == 0 { "" } else { ", " };
    let mut text = format!(
        "function is_odd(m) {{ return (m & 1) == 1 }}
         function are_near(l, m) {{ return l - m < 2 and m - l < 2 and not is_odd(l) }}
         property p\n{slice}"
    );
    for event in 0..5 {
        let keys = if event == 4 && has_all {
            String::new()
        } else {
            format!("{keys}{comma}")
        };
        // More than fit the masks in the word of a transition.
        let more = if event == 3 && kinds & 1 == 1 {
            ", u, v, w, z, s, t"
        } else {
            ""
        };
        text += &format!("event e{event} = before f{event}({keys}x, y, q{more})\n");
    }
    text += "var n = 0\nvar flag = false\nvar last = 0\n";
    for state in 0..STATES {
        let accepting = if kinds >> state & 1 == 1 && state > 0 {
            "non-accepting"
        } else {
            "accepting"
        };
        let is_final = kinds >> (4 + state) & 1 == 1 && state > 1;
        text += &format!(
            "state s{state} {accepting}{}",
            if is_final { " final" } else { "" }
        );
        if is_final {
            text += "\n";
            continue;
        }
        text += " {\n";
        for (_, event, guard, update, target, other, otherwise) in
            transitions.iter().filter(|it| it.0 == state)
        {
            let block = |it: &Option<usize>| {
                it.map_or(String::new(), |it| format!("{{ {} }}", UPDATES[it]))
            };
            let condition = guard.map_or(String::new(), |it| format!("when {}", GUARDS[it]));
            text += &format!("on e{event} {condition} {} -> s{target}", block(update));
            if let (Some(otherwise), Some(_)) = (otherwise, guard) {
                text += &format!(" else {} -> s{otherwise}", block(other));
            }
            text += "\n";
        }
        text += "}\n";
    }
    text
}

fn property(
    parameters: usize,
    has_all: bool,
    kinds: u8,
    transitions: &[Drawn],
) -> Option<Property> {
    let (mut properties, _) = load(&source(parameters, has_all, kinds, transitions));
    (!properties.is_empty()).then(|| properties.remove(0))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn operations_agree_with_the_monitor(
        parameters in 0..3_usize,
        has_all in any::<bool>(),
        kinds in any::<u8>(),
        transitions in prop::collection::vec(drawn(), 4..16),
        records in prop_oneof![Just(0_usize), Just(3), Just(64)],
        events in events(40),
    ) {
        if let Some(property) = property(parameters, has_all, kinds, &transitions) {
            run(property, records, &events);
        }
    }

    #[test]
    fn the_monitor_and_the_table_continue_each_other(
        parameters in 0..3_usize,
        has_all in any::<bool>(),
        kinds in any::<u8>(),
        transitions in prop::collection::vec(drawn(), 4..16),
        records in prop_oneof![Just(0_usize), Just(3), Just(64)],
        events in events(60),
        moments in prop::collection::vec(any::<u8>(), 1..30),
    ) {
        if let Some(property) = property(parameters, has_all, kinds, &transitions) {
            changing::run(&property, records, &events, &moments);
        }
    }
}

#[test]
fn most_properties_can_be_drawn_and_most_events_are_native() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut drawn_count, mut gates, mut all) = (0, 0, 0);
    for _ in 0..200 {
        let transitions = prop::collection::vec(drawn(), 4..16);
        let given = (transitions, events(40)).new_tree(&mut runner).unwrap();
        let (transitions, events) = given.current();
        let Some(property) = property(1, false, 0, &transitions) else {
            continue;
        };
        drawn_count += 1;
        if let Some((gated, sum)) = run(property, 64, &events) {
            gates += gated;
            all += sum;
        }
    }
    assert!(drawn_count > 100, "{drawn_count}");
    assert!(gates * 2 < all, "{gates} of {all}");
}

fn given(event: u16, values: &[i64]) -> Given {
    let values = values.iter().map(|n| Value::Int((*n).into())).collect();
    (event, values, 1, 0)
}

/// The occupied states are more than the bits of a word.
#[test]
fn many_states_take_several_words() {
    for slice in ["", "slice on a"] {
        let mut source =
            format!("property p {slice} event e = before f(a, x) event g = before h(a, x)\n");
        for state in 0..140 {
            source += &format!(
                "state s{state} {{ on e when x > 1 -> s{}",
                (state + 1) % 140
            );
            source += &match state % 7 {
                0 => " }\n".to_owned(),
                _ => format!(" on g -> s{} }}\n", (state * 3) % 140),
            };
        }
        let property = || load(&source).0.remove(0);
        let mut events = Vec::new();
        for number in 0..900_i64 {
            let event = u16::from(number % 11 == 3);
            events.push(given(event, &[number % 5, number % 4]));
        }
        assert_eq!(run(property(), 16, &events), Some((0, 900)));
    }
}

/// Slices come and go in many places; the table grows and is cleaned.
#[test]
fn a_table_grows() {
    let source = "property p slice on k
        event open = before o(k)
        event close = before c(k)
        event gone = before g(k)
        state none { on open -> opened }
        state opened { on close -> closed on gone -> over }
        state closed { on open -> opened on gone -> over }
        state over final";
    let property = || load(source).0.remove(0);
    let mut events = Vec::new();
    for round in 0..3_i64 {
        for key in 0..700 {
            events.push(given(0, &[key * 16]));
            if key % 3 == round {
                events.push(given(2, &[key * 16]));
            }
            if key % 5 == 0 {
                events.push(given(1, &[-key - 1]));
                events.push(given(0, &[-key - 1]));
                events.push(given(2, &[-key - 1]));
            }
        }
    }
    let (mut monitor, mut words) = super::pair(property(), 1_024).unwrap();
    for event in &events {
        super::step_both(&mut monitor, &mut words, event);
    }
    super::compare(&monitor, &words);
    assert!(words.gates().get(&Why::Full).is_some_and(|&n| n < 40));
    // Only final states, negative keys and growth trap.
    let traps = [Why::Full, Why::Value, Why::Verdict];
    assert!(words.gates().keys().all(|why| traps.contains(why)));
}

/// More contents of slices than are remembered: some are moved, some are not, one cannot be
/// evaluated.
#[test]
fn an_event_of_every_slice_moves_each_by_its_own_values() {
    let source = "property p slice on k
        var n = 0
        event put = before f(k, x)
        event all = before g(y)
        state none { on put { n = x } -> kept }
        state kept { on put { n = x } -> kept on all when 100 / n > y { n = n * 2 } -> kept else -> rest }
        state rest { on put { n = x } -> kept }";
    let property = || load(source).0.remove(0);
    let mut events = Vec::new();
    for round in 0..4_i64 {
        for key in 0..80 {
            events.push(given(0, &[key, (key % 40) * round]));
        }
        events.push(given(1, &[10]));
        events.push(given(1, &[3]));
    }
    for records in [0, 16, 4_096] {
        let (mut monitor, mut words) = super::pair(property(), records).unwrap();
        for event in &events {
            super::step_both(&mut monitor, &mut words, event);
            super::compare(&monitor, &words);
        }
        // A division by 0 is an error.
        let has = |n: i128| {
            let mut slices = monitor.slices();
            slices.any(|slice| *slice.environment == [Value::Int(n)])
        };
        assert!(has(0) && has(36));
    }
}
