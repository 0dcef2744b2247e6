//! The lexer by a table, and by arbitrary files.

use crate::{Highlighter, Kind, Language, Lexer, pieces};
use proptest::prelude::*;
use std::path::Path;

/// Returns a text with its tokens marked by the first letter of their kind: `k:int` is written
/// `«k int»`.
fn marked(language: Language, text: &str) -> String {
    let mut lexer = Lexer::new(language);
    let lines = text.lines().map(|line| {
        let spans = lexer.line(line);
        let pieces = pieces(line, &spans).into_iter().map(|(kind, text)| {
            let letter = kind.map(|kind| match kind {
                Kind::Keyword => 'k',
                Kind::Type => 't',
                Kind::String => 's',
                Kind::Number => 'n',
                Kind::Comment => 'c',
                Kind::Directive => 'd',
            });
            match letter {
                Some(letter) => format!("«{letter} {text}»"),
                None => text.to_owned(),
            }
        });
        pieces.collect::<String>()
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn check(language: Language, table: &[(&str, &str)]) {
    for (text, expected) in table {
        assert_eq!(marked(language, text), *expected);
    }
}

#[test]
fn c() {
    check(
        Language::C,
        &[
            (
                "static int n = 0x1fUL; // one",
                "«k static» «t int» n = «n 0x1fUL»; «c // one»",
            ),
            ("uint8_t *p = &class;", "«t uint8_t» *p = &class;"),
            (
                "a /* b\n c */ d /* e */ f",
                "a «c /* b»\n«c  c */» d «c /* e */» f",
            ),
            // Not nested.
            ("/* /* */ x */", "«c /* /* */» x */"),
            ("/**/x/*/y*/", "«c /**/»x«c /*/y*/»"),
            ("// one \\\n two\nx", "«c // one \\»\n«c  two»\nx"),
            (
                r#"f("a\"b", L"c", 'x', '\'', u'y')"#,
                r#"f(«s "a\"b"», «s L"c"», «s 'x'», «s '\''», «s u'y'»)"#,
            ),
            ("\"one \\\n two\" x", "«s \"one \\»\n«s  two\"» x"),
            // It has no end.
            ("\"one\nint", "«s \"one»\n«t int»"),
            ("'a\nint", "«s 'a»\n«t int»"),
            // There are no raw strings in C.
            ("R\"(a)\" b", "R«s \"(a)\"» b"),
            (
                "#include <stdio.h>\n  # define N 3\n#include \"a.h\"\n#error it's",
                "«d #include» «s <stdio.h>»\n  «d # define» N «n 3»\n«d #include» «s \"a.h\"»\n\
                 «d #error» it«s 's»",
            ),
            // A directive begins a line, and the next line may go on with it.
            ("#define S(x) \\\n  #x", "«d #define» S(x) \\\n  #x"),
            ("a # b", "a # b"),
            (
                "1.5e-3f + .5 - 0x1p+4 * 0xe+1 a.b 1e5",
                "«n 1.5e-3f» + «n .5» - «n 0x1p+4» * «n 0xe»+«n 1» a.b «n 1e5»",
            ),
            ("1'000'000 '1'", "«n 1'000'000» «s '1'»"),
            (
                "[[nodiscard(\"why\")]] int f(int a[]);",
                "«d [[nodiscard(»«s \"why\"»«d )]]» «t int» f(«t int» a[]);",
            ),
            ("größe = \"ä\";", "größe = «s \"ä\"»;"),
        ],
    );
}

#[test]
fn cpp() {
    check(
        Language::Cpp,
        &[
            (
                "class Queue final : public Base<int> {",
                "«k class» Queue «k final» : «k public» Base<«t int»> {",
            ),
            (
                "auto s = R\"(a \" \\ b)\" + 1;",
                "«k auto» s = «s R\"(a \" \\ b)\"» + «n 1»;",
            ),
            (
                "u8R\"x(a)\"\n)y\" )x\" b",
                "«s u8R\"x(a)\"»\n«s )y\" )x\"» b",
            ),
            // The delimiter is wrong: the string is none, and ends as another.
            ("R\"a b(c)a b\"", "R«s \"a b(c)a b\"»"),
            (
                "[[maybe_unused,\n  gnu::hot]] void f()",
                "«d [[maybe_unused,»\n«d   gnu::hot]]» «t void» f()",
            ),
            ("a[b[0]]", "a[b[«n 0»]]"),
            (
                "std::size_t n = 10'000'000u; 12_km",
                "std::«t size_t» n = «n 10'000'000u»; «n 12_km»",
            ),
            ("f('a', u8'b', L'\\n')", "f(«s 'a'», «s u8'b'», «s L'\\n'»)"),
        ],
    );
}

#[test]
fn rust() {
    check(
        Language::Rust,
        &[
            (
                "pub fn take<'a>(s: &'a str, n: Option<u32>) -> Self {",
                "«k pub» «k fn» take<'a>(s: &'a «t str», n: «t Option»<«t u32»>) -> «t Self» {",
            ),
            (
                r"let c = ['a', '\'', '\u{1F600}', '\\', 'ß', b'x', b'\''];",
                r"«k let» c = [«s 'a'», «s '\''», «s '\u{1F600}'», «s '\\'», «s 'ß'», «s b'x'», «s b'\''»];",
            ),
            (
                "'outer: loop { break 'outer; }",
                "'outer: «k loop» { «k break» 'outer; }",
            ),
            ("&'static str", "&'static «t str»"),
            (
                "/* a /* b\n */ c\n*/ d",
                "«c /* a /* b»\n«c  */ c»\n«c */» d",
            ),
            ("/// doc\nx // y \\\nz", "«c /// doc»\nx «c // y \\»\nz"),
            ("\"a\n b\\\" c\" d", "«s \"a»\n«s  b\\\" c\"» d"),
            (
                "r\"a\\\" b r#\"c\"d\"# br##\"e\"#\n\"## c\"f\" b\"g\"",
                "«s r\"a\\\"» b «s r#\"c\"d\"#» «s br##\"e\"#»\n«s \"##» «s c\"f\"» «s b\"g\"»",
            ),
            ("r#type = r; r#\"s\"#", "r#type = r; «s r#\"s\"#»"),
            (
                "#[derive(Debug)]\n#![doc = \"a] \\\n b\"]\nfn f() {}",
                "«d #[derive(Debug)]»\n«d #![doc = »«s \"a] \\»\n«s  b\"»«d ]»\n«k fn» f() {}",
            ),
            (
                "#[cfg(\n  all(a[0], b), // c\n)] use x;",
                "«d #[cfg(»\n«d   all(a[0], b), »«c // c»\n«d )]» «k use» x;",
            ),
            (
                "1_000u64 0xff_u8 1.5e-3 2. 1..2 1.max(2) t.0 1e5 0b1010 3.0f32",
                "«n 1_000u64» «n 0xff_u8» «n 1.5e-3» «n 2.» «n 1»..«n 2» «n 1».max(«n 2») \
                 t.«n 0» «n 1e5» «n 0b1010» «n 3.0f32»",
            ),
            (
                "const LINES_MAX: usize = 3;",
                "«k const» LINES_MAX: «t usize» = «n 3»;",
            ),
            ("x # y ' '", "x # y «s ' '»"),
        ],
    );
}

#[test]
fn the_name_of_a_file_tells_its_language() {
    for (file, expected) in [
        ("/src/queue.c", Some(Language::C)),
        ("queue.h", Some(Language::Cpp)),
        ("a.b.cc", Some(Language::Cpp)),
        ("/usr/include/c++/14/vector", Some(Language::Cpp)),
        ("/src/main.rs", Some(Language::Rust)),
        ("/src/start.S", None),
        ("Makefile", None),
        ("", None),
    ] {
        assert_eq!(Language::of_file(Path::new(file)), expected, "{file}");
    }
}

#[test]
fn spans_that_do_not_fit_a_line_are_left_out() {
    let spans = Lexer::new(Language::C).line("int a = 12345;");
    assert_eq!(spans.len(), 2);
    let joined = |line| -> String { pieces(line, &spans).iter().map(|it| it.1).collect() };
    for line in ["", "ä", "in", "größe = ä", "int a = 1234"] {
        assert_eq!(joined(line), line);
    }
}

/// Text in which the signs that matter are frequent.
fn texts() -> impl Strategy<Value = String> {
    let signs = prop::sample::select(vec![
        "/*", "*/", "//", "\"", "'", "\\", "\n", "r", "R", "#", "[", "]", "(", ")", "x", "ä", "1",
        ".", "e", "-", " ", "u8", "b", "int", "…",
    ]);
    prop::collection::vec(signs, 0..60).prop_map(|it| it.concat())
}

proptest! {
    #[test]
    fn spans_are_in_order_and_leave_the_text_as_it_is(
        text in texts(),
        language in prop::sample::select(vec![Language::C, Language::Cpp, Language::Rust]),
    ) {
        let mut lexer = Lexer::new(language);
        for line in text.lines() {
            let spans = lexer.line(line);
            let mut end = 0;
            for span in &spans {
                prop_assert!(end <= span.start && span.start < span.end);
                prop_assert!(line.get(span.start..span.end).is_some());
                end = span.end;
            }
            let pieces = pieces(line, &spans);
            let joined: String = pieces.iter().map(|it| it.1).collect();
            prop_assert_eq!(joined, line);
            prop_assert_eq!(pieces.iter().filter(|it| it.0.is_some()).count(), spans.len());
        }
    }

    #[test]
    fn lines_are_the_same_in_any_order(
        texts in prop::collection::vec(texts(), 1..30),
        firsts in prop::collection::vec(0_usize..400, 1..6),
    ) {
        let text = texts.join("\n");
        let lines: Vec<&str> = text.lines().collect();
        let mut lexer = Lexer::new(Language::Rust);
        let whole: Vec<_> = lines.iter().map(|line| lexer.line(line)).collect();
        let mut highlighter = Highlighter::new(Language::Rust);
        for first in firsts {
            let found = highlighter.spans(&lines, first, 7);
            let expected: Vec<_> = whole.iter().skip(first).take(7).cloned().collect();
            prop_assert_eq!(found, expected);
        }
    }
}
