use super::*;

fn property(event: &str) -> Arc<Property> {
    let source = format!(
        "property p\nevent e = {event}\nstate s accepting {{ on e when queue > 0 -> s }}\n"
    );
    let (mut properties, diagnostics) = juror_language::load(&source);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    Arc::new(properties.remove(0))
}

fn layout(event: &str, keys: &[&str], parameters: Option<&[&str]>) -> Layout {
    let declaration = parameters.map(|parameters| {
        Arc::new(Declaration {
            event: event.to_owned(),
            parameters: parameters.iter().map(|&name| name.to_owned()).collect(),
        })
    });
    Layout {
        event: event.into(),
        keys: keys.iter().map(|&key| Arc::from(key)).collect(),
        declaration,
    }
}

/// Checks the capture `queue` of a property's event, in an event with these values.
#[track_caller]
fn check(event: &str, layout: &Layout, values: &[Value], expected: Option<Value>) {
    let mut binding = Binding::new(property(event));
    binding.add(layout);
    let mut captures = Vec::new();
    let given = binding.events(0).first().map(|found| {
        found.fill(values, u64::MAX, &mut captures);
        captures.first().cloned().expect("a capture")
    });
    assert_eq!(given, expected, "{event} in {layout:?}");
}

const ABSENT: Value = Value::Unavailable(Unavailability::NotCaptured);

#[test]
fn a_declared_event_has_its_values_by_the_words_that_read_them() {
    let recorded = |keys: &[&str]| layout("before f", keys, Some(&["queue", "other"]));
    let address = [Value::Address(8), Value::Int(5)];
    let of = |position: usize| address.get(position).cloned();
    check("before f(queue)", &recorded(&["queue"]), &address, of(0));
    check("before f(queue)", &recorded(&["arg 1"]), &address, of(0));
    check(
        "before f(queue = arg 1)",
        &recorded(&["queue"]),
        &address,
        of(0),
    );
    check(
        "before f(queue = arg 2)",
        &recorded(&["queue", "other"]),
        &address,
        of(1),
    );
    // A name given by the property is not used in the trace.
    check(
        "before f(queue = arg 2)",
        &recorded(&["queue"]),
        &address,
        Some(ABSENT),
    );
    check(
        "before f(queue = arg 3)",
        &recorded(&["queue"]),
        &address,
        Some(ABSENT),
    );
    check(
        "before f(queue = queue->n)",
        &recorded(&["arg 1->n"]),
        &address,
        of(0),
    );
    check(
        "after f(queue = ret)",
        &layout("after f", &["ret"], Some(&[])),
        &address,
        of(0),
    );
    check("before g(queue)", &recorded(&["queue"]), &address, None);
    check("after f(queue)", &recorded(&["queue"]), &address, None);
    check(
        "before f(queue) in \"lib.so\"",
        &recorded(&["queue"]),
        &address,
        None,
    );
    let in_module = layout("before f in \"lib.so\"", &["queue"], Some(&[]));
    check("before f(queue) in \"lib.so\"", &in_module, &address, of(0));
}

#[test]
fn an_event_from_elsewhere_may_be_named_as_in_the_property() {
    let one = [Value::Int(1), Value::Int(2)];
    let of = |position: usize| one.get(position).cloned();
    check(
        "before f(queue = arg 2)",
        &layout("e", &["queue"], None),
        &one,
        of(0),
    );
    check(
        "before f(queue = arg 2)",
        &layout("before f", &["queue"], None),
        &one,
        of(0),
    );
    check(
        "before f(queue = arg 2)",
        &layout("e", &["queue", "arg 2"], None),
        &one,
        of(1),
    );
    check(
        "before f(queue) in \"lib.so\"",
        &layout("before f", &["queue"], None),
        &one,
        of(0),
    );
    check(
        "before f(queue)",
        &layout("d", &["queue"], None),
        &one,
        None,
    );
}

#[test]
fn a_value_is_converted_where_it_was_recorded_as_it_is() {
    let converted = |to: &str, value: Value, expected: Value| {
        let event = format!("before f(queue: {to} = arg 1)");
        check(
            &event,
            &layout("before f", &["arg 1"], Some(&[])),
            &[value],
            Some(expected),
        );
    };
    converted("u8", Value::Int(0x1ff), Value::Int(0xff));
    converted("i8", Value::Int(0x1ff), Value::Int(-1));
    converted("u64", Value::Int(-1), Value::Int(u64::MAX.into()));
    converted("f64", Value::Int(2), Value::Float(2.0));
    converted("u8", Value::String("a".into()), Value::String("a".into()));
    converted("u8", ABSENT, ABSENT);
    // A value recorded with the conversion is not converted again.
    let exact = layout("before f", &["arg 1", "arg 1: u8"], Some(&[]));
    let values = [Value::Int(0x1ff), Value::Int(7)];
    check(
        "before f(queue: u8 = arg 1)",
        &exact,
        &values,
        Some(Value::Int(7)),
    );
}

#[test]
fn what_was_not_needed_before_a_call_was_not_read() {
    for (event, expected) in [
        ("before f(queue)", ABSENT),
        ("after f(queue)", Value::Int(3)),
    ] {
        let mut binding = Binding::new(property(event));
        let name = event.split('(').next().expect("a name");
        binding.add(&layout(name, &["queue"], Some(&[])));
        let mut captures = Vec::new();
        let found = binding.events(0).first().expect("it is bound");
        found.fill(&[Value::Int(3)], 0, &mut captures);
        assert_eq!(captures, [expected], "{event}");
    }
}

#[test]
fn events_that_were_not_recorded_are_told() {
    let mut binding = Binding::new(property("before f(queue)"));
    assert_eq!(binding.not_recorded().count(), 0);
    binding.declare(&Declaration {
        event: "before g".into(),
        parameters: vec![],
    });
    assert_eq!(binding.not_recorded().collect::<Vec<_>>(), [EventId(0)]);
    binding.declare(&Declaration {
        event: "before f".into(),
        parameters: vec![],
    });
    assert_eq!(binding.not_recorded().count(), 0);
}
