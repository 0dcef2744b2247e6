//! A thread replaces the program while another one is making processes: none of
//! them may be left standing, or be let go in the middle of an instruction.

use std::io::Read;
use std::os::fd::AsRawFd;

use crate::support::{compile, run_with};
use juror_debuggee::{Debuggee, Follow, Owner, Redirection, StepBy, StopEvent};

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
            work(made);
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
        let run = run_with(&mut debuggee, |debuggee, event| {
            if let StopEvent::Executed { .. } = event {
                programs += 1;
                insert(debuggee);
            }
        });
        assert_eq!(program.output(), "", "{make} {in_place} {step_by:?}");
        run.assert_exited(0);
        assert_eq!(programs, 40, "{make} {in_place} {step_by:?}");
        // The site is there: the process that makes the others comes to it.
        assert!(run.hits > 0, "{in_place} {step_by:?}");
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

/// A child is made that is to be followed, and another thread replaces the
/// program. What stands then waits for the child, and says how that ended.
const FOLLOWED: &str = r#"
    #include <pthread.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <sys/wait.h>
    #include <unistd.h>
    static volatile int is_ready, sum;
    __attribute__((noinline)) void work(int n) { sum += n; }
    static void *make(void *unused) {
        is_ready = 1;
        if (!MAKE()) {
            work(1);
            if (IS_VFORK) execl("/bin/sh", "sh", "-c", "exit 3", (char *)0);
            work(2);
            _exit(3);
        }
        for (;;) pause();
        return unused;
    }
    int main(int argc, char **argv) {
        int status = 0;
        if (argc > 2) {
            if (wait(&status) < 0) puts("no child");
            else puts(WIFEXITED(status) && WEXITSTATUS(status) == 3 ? "good" : "wrong");
            return 0;
        }
        pthread_t thread;
        pthread_create(&thread, 0, make, 0);
        while (!is_ready);
        for (volatile int i = atoi(argv[1]); i > 0; i--);
        execl(argv[0], argv[0], "0", "again", (char *)0);
        return 9;
    }"#;

#[track_caller]
fn check_followed(make: &str, is_vfork: usize) {
    let flags = [format!("-DMAKE={make}"), format!("-DIS_VFORK={is_vfork}")];
    let program = compile(FOLLOWED, &["-O1", &flags[0], &flags[1]]);
    for (in_place, step_by) in WAYS {
        for round in 0..20 {
            // Each process has the writing end.
            let (mut reader, writer) = std::io::pipe().unwrap();
            let mut launch = program.launch();
            launch.arguments = vec![(round * 4000).to_string().into()];
            (launch.in_place, launch.step_by) = (in_place, step_by);
            let output = format!("/dev/fd/{}", writer.as_raw_fd());
            launch.output = Redirection::File(output.into());
            let mut debuggee = Debuggee::launch(&launch).unwrap();
            drop(writer);
            debuggee.set_follow(Follow::Child);
            let work = program.address(&debuggee, "work");
            debuggee.insert(work, Owner::Monitor).unwrap();
            let run = run_with(&mut debuggee, |_, _| {});
            let ended = [0, 3].map(|status| Some(StopEvent::Exited { status }));
            assert!(ended.contains(&run.end), "{:?}: {make}", run.end);
            // It ends with the last process that has the pipe.
            let mut said = String::new();
            reader.read_to_string(&mut said).unwrap();
            // The child may not have been made at all.
            let is_followed = run.end == ended[1];
            let is_right = match said.as_str() {
                // One in the same memory may not have come to its program yet.
                "good\n" => is_followed || is_vfork == 1,
                "no child\n" => !is_followed,
                _ => false,
            };
            assert!(
                is_right,
                "{said} {:?}: {make} {in_place} {step_by:?}",
                run.end
            );
        }
    }
}

#[test]
fn a_child_that_is_to_be_followed_is_followed_or_let_go() {
    check_followed("fork", 0);
    check_followed("vfork", 1);
}
