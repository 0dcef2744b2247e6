//! Each reason why a property, or an event, is not native.

use super::{capture, words_of};
use crate::lowering::{NotNative, Op, Options, Place, Why, WordKind, lower};
use crate::monitor::Monitor;
use juror_language::load;
use std::sync::Arc;

fn lowered(source: &str) -> Result<Vec<Option<NotNative>>, NotNative> {
    let (mut properties, diagnostics) = load(source);
    assert!(!properties.is_empty(), "{diagnostics:?}");
    let property = properties.remove(0);
    let words = words_of(&property);
    let monitor = Monitor::new(Arc::new(property)).unwrap();
    let lowered = lower(&monitor, &words, &Options::default())?;
    let steps = lowered.program().steps.iter();
    Ok(steps.map(|step| step.why.clone()).collect())
}

#[track_caller]
fn refused(source: &str, expected: &str) {
    assert_eq!(lowered(source).unwrap_err().to_string(), expected);
}

#[test]
fn properties_are_refused_with_a_place_and_words() {
    let with = |variable: &str, update: &str| {
        format!(
            "property p event e = before f(x) {variable}
             state s {{ on e when v == v {{ {update} }} -> s }}"
        )
    };
    refused(
        &with("var v = \"a\"", "v = v"),
        "the variable `v` holds text",
    );
    refused(
        &with("var v = 1.5", "v = v"),
        "the variable `v` holds a fraction",
    );
    refused(
        &with("var v = {1}", "v = v"),
        "the variable `v` holds a collection",
    );
    refused(
        "property p slice on a, b event e = before f(a) event g = before h(a, b)
         state s { on e -> s on g -> s }",
        "the event `e` binds some of the parameters, and not all",
    );
}

#[test]
fn a_formula_whose_states_are_made_during_the_run_is_refused() {
    // One state for each set of events that have occurred.
    let of = |count: u32| {
        let events: String = (0..count)
            .map(|it| format!("event e{it} = before f{it}\n"))
            .collect();
        let formulas: Vec<String> = (0..count).map(|it| format!("eventually e{it}")).collect();
        format!("property p\n{events}ltl {}", formulas.join(" and "))
    };
    assert!(lowered(&of(4)).is_ok());
    refused(&of(9), "the property has a formula without a finite table");
}

#[test]
fn an_event_that_binds_nothing_traps_alone() {
    let steps = lowered(
        "property p slice on a event e = before f(a) event g = before h
         state s { on e -> t } state t { on g -> s }",
    );
    let steps = steps.unwrap();
    assert_eq!(steps[0], None);
    let why = steps[1].as_ref().unwrap();
    assert_eq!(why.place, Place::Event("g".into()));
    assert_eq!(why.to_string(), "the event `g` concerns every slice");
}

#[test]
fn values_that_are_no_words_refuse_their_event() {
    let source = "property p slice on a event e = before f(a, x) event g = before h(a)
         state s { on e when x == 1 -> t } state t { on g -> s }";
    let property = Arc::new(load(source).0.remove(0));
    let monitor = Monitor::new(Arc::clone(&property)).unwrap();
    let mut words = words_of(&property);
    let text = NotNative {
        place: Place::Event("e".into()),
        span: 0..1,
        why: "reads text".into(),
    };
    words[0] = Err(text.clone());
    let program = lower(&monitor, &words, &Options::default()).unwrap();
    assert_eq!(program.program().steps[0].why, Some(text));
    assert_eq!(program.program().steps[0].ops, [Op::Gate(Why::Event)]);
    for (captures, why) in [
        (vec![], "has other values, or more than 64"),
        (
            vec![Some(capture(WordKind::Boolean)), None],
            "binds a truth value",
        ),
        (vec![None, None], "binds a value that is not captured"),
    ] {
        words[0] = Ok(crate::lowering::EventWords { captures });
        let program = lower(&monitor, &words, &Options::default()).unwrap();
        let found = program.program().steps[0].why.clone().unwrap();
        assert_eq!(&*found.why, why);
    }
    let program = lower(&monitor, &[], &Options::default());
    let expected = "the event `e` has no values in machine words";
    assert_eq!(program.unwrap_err().to_string(), expected);
}

#[test]
fn scenarios_listen_through_gates() {
    let source = "property p event e = before f event g = before h
         state s { on e -> t } state t { on g -> s }";
    let property = Arc::new(load(source).0.remove(0));
    let monitor = Monitor::new(Arc::clone(&property)).unwrap();
    let options = Options {
        listening: 0b10,
        ..Options::default()
    };
    let lowered = lower(&monitor, &words_of(&property), &options).unwrap();
    let hears = |event: usize| {
        let steps = &lowered.program().steps;
        steps[event].ops.contains(&Op::Gate(Why::Scenario))
    };
    assert!(!hears(0) && hears(1));
}
