mod positions;
mod renamed;

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

/// Returns a record with these values, of thread 7 at the time 9.
fn given_of(values: &[Value]) -> Given<'_> {
    Given {
        values,
        thread: 7,
        time_ns: Some(9),
    }
}

/// Checks the capture `queue` of a property's event, in an event with these values.
#[track_caller]
fn check(event: &str, layout: &Layout, values: &[Value], expected: Option<Value>) {
    let mut binding = Binding::new(property(event));
    binding.add(layout);
    let mut captures = Vec::new();
    let given = binding.events(0).first().map(|found| {
        found.fill(&given_of(values), u64::MAX, &mut captures);
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
        found.fill(&given_of(&[Value::Int(3)]), 0, &mut captures);
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

/// An event that could not happen is named as an event that happened.
#[test]
fn an_event_without_a_module_is_named_as_its_occurrences() {
    let event = "before f(queue) in \"lib.so\"";
    for (name, is_declared, expected) in [
        ("before f in \"lib.so\"", true, true),
        ("before f in \"lib.so\"", false, true),
        ("before f", true, false),
        ("before f", false, true),
        ("e", true, false),
        ("e", false, true),
        ("before g", false, false),
    ] {
        let mut binding = Binding::new(property(event));
        if is_declared {
            binding.declare(&Declaration {
                event: name.into(),
                parameters: vec![],
            });
        }
        binding.set_unbound(name);
        let is_unbound = binding.is_unbound(EventId(0));
        assert_eq!(is_unbound, expected, "{name}, {is_declared}");
        let parameters = is_declared.then_some(&["queue"][..]);
        binding.add(&layout(name, &["queue"], parameters));
        let has_happened = !binding.events(0).is_empty();
        assert_eq!(has_happened, expected, "{name}, {is_declared}");
    }
}

/// A trace may have an event that it does not declare.
#[test]
fn an_event_that_occurred_was_recorded() {
    let mut binding = Binding::new(property("before f(queue)"));
    binding.declare(&Declaration {
        event: "before g".into(),
        parameters: vec![],
    });
    binding.add(&layout("before g", &["queue"], Some(&["queue"])));
    assert_eq!(binding.not_recorded().collect::<Vec<_>>(), [EventId(0)]);
    binding.add(&layout("before f", &["queue"], None));
    assert_eq!(binding.not_recorded().count(), 0);
}

/// Each value is needed or not for itself, and each may be missing.
#[test]
fn each_value_that_was_not_captured_is_absent() {
    let property = unguarded("before f(a, b = arg 2, c: u8 = arg 3)");
    let values = [1, 2, 3].map(Value::Int);
    let keys = ["a", "arg 2", "arg 3"];
    for present in 0..8_u64 {
        let has = |mask: u64, slot: usize| mask >> slot & 1 == 1;
        let kept = (0..3).filter(|&slot| has(present, slot));
        let (keys, given): (Vec<&str>, Vec<Value>) =
            kept.map(|slot| (keys[slot], values[slot].clone())).unzip();
        for declared in [Some(&["a", "b", "c"][..]), None] {
            let mut binding = Binding::new(Arc::clone(&property));
            binding.add(&layout("before f", &keys, declared));
            let found = binding.events(0).first().expect("it is the same event");
            let given = given_of(&given);
            for needed in 0..8 {
                let mut captures = vec![Value::Int(9); 5];
                found.fill(&given, needed, &mut captures);
                let expected = (0..3).map(|slot| {
                    if has(present & needed, slot) {
                        values[slot].clone()
                    } else {
                        ABSENT
                    }
                });
                assert_eq!(
                    captures,
                    expected.collect::<Vec<_>>(),
                    "{keys:?}, {needed:#b}"
                );
            }
            for (slot, value) in values.iter().enumerate() {
                let expected = Some(value).filter(|_| has(present, slot));
                assert_eq!(found.value(&given, slot).as_deref(), expected, "{keys:?}");
            }
            assert_eq!(found.value(&given, 3), None);
            // The record is shorter than its layout.
            let mut captures = Vec::new();
            found.fill(&given_of(&[]), u64::MAX, &mut captures);
            assert_eq!(captures, [ABSENT, ABSENT, ABSENT]);
        }
    }
}

#[test]
fn every_kind_of_value_is_converted() {
    let list = |elements: &[Value]| Value::Sequence(elements.iter().cloned().collect());
    let text = || Value::String("a".into());
    let gone = || Value::Unavailable(Unavailability::OptimizedOut);
    for (r#type, value, expected) in [
        ("u8", Value::Bool(true), Value::Int(1)),
        ("u8", Value::Address(0x1ff), Value::Int(0xff)),
        ("i64", Value::Int(1 << 63), Value::Int(i64::MIN.into())),
        ("i16", Value::Int(0x18000), Value::Int(-0x8000)),
        ("u32", Value::Int(-1), Value::Int(u32::MAX.into())),
        ("bool", Value::Int(2), Value::Bool(true)),
        ("bool", Value::Int(0), Value::Bool(false)),
        ("address", Value::Int(-1), Value::Address(u64::MAX)),
        ("f32", Value::Int((1 << 24) + 1), Value::Float(16_777_216.0)),
        ("f64", Value::Int((1 << 24) + 1), Value::Float(16_777_217.0)),
        ("f32", Value::Float(0.1), Value::Float(f64::from(0.1_f32))),
        ("f64", Value::Float(0.1), Value::Float(0.1)),
        ("u8", Value::Float(0.1), Value::Float(0.1)),
        ("u8", gone(), gone()),
        ("u8", text(), text()),
        ("u8", list(&[]), list(&[])),
        (
            "u8",
            list(&[
                Value::Int(0x1ff),
                Value::Bool(true),
                text(),
                gone(),
                list(&[Value::Int(-1)]),
            ]),
            list(&[
                Value::Int(0xff),
                Value::Int(1),
                text(),
                gone(),
                list(&[Value::Int(0xff)]),
            ]),
        ),
        (
            "f32",
            list(&[Value::Float(0.1)]),
            list(&[Value::Float(f64::from(0.1_f32))]),
        ),
    ] {
        for declared in [Some(&[][..]), None] {
            let mut binding = Binding::new(unguarded(&format!("before f(queue: {type} = arg 1)")));
            binding.add(&layout("before f", &["arg 1"], declared));
            let found = binding.events(0).first().expect("it is the same event");
            let mut captures = Vec::new();
            found.fill(
                &given_of(std::slice::from_ref(&value)),
                u64::MAX,
                &mut captures,
            );
            // An address and the same number would be equal.
            assert_eq!(
                format!("{captures:?}"),
                format!("[{expected:?}]"),
                "{type} of {value:?}"
            );
        }
    }
}

#[test]
fn every_record_has_its_thread_and_its_time() {
    let values = [Value::Int(3), Value::Int(4)];
    let layouts = [
        layout("before f", &["thread", "time"], Some(&["thread", "time"])),
        layout("before f", &["time", "thread"], None),
        layout("before f", &[], Some(&[])),
        layout("e", &[], None),
    ];
    for layout in &layouts {
        let own = |words: &str| format!("before f(queue = {words})");
        check(&own("thread"), layout, &values, Some(Value::Int(7)));
        check(&own("time"), layout, &values, Some(Value::Int(9)));
        let typed = "before f(queue: u8 = thread)";
        check(typed, layout, &values, Some(Value::Int(7)));
    }
}

#[test]
fn a_record_without_a_thread_or_a_time_does_not_have_them() {
    let unknown = Given {
        values: &[],
        thread: 0,
        time_ns: None,
    };
    for words in ["thread", "time"] {
        let mut binding = Binding::new(property(&format!("before f(queue = {words})")));
        binding.add(&layout("before f", &[], None));
        let found = binding.events(0).first().expect("it is the same event");
        assert_eq!(found.value(&unknown, 0), None, "{words}");
        let mut captures = Vec::new();
        found.fill(&unknown, u64::MAX, &mut captures);
        assert_eq!(captures, [ABSENT], "{words}");
    }
}

/// Returns a property that compares nothing, whatever the types of its values.
fn unguarded(event: &str) -> Arc<Property> {
    let source = format!("property p\nevent e = {event}\nstate s accepting {{ on e -> s }}\n");
    let (mut properties, _) = juror_language::load(&source);
    Arc::new(properties.remove(0))
}

#[test]
fn a_property_gives_values_their_types() {
    let check_type = |r#type: &str, written: Value, expected: Value| {
        let event = format!("before f(queue: {type} = arg 1)");
        for event_name in ["before f", "e"] {
            let own = layout(event_name, &["arg 1"], None);
            let mut binding = Binding::new(unguarded(&event));
            binding.add(&own);
            let values = std::slice::from_ref(&written);
            let found = binding.events(0).first().expect("it is the same event");
            let mut captures = Vec::new();
            found.fill(&given_of(values), u64::MAX, &mut captures);
            assert_eq!(captures.first(), Some(&expected), "{event} of {written:?}");
        }
    };
    let text = |text: &str| Value::String(text.into());
    check_type("text", Value::Int(7), text("7"));
    check_type("text", text("7"), text("7"));
    check_type("i32", text("7"), Value::Int(7));
    check_type("u8", text("-1"), Value::Int(255));
    check_type("address", text("0x10"), Value::Address(16));
    check_type("double", text("1.5"), Value::Float(1.5));
    check_type("double", Value::Int(2), Value::Float(2.0));
    // Nobody knows which number this is.
    check_type("i32", text("seven"), text("seven"));
    check_type("i32", text(" seven "), text(" seven "));
    check_type("i32", text(" 7 "), Value::Int(7));
    // A text that was recorded is one.
    let declared = layout("before f", &["arg 1"], Some(&["p"]));
    check(
        "before f(queue: i32 = arg 1)",
        &declared,
        &[text("7")],
        Some(text("7")),
    );
}

#[test]
fn texts_are_what_all_properties_take_for_texts() {
    let texts = |events: &[&str]| {
        let properties: Vec<_> = events.iter().map(|event| unguarded(event)).collect();
        text_columns(properties.iter().map(|it| &**it))
    };
    let of = |columns: &[(&str, &str)]| {
        let columns = columns.iter();
        TextColumns::of(columns.map(|(event, name)| ((*event).to_owned(), (*name).to_owned())))
    };
    let by_position = of(&[
        ("before f", "arg 2"),
        ("before f", "queue"),
        ("e", "arg 2"),
        ("e", "queue"),
    ]);
    assert_eq!(texts(&["before f(other, queue: text)"]), by_position);
    let own = |event: &str| {
        [
            (event.to_owned(), "queue".to_owned()),
            (event.to_owned(), "arg 2".to_owned()),
        ]
    };
    let both = TextColumns::of(own("e").into_iter().chain(own("before f")));
    assert_eq!(texts(&["before f(queue: text = arg 2)"]), both);
    // A trace without declarations does not say in which module.
    let in_module = "before f(queue: text = arg 2) in \"lib.so\"";
    assert_eq!(texts(&[in_module]), both);
    let mixed = ["before f(queue: text = arg 2)", "before f(queue = arg 2)"];
    assert_eq!(texts(&mixed), of(&[]));
    assert_eq!(texts(&["before f(queue: i32 = arg 2)"]), of(&[]));
}
