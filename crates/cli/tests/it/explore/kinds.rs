//! Programs of the kinds of faults that benchmarks of schedule exploration have, and right ones that
//! use what such programs use (`tests/programs/kinds`).
//!
//! A few are tried each time. `JUROR_KINDS=10000` tries all of them with so many schedules, those
//! with a fault also linked statically and without symbols, and makes each failing run again 20
//! times; it says on standard error at which run each was found. `JUROR_KINDS_ONLY=queue` tries the
//! programs whose names begin so.

use crate::support::juror;
use juror_testing::Fixture;
use std::path::{Path, PathBuf};

/// A program with a fault: its file, the definition of `COUNT`, what is said of it, and whether few
/// schedules find it.
type Faulty = (&'static str, Option<u32>, &'static str, bool);

const ABORT: &str = "CRASH  SIGABRT";
const CRASH: &str = "CRASH  SIGSEGV";
const DEADLOCK: &str = "DEADLOCK";
const ENDLESS: &str = "DOES NOT END";

const FAULTY: &[Faulty] = &[
    ("account.c", None, ABORT, true),
    ("aget.c", None, ABORT, true),
    ("answers.c", None, ABORT, true),
    ("arithmetic_assert.c", None, ABORT, false),
    ("arithmetic_progression.c", None, DEADLOCK, true),
    ("atomics.rs", None, "EXIT 101", false),
    ("bluetooth_driver.c", None, ABORT, true),
    ("bounded_buffer.c", None, DEADLOCK, true),
    ("carter.c", None, DEADLOCK, true),
    ("channel.rs", None, "EXIT 101", false),
    ("circular_buffer.c", None, ABORT, true),
    ("condition.cpp", None, DEADLOCK, false),
    ("condvar.rs", None, DEADLOCK, false),
    ("count_optimised.c", None, ABORT, true),
    ("ctrace.c", None, CRASH, true),
    ("deadlock01.c", None, DEADLOCK, true),
    ("double_checked.c", None, CRASH, true),
    ("exception.cpp", None, ABORT, true),
    ("ferret.c", None, ABORT, true),
    ("fork_with_lock.c", None, ENDLESS, false),
    ("fsbench.c", None, ABORT, true),
    ("half_done.c", None, ENDLESS, true),
    ("inlined_optimised.cpp", None, ABORT, true),
    ("interrupted_monitor.c", None, DEADLOCK, true),
    ("lazy01.c", None, ABORT, true),
    ("monkey.c", None, DEADLOCK, true),
    ("mutexes.rs", None, DEADLOCK, false),
    ("full_pipe.c", None, DEADLOCK, true),
    ("pbzip2.c", None, CRASH, true),
    ("phase01.c", None, DEADLOCK, true),
    ("philosophers.c", Some(3), DEADLOCK, true),
    ("philosophers.c", Some(16), DEADLOCK, true),
    ("message_queues.c", None, DEADLOCK, false),
    ("pipes.c", None, DEADLOCK, true),
    ("polled.c", None, DEADLOCK, true),
    ("sockets.c", None, DEADLOCK, true),
    ("plain_spin.c", None, ENDLESS, false),
    ("property_table.c", None, CRASH, true),
    ("queue.c", None, ABORT, true),
    ("quick_sort.c", None, "", false),
    ("reorder.c", Some(3), ABORT, true),
    ("reorder.c", Some(4), ABORT, false),
    ("reorder.c", Some(5), ABORT, false),
    ("reorder.c", Some(10), ABORT, false),
    ("reorder.c", Some(20), ABORT, false),
    ("rw_upgrade.c", None, DEADLOCK, true),
    ("safe_stack.c", None, ABORT, false),
    ("semaphores.c", None, DEADLOCK, true),
    ("shared_lock.cpp", None, DEADLOCK, false),
    ("signal_handler.c", None, ABORT, true),
    ("spinning.c", None, ENDLESS, true),
    ("splash.c", None, DEADLOCK, true),
    ("stack.c", None, ABORT, true),
    ("stateful01.c", None, ABORT, true),
    ("stateful06.c", None, "EXIT 3", false),
    ("statics.rs", None, DEADLOCK, false),
    ("steal.c", None, ABORT, true),
    ("steal_interlocked.c", None, ABORT, true),
    ("steal_interlocked_state.c", None, ABORT, false),
    ("steal_state.c", None, ABORT, true),
    ("stream_cluster.c", None, ABORT, true),
    ("string_buffer.c", None, ABORT, true),
    ("sync01.c", None, DEADLOCK, true),
    ("sync02.c", None, DEADLOCK, true),
    ("token_ring.c", None, ABORT, true),
    ("treiber.cpp", None, ABORT, false),
    ("twostage.c", Some(1), ABORT, true),
    ("twostage.c", Some(20), ABORT, false),
    ("twostage.c", Some(99), ABORT, false),
    ("wronglock.c", Some(1), ABORT, true),
    ("wronglock.c", Some(3), ABORT, true),
];

/// Right programs, and whether they are tried each time: those that were told wrongly once.
const RIGHT: &[(&str, bool)] = &[
    ("atomics.c", false),
    ("awaited_signals.c", false),
    ("barriers.c", false),
    ("bounded_buffer.c", false),
    ("broadcast.c", false),
    ("c11.c", false),
    ("cancelled.c", true),
    ("computing.c", true),
    ("detached.c", false),
    ("fork_join.c", false),
    ("futexes.c", true),
    ("gate.c", false),
    ("group_lock.c", true),
    ("handed_lock.c", true),
    ("handlers.c", true),
    ("locks.rs", false),
    ("messages.rs", false),
    ("modern.cpp", true),
    ("mutex_kinds.c", false),
    ("once.c", false),
    ("philosophers.c", false),
    ("pi_condition.c", false),
    ("pipes.c", false),
    ("plain_flags.c", true),
    ("pool.c", false),
    ("processes.c", false),
    ("rights.rs", false),
    ("rwlock.c", false),
    ("semaphores.c", false),
    ("seqlock.c", true),
    ("spin_lock.c", true),
    ("standard.cpp", false),
    ("timed.c", false),
    ("timed_out.c", false),
    ("timers.c", false),
    ("try_lock.c", false),
    ("woken_by_signals.c", true),
];

/// The schedules that are tried of right programs each time.
const SMOKE: u32 = 15;

/// The number of schedules that are asked for.
fn asked() -> Option<u32> {
    std::env::var("JUROR_KINDS").ok()?.parse().ok()
}

fn is_wanted(file: &str) -> bool {
    let only = std::env::var("JUROR_KINDS_ONLY").unwrap_or_default();
    file.starts_with(&only)
}

fn fixture(kind: &str, file: &str, count: Option<u32>) -> Fixture {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/kinds");
    let path = path.join(kind).join(file);
    let source = std::fs::read_to_string(&path).expect("its source");
    let name = format!("{kind}-{}", file.replace('.', "-"));
    let fixture = Fixture::files(&name, &[(file, &source)]);
    let fixture = match file.rsplit_once('.') {
        Some((_, "c")) => fixture.argument("-pthread"),
        Some((_, "cpp")) => fixture.argument("-pthread").argument("-std=c++20"),
        _ => fixture,
    };
    let fixture = if file.contains("_optimised.") {
        fixture.argument("-O2")
    } else {
        fixture
    };
    match count {
        Some(count) => fixture.define(&format!("COUNT={count}")),
        None => fixture,
    }
}

/// Explores a program. Returns what is said, and the file of the run that failed.
fn explore(executable: &Path, runs: u32, directory: &Path) -> (String, Option<PathBuf>) {
    let executable = executable.display().to_string();
    let runs = runs.to_string();
    let arguments = ["explore", "--runs", &runs, &executable];
    let output = juror(&arguments).directory(directory).run();
    let files = std::fs::read_dir(directory).expect("a directory");
    let mut paths = files.map(|entry| entry.expect("a file").path());
    let file = paths.find(|path| path.extension().is_some_and(|it| it == "run"));
    (format!("{}{}", output.stdout, output.stderr), file)
}

/// Explores a program with a fault, and makes the failing run again. Returns what is wrong.
fn faults_of(row: &Faulty, fixture: &Fixture, runs: u32, replays: usize) -> Option<String> {
    let (file, count, said, _) = row;
    let executable = fixture.compile_plain();
    let directory = tempfile::tempdir().expect("a directory");
    let (text, run) = explore(&executable, runs, directory.path());
    let first = text.lines().next().unwrap_or_default();
    if asked().is_some() {
        eprintln!("{file} {}: {first}", count.unwrap_or_default());
    }
    let Some(run) = run.filter(|_| first.contains(said)) else {
        return Some(format!("{}: {text}", executable.display()));
    };
    let run = run.display().to_string();
    for _ in 0..replays {
        let output = juror(&["replay", "--batch", &run]).run();
        if output.code() != Some(1) {
            return Some(format!("{run}: {}{}", output.stdout, output.stderr));
        }
    }
    None
}

/// Checks every third program with a fault, from one on.
fn check_third(from: usize) {
    let mut wrong = Vec::new();
    for row in FAULTY.iter().skip(from).step_by(3) {
        let (file, count, _, is_soon) = row;
        let fixture = fixture("faulty", file, *count);
        match asked() {
            Some(runs) if is_wanted(file) => {
                wrong.extend(faults_of(row, &fixture, runs, 20));
                let of_c = file.ends_with(".c");
                for argument in ["-static", "-s"].iter().filter(|_| of_c) {
                    let fixture = fixture.clone().argument(argument);
                    wrong.extend(faults_of(row, &fixture, runs, 20));
                }
            }
            None if *is_soon => wrong.extend(faults_of(row, &fixture, 400, 1)),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn kinds_of_faults_are_found() {
    check_third(0);
}

#[test]
fn kinds_of_faults_are_found_second_part() {
    check_third(1);
}

#[test]
fn kinds_of_faults_are_found_third_part() {
    check_third(2);
}

#[test]
fn what_is_right_does_not_fail() {
    let mut wrong = Vec::new();
    for (file, is_usual) in RIGHT {
        let runs = match asked() {
            Some(runs) if is_wanted(file) => runs,
            None if *is_usual => SMOKE,
            _ => continue,
        };
        let executable = fixture("right", file, None).compile_plain();
        let directory = tempfile::tempdir().expect("a directory");
        let (text, _) = explore(&executable, runs, directory.path());
        if !text.contains(&format!("no failure in {runs} schedules")) {
            wrong.push(format!("{file}: {text}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A program without symbols has the same schedule points in its own functions, which its unwind
/// tables tell.
#[test]
fn a_stripped_program_has_the_same_points() {
    let explored = |argument: &str| {
        let fixture = fixture("faulty", "aget.c", None).argument(argument);
        let directory = tempfile::tempdir().expect("a directory");
        let executable = fixture.compile_plain().display().to_string();
        let arguments = [
            "explore",
            "--points",
            "memory",
            "--runs",
            "200",
            &executable,
        ];
        let output = juror(&arguments).directory(directory.path()).run();
        let first = output.stdout.lines().next().unwrap_or_default();
        let (end, _) = first.split_once(" (").unwrap_or((first, ""));
        end.to_owned()
    };
    let whole = explored("-g");
    assert!(whole.contains("CRASH  SIGABRT  thread 2"), "{whole}");
    assert_eq!(explored("-s"), whole);
}

/// A thread that were stopped for a look would fail in its call.
#[test]
fn calls_in_the_kernel_are_not_interrupted() {
    let executable = fixture("right", "timed_out.c", None).compile_plain();
    let directory = tempfile::tempdir().expect("a directory");
    let (text, _) = explore(&executable, 1, directory.path());
    assert!(text.contains("no failure in 1 schedule ("), "{text}");
}

/// A thread that waits in the kernel for long, and waits again if it is interrupted.
const WAITS: &str = r"
#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/time.h>
static void *work(void *unused) {
    int pair[2];
    char byte;
    struct timeval time = {60, 0};
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    while (recv(pair[0], &byte, 1, 0) < 0 && errno == EINTR)
        ;
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    return 0;
}
";

#[test]
fn a_wait_in_the_kernel_has_the_limit_of_a_run() {
    let fixture = Fixture::c("explored-long-wait", WAITS).argument("-pthread");
    let executable = fixture.compile_plain().display().to_string();
    let directory = tempfile::tempdir().expect("a directory");
    let arguments = ["explore", "--runs", "1", "--run-limit", "1", &executable];
    let output = juror(&arguments).directory(directory.path()).run();
    assert!(output.stdout.contains(ENDLESS), "{}", output.stdout);
}

/// A deadlock is told after a moment; this wait lasts longer, and ends.
#[test]
fn a_wait_in_the_kernel_that_a_timer_ends_is_no_deadlock() {
    let executable = fixture("right", "polled_timer.c", None).compile_plain();
    let directory = tempfile::tempdir().expect("a directory");
    let (text, _) = explore(&executable, 1, directory.path());
    assert!(text.contains("no failure in 1 schedule ("), "{text}");
}

/// Code that is not optimised calls functions of Rust's library for its atomic accesses: they are points.
#[test]
fn accesses_by_functions_of_the_library_are_points() {
    let executable = fixture("faulty", "channel.rs", None).compile_plain();
    let directory = tempfile::tempdir().expect("a directory");
    let executable = executable.display().to_string();
    let arguments = [
        "explore",
        "--points",
        "memory",
        "--runs",
        "200",
        &executable,
    ];
    let output = juror(&arguments).directory(directory.path()).run();
    assert!(output.stdout.contains("EXIT 101"), "{}", output.stdout);
}
