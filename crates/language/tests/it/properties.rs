//! What properties become when there is nothing wrong with them.

use juror_event::{Conversion, EventKind, Reach, Read};
use juror_language::{Property, StateId, Term, TermKind, load};

const QUEUE_BOUNDS: &str = include_str!("../queue_bounds.prop");

#[track_caller]
fn loaded(source: &str) -> Property {
    let (mut properties, diagnostics) = load(source);
    let errors: Vec<_> = diagnostics.iter().filter(|d| d.is_error()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    assert_eq!(properties.len(), 1);
    properties.remove(0)
}

#[test]
fn the_queue_property_is_understood() {
    let (properties, diagnostics) = load(QUEUE_BOUNDS);
    assert_eq!(diagnostics, []);
    let property = &properties[0];
    assert_eq!(&*property.name, "queue_bounds");
    let description = "a queue never holds more than it was made for";
    assert_eq!(property.description.as_deref(), Some(description));
    assert_eq!(property.slice, ["queue".into()]);
    assert_eq!(property.initial(), StateId(0));
    assert_eq!(property.bindings, [[Some(1)], [Some(0)], [Some(0)]]);
    let accepting: Vec<bool> = property.states().iter().map(|s| s.accepting).collect();
    assert_eq!(accepting, [true, true, false, false]);

    let new = &property.events[0];
    assert_eq!(new.kind, EventKind::AfterCall);
    assert_eq!(&*new.subject, "queue_new");
    assert_eq!(&QUEUE_BOUNDS[new.subject_span.clone()], "queue_new");
    assert_eq!(new.captures[0].read, Read::Name("size".into()));
    assert_eq!(new.captures[1].read, Read::Return);
    assert_eq!(&*new.captures[1].name, "queue");

    let ready = &property.states()[1];
    let push = &ready.transitions[0];
    assert_eq!(push.success.target, StateId(1));
    assert_eq!(push.failure.as_ref().unwrap().target, StateId(2));
    assert_eq!(push.captures, 0);
    assert_eq!(property.states()[0].transitions[0].captures, 1);
}

#[track_caller]
fn check_reads(event: &str, expected: &[(&str, Read)]) {
    let source = format!("property p event e = {event} state init {{ on e }}");
    let property = loaded(&source);
    let found: Vec<(&str, Read)> = property.events[0]
        .captures
        .iter()
        .map(|capture| (&*capture.name, capture.read.clone()))
        .collect();
    assert_eq!(found, expected, "{event}");
}

fn name(name: &str) -> Box<Read> {
    Box::new(Read::Name(name.into()))
}

#[test]
fn captures_are_read_as_they_are_written() {
    check_reads("before f", &[]);
    check_reads("before f()", &[]);
    check_reads(
        "before f(p, q = arg 2, r = *arg 1)",
        &[
            ("p", *name("p")),
            ("q", Read::Argument(2)),
            ("r", Read::Dereference(Box::new(Read::Argument(1)))),
        ],
    );
    check_reads(
        "after ns::f(a = p->len, b = ^q.x[3], c = &v) returns r: unsigned int",
        &[
            (
                "a",
                Read::Field(Box::new(Read::Dereference(name("p"))), "len".into()),
            ),
            (
                "b",
                Read::Caller(Box::new(Read::Index(
                    Box::new(Read::Field(name("q"), "x".into())),
                    3,
                ))),
            ),
            ("c", Read::AddressOf(name("v"))),
            (
                "r",
                Read::Convert(Box::new(Read::Return), Conversion::Unsigned { bytes: 4 }),
            ),
        ],
    );
    check_reads(
        "before malloc(n: size = arg 1, t: text)",
        &[
            (
                "n",
                Read::Convert(
                    Box::new(Read::Argument(1)),
                    Conversion::Unsigned { bytes: 8 },
                ),
            ),
            ("t", Read::Convert(name("t"), Conversion::String)),
        ],
    );
}

/// What is captured beside the values that a guard names.
#[track_caller]
fn check_arithmetic(guard: &str, expected: &[&str]) {
    let property = loaded(&format!(
        "property p event e = before f(n, m, t: text, size: u64 = arg 4) \
         var limit = 3 var seen = {{}} state init {{ on e when {guard} }}"
    ));
    let captures = property.events[0].captures.iter();
    let found: Vec<String> = captures
        .filter(|capture| matches!(capture.read, Read::Arithmetic(_)))
        .map(|capture| capture.name.to_string())
        .collect();
    assert_eq!(found, expected, "{guard}");
}

#[test]
fn what_is_computed_with_values_of_the_program_alone_has_their_types() {
    for (guard, expected) in [
        ("n - 1 > limit", &["n - 1"][..]),
        ("n - 1 > 2 * 3", &["(n - 1) > 6"]),
        ("n - 1 > m and n < 3", &["(n - 1) > m"]),
        ("n < m", &["n < m"]),
        ("n < m or m > n", &["n < m", "m > n"]),
        ("size - 1 > limit", &["(u64)arg 4 - 1"]),
        (
            "n->next->count - *m > 0.5",
            &["(n->next->count - (*m)) > 0.5"],
        ),
        ("not (n - m == 0)", &["(n - m) == 0"]),
        (
            "(n != null ? n->count - 1 : 0) > limit",
            &["(n != null) ? (n->count - 1) : 0"],
        ),
        ("-1 < n", &["(-1) < n"]),
        ("~n == limit", &["~n"]),
        // All types have these numbers.
        ("n > 3 and 0 != m and n == null", &[]),
        // What the property holds is exact, and so is what belongs to the moment.
        ("n - limit > 1 and n in seen", &[]),
        ("thread + 1 > time - 1", &[]),
        ("n - thread > 1", &[]),
        ("t == \"x\"", &[]),
        ("len(t) - 1 > 2", &[]),
        ("min(n - 1, limit) > 2", &["n - 1"]),
    ] {
        check_arithmetic(guard, expected);
    }
}

#[test]
fn functions_and_where_they_are() {
    let source = r#"property p
        event a = before "operator new(unsigned long)" in library
        event b = after malloc in "libc.so"
        event c = before ns::inner::f
        state init { on a on b on c }"#;
    let events = loaded(source).events;
    assert_eq!(&*events[0].subject, "operator new(unsigned long)");
    assert_eq!(events[0].reach, Reach::Library);
    assert_eq!(events[1].reach, Reach::Module("libc.so".into()));
    assert_eq!(&*events[2].subject, "ns::inner::f");
    assert_eq!(events[2].reach, Reach::Anywhere);
}

#[test]
fn places_are_hoisted_once_for_each_event() {
    let property = loaded(
        "property p
         event push = before push(queue, limit: int)
         var seen = 0
         state init {
             on push when queue->count + 1 > queue->max { seen = queue->count } -> full
         }
         state full { on push when (u8)queue->flag == 1 and *limit > 3 and limit > 2 }",
    );
    let captures: Vec<(String, bool)> = property.events[0]
        .captures
        .iter()
        .map(|capture| (capture.name.to_string(), capture.hoisted))
        .collect();
    let expected = [
        ("queue", false),
        ("limit", false),
        ("queue->count", true),
        ("queue->max", true),
        ("(queue->count + 1) > queue->max", true),
        ("(u8)queue->flag", true),
        ("*limit", true),
    ];
    assert_eq!(
        captures,
        expected.map(|(name, hoisted)| (name.to_owned(), hoisted))
    );
    assert_eq!(property.states()[0].transitions[0].captures, 0b1_1100);
    assert_eq!(property.states()[1].transitions[0].captures, 0b110_0010);
    // The type that a parameter is given says nothing about what it points to.
    let read = &property.events[0].captures[6].read;
    assert_eq!(*read, Read::Dereference(name("limit")));
}

#[test]
fn a_place_that_is_declared_is_not_read_twice() {
    let property = loaded(
        "property p event e = before f(p, n = p->len)
         state init { on e when p->len > 3 }",
    );
    assert_eq!(property.events[0].captures.len(), 2);
    assert_eq!(property.states()[0].transitions[0].captures, 0b10);
}

#[test]
fn an_arrow_after_a_space_leads_to_a_state() {
    let source = "property p event e = before f(q) var limit = true
         state init { on e when limit -> done on e when q->done -> done
                      on e when (q -> done) }
         state done";
    let property = loaded(source);
    let targets: Vec<u32> = property.states()[0]
        .transitions
        .iter()
        .map(|transition| transition.success.target.0)
        .collect();
    assert_eq!(targets, [1, 1, 0]);
}

#[test]
fn the_initial_state_is_marked_or_named_or_first() {
    for (states, expected) in [
        ("state a { on e } state b initial", 1),
        ("state a { on e } state init", 1),
        ("state a { on e } state b", 0),
    ] {
        let property = loaded(&format!("property p event e = before f {states}"));
        assert_eq!(property.initial(), StateId(expected), "{states}");
    }
}

#[test]
fn constants_are_computed() {
    let property = loaded(
        "property p event e = before f
         var a = 2 * 3 + 1; var b = not (1 < 2 and true); var c = null; var d = \"x\"
         var f = 1 / 2.0; var g = -0x10
         state init { on e when a == 1 + 1 }",
    );
    let shown: Vec<String> = property
        .variables
        .iter()
        .map(|variable| variable.initial.to_string())
        .collect();
    assert_eq!(shown, ["7", "false", "0x0", "\"x\"", "0.5", "-16"]);
    let guard = property.states()[0].transitions[0].guard.as_ref().unwrap();
    let TermKind::Binary { right, .. } = &guard.kind else {
        panic!("{guard:?}");
    };
    assert!(matches!(
        **right,
        Term {
            kind: TermKind::Constant(_),
            ..
        }
    ));
}

#[test]
fn several_properties_live_in_a_file() {
    let source = "property a event e = before f state s { on e }
                  property b event e = before f state s { on nothing }
                  property c event e = before f state s { on e }";
    let (properties, diagnostics) = load(source);
    let names: Vec<&str> = properties.iter().map(|p| &*p.name).collect();
    assert_eq!(names, ["a", "c"]);
    let codes: Vec<&str> = diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(codes, ["unknown-event"]);
}
