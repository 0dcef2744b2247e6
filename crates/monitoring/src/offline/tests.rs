use crate::offline::*;
use juror_trace::{Decoder, Form};
use juror_view::StopReason;
use juror_view::observer::SilentObserver;

fn offline(source: &str) -> Offline {
    let source = PropertySource::new("p.prop", source);
    let (offline, _) = Offline::load(&[source], 0).expect("the property is right");
    offline
}

fn batch(text: &str) -> Batch {
    let mut batch = Batch::default();
    let mut decoder = Decoder::new(Form::Json);
    decoder.decode(text.as_bytes(), true, &mut batch);
    assert_eq!(batch.faults, []);
    batch
}

/// Returns the events at which the run stops, numbered over all traces.
fn stops(offline: &mut Offline, traces: &[&str]) -> Vec<usize> {
    let mut stops = Vec::new();
    let mut count = 0;
    for (trace, text) in traces.iter().enumerate() {
        let batch = batch(text);
        offline.learn(trace, &batch);
        for event in &batch.events {
            if offline
                .step(trace, &batch, event, &mut SilentObserver)
                .is_some()
            {
                stops.push(count);
            }
            count += 1;
        }
    }
    stops
}

/// The second event of a call is not needed before the first has happened.
#[test]
fn an_event_makes_the_next_one_of_its_call_needed() {
    let mut offline = offline(
        "property p\nevent a = before f()\nevent b = before f()\n\
         state s accepting { on a -> t }\nstate t accepting { on b -> u }\n\
         state u non-accepting\n",
    );
    let event = "{\"event\":\"before f\"}\n";
    assert_eq!(stops(&mut offline, &[&event.repeat(3)]), [0]);
    let view = offline.finish(None);
    let events = &view.summaries[0].events;
    assert_eq!((events[0].occurrences, events[1].occurrences), (1, 1));
}

/// Two runs may have different places at the same address.
#[test]
fn places_belong_to_their_trace() {
    let mut offline = offline(
        "property p\nevent a = before f()\nstate s accepting { on a -> t }\n\
         state t accepting { on a -> u }\nstate u non-accepting\n",
    );
    offline.begin(2);
    let trace = |file: &str| {
        format!(
            "{{\"define\":0,\"address\":4096,\"file\":\"{file}\",\"line\":7}}\n\
             {{\"event\":\"before f\",\"place\":0}}\n"
        )
    };
    let (one, two) = (trace("one.c"), trace("two.c"));
    let (first, second) = (batch(&one), batch(&two));
    offline.learn(0, &first);
    offline.learn(1, &second);
    assert_eq!(
        offline.step(0, &first, &first.events[0], &mut SilentObserver),
        None
    );
    let reason = offline.step(1, &second, &second.events[0], &mut SilentObserver);
    let Some(StopReason::Violation { violations }) = reason else {
        panic!("{reason:?}");
    };
    let places = violations[0].path.iter().map(|step| {
        assert_eq!(step.location.address, 4096);
        step.location.file.as_deref().unwrap_or_default()
    });
    assert_eq!(places.collect::<Vec<_>>(), ["one.c", "two.c"]);
}

#[test]
fn a_run_that_was_stopped_decides_nothing() {
    let source = "property p\nevent a = before f()\nstate s non-accepting { on a -> t }\n\
                  state t accepting\n";
    for (how, violations) in [
        (None, 1),
        (Some(How::Exited(0)), 1),
        (Some(How::Killed(9)), 1),
        (Some(How::Stopped), 0),
        (Some(How::Detached), 0),
    ] {
        let mut offline = offline(source);
        assert_eq!(offline.finish(how).violations.len(), violations, "{how:?}");
    }
}

/// Evaluates a trace with the slices of a property in this number of shares; `None` if a single
/// monitor is required.
fn spread(offline: &mut Offline, trace: &str, shares: usize) -> Option<Vec<Said>> {
    assert_eq!(offline.part_count(shares, true), shares);
    let mut parts = offline.parts(shares, false, true);
    let mut told = Vec::new();
    let lines: Vec<&str> = trace.lines().collect();
    // Portions of a few events, all of one trace.
    let batch = batch(&lines.join("\n"));
    for part in &mut parts {
        part.learn(0, &batch);
    }
    offline.learn(0, &batch);
    for start in (0..batch.events.len()).step_by(3) {
        let events = start..(start + 3).min(batch.events.len());
        let mut findings = Vec::new();
        let mut standings = Vec::new();
        for part in &mut parts {
            part.take(0, (&batch, events.clone()), start as u64, &mut findings);
            standings.append(&mut part.standings());
        }
        offline.begin_portion(&standings);
        offline.count(0, &batch, events);
        let said = merge(findings);
        if !offline.is_sure(&said) {
            return None;
        }
        told.extend(said);
    }
    offline.take_back(parts);
    Some(told)
}

const RELEASED: &str = "property released slice on file
event open = before open(file)
event read = before read(file)
event close = before close(file)
state never accepting { on open -> held }
state held non-accepting { on close -> released  on read -> held }
state released accepting { on read -> wrong }
state wrong non-accepting\n";

fn lines(events: &[(&str, u32)]) -> String {
    let line = |(name, file): &(&str, u32)| {
        format!("{{\"event\":\"before {name}\",\"values\":{{\"file\":\"{file:#x}\"}}}}\n")
    };
    events.iter().map(line).collect()
}

/// The combined results of the shares are those of one monitor, including the events that count
/// while no slice or only slices of one share need them.
#[test]
fn shares_of_slices_are_one_property() {
    let mut events = vec![("read", 1), ("close", 2)];
    for file in 0..40 {
        events.extend([("open", file), ("read", file), ("read", 99)]);
        if file % 4 != 0 {
            events.push(("close", file));
        }
    }
    let trace = lines(&events);
    for shares in 2..6 {
        let mut alone = offline(RELEASED);
        assert_eq!(stops(&mut alone, &[&trace]), [0_usize; 0]);
        let mut together = offline(RELEASED);
        let told = spread(&mut together, &trace, shares);
        assert_eq!(told, Some(Vec::new()), "{shares} shares");
        let (alone, together) = (alone.finish(None), together.finish(None));
        assert_eq!(alone.violations.len(), VIOLATIONS_MAX);
        assert_eq!(format!("{together:?}"), without_numbers(&alone, &together));
    }
}

/// Returns the view of one monitor with the event numbers of the shares: numbers of all events, not
/// only of the needed ones.
fn without_numbers(alone: &EndView, together: &EndView) -> String {
    let mut view = alone.clone();
    for (violation, other) in view.violations.iter_mut().zip(&together.violations) {
        for (step, other) in violation.path.iter_mut().zip(&other.path) {
            step.sequence = other.sequence;
        }
    }
    format!("{view:?}")
}

/// A violation is told by the share that has the slice.
#[test]
fn a_share_tells_of_its_violations() {
    let trace = lines(&[
        ("open", 1),
        ("open", 2),
        ("close", 2),
        ("close", 1),
        ("read", 2),
    ]);
    let told = spread(&mut offline(RELEASED), &trace, 3).expect("it is sure");
    let [said] = told.as_slice() else {
        panic!("{told:?}");
    };
    let Some(StopReason::Violation { violations }) = &said.reason else {
        panic!("{said:?}");
    };
    let events = violations[0].path.iter().map(|step| step.event.as_str());
    assert_eq!(events.collect::<Vec<_>>(), ["open", "close", "read"]);
    assert_eq!(said.event, 4);
}

/// A missing value belongs to no share, and whether numbers beside addresses are shown as addresses
/// depends on what one monitor has seen.
#[test]
fn what_shares_cannot_know_is_left_to_one_monitor() {
    let unread = "{\"event\":\"before open\",\"values\":{\"file\":null}}\n";
    assert_eq!(spread(&mut offline(RELEASED), unread, 2), None);
    let number = "{\"event\":\"before open\",\"values\":{\"file\":7}}\n";
    let wrong = lines(&[("open", 1), ("close", 1), ("read", 1)]);
    let mixed = format!("{number}{wrong}");
    assert_eq!(spread(&mut offline(RELEASED), &mixed, 2), None);
}

/// Of an access that is two events the first may make the second needed, whatever the trace knows of
/// its place and time; and so may the first of two bindings of one event.
#[test]
fn an_event_makes_the_next_one_of_its_moment_needed() {
    let property = "property p\nevent store = write x\nevent access = access x\n\
        state s accepting { on store -> t }\nstate t accepting { on access -> u }\n\
        state u non-accepting\n";
    let events = |place: &str| {
        let event = |name| format!("{{\"time\":5,\"event\":\"{name} x\"{place}}}\n");
        event("write") + &event("access")
    };
    let mut of_others = offline(property);
    assert_eq!(stops(&mut of_others, &[&events("")]), [1]);
    let defined = "{\"define\":0,\"address\":4096,\"file\":\"a.c\",\"line\":7}\n";
    let recorded = format!("{defined}{}", events(",\"place\":0"));
    assert_eq!(stops(&mut offline(property), &[&recorded]), [1]);
    let twice = "property p\nevent store = write x\nevent again = write x\n\
        state s accepting { on store -> t }\nstate t accepting { on again -> u }\n\
        state u non-accepting\n";
    let once = "{\"event\":\"write x\"}\n";
    assert_eq!(stops(&mut offline(twice), &[once]), [0]);
}

/// Each event that a property names is a step, also if no condition of it holds.
#[test]
fn an_event_whose_condition_does_not_hold_is_a_step() {
    let call = |a: u32| format!("{{\"event\":\"before s\",\"values\":{{\"a\":{a}}}}}\n");
    let check = |clauses: &str, formula: &str, values: &[u32], expected: &[usize]| {
        let property =
            format!("property p\nevent s = before s(a)\nproposition p {clauses}\nltl {formula}\n");
        let trace: String = values.iter().map(|&a| call(a)).collect();
        let found = stops(&mut offline(&property), &[&trace]);
        assert_eq!(found, expected, "{clauses}: {formula}: {values:?}");
    };
    let pulse = "pulse s when a == 1";
    check(pulse, "always p", &[1, 0, 1], &[1]);
    check(pulse, "next not p", &[1, 0, 0], &[]);
    check(pulse, "next not p", &[1, 1], &[1]);
    check(pulse, "always (p implies next not p)", &[1, 0, 1, 0], &[]);
    check(pulse, "always (p implies next not p)", &[1, 0, 1, 1], &[3]);
    let lasting = "set s when a == 1 cleared s when a == 0";
    check(lasting, "always p", &[1, 2, 1, 0], &[3]);
    check(lasting, "yesterday p implies next p", &[2, 1], &[]);
}

const AFTER: &str = "property p
event a = before f()
event b = before g()
state s accepting { on a -> t }
state t accepting { on b -> u }
state u non-accepting\n";

fn called(names: &[&str]) -> String {
    let line = |name: &&str| format!("{{\"event\":\"before {name}\"}}\n");
    names.iter().map(line).collect()
}

#[test]
fn an_event_that_no_state_needs_is_counted_apart() {
    let mut offline = offline(AFTER);
    assert_eq!(stops(&mut offline, &[&called(&["g", "f", "f", "g"])]), [3]);
    let property = &offline.monitors.properties[0];
    assert_eq!(property.occurrences, [1, 1]);
    assert_eq!(property.unneeded, [1, 1]);
}

#[test]
fn a_disabled_property_counts_nothing() {
    let mut offline = offline(AFTER);
    offline.monitors.properties[0].is_enabled = false;
    assert_eq!(stops(&mut offline, &[&called(&["g", "f", "g"])]), [0; 0]);
    let property = &offline.monitors.properties[0];
    assert_eq!(
        (&property.occurrences, &property.unneeded),
        (&vec![0, 0], &vec![0, 0])
    );
}

#[test]
fn an_event_that_the_trace_does_not_record_is_an_error_with_advice() {
    let mut offline = offline(AFTER);
    let declared = "{\"declare\":\"before f\",\"parameters\":[]}\n";
    stops(&mut offline, &[&format!("{declared}{}", called(&["f"]))]);
    let Some(SessionError::Property { file, found }) = offline.not_recorded() else {
        panic!("one is missing");
    };
    let diagnostic = &found[0].diagnostics[0];
    assert_eq!((file.as_str(), found[0].diagnostics.len()), ("p.prop", 1));
    assert_eq!(diagnostic.message, "the trace does not record `before g`");
    let help = diagnostic.help.as_deref().unwrap_or_default();
    assert!(help.contains("--record 'before g(\u{2026})'"), "{help}");
    // A property does not hold without the event that could violate it.
    let end = offline.finish(None);
    assert_eq!(end.summaries[0].undecided, ["`before g` was not recorded"]);
    assert!(
        !end.summaries[0]
            .remarks
            .iter()
            .any(|it| it.contains("before g` never"))
    );
}

#[test]
fn events_of_no_property_are_counted_by_name() {
    let mut offline = offline(AFTER);
    let batch = batch(&called(&["f", "x", "y", "x", "g"]));
    offline.learn(0, &batch);
    assert_eq!(
        offline.others(),
        [("before x".to_owned(), 2), ("before y".to_owned(), 1)]
    );
    offline.begin(1);
    assert_eq!(offline.others(), []);
}

#[test]
fn the_end_of_a_trace_is_that_of_the_program() {
    for (how, ending) in [
        (Some(How::Exited(3)), Some(Ending::Exited { status: 3 })),
        (Some(How::Killed(9)), Some(Ending::Killed { signal: 9 })),
        (Some(How::Detached), None),
        (Some(How::Stopped), None),
        (None, None),
    ] {
        assert_eq!(offline(AFTER).finish(how).ending, ending, "{how:?}");
    }
}

#[test]
fn an_event_is_described_by_its_layout_and_place() {
    let mut offline = offline(AFTER);
    let batch = batch(
        "{\"define\":0,\"address\":4096,\"file\":\"a.c\",\"line\":7}\n\
         {\"event\":\"before f\",\"place\":0,\"thread\":2,\"time\":5}\n\
         {\"event\":\"write x\"}\n",
    );
    offline.learn(0, &batch);
    let reason = || StopReason::Violation {
        violations: Vec::new(),
    };
    let call = offline.describe(0, &batch.events[0], reason());
    assert_eq!((call.what.as_str(), call.is_call), ("before f", true));
    assert_eq!((call.thread, call.time_ns), (2, Some(5)));
    let location = call.location.expect("it was recorded");
    assert_eq!((location.address, location.line), (4096, Some(7)));
    let store = offline.describe(0, &batch.events[1], reason());
    assert_eq!(
        (store.what.as_str(), store.is_call, store.location),
        ("write x", false, None)
    );
}

#[test]
fn a_property_whose_event_was_never_bound_holds_only_if_that_is_allowed() {
    let trace = format!("{}{{\"unbound\":\"before g\"}}\n", called(&["f", "g"]));
    for (allow_unbound, undecided) in [(false, 1), (true, 0)] {
        let mut offline = offline(AFTER);
        offline.allow_unbound = allow_unbound;
        stops(&mut offline, &[&trace]);
        let end = offline.finish(None);
        assert_eq!(
            end.summaries[0].undecided.len(),
            undecided,
            "{:?}",
            end.summaries[0]
        );
    }
}

#[test]
fn slices_are_spread_if_there_are_threads_for_all_properties() {
    let two = [
        RELEASED,
        &RELEASED.replace("property released", "property again"),
    ]
    .concat();
    let whole = format!("{RELEASED}{}", AFTER);
    for (text, most, with_slices, expected) in [
        (RELEASED, 4, true, 4),
        (RELEASED, 4, false, 1),
        (RELEASED, 1, true, 1),
        (&two, 5, true, 4),
        (&two, 3, true, 2),
        // A property without slices has one share.
        (&whole, 4, true, 3),
    ] {
        assert_eq!(
            offline(text).part_count(most, with_slices),
            expected,
            "{most} {with_slices}"
        );
    }
}
