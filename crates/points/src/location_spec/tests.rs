use super::*;

fn check(text: &str, place: LocationSpec, condition: Option<&str>) {
    let placed = parse(text).expect("a place");
    assert_eq!(placed.place, place, "{text:?}");
    assert_eq!(placed.condition.as_deref(), condition, "{text:?}");
}

#[test]
fn a_thread_may_be_named() {
    let function = |name: &str| LocationSpec::Function(name.into());
    for (text, place, thread, words) in [
        ("work thread 2", function("work"), Some(2), "work"),
        ("work  thread 2 if x", function("work"), Some(2), "work"),
        ("thread 2", LocationSpec::Here, Some(2), ""),
        ("thread", function("thread"), None, "thread"),
        ("work", function("work"), None, "work"),
    ] {
        let placed = parse(text).expect("a place");
        assert_eq!((placed.place, placed.thread), (place, thread), "{text:?}");
        assert_eq!(placed.text, words, "{text:?}");
    }
}

#[test]
fn places_are_read_as_in_gdb() {
    let line = |file: Option<&str>, line| LocationSpec::Line {
        file: file.map(str::to_owned),
        line,
        column: None,
    };
    let column = |file: &str, line, column| LocationSpec::Line {
        file: Some(file.to_owned()),
        line,
        column: Some(column),
    };
    check("queue.c:23:7", column("queue.c", 23, 7), None);
    check("'a b.c':23:7 if x", column("a b.c", 23, 7), Some("x"));
    check("queue.c:23", line(Some("queue.c"), 23), None);
    check(
        "src/queue.c:23 if c == 3",
        line(Some("src/queue.c"), 23),
        Some("c == 3"),
    );
    check("23", line(None, 23), None);
    check("main", LocationSpec::Function("main".into()), None);
    for text in ["-qualified n::f", "-q ::n::f", "-qualified -function n::f"] {
        check(text, LocationSpec::Function("::n::f".into()), None);
    }
    check("-q queue.c:23", line(Some("queue.c"), 23), None);
    check(
        "ns::Class::method",
        LocationSpec::Function("ns::Class::method".into()),
        None,
    );
    check(
        "notify if(a)",
        LocationSpec::Function("notify".into()),
        Some("(a)"),
    );
    check("*0x401136", LocationSpec::Address("0x401136".into()), None);
    check("*main + 4", LocationSpec::Address("main + 4".into()), None);
    check("+3", LocationSpec::Offset(3), None);
    check("", LocationSpec::Here, None);
    check("if x > 1", LocationSpec::Here, Some("x > 1"));
    check("ifdef", LocationSpec::Function("ifdef".into()), None);
    let of_file = |file: &str, name: &str| LocationSpec::FunctionIn {
        file: file.into(),
        name: name.into(),
    };
    check("queue.c:push", of_file("queue.c", "push"), None);
    check(
        "src/a.cc:ns::f(int) if x",
        of_file("src/a.cc", "ns::f(int)"),
        Some("x"),
    );
    check(
        "ns::f<a:b>",
        LocationSpec::Function("ns::f<a:b>".into()),
        None,
    );
    let matching = |file: Option<&str>, pattern: &str| LocationSpec::Matching {
        file: file.map(str::to_owned),
        pattern: pattern.into(),
    };
    check("/^queue_/", matching(None, "^queue_"), None);
    check("/a|b/ if x", matching(None, "a|b"), Some("x"));
    check("queue.c:/./", matching(Some("queue.c"), "."), None);
}

#[test]
fn a_name_in_quotes_is_what_it_is_without() {
    for (quoted, plain) in [
        ("'queue.c':23", "queue.c:23"),
        ("\"queue.c\":23", "queue.c:23"),
        ("'queue.c:23'", "queue.c:23"),
        ("'queue.c' : 23", "queue.c:23"),
        ("'f(int, long)'", "f(int, long)"),
        ("'ns::C<int>::f(int)'", "ns::C<int>::f(int)"),
        ("'queue.c':'push'", "queue.c:push"),
        ("queue.c:'push(int)'", "queue.c:push(int)"),
        ("'queue.c':/^q/", "queue.c:/^q/"),
    ] {
        for condition in [None, Some("c == 'x'")] {
            let rest = condition.map_or(String::new(), |it| format!(" if {it}"));
            let expected = parse(plain).expect("a place").place;
            check(&format!("{quoted}{rest}"), expected, condition);
        }
    }
    let of_file = |file: &str| LocationSpec::Line {
        file: Some(file.into()),
        line: 3,
        column: None,
    };
    check("'as if.c':3", of_file("as if.c"), None);
    check("'as if.c':3 if x", of_file("as if.c"), Some("x"));
    check("\"it's.c\":3", of_file("it's.c"), None);
}

#[test]
fn the_words_that_follow_a_location_are_told() {
    for (text, words) in [
        ("main x", "x"),
        ("  main  when n == 3", "when n == 3"),
        ("queue.c:23 push", "push"),
        ("queue.c:push x if n", "x"),
        ("main x thread 2 if n", "x"),
        ("f:label x", "x"),
    ] {
        let wrong = parse(text).expect_err(text);
        let at = wrong.at.unwrap_or(0);
        assert!(text[at..].starts_with(words), "{text}: {wrong:?}");
    }
    for (text, after) in [
        ("main if n", "if n"),
        ("main thread 2 if n", "thread 2 if n"),
        ("main thread 2", "thread 2"),
        ("main", ""),
        ("if n", "if n"),
    ] {
        assert_eq!(after_location(text), after, "{text}");
    }
}

#[test]
fn a_line_is_read_as_it_is_written() {
    for file in [
        "a.c",
        "/x y/a.c",
        "it's.c",
        "a \"b\".c",
        "é.c",
        "as if.c",
        "C:x.c",
    ] {
        for column in [None, Some(7)] {
            let written = written_line(file, 3, column);
            let place = LocationSpec::Line {
                file: Some(file.to_owned()),
                line: 3,
                column,
            };
            check(&written, place, None);
        }
    }
}

#[test]
fn mistakes_are_sentences() {
    for text in [
        "queue.c:0",
        "99999999999",
        "3 1",
        "queue.c:3 1",
        "queue.c:3 push",
        "+3 1",
        "30 31 if n > 3",
        "*",
        "main if",
        "+x",
        "'main",
        "''",
        "'main' 3",
        "'queue.c':",
        "'queue.c':0",
        "my_thread 2",
        "main x",
        "main when n == 3",
        "queue.c:push x",
        "'queue.c':push x",
        "/^queue/ x",
    ] {
        assert!(parse(text).is_err(), "{text:?}");
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in ".*") {
        let _ = parse(&text);
    }
}

#[test]
fn a_regular_expression_of_rbreak_may_have_a_file_and_a_condition() {
    for (text, words, file, pattern, condition) in [
        ("^push", "/^push/", None, "^push", None),
        (
            "queue.c:^push",
            "queue.c:/^push/",
            Some("queue.c"),
            "^push",
            None,
        ),
        (
            "std::.*push if n",
            "/std::.*push/",
            None,
            "std::.*push",
            Some("n"),
        ),
    ] {
        let placed = matching(text);
        assert_eq!(
            (placed.text.as_str(), placed.condition.as_deref()),
            (words, condition)
        );
        let expected = LocationSpec::Matching {
            file: file.map(str::to_owned),
            pattern: pattern.to_owned(),
        };
        assert_eq!(placed.place, expected, "{text}");
    }
}

#[test]
fn a_file_ends_at_a_single_colon_before_arguments() {
    for (text, expected) in [
        ("a.c:f", Some(("a.c", "f"))),
        ("a.c:ns::f", Some(("a.c", "ns::f"))),
        ("ns::f", None),
        ("ns::f:label", Some(("ns::f", "label"))),
        ("f<a:b>", None),
        ("f(a:b)", None),
        (":f", None),
        ("a.c:", None),
    ] {
        assert_eq!(split_file(text), expected, "{text}");
    }
}
