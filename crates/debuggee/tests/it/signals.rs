//! Signals reach the program as without juror, and never repeat an event.

use std::process::Command;

use crate::support::{compile, run, run_with, start_with_points};
use juror_debuggee::{Debuggee, Owner, SignalPolicy, SignalReport, StopEvent};

#[test]
fn a_timer_signal_at_a_point_repeats_nothing() {
    for flags in [&["-O0"][..], &["-O2"][..]] {
        let program = compile(
            r#"
            #include <signal.h>
            #include <stdio.h>
            #include <sys/time.h>
            static volatile long ticks, sum;
            static void tick(int signal) { ticks++; }
            __attribute__((noinline)) void work(long n) { sum += n; }
            int main(void) {
                struct sigaction action = { .sa_handler = tick, .sa_flags = SA_RESTART };
                sigaction(SIGALRM, &action, 0);
                struct itimerval each = {{0, 1000}, {0, 1000}};
                setitimer(ITIMER_REAL, &each, 0);
                long passes = 0;
                while (passes < 3000 || ticks < 20) { work(1); passes++; }
                struct itimerval none = {{0, 0}, {0, 0}};
                setitimer(ITIMER_REAL, &none, 0);
                printf("%ld %ld\n", passes, sum);
                return 0;
            }"#,
            flags,
        );
        let mut debuggee = start_with_points(&program, &["work"]);
        let run = run(&mut debuggee);
        run.assert_exited(0);
        let hits = run.hits;
        assert_eq!(program.output(), format!("{hits} {hits}\n"));
    }
}

#[test]
fn a_point_in_the_handler_and_around_it() {
    let program = compile(
        r#"
        #include <signal.h>
        #include <stdio.h>
        #include <sys/time.h>
        static volatile long ticks, calls;
        __attribute__((noinline)) void work(void) { __atomic_add_fetch(&calls, 1, 5); }
        static void tick(int signal) { ticks++; work(); }
        int main(void) {
            signal(SIGALRM, tick);
            struct itimerval each = {{0, 1000}, {0, 1000}};
            setitimer(ITIMER_REAL, &each, 0);
            while (ticks < 30) work();
            struct itimerval none = {{0, 0}, {0, 0}};
            setitimer(ITIMER_REAL, &none, 0);
            printf("%ld\n", calls);
            return 0;
        }"#,
        &["-O1"],
    );
    let mut debuggee = start_with_points(&program, &["work"]);
    let run = run(&mut debuggee);
    run.assert_exited(0);
    assert_eq!(program.output(), format!("{}\n", run.hits));
}

#[test]
fn a_fatal_signal_is_told_before_it_kills() {
    let program = compile(
        r#"
        int main(void) { *(volatile int *)0x1234 = 1; return 0; }"#,
        &["-O0"],
    );
    let mut debuggee = program.start();
    let mut told = Vec::new();
    let run = run_with(&mut debuggee, |debuggee, event| {
        if let StopEvent::Signal { thread, .. } = event {
            assert!(debuggee.registers(*thread).is_ok());
            told.push(event.clone());
        }
    });
    let [
        StopEvent::Signal {
            signal: libc::SIGSEGV,
            fault_address: Some(0x1234),
            fatal: true,
            code: 1,
            ..
        },
    ] = told[..]
    else {
        panic!("{told:?}");
    };
    assert!(matches!(
        run.end,
        Some(StopEvent::Killed {
            signal: libc::SIGSEGV,
            ..
        })
    ));
}

#[test]
fn a_signal_can_be_kept_from_the_program() {
    let program = compile(
        r#"
        #include <signal.h>
        int main(void) { raise(SIGTERM); return 4; }"#,
        &[],
    );
    let mut debuggee = program.start();
    run_with(&mut debuggee, |debuggee, event| {
        if let StopEvent::Signal { thread, .. } = event {
            debuggee.set_delivery(*thread, false).unwrap();
        }
    })
    .assert_exited(4);
}

#[test]
fn caught_signals_are_told_on_demand_with_their_information() {
    let program = compile(
        r#"
        #include <signal.h>
        #include <stdio.h>
        #include <unistd.h>
        static volatile int value;
        static void handle(int signal, siginfo_t *information, void *context) {
            value = information->si_value.sival_int;
        }
        int main(void) {
            struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO };
            sigaction(SIGRTMIN + 3, &action, 0);
            sigqueue(getpid(), SIGRTMIN + 3, (union sigval){ .sival_int = 77 });
            printf("%d\n", value);
            return 0;
        }"#,
        &[],
    );
    let signal = libc::SIGRTMIN() + 3;
    for (report, deliver, told, output) in [
        (SignalReport::Always, true, 1, "77\n"),
        (SignalReport::Always, false, 1, "0\n"),
        (SignalReport::Never, false, 0, "0\n"),
        (SignalReport::WhenFatal, true, 0, "77\n"),
    ] {
        let mut debuggee = program.start();
        debuggee.set_signal_policy(signal, SignalPolicy { report, deliver });
        let run = run(&mut debuggee);
        run.assert_exited(0);
        assert_eq!(program.output(), output);
        let is_meant = |event: &&StopEvent| matches!(event, StopEvent::Signal { signal: told, fatal: false, .. } if *told == signal);
        assert_eq!(run.events.iter().filter(is_meant).count(), told);
    }
}

/// The first instruction of `load` faults; the handler makes its page
/// readable and the instruction is repeated.
#[test]
fn a_fault_at_a_point_that_is_repaired_is_one_event() {
    let program = compile(
        r#"
        #define _GNU_SOURCE
        #include <signal.h>
        #include <stdio.h>
        #include <sys/mman.h>
        #include <ucontext.h>
        extern int load(int *);
        __asm__(".globl load\n.type load,@function\nload: movl (%rdi), %eax\nret\n");
        static char *page;
        static unsigned long faulted_at;
        static void repair(int signal, siginfo_t *information, void *context) {
            faulted_at = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
            mprotect(page, 4096, PROT_READ | PROT_WRITE);
        }
        int main(void) {
            page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            *(int *)page = 5;
            struct sigaction action = { .sa_sigaction = repair, .sa_flags = SA_SIGINFO };
            sigaction(SIGSEGV, &action, 0);
            int good = 0;
            for (int i = 0; i < 10; i++) {
                mprotect(page, 4096, PROT_NONE);
                faulted_at = 0;
                good += load((int *)page) == 5 && faulted_at == (unsigned long)load;
                good += load((int *)page) == 5;
            }
            printf("%d\n", good);
            return 0;
        }"#,
        &["-O1"],
    );
    let mut debuggee = start_with_points(&program, &["load"]);
    let run = run(&mut debuggee);
    run.assert_exited(0);
    assert_eq!(program.output(), "20\n");
    assert_eq!(run.hits, 20);
}

#[test]
fn traps_of_the_program_are_the_programs() {
    let program = compile(
        r#"
        #include <signal.h>
        #include <stdio.h>
        static volatile int traps;
        static void trap(int signal) { traps++; }
        extern void own(void);
        __asm__(".globl own\n.type own,@function\nown: int3\nret\n");
        int main(void) {
            signal(SIGTRAP, trap);
            for (int i = 0; i < 10; i++) own();
            raise(SIGTRAP);
            printf("%d\n", traps);
            return 0;
        }"#,
        &[],
    );
    let mut debuggee = program.start();
    run(&mut debuggee).assert_exited(0);
    assert_eq!(program.output(), "11\n");

    let mut debuggee = start_with_points(&program, &["own"]);
    let run = run(&mut debuggee);
    run.assert_exited(0);
    assert_eq!(program.output(), "11\n");
    assert_eq!(run.hits, 10);
}

#[test]
fn job_control_stops_and_continues() {
    let program = compile(
        r#"
        #include <pthread.h>
        #include <signal.h>
        #include <stdio.h>
        #include <sys/wait.h>
        #include <unistd.h>
        static void *spin(void *unused) { pause(); return unused; }
        int main(void) {
            pthread_t thread;
            pthread_create(&thread, 0, spin, 0);
            pid_t self = getpid(), child = fork();
            if (!child) {
                char path[64], state;
                snprintf(path, sizeof path, "/proc/%d/stat", self);
                // Goes on only when the parent is seen stopped by job control.
                do {
                    FILE *file = fopen(path, "r");
                    fscanf(file, "%*d %*s %c", &state);
                    fclose(file);
                } while (state != 'T' && state != 't');
                kill(self, SIGCONT);
                _exit(0);
            }
            raise(SIGSTOP);
            int status;
            waitpid(child, &status, 0);
            puts("continued");
            return 0;
        }"#,
        &[],
    );
    let mut debuggee = program.start();
    run(&mut debuggee).assert_exited(0);
    assert_eq!(program.output(), "continued\n");
}

/// Two signals that come between a report and the step in place: neither may
/// keep the thread from making it, and each keeps the name of its sender.
#[test]
fn signals_that_meet_at_a_step_are_all_delivered() {
    let program = compile(
        r#"
        #include <signal.h>
        #include <stdio.h>
        static int senders[2][5], handled[2];
        static void on_signal(int signal, siginfo_t *information, void *context) {
            int second = signal == SIGUSR2;
            senders[second][handled[second]++] = information->si_pid;
        }
        __attribute__((noinline)) void work(volatile int *n) { ++*n; }
        int main(void) {
            struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
            sigaction(SIGUSR1, &action, 0);
            sigaction(SIGUSR2, &action, 0);
            for (volatile int n = 0; n < 5;) work(&n);
            for (int i = 0; i < 5; i++) printf("%d %d\n", senders[0][i], senders[1][i]);
            return 0;
        }"#,
        &["-O1"],
    );
    for in_place in [false, true] {
        let mut launch = program.launch();
        launch.in_place = in_place;
        let mut debuggee = Debuggee::launch(&launch).unwrap();
        let address = program.address(&debuggee, "work");
        debuggee.insert(address, Owner::Monitor).unwrap();
        let mut senders = String::new();
        let run = run_with(&mut debuggee, |debuggee, event| {
            if let StopEvent::Hit { .. } = event {
                let process = debuggee.pid();
                let script = format!("kill -USR1 {process}; kill -USR2 {process}");
                let mut sender = Command::new("sh").args(["-c", &script]).spawn().unwrap();
                assert!(sender.wait().unwrap().success());
                senders += &format!("{0} {0}\n", sender.id());
            }
        });
        run.assert_exited(0);
        assert_eq!(program.output(), senders, "in place: {in_place}");
        assert_eq!(run.hits, 5, "in place: {in_place}");
    }
}

/// A program that is stepped to its end runs its handlers all the same, and a
/// signal at a point that has been told repeats nothing.
#[test]
fn signals_reach_a_program_that_is_stepped_all_the_way() {
    let program = compile(
        r#"
        #include <signal.h>
        #include <stdio.h>
        static volatile int handled;
        static void on_signal(int signal) { handled++; }
        __attribute__((noinline)) void work(volatile int *n) { ++*n; }
        int main(void) {
            signal(SIGUSR1, on_signal);
            for (volatile int n = 0; n < 5;) work(&n);
            printf("%d\n", handled);
            return handled != 5;
        }"#,
        &["-O1"],
    );
    for in_place in [false, true] {
        let mut launch = program.launch();
        launch.in_place = in_place;
        let mut debuggee = Debuggee::launch(&launch).unwrap();
        let address = program.address(&debuggee, "work");
        let handler = program.address(&debuggee, "on_signal");
        debuggee.insert(address, Owner::Developer).unwrap();
        debuggee.resume_all().unwrap();
        let (mut hits, mut entries) = (0, 0);
        let end = loop {
            let event = debuggee.wait().unwrap();
            match event {
                StopEvent::Hit { .. } => {
                    hits += 1;
                    let process = debuggee.pid();
                    let script = format!("kill -USR1 {process}");
                    let mut sender = Command::new("sh").args(["-c", &script]).spawn().unwrap();
                    assert!(sender.wait().unwrap().success());
                }
                StopEvent::Stepped { address, .. } => entries += u32::from(address == handler),
                StopEvent::Exited { .. } | StopEvent::Killed { .. } => break event,
                _ => {}
            }
            if let Some(thread) = event.waiting_thread() {
                match hits {
                    0 => debuggee.resume(thread).unwrap(),
                    _ => debuggee.step(thread).unwrap(),
                }
            }
        };
        assert_eq!(end, StopEvent::Exited { status: 0 }, "in place: {in_place}");
        assert_eq!((hits, entries), (5, 5), "in place: {in_place}");
        assert_eq!(program.output(), "5\n");
    }
}
