use crate::recording::*;

fn load(source: &str) -> Vec<Property> {
    let (properties, diagnostics) = juror_language::load(source);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    properties
}

fn recording(events: &[&str]) -> Recording {
    Recording {
        file: "trace".into(),
        binary: false,
        events: events.iter().map(|&event| event.to_owned()).collect(),
    }
}

/// Returns the recorded events, each with its values.
fn recorded(source: &str, events: &[&str]) -> Vec<String> {
    let properties = load(source);
    let property = property(properties.iter(), &recording(events)).expect("they are right");
    let words = |event: &SymbolicEvent| {
        let reads = event.captures.iter().map(|it| read_words(&it.read));
        let reads: Vec<String> = reads.collect();
        assert!(event.captures.iter().all(|capture| !capture.hoisted));
        format!("{}: {}", event_words(event), reads.join(", "))
    };
    property.events.iter().map(words).collect()
}

const SOURCE: &str = "
property a slice on q
event one = before f(q)
event two = after f(size: u32 = arg 2) returns q
state s accepting { on one when q->n > 1 -> s on two when size > 1 -> s }
property b
event three = before f(x = arg 1, q)
event four = before f in \"lib.so\" (x)
state s accepting { on three when x > 1 -> s on four when x > 1 -> s }
";

#[test]
fn a_moment_of_a_subject_is_recorded_once_with_all_that_is_read() {
    let source = SOURCE.replace(" in \"lib.so\" (x)", "(x) in \"lib.so\"");
    assert_eq!(
        recorded(&source, &["before f(y)", "before g(z) in library"]),
        [
            "before f: q, q->n, arg 1, y",
            "after f: arg 2: u32, ret",
            "before f in \"lib.so\": x",
            "before g: z",
        ]
    );
}

#[test]
fn a_recorder_needs_everything_always() {
    let recorded = property(
        std::iter::empty(),
        &recording(&["before f(x)", "after g(y)"]),
    );
    let recorded = Arc::new(recorded.expect("they are right"));
    let mut monitor =
        juror_monitor::Monitor::with_history(Arc::clone(&recorded), 0).expect("it is an automaton");
    for _ in 0..2 {
        for need in monitor.needs() {
            assert!(need.needed);
            assert_eq!(need.captures, 1);
        }
        let happened = juror_monitor::Occurrence {
            thread: 1,
            address: 0,
            time: 0,
            values: &[juror_event::Value::Int(1)],
        };
        monitor
            .step(EventId(0), &happened)
            .expect("there is no guard");
    }
}

#[test]
fn a_mistake_in_a_named_event_is_shown_in_its_text() {
    let error = property(
        std::iter::empty(),
        &recording(&["before f(x)", "before f("]),
    );
    let Err(SessionError::Property { file, found }) = error else {
        panic!("it is wrong: {error:?}");
    };
    assert_eq!(file, "--record");
    let juror_fault::FileDiagnostics {
        text, diagnostics, ..
    } = &found[0];
    let first = diagnostics.first().expect("a mistake");
    let line = text
        .get(..first.span.start)
        .expect("a place")
        .lines()
        .count();
    assert!(line >= 2, "{text} {first:?}");
}

#[test]
fn the_thread_and_the_time_of_a_record_are_no_values() {
    let source = "property p
event a = entry read(n = arg 1, thread, time)
state s accepting { on a when thread > 1 and time > 1 and n > 1 -> s }";
    assert_eq!(recorded(source, &[]), ["entry read: arg 1"]);
}

#[test]
fn an_event_of_a_property_may_be_in_a_library_that_comes_later() {
    let properties = load("property p event a = before f() state s accepting { on a -> s }");
    let of = |properties: &[Property], events: &[&str]| {
        let recorded = property(properties.iter(), &recording(events)).expect("they are right");
        recorded.events[0].reach.clone()
    };
    // The property reports a function that is not there.
    assert_eq!(of(&properties, &[]), Reach::Library);
    assert_eq!(of(&[], &["before f()"]), Reach::Anywhere);
}

#[test]
fn an_event_has_a_limited_number_of_values() {
    let event = |count: usize| {
        let reads: Vec<String> = (1..=count).map(|n| format!("a{n}")).collect();
        format!("before f({})", reads.join(", "))
    };
    let of = |events: &[&str]| property(std::iter::empty(), &recording(events));
    let most = event(VALUES_MAX);
    assert!(of(&[&most]).is_ok());
    let Err(SessionError::Launch(message)) = of(&[&most, "before f(b)"]) else {
        panic!("it has too many");
    };
    assert!(
        message.contains("more than 64 values at `before f`"),
        "{message}"
    );
}

#[test]
fn a_recorder_that_has_not_begun_records_nothing() {
    let recorded = property(std::iter::empty(), &recording(&["before f()"]));
    let mut recorder = Recorder::new(Arc::new(recorded.expect("it is right")), recording(&[]));
    assert_eq!((recorder.file(), recorder.failure()), (None, None));
    assert!(recorder.mark().is_none());
    // A restore without a trace, to a moment without one, is no failure.
    assert_eq!(recorder.cut(None), None);
    recorder.end_with(None, &[false]);
    assert_eq!(recorder.failure(), None);
}
