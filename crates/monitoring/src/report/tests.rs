use super::*;
use crate::samples::{PLACES, TWICE, event, id_of, monitored, monitors, take, take_at};
use juror_instrument::capture_plan::CaptureError;
use juror_instrument::probes::InlinedCallSite;

/// Returns the code, the message and the help of an event that does not fit a program.
fn said(text: &str, error: BindError) -> (&'static str, String, String) {
    let diagnostic = bind_diagnostic(&event(text), &error);
    let help = diagnostic.help.unwrap_or_default();
    (diagnostic.code, diagnostic.message, help)
}

fn unknown(near: Option<&str>, is_stripped: bool) -> BindError {
    BindError::UnknownFunction {
        near: near.map(str::to_owned),
        is_stripped,
    }
}

#[test]
fn an_unknown_function_has_advice_that_fits() {
    let library = "before pusch() in \"libq.so\"";
    for (text, error, message, help) in [
        (
            "before pusch()",
            unknown(Some("push"), true),
            "the program has no function `pusch`",
            "did you mean `push`?",
        ),
        (
            "before pusch()",
            unknown(None, true),
            "the program has no",
            "was stripped",
        ),
        (
            "before pusch()",
            unknown(None, false),
            "the program has no",
            "add `in library`",
        ),
        (
            library,
            unknown(None, false),
            "`libq.so` has no function `pusch`",
            "name another file",
        ),
        (
            library,
            unknown(None, true),
            "`libq.so` has no function `pusch`",
            "was stripped",
        ),
    ] {
        let (code, told, advice) = said(text, error);
        assert_eq!(code, "unknown-function");
        assert!(told.starts_with(message), "{told}");
        assert!(advice.contains(help), "{advice}");
    }
}

#[test]
fn an_event_without_a_subject_is_wrong_as_a_whole() {
    let error = || BindError::Subject {
        message: "it cannot be".to_owned(),
        help: Some("do this".to_owned()),
        is_absent: false,
    };
    let place = |event: &SymbolicEvent| bind_diagnostic(event, &error()).span;
    let with = event("entry read");
    assert_eq!(place(&with), with.subject_span);
    let mut without = with;
    without.subject_span = 0..0;
    assert_eq!(place(&without), without.span);
    assert_eq!(said("entry read", error()).2, "do this");
}

#[test]
fn a_value_that_cannot_be_read_is_shown_at_its_capture() {
    let error = |slot, function: &str| BindError::Capture {
        slot,
        error: CaptureError::new("it is gone"),
        function: function.to_owned(),
    };
    let declared = event("before push(first, second)");
    let diagnostic = bind_diagnostic(&declared, &error(1, "push"));
    assert_eq!(diagnostic.span, declared.captures[1].span);
    assert_eq!(diagnostic.message, "it is gone");
    // A name may stand for several functions.
    let diagnostic = bind_diagnostic(&declared, &error(0, "queue::push"));
    assert_eq!(diagnostic.message, "in `queue::push`: it is gone");
    assert_eq!(
        bind_diagnostic(&declared, &error(9, "push")).span,
        declared.span
    );
}

#[test]
fn an_indirect_function_is_no_place_for_an_event() {
    let (code, message, _) = said("before memcpy()", BindError::Indirect);
    assert_eq!(code, "indirect-function");
    assert!(
        message.starts_with("`memcpy` is selected when"),
        "{message}"
    );
}

fn site(location: &str, function: &str, why: Option<&str>, is_likely: bool) -> InlinedCallSite {
    InlinedCallSite {
        location: location.to_owned(),
        function: function.into(),
        module: "program".to_owned(),
        why: why.map(str::to_owned),
        is_likely,
    }
}

/// Returns the message and the help for inlined calls.
fn inlined(text: &str, sites: Vec<InlinedCallSite>, only: bool) -> (String, String) {
    let error = BindError::Inlined {
        sites,
        only,
        elsewhere: None,
    };
    let (_, message, help) = said(text, error);
    (message, help)
}

#[test]
fn inlined_calls_are_refused_with_the_way_that_takes_them() {
    let plain = || vec![site("a.c:3", "f", None, false)];
    let (message, help) = inlined("before f()", plain(), true);
    assert_eq!(message, "`f` exists only inlined into its callers");
    assert!(
        help.starts_with("at a.c:3; monitor them with --at-inlined, build"),
        "{help}"
    );
    let (message, _) = inlined("before f()", plain(), false);
    assert!(
        message.starts_with("some calls of `f` were inlined"),
        "{message}"
    );
    let (_, help) = inlined("after f()", plain(), false);
    assert!(
        help.starts_with("at a.c:3; inlined calls have no return; build"),
        "{help}"
    );
}

#[test]
fn an_inlined_call_without_a_mark_names_the_option_for_it() {
    let why = Some("it has no mark");
    let (message, help) = inlined("before f()", vec![site("a.c:3", "f", why, true)], false);
    assert!(message.contains("may begin elsewhere than"), "{message}");
    assert!(help.contains("a.c:3: it has no mark"), "{help}");
    assert!(help.contains("--at-inlined=likely"), "{help}");
    let (_, help) = inlined("before f()", vec![site("a.c:3", "f", why, false)], false);
    assert!(!help.contains("--at-inlined"), "{help}");
}

#[test]
fn many_inlined_calls_and_other_functions_are_cut_short() {
    let sites =
        (1..=7).map(|line| site(&format!("a.c:{line}"), &format!("n{line}::f"), None, false));
    let (_, help) = inlined("before f()", sites.collect(), false);
    assert!(help.contains("a.c:5 and 2 more;"), "{help}");
    assert!(!help.contains("a.c:6"), "{help}");
    assert!(
        help.contains("calls of `n1::f`, `n2::f`, `n3::f` and 4 more:"),
        "{help}"
    );
    // The parameters of a function are no part of its name.
    let own = vec![site("a.c:1", "f(int)", None, false)];
    let (_, help) = inlined("before f()", own, false);
    assert!(!help.contains("these are calls"), "{help}");
}

#[test]
fn an_access_shows_what_was_stored_apart_from_the_values() {
    let accesses = "property p
        event w = write total
        state s accepting { on w -> t }
        state t accepting { on w -> u }
        state u non-accepting final {}";
    let mut monitored = monitored(accesses);
    take(&mut monitored, "w", &[1, 2], 0x10);
    take(&mut monitored, "w", &[2, 3], 0x10);
    let slice = monitored.monitor.changes()[0].slice;
    let view = violation(&monitored, slice, PLACES, false, false);
    let last = view.path.last().expect("a step");
    let stored = last.stored.as_ref().expect("a store");
    let before = stored.before.as_ref().map(Value::to_string);
    assert_eq!(
        (before.as_deref(), stored.after.to_string().as_str()),
        (Some("2"), "3")
    );
    assert!(last.values.is_empty(), "{:?}", last.values);
}

#[test]
fn a_value_that_the_property_asked_for_is_shown_with_the_store() {
    let mut declared = event("write total(after = value)");
    declared.captures[0].span = 1..2;
    crate::monitors::captures::add(&mut declared);
    let captured = [Value::Int(9), Value::Int(8)];
    let names = declared.captures.iter().map(|it| it.name.to_string());
    let mut values: Vec<NamedValue> = names
        .zip(&captured)
        .map(|(name, value)| NamedValue {
            name,
            value: value.clone(),
        })
        .collect();
    let stored = stored(Some(&declared), &captured, &mut values).expect("a store");
    assert_eq!(
        (stored.before, stored.after),
        (Some(Value::Int(8)), Value::Int(9))
    );
    let names: Vec<&str> = values.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["after"]);
}

/// Returns an outcome with violations of these monitors, each in its first slice.
fn outcome(numbers: &[usize]) -> EventOutcome {
    let violated = |&monitor: &usize| ViolatedSlice {
        monitor,
        slice: SliceId(0),
        repeated: false,
    };
    EventOutcome {
        violations: numbers.iter().map(violated).collect(),
        ..EventOutcome::default()
    }
}

/// Three properties with these names.
fn three() -> Monitors {
    let property =
        |name| format!("property {name} event a = before a() state s accepting {{ on a -> s }}\n");
    monitors(&["x", "y", "z"].map(property).concat())
}

#[test]
fn the_properties_of_a_stop_are_in_the_order_of_their_files() {
    let reason = reason(&three(), &outcome(&[2, 0, 1]), PLACES);
    let StopReason::Violation { violations } = reason else {
        panic!("{reason:?}");
    };
    let names: Vec<&str> = violations.iter().map(|it| it.property.as_str()).collect();
    assert_eq!(names, ["x", "y", "z"]);
}

#[test]
fn a_violation_is_reported_before_an_error() {
    let error = EvaluationError {
        message: "it is 0".to_owned(),
        span: 3..5,
    };
    let mut both = outcome(&[0]);
    both.error = Some((1, error.clone()));
    let told = reason(&three(), &both, PLACES);
    assert!(matches!(told, StopReason::Violation { .. }), "{told:?}");
    both.violations.clear();
    let told = reason(&three(), &both, PLACES);
    let StopReason::MonitorError {
        property,
        start,
        end,
        ..
    } = told
    else {
        panic!("{told:?}");
    };
    assert_eq!((property.as_str(), start, end), ("y", 3, 5));
}

#[test]
fn reports_at_one_stop_are_limited() {
    let many = outcome(&[0; VIOLATIONS_MAX + 3]);
    let told = reason(&three(), &many, PLACES);
    let StopReason::Violation { violations } = told else {
        panic!("{told:?}");
    };
    assert_eq!(violations.len(), VIOLATIONS_MAX);
    let at_end = end_violations(&three(), &many.violations, PLACES, true);
    assert_eq!(at_end.len(), VIOLATIONS_MAX);
    assert!(at_end.iter().all(|it| it.at_end));
}

#[test]
fn a_slice_that_has_ended_is_known_by_the_values_of_its_event() {
    let ends = TWICE.replace("wrong non-accepting final", "wrong accepting final");
    let mut monitored = monitored(&ends);
    take(&mut monitored, "a", &[5], 0);
    take(&mut monitored, "a", &[5], 0);
    let change = monitored.monitor.changes()[0];
    assert!(change.ended);
    let bound = bound_of(
        &monitored,
        &change,
        id_of(&monitored, "a"),
        &[Value::Int(5)],
    );
    assert_eq!(bound, [Some(Value::Int(5))]);
}

#[test]
fn a_deadline_is_a_step_with_the_event_that_set_it() {
    let late = "property p
        event a = before a()
        event b = before b()
        ltl always (a implies eventually within 10 ns b)";
    let mut monitored = monitored(late);
    take_at(&mut monitored, "a", &[], (0x10, 100));
    let mut outcome = EventOutcome::default();
    monitored
        .pass_time(0, 500, &mut outcome)
        .expect("it is due");
    let slice = outcome.violations[0].slice;
    let view = violation(&monitored, slice, PLACES, false, false);
    let deadline = view.deadline.expect("time has decided");
    assert_eq!((deadline.time_ns, deadline.asked_ns), (110, Some(100)));
    let step = time_step(&deadline);
    assert_eq!((step.event.as_str(), step.thread), ("deadline", 1));
}

#[test]
fn the_view_of_a_monitor_has_its_needs_and_a_limited_number_of_slices() {
    let mut monitored = monitored(TWICE);
    let before = monitor(&monitored, PLACES);
    assert_eq!(
        (before.needed, before.not_needed),
        (vec!["a".to_owned()], vec!["b".to_owned()])
    );
    for value in 0..150 {
        take(&mut monitored, "a", &[value], 0);
    }
    let view = monitor(&monitored, PLACES);
    assert_eq!(view.needed, ["a", "b"]);
    assert_eq!(view.slices.len(), SLICES_MAX);
    assert!(view.slice_count >= 150);
}
