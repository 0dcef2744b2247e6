//! A thread forks in a signal handler that interrupted it at a point: the child
//! comes back to the instruction, too, which is still the same execution. So it
//! is, whatever has become of the thread meanwhile.
//!
//! The system calls of such a handler are traced. So the test looks away from where
//! the thread enters the call that forks.

use std::io::PipeReader;

use crate::support::doomed::{self, End, said};
use crate::support::family::run_family;
use crate::support::{Program, run_with};
use juror_debuggee::{
    Debuggee, Follow, Launch, SignalPolicy, SignalReport, StepBy, StopEvent, SystemCallPhase,
    SystemCalls,
};

/// Every way to pass a site and to step.
const WAYS: [(bool, StepBy); 3] = [
    (false, StepBy::TraceFlag),
    (true, StepBy::TraceFlag),
    (true, StepBy::FollowSet),
];

/// A thread reads from a page that cannot be read, and the handler of the fault
/// forks. The child makes the page good and goes back, and reads once more. Then
/// the first thread ends the program, replaces it, or waits for the child.
const READER: &str = r#"
    static char *page;
    int take(char *from);
    __asm__(".text\n.globl take, take_now\n.type take, @function\n.type take_now, @function\n"
            "take: nop\ntake_now: movl (%rdi), %eax\nret\n");
    static void before(int signal) {}
    static void await_child(void) {
        char path[64], child;
        sprintf(path, "/proc/self/task/%d/children", maker);
        for (;;) {
            int file = open(path, O_RDONLY);
            long length = read(file, &child, 1);
            close(file);
            if (length > 0) return;
            sched_yield();
        }
    }
    static void on_fault(int signal) {
        maker = gettid();
        while (!may_fork) {}
        if (!fork()) {
            mprotect(page, 4096, PROT_READ | PROT_WRITE);
            return;
        }
        for (;;) pause();
    }
    static void *make(void *unused) {
        sum = take(page);
        work(1);
        sum += take(page);
        work(2);
        if (sum == 3) write(1, "c", 1);
        _exit(3);
        return unused;
    }
    int main(int argc, char **argv) {
        pthread_t thread;
        if (argc > 1) return 0;
        alarm(60);
        page = mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        signal(SIGSEGV, on_fault);
        signal(SIGUSR1, before);
        pthread_create(&thread, 0, make, 0);
        while (!maker) sched_yield();
        raise(SIGUSR1);
        may_fork = 1;
        if (IS_DEADLY) await_child();
        END;
        return 0;
    }"#;

fn program(end: End) -> Program {
    let is_deadly = u8::from(end != End::Waits);
    end.program(READER, &format!("-DIS_DEADLY={is_deadly}"))
}

fn start(
    program: &Program,
    follow: Follow,
    (in_place, step_by): (bool, StepBy),
) -> (Debuggee, PipeReader) {
    let launch = Launch {
        in_place,
        step_by,
        ..program.launch()
    };
    let (mut debuggee, reader) = doomed::start(program, launch, ["take_now", "work"]);
    debuggee.set_follow(follow);
    let told = SignalPolicy {
        report: SignalReport::Always,
        deliver: true,
    };
    debuggee.set_signal_policy(libc::SIGUSR1, told);
    (debuggee, reader)
}

/// Lets the first thread go on before the fork, and looks away at the entry into that
/// until the program is at its end.
fn look_away(debuggee: &mut Debuggee, event: &StopEvent, end: End) {
    let forks = [libc::SYS_clone, libc::SYS_fork].map(|number| number as u64);
    match *event {
        StopEvent::Signal { thread, signal, .. } if signal == libc::SIGUSR1 => {
            // Its own calls are not traced.
            debuggee.resume(thread).unwrap();
            debuggee.catch_system_calls(SystemCalls::Only(forks.into()));
        }
        StopEvent::SystemCall {
            thread,
            phase: SystemCallPhase::Entry { .. },
            ..
        } => end.look_away(debuggee, thread),
        _ => {}
    }
}

/// The hits of the child: both calls of `work`, and the second read.
const OF_CHILD: usize = 3;

#[test]
fn a_followed_child_inherits_the_arrival_of_a_thread_that_is_gone() {
    for end in [End::Waits, End::Exits, End::IsKilled, End::IsReplaced] {
        for way in WAYS {
            let program = program(end);
            let (mut debuggee, reader) = start(&program, Follow::Child, way);
            let (parent, mut hits) = (debuggee.pid(), [0, 0]);
            let run = run_with(&mut debuggee, |debuggee, event| {
                let is_hit = matches!(event, StopEvent::Hit { .. });
                hits[usize::from(debuggee.pid() != parent)] += usize::from(is_hit);
                look_away(debuggee, event, end);
            });
            drop(debuggee);
            assert_eq!(said(reader), "c", "{end:?} {way:?}");
            assert_eq!(hits, [1, OF_CHILD], "{end:?} {way:?}");
            run.assert_exited(3);
        }
    }
}

#[test]
fn a_child_that_is_debugged_too_inherits_the_arrival() {
    for end in [End::Waits, End::Exits, End::IsReplaced] {
        for way in WAYS {
            let program = program(end);
            let (debuggee, reader) = start(&program, Follow::Both, way);
            let parent = debuggee.pid();
            let family = run_family(debuggee, |debuggee, event| {
                look_away(debuggee, event, end);
            });
            assert_eq!(said(reader), "c", "{end:?} {way:?}");
            let children = family.hits.iter().filter(|(it, _)| **it != parent);
            let children: Vec<usize> = children.map(|(_, hits)| *hits).collect();
            assert_eq!(children, [OF_CHILD], "{end:?} {way:?}");
            assert_eq!(family.hits[&parent], 1, "{end:?} {way:?}");
            assert_eq!(family.statuses(), [0, 3], "{end:?} {way:?}");
        }
    }
}
