//! Live runs are paths of the engine's model.

use crate::support::bare::Bare;
use crate::support::{compile, run_with};
use juror_debuggee::{Attach, Debuggee, Owner, SelfCheck, StepBy, StopEvent};

/// Threads that come and go, with a timer's signals, through two functions and
/// a system call.
const LOAD: &str = r#"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
static volatile long sum, handled;
__attribute__((noinline)) void work(long n) { __atomic_add_fetch(&sum, n, 5); }
__attribute__((noinline)) void handle(int n) { __atomic_add_fetch(&handled, 1, 5); }
static void on_alarm(int number) { handle(number); }
static void *run(void *unused) {
    for (long i = 0; i < 100; i++) work(1);
    return unused;
}
int main(void) {
    signal(SIGALRM, on_alarm);
    struct itimerval every_ms = { { 0, 1000 }, { 0, 1000 } };
    setitimer(ITIMER_REAL, &every_ms, 0);
    pthread_t ids[4];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 4; i++) pthread_create(&ids[i], 0, run, 0);
        for (int i = 0; i < 4; i++) pthread_join(ids[i], 0);
    }
    struct itimerval never = { 0 };
    setitimer(ITIMER_REAL, &never, 0);
    printf("%ld %ld\n", sum, handled);
    return 0;
}
"#;

#[test]
fn threads_and_signals_are_a_path_of_the_model() {
    let program = compile(LOAD, &["-O1"]);
    for (in_place, step_by) in [
        (false, StepBy::TraceFlag),
        (true, StepBy::TraceFlag),
        (true, StepBy::FollowSet),
    ] {
        let log = program.directory.path().join("log");
        let check = SelfCheck::with_log(&log).unwrap();
        let mut launch = program.launch();
        launch.in_place = in_place;
        launch.step_by = step_by;
        launch.self_check = Some(check.clone());
        let mut debuggee = Debuggee::launch(&launch).unwrap();
        let work = program.address(&debuggee, "work");
        let handle = program.address(&debuggee, "handle");
        let run = program.address(&debuggee, "run");
        debuggee.insert(run, Owner::Monitor).unwrap();
        debuggee.insert(work, Owner::Monitor).unwrap();
        debuggee.insert(handle, Owner::Monitor).unwrap();
        let (mut works, mut handles) = (0, 0);
        run_with(&mut debuggee, |debuggee, event| {
            let StopEvent::Hit { address, .. } = *event else {
                return;
            };
            works += usize::from(address == work);
            handles += usize::from(address == handle);
            // What monitors do all the time: give a point back, and want it.
            if (works + handles) % 7 == 0 {
                debuggee.remove(run, Owner::Monitor).unwrap();
                debuggee.insert(run, Owner::Monitor).unwrap();
            }
        })
        .assert_exited(0);
        drop(debuggee);
        assert_eq!(program.output(), format!("{works} {handles}\n"));
        let report = check.report();
        assert_eq!((report.violation, report.log_error), (None, None));
        assert!(report.inputs > 2000, "{}", report.inputs);
        // The log says the same to everybody who reads it.
        let text = std::fs::read_to_string(&log).unwrap();
        assert_eq!(juror_stepping::check_log(text.lines()), Ok(report.inputs));
        let lost = text.lines().position(|line| line.contains("report"));
        let damaged = text.lines().enumerate();
        let damaged = damaged.filter(|(number, _)| Some(*number) != lost);
        juror_stepping::check_log(damaged.map(|(_, line)| line)).unwrap_err();
    }
}

/// Threads that pass two functions until they are told to end.
const SERVICE: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static volatile int done;
__attribute__((noinline)) long leaf(long n) { __asm__ volatile(""); return n + 1; }
__attribute__((noinline)) long work(long n) { return leaf(n) + leaf(n); }
static void *run(void *unused) {
    while (!done) work(1);
    return unused;
}
int main(void) {
    pthread_t ids[3];
    for (int i = 0; i < 3; i++) pthread_create(&ids[i], 0, run, 0);
    puts("ready");
    fflush(stdout);
    char byte;
    while (read(0, &byte, 1) == 1) {}
    done = 1;
    for (int i = 0; i < 3; i++) pthread_join(ids[i], 0);
    return 5;
}
"#;

#[test]
fn an_attached_process_is_a_path_of_the_model_too() {
    let program = compile(SERVICE, &["-O1"]);
    for (in_place, step_by) in [
        (false, StepBy::TraceFlag),
        (true, StepBy::TraceFlag),
        (true, StepBy::FollowSet),
    ] {
        let bare = Bare::start(&program, &[]);
        let text = bare.bytes_at(&program, "leaf");
        let check = SelfCheck::new();
        let mut debuggee = Debuggee::attach(&Attach {
            in_place,
            step_by,
            self_check: Some(check.clone()),
            ..Attach::new(bare.process())
        })
        .unwrap();
        for symbol in ["work", "leaf"] {
            let address = program.address(&debuggee, symbol);
            debuggee.insert(address, Owner::Monitor).unwrap();
        }
        debuggee.resume_all().unwrap();
        let (mut hits, mut steps) = (0, 0);
        while hits < 600 {
            match debuggee.wait().unwrap() {
                StopEvent::Hit { thread, .. } => {
                    hits += 1;
                    match hits % 5 {
                        0 => debuggee.step(thread).unwrap(),
                        _ => debuggee.resume(thread).unwrap(),
                    }
                }
                StopEvent::Stepped { thread, .. } => {
                    steps += 1;
                    debuggee.resume(thread).unwrap();
                }
                event => panic!("{event:?}"),
            }
        }
        debuggee.detach().unwrap();
        assert_eq!(bare.bytes_at(&program, "leaf"), text);
        assert_eq!(bare.finish(), "status 5\n");
        assert!(steps > 100, "{steps}");
        let report = check.report();
        assert_eq!((report.violation, report.log_error), (None, None));
        assert!(report.inputs > 1000, "{}", report.inputs);
    }
}
