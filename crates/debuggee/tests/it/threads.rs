//! Stopping, starting and ending threads, with points going in and out.

use juror_arch::Register;
use std::collections::BTreeSet;

use crate::support::{compile, is_running, run, run_with, start_with_points};
use juror_debuggee::{Debuggee, DebuggeeError, Owner, StopEvent, ThreadState};

const WORKERS: &str = r#"
    #include <pthread.h>
    #include <stdio.h>
    #include <stdlib.h>
    static volatile long sum, others;
    static int threads;
    static long passes;
    __attribute__((noinline)) void work(long n) { __atomic_add_fetch(&sum, n, 5); }
    __attribute__((noinline)) void other(long n) { __atomic_add_fetch(&others, n, 5); }
    static void *run(void *unused) {
        for (long i = 0; i < passes; i++) { work(1); other(1); }
        return unused;
    }
    int main(int argc, char **argv) {
        threads = atoi(argv[1]);
        passes = atol(argv[2]);
        pthread_t ids[64];
        for (int i = 0; i < threads; i++) pthread_create(&ids[i], 0, run, 0);
        for (int i = 0; i < threads; i++) pthread_join(ids[i], 0);
        printf("%ld\n", sum);
        return 0;
    }"#;

fn workers(flags: &[&str], threads: usize, passes: usize) -> (crate::support::Program, Debuggee) {
    let program = compile(WORKERS, flags);
    let mut launch = program.launch();
    launch.arguments = vec![threads.to_string().into(), passes.to_string().into()];
    let debuggee = Debuggee::launch(&launch).unwrap();
    (program, debuggee)
}

#[test]
fn halting_all_loses_and_repeats_nothing() {
    let (program, mut debuggee) = workers(&["-O1"], 8, 250);
    let address = program.address(&debuggee, "work");
    debuggee.insert(address, Owner::Monitor).unwrap();
    debuggee.resume_all().unwrap();
    let mut hits = 0;
    loop {
        let event = debuggee.wait().unwrap();
        match event {
            StopEvent::Exited { status } => {
                assert_eq!(status, 0);
                break;
            }
            StopEvent::Hit { .. } => hits += 1,
            _ => {}
        }
        if hits % 5 == 0 {
            debuggee.halt_all().unwrap();
            for thread in debuggee.threads() {
                assert_eq!(thread.state, ThreadState::Stopped);
                assert!(thread.pc.is_some());
                assert_eq!(thread.name, "program");
            }
            debuggee.resume_all().unwrap();
        }
        if let Some(thread) = event.waiting_thread() {
            debuggee.resume(thread).unwrap();
        }
    }
    assert_eq!(hits, 2000);
    assert_eq!(program.output(), "2000\n");
}

#[test]
fn points_come_and_go_while_threads_run() {
    let (program, mut debuggee) = workers(&["-O1"], 4, 1000);
    let work = program.address(&debuggee, "work");
    let other = program.address(&debuggee, "other");
    let mut original = [0; 16];
    debuggee.read(work, &mut original).unwrap();
    debuggee.insert(work, Owner::Monitor).unwrap();
    let mut hits = [0_usize; 2];
    let run = run_with(&mut debuggee, |debuggee, event| {
        if let StopEvent::Hit { address, .. } = event {
            let at_other = usize::from(*address == other);
            hits[at_other] += 1;
            // Two automaton states in turn: each wants the other's event.
            let (from, to) = [(work, other), (other, work)][at_other];
            debuggee.remove(from, Owner::Monitor).unwrap();
            debuggee.insert(to, Owner::Monitor).unwrap();
            let mut seen = [0; 16];
            debuggee.read(work, &mut seen).unwrap();
            assert_eq!(seen, original);
        }
    });
    run.assert_exited(0);
    assert_eq!(program.output(), "4000\n");
    // The state changes with every event.
    assert!(hits[0].abs_diff(hits[1]) <= 1, "{hits:?}");
    assert!(hits[0] > 0);
}

#[test]
fn threads_that_start_and_end_at_a_point() {
    let program = compile(
        r#"
        #include <pthread.h>
        #include <stdio.h>
        static volatile long count;
        __attribute__((noinline)) void work(void) { __atomic_add_fetch(&count, 1, 5); }
        static void *brief(void *unused) { work(); return unused; }
        int main(void) {
            pthread_t ids[20];
            for (int round = 0; round < 25; round++) {
                for (int i = 0; i < 20; i++) pthread_create(&ids[i], 0, brief, 0);
                for (int i = 0; i < 20; i++) pthread_join(ids[i], 0);
            }
            printf("%ld\n", count);
            return 0;
        }"#,
        &["-O1"],
    );
    let mut debuggee = start_with_points(&program, &["work"]);
    let run = run(&mut debuggee);
    run.assert_exited(0);
    assert_eq!(run.hits, 500);
    assert_eq!(program.output(), "500\n");
    let count = |is: fn(&StopEvent) -> bool| run.events.iter().filter(|it| is(it)).count();
    assert_eq!(
        count(|it| matches!(it, StopEvent::ThreadStarted { .. })),
        500
    );
    assert_eq!(count(|it| matches!(it, StopEvent::ThreadEnded { .. })), 500);
}

#[test]
fn the_first_thread_may_end_first() {
    let program = compile(
        r#"
        #include <pthread.h>
        #include <stdio.h>
        #include <stdlib.h>
        __attribute__((noinline)) void work(volatile int *n) { ++*n; }
        static pthread_t first;
        static void *rest(void *unused) {
            pthread_join(first, 0);
            volatile int n = 0;
            for (int i = 0; i < 50; i++) work(&n);
            printf("%d\n", n);
            exit(6);
        }
        int main(void) {
            pthread_t thread;
            first = pthread_self();
            pthread_create(&thread, 0, rest, 0);
            pthread_exit(0);
        }"#,
        &["-O1"],
    );
    let mut debuggee = start_with_points(&program, &["work"]);
    let run = run_with(&mut debuggee, |debuggee, event| {
        if let StopEvent::Hit { .. } = event {
            debuggee.halt_all().unwrap();
            debuggee.resume_all().unwrap();
        }
    });
    run.assert_exited(6);
    assert_eq!(run.hits, 50);
    assert_eq!(program.output(), "50\n");
}

#[test]
fn steps_follow_the_program() {
    let (program, mut debuggee) = workers(&["-O0"], 1, 1);
    let address = program.address(&debuggee, "work");
    debuggee.insert(address, Owner::Developer).unwrap();
    let mut path = Vec::new();
    debuggee.resume_all().unwrap();
    loop {
        let event = debuggee.wait().unwrap();
        match event {
            StopEvent::Exited { .. } => break,
            StopEvent::Hit { thread, .. } => {
                let back = {
                    let stack = debuggee.registers(thread).unwrap().stack_pointer();
                    debuggee.read_u64(stack).unwrap()
                };
                debuggee.step(thread).unwrap();
                loop {
                    let StopEvent::Stepped { address, .. } = debuggee.wait().unwrap() else {
                        panic!("a step was asked for");
                    };
                    assert_eq!(
                        debuggee.registers(thread).unwrap().instruction_pointer(),
                        address
                    );
                    path.push(address);
                    if address == back {
                        break;
                    }
                    debuggee.step(thread).unwrap();
                }
                debuggee.resume(thread).unwrap();
            }
            event => {
                if let Some(thread) = event.waiting_thread() {
                    debuggee.resume(thread).unwrap();
                }
            }
        }
    }
    assert!(path.len() > 5);
    // Straight-line code: every step goes forward until the return.
    assert!(
        path[..path.len() - 1].is_sorted_by(|a, b| a < b),
        "{path:x?}"
    );
    assert_eq!(program.output(), "1\n");
}

#[test]
fn registers_and_memory_can_be_changed() {
    let (program, mut debuggee) = workers(&["-O1"], 1, 3);
    let address = program.address(&debuggee, "work");
    debuggee.insert(address, Owner::Developer).unwrap();
    run_with(&mut debuggee, |debuggee, event| {
        if let StopEvent::Hit { thread, .. } = *event {
            let mut registers = *debuggee.registers(thread).unwrap();
            registers.set(Register::Rdi, 100);
            debuggee.set_registers(thread, &registers).unwrap();
            assert_eq!(debuggee.registers(thread).unwrap().arguments()[0], 100);
            let mut vectors = debuggee.vector_registers(thread).unwrap();
            vectors.vectors[9] = [7; 16];
            debuggee.set_vector_registers(thread, &vectors).unwrap();
            assert_eq!(debuggee.vector_registers(thread).unwrap(), vectors);
        }
    })
    .assert_exited(0);
    assert_eq!(program.output(), "300\n");
}

#[test]
fn waiting_for_nothing_is_an_error() {
    let (_program, mut debuggee) = workers(&["-O1"], 1, 1);
    assert!(matches!(debuggee.wait(), Err(DebuggeeError::NothingRuns)));
}

#[test]
fn killing_leaves_nothing() {
    let (program, mut debuggee) = workers(&["-O1"], 8, 1_000_000);
    let address = program.address(&debuggee, "work");
    debuggee.insert(address, Owner::Monitor).unwrap();
    debuggee.resume_all().unwrap();
    let mut hits = 0;
    while hits < 20 {
        let event = debuggee.wait().unwrap();
        hits += usize::from(matches!(event, StopEvent::Hit { .. }));
        if let Some(thread) = event.waiting_thread() {
            debuggee.resume(thread).unwrap();
        }
    }
    let process = debuggee.pid();
    let threads: BTreeSet<u32> = debuggee.threads().map(|thread| thread.id.0).collect();
    assert!(threads.len() > 1);
    debuggee.kill().unwrap();
    assert!(!debuggee.is_alive());
    for id in threads.into_iter().chain([process]) {
        assert!(!is_running(id));
    }
}

#[test]
fn another_thread_can_interrupt() {
    let program = compile(
        r#"
        #include <unistd.h>
        int main(void) { for (;;) pause(); }"#,
        &[],
    );
    let mut debuggee = program.start();
    let interrupter = debuggee.interrupter().unwrap();
    let helper = std::thread::spawn(move || interrupter.interrupt());
    debuggee.resume_all().unwrap();
    run_until_interrupted(&mut debuggee);
    helper.join().unwrap();
    debuggee.halt_all().unwrap();
    debuggee.resume_all().unwrap();
    debuggee.interrupter().unwrap().interrupt();
    run_until_interrupted(&mut debuggee);
}

fn run_until_interrupted(debuggee: &mut Debuggee) {
    loop {
        let event = debuggee.wait().unwrap();
        if let StopEvent::Interrupted { .. } = event {
            return;
        }
        debuggee.resume(event.waiting_thread().unwrap()).unwrap();
    }
}

/// Each thread comes to its point again at once: some stop is always there to be handled.
#[test]
fn threads_that_stop_without_a_pause_do_not_delay_a_request() {
    let threads = 4;
    let (program, mut debuggee) = workers(&["-O1"], threads, usize::MAX >> 1);
    let address = program.address(&debuggee, "work");
    debuggee.insert(address, Owner::Monitor).unwrap();
    let interrupter = debuggee.interrupter().unwrap();
    debuggee.resume_all().unwrap();
    for _ in 0..500 {
        for _ in 0..20 {
            let event = debuggee.wait().unwrap();
            debuggee.resume(event.waiting_thread().unwrap()).unwrap();
        }
        interrupter.interrupt();
        let mut others = 0;
        let interrupted = loop {
            match debuggee.wait().unwrap() {
                StopEvent::Interrupted { thread } => break thread,
                event => debuggee.resume(event.waiting_thread().unwrap()).unwrap(),
            }
            others += 1;
        };
        // Each thread may have reported one stop before; the first stop afterwards may come, too.
        assert!(others <= 2 * threads, "{others}");
        debuggee.resume(interrupted).unwrap();
    }
    debuggee.kill().unwrap();
}

#[test]
fn a_detached_program_is_as_it_was() {
    for stops in [0, 1, 50] {
        let (program, mut debuggee) = workers(&["-O1"], 4, 20_000);
        let address = program.address(&debuggee, "work");
        let mut original = [0; 16];
        debuggee.read(address, &mut original).unwrap();
        debuggee.insert(address, Owner::Monitor).unwrap();
        let process = debuggee.pid();
        let memory = std::fs::File::open(format!("/proc/{process}/mem")).unwrap();
        debuggee.resume_all().unwrap();
        let mut hits = 0;
        while hits < stops {
            let event = debuggee.wait().unwrap();
            hits += usize::from(matches!(event, StopEvent::Hit { .. }));
            if hits < stops
                && let Some(thread) = event.waiting_thread()
            {
                debuggee.resume(thread).unwrap();
            }
        }
        debuggee.halt_all().unwrap();
        let mut text = [0; 16];
        let raw = |text: &mut [u8]| {
            std::os::unix::fs::FileExt::read_exact_at(&memory, text, address).unwrap();
        };
        raw(&mut text);
        assert_eq!(text[0], 0xcc);
        debuggee.detach().unwrap();
        // Not ours any more, but still our child: its end can be waited for.
        let mut status = 0;
        // SAFETY: a system call that fills in a live integer.
        let waited = unsafe { libc::waitpid(process as i32, &raw mut status, 0) };
        assert_eq!(waited, process as i32);
        assert!(
            libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0,
            "{status:x}"
        );
        assert_eq!(program.output(), "80000\n");
    }
}

/// Threads that come to a site without a pause must not keep an older one from
/// being taken in: here they wait for it.
#[test]
fn a_busy_thread_starves_no_other() {
    let program = compile(
        r#"
        #include <pthread.h>
        static volatile int turns;
        __attribute__((noinline)) void work(int n) { turns += n; }
        __attribute__((noinline)) void spin(void) { __asm__ volatile("" ::: "memory"); }
        static void *wait_for(void *unused) {
            while (turns < 200) spin();
            return unused;
        }
        static void *take(void *unused) {
            while (turns < 200) work(1);
            return unused;
        }
        int main(void) {
            pthread_t ids[4];
            pthread_create(&ids[0], 0, take, 0);
            for (int i = 1; i < 4; i++) pthread_create(&ids[i], 0, wait_for, 0);
            for (int i = 0; i < 4; i++) pthread_join(ids[i], 0);
            return 0;
        }"#,
        &["-O1"],
    );
    let mut debuggee = start_with_points(&program, &["work", "spin"]);
    let work = program.address(&debuggee, "work");
    let mut fair_selection = 0;
    let run = run_with(&mut debuggee, |_, event| {
        if let StopEvent::Hit { address, .. } = *event {
            fair_selection += usize::from(address == work);
        }
    });
    run.assert_exited(0);
    assert_eq!(fair_selection, 200);
    // Not thousands for each turn.
    assert!(run.hits < 200 * 200, "{} hits", run.hits);
}
