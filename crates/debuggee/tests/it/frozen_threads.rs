//! Threads that are brought back with their old numbers, and users who may not choose those.

use crate::frozen::{run_to_hit, thaw_with_another_number};
use crate::support::{Program, compile, run, start_with_points};
use juror_debuggee::{Debuggee, Owner, PidNamespace, StopEvent};
use juror_testing::may_choose_thread_numbers;

/// Gives up the right to choose numbers, as any user can, and comes to a point before and after
/// its second thread begins.
const WITHOUT_RIGHTS: &str = r#"
    #define _GNU_SOURCE
    #include <linux/capability.h>
    #include <pthread.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    __attribute__((noinline)) void point(void) { __asm__ volatile(""); }
    static void *wait_for_end(void *unused) { for (;;) pause(); return unused; }
    int main(void) {
        struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
        struct __user_cap_data_struct none[2] = {{0}};
        if (syscall(SYS_capset, &header, none)) return 2;
        point();
        pthread_t thread;
        if (pthread_create(&thread, 0, wait_for_end, 0)) return 3;
        point();
        return 7;
    }
"#;

#[test]
fn without_rights_one_thread_gets_another_number_and_two_are_refused() {
    let program = compile(WITHOUT_RIGHTS, &["-O1"]);
    let mut debuggee = start_with_points(&program, &["point"]);
    run_to_hit(&mut debuggee);
    let frozen = debuggee.freeze().unwrap();
    assert!(!frozen.keeps_pids());
    for _ in 0..2 {
        debuggee = thaw_with_another_number(&frozen, debuggee);
        run_to_hit(&mut debuggee);
        assert_refused(&mut debuggee, 2);
    }
    run(&mut debuggee).assert_exited(7);
}

/// The threads are not kept, and the message has a way out.
#[track_caller]
fn assert_refused(debuggee: &mut Debuggee, threads: usize) {
    let refused = debuggee.freeze().map(|frozen| frozen.thread_count());
    assert_eq!(
        refused.unwrap_err().to_string(),
        format!(
            "the program has {threads} threads, and this user may not give a thread its old \
             number: give the program a PID namespace (set checkpoint-namespace on, then run it \
             again), or run juror as root"
        )
    );
    assert!(debuggee.is_alive());
}

/// Runs a program that uses all that the kernel keeps for a thread until its six further threads
/// are there: all locks are in use.
#[track_caller]
fn run_to_all_threads(program: &Program, namespace: PidNamespace) -> Debuggee {
    let mut launch = program.launch();
    launch.arguments = vec![program.directory.path().join("lines").into(), "60".into()];
    launch.pid_namespace = namespace;
    let mut debuggee = Debuggee::launch(&launch).unwrap();
    let usleep = program.address(&debuggee, "reached");
    debuggee.insert(usleep, Owner::Monitor).unwrap();
    let mut stops = 0;
    debuggee.resume_all().unwrap();
    while stops < 6 {
        let event = debuggee.wait().unwrap();
        stops += usize::from(matches!(event, StopEvent::ThreadStarted { .. }));
        debuggee.resume(event.waiting_thread().unwrap()).unwrap();
    }
    debuggee
}

#[test]
fn all_threads_come_back_with_what_the_kernel_keeps_for_them() {
    let program = compile(include_str!("../programs/kept.c"), &["-O1"]);
    // Asked first: the threads run on while it is found out.
    let may_choose = may_choose_thread_numbers();
    let mut debuggee = run_to_all_threads(&program, PidNamespace::Shared);
    let assert_ended_whole = |debuggee: &mut Debuggee| {
        let end = run(debuggee).end;
        let said = program.output();
        assert_eq!(end, Some(StopEvent::Exited { status: 0 }), "{said}");
    };
    if !may_choose {
        assert_refused(&mut debuggee, 7);
        assert_ended_whole(&mut debuggee);
        debuggee = run_to_all_threads(&program, PidNamespace::NewIfNeeded);
        if let Some(refusal) = debuggee.namespace_refusal() {
            eprintln!("skipped: {refusal}");
            return;
        }
    }
    let frozen = debuggee.freeze().unwrap();
    assert_eq!(frozen.thread_count(), 7);
    assert!(frozen.keeps_pids());
    for _ in 0..3 {
        let points = frozen.points().to_vec();
        debuggee = frozen.thaw(Some(&mut debuggee), &points).unwrap().debuggee;
    }
    // The program compares the numbers. Its file of lines is not brought back here, and nothing
    // has run since.
    assert_ended_whole(&mut debuggee);
}
