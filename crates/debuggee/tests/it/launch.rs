//! Starting programs: what they are given, what they give back, and what
//! cannot be started.

use std::sync::Arc;

use crate::support::{compile, run};
use juror_debuggee::{Debuggee, EnvironmentChange, Launch, LaunchError, Redirection, StopEvent};

const TELL: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
    char directory[4096];
    for (int i = 1; i < argc; i++) printf("argument %s\n", argv[i]);
    printf("A=%s B=%s\n", getenv("A") ? getenv("A") : "-", getenv("B") ? getenv("B") : "-");
    printf("in %s\n", getcwd(directory, sizeof directory));
    int c;
    while ((c = getchar()) != EOF) putchar(c);
    fputs("to error\n", stderr);
    return 7;
}
"#;

#[test]
fn a_program_gets_what_it_is_given() {
    let program = compile(TELL, &[]);
    let directory = program.directory.path().canonicalize().unwrap();
    let input = directory.join("input");
    let error = directory.join("error");
    std::fs::write(&input, "from input\n").unwrap();
    std::fs::write(&error, "before\n").unwrap();
    let launch = Launch {
        arguments: vec!["one".into(), "two words".into()],
        environment: vec![
            EnvironmentChange::Clear,
            EnvironmentChange::Set("A".into(), "1".into()),
            EnvironmentChange::Set("B".into(), "2".into()),
            EnvironmentChange::Unset("B".into()),
        ],
        directory: Some(directory.clone()),
        input: Redirection::File(input),
        error: Redirection::Append(error.clone()),
        ..program.launch()
    };
    let mut debuggee = Debuggee::launch(&launch).unwrap();
    run(&mut debuggee).assert_exited(7);
    assert!(!debuggee.is_alive());
    assert_eq!(
        program.output(),
        format!(
            "argument one\nargument two words\nA=1 B=-\nin {}\nfrom input\n",
            directory.display()
        )
    );
    assert_eq!(
        std::fs::read_to_string(error).unwrap(),
        "before\nto error\n"
    );
}

#[test]
fn output_can_go_into_a_pipe() {
    use std::io::Read;
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut launch = Launch::new("echo");
    launch.arguments = vec!["hello".into()];
    launch.output = Redirection::Descriptor(Arc::new(writer.into()));
    let mut debuggee = Debuggee::launch(&launch).unwrap();
    drop(launch);
    run(&mut debuggee).assert_exited(0);
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert_eq!(text, "hello\n");
}

#[test]
fn addresses_repeat_unless_randomized() {
    let program = compile("int main(void) { return 0; }", &[]);
    let bias = |randomize| {
        let launch = Launch {
            randomize,
            ..program.launch()
        };
        Debuggee::launch(&launch).unwrap().modules()[0].bias
    };
    assert_eq!(bias(false), bias(false));
    assert_ne!(bias(true), bias(false));
}

#[test]
fn what_cannot_be_started_is_told() {
    let program = compile("int main(void) { return 0; }", &[]);
    let launch = |change: fn(&mut Launch)| {
        let mut launch = program.launch();
        change(&mut launch);
        Debuggee::launch(&launch).unwrap_err()
    };
    let cases: [(LaunchError, &str); 5] = [
        (
            launch(|it| it.program = "/nowhere/x".into()),
            "/nowhere/x: there is no such file",
        ),
        (
            launch(|it| it.program = "/tmp".into()),
            "/tmp: this is a directory, not a program",
        ),
        (
            launch(|it| it.directory = Some("/nowhere".into())),
            "cannot enter the working directory /nowhere: No such file or directory (os error 2)",
        ),
        (
            launch(|it| it.input = Redirection::File("/nowhere".into())),
            "cannot open /nowhere for standard input: No such file or directory (os error 2)",
        ),
        (
            launch(|it| it.arguments = vec!["a\0b".into()]),
            "an argument contains a zero byte, which cannot be passed to a program",
        ),
    ];
    for (error, expected) in cases {
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn the_program_is_found_in_path_and_ends_as_it_likes() {
    let mut debuggee = Debuggee::launch(&Launch::new("false")).unwrap();
    run(&mut debuggee).assert_exited(1);
    assert!(debuggee.wait().is_err());
}

#[test]
fn libraries_of_the_start_are_told_before_their_code_runs() {
    let program = compile("int main(void) { return 0; }", &[]);
    let mut debuggee = program.start();
    let at_first = debuggee.modules().len();
    debuggee.resume_all().unwrap();
    let event = debuggee.wait().unwrap();
    assert!(
        matches!(event, StopEvent::ModulesChanged { .. }),
        "{event:?}"
    );
    let names: Vec<String> = debuggee
        .modules()
        .iter()
        .map(|module| module.path.display().to_string())
        .collect();
    assert!(names.len() > at_first);
    assert!(
        names.iter().any(|name| name.contains("libc.so")),
        "{names:?}"
    );
    let mains = debuggee.modules().iter().filter(|it| it.is_main).count();
    assert_eq!(mains, 1);
    run(&mut debuggee).assert_exited(0);
}
