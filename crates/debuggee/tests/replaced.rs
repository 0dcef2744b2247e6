//! A thread replaces the program while another one is making processes: none of
//! them may be left standing, or be let go in the middle of an instruction.

mod support;

use juror_debuggee::{Debuggee, Notice, Owner, StepBy};
use support::{compile, run_with};

/// Every way to pass a site and to step.
const WAYS: [(bool, StepBy); 3] = [
    (false, StepBy::TraceFlag),
    (true, StepBy::TraceFlag),
    (true, StepBy::FollowSet),
];

/// Replaces itself by itself, each time at another moment. What stands then
/// waits for the processes that were made before, and counts those that did
/// not end as they should.
const REPLACED: &str = r#"
    #define _GNU_SOURCE
    #include <pthread.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <sys/wait.h>
    #include <unistd.h>
    static volatile int made, sum;
    static int rounds, wrong;
    static char *path;
    __attribute__((noinline)) void work(int n) { sum += n; }
    static void *make(void *unused) {
        for (;;) {
            pid_t child = MAKE();
            if (!child) {
                for (int i = 0; i < PASSES; i++) work(i);
                _exit(3);
            }
            made++;
            int status;
            waitpid(child, &status, 0);
            if (!WIFEXITED(status) || WEXITSTATUS(status) != 3) abort();
        }
        return unused;
    }
    static void *replace(void *unused) {
        while (!made) usleep(100);
        for (volatile int i = rounds * 7919 % 40 * 2000; i > 0; i--);
        char left[20], bad[20];
        sprintf(left, "%d", rounds - 1);
        sprintf(bad, "%d", wrong);
        execl(path, path, left, bad, (char *)0);
        return unused;
    }
    int main(int argc, char **argv) {
        path = argv[0];
        rounds = atoi(argv[1]);
        wrong = argc > 2 ? atoi(argv[2]) : 0;
        int status;
        while (wait(&status) > 0) {
            if (WIFEXITED(status) && WEXITSTATUS(status) == 3) continue;
            wrong++;
            printf("a status of %x\n", status);
            fflush(stdout);
        }
        if (!rounds) return wrong ? 1 : 0;
        pthread_t thread;
        if (rounds % 2) {
            pthread_create(&thread, 0, make, 0);
            replace(0);
        } else {
            pthread_create(&thread, 0, replace, 0);
            make(0);
        }
        return 9;
    }"#;

#[track_caller]
fn check(make: &str, passes: usize) {
    let flags = [format!("-DMAKE={make}"), format!("-DPASSES={passes}")];
    let program = compile(REPLACED, &["-O1", &flags[0], &flags[1]]);
    for (in_place, step_by) in WAYS {
        let mut launch = program.launch();
        launch.arguments = vec!["40".into()];
        (launch.in_place, launch.step_by) = (in_place, step_by);
        let mut debuggee = Debuggee::launch(&launch).unwrap();
        let insert = |debuggee: &mut Debuggee| {
            let work = program.address(debuggee, "work");
            debuggee.insert(work, Owner::Monitor).unwrap();
        };
        insert(&mut debuggee);
        let mut programs = 0;
        let run = run_with(&mut debuggee, |debuggee, notice| {
            if let Notice::Executed { .. } = notice {
                programs += 1;
                insert(debuggee);
            }
        });
        assert_eq!(program.output(), "", "{make} {in_place} {step_by:?}");
        run.assert_exited(0);
        assert_eq!(programs, 40, "{make} {in_place} {step_by:?}");
    }
}

#[test]
fn no_forked_process_is_left_by_a_program_that_is_replaced() {
    check("fork", 3);
}

#[test]
fn no_process_in_the_same_memory_is_let_go_in_the_middle() {
    check("vfork", 20);
}
