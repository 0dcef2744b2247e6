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

#[test]
fn a_recorded_run_goes_back_to_what_was_written() {
    let executable = program("threads.c").compile_plain();
    let run = recorded(&executable, &[], "", 0);
    let file = run.file.display().to_string();
    // The second worker begins; by then the pipe is open.
    let commands = "break work if number == 1\nrun\nlast-write ends\nbacktrace\nprint ends\n\
                    continue\nprint (long)number\nreverse-continue\nreverse-continue\n\
                    goto 2\nschedule\nkill\nquit\n";
    let output = juror(&["replay", &file]).input(commands).run();
    let text = format!("{}{}", output.stdout, output.stderr);
    for words in [
        "Last write  ends",
        "#1  main () at",
        "{3, 4}",
        "there is no earlier stop",
        "this is the start of the run",
        // From the start a run goes forwards.
        "2 schedule points so far",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert_eq!(text.matches("Breakpoint 1 in work").count(), 2, "{text}");
}
