//! A thread forks in a signal handler that interrupted it at a point: the child
//! comes back to the instruction, too, which is still the same execution. So it
//! is, whatever has become of the thread meanwhile.

mod support;

use std::io::{PipeReader, Read};
use std::os::fd::AsRawFd;

use juror_debuggee::{
    Debuggee, Follow, Launch, Notice, Owner, Redirection, SignalReport, SignalTreatment, StepBy,
};
use support::family::run_family;
use support::{Program, compile, run_with};

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
    #define _GNU_SOURCE
    #include <fcntl.h>
    #include <pthread.h>
    #include <sched.h>
    #include <signal.h>
    #include <stdio.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <sys/wait.h>
    #include <unistd.h>
    static char *page;
    static volatile int may_fork, sum;
    static volatile pid_t maker;
    int take(char *from);
    __asm__(".text\n.globl take, take_now\n.type take, @function\n.type take_now, @function\n"
            "take: nop\ntake_now: movl (%rdi), %eax\nret\n");
    __attribute__((noinline)) void work(int n) { sum += n; }
    static void before(int signal) {}
    static void on_fault(int signal) {
        maker = gettid();
        while (!may_fork) sched_yield();
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
    /* Until the debugger could be told of the fork. */
    static void await_maker(void) {
        char path[64], text[256];
        sprintf(path, "/proc/self/task/%d/stat", maker);
        for (;;) {
            int file = open(path, O_RDONLY);
            long length = read(file, text, sizeof text - 1);
            close(file);
            text[length > 0 ? length : 0] = 0;
            char *state = strstr(text, ") ");
            if (state && state[2] == 't') return;
            sched_yield();
        }
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
        if (IS_DEADLY) await_maker();
        END;
        return 0;
    }"#;

/// What becomes of the program, and the state in which its first thread is then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Waits,
    Exits,
    IsKilled,
    IsReplaced,
}

impl End {
    fn program(self) -> Program {
        let end = match self {
            End::Waits => "while (wait(0) < 0) sched_yield()",
            End::Exits => "_exit(0)",
            End::IsKilled => "kill(getpid(), SIGKILL)",
            End::IsReplaced => "execl(argv[0], argv[0], \"again\", (char *)0)",
        };
        let flags = [
            format!("-DEND={end}"),
            format!("-DIS_DEADLY={}", u8::from(self != End::Waits)),
        ];
        compile(READER, &["-O1", &flags[0], &flags[1]])
    }
}

fn start(
    program: &Program,
    follow: Follow,
    (in_place, step_by): (bool, StepBy),
) -> (Debuggee, PipeReader) {
    let (reader, writer) = std::io::pipe().unwrap();
    let output = format!("/dev/fd/{}", writer.as_raw_fd());
    let launch = Launch {
        output: Redirection::File(output.into()),
        in_place,
        step_by,
        ..program.launch()
    };
    let mut debuggee = Debuggee::launch(&launch).unwrap();
    for symbol in ["take_now", "work"] {
        let address = program.address(&debuggee, symbol);
        debuggee.insert(address, Owner::Monitor).unwrap();
    }
    debuggee.set_follow(follow);
    let told = SignalTreatment {
        report: SignalReport::Always,
        deliver: true,
    };
    debuggee.treat_signal(libc::SIGUSR1, told);
    (debuggee, reader)
}

/// At the signal before the fork: lets the thread run, and looks away until the
/// program is at its end.
fn look_away(debuggee: &mut Debuggee, notice: &Notice, end: End) {
    let awaited = match end {
        End::Waits => return,
        End::Exits | End::IsKilled => 't',
        End::IsReplaced => 'D',
    };
    let Notice::Signal { thread, signal, .. } = notice else {
        return;
    };
    if *signal != libc::SIGUSR1 {
        return;
    }
    debuggee.resume(*thread).unwrap();
    let path = format!("/proc/{}/stat", debuggee.pid());
    loop {
        let text = std::fs::read_to_string(&path).unwrap();
        let state = text
            .rsplit_once(") ")
            .and_then(|(_, rest)| rest.chars().next());
        if state == Some(awaited) {
            return;
        }
        std::thread::yield_now();
    }
}

/// What the child said. It ends with the last process that has the pipe: none may
/// be left standing.
fn said(mut reader: PipeReader) -> String {
    let mut said = String::new();
    reader.read_to_string(&mut said).unwrap();
    said
}

/// The hits of the child: both calls of `work`, and the second read.
const OF_CHILD: usize = 3;

#[test]
fn a_followed_child_inherits_the_arrival_of_a_thread_that_is_gone() {
    for end in [End::Waits, End::Exits, End::IsKilled, End::IsReplaced] {
        for way in WAYS {
            let program = end.program();
            let (mut debuggee, reader) = start(&program, Follow::Child, way);
            let (parent, mut hits) = (debuggee.pid(), [0, 0]);
            let run = run_with(&mut debuggee, |debuggee, notice| {
                let is_hit = matches!(notice, Notice::Hit { .. });
                hits[usize::from(debuggee.pid() != parent)] += usize::from(is_hit);
                look_away(debuggee, notice, end);
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
            let program = end.program();
            let (debuggee, reader) = start(&program, Follow::Both, way);
            let parent = debuggee.pid();
            let family = run_family(debuggee, |debuggee, notice| {
                look_away(debuggee, notice, end);
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
