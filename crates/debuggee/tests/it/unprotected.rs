//! Watched memory whose pages cannot be protected, or whose program does with
//! `SIGSEGV` what it likes: each access is told, and the program does what it
//! does alone.

use crate::support::watching::{BUILDS, TIERS, check, pointer, start, watched};
use crate::support::{compile, run_with};
use juror_debuggee::{AccessKinds, Owner, StopEvent, WatchTier};

const PRELUDE: &str = r#"
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#define LENGTH 4096
#define SEAL 462
volatile int *place;
volatile int is_sealed, handled;
__attribute__((noinline)) void start(void) { __asm__ volatile(""); }
static void map(void) {
    place = mmap(0, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
static void seal(void) { is_sealed = !syscall(SEAL, place, LENGTH, 0); }
static void block(int how) {
    sigset_t faults;
    sigemptyset(&faults);
    sigaddset(&faults, SIGSEGV);
    sigprocmask(how, &faults, 0);
}
static void (*handler(void))(int) {
    struct sigaction now;
    sigaction(SIGSEGV, 0, &now);
    return now.sa_handler;
}
/* Every call of mprotect ends so from now on. */
static void filter(unsigned answer) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, answer),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) _exit(8);
}
"#;

/// The program stores five times to a page, does something to it, and stores
/// five times again.
fn stores_around(before: &str, between: &str) -> String {
    let stores = "for (int i = 0; i < 5; i++) ++*place;";
    format!(
        "{PRELUDE} int main(void) {{ map(); {before}; start(); {stores} {between}; {stores} return *place != 10; }}"
    )
}

#[test]
fn a_page_that_is_sealed_while_it_is_watched_is_watched_on() {
    check(&stores_around("", "seal()"), AccessKinds::WRITE, 10, 0);
}

#[test]
fn a_program_that_filters_its_calls_meanwhile_is_watched_on_and_not_ended() {
    for answer in ["SECCOMP_RET_ERRNO | 1", "SECCOMP_RET_KILL_PROCESS"] {
        let source = stores_around("", &format!("filter({answer})"));
        check(&source, AccessKinds::WRITE, 10, 0);
    }
}

/// The tier that is asked for is the one of pages; where that cannot be,
/// instructions are stepped. `symbol` says whether it can be.
#[track_caller]
fn check_fallback(source: &str, symbol: &str) {
    for flags in BUILDS {
        let program = compile(source, flags);
        let mut debuggee = start(&program);
        let place = pointer(&program, &debuggee, "place");
        let mut cannot = [0; 4];
        let address = program.address(&debuggee, symbol);
        debuggee.read(address, &mut cannot).unwrap();
        let range = place..place + 4;
        let (kinds, owner) = (AccessKinds::WRITE, Owner::Developer);
        let id = debuggee
            .watch(std::slice::from_ref(&range), kinds, owner, WatchTier::Page)
            .unwrap();
        let expected = match cannot {
            [0, 0, 0, 0] => WatchTier::Page,
            _ => WatchTier::Stepping,
        };
        assert_eq!(debuggee.watch_tier(id), Some(expected), "{flags:?}");
        let mut count = 0;
        let run = run_with(&mut debuggee, |_, event| {
            if let StopEvent::Accessed { accesses, .. } = event {
                count += accesses.len();
            }
        });
        run.assert_exited(0);
        assert_eq!(count, 10, "{flags:?}");
    }
}

/// Before Linux 6.10 there is no sealing.
#[test]
fn a_sealed_page_is_watched_by_steps() {
    check_fallback(&stores_around("seal()", ""), "is_sealed");
}

#[test]
fn in_a_program_that_filters_its_calls_pages_are_watched_by_steps() {
    for answer in ["SECCOMP_RET_ERRNO | 1", "SECCOMP_RET_KILL_PROCESS"] {
        let before = format!("filter({answer}); handled = 1");
        check_fallback(&stores_around(&before, ""), "handled");
    }
}

#[test]
fn a_program_that_ignores_faults_goes_on_ignoring_them() {
    let source = PRELUDE.to_owned()
        + r"
        int main(void) {
            map();
            signal(SIGSEGV, SIG_IGN);
            start();
            for (int i = 0; i < 5; i++) ++*place;
            if (handler() != SIG_IGN) return 1;
            raise(SIGSEGV);
            kill(getpid(), SIGSEGV);
            for (int i = 0; i < 5; i++) ++*place;
            return *place != 10;
        }";
    check(&source, AccessKinds::WRITE, 10, 0);
}

#[test]
fn a_fault_of_the_program_s_own_that_it_ignores_ends_it() {
    let source = PRELUDE.to_owned()
        + r"
        int main(void) {
            map();
            signal(SIGSEGV, SIG_IGN);
            start();
            ++*place;
            *(volatile int *)8 = 1;
            return 1;
        }";
    for flags in BUILDS {
        let program = compile(&source, flags);
        for tier in TIERS {
            let (accesses, run) = watched(&program, AccessKinds::WRITE, tier, 1);
            let is_killed = matches!(run.end, Some(StopEvent::Killed { signal: 11, .. }));
            assert!(is_killed, "{tier:?} {:?}", run.end);
            assert_eq!(accesses.len(), 1, "{tier:?} {accesses:?}");
        }
    }
}

#[test]
fn a_handler_for_one_fault_is_there_until_that_and_then_no_more() {
    let source = PRELUDE.to_owned()
        + r"
        static void once(int number) { (void)number; handled++; }
        static int stores(void) {
            block(SIG_BLOCK);
            for (int i = 0; i < 5; i++) ++*place;
            int is_there = handler() == once;
            block(SIG_UNBLOCK);
            return is_there;
        }
        int main(void) {
            struct sigaction action = {.sa_handler = once, .sa_flags = SA_RESETHAND};
            map();
            sigaction(SIGSEGV, &action, 0);
            start();
            if (!stores()) return 1;
            raise(SIGSEGV);
            if (handled != 1 || handler() != SIG_DFL) return 2;
            if (stores()) return 3;
            sigaction(SIGSEGV, &action, 0);
            if (!stores()) return 4;
            kill(getpid(), SIGSEGV);
            if (handled != 2 || handler() != SIG_DFL) return 5;
            return *place != 15;
        }";
    check(&source, AccessKinds::WRITE, 15, 0);
}
