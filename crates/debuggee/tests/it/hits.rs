//! Each execution of the instruction under a point is told exactly once.

use crate::support::{compile, run, run_with, start_with_points};
use juror_debuggee::{Owner, StopEvent};

/// `threads` threads pass through `work` `passes` times each; prints the count.
const PASSES: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static volatile long sum;
static long passes;
__attribute__((noinline)) void work(long n) { __atomic_add_fetch(&sum, n, 5); }
static void *run(void *unused) {
    for (long i = 0; i < passes; i++) work(1);
    return unused;
}
int main(int argc, char **argv) {
    int threads = atoi(argv[1]);
    passes = atol(argv[2]);
    pthread_t ids[64];
    for (int i = 0; i < threads; i++) pthread_create(&ids[i], 0, run, 0);
    for (int i = 0; i < threads; i++) pthread_join(ids[i], 0);
    if (!threads) run(0);
    printf("%ld\n", sum);
    return 0;
}
"#;

#[track_caller]
fn check_passes(flags: &[&str], threads: usize, passes: usize) {
    let program = compile(PASSES, flags);
    let mut launch = program.launch();
    launch.arguments = vec![threads.to_string().into(), passes.to_string().into()];
    let mut debuggee = juror_debuggee::Debuggee::launch(&launch).unwrap();
    let address = program.address(&debuggee, "work");
    debuggee.insert(address, Owner::Monitor).unwrap();
    let run = run_with(&mut debuggee, |debuggee, event| {
        if let StopEvent::Hit {
            thread,
            address: hit,
            ..
        } = event
        {
            let registers = debuggee.registers(*thread).unwrap();
            assert_eq!(*hit, address);
            assert_eq!(registers.instruction_pointer(), address);
            assert_eq!(registers.arguments()[0], 1);
        }
    });
    run.assert_exited(0);
    let expected = passes * threads.max(1);
    assert_eq!(program.output(), format!("{expected}\n"));
    assert_eq!(run.hits, expected);
}

#[test]
fn one_thread_unoptimized() {
    check_passes(&["-O0"], 0, 2000);
}

#[test]
fn one_thread_optimized() {
    check_passes(&["-O2"], 0, 2000);
}

#[test]
fn one_thread_at_fixed_addresses() {
    check_passes(&["-O2", "-no-pie"], 0, 2000);
}

#[test]
fn one_thread_static() {
    check_passes(&["-O1", "-static"], 0, 2000);
}

#[test]
fn four_threads_unoptimized() {
    check_passes(&["-O0"], 4, 2000);
}

#[test]
fn four_threads_optimized() {
    check_passes(&["-O2"], 4, 2000);
}

#[test]
fn four_threads_at_fixed_addresses() {
    check_passes(&["-O2", "-no-pie"], 4, 2000);
}

#[test]
fn two_owners_are_told_together() {
    let program = compile(PASSES, &["-O1"]);
    let mut debuggee = start_with_points(&program, &[]);
    drop(debuggee);
    let mut launch = program.launch();
    launch.arguments = vec!["0".into(), "10".into()];
    debuggee = juror_debuggee::Debuggee::launch(&launch).unwrap();
    let address = program.address(&debuggee, "work");
    debuggee.insert(address, Owner::Monitor).unwrap();
    debuggee.insert(address, Owner::Developer).unwrap();
    let run = run(&mut debuggee);
    assert_eq!(run.hits, 10);
}

#[test]
fn two_debuggees_on_one_thread_keep_apart() {
    let program = compile(PASSES, &["-O1"]);
    let mut debuggees = [20, 30].map(|passes: usize| {
        let mut launch = program.launch();
        launch.arguments = vec!["2".into(), passes.to_string().into()];
        let mut debuggee = juror_debuggee::Debuggee::launch(&launch).unwrap();
        let address = program.address(&debuggee, "work");
        debuggee.insert(address, Owner::Monitor).unwrap();
        debuggee.resume_all().unwrap();
        debuggee
    });
    let mut hits = [0, 0];
    while debuggees.iter().any(|debuggee| debuggee.is_alive()) {
        for (debuggee, hits) in debuggees.iter_mut().zip(&mut hits) {
            if !debuggee.is_alive() {
                continue;
            }
            let event = debuggee.wait().unwrap();
            *hits += usize::from(matches!(event, StopEvent::Hit { .. }));
            if let Some(thread) = event.waiting_thread() {
                debuggee.resume(thread).unwrap();
            }
        }
    }
    assert_eq!(hits, [40, 60]);
}
