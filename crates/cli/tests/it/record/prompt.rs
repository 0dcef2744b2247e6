//! Recorded runs at the prompt.

use super::{program, recorded};
use crate::support::juror;

#[test]
fn a_recorded_run_stops_at_breakpoints_and_is_made_again() {
    let executable = program("inputs.c").compile_plain();
    let run = recorded(&executable, &[], "", 0);
    let (_, rest) = run.text.split_once("sum ").expect("the sum");
    let (sum, _) = rest.split_once(',').expect("the sum");
    let half: i32 = sum.parse::<i32>().expect("a number") / 2;
    let file = run.file.display().to_string();
    let commands = [
        "break spoiled",
        "run",
        "print value",
        "finish",
        "run",
        "print value",
        "kill",
    ];
    let mut words = vec!["replay"];
    for command in commands {
        words.extend(["-e", command]);
    }
    words.extend(["-e", "quit", &file]);
    let output = juror(&words).run();
    let text = &output.stdout;
    assert!(
        text.contains(&format!("$1 = {half}\n")),
        "{text}{}",
        output.stderr
    );
    assert!(text.contains(&format!("returned (int) {sum}\n")), "{text}");
    assert!(
        text.contains(&format!("$3 = {half}\n")),
        "{text}{}",
        output.stderr
    );
}

#[test]
fn the_calls_of_a_recorded_run_stop_at_catchpoints() {
    let executable = program("inputs.c").compile_plain();
    let run = recorded(&executable, &[], "", 0);
    let file = run.file.display().to_string();
    let commands = [
        "catch syscall getrandom",
        "run",
        "continue",
        "continue",
        "quit",
    ];
    let mut words = vec!["replay"];
    for command in commands {
        words.extend(["-e", command]);
    }
    words.push(&file);
    let output = juror(&words).run();
    let text = &output.stdout;
    assert!(text.contains("getrandom"), "{text}{}", output.stderr);
    assert!(text.contains("which gave 8"), "{text}{}", output.stderr);
}
