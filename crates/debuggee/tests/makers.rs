//! A thread is killed while it makes a process, before anybody has told of that:
//! the process is followed, or debugged too, as any other.

mod support;

use std::io::{PipeReader, Read};
use std::os::fd::AsRawFd;

use juror_debuggee::{Debuggee, Follow, Launch, Notice, Owner, Redirection};
use support::family::run_family;
use support::{Program, compile, run_with};

/// A thread forks, and stops to tell of it; then the first one ends the program,
/// or replaces it. Each child says so when it ends as it should. With `EARLIER`
/// there is one already, which lasts longer than its parent.
const MAKER: &str = r#"
    #define _GNU_SOURCE
    #include <fcntl.h>
    #include <pthread.h>
    #include <sched.h>
    #include <signal.h>
    #include <stdio.h>
    #include <string.h>
    #include <unistd.h>
    static volatile int may_fork, sum;
    static volatile pid_t maker;
    __attribute__((noinline)) void work(int n) { sum += n; }
    __attribute__((noinline)) void before(void) { __asm__ volatile(""); }
    static void be_child(void) {
        sum = 0;
        work(1);
        work(2);
        if (sum == 3) write(1, "c", 1);
        _exit(3);
    }
    static void *make(void *unused) {
        maker = gettid();
        while (!may_fork) sched_yield();
        if (!fork()) be_child();
        for (;;) pause();
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
        pid_t parent = getpid();
        if (argc > 1) return 0;
        if (EARLIER && !fork()) {
            while (getppid() == parent) sched_yield();
            be_child();
        }
        pthread_create(&thread, 0, make, 0);
        while (!maker) sched_yield();
        before();
        may_fork = 1;
        await_maker();
        END;
        return 0;
    }"#;

/// How the program ends, and the state in which its first thread waits then for
/// what the debugger does.
#[derive(Debug, Clone, Copy)]
enum End {
    Exits,
    IsKilled,
    IsReplaced,
}

impl End {
    fn program(self, is_earlier: bool) -> Program {
        let end = match self {
            End::Exits => "_exit(0)",
            End::IsKilled => "kill(getpid(), SIGKILL)",
            End::IsReplaced => "execl(argv[0], argv[0], \"again\", (char *)0)",
        };
        let flags = [
            format!("-DEND={end}"),
            format!("-DEARLIER={}", u8::from(is_earlier)),
        ];
        compile(MAKER, &["-O1", &flags[0], &flags[1]])
    }

    /// At the stop before its end, or waiting for the end of the other thread.
    fn state(self) -> char {
        match self {
            End::Exits | End::IsKilled => 't',
            End::IsReplaced => 'D',
        }
    }
}

/// Starts it with points, and a pipe of which every process has the end that is
/// written to.
fn start(program: &Program, follow: Follow) -> (Debuggee, PipeReader) {
    let (reader, writer) = std::io::pipe().unwrap();
    let output = format!("/dev/fd/{}", writer.as_raw_fd());
    let launch = Launch {
        output: Redirection::File(output.into()),
        ..program.launch()
    };
    let mut debuggee = Debuggee::launch(&launch).unwrap();
    for symbol in ["work", "before"] {
        let address = program.address(&debuggee, symbol);
        debuggee.insert(address, Owner::Monitor).unwrap();
    }
    debuggee.set_follow(follow);
    (debuggee, reader)
}

/// At the point before the fork: lets the thread run, and looks away until the
/// program is at its end.
fn look_away(debuggee: &mut Debuggee, notice: &Notice, before: u64, end: End) {
    let Notice::Hit {
        thread, address, ..
    } = notice
    else {
        return;
    };
    if *address != before {
        return;
    }
    debuggee.resume(*thread).unwrap();
    let path = format!("/proc/{}/stat", debuggee.pid());
    loop {
        let text = std::fs::read_to_string(&path).unwrap();
        let state = text
            .rsplit_once(") ")
            .and_then(|(_, rest)| rest.chars().next());
        if state == Some(end.state()) {
            return;
        }
        std::thread::yield_now();
    }
}

/// What the children said. It ends with the last process that has the pipe: none
/// may be left standing.
fn said(mut reader: PipeReader) -> String {
    let mut said = String::new();
    reader.read_to_string(&mut said).unwrap();
    said
}

/// How the debuggee ends that is told to follow children, and how often it came
/// to the point in the child.
#[track_caller]
fn check_followed(end: End, status: i32, expected: usize) {
    let program = end.program(false);
    let (mut debuggee, reader) = start(&program, Follow::Child);
    let before = program.address(&debuggee, "before");
    let (parent, mut hits) = (debuggee.pid(), 0);
    let run = run_with(&mut debuggee, |debuggee, notice| {
        let is_hit = matches!(notice, Notice::Hit { .. });
        hits += usize::from(is_hit && debuggee.pid() != parent);
        look_away(debuggee, notice, before, end);
    });
    drop(debuggee);
    assert_eq!(said(reader), "c", "{end:?}");
    assert_eq!(hits, expected, "{end:?}");
    run.assert_exited(status);
}

#[test]
fn the_child_of_a_process_that_ends_is_followed() {
    check_followed(End::Exits, 3, 2);
    check_followed(End::IsKilled, 3, 2);
}

/// The new program runs without the debugger.
#[test]
fn the_child_of_a_program_that_is_replaced_is_followed() {
    check_followed(End::IsReplaced, 3, 2);
}

/// All children are debugged, too, with and without one that was there before.
#[track_caller]
fn check_family(end: End) {
    for is_earlier in [false, true] {
        let program = end.program(is_earlier);
        let (debuggee, reader) = start(&program, Follow::Both);
        let before = program.address(&debuggee, "before");
        let parent = debuggee.pid();
        let family = run_family(debuggee, |debuggee, notice| {
            look_away(debuggee, notice, before, end);
        });
        let children = 1 + usize::from(is_earlier);
        assert_eq!(said(reader), "c".repeat(children), "{end:?}");
        assert_eq!(family.joined.len(), children, "{end:?}");
        let own = family
            .hits
            .iter()
            .filter(|(process, _)| **process != parent);
        let own: Vec<usize> = own.map(|(_, hits)| *hits).collect();
        assert_eq!(own, vec![2; children], "{end:?}");
        let mut statuses = vec![3; children];
        statuses.insert(0, 0);
        assert_eq!(family.statuses(), statuses, "{end:?}");
    }
}

#[test]
fn the_children_of_a_process_that_ends_are_debugged_too() {
    check_family(End::Exits);
}

#[test]
fn the_children_of_a_program_that_is_replaced_are_debugged_too() {
    check_family(End::IsReplaced);
}
