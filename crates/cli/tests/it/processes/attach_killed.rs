//! `kill -9` of juror while it takes events in a process that it attached to, and what a later
//! juror finds there. `JUROR_KILLS` is the number of trials; there are few without it.

use crate::support::attached::{Attached, BUSY, Running, busy, until, written};
use crate::support::{juror, program};
use juror_testing::{Fixture, Numbers};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::os::unix::process::ExitStatusExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// The result of killing juror.
#[derive(Debug, Default)]
struct Kills {
    /// Jumps were in the text.
    patched: u32,
    /// The program was ended by the signal of a trap.
    trapped: u32,
    wrong: Vec<String>,
}

impl Kills {
    /// Kills juror at some moment.
    fn perform(&mut self, number: u64) {
        let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(number));
        let pause = ["-1", "50", "1000"][numbers.below(3) as usize];
        let delay = Duration::from_micros(numbers.below(700_000));
        let running = busy(pause);
        let text = running.text();
        let attached = Attached::start(&running, BUSY, true);
        std::thread::sleep(delay);
        let is_patched = text.has_jump();
        self.patched += u32::from(is_patched);
        attached.end(Signal::SIGKILL);
        // Nothing of a process that was ended.
        until("the text is restored", || {
            text.is_original() || text.now().is_empty()
        });
        let (said, status) = running.finish();
        let is_sound = status.success() && said.starts_with("damage 0, ");
        match status.signal() {
            Some(signal) if signal == Signal::SIGTRAP as i32 => self.trapped += 1,
            _ if is_sound => {}
            _ => self.wrong.push(format!("{number}: {said} {status}")),
        }
    }
}

/// A child that is being made at that moment may have traps, as the program has, and a
/// call may fail that juror was interrupting.
#[test]
fn no_program_is_damaged_by_killing_juror() {
    let count = std::env::var("JUROR_KILLS").ok();
    let count = count.and_then(|count| count.parse().ok()).unwrap_or(20);
    let mut kills = Kills::default();
    for number in 1..=count {
        kills.perform(number);
    }
    eprintln!("{count} kills: {kills:?}");
    assert!(kills.wrong.is_empty(), "{:?}", kills.wrong);
    assert!(kills.patched > 0);
}

/// juror is killed at each of its requests until the first trap: threads make calls for it then,
/// with registers that are not their own.
#[test]
fn no_program_is_damaged_before_the_first_trap() {
    let killer = program("kill_at.c").argument("-shared").argument("-fPIC");
    let killer = killer.compile_plain();
    let directory = TempDir::with_prefix("juror-killed-").expect("a directory");
    let reached = directory.path().join("reached");
    let (mut wrong, mut count) = (Vec::new(), 0);
    while !reached.exists() {
        count += 1;
        assert!(count < 1000, "juror writes no trap");
        let running = busy(["1000", "-1"][count % 2]);
        let attached = Attached::start_with(&running, BUSY, |command| {
            command
                .env("LD_PRELOAD", &killer)
                .env("KILL_AT", count.to_string())
                .env("REACHED", &reached);
        });
        attached.await_end();
        let (said, status) = running.finish();
        // A call of the program's that juror has interrupted may fail.
        if !status.success() || !said.starts_with("damage 0, lost children 0, ") {
            wrong.push(format!("{count}: {said} {status}"));
        }
    }
    eprintln!("{count} requests until the first trap");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count > 20);
}

/// Calls `work` all the time, while another thread waits in a call that fails with EINTR after
/// a stop.
const WAITS: &str = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>
static volatile int ends;
static int ended[2];
static long interrupted;
__attribute__((noinline)) long work(long x) { __asm__ volatile("" : "+r"(x)); return x + 1; }
static void *wait_for_end(void *unused) {
    struct epoll_event event = { .events = EPOLLIN };
    int set = epoll_create1(0);
    epoll_ctl(set, EPOLL_CTL_ADD, ended[0], &event);
    interrupted = epoll_wait(set, &event, 1, -1) != 1;
    return unused;
}
static void *call_work(void *unused) {
    for (long n = 0; !ends;) n = work(n) & 0xff;
    return unused;
}
int main(void) {
    pthread_t waiter, worker;
    char byte;
    if (pipe(ended)) return 2;
    pthread_create(&waiter, 0, wait_for_end, 0);
    pthread_create(&worker, 0, call_work, 0);
    printf("%d %lx\n", getpid(), (long)work);
    fflush(stdout);
    while (read(0, &byte, 1) > 0) {}
    ends = 1;
    if (write(ended[1], "", 1) != 1) return 2;
    pthread_join(waiter, 0);
    pthread_join(worker, 0);
    printf("interrupted %ld\n", interrupted);
    return 0;
}
"#;

#[test]
fn a_system_call_goes_on_when_the_jumps_are_taken_out() {
    let property = "property calls
event worked = before work(x: int = arg 1)
var n = 0
state init accepting { on worked { n = n + 1 } -> init }
";
    let executable = Fixture::c("waits.c", WAITS)
        .argument("-pthread")
        .compile_plain();
    for _ in 0..5 {
        let running = Running::start(&executable, &[]);
        let text = running.text();
        let attached = Attached::start(&running, property, true);
        until("the jump is written", || text.has_jump());
        attached.end(Signal::SIGKILL);
        until("the jump is taken out", || text.is_original());
        let (said, status) = running.finish();
        assert_eq!(said, "interrupted 0\n");
        assert!(status.success(), "{status}");
    }
}

/// Calls `work` for each byte of its input.
const SERVER: &str = r#"
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>
#ifdef FILTERED
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
static void filter(void) {
    struct sock_filter code[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
    struct sock_fprog all = { 1, code };
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all);
}
#else
static void filter(void) {}
#endif
#include <sys/mman.h>
static int done;
__attribute__((noinline)) int work(int request) { done++; return request + 1; }
int main(void) {
    char byte;
    filter();
#ifdef LOCKED
    mlockall(MCL_CURRENT | MCL_FUTURE);
#endif
    printf("%d %lx\n", getpid(), (long)work);
    fflush(stdout);
    while (read(0, &byte, 1) == 1) work(byte);
    printf("worked %d\n", done);
    return 0;
}
"#;

/// Violated by the byte `!`.
const POLITE: &str = "property polite
event worked = before work(request: int = arg 1)
state init accepting { on worked when request != 33 -> init else -> wrong }
state wrong non-accepting
";

#[track_caller]
fn assert_refused(running: &Running, why: &str) {
    let (_directory, file) = written(POLITE);
    let output = juror(&["attach", "--batch", "--color=never", "--tier", "native"])
        .args(["--property".as_ref(), file.as_path()])
        .args([running.process()])
        .run();
    output.assert_code(2);
    let said = format!("{}{}", output.stdout, output.stderr);
    assert!(said.contains(why), "{said}");
}

/// Attaches, and asks for what violates the property until juror has seen it; returns how
/// often.
#[track_caller]
fn assert_violated_by_traps(running: &mut Running) -> usize {
    let (_directory, file) = written(POLITE);
    let attaching = juror(&["attach", "--batch", "--color=never"])
        .args(["--property".as_ref(), file.as_path()])
        .args([running.process()]);
    let seen = AtomicBool::new(false);
    let (output, asked) = std::thread::scope(|scope| {
        let asker = scope.spawn(|| {
            let mut asked = 0;
            while !seen.load(Ordering::SeqCst) {
                running.tell(b"!");
                asked += 1;
            }
            asked
        });
        let output = attaching.run();
        seen.store(true, Ordering::SeqCst);
        (output, asker.join().expect("the asker"))
    });
    output.assert_code(1);
    let said = &output.stdout;
    assert!(said.contains("VIOLATED  polite"), "{said}");
    asked
}

/// Without its watchdog a killed juror leaves the jumps, which lead to stubs that go on.
#[test]
fn what_a_killed_juror_has_left_is_removed_by_the_next_one() {
    let mut running = Running::start(&Fixture::c("server.c", SERVER).compile_plain(), &[]);
    let text = running.text();
    running.tell(b"abc");
    let attached = Attached::start(&running, POLITE, true);
    until("the jump is written", || text.has_jump());
    let watchdog = attached.watchdog().expect("it has a watchdog");
    kill(Pid::from_raw(watchdog), Signal::SIGKILL).expect("it is there");
    until("the watchdog has ended", || attached.watchdog().is_none());
    attached.end(Signal::SIGKILL);
    assert!(text.has_jump());
    running.tell(b"defg");
    assert_refused(&running, "is of a process in which a juror was killed");
    assert!(text.is_original());
    let asked = assert_violated_by_traps(&mut running);
    assert!(text.is_original());
    let (said, status) = running.finish();
    assert_eq!(said, format!("worked {}\n", 7 + asked));
    assert!(status.success(), "{status}");
}

#[test]
fn a_program_in_which_nothing_can_be_mapped_is_taken_by_traps() {
    let executable = Fixture::c("refusing.c", SERVER)
        .argument("-DFILTERED")
        .compile_plain();
    let running = Running::start(&executable, &[]);
    assert_refused(&running, "is of a program that filters its system calls");
    let (said, status) = running.finish();
    assert_eq!(said, "worked 0\n");
    assert!(status.success(), "{status}");
}

/// The kernel allocates all of a mapping in such a program, as far as its file goes.
#[test]
fn a_program_that_locks_its_memory_stays_small() {
    let executable = Fixture::c("locking.c", SERVER)
        .argument("-DLOCKED")
        .compile_plain();
    let mut running = Running::start(&executable, &[]);
    let text = running.text();
    let attached = Attached::start(&running, POLITE, true);
    until("the jump is written", || text.has_jump());
    running.tell(b"abc");
    let mebibytes = running.resident_mebibytes();
    assert!(mebibytes < 256, "{mebibytes} MiB");
    attached.end(Signal::SIGINT);
    let (said, status) = running.finish();
    assert_eq!(said, "worked 3\n");
    assert!(status.success(), "{status}");
}
