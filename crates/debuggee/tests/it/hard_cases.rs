//! Programs that debuggers trip over. Each says how often it called `work`;
//! with a point there it must say and do the same as without, and every call
//! must be told once.

use crate::support::{Program, compile, run, run_with, start_with_points};
use juror_debuggee::{Debuggee, Owner, StopEvent};
use juror_testing::copy_executable;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

/// What every program begins with.
const BEGINNING: &str = r#"
    #define _GNU_SOURCE
    #include <errno.h>
    #include <pthread.h>
    #include <setjmp.h>
    #include <signal.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/prctl.h>
    #include <sys/ptrace.h>
    #include <sys/wait.h>
    #include <unistd.h>
    static volatile int count;
    __attribute__((noinline)) void work(volatile int *count) { ++*count; }
    static void repeat(int times) { for (int i = 0; i < times; i++) work(&count); }
    static void handle(int number, void (*function)(int), int flags) {
        struct sigaction action = {.sa_handler = function, .sa_flags = flags};
        sigaction(number, &action, 0);
    }
"#;

#[track_caller]
fn compile_case(rest: &str) -> Program {
    compile(&format!("{BEGINNING}{rest}"), &["-O1"])
}

/// The program does and says the same with points as without, for each way
/// past them.
#[track_caller]
fn check(rest: &str) {
    let program = compile_case(rest);
    let bare = Command::new(&program.path)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let expected = String::from_utf8(bare.stdout).unwrap();
    for in_place in [false, true] {
        let mut launch = program.launch();
        launch.in_place = in_place;
        let mut debuggee = Debuggee::launch(&launch).unwrap();
        let work = program.address(&debuggee, "work");
        debuggee.insert(work, Owner::Monitor).unwrap();
        let run = run(&mut debuggee);
        let end = match bare.status.code() {
            Some(status) => StopEvent::Exited { status },
            None => panic!("the bare program was killed: {}", bare.status),
        };
        assert_eq!(run.end, Some(end), "in place: {in_place}");
        assert_eq!(program.output(), expected, "in place: {in_place}");
        let told: usize = expected.split_whitespace().next().unwrap().parse().unwrap();
        assert_eq!(run.hits, told, "in place: {in_place}");
    }
}

#[test]
fn a_handler_of_trap_signals() {
    // In a handler that blocks its own signal there must be no point: the
    // kernel takes the handler away to deliver the trap.
    for options in [
        "#define WORK work(&count)\n#define FLAGS SA_NODEFER\n",
        "#define WORK\n#define FLAGS 0\n",
    ] {
        check(&format!("{options}{TRAPS}"));
    }
}

const TRAPS: &str = r#"
        static volatile int handled;
        static void on_trap(int number) { handled++; WORK; }
        int main(void) {
            handle(SIGTRAP, on_trap, FLAGS);
            for (int i = 0; i < 10; i++) {
                raise(SIGTRAP);
                __asm__ volatile("int3");
                repeat(3);
            }
            printf("%d %d\n", count, handled);
            return 5;
        }"#;

#[test]
fn ignored_and_blocked_trap_signals() {
    // The kernel delivers a trap all the same, by making the signal neither
    // ignored nor blocked: the program passes its points, but a SIGTRAP that
    // it sends to itself afterwards meets the default.
    check(
        r#"
        int main(void) {
            signal(SIGTRAP, SIG_IGN);
            repeat(20);
            sigset_t set;
            sigemptyset(&set);
            sigaddset(&set, SIGTRAP);
            sigprocmask(SIG_BLOCK, &set, 0);
            repeat(20);
            printf("%d\n", count);
            return 5;
        }"#,
    );
}

#[test]
fn handlers_within_handlers() {
    check(
        r#"
        static volatile int depth;
        static void nested(int number) {
            work(&count);
            if (++depth % 4) raise(number);
            work(&count);
        }
        int main(void) {
            handle(SIGUSR1, nested, SA_NODEFER);
            for (int i = 0; i < 25; i++) { raise(SIGUSR1); repeat(1); }
            printf("%d %d\n", count, depth);
            return 5;
        }"#,
    );
}

#[test]
fn handlers_on_a_stack_of_their_own() {
    check(
        r#"
        static sigjmp_buf back;
        static void on_signal(int number) { work(&count); }
        static void on_overflow(int number) { work(&count); siglongjmp(back, 1); }
        __attribute__((noinline)) int overflow(int n) {
            volatile char room[4096];
            room[n % 4096] = 1;
            return overflow(n + 1) + room[0];
        }
        int main(void) {
            stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
            sigaltstack(&stack, 0);
            handle(SIGUSR1, on_signal, SA_ONSTACK);
            handle(SIGSEGV, on_overflow, SA_ONSTACK);
            for (int i = 0; i < 5; i++) {
                raise(SIGUSR1);
                if (!sigsetjmp(back, 1)) overflow(0);
                repeat(2);
            }
            printf("%d\n", count);
            return 5;
        }"#,
    );
}

#[test]
fn signals_at_a_parents_death() {
    check(
        r#"
        int main(void) {
            prctl(PR_SET_CHILD_SUBREAPER, 1);
            for (int i = 0; i < 5; i++) {
                int ready[2], status;
                pipe(ready);
                pid_t middle = fork();
                if (!middle) {
                    if (!fork()) {
                        prctl(PR_SET_PDEATHSIG, SIGTERM);
                        write(ready[1], "x", 1);
                        for (;;) pause();
                    }
                    char byte;
                    read(ready[0], &byte, 1);
                    _exit(0);
                }
                repeat(4);
                waitpid(middle, &status, 0);
                wait(&status);
                printf("%s", WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM ? "" : "wrong ");
            }
            printf("%d\n", count);
            return 5;
        }"#,
    );
}

/// The user without rights.
const NOBODY: u32 = 65534;

/// Runs this test again as an ordinary user if this one is root, who may look into every
/// process; returns false otherwise.
#[track_caller]
fn is_run_as_user(test: &str) -> bool {
    // SAFETY: a system call without arguments.
    if unsafe { libc::geteuid() } != 0 {
        return false;
    }
    // The directories around the executable may be closed to others.
    let directory = tempfile::tempdir().unwrap();
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(directory.path(), open).unwrap();
    let executable = directory.path().join("tests");
    copy_executable(&std::env::current_exe().unwrap(), &executable);
    let output = Command::new(&executable)
        .args(["--exact", test, "--nocapture"])
        .current_dir("/")
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(said.contains("1 passed"), "{said}");
    true
}

#[test]
fn a_process_that_may_not_be_dumped() {
    if is_run_as_user("hard_cases::a_process_that_may_not_be_dumped") {
        return;
    }
    check(
        r#"
        int main(void) {
            repeat(5);
            prctl(PR_SET_DUMPABLE, 0);
            // Nobody else may open its memory now.
            char path[64];
            sprintf(path, "/proc/%d/mem", getpid());
            int opened = access(path, R_OK);
            repeat(5);
            pthread_t thread;
            pthread_create(&thread, 0, (void *(*)(void *))repeat, (void *)5);
            pthread_join(thread, 0);
            printf("%d %d %d\n", count, prctl(PR_GET_DUMPABLE), opened);
            return opened ? 5 : 6;
        }"#,
    );
}

/// Only root can become another user.
#[test]
fn a_process_that_changes_its_user() {
    // SAFETY: a system call without arguments.
    let is_root = unsafe { libc::geteuid() } == 0;
    let changes = if is_root { 0 } else { -1 };
    check(&format!(
        r#"
        int main(void) {{
            repeat(5);
            int changed = setuid({NOBODY});
            repeat(5);
            pthread_t thread;
            pthread_create(&thread, 0, (void *(*)(void *))repeat, (void *)5);
            pthread_join(thread, 0);
            printf("%d %d %d\n", count, changed, prctl(PR_GET_DUMPABLE));
            return changed == {changes} ? 5 : 6;
        }}"#,
    ));
}

#[test]
fn a_process_that_traces_its_child() {
    check(
        r#"
        int main(void) {
            int stops = 0;
            for (int i = 0; i < 5; i++) {
                pid_t child = fork();
                if (!child) {
                    ptrace(PTRACE_TRACEME, 0, 0, 0);
                    raise(SIGSTOP);
                    repeat(3);
                    _exit(0);
                }
                int status;
                while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
                    stops++;
                    work(&count);
                    ptrace(PTRACE_CONT, child, 0, 0);
                }
            }
            printf("%d %d\n", count, stops);
            return 5;
        }"#,
    );
}

#[test]
fn stops_and_continuations_from_outside() {
    check(
        r#"
        int main(void) {
            pid_t self = getpid(), child = fork();
            if (!child) {
                for (int i = 0; i < 20; i++) {
                    kill(self, SIGSTOP);
                    usleep(500);
                    kill(self, SIGCONT);
                    usleep(500);
                }
                kill(self, SIGCONT);
                _exit(0);
            }
            repeat(2000);
            int status;
            while (waitpid(child, &status, 0) == -1 && errno == EINTR) {}
            printf("%d\n", count);
            return 5;
        }"#,
    );
}

#[test]
fn a_program_that_wants_to_be_traced() {
    // It is traced already, so it is refused; that much it can tell.
    let program = compile_case(
        r#"
        int main(void) {
            long traced = ptrace(PTRACE_TRACEME, 0, 0, 0);
            repeat(10);
            printf("%d %ld\n", count, traced);
            return 5;
        }"#,
    );
    let mut debuggee = start_with_points(&program, &["work"]);
    let run = run(&mut debuggee);
    run.assert_exited(5);
    assert_eq!((run.hits, program.output().as_str()), (10, "10 -1\n"));
}

#[test]
fn threads_may_end_while_they_are_stopped() {
    let program = compile_case(
        r#"
        static volatile int ready;
        static void *stand(void *unused) { ready = 1; work(&count); return unused; }
        int main(void) {
            pthread_t threads[4];
            for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, stand, 0);
            while (!ready) {}
            _exit(5);
        }"#,
    );
    let mut debuggee = start_with_points(&program, &["work"]);
    debuggee.resume_all().unwrap();
    let end = loop {
        match debuggee.wait().unwrap() {
            // It stands there until the process is over.
            StopEvent::Hit { .. } => {}
            event @ (StopEvent::Exited { .. } | StopEvent::Killed { .. }) => break event,
            event => {
                if let Some(thread) = event.waiting_thread() {
                    debuggee.resume(thread).unwrap();
                }
            }
        }
    };
    assert_eq!(end, StopEvent::Exited { status: 5 });
}

#[test]
fn steps_over_a_fork() {
    let program = compile_case(
        r#"
        int main(void) {
            work(&count);
            pid_t child = fork();
            if (!child) { repeat(5); _exit(count); }
            int status;
            waitpid(child, &status, 0);
            repeat(3);
            printf("%d %d\n", count, WEXITSTATUS(status));
            return 5;
        }"#,
    );
    let mut debuggee = start_with_points(&program, &["work"]);
    let mut steps = 0;
    let mut forked_at = None;
    let mut hits = 0;
    debuggee.resume_all().unwrap();
    loop {
        let event = debuggee.wait().unwrap();
        hits += u32::from(matches!(event, StopEvent::Hit { .. }));
        match event {
            StopEvent::Exited { status } => {
                assert_eq!(status, 5);
                break;
            }
            StopEvent::Forked { .. } => forked_at = Some(steps),
            // From the first call until the child has been made.
            StopEvent::Hit { thread, .. } | StopEvent::Stepped { thread, .. }
                if hits == 1 && forked_at.is_none() =>
            {
                steps += 1;
                debuggee.step(thread).unwrap();
            }
            event => {
                if let Some(thread) = event.waiting_thread() {
                    debuggee.resume(thread).unwrap();
                }
            }
        }
    }
    assert!(forked_at.is_some_and(|steps| steps > 50), "{forked_at:?}");
    assert_eq!((hits, program.output().as_str()), (4, "4 6\n"));
}

#[test]
fn steps_through_a_handler_and_out_of_it() {
    let program = compile_case(
        r#"
        static volatile int handled;
        __attribute__((noinline)) static void on_signal(int number) { handled++; work(&count); }
        __attribute__((noinline)) void between(void) { __asm__ volatile(""); }
        int main(void) {
            handle(SIGUSR1, on_signal, 0);
            for (int i = 0; i < 3; i++) { raise(SIGUSR1); between(); work(&count); }
            printf("%d %d\n", count, handled);
            return 5;
        }"#,
    );
    let mut debuggee = start_with_points(&program, &["work"]);
    let [work, between] = ["work", "between"].map(|name| program.address(&debuggee, name));
    let (mut hits, mut returns) = (0, 0);
    debuggee.resume_all().unwrap();
    let end = loop {
        let event = debuggee.wait().unwrap();
        let thread = match event {
            // The odd ones are inside the handler.
            StopEvent::Hit { thread, .. } => {
                hits += 1;
                Some(thread).filter(|_| hits % 2 == 1)
            }
            StopEvent::Stepped { thread, address } => {
                assert_ne!(address, work);
                returns += u32::from(address == between);
                Some(thread).filter(|_| address != between)
            }
            StopEvent::Exited { .. } | StopEvent::Killed { .. } => break event,
            _ => None,
        };
        match (thread, event.waiting_thread()) {
            (Some(thread), _) => debuggee.step(thread).unwrap(),
            (None, Some(thread)) => debuggee.resume(thread).unwrap(),
            (None, None) => {}
        }
    };
    assert_eq!(end, StopEvent::Exited { status: 5 });
    assert_eq!((hits, returns), (6, 3));
    assert_eq!(program.output(), "6 3\n");
}

#[test]
fn threads_by_the_thousand() {
    let program = compile_case(
        r#"
        static void *once(void *unused) { work((volatile int *)unused); return unused; }
        int main(void) {
            int good = 0;
            for (int i = 0; i < 250; i++) {
                pthread_t threads[8];
                volatile int counts[8] = {0};
                for (int j = 0; j < 8; j++) pthread_create(&threads[j], 0, once, (void *)&counts[j]);
                for (int j = 0; j < 8; j++) { pthread_join(threads[j], 0); good += counts[j]; }
            }
            printf("%d\n", good);
            return 5;
        }"#,
    );
    let mut debuggee = start_with_points(&program, &["work"]);
    let mut alive = 0_i32;
    let run = run_with(&mut debuggee, |_, event| match event {
        StopEvent::ThreadStarted { .. } => alive += 1,
        StopEvent::ThreadEnded { .. } => alive -= 1,
        _ => {}
    });
    run.assert_exited(5);
    assert_eq!((run.hits, program.output().as_str()), (2000, "2000\n"));
    assert_eq!(alive, 0);
}
