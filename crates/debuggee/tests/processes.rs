//! Processes that the debuggee makes or turns into.

mod support;

use juror_debuggee::{ForkKind, Notice, Owner};
use support::{compile, run, start_with_points};

#[test]
fn forked_children_run_free_of_points() {
    let program = compile(
        r#"
        #include <stdio.h>
        #include <sys/wait.h>
        #include <unistd.h>
        __attribute__((noinline)) int work(volatile int n) { return n + 1; }
        int main(void) {
            int alive = 0;
            for (int i = 0; i < 5; i++) {
                pid_t child = fork();
                if (!child) _exit(work(i));
                work(i);
                int status;
                waitpid(child, &status, 0);
                alive += WIFEXITED(status) && WEXITSTATUS(status) == i + 1;
            }
            printf("%d\n", alive);
            return 0;
        }"#,
        &["-O1"],
    );
    let mut debuggee = start_with_points(&program, &["work"]);
    let run = run(&mut debuggee);
    run.assert_exited(0);
    assert_eq!(program.output(), "5\n");
    assert_eq!(run.hits, 5);
    let forks = run.notices.iter().filter(|notice| {
        matches!(
            notice,
            Notice::Forked {
                kind: ForkKind::Fork,
                ..
            }
        )
    });
    assert_eq!(forks.count(), 5);
}

const VFORK: &str = r#"
    #include <pthread.h>
    #include <spawn.h>
    #include <stdio.h>
    #include <sys/wait.h>
    #include <unistd.h>
    extern char **environ;
    static volatile int in_parent, in_child;
    __attribute__((noinline)) void work(volatile int *count) { ++*count; }
    static volatile int ready;
    static void *others(void *unused) {
        ready = 1;
        for (int i = 0; i < 500; i++) work(&in_parent);
        return unused;
    }
    int main(int argc, char **argv) {
        pthread_t other;
        pthread_create(&other, 0, others, 0);
        while (!ready) {}
        int good = 0;
        for (int i = 0; i < 20; i++) {
            pid_t child = vfork();
            if (!child) {
                work(&in_child);
                work(&in_child);
                if (i % 2) _exit(3);
                execl("/bin/sh", "sh", "-c", "exit 3", (char *)0);
                _exit(4);
            }
            int status;
            waitpid(child, &status, 0);
            good += WIFEXITED(status) && WEXITSTATUS(status) == 3;
            char *arguments[] = {"sh", "-c", "exit 5", 0};
            posix_spawn(&child, "/bin/sh", 0, 0, arguments, environ);
            waitpid(child, &status, 0);
            good += WIFEXITED(status) && WEXITSTATUS(status) == 5;
        }
        pthread_join(other, 0);
        printf("%d %d %d\n", good, in_child, in_parent);
        return 0;
    }"#;

#[test]
fn children_that_share_the_memory_pass_points_silently() {
    let program = compile(VFORK, &["-O1"]);
    let mut debuggee = start_with_points(&program, &["work"]);
    let run = run(&mut debuggee);
    run.assert_exited(0);
    assert_eq!(program.output(), "40 40 500\n");
    assert_eq!(run.hits, 500);
}

#[test]
fn all_can_be_halted_around_a_vfork() {
    let program = compile(VFORK, &["-O1"]);
    let mut debuggee = start_with_points(&program, &["work"]);
    debuggee.resume_all().unwrap();
    let mut hits = 0;
    loop {
        let notice = debuggee.wait().unwrap();
        if let Notice::Exited { status } = notice {
            assert_eq!(status, 0);
            break;
        }
        if let Notice::Hit { .. } = notice {
            hits += 1;
        }
        if let Some(thread) = notice.waiting_thread() {
            debuggee.halt_all().unwrap();
            debuggee.resume_all().unwrap();
            debuggee.resume(thread).unwrap();
        }
    }
    assert_eq!(program.output(), "40 40 500\n");
    assert_eq!(hits, 500);
}

#[test]
fn a_program_can_become_another() {
    let second = compile(
        r#"
        #include <stdio.h>
        __attribute__((noinline)) void work(void) { puts("second"); }
        int main(void) { work(); return 9; }"#,
        &["-O1"],
    );
    for flags in [&["-O1"][..], &["-O1", "-DTHREAD"][..]] {
        let first = compile(
            r#"
            #include <pthread.h>
            #include <stdio.h>
            #include <unistd.h>
            __attribute__((noinline)) void work(void) { puts("first"); fflush(stdout); }
            static char *next;
            static void *become(void *unused) { work(); execl(next, next, (char *)0); return unused; }
            static void *idle(void *unused) { pause(); return unused; }
            int main(int argc, char **argv) {
                next = argv[1];
                pthread_t thread;
                pthread_create(&thread, 0, idle, 0);
            #ifdef THREAD
                pthread_create(&thread, 0, become, 0);
                pthread_join(thread, 0);
            #endif
                become(0);
                return 1;
            }"#,
            flags,
        );
        let mut launch = first.launch();
        launch.arguments = vec![second.path.clone().into()];
        let mut debuggee = juror_debuggee::Debuggee::launch(&launch).unwrap();
        let address = first.address(&debuggee, "work");
        debuggee.insert(address, Owner::Monitor).unwrap();
        let mut is_second = false;
        let mut hits = [0, 0];
        let run = support::run_with(&mut debuggee, |debuggee, notice| match notice {
            Notice::Executed { path, .. } => {
                assert_eq!(*path, second.path.canonicalize().unwrap());
                is_second = true;
                let address = second.address(debuggee, "work");
                debuggee.insert(address, Owner::Monitor).unwrap();
            }
            Notice::Hit { .. } => hits[usize::from(is_second)] += 1,
            _ => {}
        });
        run.assert_exited(9);
        assert_eq!(hits, [1, 1]);
        assert_eq!(first.output(), "first\nsecond\n");
    }
}
