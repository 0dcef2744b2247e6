//! Steps by traps at the follow set, and the trace flag beside them.

use crate::support::{compile, run};
use juror_debuggee::{Debuggee, Owner, StepBy, StopEvent};
use juror_stepping::StepOver;

/// Threads count themselves through a function, reached by a pointer.
const PASSES: &str = r#"
#include <pthread.h>
#include <stdio.h>
static volatile long sum;
__attribute__((noinline)) void work(long n) { __atomic_add_fetch(&sum, n, 5); }
void (*volatile pointer)(long) = work;
static void *run(void *unused) {
    for (long i = 0; i < 300; i++) pointer(1);
    return unused;
}
int main(void) {
    pthread_t ids[4];
    for (int i = 0; i < 4; i++) pthread_create(&ids[i], 0, run, 0);
    for (int i = 0; i < 4; i++) pthread_join(ids[i], 0);
    printf("%ld\n", sum);
    return 0;
}
"#;

#[test]
fn threads_pass_in_place_by_traps() {
    for flags in [&["-O0"], &["-O2"]] {
        let program = compile(PASSES, flags);
        let mut launch = program.launch();
        launch.in_place = true;
        launch.step_by = StepBy::FollowSet;
        let mut debuggee = Debuggee::launch(&launch).unwrap();
        let address = program.address(&debuggee, "work");
        debuggee.insert(address, Owner::Monitor).unwrap();
        let run = run(&mut debuggee);
        run.assert_exited(0);
        assert_eq!(program.output(), "1200\n");
        assert_eq!(run.hits, 1200);
    }
}

/// Jumps of all kinds, and nothing that asks the kernel for anything.
const JUMPS: &str = r#"
static volatile int sum;
__attribute__((noinline)) static void add(int n) { sum += n; }
__attribute__((noinline)) static void subtract(int n) { sum -= n; }
void (*volatile table[])(int) = { add, subtract };
__attribute__((noinline)) int walk(int n) {
    if (n <= 0) return sum;
    switch (n % 5) {
    case 0: add(n); break;
    case 1: table[n & 1](n); break;
    case 2: subtract(2); break;
    case 3: sum ^= n; break;
    default: for (int i = 0; i < 3; i++) sum += i;
    }
    return walk(n - 1) + 1;
}
__attribute__((noinline)) void finished(void) { __asm__ volatile(""); }
int main(void) { walk(12); finished(); return 0; }
"#;

/// Where a program is after each step from `walk` to `finished`.
#[track_caller]
fn trail(program: &crate::support::Program, step_by: StepBy) -> Vec<u64> {
    let mut launch = program.launch();
    launch.step_by = step_by;
    let mut debuggee = Debuggee::launch(&launch).unwrap();
    for symbol in ["walk", "add"] {
        let address = program.address(&debuggee, symbol);
        debuggee.insert(address, Owner::Developer).unwrap();
    }
    let end = program.address(&debuggee, "finished");
    let mut trail = Vec::new();
    debuggee.resume_all().unwrap();
    loop {
        match debuggee.wait().unwrap() {
            StopEvent::Stepped { address, .. } if address == end => return trail,
            StopEvent::Stepped { thread, address } => {
                assert_eq!(
                    debuggee.registers(thread).unwrap().instruction_pointer(),
                    address
                );
                trail.push(address);
                debuggee.step(thread).unwrap();
            }
            StopEvent::Hit { thread, .. } => debuggee.step(thread).unwrap(),
            event => match event.waiting_thread() {
                Some(thread) => debuggee.resume(thread).unwrap(),
                None => panic!("{event:?}"),
            },
        }
    }
}

#[test]
fn both_ways_take_the_same_steps() {
    for flags in [&["-O0"], &["-O2"]] {
        let program = compile(JUMPS, flags);
        let expected = trail(&program, StepBy::TraceFlag);
        assert!(expected.len() > 100, "{}", expected.len());
        assert_eq!(trail(&program, StepBy::FollowSet), expected);
    }
}

/// A signal comes while the thread stands at a site. Its handler arrives at another site, and
/// the instruction faults: before the signal is delivered, since the thread leaves the copy
/// first; if the copy may take long, when the handler has returned to it.
#[test]
fn a_handler_and_a_fault_in_a_copy() {
    check_handler_and_fault("movl (%rsi), %eax", "original");
    check_handler_and_fault("rep movsb", "copy");
}

#[track_caller]
fn check_handler_and_fault(instruction: &str, interrupted: &str) {
    let source = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>
static char *page;
static int fine, faults, signals, copied;
static unsigned long interrupted;
void work(void *to, const void *from, int unused, long size);
__asm__(".globl work\nwork: INSTRUCTION\nret\n.type work, @function");
int other(const void *from);
__asm__(".globl other\nother: movl (%rdi), %eax\nret\n.type other, @function");
static void on_signal(int number, siginfo_t *information, void *context) {
    signals++;
    interrupted = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    other(&fine);
}
static void on_fault(int number) { faults++; mprotect(page, 4096, PROT_READ); }
int main(void) {
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &action, 0);
    signal(SIGSEGV, on_fault);
    page = mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    work(&copied, page, 0, sizeof copied);
    // A copy is in no module.
    Dl_info module;
    int is_original = dladdr((void *)interrupted, &module);
    printf("%d %d %s\n", signals, faults, is_original ? "original" : "copy");
    return 0;
}
"#;
    let program = compile(&source.replace("INSTRUCTION", instruction), &["-O1"]);
    for step_by in [StepBy::TraceFlag, StepBy::FollowSet] {
        let mut launch = program.launch();
        launch.step_by = step_by;
        let mut debuggee = Debuggee::launch(&launch).unwrap();
        for symbol in ["work", "other"] {
            let address = program.address(&debuggee, symbol);
            debuggee.insert(address, Owner::Monitor).unwrap();
        }
        let work = program.address(&debuggee, "work");
        let mut sites = debuggee.engine().sites();
        let (_, _, step_over) = sites.find(|(address, ..)| *address == work).unwrap();
        assert!(
            matches!(step_over, StepOver::OutOfLine { .. }),
            "{step_over:?}"
        );
        drop(sites);
        debuggee.resume_all().unwrap();
        while !matches!(debuggee.wait().unwrap(), StopEvent::Hit { .. }) {
            debuggee.resume_all().unwrap();
        }
        let process = nix::unistd::Pid::from_raw(debuggee.pid() as i32);
        nix::sys::signal::kill(process, nix::sys::signal::Signal::SIGUSR1).unwrap();
        let run = run(&mut debuggee);
        run.assert_exited(0);
        assert_eq!(
            program.output(),
            format!("1 1 {interrupted}\n"),
            "{instruction}"
        );
        assert_eq!(run.hits, 1, "{:?}", run.events);
    }
}
