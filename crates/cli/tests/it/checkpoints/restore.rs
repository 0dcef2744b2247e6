//! Checkpoints at the prompt: a restore brings back the program, its monitors and its files,
//! and keeps the user's points.

use crate::checkpoints::namespaces::is_possible;
use crate::support::{juror, program};
use juror_testing::{Build, Language, Optimization, Output, may_choose_thread_numbers};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

const END: &str = "count 15 shared 5 pipe 5 file 10\n";

/// A property that there are three steps at most.
const THREE: &str = "\
property three
event stepped = before take_step(number)
var steps = 0
state counting accepting { on stepped when steps < 3 { steps += 1 } -> counting  else -> more }
state more non-accepting
";

struct Run {
    directory: TempDir,
    executable: PathBuf,
}

impl Run {
    fn new() -> Run {
        Run {
            directory: TempDir::new().expect("a directory"),
            executable: program("returns_to.c").compile_plain(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The prompt with these lines; the program writes to the file `output`.
    #[track_caller]
    fn prompt(&self, options: &[&str], lines: &[&str]) -> Output {
        let output = self.prompt_of_any_end(options, lines);
        output.assert_code(0);
        output
    }

    /// The same where a property is violated on the way.
    #[track_caller]
    fn prompt_of_violation(&self, options: &[&str], lines: &[&str]) -> Output {
        let output = self.prompt_of_any_end(options, lines);
        output.assert_code(1);
        output
    }

    fn prompt_of_any_end(&self, options: &[&str], lines: &[&str]) -> Output {
        let input: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
        juror(&["run"])
            .args(options)
            .args(["--stdout".as_ref(), self.path("output").as_os_str()])
            .args([&self.executable, &self.path("lines")])
            .directory(self.directory.path())
            .input(input)
            .run()
    }

    #[track_caller]
    fn assert_ended_whole(&self) {
        let said = fs::read_to_string(self.path("output")).expect("it has written");
        assert_eq!(said, END);
        let lines = fs::read_to_string(self.path("lines")).expect("it has written");
        assert_eq!(lines, "1\n2\n3\n4\n5\n");
    }
}

#[track_caller]
fn assert_has(output: &Output, parts: &[&str]) {
    let text = format!("{}{}", output.stdout, output.stderr);
    let mut rest = text.as_str();
    for part in parts {
        let Some(at) = rest.find(part) else {
            panic!("{part}:\n{text}");
        };
        rest = &rest[at + part.len()..];
    }
}

#[test]
fn all_goes_back_as_often_as_one_likes() {
    let run = Run::new();
    let output = run.prompt(
        &[],
        &[
            "break take_step if number == 3",
            "run",
            "checkpoint",
            "print count",
            "delete 1",
            "continue",
            "restore 1",
            "print count",
            "next",
            "next",
            "print *shared",
            "restore",
            "print *shared",
            "continue",
            "info checkpoints",
        ],
    );
    let parts = [
        "Checkpoint 1 in take_step",
        "= 3\n",
        "The program exited with status 0.",
        "Back at checkpoint 1, in take_step",
        "= 3\n",
        "= 3\n",
        "Back at checkpoint 1, in take_step",
        "= 2\n",
        "The program exited with status 0.",
        "#  threads  events  where",
    ];
    assert_has(&output, &parts);
    run.assert_ended_whole();
}

#[test]
fn breakpoints_stay_and_monitors_go_back() {
    let run = Run::new();
    fs::write(run.path("three.prop"), THREE).expect("it is written");
    let output = run.prompt_of_violation(
        &[
            "--property",
            "three.prop",
            "-e",
            "break take_step if number == 2",
            "-e",
            "run",
        ],
        &[
            "checkpoint",
            "break take_step if number == 3",
            "continue",
            "continue",
            "monitor",
            "restore 1",
            "monitor",
            "info breakpoints",
            "continue",
            "continue",
        ],
    );
    let parts = [
        "Breakpoint 2 in take_step (number=3)",
        "VIOLATED  three",
        "steps = 3",
        "Back at checkpoint 1",
        "steps = 2",
        // Hit once before, and not taken back.
        "take_step if number == 3",
        "Breakpoint 2 in take_step (number=3)",
        "VIOLATED  three",
    ];
    assert_has(&output, &parts);
}

/// The program had ended, and the thread had been told of where it stands.
#[test]
fn where_a_checkpoint_was_made_is_not_come_to_again() {
    let gcc = Build {
        optimization: Optimization::Full,
        ..Build::plain(Language::C)
    };
    for pie in [true, false] {
        let executable = program("outlined.c").compile(&Build { pie, ..gcc });
        // In `move`, 8 comes to the rest of `take` alone, 12 and 14 by its beginning.
        for (at, next) in [(8, 9), (12, 13), (14, 15)] {
            let input = format!(
                "break take if at == {at}\nrun\ncheckpoint\ncontinue\n\
                 restore 1\ncondition 1\ncontinue\n"
            );
            let output = juror(&["run"]).args([&executable]).input(input).run();
            let stops = output
                .stdout
                .lines()
                .filter(|line| line.contains(" in take ("));
            let places: Vec<&str> = stops
                .filter_map(|line| line.split(", at=").nth(1)?.split(',').next())
                .collect();
            let expected = [at, at, next].map(|it| it.to_string());
            assert_eq!(places, expected, "{}", output.stdout);
        }
    }
}

#[test]
fn a_trace_is_that_of_the_run_as_it_goes_on() {
    let run = Run::new();
    for trace in ["trace.jsonl", "trace.jtr"] {
        run.prompt(
            &["--trace", trace, "--record", "before take_step(number)"],
            &[
                "break take_step if number == 3",
                "run",
                "checkpoint",
                "delete 1",
                "continue",
                "restore 1",
                "continue",
            ],
        );
        fs::write(run.path("steps.prop"), "property steps\nevent stepped = before take_step(number)\nstate all accepting { on stepped }\n")
            .expect("it is written");
        let checked = juror(&["check", "--property", "steps.prop", trace])
            .directory(run.directory.path())
            .run();
        checked.assert_code(0);
        assert!(
            checked.stdout.contains("5 times"),
            "{trace}: {}",
            checked.stdout
        );
        run.assert_ended_whole();
    }
}

#[test]
fn what_is_lost_is_told_before_the_beginning_too() {
    let run = Run::new();
    let output = run.prompt(
        &["--checkpoint", "start"],
        &["run", "restore 1", "continue"],
    );
    let parts = [
        "The program is back at checkpoint 1, before its start.\nnot restored:\n  \
         the time of day\n",
        "checkpoint 1 cannot restore: the time of day; ",
    ];
    assert_has(&output, &parts);
    run.assert_ended_whole();
}

#[test]
fn a_violation_has_a_checkpoint_from_before() {
    let run = Run::new();
    fs::write(run.path("three.prop"), THREE).expect("it is written");
    for (when, number) in [("start", "1"), ("2", "2")] {
        let output = run.prompt_of_violation(
            &["--checkpoint", when, "--property", "three.prop"],
            &["restore", "break take_step", "continue", "print count"],
        );
        let said = format!("checkpoint {number} is from before this: restore {number}");
        assert!(output.stderr.contains(&said), "{}", output.stderr);
        assert_has(&output, &["VIOLATED", "Breakpoint 1 in take_step"]);
    }
}

#[test]
fn a_program_that_was_detached_and_has_ended_comes_back() {
    let run = Run::new();
    run.prompt(
        &[],
        &[
            "break take_step if number == 3",
            "run",
            "checkpoint",
            "delete 1",
            "detach",
            &format!(
                "shell while ! grep -q file {:?}; do :; done",
                run.path("output")
            ),
            "restore 1",
            "continue",
        ],
    );
    run.assert_ended_whole();
}

#[test]
fn mistakes_are_told() {
    let run = Run::new();
    let cases = [
        (&["restore"][..], "there is no checkpoint to restore"),
        (&["restore 7"], "there is no checkpoint 7"),
        (
            &["restore seven"],
            "`seven` is not the number of a checkpoint",
        ),
        (&["checkpoint here"], "checkpoint takes no argument"),
        (&["run", "checkpoint"], "the program is not running"),
        (&["delete checkpoint 3"], "there is no checkpoint 3"),
        (
            &["set checkpoint-files perhaps"],
            "`set checkpoint-files` needs on or off",
        ),
        (
            &["start", "checkpoint", "delete checkpoint 1", "restore 1"],
            "there is no checkpoint 1",
        ),
    ];
    for (lines, expected) in cases {
        let output = run.prompt(&[], lines);
        assert_has(&output, &[expected]);
    }
}

#[test]
fn a_checkpoint_is_one_line_of_json() {
    let run = Run::new();
    let output = run.prompt(
        &[
            "--json",
            "-e",
            "start",
            "-e",
            "checkpoint",
            "-e",
            "restore",
            "-e",
            "info checkpoints",
        ],
        &[],
    );
    let lines: Vec<serde_json::Value> = output
        .stdout
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let of = |kind: &str| lines.iter().find(|line| line["type"] == kind);
    assert_eq!(of("checkpoint").expect("a line")["value"]["number"], 1);
    assert_eq!(
        of("checkpoints").expect("a line")["value"][0]["thread_count"],
        1
    );
    let restored = lines.iter().find(|line| line["reason"] == "restored");
    assert_eq!(restored.expect("a stop")["checkpoint"], 1);
}

const MODES: &str = r#"
#include <stdio.h>
#include <termios.h>
__attribute__((noinline)) void point(void) { __asm__ volatile(""); }
static void say(const char *when) {
    struct termios modes;
    tcgetattr(0, &modes);
    printf("%s: any key %d\n", when, (modes.c_iflag & IXANY) != 0);
    fflush(stdout);
}
int main(void) {
    struct termios modes, changed;
    tcgetattr(0, &modes);
    point();
    say("before");
    changed = modes;
    changed.c_iflag |= IXANY;
    tcsetattr(0, TCSANOW, &changed);
    point();
    say("after");
    tcsetattr(0, TCSANOW, &modes);
    return 0;
}
"#;

#[test]
fn the_terminal_has_the_modes_that_it_had() {
    let executable = juror_testing::Fixture::c("modes", MODES).compile_plain();
    let mut terminal = juror(&["run", "-e", "break point", "-e", "run"])
        .args([&executable])
        .terminal();
    let mut type_at_prompt = |line: &str, expected: &[&str]| {
        terminal.expect("(juror) ");
        terminal.type_line(line);
        for text in expected {
            terminal.expect(text);
        }
    };
    type_at_prompt("checkpoint", &["Checkpoint 1"]);
    for _ in 0..2 {
        type_at_prompt("continue", &["before: any key 0", "Breakpoint 1"]);
        type_at_prompt("checkpoint", &["Checkpoint"]);
        type_at_prompt("restore 1", &["Back at checkpoint 1"]);
    }
    // That of the first time around, when the modes had been changed.
    type_at_prompt("restore 2", &["Back at checkpoint 2"]);
    type_at_prompt("continue", &["after: any key 1", "exited with status 0"]);
    terminal.expect("(juror) ");
    terminal.type_line("quit");
    terminal.finish();
}

#[test]
fn contents_of_files_are_kept_unless_one_says_no() {
    let run = Run::new();
    run.prompt(
        &[],
        &[
            "set checkpoint-files off",
            "break take_step if number == 3",
            "run",
            "checkpoint",
            "delete 1",
            "continue",
            "restore",
            "continue",
        ],
    );
    // The length is brought back in any case, so all is as it was here, too.
    run.assert_ended_whole();
}

/// Programs of the system, with all their threads: what they write is the same
/// after going back in the middle.
#[test]
fn programs_of_the_system_go_back() {
    let directory = TempDir::new().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    let text: String = (0_u64..400_000)
        .map(|number| format!("{}\n", number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20))
        .collect();
    fs::write(path("text"), text).expect("it is written");
    fs::write(path("threads.py"), PYTHON).expect("it is written");
    let rust = path("threads");
    fs::write(path("threads.rs"), RUST).expect("it is written");
    let compiled = Command::new("rustc")
        .args(["-g", "-o"])
        .args([&rust, &path("threads.rs")])
        .status();
    assert!(compiled.expect("rustc runs").success());
    let rust = rust.display().to_string();
    let programs: [(&str, &[&str]); 4] = [
        (&rust, &[]),
        ("sort", &["--parallel=4", "-S", "50M", "text"]),
        ("xz", &["-T4", "--block-size=200000", "-c", "text"]),
        ("python3", &["threads.py"]),
    ];
    for (name, arguments) in programs {
        let program = if name.contains('/') {
            Some(PathBuf::from(name))
        } else {
            found(name)
        };
        let Some(program) = program else {
            eprintln!("{name} is not installed: left out");
            continue;
        };
        let expected = Command::new(&program)
            .args(arguments)
            .current_dir(directory.path())
            .output()
            .expect("it runs");
        assert!(expected.status.success(), "{name}");
        for (before, parts) in ways_of_this_user() {
            let output = juror(&["run", "--stdout", "written"])
                .args([&program])
                .args(arguments)
                .directory(directory.path())
                .input(format!("{before}{THERE_AND_BACK}"))
                .run();
            output.assert_code(0);
            assert_has(&output, parts);
            assert_has(&output, &["The program exited with status 0."]);
            let written = fs::read(path("written")).expect("it has written");
            assert!(written == expected.stdout, "{name} writes something else");
        }
    }
}

/// Makes a checkpoint among threads and goes back to it twice.
const THERE_AND_BACK: &str = "\
tcatch syscall clone3 clone
run
catch syscall futex read write
ignore 2 30
continue
checkpoint
ignore 2 40
continue
restore
ignore 2 20
continue
restore
delete
continue
";

/// The lines before, and what juror says then: threads are refused to a user who may not give
/// them their old numbers, and come back in a PID namespace if the system allows one.
fn ways_of_this_user() -> Vec<(&'static str, &'static [&'static str])> {
    const BACK: &[&str] = &[
        "Checkpoint 1",
        "Back at checkpoint 1",
        "Back at checkpoint 1",
    ];
    if may_choose_thread_numbers() {
        return vec![("", BACK)];
    }
    let refused: &[&str] = &[
        "threads, and this user may not give a thread its old number: give the program a PID \
         namespace (set checkpoint-namespace on, then run it again), or run juror as root",
        "there is no checkpoint to restore",
        "there is no checkpoint to restore",
    ];
    let mut ways = vec![("", refused)];
    if is_possible(&["unshare", "-Upr"]) {
        ways.push(("set checkpoint-namespace on\n", BACK));
    } else {
        eprintln!("skipped: user namespaces are forbidden here");
    }
    ways
}

const RUST: &str = r#"
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
fn main() {
    let sum = Arc::new(Mutex::new(0_u64));
    let (sender, receiver) = mpsc::sync_channel(4);
    let threads: Vec<_> = (0..4_u64)
        .map(|which| {
            let (sum, sender) = (Arc::clone(&sum), sender.clone());
            thread::spawn(move || {
                for number in 0..200 {
                    *sum.lock().unwrap() += number * which;
                    sender.send(number).unwrap();
                }
            })
        })
        .collect();
    drop(sender);
    let count = receiver.iter().count();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{count} {}", sum.lock().unwrap());
}
"#;

const PYTHON: &str = "\
import threading, queue
numbers, results = queue.Queue(), []
def produce(which):
    for number in range(200): numbers.put(which * 1000 + number)
def consume():
    while (number := numbers.get()) is not None: results.append(number)
threads = [threading.Thread(target=produce, args=(which,)) for which in range(4)]
consumer = threading.Thread(target=consume)
consumer.start()
for thread in threads: thread.start()
for thread in threads: thread.join()
numbers.put(None)
consumer.join()
print(len(results), sum(results))
";

/// A program of the system, which may be a script where it is elsewhere.
fn found(name: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths)
        .map(|directory| directory.join(name))
        .find(|path| fs::read(path).is_ok_and(|bytes| bytes.starts_with(b"\x7fELF")))
}
