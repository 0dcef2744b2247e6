//! A thread is killed while it makes a process, before anybody has told of that:
//! the process is followed, or debugged too, as any other.

use crate::support::doomed::{End, said, start};
use crate::support::family::run_family;
use crate::support::{Program, run_with};
use juror_debuggee::{Debuggee, Follow, StopEvent};

/// A thread forks, and stops to tell of it; then the first one ends the program,
/// or replaces it. Each child says so when it ends as it should. With `EARLIER`
/// there is one already, which lasts longer than its parent.
const MAKER: &str = r#"
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

const POINTS: [&str; 2] = ["work", "before"];

fn program(end: End, is_earlier: bool) -> Program {
    end.program(MAKER, &format!("-DEARLIER={}", u8::from(is_earlier)))
}

/// At the point before the fork: looks away until the program is at its end.
fn look_away(debuggee: &mut Debuggee, event: &StopEvent, before: u64, end: End) {
    match *event {
        StopEvent::Hit {
            thread, address, ..
        } if address == before => end.look_away(debuggee, thread),
        _ => {}
    }
}

/// How the debuggee ends that is told to follow children, and how often it came
/// to the point in the child.
#[track_caller]
fn check_followed(end: End, status: i32, expected: usize) {
    let program = program(end, false);
    let (mut debuggee, reader) = start(&program, program.launch(), POINTS);
    debuggee.set_follow(Follow::Child);
    let before = program.address(&debuggee, "before");
    let (parent, mut hits) = (debuggee.pid(), 0);
    let run = run_with(&mut debuggee, |debuggee, event| {
        let is_hit = matches!(event, StopEvent::Hit { .. });
        hits += usize::from(is_hit && debuggee.pid() != parent);
        look_away(debuggee, event, before, end);
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
        let program = program(end, is_earlier);
        let (mut debuggee, reader) = start(&program, program.launch(), POINTS);
        debuggee.set_follow(Follow::Both);
        let before = program.address(&debuggee, "before");
        let parent = debuggee.pid();
        let family = run_family(debuggee, |debuggee, event| {
            look_away(debuggee, event, before, end);
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
