//! juror sleeps while nothing happens: it does not poll.

use juror_testing::Fixture;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Sleeps between two lines, with a second thread that waits for it. Then it waits
/// for the end of its input.
const SLEEPER: &str = r#"
    #include <pthread.h>
    #include <stdio.h>
    #include <unistd.h>
    static void *wait_for(void *first) {
        pthread_join(*(pthread_t *)first, 0);
        return 0;
    }
    __attribute__((noinline)) void work(void) { __asm__ volatile(""); }
    int main(void) {
        pthread_t first = pthread_self(), other;
        pthread_create(&other, 0, wait_for, &first);
        work();
        puts("ready");
        fflush(stdout);
        sleep(1);
        puts("done");
        fflush(stdout);
        char byte;
        while (read(0, &byte, 1) == 1) {}
        return 0;
    }"#;

/// One that looks every tenth of a second would have woken ten times.
const WAKES_MAX: u64 = 3;

/// How often threads of a process have gone to sleep by themselves.
fn sleeps(process: u32) -> u64 {
    threads(process)
        .map(|thread| field(&thread, "voluntary_ctxt_switches:"))
        .map(|text| text.parse::<u64>().expect("a number"))
        .sum()
}

/// Whether all of them sleep.
fn is_asleep(process: u32) -> bool {
    threads(process).all(|thread| field(&thread, "State:").starts_with('S'))
}

/// The descriptions of its threads.
fn threads(process: u32) -> impl Iterator<Item = String> {
    let directory = format!("/proc/{process}/task");
    let tasks = fs::read_dir(Path::new(&directory)).expect("it lives");
    tasks
        .flatten()
        .filter_map(|task| fs::read_to_string(task.path().join("status")).ok())
}

fn field(text: &str, name: &str) -> String {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.expect("it is there").trim().to_owned()
}

fn line(output: &mut impl BufRead) -> String {
    let mut line = String::new();
    output.read_line(&mut line).expect("a line");
    line
}

#[track_caller]
fn check(mut juror: Child) {
    let mut output = BufReader::new(juror.stdout.take().expect("a pipe"));
    assert_eq!(line(&mut output), "ready\n");
    while !is_asleep(juror.id()) {
        std::thread::yield_now();
    }
    let before = sleeps(juror.id());
    assert_eq!(line(&mut output), "done\n");
    let woken = sleeps(juror.id()) - before;
    drop(juror.stdin.take());
    let status = juror.wait().expect("it ends");
    assert!(status.success(), "{status}");
    assert!(woken <= WAKES_MAX, "juror woke {woken} times");
}

fn start(arguments: &[&str]) -> Child {
    let executable = Fixture::c("sleeper", SLEEPER).compile_plain();
    Command::new(env!("CARGO_BIN_EXE_juror"))
        .args(arguments)
        .arg(executable)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("juror starts")
}

#[test]
fn nothing_polls_while_the_program_sleeps() {
    check(start(&["run", "--batch"]));
}

#[test]
fn nothing_polls_while_several_processes_could_have_something_to_tell() {
    check(start(&["run", "--batch", "--follow", "both"]));
}
