//! No text makes the language panic, and every range can be underlined.

use juror_language::{Diagnostic, load, parse_expression};
use proptest::prelude::*;

const QUEUE_BOUNDS: &str = include_str!("queue_bounds.prop");

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
        "slice",
        "on",
        "event",
        "before",
        "after",
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
        let source = format!("property p event e = before f(q) state init {{ {source}");
        check_ranges(&source, &load(&source).1);
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
