//! `juror explore`, and `juror replay` of a run that failed.

mod by_agent;
mod endings;
mod going_back;
mod inevitable;
mod kinds;
mod programs;
mod prompt;
mod properties;
mod world;

use crate::support::juror;
use juror_testing::Fixture;
use programs::{FAULTY, IN_CPP, IN_RUST, RIGHT, in_c};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The number of times that a run is made again.
const REPLAYS: usize = 3;

/// The output of `juror explore`, and the file of the run that failed.
struct Explored {
    text: String,
    directory: TempDir,
    file: Option<PathBuf>,
}

/// Explores a program, and checks the exit status.
#[track_caller]
fn explored(executable: &Path, options: &[&str], status: i32) -> Explored {
    let directory = tempfile::tempdir().expect("a directory");
    let executable = executable.display().to_string();
    let mut arguments = vec!["explore"];
    if !world::is_possible() {
        arguments.push("--real-files");
    }
    arguments.extend(options);
    arguments.push(&executable);
    let output = juror(&arguments).directory(directory.path()).run();
    let text = format!("{}{}", output.stdout, output.stderr);
    assert_eq!(output.code(), Some(status), "{executable}: {text}");
    let mut files = std::fs::read_dir(directory.path()).expect("a directory");
    let file = files.next().map(|entry| entry.expect("a file").path());
    Explored {
        text,
        directory,
        file,
    }
}

/// Checks that a program is found to fail, and that the run can be made again.
#[track_caller]
fn check_faulty(executable: &Path, said: &[&str]) {
    let explored = explored(executable, &[], 1);
    for words in said {
        let text = &explored.text;
        assert!(
            text.contains(words),
            "{}: {words:?}: {text}",
            executable.display()
        );
    }
    let file = explored.file.expect("a file").display().to_string();
    let (report, rest) = explored.text.split_once("schedule ").expect("its file");
    let (_, report) = report.split_once(": ").expect("the number of the run");
    let (_, switches) = rest.split_once('\n').expect("its switches");
    for _ in 0..REPLAYS {
        let output = juror(&["replay", "--batch", &file]).run();
        assert_eq!(output.code(), Some(1), "{}{}", output.stdout, output.stderr);
        let (again, rest) = output.stdout.split_once("schedule ").expect("its file");
        assert_eq!(again, report, "{}", output.stderr);
        assert!(rest.ends_with(switches), "{rest}: {switches}");
    }
}

/// Checks every third program with a fault, from one on.
fn check_third(from: usize) {
    for row in FAULTY.iter().skip(from).step_by(3) {
        check_faulty(&in_c(row).compile_plain(), row.said);
    }
}

#[test]
fn faults_of_each_kind_are_found_and_made_again() {
    check_third(0);
}

#[test]
fn faults_of_each_kind_are_found_and_made_again_second_part() {
    check_third(1);
}

#[test]
fn faults_of_each_kind_are_found_and_made_again_third_part() {
    check_third(2);
}

#[test]
fn right_programs_do_not_fail() {
    for row in RIGHT {
        let explored = explored(&in_c(row).compile_plain(), &["--runs", "60"], 0);
        let text = &explored.text;
        assert!(
            text.contains("no failure in 60 schedules"),
            "{}: {text}",
            row.name
        );
        assert!(!text.contains("HOLDS"), "{text}");
    }
}

#[test]
fn locks_that_are_inlined_are_points() {
    let program = Fixture::rust("explored-in-rust", IN_RUST).compile_plain();
    check_faulty(&program, &["DEADLOCK\n", "waits for the end of thread 2"]);
}

#[test]
fn locks_of_cpp_are_named_by_the_users_lines() {
    let program = Fixture::cpp("explored-in-cpp", IN_CPP).argument("-pthread");
    let said = [
        "waits for a, which",
        "waits for b, which",
        "explored-in-cpp.cpp:",
    ];
    check_faulty(&program.compile_plain(), &said);
}

#[test]
fn a_static_and_a_stripped_program_are_explored() {
    let Some(row) = FAULTY.first() else {
        panic!("no row");
    };
    for argument in ["-static", "-s"] {
        let program = in_c(row).argument(argument).compile_plain();
        check_faulty(&program, &["DEADLOCK\n"]);
    }
}

#[test]
fn a_program_with_one_thread_is_told() {
    let program = Fixture::c("explored-alone", "int main(void) { return 3; }").compile_plain();
    let text = explored(&program, &[], 0).text;
    assert!(text.contains("no second thread"), "{text}");
}

#[test]
fn a_file_that_is_no_run_is_refused() {
    let Some(row) = FAULTY.first() else {
        panic!("no row");
    };
    let program = in_c(row).compile_plain();
    let explored = explored(&program, &["--points", "sync"], 1);
    let file = explored.file.expect("a file");
    let text = std::fs::read_to_string(&file).expect("its text");
    let half = text.get(..text.len() / 2).expect("text");
    let other_version = text.replacen("\"juror_run\":1", "\"juror_run\":9", 1);
    let other_program = text.replace("\"hash\":", "\"x\":1,\"hash\":");
    let no_thread = text.replace("\"main/", "\"man/");
    for (damaged, said) in [
        (half, "damaged"),
        (&other_version, "version 9"),
        (&other_program, "damaged"),
        (&no_thread, "is no thread"),
        ("{}", "damaged"),
        ("", "damaged"),
    ] {
        let path = explored.directory.path().join("damaged.run");
        std::fs::write(&path, damaged).expect("a file");
        let output = juror(&["replay", "--batch", &path.display().to_string()]).run();
        assert_eq!(output.code(), Some(2), "{said}: {}", output.stdout);
        assert!(output.stderr.contains(said), "{said}: {}", output.stderr);
    }
}

#[test]
fn a_run_of_a_changed_program_is_not_made_again() {
    let Some(row) = FAULTY.first() else {
        panic!("no row");
    };
    let directory = tempfile::tempdir().expect("a directory");
    let copy = directory.path().join("changing");
    std::fs::copy(in_c(row).compile_plain(), &copy).expect("a copy");
    let explored = explored(&copy, &[], 1);
    let other = Fixture::c("explored-other", "int main(void) { return 0; }").compile_plain();
    std::fs::copy(other, &copy).expect("a copy");
    let file = explored.file.expect("a file").display().to_string();
    let output = juror(&["replay", "--batch", &file]).run();
    assert_eq!(output.code(), Some(2), "{}", output.stdout);
    assert!(
        output.stderr.contains("it was changed since"),
        "{}",
        output.stderr
    );
}
