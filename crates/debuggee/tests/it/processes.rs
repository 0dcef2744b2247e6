//! Processes that the debuggee makes or turns into.

use crate::support::{compile, run, start_with_points};
use juror_debuggee::{Follow, ForkKind, Owner, StopEvent};

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
    let forks = run.events.iter().filter(|event| {
        matches!(
            event,
            StopEvent::Forked {
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
        let event = debuggee.wait().unwrap();
        if let StopEvent::Exited { status } = event {
            assert_eq!(status, 0);
            break;
        }
        if let StopEvent::Hit { .. } = event {
            hits += 1;
        }
        if let Some(thread) = event.waiting_thread() {
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
        let run = crate::support::run_with(&mut debuggee, |debuggee, event| match event {
            StopEvent::Executed { path, .. } => {
                assert_eq!(*path, second.path.canonicalize().unwrap());
                is_second = true;
                let address = second.address(debuggee, "work");
                debuggee.insert(address, Owner::Monitor).unwrap();
            }
            StopEvent::Hit { .. } => hits[usize::from(is_second)] += 1,
            _ => {}
        });
        run.assert_exited(9);
        assert_eq!(hits, [1, 1]);
        assert_eq!(first.output(), "first\nsecond\n");
    }
}

/// Each process counts what it does itself; the parent says what both did.
const FAMILY: &str = r#"
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/wait.h>
    #include <unistd.h>
    static volatile int count;
    __attribute__((noinline)) void work(volatile int *count) { ++*count; }
    int main(int argc, char **argv) {
        for (int i = 0; i < 3; i++) work(&count);
        int is_vfork = argc > 1 && !strcmp(argv[1], "vfork");
        pid_t child = is_vfork ? vfork() : fork();
        if (!child && is_vfork) {
            execl(argv[2], argv[2], (char *)0);
            _exit(90);
        }
        if (!child) {
            for (int i = 0; i < 10; i++) work(&count);
            _exit(count);
        }
        for (int i = 0; i < 5; i++) work(&count);
        int status;
        waitpid(child, &status, 0);
        printf("%d %d\n", count, WEXITSTATUS(status));
        return 4;
    }"#;

#[test]
fn a_forked_child_can_be_followed() {
    let program = compile(FAMILY, &["-O1"]);
    let mut debuggee = start_with_points(&program, &["work"]);
    debuggee.set_follow(Follow::Child);
    let parent = debuggee.pid();
    let run = run(&mut debuggee);
    // Its end is the child's, and the parent went on alone.
    run.assert_exited(13);
    assert_ne!(debuggee.pid(), parent);
    assert_eq!(run.hits, 13);
    assert!(
        run.events
            .contains(&StopEvent::ParentDetached { process: parent })
    );
    await_end(parent);
    assert_eq!(program.output(), "8 13\n");
}

#[test]
fn a_child_that_runs_another_program_can_be_followed() {
    let other = compile(
        r#"
        __attribute__((noinline)) void work(volatile int *count) { ++*count; }
        int main(void) { volatile int count = 0; work(&count); work(&count); return count; }"#,
        &["-O1"],
    );
    let program = compile(FAMILY, &["-O1"]);
    let mut launch = program.launch();
    launch.arguments = vec!["vfork".into(), other.path.clone().into()];
    let mut debuggee = juror_debuggee::Debuggee::launch(&launch).unwrap();
    let work = program.address(&debuggee, "work");
    debuggee.insert(work, Owner::Monitor).unwrap();
    debuggee.set_follow(Follow::Child);
    let parent = debuggee.pid();
    let run = crate::support::run_with(&mut debuggee, |debuggee, event| {
        if let StopEvent::Executed { path, .. } = event {
            assert_eq!(*path, other.path.canonicalize().unwrap());
            let work = other.address(debuggee, "work");
            debuggee.insert(work, Owner::Monitor).unwrap();
        }
    });
    run.assert_exited(2);
    assert_eq!(run.hits, 5);
    await_end(parent);
    assert_eq!(program.output(), "8 2\n");
}

#[test]
fn children_of_children_are_followed() {
    let program = compile(
        r#"
        #include <stdio.h>
        #include <sys/wait.h>
        #include <unistd.h>
        static volatile int depth;
        __attribute__((noinline)) void work(volatile int *depth) { ++*depth; }
        int main(void) {
            while (depth < 20) {
                work(&depth);
                pid_t child = fork();
                if (!child) continue;
                int status;
                waitpid(child, &status, 0);
                _exit(WEXITSTATUS(status));
            }
            return depth;
        }"#,
        &["-O1"],
    );
    let mut debuggee = start_with_points(&program, &["work"]);
    debuggee.set_follow(Follow::Child);
    let run = run(&mut debuggee);
    run.assert_exited(20);
    assert_eq!(run.hits, 20);
}

/// Waits for a child of the test that is not traced any more.
#[track_caller]
fn await_end(process: u32) {
    let mut status = 0;
    // SAFETY: a system call that fills in a live integer.
    let waited = unsafe { libc::waitpid(process as i32, &raw mut status, 0) };
    assert_eq!(waited, process as i32);
    assert!(
        libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 4,
        "{status:x}"
    );
}
