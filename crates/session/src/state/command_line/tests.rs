use crate::state::command_line::*;

#[test]
fn arguments_are_split_as_a_shell_does() {
    for (text, expected) in [
        ("a b", &["a", "b"][..]),
        ("  'a b'  c", &["a b", "c"]),
        (r#""a \" b" c\ d"#, &["a \" b", "c d"]),
        ("''", &[""]),
        ("a''b", &["ab"]),
        ("'<' \\> \"2>\" a2", &["<", ">", "2>", "a2"]),
        ("a&b 2 x&", &["a&b", "2", "x&"]),
        ("", &[]),
    ] {
        let line = CommandLine::parse(text).expect(text);
        let expected: Vec<OsString> = expected.iter().map(OsString::from).collect();
        assert_eq!(line.arguments, expected, "{text}");
        assert_eq!(line.redirections, Redirections::default(), "{text}");
    }
    assert!(CommandLine::parse("'a").is_err());
}

fn sink(path: &str, append: bool) -> Option<Sink> {
    let path = path.into();
    Some(Sink { path, append })
}

fn check(text: &str, arguments: &[&str], expected: Redirections) {
    let line = CommandLine::parse(text).expect(text);
    let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
    assert_eq!(line.arguments, arguments, "{text}");
    assert_eq!(line.redirections, expected, "{text}");
}

#[test]
fn streams_are_redirected() {
    let none = Redirections::default;
    check(
        "a < in b > out",
        &["a", "b"],
        Redirections {
            input: Some("in".into()),
            output: sink("out", false),
            ..none()
        },
    );
    check(
        "x>>'my file' 2>errors",
        &["x"],
        Redirections {
            output: sink("my file", true),
            error: sink("errors", false),
            ..none()
        },
    );
    check(
        "2>>log",
        &[],
        Redirections {
            error: sink("log", true),
            ..none()
        },
    );
    check(
        "a&>all",
        &["a"],
        Redirections {
            output: sink("all", false),
            is_joined: true,
            ..none()
        },
    );
    let both = Redirections {
        output: sink("all", true),
        is_joined: true,
        ..none()
    };
    check("a >> all 2>&1", &["a"], both);
    check(
        "2>&1 a > out",
        &["a"],
        Redirections {
            output: sink("out", false),
            follows_standard: true,
            ..none()
        },
    );
    check(
        "1> first 2>&1 > second",
        &[],
        Redirections {
            output: sink("second", false),
            error: sink("first", false),
            ..none()
        },
    );
    // As in a shell, only a separate `2` is the number.
    check(
        "a2>out",
        &["a2"],
        Redirections {
            output: sink("out", false),
            ..none()
        },
    );
}

#[test]
fn what_is_missing_is_told() {
    for (text, expected) in [
        ("a <", "a file is missing after `<`"),
        ("> > b", "a file is missing after `>`"),
        ("a >&2", "redirection `>&` is not supported"),
    ] {
        let error = CommandLine::parse(text).expect_err(text);
        assert_eq!(error.message, expected, "{text}");
    }
}

#[test]
fn files_are_tried_before_anything_starts() {
    for (text, expected) in [
        ("< /nowhere/in", "cannot read from `/nowhere/in`: No such"),
        ("< /", "cannot read from `/`: "),
        ("> /nowhere/out", "cannot write to `/nowhere/out`: No such"),
        ("2>> /", "cannot write to `/`: "),
    ] {
        let line = CommandLine::parse(text).expect(text);
        let error = line.redirections.check().expect_err(text);
        assert!(error.message.starts_with(expected), "{}", error.message);
    }
    let line = CommandLine::parse("< /dev/null > /dev/null").expect("a line");
    assert_eq!(line.redirections.check(), Ok(()));
}
