//! What is said about a text that cannot be read, and what is still read of it.

use super::{HEAD, check, check_source};
use juror_language::{Diagnostic, load, load_with};

#[test]
fn syntax() {
    check_source("proprety p", "syntax", "proprety", "`property`");
    check_source(
        "property p { event e = before f }",
        "syntax",
        "{",
        "no braces",
    );
    check(
        "evnt e = before f state a { on push }",
        "syntax",
        "evnt",
        "`event`",
    );
    check(
        "event e = befor f state a { on push }",
        "syntax",
        "befor",
        "`before`",
    );
    check(
        "event e = before Ring<int, 4>::push(value) state a { on push }",
        "syntax",
        "Ring",
        "\"Ring<int>::..\"",
    );
    check(
        "event e = before f(*p) state a { on push }",
        "syntax",
        "*",
        "name",
    );
    check(
        "event e = before f in libc state a { on push }",
        "syntax",
        "libc",
        "",
    );
    check("state a { push }", "syntax", "push", "");
    check("state a { on push when } state b", "syntax", "}", "");
    check(
        "state a { on push { count++ } }",
        "syntax",
        "+",
        "count += 1",
    );
    check(
        "state a { on push { queue->x = 1 } }",
        "syntax",
        "->",
        "variables of the property",
    );
    check("state a { on push -> } ", "syntax", "}", "");
    check("state a { on push", "syntax", "", "");
    check(
        "state a { on push else -> a }",
        "else-without-when",
        "else",
        "",
    );
    check(
        "state a acepting { on push }",
        "syntax",
        "acepting",
        "`accepting`",
    );
    check(
        "var if = 3 state a { on push }",
        "syntax",
        "if",
        "another name",
    );
    check("slice queue state a { on push }", "syntax", "queue", "");
    check("on push -> a", "syntax", "on", "braces of a state");
    check(
        "event e = before f(this as queue)",
        "syntax",
        "as",
        "`name = …`",
    );
}

#[test]
fn after_a_mistake_the_rest_is_still_read() {
    let source = format!(
        "{HEAD}event e = befor f
         event bad = after
         state a {{ on push when ) -> b; on psuh; on push {{ count = }} on push -> c }}
         state b {{ on pusch }}"
    );
    let (properties, diagnostics) = load(&source);
    assert!(properties.is_empty());
    let underlined: Vec<&str> = diagnostics
        .iter()
        .filter(|d| d.is_error())
        .map(|d| &source[d.span.clone()])
        .collect();
    let expected = ["befor", "state", ")", "psuh", "}", "c", "pusch"];
    assert_eq!(underlined, expected);
}

#[test]
fn a_transition_with_a_mistake_ends_with_its_braces() {
    // The blocks after the mistake belong to it; the state ends behind them.
    check_all(
        "property p event e = before f var x = 0
         state a { on e when ) { x = 1 } { { x = 2 } } } state b { on g }",
        &[")", "g"],
    );
}

/// The text that each message underlines, in order; no property comes out.
#[track_caller]
fn check_all(source: &str, expected: &[&str]) {
    let (properties, diagnostics) = load(source);
    assert!(properties.is_empty(), "{source}");
    let underlined: Vec<&str> = diagnostics
        .iter()
        .map(|diagnostic| &source[diagnostic.span.clone()])
        .collect();
    assert_eq!(underlined, expected, "{source}\n{diagnostics:#?}");
}

#[test]
fn what_could_not_be_read_is_still_declared() {
    // What the event would have bound is not known either.
    let event = "event e = before f(this as q)";
    check_all(
        &format!("property p slice on q {event} state a {{ on e }}"),
        &["as"],
    );
    check_all(
        &format!("{event} property p slice on q state a {{ on e -> a }}"),
        &["as"],
    );
    check_all(&format!("property p {event} ltl always e"), &["as"]);
    check_all(
        &format!("property p {event} proposition x set e ltl always x"),
        &["as"],
    );
    check_all(
        &format!("property p {event} state a {{ on e -> b on g -> b }} state b {{ on e }}"),
        &["as", "g"],
    );
    let rest = [
        "var n = event e = before f state a { on e { n = n + 1 } }",
        "event e = before f function g(n { return n } state a { on e when g(1) }",
        "event e = before f proposition x sett e ltl always x",
        "event e = before f let x( = e ltl always x",
    ];
    for (rest, underlined) in rest.into_iter().zip(["event", "{", "sett", "="]) {
        check_all(&format!("property p {rest}"), &[underlined]);
    }
}

#[test]
fn nothing_is_said_that_follows_from_a_file_with_mistakes() {
    let check = |source: &str, library: Result<&str, &str>, expected: &[&str]| {
        let loaded = load_with("main.prop", source, &mut |_| {
            library.map(str::to_owned).map_err(str::to_owned)
        });
        assert!(loaded.properties.is_empty());
        let underlined: Vec<&str> = loaded
            .diagnostics
            .iter()
            .map(|diagnostic| &source[diagnostic.span.clone()])
            .collect();
        assert_eq!(underlined, expected, "{:#?}", loaded.diagnostics);
    };
    let source = "use \"library.prop\"
        property p slice on q state a { on e when count(e) > n -> b } state b
        property r ltl always open(any)
        scenario s for p { }"
        .replace("{ }", "on enter b { stop }");
    let name = ["\"library.prop\""];
    check(&source, Err("it is not there"), &name);
    check(&source, Ok("event e = befor f(q)"), &name);
    check(&source, Ok("event e = before f(q = )"), &name);

    // A scenario for a property with a mistake.
    let source = "event e = before f
        property p state a { on e -> b } state bb
        scenario s for p on enter b { stop } on action alarm { stop }";
    check(source, Err(""), &["b"]);
}

#[test]
fn too_much_of_anything_is_an_error() {
    let captures: Vec<String> = (0..65).map(|n| format!("c{n}")).collect();
    let event = format!(
        "event e = before f({}) state a {{ on e }}",
        captures.join(", ")
    );
    let (_, diagnostics) = load(&format!("property p {event}"));
    assert!(diagnostics.iter().any(|d| d.code == "too-many"));

    let fields: Vec<String> = (0..70).map(|n| format!("q->f{n} > 0")).collect();
    let guards = fields.join(" and ");
    let source = format!("property p event e = before f(q) state a {{ on e when {guards} }}");
    let (_, diagnostics) = load(&source);
    assert!(
        diagnostics
            .iter()
            .any(|d: &Diagnostic| d.code == "too-many")
    );
}

#[test]
fn a_formula_without_its_word_names_the_word() {
    let table = [
        ("always (count > 3)", "always", "`ltl always …`"),
        ("always G push", "always", "`ltl always …`"),
        ("eventually push", "eventually", "`ltl eventually …`"),
        ("once push", "once", "`ltl once …`"),
        ("G push", "G", "`ltl G …`"),
        ("F (push)", "F", "`ltl F …`"),
        ("push until pop", "push", "`ltl push until …`"),
        ("push implies pop", "push", "`ltl push implies …`"),
        ("absence of push", "absence", "`pattern absence of …`"),
        ("push responds to pop", "push", "`pattern push responds …`"),
    ];
    for (rest, underlined, help) in table {
        check(rest, "syntax", underlined, help);
    }
    // Another word that begins no item is what it was.
    check("alwayz push", "syntax", "alwayz", "items: ");
    check("stat init {}", "syntax", "stat", "did you mean `state`?");
}
