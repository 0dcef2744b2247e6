//! Sharing a CPU while events are frequent, and what ends it.

use crate::support::{Program, compile, run};
use juror_debuggee::{CpuPolicy, Debuggee, Launch, Owner, StopEvent};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

/// `share` calls the point until the program sees that it has one CPU, and
/// then the program looks who else does. It gives up only where a person
/// would, so that a busy machine does not fail the test.
const PROGRAM: &str = r#"
    #define _GNU_SOURCE
    #include <pthread.h>
    #include <sched.h>
    #include <spawn.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/wait.h>
    #include <unistd.h>
    extern char **environ;
    __attribute__((noinline)) void work(int n) { __asm__ volatile("" : : "r"(n)); }
    __attribute__((noinline)) void leave(int n) { __asm__ volatile("" : : "r"(n)); }
    static int count(void) {
        cpu_set_t set;
        sched_getaffinity(0, sizeof set, &set);
        return CPU_COUNT(&set);
    }
    static void share(void) {
        for (int i = 0; i < 1000000 && count() != 1; i++) work(i);
        if (count() != 1) exit(90);
    }
    static int status_of(pid_t child) {
        int status = 0;
        waitpid(child, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    static void *in_thread(void *seen) { *(int *)seen = count(); return 0; }

    int main(int argc, char **argv) {
        const char *what = argc > 1 ? argv[1] : "";
        int all = argc > 2 ? atoi(argv[2]) : count();
        char text[12];
        snprintf(text, sizeof text, "%d", all);
        if (!strcmp(what, "count")) return count() != all;
        if (all == 1) { leave(0); return 0; }
        share();
        if (!strcmp(what, "fork")) {
            pid_t child = fork();
            if (!child) _exit(count() != all);
            return status_of(child);
        }
        if (!strcmp(what, "spawn")) {
            char *arguments[] = {argv[0], "count", text, 0};
            pid_t child;
            if (posix_spawn(&child, argv[0], 0, 0, arguments, environ)) return 91;
            return status_of(child);
        }
        if (!strcmp(what, "exec")) {
            execl(argv[0], argv[0], "count", text, (char *)0);
            return 92;
        }
        if (!strcmp(what, "thread")) {
            int seen = 0;
            pthread_t other;
            pthread_create(&other, 0, in_thread, &seen);
            pthread_join(other, 0);
            if (seen != all || count() != all) return 93;
            share();
            return 0;
        }
        if (!strcmp(what, "rest")) {
            for (int i = 0; i < 3000 && count() != all; i++) usleep(10000);
            return count() != all;
        }
        if (!strcmp(what, "own")) {
            cpu_set_t own;
            CPU_ZERO(&own);
            CPU_SET(0, &own);
            CPU_SET(1, &own);
            sched_setaffinity(0, sizeof own, &own);
            int wanted = count();
            for (int i = 0; i < 200; i++) work(i);
            pid_t child = fork();
            if (!child) _exit(count() != wanted);
            return status_of(child);
        }
        leave(0);
        return count() != all;
    }"#;

fn launch(program: &Program, what: &str, policy: CpuPolicy) -> Debuggee {
    let mut debuggee = Debuggee::launch(&Launch {
        arguments: vec![what.into()],
        cpu: policy,
        ..program.launch()
    })
    .unwrap();
    for symbol in ["work", "leave"] {
        let address = program.address(&debuggee, symbol);
        debuggee.insert(address, Owner::Monitor).unwrap();
    }
    debuggee
}

#[track_caller]
fn check(what: &str) {
    let program = compile(PROGRAM, &["-O1"]);
    let mut debuggee = launch(&program, what, CpuPolicy::Auto);
    run(&mut debuggee).assert_exited(0);
}

#[test]
fn a_forked_child_has_all_cpus() {
    check("fork");
}

#[test]
fn a_spawned_program_has_all_cpus() {
    check("spawn");
}

#[test]
fn the_next_program_of_the_process_has_all_cpus() {
    check("exec");
}

#[test]
fn a_second_thread_ends_the_sharing_and_its_end_allows_it_again() {
    check("thread");
}

#[test]
fn a_program_without_events_has_all_cpus_again() {
    check("rest");
}

#[test]
fn what_the_program_chose_meanwhile_stays() {
    check("own");
}

#[test]
fn a_detached_program_has_all_cpus() {
    let program = compile(PROGRAM, &["-O1"]);
    let mut debuggee = launch(&program, "", CpuPolicy::Auto);
    let leave = program.address(&debuggee, "leave");
    debuggee.resume_all().unwrap();
    loop {
        match debuggee.wait().unwrap() {
            StopEvent::Hit { address, .. } if address == leave => break,
            event => debuggee.resume(event.waiting_thread().unwrap()).unwrap(),
        }
    }
    let process = debuggee.pid();
    debuggee.detach().unwrap();
    // It is still a child of this test.
    let process = Pid::from_raw(process as i32);
    assert_eq!(waitpid(process, None), Ok(WaitStatus::Exited(process, 0)));
}

#[test]
fn juror_has_its_own_cpus_back() {
    let program = compile(PROGRAM, &["-O1"]);
    for policy in [CpuPolicy::Auto, CpuPolicy::Shared] {
        let before = own_cpus();
        let mut debuggee = launch(&program, "fork", policy);
        run(&mut debuggee);
        drop(debuggee);
        assert_eq!(own_cpus(), before);
    }
}

fn own_cpus() -> String {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let line = status.lines().find(|it| it.starts_with("Cpus_allowed:"));
    line.unwrap().to_owned()
}
