//! Tests of parsing command lines.

use super::*;
use crate::driver::{AtInlined, CpuPolicy, InlinedPolicy, Options, SymbolSettings};

fn parse_line(line: &str) -> Result<CommandLine, clap::Error> {
    parse_from(line.split_whitespace().map(OsString::from))
}

fn run(line: &str) -> Run {
    match parse_line(line).map(|command_line| command_line.action) {
        Ok(Action::Run(run)) => *run,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn arguments_after_the_program_are_its_own() {
    for (line, program) in [
        ("juror run prog", "prog"),
        ("juror prog", "prog"),
        ("juror --batch prog --batch", "prog --batch"),
        ("juror run prog -- a --", "prog -- a --"),
        ("juror run prog --property p -x y", "prog --property p -x y"),
        ("juror run -- prog -h", "prog -h"),
        ("juror run --args prog --args -e", "prog --args -e"),
        ("juror prog run", "prog run"),
        ("juror ./run run demo", "./run run demo"),
        ("juror run demo --help", "demo --help"),
    ] {
        let words: Vec<_> = program.split(' ').map(OsString::from).collect();
        let run = run(line);
        assert_eq!(run.program, words, "{line}");
        assert!(run.common.properties.is_empty() && run.common.scripts.is_empty());
    }
}

#[test]
fn a_process_is_given_by_its_number() {
    for line in [
        "juror attach 12",
        "juror -p 12",
        "juror --pid 12",
        "juror attach --batch -e bt 12",
    ] {
        match parse_line(line).map(|command_line| command_line.action) {
            Ok(Action::Attach(attach)) => {
                assert_eq!(attach.process, 12, "{line}");
                let options = attach.options().expect("these are right");
                assert!(options.program.as_os_str().is_empty());
                assert_eq!(attach.common.scripts.len(), usize::from(options.batch));
            }
            other => panic!("{line}: {other:?}"),
        }
    }
    let error = parse_line("juror attach faulty").expect_err("no number");
    assert!(error.to_string().contains("PID"), "{error}");
}

#[test]
fn errors_are_reported() {
    for (line, expected) in [
        ("juror run", "<PROGRAM>"),
        ("juror run --bogus prog", "--bogus"),
        ("juror --bogus prog", "--bogus"),
        ("juror run --keep-going prog", "--batch"),
        ("juror run --cpu fast prog", "auto, shared, free"),
        ("juror run --record before prog", "--trace"),
        ("juror check run.jsonl", "--property"),
        ("juror check --property p", "<TRACE|FILE.run>"),
        ("juror check --merge --follow --property p t", "--follow"),
    ] {
        let error = parse_line(line).expect_err(line);
        assert!(error.to_string().contains(expected), "{line}: {error}");
        assert_eq!(error.exit_code(), 2, "{line}");
    }
}

#[test]
fn help_begins_with_examples() {
    for line in [
        "juror --help",
        "juror help",
        "juror run --help",
        "juror attach --help",
        "juror check --help",
    ] {
        let help = parse_line(line).expect_err(line);
        assert_eq!(help.exit_code(), 0);
        assert!(help.to_string().starts_with("Examples:\n"), "{help}");
    }
}

#[test]
fn scripts_keep_their_order() {
    let run = run("juror run -e a -x f --ex b --commands g prog");
    let expected = [
        Script::Line("a".into()),
        Script::File("f".into()),
        Script::Line("b".into()),
        Script::File("g".into()),
    ];
    assert_eq!(run.common.scripts, expected);
}

#[test]
fn json_takes_a_file_only_with_an_equals_sign() {
    assert_eq!(run("juror run --json prog").common.json, Some("-".into()));
    assert_eq!(run("juror run --json=f prog").common.json, Some("f".into()));
    assert_eq!(run("juror run prog").common.json, None);
}

#[test]
fn options_follow_from_the_command_line() {
    let run = run(
        "juror run --env A=1=2 --unset-env B --cd /tmp --stdout out --append \
                   --aslr --cpu free --history 9 --ignore-inlined --at-inlined=likely --no-cache \
                   --debug-file-directory d prog a",
    );
    let options = run.options().expect("these are right");
    assert_eq!(options.control_check.is_some(), cfg!(feature = "models"));
    let expected = Options {
        program: "prog".into(),
        arguments: vec!["a".into()],
        environment: vec![("B".into(), None), ("A".into(), Some("1=2".into()))],
        directory: Some("/tmp".into()),
        stdout: Some("out".into()),
        append_stdout: true,
        append_stderr: true,
        randomize: true,
        cpu: CpuPolicy::Free,
        history: 9,
        inlined: InlinedPolicy {
            at: AtInlined::Likely,
            ignore: true,
        },
        self_check: None,
        control_check: options.control_check,
        symbols: SymbolSettings {
            debug_file_directories: vec!["d".into(), "/usr/lib/debug".into()],
            cache: None,
            ..SymbolSettings::default()
        },
        ..Options::default()
    };
    assert_eq!(options, expected);
}

#[test]
fn invalid_options_are_refused() {
    for (line, expected) in [
        ("juror run --env A prog", "--env takes NAME=VALUE, not `A`"),
        ("juror run --trace t prog", "--trace has nothing to record"),
        (
            "juror run --trace t --record e --trace-format csv prog",
            "juror reads CSV traces, but does not write them",
        ),
        (
            "juror run --batch --property p -e help",
            "the program is missing: properties and traces need one",
        ),
        (
            "juror run --property /no/such/file prog",
            "the property file /no/such/file cannot be read",
        ),
    ] {
        let error = run(line).options().expect_err(line);
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn the_name_decides_the_format_of_a_trace() {
    for (line, binary) in [
        ("juror run --trace t.jtr --record e prog", true),
        ("juror run --trace t.jsonl --record e prog", false),
        (
            "juror run --trace t --record e --trace-format binary prog",
            true,
        ),
        (
            "juror run --trace t.jtr --record e --trace-format json prog",
            false,
        ),
    ] {
        let options = run(line).options().expect("these are right");
        let recording = options.recording.expect("it is asked for");
        assert_eq!(recording.binary, binary, "{line}");
        assert_eq!(recording.events, ["e"]);
    }
}
