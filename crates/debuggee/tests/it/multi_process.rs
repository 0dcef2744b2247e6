//! Several debuggees at a time: a program and the processes that it makes.

use crate::support::family::run_family;
use crate::support::{Program, await_stop, compile, is_free, is_running};
use juror_debuggee::{Debuggee, FairWaiter, Follow, ForkKind, Owner, SelfCheck, StopEvent};

/// The program with points at `work`, whose children are debugged, too.
fn start(program: &Program) -> Debuggee {
    let mut debuggee = crate::support::start_with_points(program, &["work"]);
    debuggee.set_follow(Follow::Both);
    debuggee
}

/// Every process of a tree works as often as it is deep, and counts the
/// children that did not end well.
const TREE: &str = r#"
    #include <stdio.h>
    #include <sys/wait.h>
    #include <unistd.h>
    static volatile int count;
    __attribute__((noinline)) void work(volatile int *count) { ++*count; }
    static int grow(int depth) {
        int wrong = 0;
        pid_t children[3];
        count = 0;
        for (int i = 0; i < depth; i++) work(&count);
        if (depth == 3) return count != 3;
        for (int i = 0; i < 3; i++) {
            children[i] = fork();
            if (!children[i]) _exit(grow(depth + 1));
        }
        for (int i = 0; i < 100; i++) work(&count);
        for (int i = 0; i < 3; i++) {
            int status;
            waitpid(children[i], &status, 0);
            wrong += status != 0;
        }
        return wrong + (count != depth + 100);
    }
    int main(void) { return grow(0); }"#;

/// One process without depth, three of depth 1, nine of 2, 27 of 3; all but
/// the last work 100 times more.
const TREE_HITS: usize = 3 + 9 * 2 + 27 * 3 + 13 * 100;

#[test]
fn every_process_of_a_tree_is_seen() {
    let program = compile(TREE, &["-O1"]);
    let family = run_family(start(&program), |_, _| {});
    assert_eq!(family.statuses(), [0; 40]);
    assert_eq!(family.total(), TREE_HITS);
    assert_eq!(family.joined, [ForkKind::Fork; 39]);
}

#[test]
fn sites_are_passed_in_place_and_checked_in_every_process() {
    let program = compile(TREE, &["-O1"]);
    for in_place in [false, true] {
        let check = SelfCheck::new();
        let mut launch = program.launch();
        launch.in_place = in_place;
        launch.self_check = Some(check.clone());
        let mut debuggee = Debuggee::launch(&launch).unwrap();
        let work = program.address(&debuggee, "work");
        debuggee.insert(work, Owner::Monitor).unwrap();
        debuggee.set_follow(Follow::Both);
        let family = run_family(debuggee, |_, _| {});
        assert_eq!(family.total(), TREE_HITS);
        assert_eq!(check.report().violation, None);
    }
}

#[test]
fn threads_may_fork_while_others_come_to_points() {
    let program = compile(
        r#"
        #include <pthread.h>
        #include <sys/wait.h>
        #include <unistd.h>
        __attribute__((noinline)) void work(volatile int *count) { ++*count; }
        static void *fork_and_work(void *unused) {
            volatile int count = 0, wrong = 0;
            for (int i = 0; i < 10; i++) {
                work(&count);
                pid_t child = fork();
                if (!child) {
                    for (int n = 0; n < 5; n++) work(&count);
                    _exit(count == i + 6 ? 0 : 1);
                }
                int status;
                waitpid(child, &status, 0);
                wrong += status != 0;
            }
            return (void *)(long)wrong;
        }
        static void *only_work(void *unused) {
            volatile int count = 0;
            for (int i = 0; i < 1000; i++) work(&count);
            return 0;
        }
        int main(void) {
            pthread_t threads[4];
            for (int i = 0; i < 4; i++)
                pthread_create(&threads[i], 0, i % 2 ? fork_and_work : only_work, 0);
            long wrong = 0;
            for (int i = 0; i < 4; i++) {
                void *result;
                pthread_join(threads[i], &result);
                wrong += (long)result;
            }
            return wrong;
        }"#,
        &["-O1"],
    );
    let family = run_family(start(&program), |_, _| {});
    assert_eq!(family.statuses(), [0; 21]);
    assert_eq!(family.total(), 2 * 1000 + 2 * 10 + 20 * 5);
}

#[test]
fn points_come_and_go_in_one_process_alone() {
    let program = compile(TREE, &["-O1"]);
    let mut root = start(&program);
    let work = program.address(&root, "work");
    let pid = root.pid();
    root.set_follow(Follow::Both);
    let mut forks = 0;
    let family = run_family(root, |debuggee, event| {
        // The first process loses its point when it has made a child.
        if debuggee.pid() == pid && matches!(event, StopEvent::ChildAttached { .. }) {
            forks += 1;
            if forks == 3 {
                debuggee.remove(work, Owner::Monitor).unwrap();
            }
        }
    });
    // The third child was made before, but is adopted without the point.
    assert_eq!(family.statuses(), [0; 40]);
    let third_subtree = 1 + 100 + 3 * (2 + 100) + 9 * 3;
    assert_eq!(family.total(), TREE_HITS - 100 - third_subtree);
}

#[test]
fn a_child_made_by_vfork_joins_with_its_program() {
    let other = compile(
        r#"
        __attribute__((noinline)) void work(volatile int *count) { ++*count; }
        int main(void) { volatile int count = 0; work(&count); work(&count); return count; }"#,
        &["-O1"],
    );
    let program = compile(
        r#"
        #include <sys/wait.h>
        #include <unistd.h>
        __attribute__((noinline)) void work(volatile int *count) { ++*count; }
        int main(int argc, char **argv) {
            volatile int count = 0;
            int sum = 0;
            for (int i = 0; i < 10; i++) {
                work(&count);
                pid_t child = vfork();
                if (!child && i % 2) _exit(2);
                if (!child) {
                    execl(argv[1], argv[1], (char *)0);
                    _exit(90);
                }
                work(&count);
                int status;
                waitpid(child, &status, 0);
                sum += WEXITSTATUS(status);
            }
            return sum;
        }"#,
        &["-O1"],
    );
    let mut launch = program.launch();
    launch.arguments = vec![other.path.clone().into()];
    let mut debuggee = Debuggee::launch(&launch).unwrap();
    let work = program.address(&debuggee, "work");
    debuggee.insert(work, Owner::Monitor).unwrap();
    debuggee.set_follow(Follow::Both);
    let parent = debuggee.pid();
    let family = run_family(debuggee, |debuggee, event| {
        if let StopEvent::ChildAttached { process, .. } = event
            && debuggee.pid() == *process
        {
            let work = other.address(debuggee, "work");
            debuggee.insert(work, Owner::Monitor).unwrap();
        }
    });
    assert_eq!(family.joined, [ForkKind::Vfork; 5]);
    assert_eq!(family.statuses(), [2, 2, 2, 2, 2, 20]);
    assert_eq!(family.hits.get(&parent), Some(&20));
    assert_eq!(family.total(), 30);
}

/// Two processes that run until they are ended.
const ENDLESS: &str = r#"
    #include <unistd.h>
    __attribute__((noinline)) void work(volatile int *count) { ++*count; }
    int main(void) {
        volatile int count = 0;
        fork();
        alarm(60);
        for (;;) work(&count);
    }"#;

/// The longest that a process may come to its point while the other one waits at its own: the
/// waiter takes the next in order at every fourth status, and a hit has a few.
const TURN_MAX: usize = 32;

/// Both processes of the program, halted after both have come to the point.
fn start_pair(program: &Program) -> (Debuggee, Debuggee) {
    let mut parent = start(program);
    let mut fair_waiter = FairWaiter::default();
    parent.resume_all().unwrap();
    let mut child = loop {
        let event = parent.wait().unwrap();
        if let StopEvent::ChildAttached { process, .. } = event {
            break parent.adopt(process).unwrap().expect("it lives");
        }
        if let Some(thread) = event.waiting_thread() {
            parent.resume(thread).unwrap();
        }
    };
    child.resume_all().unwrap();
    let mut hits = [0, 0];
    let mut turn = (0, 0);
    while hits.iter().any(|&count| count < 100) {
        // Both have a status, so only the waiter decides which of them goes on.
        await_stop(parent.pid());
        await_stop(child.pid());
        let (position, event) = fair_waiter.wait(&mut [&mut parent, &mut child]).unwrap();
        hits[position] += usize::from(matches!(event, StopEvent::Hit { .. }));
        turn = match turn {
            (last, count) if last == position => (position, count + 1),
            _ => (position, 1),
        };
        assert!(turn.1 <= TURN_MAX, "{hits:?}");
        let debuggee = if position == 0 {
            &mut parent
        } else {
            &mut child
        };
        if let Some(thread) = event.waiting_thread() {
            debuggee.resume(thread).unwrap();
        }
    }
    parent.halt_all().unwrap();
    child.halt_all().unwrap();
    (parent, child)
}

#[test]
fn both_come_to_their_points_by_turns_and_end_with_juror() {
    let program = compile(ENDLESS, &["-O1"]);
    let (parent, child) = start_pair(&program);
    let pids = [parent.pid(), child.pid()];
    assert!(pids.into_iter().all(is_running));
    drop(child);
    assert!(is_running(pids[0]) && !is_running(pids[1]));
    drop(parent);
    assert!(!pids.into_iter().any(is_running));
}

#[test]
fn one_process_can_be_let_go() {
    let program = compile(ENDLESS, &["-O1"]);
    let (mut parent, child) = start_pair(&program);
    let pid = child.pid();
    child.detach().unwrap();
    parent.keep_process_group();
    parent.kill().unwrap();
    assert!(is_free(pid), "it is stopped or traced");
    // SAFETY: a system call on plain numbers.
    assert_eq!(unsafe { libc::kill(pid as i32, libc::SIGKILL) }, 0);
}

#[test]
fn a_request_stops_whichever_runs() {
    let program = compile(ENDLESS, &["-O1"]);
    let (mut parent, mut child) = start_pair(&program);
    let interrupter = parent.interrupter().unwrap();
    let work = program.address(&parent, "work");
    for debuggee in [&mut parent, &mut child] {
        debuggee.remove(work, Owner::Monitor).unwrap();
    }
    // The parent holds the bell, the child alone runs.
    child.resume_all().unwrap();
    interrupter.interrupt();
    let mut fair_waiter = FairWaiter::default();
    loop {
        let (position, event) = fair_waiter.wait(&mut [&mut parent, &mut child]).unwrap();
        if position == 0 {
            continue;
        }
        match event {
            StopEvent::Interrupted { .. } => break,
            event => child.resume(event.waiting_thread().unwrap()).unwrap(),
        }
    }
    parent.transfer_to(&mut child);
    parent.keep_process_group();
    drop(parent);
    child.resume_all().unwrap();
    interrupter.interrupt();
    assert!(matches!(
        child.wait().unwrap(),
        StopEvent::Interrupted { .. }
    ));
}

#[test]
fn a_process_that_nobody_adopts_goes_with_its_parent() {
    let program = compile(ENDLESS, &["-O1"]);
    for is_killed in [true, false] {
        let mut parent = start(&program);
        parent.resume_all().unwrap();
        let child = loop {
            let event = parent.wait().unwrap();
            if let StopEvent::ChildAttached { process, .. } = event {
                break process;
            }
            if let Some(thread) = event.waiting_thread() {
                parent.resume(thread).unwrap();
            }
        };
        if is_killed {
            parent.kill().unwrap();
            assert!(!is_running(child));
        } else {
            let pid = parent.pid();
            parent.detach().unwrap();
            for process in [child, pid] {
                assert!(is_free(process), "{process} is stopped or traced");
                // SAFETY: a system call on plain numbers.
                assert_eq!(unsafe { libc::kill(process as i32, libc::SIGKILL) }, 0);
            }
        }
    }
}
