//! System calls are told at their entry and exit, each once.

use juror_arch::Register;
use std::collections::BTreeSet;

use crate::support::{Program, Run, compile, run, run_with};
use juror_debuggee::{CallStops, Debuggee, Owner, StopEvent, SystemCallPhase, SystemCalls};

const CALLS: &str = r#"
    #include <signal.h>
    #include <stdio.h>
    #include <sys/syscall.h>
    #include <sys/time.h>
    #include <sys/wait.h>
    #include <unistd.h>
    static volatile int ticks;
    static void tick(int signal) { ticks++; }
    __attribute__((noinline)) long ask(void) {
        long result;
        __asm__ volatile("ask_call: syscall" : "=a"(result) : "0"(SYS_getppid) : "rcx", "r11", "memory");
        return result;
    }
    int main(void) {
        long parent = getppid();
        int wrong = 0;
        for (int i = 0; i < 100; i++) wrong += ask() != parent;
        struct sigaction action = { .sa_handler = tick, .sa_flags = SA_RESTART };
        sigaction(SIGALRM, &action, 0);
        int ends[2];
        char byte = 0;
        pipe(ends);
        pid_t child = fork();
        if (child == 0) {
            kill(getppid(), SIGALRM);
            write(ends[1], "x", 1);
            _exit(0);
        }
        read(ends[0], &byte, 1);
        while (ticks == 0) {}
        waitpid(child, 0, 0);
        printf("%d %c\n", wrong, byte);
        return 0;
    }"#;

/// Starts the program twice: with a filter of some calls, and without.
fn start_both_ways(program: &Program, calls: &[i64]) -> impl Iterator<Item = Debuggee> {
    let calls: BTreeSet<u64> = calls.iter().map(|&it| it as u64).collect();
    let ways = [CallStops::FilterOnly(calls), CallStops::Unfiltered];
    ways.into_iter().map(|call_stops| {
        let launch = juror_debuggee::Launch {
            call_stops,
            ..program.launch()
        };
        Debuggee::launch(&launch).unwrap()
    })
}

fn count(run: &Run, wanted: impl Fn(&StopEvent) -> bool) -> usize {
    run.events.iter().filter(|event| wanted(event)).count()
}

fn is_entry(event: &StopEvent) -> bool {
    matches!(
        event,
        StopEvent::SystemCall {
            phase: SystemCallPhase::Entry { .. },
            ..
        }
    )
}

#[test]
fn entries_and_exits_come_once_each() {
    for flags in [&["-O0", "-no-pie"][..], &["-O2"][..]] {
        let program = compile(CALLS, flags);
        for mut debuggee in start_both_ways(&program, &[libc::SYS_getppid]) {
            let ask = BTreeSet::from([libc::SYS_getppid as u64]);
            debuggee.catch_system_calls(SystemCalls::Only(ask));
            let run = run(&mut debuggee);
            run.assert_exited(0);
            assert_eq!(program.output(), "0 x\n");
            assert_eq!(count(&run, is_entry), 101);
            let parent = i64::from(std::process::id());
            let exit = |event: &StopEvent| matches!(event, StopEvent::SystemCall { phase: SystemCallPhase::Exit { result }, .. } if *result == parent);
            assert_eq!(count(&run, exit), 101);
        }
    }
}

#[test]
fn a_point_on_the_instruction_and_its_stops_agree() {
    let program = compile(CALLS, &["-O2"]);
    for debuggee in start_both_ways(&program, &[libc::SYS_getppid]) {
        check_point_on_the_instruction(&program, debuggee);
    }
}

#[track_caller]
fn check_point_on_the_instruction(program: &Program, mut debuggee: Debuggee) {
    let call = program.address(&debuggee, "ask_call");
    debuggee.insert(call, Owner::Developer).unwrap();
    debuggee.catch_system_calls(SystemCalls::Only(BTreeSet::from(
        [libc::SYS_getppid as u64],
    )));
    let mut places = BTreeSet::new();
    let run = run_with(&mut debuggee, |debuggee, event| {
        if let StopEvent::SystemCall { thread, .. } = event {
            let registers = debuggee.registers(*thread).unwrap();
            places.insert(registers.instruction_pointer());
            if registers.instruction_pointer() == call + 2 {
                assert_eq!(registers.get(Register::Rcx), call + 2);
            }
        }
    });
    run.assert_exited(0);
    assert_eq!(run.hits, 100);
    assert_eq!(count(&run, is_entry), 101);
    assert!(places.contains(&(call + 2)));
}

#[test]
fn a_call_of_juror_in_between_repeats_nothing() {
    let program = compile(CALLS, &["-O0"]);
    // The filter's calls are among those that juror injects.
    for debuggee in start_both_ways(&program, &[libc::SYS_getppid, libc::SYS_mmap]) {
        check_call_in_between(&program, debuggee, SystemCalls::All);
    }
    let some = BTreeSet::from([libc::SYS_getppid as u64, libc::SYS_mmap as u64]);
    for debuggee in start_both_ways(&program, &[libc::SYS_getppid, libc::SYS_mmap]) {
        check_call_in_between(&program, debuggee, SystemCalls::Only(some.clone()));
    }
}

#[track_caller]
fn check_call_in_between(program: &Program, mut debuggee: Debuggee, calls: SystemCalls) {
    debuggee.catch_system_calls(calls);
    let mut is_mapped = false;
    let run = run_with(&mut debuggee, |debuggee, event| {
        let StopEvent::SystemCall { number, .. } = event else {
            return;
        };
        if *number == libc::SYS_getppid as u64 && is_entry(event) && !is_mapped {
            // The thread makes the calls for it, and then its own.
            is_mapped = debuggee.share_memory(4096).unwrap().is_some();
        }
    });
    run.assert_exited(0);
    assert!(is_mapped, "no memory was mapped");
    assert_eq!(program.output(), "0 x\n");
    let asks = |event: &StopEvent| matches!(event, StopEvent::SystemCall { number, .. } if *number == libc::SYS_getppid as u64);
    assert_eq!(count(&run, asks), 202);
}

/// By steps alone: each call has its entry and its exit, and a step ends after
/// the call when nobody asked for it.
#[test]
fn steps_do_not_pass_by_a_system_call() {
    let program = compile(CALLS, &["-O2"]);
    for asked in [libc::SYS_getppid, libc::SYS_read] {
        for debuggee in start_both_ways(&program, &[asked]) {
            check_steps(&program, debuggee, asked);
        }
    }
}

#[track_caller]
fn check_steps(program: &Program, mut debuggee: Debuggee, asked: i64) {
    {
        debuggee.catch_system_calls(SystemCalls::Only(BTreeSet::from([asked as u64])));
        let call = program.address(&debuggee, "ask_call");
        let ask = program.address(&debuggee, "ask");
        debuggee.insert(ask, Owner::Developer).unwrap();
        debuggee.resume_all().unwrap();
        let thread = loop {
            let event = debuggee.wait().unwrap();
            if let StopEvent::Hit { thread, .. } = event {
                break thread;
            }
            debuggee.resume(event.waiting_thread().unwrap()).unwrap();
        };
        let mut told = 0;
        let mut places = BTreeSet::new();
        while !places.contains(&(call + 2)) || told == 1 {
            debuggee.step(thread).unwrap();
            match debuggee.wait().unwrap() {
                StopEvent::Stepped { address, .. } => drop(places.insert(address)),
                StopEvent::SystemCall { .. } => told += 1,
                event => panic!("{event:?}"),
            }
            places.insert(debuggee.registers(thread).unwrap().instruction_pointer());
        }
        assert!(places.contains(&call));
        assert_eq!(told, if asked == libc::SYS_getppid { 2 } else { 0 });
        debuggee.kill().unwrap();
    }
}
