//! Sharing a CPU is nothing that the program can see once it runs free.

use crate::support::{compile, run};
use juror_debuggee::{CpuPolicy, Debuggee, Owner};

const COUNT: &str = r#"
    #define _GNU_SOURCE
    #include <pthread.h>
    #include <sched.h>
    #include <stdio.h>
    #include <sys/wait.h>
    #include <unistd.h>
    __attribute__((noinline)) void work(volatile int *n) { ++*n; }
    static int cpus(void) {
        cpu_set_t set;
        sched_getaffinity(0, sizeof set, &set);
        return CPU_COUNT(&set);
    }
    static void *count(void *result) { *(int *)result = cpus(); return 0; }
    int main(void) {
        volatile int n = 0;
        int before = cpus(), other;
        for (int i = 0; i < 2000; i++) work(&n);
        int during = cpus(), status;
        pid_t child = fork();
        if (!child) _exit(cpus());
        waitpid(child, &status, 0);
        pthread_t thread;
        pthread_create(&thread, 0, count, &other);
        pthread_join(thread, 0);
        printf("%d %d %d %d %d\n", before, during, WEXITSTATUS(status), other, cpus());
        return 0;
    }"#;

fn counts(policy: CpuPolicy) -> Vec<usize> {
    let program = compile(COUNT, &["-O1"]);
    let mut launch = program.launch();
    launch.cpu = policy;
    let mut debuggee = Debuggee::launch(&launch).unwrap();
    let address = program.address(&debuggee, "work");
    debuggee.insert(address, Owner::Monitor).unwrap();
    let run = run(&mut debuggee);
    run.assert_exited(0);
    assert_eq!(run.hits, 2000);
    program
        .output()
        .split_whitespace()
        .map(|count| count.parse().unwrap())
        .collect()
}

#[test]
fn cpus_are_given_back() {
    let all = std::thread::available_parallelism().unwrap().get();
    assert_eq!(counts(CpuPolicy::Free), [all; 5]);
    assert_eq!(counts(CpuPolicy::Shared), [1, 1, all, 1, 1]);
    // Whether events are frequent depends on the machine's load; what a child
    // and a second thread see does not.
    assert_eq!(counts(CpuPolicy::Auto)[2..], [all; 3]);
    assert_eq!(std::thread::available_parallelism().unwrap().get(), all);
}
