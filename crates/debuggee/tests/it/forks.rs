//! `fork` and `vfork` where it is hardest: at a site, in a step, while points
//! come and go.

use crate::support::{compile, run, run_with};
use juror_debuggee::{Debuggee, Follow, Owner, StepBy, StopEvent};

/// Every way to pass a site and to step.
const WAYS: [(bool, StepBy); 3] = [
    (false, StepBy::TraceFlag),
    (true, StepBy::TraceFlag),
    (true, StepBy::FollowSet),
];

/// `make_fork` and `make_vfork`, whose system calls are `fork_call` and
/// `vfork_call`.
const CALLS: &str = r#"
    #include <pthread.h>
    #include <stdio.h>
    #include <sys/wait.h>
    #include <unistd.h>
    long make_fork(void);
    __asm__(".globl make_fork, fork_call\n.type make_fork, @function\n"
            "make_fork: movl $57, %eax\nfork_call: syscall\nret\n");
    long make_vfork(void);
    __asm__(".globl make_vfork, vfork_call\n.type make_vfork, @function\n"
            "make_vfork: popq %rdi\nmovl $58, %eax\nvfork_call: syscall\npushq %rdi\nret\n");
    __attribute__((noinline)) int work(volatile int n) { return n + 1; }
"#;

#[test]
fn a_child_of_a_fork_at_a_site_runs_free() {
    let main = r#"
    static volatile int ready, done;
    static void *others(void *unused) {
        for (ready = 1; !done;) work(0);
        return unused;
    }
    int main(void) {
        pthread_t other;
        pthread_create(&other, 0, others, 0);
        while (!ready);
        int alive = 0;
        for (int i = 0; i < 40; i++) {
            pid_t child = make_fork();
            if (!child) _exit(work(i));
            int status;
            waitpid(child, &status, 0);
            alive += WIFEXITED(status) && WEXITSTATUS(status) == i + 1;
        }
        done = 1;
        pthread_join(other, 0);
        printf("%d\n", alive);
        return 0;
    }"#;
    let program = compile(&format!("{CALLS}{main}"), &["-O1"]);
    for (in_place, step_by) in WAYS {
        let mut launch = program.launch();
        (launch.in_place, launch.step_by) = (in_place, step_by);
        let mut debuggee = Debuggee::launch(&launch).unwrap();
        let work = program.address(&debuggee, "work");
        let call = program.address(&debuggee, "fork_call");
        debuggee.insert(work, Owner::Monitor).unwrap();
        debuggee.insert(call, Owner::Monitor).unwrap();
        let (mut calls, mut is_wanted) = (0, true);
        run_with(&mut debuggee, |debuggee, event| {
            let StopEvent::Hit { address, .. } = *event else {
                return;
            };
            if address != call {
                return;
            }
            calls += 1;
            is_wanted = !is_wanted;
            if is_wanted {
                debuggee.insert(work, Owner::Monitor).unwrap();
            } else {
                debuggee.remove(work, Owner::Monitor).unwrap();
            }
        })
        .assert_exited(0);
        assert_eq!(program.output(), "40\n", "{in_place} {step_by:?}");
        assert_eq!(calls, 40, "{in_place} {step_by:?}");
    }
}

#[test]
fn a_fork_at_a_site_is_followed_exactly_once() {
    let main = r#"
    int main(void) {
        int sum = 0;
        for (int depth = 0; depth < 10; depth++) {
            pid_t child = make_fork();
            if (child) {
                int status;
                waitpid(child, &status, 0);
                _exit(WEXITSTATUS(status));
            }
            sum = work(sum);
        }
        return sum;
    }"#;
    let program = compile(&format!("{CALLS}{main}"), &["-O1"]);
    for (in_place, step_by) in WAYS {
        let mut launch = program.launch();
        (launch.in_place, launch.step_by) = (in_place, step_by);
        let mut debuggee = Debuggee::launch(&launch).unwrap();
        for symbol in ["work", "fork_call"] {
            let address = program.address(&debuggee, symbol);
            debuggee.insert(address, Owner::Monitor).unwrap();
        }
        debuggee.set_follow(Follow::Child);
        let run = run(&mut debuggee);
        run.assert_exited(10);
        assert_eq!(run.hits, 20, "{in_place} {step_by:?}");
    }
}

/// Steps a thread from `make_*` until it is back in `main`'s call of it.
#[track_caller]
fn addresses_of_steps(debuggee: &mut Debuggee, start: u64, count: usize) -> Vec<u64> {
    let mut addresses = Vec::new();
    debuggee.resume_all().unwrap();
    while addresses.len() < count {
        match debuggee.wait().unwrap() {
            StopEvent::Hit {
                thread, address, ..
            } => {
                if address == start {
                    addresses.push(address);
                }
                debuggee.step(thread).unwrap();
            }
            StopEvent::Stepped { thread, address } => {
                addresses.push(address);
                debuggee.step(thread).unwrap();
            }
            StopEvent::Exited { .. } => panic!("{addresses:x?}"),
            event => match event.waiting_thread() {
                Some(thread) => debuggee.resume(thread).unwrap(),
                None => continue,
            },
        }
    }
    addresses
}

#[test]
fn a_step_over_a_system_call_that_makes_a_process_is_one_step() {
    let main = r#"
    int main(void) {
        int status;
        pid_t child = MAKE();
        if (!child) _exit(3);
        waitpid(child, &status, 0);
        printf("%d\n", WEXITSTATUS(status));
        return 0;
    }"#;
    for (make, call, lengths) in [
        ("make_fork", "fork_call", &[5, 2][..]),
        ("make_vfork", "vfork_call", &[1, 5, 2, 1]),
    ] {
        let define = format!("-DMAKE={make}");
        let program = compile(&format!("{CALLS}{main}"), &["-O1", &define]);
        for (in_place, step_by) in WAYS {
            for has_point in [false, true] {
                let mut launch = program.launch();
                (launch.in_place, launch.step_by) = (in_place, step_by);
                let mut debuggee = Debuggee::launch(&launch).unwrap();
                let start = program.address(&debuggee, make);
                debuggee.insert(start, Owner::Developer).unwrap();
                if has_point {
                    let call = program.address(&debuggee, call);
                    debuggee.insert(call, Owner::Monitor).unwrap();
                }
                let mut expected = vec![start];
                for length in lengths {
                    expected.push(expected.last().unwrap() + length);
                }
                let steps = addresses_of_steps(&mut debuggee, start, expected.len());
                let way = format!("{make} {in_place} {step_by:?} {has_point}");
                assert_eq!(steps, expected, "{way}");
                // The last step has been asked for and not been seen.
                let run = run(&mut debuggee);
                run.assert_exited(0);
                assert_eq!(program.output(), "3\n", "{way}");
            }
        }
    }
}

/// Both sides of a `vfork` stand at its system call, in a copy or not: the
/// parent in the kernel, and its child among sites.
#[test]
fn a_process_can_be_let_go_while_it_waits_for_its_child() {
    let main = r#"
    static volatile int is_made, may_end;
    static int status;
    __attribute__((noinline)) void both(void) { __asm__ volatile(""); }
    static void *make(void *unused) {
        pid_t child = make_vfork();
        if (!child) {
            is_made = 1;
            while (!may_end) work(1);
            _exit(3);
        }
        waitpid(child, &status, 0);
        return unused;
    }
    int main(void) {
        pthread_t maker;
        pthread_create(&maker, 0, make, 0);
        while (!is_made) work(2);
        both();
        may_end = 1;
        pthread_join(maker, 0);
        return WEXITSTATUS(status) + work(10);
    }"#;
    let program = compile(&format!("{CALLS}{main}"), &["-O1"]);
    for (in_place, step_by) in WAYS {
        let mut launch = program.launch();
        (launch.in_place, launch.step_by) = (in_place, step_by);
        let mut debuggee = Debuggee::launch(&launch).unwrap();
        for symbol in ["work", "vfork_call", "both"] {
            let address = program.address(&debuggee, symbol);
            debuggee.insert(address, Owner::Monitor).unwrap();
        }
        let process = debuggee.pid();
        let both = program.address(&debuggee, "both");
        debuggee.resume_all().unwrap();
        loop {
            let event = debuggee.wait().unwrap();
            if matches!(event, StopEvent::Hit { address, .. } if address == both) {
                break;
            }
            if let Some(thread) = event.waiting_thread() {
                debuggee.resume(thread).unwrap();
            }
        }
        debuggee.detach().unwrap();
        let mut status = 0;
        // SAFETY: a system call that fills in a live integer.
        let waited = unsafe { libc::waitpid(process as i32, &raw mut status, 0) };
        assert_eq!(waited, process as i32);
        let is_good = libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 3 + 11;
        assert!(is_good, "{status:x}: {in_place} {step_by:?}");
    }
}
