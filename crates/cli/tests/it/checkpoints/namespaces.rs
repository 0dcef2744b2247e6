//! Checkpoints of threads for a user who may not choose process IDs: the program runs in a PID
//! namespace. Without permission for that, juror says so.

use crate::support::program;
use juror_testing::{Juror, Output};
use std::process::{Command, Stdio};

const JUROR: &str = env!("CARGO_BIN_EXE_juror");
/// A user with no rights, as most systems have it.
const NOBODY: &str = "65534";

/// Whether a command can be run here at all.
pub fn is_possible(words: &[&str]) -> bool {
    let [name, arguments @ ..] = words else {
        return false;
    };
    let mut command = Command::new(name);
    command.args(arguments).arg("true");
    command.stdin(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// How a command is run as a user with no rights; none when this user has none.
fn without_rights() -> Vec<&'static str> {
    let id = Command::new("id").arg("-u").output().expect("id runs");
    match id.stdout.as_slice() {
        b"0\n" => vec![
            "setpriv",
            "--reuid",
            NOBODY,
            "--regid",
            NOBODY,
            "--clear-groups",
            "--bounding-set=-all",
        ],
        _ => Vec::new(),
    }
}

/// juror behind other commands, with lines for its prompt.
fn run(before: &[&str], arguments: &[&str], lines: &[&str]) -> Output {
    let executable = program("numbered.c").compile_plain();
    let words = [before, &[JUROR, "run"], arguments].concat();
    let (name, rest) = words.split_first().expect("there is a command");
    let input: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
    Juror::new(name)
        .args(rest)
        .args([executable])
        .directory(std::env::temp_dir())
        .input(input)
        .run()
}

#[track_caller]
fn assert_has(output: &Output, parts: &[&str]) {
    let text = format!("{}{}", output.stdout, output.stderr);
    for part in parts {
        assert!(text.contains(part), "{part}:\n{text}");
    }
}

const STEPS: [&str; 8] = [
    "break take_step if count == 2",
    "run",
    "checkpoint",
    "delete",
    "continue",
    "restore",
    "print count",
    "continue",
];

#[test]
fn threads_come_back_for_an_ordinary_user() {
    let user = without_rights();
    let spaces = [user.as_slice(), &["unshare", "-Upr"]].concat();
    if !is_possible(&spaces) {
        eprintln!("user namespaces are forbidden here: left out");
        return;
    }
    let directory = tempfile::TempDir::new().expect("a directory");
    let scenario = directory.path().join("keeps.scenario");
    let keeps = "scenario keeps\non signal SIGUSR1 {\n  if 1 < 2 { command \"chec\" }\n}\n";
    std::fs::write(&scenario, keeps).expect("a scenario");
    let scenario = scenario.to_str().expect("its path");
    // A program with a scenario is let go at once: it ends once more.
    let ways: [(&[&str], &[&str], usize); 3] = [
        (&["--checkpoint", "start"], &[], 2),
        (&[], &["set checkpoint-namespace on"], 2),
        (&["--scenario", scenario], &[], 3),
    ];
    for (arguments, before, times) in ways {
        let lines = [before, &STEPS].concat();
        let output = run(&user, arguments, &lines);
        output.assert_code(0);
        assert_has(
            &output,
            &["Back at checkpoint", "= 2\n", "listed 1 process 1 thread 1"],
        );
        let ends = output.stdout.matches("count 5 user").count();
        assert_eq!(ends, times, "{}", output.stdout);
        let has_number = output.stdout.contains("process number");
        assert!(!has_number, "{}", output.stdout);
        if user.contains(&NOBODY) {
            assert_has(&output, &[&format!("user {NOBODY} ")]);
        }
    }
}

#[test]
fn nothing_is_different_where_no_checkpoints_are_wanted() {
    let user = without_rights();
    let output = run(
        &user,
        &[],
        &[
            "set checkpoint-namespace off",
            "break take_step",
            "run",
            "checkpoint",
        ],
    );
    assert_has(
        &output,
        &[
            "the program has 2 threads, and this user may not give a thread its old number",
            "set checkpoint-namespace on",
        ],
    );
}

#[test]
fn a_setting_that_forbids_it_is_named() {
    // In a namespace where no further one may be made.
    let shut = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
    let before = ["unshare", "-Ur", "sh", "-c", shut, "sh"];
    if !is_possible(&before) {
        eprintln!("user namespaces are forbidden here: left out");
        return;
    }
    let output = run(&before, &["--checkpoint", "start"], &STEPS);
    assert_has(
        &output,
        &[
            "the program has no PID namespace: user namespaces are switched off \
             (user.max_user_namespaces); root can allow them: sysctl \
             user.max_user_namespaces=1000",
            "the program has 2 threads, and this user may not give a thread its old number",
        ],
    );
    // One thread comes back, with another number.
    let lines = ["checkpoint", "break main", "run", "restore", "run"];
    let output = run(&before, &[], &lines);
    assert_has(
        &output,
        &[
            "Checkpoint 1",
            "its process number",
            "is back at checkpoint 1",
        ],
    );
}
