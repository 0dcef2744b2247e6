//! Locations of errors, also in inlines, whose text is far from their uses.

use super::*;

/// Returns the source text shown for the fault of a run.
fn shown(text: &str) -> &str {
    let Some((Finding::Fault(fault), _)) = run(text).finding else {
        panic!("{text}");
    };
    &text[fault.span.unwrap().range()]
}

#[test]
fn errors_in_an_inline_are_located_in_it() {
    let check = |body: &str, expected: &str| {
        let text = format!("byte x, y = 7; inline f(a, b) {{ {body} }} init {{ skip; f(x, y) }}");
        assert_eq!(shown(&text), expected, "{text}");
    };
    check("assert(b < 5)", "b < 5");
    check("a = b - 8", "b - 8");
    check("a = 250 + b", "250 + b");
    check("a = b * (9 * (b))", "b * (9 * (b))");
    check("a = -b", "-b");
    check("a = b / a", "b / a");
}

#[test]
fn errors_in_an_argument_are_located_in_it() {
    let text = "byte x, y = 7; inline f(a) { x = a } init { f(y - 8) }";
    assert_eq!(shown(text), "y - 8");
}

#[test]
fn deadlocks_in_an_inline_are_located_in_it() {
    let text = "bool free; inline wait(it) { atomic { it; it = false } }
        inline not(it) { !it } active proctype P() { free = true; wait(free); not(!free) }";
    let model = model(text);
    let report = search(&model, Search::Breadth, &Options::default(), &mut |_, _| {
        true
    });
    let (finding, trail) = report.finding.unwrap();
    assert_eq!(finding, Finding::Deadlock);
    let fault = model.stuck(trail.end.as_deref().unwrap());
    assert_eq!(&text[fault.span.unwrap().range()], "!it");
}

#[test]
fn a_word_of_the_language_is_said_to_be_no_name() {
    let Err(refused) = read_with("byte if; init { skip }", &Reading::default()) else {
        panic!("`if` is a name");
    };
    let message = "expected a name, but `if` is a reserved word";
    assert_eq!(refused.faults[0].message, message);
}

#[test]
fn a_message_of_another_length_is_counted() {
    let check = |text: &str, expected: &str| match run(text).finding {
        Some((Finding::Fault(fault), _)) => assert_eq!(fault.message, expected, "{text}"),
        other => panic!("{text}\n{other:?}"),
    };
    check(
        "chan c = [1] of {byte, byte}; init { c!1 }",
        "the message has 1 field, but the channel requires 2",
    );
    check(
        "chan c = [1] of {byte}; init { byte x; c!1; c?x,x }",
        "the message has 2 fields, but the channel requires 1",
    );
}
