//! No text makes the language panic, and every range can be underlined.

use juror_language::{Diagnostic, evaluate, load, load_with, parse_expression, truth};
use proptest::prelude::*;

const QUEUE_BOUNDS: &str = include_str!("../queue_bounds.prop");

fn check_ranges(source: &str, diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        let labels = diagnostic.labels.iter().map(|(range, _)| range);
        for range in labels.chain([&diagnostic.span]) {
            assert!(
                source.get(range.clone()).is_some(),
                "{diagnostic:?}\n{source}"
            );
        }
    }
}

/// Words that get far into the grammar.
fn word() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "property",
        "scenario",
        "enter",
        "leave",
        "verdict",
        "violated",
        "start",
        "exit",
        "stop",
        "print",
        "report",
        "checkpoint",
        "restore",
        "watch",
        "break",
        "while",
        "command",
        "program",
        "\"a {x} b\"",
        "\"{\"",
        "slice",
        "on",
        "event",
        "before",
        "after",
        "unwound",
        "returns",
        "in",
        "library",
        "var",
        "state",
        "initial",
        "accepting",
        "non-accepting",
        "final",
        "when",
        "else",
        "if",
        "and",
        "or",
        "not",
        "true",
        "null",
        "arg",
        "ret",
        "sizeof",
        "f",
        "q",
        "e",
        "init",
        "0",
        "7",
        "2.5",
        "\"t\"",
        "'c'",
        "$rip",
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "->",
        "-",
        "*",
        "&",
        "^",
        "==",
        "=",
        "+=",
        "<",
        ",",
        ":",
        "::",
        ";",
        ".",
        "..",
        "@",
        "<<",
        "for",
        "each",
        "thread",
        "address",
        "where",
        "proposition",
        "set",
        "cleared",
        "pulse",
        "let",
        "ltl",
        "pattern",
        "never",
        "matches",
        "function",
        "return",
        "use",
        "always",
        "eventually",
        "next",
        "until",
        "since",
        "within",
        "5ms",
        "steps",
        "absence",
        "of",
        "precedes",
        "responds",
        "to",
        "between",
        "globally",
        "any",
        "ignore",
        "action",
        "write",
        "read",
        "entry",
        "signal",
        "line",
        "program",
        "start",
        "len",
        "add",
        "value",
        "old",
        "+",
        "?",
        "_",
        "x",
        "p",
        "G",
        "U",
        "{1}",
        "[1]",
        "{:}",
        "%",
        "|",
        "\n",
        "#",
        "\u{e9}",
    ])
}

proptest! {
    #[test]
    fn arbitrary_text(source in "\\PC*") {
        check_ranges(&source, &load(&source).1);
        check_ranges(&source, &parse_expression(&source).1);
    }

    #[test]
    fn arbitrary_words(words in prop::collection::vec(word(), 0..60)) {
        let source = words.join(" ");
        check_ranges(&source, &load(&source).1);
        check_ranges(&source, &parse_expression(&source).1);
        for head in [
            "property p event e = before f(q) state init {",
            "property p event e = before f(q) var s = {} state init { on e when s ==",
            "property p event e = before f(q) var s = {:} state init { on e {",
            "function x(q) { return",
            "property p event e =",
            "property p for each value x event e = before f(x) proposition p(x) set e cleared e ltl",
            "property p for each value q event e = before f(q) proposition p(x) pulse",
            "property p event e = before f(q) event x = signal never",
            "property p event e = before f(q) event x = signal pattern",
        ] {
            let source = format!("{head} {source}");
            check_ranges(&source, &load(&source).1);
        }
        // A file that every path leads to.
        let source = format!("use \"a\" use \"b/c\" {source}");
        let loaded = load_with("", &source, &mut |_| Ok(source.clone()));
        check_ranges(&source, &loaded.diagnostics);
        for used in &loaded.used {
            check_ranges(&used.text, &used.diagnostics);
        }
    }

    #[test]
    fn mutated_properties(
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0..12_usize, word()), 1..6),
    ) {
        let mut characters: Vec<char> = QUEUE_BOUNDS.chars().collect();
        for (position, length, inserted) in cuts {
            let start = position.index(characters.len() + 1);
            let end = (start + length).min(characters.len());
            characters.splice(start..end, inserted.chars());
        }
        let source: String = characters.into_iter().collect();
        check_ranges(&source, &load(&source).1);
    }
}

/// No values at all.
struct Nothing;

impl juror_language::Environment for Nothing {
    fn variable(&self, _slot: u16) -> Option<&juror_event::Value> {
        None
    }

    fn capture(&self, _slot: u8) -> Option<&juror_event::Value> {
        None
    }
}

/// Functions that call one another as deeply as they may, in the widest terms:
/// neither a test's stack nor a person's patience ends.
#[test]
fn evaluations_end() {
    let sums: String = " + f(n)".repeat(90);
    let nested = format!("{}f(n){}", "abs(".repeat(40), ")".repeat(40));
    for body in [
        "return f(n)".to_owned(),
        "return [f(n), f(n)]".to_owned(),
        "return f(n) and f(n)".to_owned(),
        "if f(n) { } if f(n) { } return 1".to_owned(),
        "for x in f(n) { } return f(n)".to_owned(),
        format!("return 1{sums}"),
        format!("return {nested}"),
        format!("{}return f(n){}", "if true {".repeat(40), "}".repeat(40)),
    ] {
        let source = format!(
            "function f(n) {{ {body} }} property p event e = signal state a {{ on e when f(1) }}"
        );
        let (properties, diagnostics) = load(&source);
        let guard = properties
            .first()
            .and_then(|p| p.states()[0].transitions[0].guard.clone());
        let guard = guard.unwrap_or_else(|| panic!("{source}\n{diagnostics:#?}"));
        assert!(evaluate(&guard, &Nothing).is_err());
        assert!(truth(&guard, &Nothing).is_err());
    }
}

#[test]
fn deep_nesting_of_formulas_is_said_and_survived() {
    for (head, open, close) in [
        ("ltl", "always ", ""),
        ("ltl", "(", ")"),
        ("ltl", "e and (", ")"),
        ("ltl", "e until ", ""),
        ("ltl", "e and ", ""),
        ("ltl", "e(", ")"),
        ("never", "(", ")"),
        ("never", "not ", ""),
        ("never", "e ", ""),
        ("never", "e or ", ""),
        ("never", "e* ", ""),
        ("pattern", "e, ", ""),
        ("var s =", "[", "]"),
        ("var s =", "{1: ", "}"),
    ] {
        let source = format!(
            "property p event e = signal {head} {}e{}",
            open.repeat(20_000),
            close.repeat(20_000)
        );
        let (properties, diagnostics) = load(&source);
        assert!(properties.is_empty(), "{head} {open}");
        check_ranges(&source, &diagnostics);
    }
    let source = format!(
        "property p event e = signal var m = {{:}} state a {{ on e {{ m{} += 1 }} }}",
        "[1]".repeat(20_000)
    );
    check_ranges(&source, &load(&source).1);
    let mut source = "property p event e = signal let d0 = e\n".to_owned();
    for level in 1..900 {
        source += &format!("let d{level} = always d{}\n", level - 1);
    }
    source += "ltl d899";
    check_ranges(&source, &load(&source).1);
}

#[test]
fn deep_nesting_is_said_and_survived() {
    for (open, close) in [("if true {", "}"), ("if true { } else ", ""), ("{", "}")] {
        let source = format!(
            "property p event e = before f state a {{ on e {{ {}{} }} }}",
            open.repeat(30_000),
            close.repeat(30_000)
        );
        let (properties, diagnostics) = load(&source);
        assert!(properties.is_empty());
        assert!(!diagnostics.is_empty());
        check_ranges(&source, &diagnostics);
    }
}
