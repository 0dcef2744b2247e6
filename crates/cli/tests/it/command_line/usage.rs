//! Usage errors and `--help`: one clear message, the right stream, the right exit status.

use std::process::{Command, Output, Stdio};

fn juror(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_juror"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("juror runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn mistakes_are_told_on_the_standard_error_with_status_2() {
    for (arguments, expected) in [
        (&["run"][..], "<PROGRAM>"),
        (&["run", "--bogus", "/bin/true"], "--bogus"),
        (
            &["run", "--property", "/no/such.prop", "/bin/true"],
            "error: the property file /no/such.prop cannot be read: No such file",
        ),
        (
            &["run", "-x", "/no/such.commands", "/bin/true"],
            "error: the command file /no/such.commands cannot be read: No such file",
        ),
        (
            &["run", "--env", "NAME", "/bin/true"],
            "error: --env takes NAME=VALUE, not `NAME`",
        ),
        (
            &["run", "--json=/no/such/place", "/bin/true"],
            "error: the JSON file /no/such/place cannot be written: No such file",
        ),
        (&["replay"], "<TRACE|FILE.run>"),
        (
            &["replay", "/no/such.jsonl"],
            "error: the recording /no/such.jsonl cannot be read: No such file",
        ),
        (
            &["replay", "-"],
            "error: standard input is for commands: give the file of the recording",
        ),
    ] {
        let output = juror(arguments);
        let shown = text(&output.stderr);
        assert!(shown.contains(expected), "{arguments:?}: {shown}");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(text(&output.stdout), "", "{arguments:?}");
        assert!(!shown.contains('\u{1b}'), "colours in a pipe: {shown:?}");
    }
}

#[test]
fn mistakes_are_told_in_json_too() {
    let output = juror(&["run", "--json", "--property", "/no/such.prop", "/bin/true"]);
    let line: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one line of JSON");
    assert_eq!(line["juror"], 1);
    assert_eq!(line["kind"], "error");
    assert_eq!(line["fault"], "user");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn help_is_no_mistake() {
    for arguments in [&["--help"][..], &["help"], &["run", "--help"]] {
        let output = juror(arguments);
        assert_eq!(output.status.code(), Some(0));
        assert!(text(&output.stdout).starts_with("Examples:\n"));
        assert_eq!(text(&output.stderr), "");
    }
    let version = juror(&["--version"]);
    assert!(text(&version.stdout).starts_with("juror "));
}

#[test]
fn the_demo_says_when_there_is_no_compiler() {
    let directory = tempfile::tempdir().expect("a directory");
    let output = Command::new(env!("CARGO_BIN_EXE_juror"))
        .args(["demo", "--directory"])
        .arg(directory.path())
        .env("CC", "no-such-compiler")
        .output()
        .expect("juror runs");
    let shown = text(&output.stderr);
    assert!(shown.contains("the demo needs a C compiler"), "{shown}");
    assert!(shown.contains("CC=/path/to/cc juror demo"), "{shown}");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn constants_have_values_without_a_program() {
    for (command, expected) in [
        ("print 11", "$1 = 11\n"),
        ("print 2 * (3 + 4) - 1", "$1 = 13\n"),
        ("print/x 255", "$1 = 0xff\n"),
        ("print 7 / 2.0", "$1 = 3.5\n"),
        ("print 3 > 2 && 1", "$1 = "),
        ("print sizeof(int)", "$1 = 4\n"),
        ("print (char)65", "'A'"),
        ("output 6 * 7", "42"),
        ("printf \"%d of %s\\n\", 7, \"x\"", "7 of x\n"),
    ] {
        let output = juror(&["-batch", "-ex", command]);
        let shown = text(&output.stdout);
        assert!(shown.contains(expected), "{command}: {shown}");
        assert_eq!(output.status.code(), Some(0), "{command}");
    }
    let lines = [
        "set $n = 5",
        "print $n + 1",
        "print $n++",
        "print $n",
        "while $n < 8",
        "set $n = $n + 1",
        "end",
        "if $n == 8",
        "print $n",
        "end",
        "print $",
    ];
    let options = lines.iter().flat_map(|line| ["-ex", line]);
    let output = juror(&[&["-batch"][..], &options.collect::<Vec<_>>()].concat());
    let expected = "$1 = 6\n$2 = 5\n$3 = 6\n$4 = 8\n$5 = 8\n";
    assert_eq!(text(&output.stdout), expected, "{}", text(&output.stderr));
}

#[test]
fn what_needs_a_program_is_refused_without_one() {
    for (command, expected) in [
        ("print count", "the program is not running"),
        ("print $rip", "the program is not running"),
        ("print f(1)", "the program is not running"),
        (
            "print $nosuch",
            "no convenience variable is named `$nosuch`",
        ),
        ("run", "no program to run"),
        ("next", "the program is not running"),
    ] {
        let output = juror(&["-batch", "-ex", command]);
        let shown = text(&output.stdout) + &text(&output.stderr);
        assert!(shown.contains(expected), "{command}: {shown}");
        assert_eq!(output.status.code(), Some(2), "{command}");
    }
    // After the end of a program, too.
    let lines = ["-ex", "run", "-ex", "print 11", "/bin/true"];
    let output = juror(&[&["-batch"][..], &lines].concat());
    assert!(text(&output.stdout).contains("$1 = 11\n"));
}
