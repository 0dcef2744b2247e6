//! Tests the core without a program: the effects of reactions, in order; and triggers, against the
//! names of states.

use crate::state::scenarios::performance::{Effect, Performance, World};
use juror_event::{EventId, Value};
use juror_language::{ContextValue, Property, Scenario, StateName, Trigger, load_with};
use juror_monitor::{Change, Monitor, Occurrence};
use juror_monitoring::listeners::ContextValues;
use juror_monitoring::listening::listeners;
use proptest::prelude::*;
use std::sync::Arc;

/// A program in which every expression has the length of its text.
struct Lengths(Vec<String>);

impl World for Lengths {
    fn read(&mut self, code: &str) -> Result<Value, String> {
        self.0.push(code.to_owned());
        match code {
            "missing" => Err("there is no `missing` here".to_owned()),
            _ => Ok(Value::Int(code.len() as i128)),
        }
    }
}

fn load(source: &str) -> (Vec<Property>, Vec<Scenario>) {
    let loaded = load_with("", source, &mut |_| Err("no files".to_owned()));
    assert_eq!(loaded.diagnostics, [], "{source}");
    (loaded.properties, loaded.scenarios)
}

/// Returns the effects of a reaction, with numbers from 100 on as replies, and its reads of the
/// program.
fn performed(variables: &str, body: &str) -> Result<(Vec<String>, Vec<String>), String> {
    let source = format!("scenario s {variables} on start {{ {body} }}");
    let (_, scenarios) = load(&source);
    let scenario = &scenarios[0];
    let mut values: Vec<Value> = scenario
        .variables
        .iter()
        .map(|it| it.initial.clone())
        .collect();
    let mut context_values = ContextValues::default();
    context_values.note(ContextValue::Thread, Value::Int(7));
    let mut performance = Performance::new(&scenario.reactions[0].body, Vec::new(), context_values);
    let mut world = Lengths(Vec::new());
    let mut effects = Vec::new();
    loop {
        match performance.next(&mut values, &mut world) {
            Ok(None) => return Ok((effects, world.0)),
            Ok(Some(effect)) => {
                performance.reply(100 + effects.len() as u64, &mut values);
                effects.push(match effect {
                    Effect::Print(text) => text,
                    Effect::Point {
                        word,
                        place,
                        reaction,
                        ..
                    } => {
                        format!("{} {place} {}", word.text(), reaction.is_some())
                    }
                    other => format!("{other:?}"),
                });
            }
            Err(failure) => return Err(format!("{}: {}", &source[failure.span], failure.message)),
        }
    }
}

#[track_caller]
fn check(variables: &str, body: &str, expected: &[&str], asked: &[&str]) {
    let (effects, codes) = performed(variables, body).expect("it goes well");
    assert_eq!(
        (&effects[..], &codes[..]),
        (&words(expected)[..], &words(asked)[..]),
        "{body}"
    );
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&it| it.to_owned()).collect()
}

#[track_caller]
fn check_failure(variables: &str, body: &str, expected: &str) {
    assert_eq!(
        performed(variables, body),
        Err(expected.to_owned()),
        "{body}"
    );
}

#[test]
fn statements_are_carried_out_in_order() {
    check(
        "",
        "print \"a\" stop continue",
        &["a", "Stop(None)", "Continue"],
        &[],
    );
    check(
        "var x = 1",
        "x += 2 print x, thread if x == 3 { print \"yes\" }",
        &["3 7", "yes"],
        &[],
    );
    check(
        "",
        "for i in 0..3 { for j in [i, 9] { if i != 1 { print \"{i}{j}\" } } } print \"end\"",
        &["00", "09", "22", "29", "end"],
        &[],
    );
    check(
        "",
        "for i in 0..0 { print i } for i in 0..2 { } print 1",
        &["1"],
        &[],
    );
    check(
        "var m = {1: 2}",
        "for k in m { m[k] = 5 } print m[1]",
        &["5"],
        &[],
    );
}

#[test]
fn replies_go_where_they_are_wanted() {
    check(
        "var last = 0",
        "last = checkpoint var p = break f print last, p restore last remove p",
        &[
            "Checkpoint",
            "break f false",
            "100 101",
            "Restore(100)",
            "Remove(101)",
        ],
        &[],
    );
    check(
        "var last = 5",
        "checkpoint print last",
        &["Checkpoint", "5"],
        &[],
    );
}

#[test]
fn the_program_is_asked_when_it_is_needed() {
    check(
        "var i = 3",
        "if i == 3 or program(missing) == 1 { print program(cells[i]) }",
        &["8"],
        &["cells[3]"],
    );
    check(
        "var i = -1 var t = \"a\\\"b\"",
        "set x[i] = t watch cells[i + 1] when $1 > i { stop }",
        &[
            "Set(\"x[(-1)] = \\\"a\\\\\\\"b\\\"\")",
            "watch cells[(-1) + 1] if $1 > (-1) true",
        ],
        &[],
    );
    check(
        "var i = 2",
        "i = program(abcd) + i print i",
        &["6"],
        &["abcd"],
    );
}

#[test]
fn what_has_no_value_is_told_with_its_place() {
    check_failure(
        "",
        "print program(missing)",
        "program(missing): there is no `missing` here",
    );
    check_failure(
        "var n = 0",
        "restore 0 - 1",
        "0 - 1: -1 is not the number of a point or checkpoint",
    );
    check_failure("var m = {1}", "watch x[m]", "m: the program has no set");
    check_failure(
        "",
        "for i in 0..1_000 { for j in 0..1_000 { continue } }",
        "continue: this reaction executes more than 100000 statements",
    );
}

const PROPERTY: &str = "property p
event a = before a() event b = before b() event c = before c()
state init accepting { on a -> good on b -> bad on c }
state good accepting action entered { on a -> init on b -> bad action fell on c -> good action again }
state bad non-accepting action sunk { on a -> good on b on c -> gone }
state gone non-accepting final";

/// Returns whether a step triggers, from the names in the text.
fn is_meant(trigger: &Trigger, property: &Property, change: &Change, event: EventId) -> bool {
    let state = |id: juror_language::StateId| property.state(id).expect("a state");
    let (from, to) = (state(change.from), state(change.to));
    let among = |names: &[StateName], state: &juror_language::State| {
        names.iter().any(|name| match name {
            StateName::Named(name) => *name == state.name,
            StateName::Accepting => state.accepting,
            StateName::NonAccepting => !state.accepting,
            StateName::Final => state.is_final,
        })
    };
    let moves = from.name != to.name;
    match trigger {
        Trigger::Enter(names) => moves && among(names, to),
        Trigger::Leave(names) => moves && among(names, from),
        Trigger::Verdict(verdicts) => {
            change.verdict_before != change.verdict_after
                && verdicts.contains(&change.verdict_after)
        }
        Trigger::Action(name) => {
            let taken = from.transitions.iter().filter(|it| it.event == event);
            let mut branches = taken.flat_map(|it| it.branches());
            let names_it = |action: &Option<Box<str>>| action.as_ref() == Some(name);
            (moves && names_it(&to.action))
                || branches.any(|it| it.target == change.to && names_it(&it.action))
        }
        _ => false,
    }
}

proptest! {
    #[test]
    fn what_is_heard_is_what_the_names_say(events in prop::collection::vec(0_u16..3, 0..40)) {
        let triggers = [
            "enter good", "enter bad, gone", "enter accepting", "enter non-accepting",
            "enter final", "leave good", "leave accepting", "leave init, bad", "verdict",
            "verdict violated", "verdict presumably satisfied, presumably violated",
            "action entered", "action fell", "action again", "action sunk",
        ];
        let reactions: String = triggers.iter().map(|it| format!("on {it} {{ stop }} ")).collect();
        let (properties, scenarios) = load(&format!("{PROPERTY}\nscenario s {reactions}"));
        let property = &properties[0];
        let heard_by = listeners([(true, &scenarios[0])], property);
        prop_assert!(listeners([(false, &scenarios[0])], property).is_empty());
        let mut monitor = Monitor::new(Arc::new(property.clone())).expect("a property");
        for event in events.into_iter().map(EventId) {
            let happened = Occurrence { thread: 1, address: 0, time: 0, values: &[] };
            monitor.step(event, &happened).expect("a step");
            for change in monitor.changes() {
                for (position, reaction) in scenarios[0].reactions.iter().enumerate() {
                    let mut own = heard_by.iter().filter(|it| it.id.reaction as usize == position);
                    let is_triggered = own.any(|it| it.matches(change, event));
                    let wanted = is_meant(&reaction.trigger, property, change, event);
                    prop_assert_eq!(is_triggered, wanted, "{} at {:?}", triggers[position], change);
                }
            }
        }
    }
}

/// Transitions that only their actions distinguish: between the same states, on the same event,
/// with guards over variables that the step changes.
#[test]
fn an_action_is_of_the_branch_that_was_taken() {
    let source = "property p HEAD
event a = before a(i, x)
var n = 0
state init accepting {
    on a when x > n { n += x } -> init action more else -> init action less
    on b -> other
    on c -> other action first  on c -> other action second
}
state other accepting { on b when n > 9 -> init action back  on b -> init }
event b = before b(i)
event c = before c(i)
scenario s
on action more { print \"more\" }
on action less { print \"less\" }
on action back { print \"back\" }
on action first { print \"first\" }
on action second { print \"second\" }";
    let values = |slice: i128, x: i128| [Value::Int(slice), Value::Int(x)];
    for head in ["", "slice on i"] {
        // A transition that is never taken is a warning.
        let source = source.replace("HEAD", head);
        let loaded = load_with("", &source, &mut |_| Err("no files".to_owned()));
        let (property, scenarios) = (&loaded.properties[0], loaded.scenarios);
        let listening = listeners([(true, &scenarios[0])], property);
        let mut monitor = Monitor::new(Arc::new(property.clone())).expect("a property");
        let mut is_triggered = |event: u16, slice: i128, x: i128| -> Vec<u32> {
            let values = values(slice, x);
            let happened = Occurrence {
                thread: 1,
                address: 0,
                time: 0,
                values: &values[..if event == 0 { 2 } else { 1 }],
            };
            monitor.step(EventId(event), &happened).expect("a step");
            let changes = monitor.changes().iter();
            let own = changes.flat_map(|change| {
                let meant = listening
                    .iter()
                    .filter(|it| it.matches(change, EventId(event)));
                meant.map(|it| it.id.reaction)
            });
            own.collect()
        };
        // A new instance, and an existing one.
        let steps: [((u16, i128), &[u32]); 8] = [
            ((0, 4), &[0]),
            ((0, 4), &[1]),
            ((1, 0), &[]),
            ((1, 0), &[]),
            ((0, 6), &[0]),
            ((1, 0), &[]),
            ((1, 0), &[2]),
            ((2, 0), &[3]),
        ];
        for (position, ((event, x), expected)) in steps.into_iter().enumerate() {
            assert_eq!(is_triggered(event, 1, x), expected, "{head} {position}");
        }
    }
}
