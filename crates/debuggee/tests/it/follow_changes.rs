//! `set follow` while a process has been made and has not been seen, or has the
//! memory of the one that made it still.

use crate::support::family::run_family;
use crate::support::{compile, start_with_points};
use juror_debuggee::{Debuggee, Follow, ForkKind, Owner, StopEvent};

/// A thread makes a process, which waits for the first thread to be at `both`
/// before it runs another program. Meanwhile all of them work.
const VFORKS: &str = r#"
    #include <pthread.h>
    #include <sys/wait.h>
    #include <unistd.h>
    static volatile int is_made, may_go;
    static int status;
    __attribute__((noinline)) void work(volatile int n) { __asm__ volatile(""); }
    __attribute__((noinline)) void both(void) { __asm__ volatile(""); }
    static void *make(void *unused) {
        pid_t child = vfork();
        if (!child) {
            is_made = 1;
            while (!may_go) work(1);
            execl(NEXT, NEXT, (char *)0);
            _exit(90);
        }
        work(2);
        waitpid(child, &status, 0);
        return unused;
    }
    int main(void) {
        pthread_t maker;
        alarm(60);
        pthread_create(&maker, 0, make, 0);
        while (!is_made) work(3);
        both();
        may_go = 1;
        pthread_join(maker, 0);
        return WEXITSTATUS(status) + 1;
    }"#;

const OTHER: &str = r#"
    __attribute__((noinline)) void work(volatile int n) { __asm__ volatile(""); }
    int main(void) { work(1); return 7; }"#;

/// A process forks once, and both work.
const FORKS: &str = r#"
    #include <sys/wait.h>
    #include <unistd.h>
    __attribute__((noinline)) void work(volatile int n) { __asm__ volatile(""); }
    int main(void) {
        alarm(60);
        pid_t child = fork();
        work(1);
        if (!child) _exit(7);
        int status;
        waitpid(child, &status, 0);
        work(2);
        return WEXITSTATUS(status) + 1;
    }"#;

const ALL: [Follow; 3] = [Follow::Parent, Follow::Child, Follow::Both];

/// The exit statuses of the one that makes the other, and of that.
const STATUSES: [i32; 2] = [8, 7];

/// Which of the two are to be seen at their ends.
fn seen(follow: Follow) -> Vec<i32> {
    let [maker, made] = STATUSES;
    match follow {
        Follow::Parent => vec![maker],
        Follow::Child => vec![made],
        Follow::Both => vec![made, maker],
    }
}

/// A child in the same memory is followed, or not, by what is set when it runs its
/// program.
#[test]
fn what_is_set_before_its_program_holds_for_a_child_of_vfork() {
    let other = compile(OTHER, &["-O1"]);
    let path = other.path.to_str().unwrap();
    let name = format!("-DNEXT=\"{path}\"");
    let program = compile(VFORKS, &["-O1", &name]);
    for first in ALL {
        for later in ALL {
            let mut root = start_with_points(&program, &["work", "both"]);
            root.set_follow(first);
            let (parent, both) = (root.pid(), program.address(&root, "both"));
            let mut left = 0;
            let family = run_family(root, |debuggee, event| {
                let mut insert_trap = || {
                    let work = other.address(debuggee, "work");
                    debuggee.insert(work, Owner::Monitor).unwrap();
                };
                match event {
                    StopEvent::Executed { .. } | StopEvent::ChildAttached { .. } => insert_trap(),
                    StopEvent::ParentDetached { process } => left = *process,
                    StopEvent::Hit { address, .. } if *address == both => {
                        debuggee.halt_all().unwrap();
                        debuggee.set_follow(later);
                        debuggee.resume_all().unwrap();
                    }
                    _ => {}
                }
            });
            assert_eq!(family.statuses(), seen(later), "{first:?} {later:?}");
            let hits: Vec<usize> = family
                .hits
                .iter()
                .filter(|(process, _)| **process != parent)
                .map(|(_, hits)| *hits)
                .collect();
            let expected = if later == Follow::Parent {
                vec![]
            } else {
                vec![1]
            };
            assert_eq!(hits, expected, "{first:?} {later:?}");
            let is_left = later == Follow::Child;
            assert_eq!(left == parent, is_left, "{first:?} {later:?}");
            let joined = (later == Follow::Both).then_some(ForkKind::Vfork);
            assert_eq!(family.joined, Vec::from_iter(joined), "{first:?} {later:?}");
        }
    }
}

/// A forked child that has not been seen yet is followed by what is set when it is
/// seen, unless the one that made it has gone on without it.
#[test]
fn what_is_set_when_it_is_seen_holds_for_a_forked_child() {
    let program = compile(FORKS, &["-O1"]);
    for first in ALL {
        for later in ALL {
            let mut root: Debuggee = start_with_points(&program, &["work"]);
            root.set_follow(first);
            root.catch_forks(true);
            let parent = root.pid();
            let family = run_family(root, |debuggee, event| {
                if let StopEvent::Forking { .. } = event {
                    debuggee.set_follow(later);
                }
            });
            let follow = match first {
                Follow::Parent => Follow::Parent,
                Follow::Child | Follow::Both => later,
            };
            assert_eq!(family.statuses(), seen(follow), "{first:?} {later:?}");
            for (process, hits) in &family.hits {
                let expected = if *process == parent { 2 } else { 1 };
                assert_eq!(*hits, expected, "{first:?} {later:?}");
            }
            let seen = match follow {
                Follow::Parent | Follow::Child => 1,
                Follow::Both => 2,
            };
            assert_eq!(family.hits.len(), seen, "{first:?} {later:?}");
        }
    }
}
