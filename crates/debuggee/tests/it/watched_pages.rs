//! Watched memory whose pages the program maps anew, and to which the kernel
//! writes the frames of signals: no access is missed, and no signal is lost.

use crate::support::compile;
use crate::support::watching::{BUILDS, TIERS, check, watched};
use juror_debuggee::{AccessKind, AccessKinds, StopEvent, WatchTier};

const MAPS: &str = r#"
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>
#define LENGTH 4096
volatile int *place;
__attribute__((noinline)) void start(void) { __asm__ volatile(""); }
static void *map(void *at) {
    int fixed = at ? MAP_FIXED : 0;
    return mmap(at, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
}
"#;

#[test]
fn a_page_that_is_unmapped_and_mapped_again_is_watched_on() {
    let source = MAPS.to_owned()
        + r"
        int main(void) {
            place = map(0);
            start();
            for (int i = 1; i <= 5; i++) {
                *place = i;
                *place = 0;
                munmap((void *)place, LENGTH);
                if (map((void *)place) != place) return 1;
                *place = 0;
            }
            return *place;
        }";
    check(&source, AccessKinds::WRITE, 15, 0);
    check(&source, AccessKinds::READ, 1, 0);
}

#[test]
fn a_page_that_is_replaced_at_once_is_watched_on() {
    let source = MAPS.to_owned()
        + r"
        int main(void) {
            place = map(0);
            start();
            for (int i = 1; i <= 5; i++) {
                *place = i;
                /* The new page holds 0: the kernel has changed the value. */
                if (map((void *)place) != place) return 1;
            }
            mprotect((void *)place, LENGTH, PROT_READ);
            if (*place) return 2;
            mprotect((void *)place, LENGTH, PROT_READ | PROT_WRITE);
            *place = 0;
            return *place;
        }";
    check(&source, AccessKinds::WRITE, 6, 5);
}

#[test]
fn a_page_that_is_moved_away_and_back_is_watched_on() {
    let source = MAPS.to_owned()
        + r"
        int main(void) {
            place = map(0);
            volatile int *other = map(0);
            start();
            for (int i = 1; i <= 5; i++) {
                *place = i;
                if (mremap((void *)place, LENGTH, LENGTH, MREMAP_MAYMOVE | MREMAP_FIXED, other)
                    != other)
                    return 1;
                /* Somewhere else. */
                if (*other != i) return 2;
                *other = i;
                if (mremap((void *)other, LENGTH, LENGTH, MREMAP_MAYMOVE | MREMAP_FIXED, place)
                    != place)
                    return 3;
                *place += i;
            }
            return *place != 10;
        }";
    check(&source, AccessKinds::WRITE, 10, 0);
}

#[test]
fn the_end_of_the_heap_is_watched_when_it_comes_back() {
    let source = MAPS.to_owned()
        + r"
        int main(void) {
            /* Nobody else uses it. */
            char *end = sbrk(0);
            end += -(unsigned long)end % LENGTH;
            if (brk(end + 2 * LENGTH)) return 1;
            place = (int *)(end + LENGTH);
            start();
            for (int i = 1; i <= 5; i++) {
                *place = i;
                *place = 0;
                if (brk(end)) return 2;
                if (brk(end + 2 * LENGTH)) return 3;
                *place = 0;
            }
            return *place;
        }";
    check(&source, AccessKinds::WRITE, 15, 0);
}

/// A handler whose stack ends on the page of what is watched.
const STACKS: &str = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>
#define LENGTH 65536
static struct { char stack[LENGTH - 64]; int watched; } area __attribute__((aligned(4096)));
volatile int *place = &area.watched;
volatile int handled, stored;
__attribute__((noinline)) void start(void) { __asm__ volatile(""); }
static void handle(int number) { (void)number; handled++; ++*place; stored++; }
static void prepare(int number) {
    stack_t stack = {.ss_sp = area.stack, .ss_size = sizeof area.stack};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    sigaltstack(&stack, 0);
    sigaction(number, &action, 0);
}
"#;

#[test]
fn a_signal_stack_on_a_watched_page_is_written_by_the_kernel() {
    let source = STACKS.to_owned()
        + r"
        int main(void) {
            prepare(SIGUSR1);
            start();
            for (int i = 0; i < 5; i++) { raise(SIGUSR1); ++*place; }
            kill(getpid(), SIGUSR1);
            return *place != 11 || handled != 6;
        }";
    check(&source, AccessKinds::WRITE, 11, 0);
}

#[test]
fn a_fault_is_handled_on_a_watched_page() {
    let source = STACKS.to_owned()
        + r"
        #include <setjmp.h>
        static sigjmp_buf back;
        static void leave(int number) { (void)number; ++*place; siglongjmp(back, 1); }
        int main(void) {
            prepare(SIGSEGV);
            struct sigaction action = {.sa_handler = leave, .sa_flags = SA_ONSTACK};
            sigaction(SIGSEGV, &action, 0);
            start();
            for (volatile int i = 0; i < 5; i++) {
                if (!sigsetjmp(back, 1)) *(volatile int *)8 = 1;
                ++*place;
            }
            return *place != 10;
        }";
    check(&source, AccessKinds::WRITE, 10, 0);
}

#[test]
fn a_thread_that_blocks_every_signal_keeps_its_handlers_and_its_mask() {
    let source = STACKS.to_owned()
        + r"
        static volatile int faults;
        static void skip(int number) {
            (void)number;
            faults++;
            struct sigaction now;
            sigaction(SIGSEGV, 0, &now);
            if (now.sa_handler != skip) _exit(3);
            _exit(faults != 1 || *place != 20);
        }
        int main(void) {
            struct sigaction action = {.sa_handler = skip};
            sigaction(SIGSEGV, &action, 0);
            start();
            sigset_t all, before, now;
            sigfillset(&all);
            sigprocmask(SIG_SETMASK, &all, &before);
            for (int i = 0; i < 10; i++) ++*place;
            sigprocmask(SIG_SETMASK, &before, &now);
            if (!sigismember(&now, SIGSEGV) || !sigismember(&now, SIGUSR1)) return 2;
            for (int i = 0; i < 10; i++) ++*place;
            *(volatile int *)8 = 1;
            return 4;
        }";
    check(&source, AccessKinds::WRITE, 20, 0);
}

#[test]
fn a_fault_of_the_program_s_own_with_its_signal_blocked_ends_it() {
    let source = STACKS.to_owned()
        + r"
        #include <sys/mman.h>
        int main(void) {
            prepare(SIGSEGV);
            start();
            sigset_t all;
            sigfillset(&all);
            sigprocmask(SIG_SETMASK, &all, 0);
            ++*place;
            mprotect((void *)((unsigned long)place & -4096), 4096, PROT_READ);
            ++*place;
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
fn signals_of_a_timer_and_stores_of_other_threads_are_all_told() {
    let source = STACKS.to_owned()
        + r"
        static volatile int rounds;
        static void *store(void *argument) {
            for (int i = 0; i < 40; i++) *place = i;
            return argument;
        }
        int main(void) {
            prepare(SIGALRM);
            start();
            sigset_t all, before;
            sigfillset(&all);
            pthread_t threads[2];
            /* Only one thread ever handles the signal: `stored` is not atomic. */
            pthread_sigmask(SIG_BLOCK, &all, &before);
            for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, store, 0);
            pthread_sigmask(SIG_SETMASK, &before, 0);
            while (handled < 10) {
                struct itimerval soon = {{0, 0}, {0, 300}};
                int before = handled;
                setitimer(ITIMER_REAL, &soon, 0);
                while (handled == before) rounds++;
            }
            for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
            return handled != 10 ? 1 : stored != 10 ? 2 : 0;
        }";
    for flags in BUILDS {
        let program = compile(&source, &[flags, &["-pthread"]].concat());
        for tier in [WatchTier::Hardware, WatchTier::Page] {
            let (accesses, run) = watched(&program, AccessKinds::WRITE, tier, 3);
            assert_eq!(run.end, Some(StopEvent::Exited { status: 0 }), "{tier:?}");
            let writes = accesses.iter().filter(|it| it.kind == AccessKind::Write);
            assert_eq!(writes.count(), 90, "{tier:?} {flags:?}");
        }
    }
}

#[test]
fn the_frame_of_a_signal_is_a_store() {
    let source = STACKS.to_owned()
        + r"
        static char stack[LENGTH] __attribute__((aligned(4096)));
        static void look(int number) { (void)number; }
        int main(void) {
            prepare(SIGUSR1);
            struct sigaction action = {.sa_handler = look, .sa_flags = SA_ONSTACK};
            sigaction(SIGUSR1, &action, 0);
            stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
            sigaltstack(&other, 0);
            /* Where the next frame keeps the number of the signal. */
            raise(SIGUSR1);
            for (char *at = stack + LENGTH - 4; !place || place == &area.watched; at -= 4)
                if (*(int *)at == SIGUSR1) place = (int *)at;
            *place = 0;
            start();
            raise(SIGUSR1);
            return *place != SIGUSR1;
        }";
    let program = compile(&source, BUILDS[0]);
    for tier in [WatchTier::Page, WatchTier::Stepping] {
        let (accesses, run) = watched(&program, AccessKinds::WRITE, tier, 1);
        assert_eq!(run.end, Some(StopEvent::Exited { status: 0 }), "{tier:?}");
        assert_eq!(accesses.len(), 1, "{tier:?} {accesses:?}");
        assert_eq!(accesses[0].kind, AccessKind::Write);
    }
}
