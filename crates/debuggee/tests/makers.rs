//! A thread is killed while it makes a process, before anybody has told of that:
//! the process is followed, or debugged too, as any other.

mod support;

use std::io::Read;
use std::os::fd::AsRawFd;

use juror_debuggee::{Debuggee, Follow, Launch, Notice, Owner, Redirection};
use support::family::run_family;
use support::{Program, compile, run_with};

/// Ends, or replaces itself, while one thread forks and another keeps the
/// debugger busy. Each child says so when it ends as it should.
const MAKER: &str = r#"
    #include <pthread.h>
    #include <stdlib.h>
    #include <unistd.h>
    static volatile int is_ready, sum;
    __attribute__((noinline)) void work(int n) { sum += n; }
    static void *pass(void *unused) {
        for (;;) work(0);
        return unused;
    }
    static void *make(void *unused) {
        is_ready = 1;
        for (int i = 0; i < CHILDREN; i++) {
            if (fork()) continue;
            sum = 0;
            work(1);
            work(2);
            if (sum == 3) write(1, "c", 1);
            _exit(3);
        }
        for (;;) pause();
        return unused;
    }
    int main(int argc, char **argv) {
        pthread_t thread;
        if (argc > 2) return 0;
        pthread_create(&thread, 0, pass, 0);
        pthread_create(&thread, 0, make, 0);
        while (!is_ready);
        for (volatile int i = atoi(argv[1]); i > 0; i--);
        if (IS_REPLACED) execl(argv[0], argv[0], "0", "again", (char *)0);
        return 0;
    }"#;

fn maker(children: usize, is_replaced: bool) -> Program {
    let flags = [
        format!("-DCHILDREN={children}"),
        format!("-DIS_REPLACED={}", u8::from(is_replaced)),
    ];
    compile(MAKER, &["-O1", &flags[0], &flags[1]])
}

/// Starts it with a point, and a pipe of which every process has the end that is
/// written to.
fn start(program: &Program, delay: usize, follow: Follow) -> (Debuggee, std::io::PipeReader) {
    let (reader, writer) = std::io::pipe().unwrap();
    let output = format!("/dev/fd/{}", writer.as_raw_fd());
    let launch = Launch {
        arguments: vec![delay.to_string().into()],
        output: Redirection::File(output.into()),
        ..program.launch()
    };
    let mut debuggee = Debuggee::launch(&launch).unwrap();
    let work = program.address(&debuggee, "work");
    debuggee.insert(work, Owner::Monitor).unwrap();
    debuggee.set_follow(follow);
    (debuggee, reader)
}

/// What the children said. It ends with the last process that has the pipe: none
/// may be left standing.
fn said(mut reader: std::io::PipeReader) -> String {
    let mut said = String::new();
    reader.read_to_string(&mut said).unwrap();
    said
}

/// How long the program runs in each round: from nothing to more than it needs.
fn delays() -> impl Iterator<Item = usize> {
    (0..60).map(|round| round * 3000)
}

#[test]
fn the_child_of_a_process_that_ends_is_followed() {
    let program = maker(1, false);
    for delay in delays() {
        let (mut debuggee, reader) = start(&program, delay, Follow::Child);
        let (parent, mut hits) = (debuggee.pid(), 0);
        let run = run_with(&mut debuggee, |debuggee, notice| {
            let is_hit = matches!(notice, Notice::Hit { .. });
            hits += usize::from(is_hit && debuggee.pid() != parent);
        });
        drop(debuggee);
        let (status, passes, words) = match hits {
            0 => (0, 0, ""),
            _ => (3, 2, "c"),
        };
        assert_eq!((hits, said(reader).as_str()), (passes, words), "{delay}");
        run.assert_exited(status);
    }
}

#[track_caller]
fn check_family(is_replaced: bool) {
    let program = maker(5, is_replaced);
    for delay in delays() {
        let (debuggee, reader) = start(&program, delay, Follow::Both);
        let parent = debuggee.pid();
        let family = run_family(debuggee, |_, _| {});
        let children = family.joined.len();
        assert_eq!(said(reader), "c".repeat(children), "{delay}");
        let mut expected = vec![0];
        expected.resize(1 + children, 3);
        assert_eq!(family.statuses(), expected, "{delay}");
        let own = family
            .hits
            .iter()
            .filter(|(process, _)| **process != parent);
        assert!(own.clone().all(|(_, hits)| *hits == 2), "{delay}");
        assert_eq!(own.count(), children, "{delay}");
    }
}

#[test]
fn the_children_of_a_process_that_ends_are_debugged_too() {
    check_family(false);
}

#[test]
fn the_children_of_a_program_that_is_replaced_are_debugged_too() {
    check_family(true);
}
