//! Several processes in one session: `set follow both`.

use crate::support::{Batch, Report, juror, program, property_of};
use juror_testing::{Build, Compiler, Fixture, Juror, Language, Optimization};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A property that each thing is ended once.
const ENDED_ONCE: &str = "\
property ended_once
    slice on thing
    event begun = before begin(thing)
    event ended = before end(thing)
    state new accepting { on begun -> open }
    state open non-accepting { on ended -> closed }
    state closed accepting { on ended -> twice }
    state twice non-accepting
";

/// Commands at the prompt of a program of `tests/programs`.
fn prompt(file: &str, arguments: &[&str], lines: &[&str]) -> String {
    prompt_of(program(file).compile_plain(), arguments, lines)
}

/// The same of a program that has been built in another way.
fn prompt_of(executable: PathBuf, arguments: &[&str], lines: &[&str]) -> String {
    let directory = executable.parent().expect("a directory").to_owned();
    let mut input = lines.join("\n");
    input.push('\n');
    let output = juror(&["run", "--follow", "both"])
        .args([executable])
        .args(arguments)
        .directory(directory)
        .input(input)
        .run();
    output.assert_code(0);
    format!("{}{}", output.stdout, output.stderr)
}

#[track_caller]
fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part}:\n{text}");
    }
}

#[test]
fn events_are_counted_in_all_processes() {
    let executable = program("family.c").compile_plain();
    let report = Batch::watching(&property_of("event worked = before work(depth)"))
        .option("--follow=both")
        .option("--self-check")
        .run(&executable, &["300"]);
    report.assert_code(0);
    assert_eq!(report.occurrences("worked"), 3 * 300 + 3);
    // Each has its own monitor, which begins with the events of its parent.
    let of_process = |number: u64| {
        let of = |line: &&&serde_json::Value| line["process"] == number;
        report.changes("worked").iter().filter(of).count()
    };
    assert_eq!([of_process(2), of_process(3)], [301, 300]);
    let third = report.changes("worked");
    let third = third.iter().find(|line| line["process"] == 3);
    assert_eq!(third.expect("an event")["sequence"], 3);
    let ends: Vec<_> = report
        .kind("process_end")
        .map(|line| (line["number"].as_u64(), line["ending"]["status"].as_u64()))
        .collect();
    assert_eq!(ends, [(Some(3), Some(7)), (Some(2), Some(8))]);
    assert_eq!(report.end()["ending"]["status"], 9);
    assert_eq!(report.end()["process"]["number"], 1);
}

#[test]
fn breakpoints_are_in_all_processes_with_one_count() {
    let text = prompt(
        "family.c",
        &["40"],
        &[
            "break work",
            "ignore 1 122",
            "run",
            "info breakpoints",
            "continue",
        ],
    );
    // Three, and 40 by each: the last but none is the first process's own.
    assert_has(
        &text,
        &[
            "Process 1 (",
            "Breakpoint 1 in work (depth=0)",
            "inserted  123   ",
            "process 3 (",
            ") exited with status 7]",
            ") exited with status 8]",
            ", the last one, exited with status 9.",
        ],
    );
}

#[test]
fn a_stop_selects_its_process_and_others_can_be_looked_at() {
    let text = prompt(
        "family.c",
        &[],
        &[
            "break work if depth == 2",
            "run",
            "info processes",
            "print depth",
            "process 1",
            "print count > 10",
            "process 3",
            "process",
            "inferior 7",
            "next",
            "continue",
        ],
    );
    assert_has(
        &text,
        &[
            "forked by process 1 (",
            "forked by process 2 (",
            "Process 3 (",
            "), one of 3\nBreakpoint 1 in work (depth=2)",
            "\n*  3  ",
            "\n   1  ",
            "$1 = 2",
            "$2 = false",
            "(juror) process\nprocess 3 (",
            "there is no process 7\nhelp: see: info processes",
            "work (depth=2) at ",
            ", the last one, exited with status 9.",
        ],
    );
}

#[test]
fn steps_are_in_one_process_and_wait_for_the_others() {
    let text = prompt(
        "forks.c",
        &[],
        &[
            "break forks.c:25",
            "run",
            "next",
            "next",
            "info processes",
            "kill",
        ],
    );
    assert_has(
        &text,
        &[
            "Breakpoint 1 in main () at forks.c:25",
            ") exited with status 0]",
            "main () at forks.c:26",
            "The program is gone.",
        ],
    );
}

#[test]
fn monitors_go_on_from_the_fork_in_both_processes() {
    let executable = program("inherits.c").compile_plain();
    let run = |what: &str| {
        Batch::watching(ENDED_ONCE)
            .option("--follow=both")
            .option("--keep-going")
            .run(&executable, &[what])
    };
    let once = run("once");
    once.assert_code(0);
    assert_eq!(once.occurrences("ended"), 4);
    assert_eq!(once.summary("ended_once")["slices"], 2);

    let twice = run("twice");
    twice.assert_code(1);
    assert_eq!(twice.stop()["process"]["number"], 2);
    assert_eq!(twice.stop()["violations"][0]["slice"][0]["value"], 2);
    assert_eq!(twice.summary("ended_once")["violations"], 1);

    // What the parent had open is open in a child that ends.
    let never = run("never");
    never.assert_code(1);
    let end = never.kind("process_end").next().expect("an end");
    assert_eq!(end["violations"].as_array().map(Vec::len), Some(2));
    assert_eq!(never.summary("ended_once")["violations"], 2);
    assert!(
        never.output.stdout.contains("[process 2 ("),
        "{}",
        never.all()
    );
}

#[test]
fn a_program_that_a_child_becomes_is_watched_in_it_alone() {
    let executable = program("inherits.c").compile_plain();
    for (what, violations) in [("exec", 2), ("vfork", 2)] {
        let report = Batch::watching(ENDED_ONCE)
            .option("--follow=both")
            .option("--keep-going")
            .run(&executable, &[what]);
        // What was open when the child was made stays so in its monitors.
        report.assert_code(1);
        assert_eq!(report.occurrences("begun"), 3, "{}", report.all());
        assert_eq!(report.occurrences("ended"), 3);
        assert_eq!(report.summary("ended_once")["violations"], violations);
        let end = report.kind("process_end").next().expect("an end");
        assert_eq!(end["ending"]["status"], 4);
    }
}

#[test]
fn one_process_can_be_detached_and_all_are_killed() {
    let text = prompt(
        "family.c",
        &["3"],
        &[
            "break work if depth == 2",
            "run",
            "delete",
            "detach",
            "info processes",
            "set follow parent",
            "quit",
        ],
    );
    assert_has(
        &text,
        &["Process 3 (", ") continues without juror; process 1 ("],
    );
}

#[test]
fn one_key_stops_all_processes_once() {
    let mut terminal = at_terminal("siblings.c").terminal();
    terminal.expect("(juror) ");
    terminal.type_line("run");
    terminal.expect("working\r\n");
    for _ in 0..3 {
        terminal.type_control('c');
        terminal.expect("Interrupted in ");
        terminal.expect("(juror) ");
        terminal.type_line("info processes");
        // Whichever of them it stopped has a star.
        terminal.expect("  3  ");
        terminal.expect("(juror) ");
        terminal.type_line("continue");
        // They run: one of them says so.
        terminal.expect("working\r\n");
    }
    terminal.type_control('c');
    terminal.expect("Interrupted in ");
    terminal.expect("(juror) ");
    terminal.type_line("quit");
    let (_, status) = terminal.finish();
    assert_eq!(status, 0);
}

#[test]
fn a_killed_juror_leaves_no_process_behind() {
    let executable = program("siblings.c").compile_plain();
    let mut juror = Command::new(env!("CARGO_BIN_EXE_juror"))
        .args(["run", "--batch", "--follow", "both"])
        .arg(executable)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("juror starts");
    let mut output = BufReader::new(juror.stdout.take().expect("a pipe"));
    let mut line = String::new();
    output.read_line(&mut line).expect("a line");
    assert_eq!(line, "working\n");
    juror.kill().expect("it lives");
    juror.wait().expect("it has lived");
    // Each of the four holds the pipe open for as long as it lives; they would end by
    // themselves after 200 s.
    let (send, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || send.send(std::io::copy(&mut output, &mut std::io::sink())));
    let ended = ended.recv_timeout(Duration::from_secs(100));
    ended
        .expect("the processes end with juror")
        .expect("the pipe is read");
}

fn at_terminal(file: &str) -> Juror {
    let executable = program(file).compile_plain();
    juror(&["run", "--follow", "both"]).args([executable])
}

#[test]
fn a_watchpoint_works_whichever_process_is_selected() {
    let text = prompt(
        "apart.c",
        &[],
        &[
            "break total",
            "run",
            "delete 1",
            "watch passes if passes == 3",
            "process 2",
            "watch passes if passes == 1",
            "info watchpoints",
            "process 1",
            "condition 3 passes == 2",
            "disable 3",
            "info watchpoints",
            "enable 3",
            "process 2",
            "continue",
            "process 1",
            "continue",
            "delete 2 3",
            "info watchpoints",
            "continue",
        ],
    );
    assert_has(
        &text,
        &[
            "watchpoint 2 on passes if passes == 3 (hardware) in process 1\n",
            "watchpoint 3 on passes if passes == 1 (hardware) in process 2\n",
            "watch passes if passes == 3 (process 1)  inserted",
            "watch passes if passes == 1 (process 2)  inserted",
            "watch passes if passes == 2 (process 2)  disabled",
            "No breakpoints.",
            "exited with status 0",
        ],
    );
    // Each stops in its own process, and nowhere else.
    for (store, process) in [("2 → 3", "Process 1 ("), ("1 → 2", "Process 2 (")] {
        assert_eq!(text.matches(store).count(), 1, "{text}");
        let (before, _) = text.split_once(store).expect("it is there");
        let last = before.rfind("Process ").expect("a process is named");
        assert!(before[last..].starts_with(process), "{store}:\n{text}");
    }
}

#[test]
fn watchpoints_of_a_process_that_is_gone_wait_for_the_next_run() {
    let text = prompt(
        "apart.c",
        &[],
        &[
            "break total",
            "run",
            "delete 1",
            "process 2",
            "watch passes if passes == 2",
            "watch -location passes if passes == 7",
            "continue",
            "continue",
            "info watchpoints",
            "break total",
            "run",
            "info watchpoints",
            "delete 4",
            "continue",
        ],
    );
    assert_has(
        &text,
        &[
            "watchpoint 3 on -location passes is deleted with process 2",
            "watch passes if passes == 2  not inserted",
            "watch passes if passes == 2 (process 1)  inserted",
        ],
    );
    assert_eq!(text.matches("1 → 2").count(), 2, "{text}");
}

#[test]
fn a_watched_register_is_followed_while_another_process_is_selected() {
    let builds = Build::all_of(Language::C).into_iter();
    let optimized = builds.filter(|build| {
        build.compiler == Compiler::Gcc && build.optimization != Optimization::None
    });
    for build in optimized {
        let text = prompt_of(
            program("apart.c").compile(&build),
            &[],
            &[
                "break total",
                "run",
                "watch sum",
                "process 2",
                "continue",
                "process 2",
                "continue",
                "info watchpoints",
                "continue",
                "continue",
                "delete",
                "continue",
            ],
        );
        assert_has(
            &text,
            &[
                "(steps) in process 1",
                "0 → 3",
                "3 → 9",
                "9 → 18",
                "watch sum (process 1)",
            ],
        );
        let (_, first) = text.split_once("0 → 3").expect("it is there");
        assert!(!first.starts_with("Process 2"), "{build}:\n{text}");
    }
}

#[test]
fn properties_come_and_go_in_all_processes() {
    let directory = TempDir::with_prefix("juror-added-").expect("a directory");
    let file = directory.path().join("worked.prop");
    let text = property_of("event worked = before work(depth)");
    std::fs::write(&file, text).expect("a file");
    let add = format!("property add {}", file.display());
    let run = |after: &[&str]| {
        let mut batch = Batch::new()
            .option("--follow=both")
            .command("break work if depth == 2")
            .command("run")
            .command("delete")
            .command(&add);
        for command in after {
            batch = batch.command(command);
        }
        let executable = program("family.c").compile_plain();
        batch.command("continue").run(executable, &["3"])
    };

    // The grandchild stands at the first of its three calls, and the first
    // process makes its last when all others have ended.
    let report = run(&[]);
    report.assert_code(0);
    let processes = |report: &Report| -> BTreeSet<u64> {
        let changes = report.changes("worked").into_iter();
        let numbers =
            changes.filter_map(|it| it["process"]["number"].as_u64().or(it["process"].as_u64()));
        numbers.collect()
    };
    let seen = processes(&report);
    assert!(seen.contains(&1) && seen.contains(&3), "{}", report.all());
    let said = report.kind("outcome").find(|it| it["type"] == "properties");
    let said = said.expect("it was added");
    assert_eq!(said["value"][0]["since"], "addition");

    let report = run(&["property disable watched"]);
    report.assert_code(0);
    assert_eq!(report.occurrences("worked"), 0, "{}", report.all());

    let report = run(&["property disable watched", "property enable watched"]);
    report.assert_code(0);
    let seen = processes(&report);
    assert!(seen.contains(&1) && seen.contains(&3), "{}", report.all());

    let report = run(&["property remove watched"]);
    report.assert_code(0);
    assert!(report.changes("worked").is_empty(), "{}", report.all());
}

#[test]
fn a_property_that_does_not_fit_one_process_comes_to_none() {
    let directory = TempDir::with_prefix("juror-added-").expect("a directory");
    let file = directory.path().join("worked.prop");
    let text = property_of("event begun = before begin(thing)");
    std::fs::write(&file, text).expect("a file");
    let source = "#include <sys/wait.h>
        #include <unistd.h>
        __attribute__((noinline)) void begin(int thing) { __asm__ volatile(\"\" : : \"r\"(thing)); }
        int main(void) {
            if (fork() == 0) { execl(\"/bin/true\", \"true\", (char *)0); _exit(1); }
            wait(0);
            begin(1);
            return 0;
        }";
    let text = prompt_of(
        Fixture::c("becomes", source).compile_plain(),
        &[],
        &[
            "catch exec",
            "run",
            &format!("property add {}", file.display()),
            "property",
            &format!("property add {} --from-start", file.display()),
            "continue",
        ],
    );
    assert_has(
        &text,
        &[
            "process 2 (",
            "begin",
            "no property",
            "the trace covers one process",
            "leave out --from-start",
            "exited with status 0",
        ],
    );
}
