//! Watched memory: each access told once, by the instruction or by the kernel,
//! in every tier, from every thread.

use crate::support::watching::{TIERS, start};
use crate::support::{Program, Run, compile, run_with};
use juror_debuggee::{
    AccessKind, AccessKinds, Debuggee, MemoryAccess, Owner, StopEvent, WatchId, WatchTier,
};

const BUILDS: [&[&str]; 4] = [
    &["-O0", "-no-pie"],
    &["-O0", "-pie"],
    &["-O2", "-no-pie"],
    &["-O2", "-pie"],
];

#[track_caller]
fn watch(
    debuggee: &mut Debuggee,
    program: &Program,
    symbol: &str,
    length: u64,
    kinds: AccessKinds,
    tier: WatchTier,
) -> WatchId {
    let address = program.address(debuggee, symbol);
    let id = debuggee
        .watch(
            std::slice::from_ref(&(address..address + length)),
            kinds,
            Owner::Developer,
            tier,
        )
        .unwrap();
    assert_eq!(debuggee.watch_tier(id), Some(tier), "{symbol}");
    id
}

/// Runs to the end; every access that was told.
#[track_caller]
fn accesses(debuggee: &mut Debuggee) -> (Vec<MemoryAccess>, Run) {
    let mut all = Vec::new();
    let run = run_with(debuggee, |_, event| {
        if let StopEvent::Accessed { accesses, .. } = event {
            all.extend_from_slice(accesses);
        }
    });
    (all, run)
}

/// How many accesses to `watched` are told, by tier and build; the program
/// ends with status 0.
#[track_caller]
fn check(source: &str, length: u64, kinds: AccessKinds, expected: usize) {
    for flags in BUILDS {
        let program = compile(source, flags);
        for tier in TIERS {
            let mut debuggee = start(&program);
            watch(&mut debuggee, &program, "watched", length, kinds, tier);
            let (accesses, run) = accesses(&mut debuggee);
            assert_eq!(
                run.end,
                Some(StopEvent::Exited { status: 0 }),
                "{tier:?} {flags:?}"
            );
            assert_eq!(accesses.len(), expected, "{tier:?} {flags:?} {accesses:?}");
        }
    }
}

const STORES: &str = r#"
volatile int watched, other[3000];
__attribute__((noinline)) void start(void) { __asm__ volatile(""); }
int main(void) {
    start();
    for (int i = 0; i < 100; i++) { watched = i / 11; other[i] = i; }
    return other[99] != 99;
}
"#;

#[test]
fn every_store_is_told_also_of_the_same_value() {
    check(STORES, 4, AccessKinds::WRITE, 100);
}

#[test]
fn reads_are_told_apart_from_writes() {
    let source = r#"
    volatile int watched; int sum;
    __attribute__((noinline)) void start(void) { __asm__ volatile(""); }
    int main(void) {
        start();
        for (int i = 0; i < 10; i++) { watched = i; sum += watched; sum += watched; }
        return sum != 90;
    }
    "#;
    check(source, 4, AccessKinds::READ, 20);
    check(source, 4, AccessKinds::WRITE, 10);
    check(source, 4, AccessKinds::READ | AccessKinds::WRITE, 30);
}

#[test]
fn what_the_kernel_writes_is_told() {
    let source = r#"
    #include <fcntl.h>
    #include <stdlib.h>
    #include <sys/uio.h>
    #include <unistd.h>
    volatile int watched; char before[8], after[8];
    __attribute__((noinline)) void start(void) { __asm__ volatile(""); }
    int main(void) {
        int zero = open("/dev/zero", O_RDONLY), pipes[2];
        if (pipe(pipes)) return 1;
        start();
        /* The value that is there already; another one; into two buffers. */
        if (read(zero, (void *)&watched, 4) != 4) return 2;
        if (write(pipes[1], "abcdefgh", 8) != 8) return 3;
        if (read(pipes[0], (void *)&watched, 2) != 2) return 4;
        struct iovec parts[2] = {{before, 4}, {(void *)&watched, 4}};
        if (readv(pipes[0], parts, 2) != 6) return 5;
        /* Not as far as the variable. */
        if (write(pipes[1], "xy", 2) != 2) return 6;
        if (readv(pipes[0], parts, 2) != 2) return 7;
        return before[0] != 'x' || watched != ('g' | 'h' << 8);
    }
    "#;
    check(source, 4, AccessKinds::WRITE, 3);
}

#[test]
fn stores_of_every_thread_are_told() {
    let source = r#"
    #include <pthread.h>
    volatile int watched; static _Atomic int done;
    __attribute__((noinline)) void start(void) { __asm__ volatile(""); }
    static void *work(void *arg) {
        for (int i = 0; i < 500; i++) watched = i;
        done++;
        return arg;
    }
    int main(void) {
        pthread_t threads[4];
        pthread_create(&threads[0], 0, work, 0);
        pthread_join(threads[0], 0);
        start();
        for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, work, 0);
        for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
        return done != 5;
    }
    "#;
    check(source, 4, AccessKinds::WRITE, 2000);
}

#[test]
fn a_repeated_instruction_is_one_access() {
    let source = r#"
    char room[64]; volatile int watched; char tail[64];
    __attribute__((noinline)) void start(void) { __asm__ volatile(""); }
    static void fill(volatile void *to, int value, unsigned long count) {
        __asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(value) : "memory");
    }
    int main(void) {
        start();
        fill(&watched, 1, 4);
        fill((volatile char *)&watched - 2, 2, 8);
        fill((volatile char *)&watched + 4, 3, 4);
        fill((volatile char *)&watched, 3, 0);
        return watched != 0x02020202;
    }
    "#;
    check(source, 4, AccessKinds::WRITE, 2);
}

#[test]
fn a_handler_s_store_is_told_and_signals_repeat_nothing() {
    let source = r#"
    #include <signal.h>
    #include <sys/time.h>
    #include <unistd.h>
    volatile int watched; volatile int handled;
    __attribute__((noinline)) void start(void) { __asm__ volatile(""); }
    static void handle(int number) { watched = number; handled++; }
    int main(void) {
        signal(SIGUSR1, handle);
        start();
        for (int i = 0; i < 20; i++) { raise(SIGUSR1); watched = i; }
        return handled != 20;
    }
    "#;
    check(source, 4, AccessKinds::WRITE, 40);
}

#[test]
fn pushes_and_calls_onto_a_watched_slot_are_told() {
    let source = r#"
    __attribute__((noinline)) void start(void) { __asm__ volatile(""); }
    char stack[4096] __attribute__((aligned(16)));
    __asm__(".globl watched\n.set watched, stack + 2048 - 8");
    extern char watched;
    __attribute__((noinline)) void empty(void) { __asm__ volatile(""); }
    int main(void) {
        start();
        void *top = stack + 2048;
        __asm__ volatile(
            "mov %%rsp, %%rbx\n mov %0, %%rsp\n"
            "push %%rax\n pop %%rax\n"
            "call empty\n"
            "movq $1, -8(%%rsp)\n"
            "mov %%rbx, %%rsp\n"
            : : "r"(top) : "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory");
        return 0;
    }
    "#;
    check(source, 8, AccessKinds::WRITE, 3);
    // Also when the call is a site, which juror would emulate.
    let program = compile(source, &["-O0", "-no-pie"]);
    for tier in TIERS {
        let mut debuggee = start(&program);
        let main = program.address(&debuggee, "main");
        let mut code = [0; 256];
        debuggee.read(main, &mut code).unwrap();
        let offset = code
            .windows(3)
            .rposition(|it| it == [0x50, 0x58, 0xe8])
            .unwrap();
        let push = main + offset as u64;
        for site in [push, push + 2] {
            debuggee.insert(site, Owner::Monitor).unwrap();
        }
        watch(
            &mut debuggee,
            &program,
            "watched",
            8,
            AccessKinds::WRITE,
            tier,
        );
        let (accesses, run) = accesses(&mut debuggee);
        assert_eq!((accesses.len(), run.hits), (3, 2), "{tier:?} {accesses:?}");
    }
}

#[test]
fn more_than_the_registers_hold_are_watched_all_the_same() {
    let source = r#"
    volatile int pad[2048], a, b, c, d, e, f;
    volatile char range[64];
    __attribute__((noinline)) void start(void) { __asm__ volatile(""); }
    int main(void) {
        start();
        a = 1; b = 2; c = 3; d = 4; e = 5; f = 6; f = 6;
        for (int i = 0; i < 64; i++) range[i] = i;
        return pad[0];
    }
    "#;
    let program = compile(source, &["-O0"]);
    let mut debuggee = start(&program);
    let mut ids = Vec::new();
    for symbol in ["a", "b", "c", "d", "e", "f"] {
        let address = program.address(&debuggee, symbol);
        let range = address..address + 4;
        let id = debuggee.watch(
            &[range],
            AccessKinds::WRITE,
            Owner::Developer,
            WatchTier::Hardware,
        );
        ids.push(id.unwrap());
    }
    let range = program.address(&debuggee, "range");
    let range = range..range + 64;
    let id = debuggee.watch(
        &[range],
        AccessKinds::WRITE,
        Owner::Developer,
        WatchTier::Hardware,
    );
    ids.push(id.unwrap());
    let tiers: Vec<_> = ids
        .iter()
        .map(|&id| debuggee.watch_tier(id).unwrap())
        .collect();
    assert!(tiers[..4].iter().all(|&tier| tier == WatchTier::Hardware));
    assert!(tiers[4..].iter().all(|&tier| tier == WatchTier::Page));
    let (accesses, run) = accesses(&mut debuggee);
    run.assert_exited(0);
    let count = |id| accesses.iter().filter(|access| access.watch == id).count();
    let counts: Vec<_> = ids.iter().map(|&id| count(id)).collect();
    assert_eq!(counts, [1, 1, 1, 1, 1, 2, 64]);
    assert!(
        accesses
            .iter()
            .all(|access| access.kind == AccessKind::Write)
    );
}

#[test]
fn a_forked_child_and_a_new_program_are_free_of_watches() {
    let source = r#"
    #include <sys/wait.h>
    #include <unistd.h>
    volatile int watched;
    __attribute__((noinline)) void start(void) { __asm__ volatile(""); }
    int main(void) {
        start();
        watched = 1;
        int status, child = fork();
        if (!child) { watched = 2; _exit(watched); }
        if (waitpid(child, &status, 0) != child || status != 2 << 8) return 1;
        watched = 3;
        execl("/bin/true", "true", (char *)0);
        return 2;
    }
    "#;
    check(source, 4, AccessKinds::WRITE, 2);
}

#[test]
fn a_hardware_breakpoint_is_hit_once_each_time() {
    let source = r#"
    #include <signal.h>
    #include <sys/time.h>
    __attribute__((noinline)) void start(void) { __asm__ volatile(""); }
    volatile int count, ticks;
    __attribute__((noinline)) void work(void) { count++; }
    static void tick(int number) { ticks++; (void)number; }
    int main(void) {
        signal(SIGALRM, tick);
        struct itimerval every = {{0, 1000}, {0, 1000}};
        start();
        setitimer(ITIMER_REAL, &every, 0);
        for (int i = 0; i < 500; i++) work();
        return count != 500;
    }
    "#;
    for flags in BUILDS {
        let program = compile(source, flags);
        let mut debuggee = start(&program);
        let work = program.address(&debuggee, "work");
        debuggee.insert_hardware(work).unwrap();
        // A trap at the same place is told for itself.
        debuggee.insert(work, Owner::Monitor).unwrap();
        let mut hits = 0;
        let run = run_with(&mut debuggee, |_, event| {
            hits += usize::from(
                matches!(event, StopEvent::HardwareHit { address, .. } if *address == work),
            );
        });
        run.assert_exited(0);
        assert_eq!((hits, run.hits), (500, 500), "{flags:?}");
    }
}

#[test]
fn the_fifth_hardware_breakpoint_is_refused_and_watches_make_room() {
    let program = compile(STORES, &["-O0"]);
    let mut debuggee = start(&program);
    let id = watch(
        &mut debuggee,
        &program,
        "watched",
        4,
        AccessKinds::WRITE,
        WatchTier::Hardware,
    );
    let main = program.address(&debuggee, "main");
    for offset in 0..4 {
        debuggee.insert_hardware(main + offset).unwrap();
    }
    assert_ne!(debuggee.watch_tier(id), Some(WatchTier::Hardware));
    assert!(debuggee.insert_hardware(main + 4).is_err());
    debuggee.remove_hardware(main).unwrap();
    assert_eq!(debuggee.watch_tier(id), Some(WatchTier::Hardware));
    let (accesses, run) = accesses(&mut debuggee);
    run.assert_exited(0);
    assert_eq!(accesses.len(), 100);
}

#[test]
fn faults_and_protections_of_the_program_s_own_stay_its_own() {
    let source = r#"
    #include <signal.h>
    #include <sys/mman.h>
    struct { volatile int watched, rest[1023]; } page __attribute__((aligned(4096)));
    __asm__(".globl watched\n.set watched, page");
    volatile int faults, wrong;
    __attribute__((noinline)) void start(void) { __asm__ volatile(""); }
    static void handle(int number, siginfo_t *info, void *context) {
        faults++;
        wrong |= info->si_addr != (void *)&page.rest[7] || info->si_code != SEGV_ACCERR;
        mprotect(&page, 4096, PROT_READ | PROT_WRITE);
        (void)number; (void)context;
    }
    int main(void) {
        struct sigaction action = {.sa_flags = SA_SIGINFO};
        action.sa_sigaction = handle;
        sigaction(SIGSEGV, &action, 0);
        start();
        for (int i = 0; i < 5; i++) {
            page.watched = i;
            mprotect(&page, 4096, PROT_READ);
            page.rest[7] = i;
            page.rest[8] += i;
            page.watched = i;
        }
        return wrong || faults != 5;
    }
    "#;
    check(source, 4, AccessKinds::WRITE, 10);
}

#[test]
fn a_call_that_blocks_on_a_watched_page_does_not_hold_the_others() {
    let source = r#"
    #include <pthread.h>
    #include <unistd.h>
    volatile int watched, neighbour; static int pipes[2];
    __attribute__((noinline)) void start(void) { __asm__ volatile(""); }
    static void *receive(void *arg) {
        return read(pipes[0], (void *)&watched, 4) == 4 ? arg : 0;
    }
    int main(void) {
        pthread_t thread; void *result; int token = 7;
        if (pipe(pipes)) return 1;
        start();
        pthread_create(&thread, 0, receive, pipes);
        usleep(1000);
        for (int i = 0; i < 50; i++) { watched = i; neighbour = i; }
        if (write(pipes[1], &token, 4) != 4) return 2;
        pthread_join(thread, &result);
        return !result || watched != 7;
    }
    "#;
    check(source, 4, AccessKinds::WRITE, 51);
}

#[test]
fn detaching_leaves_nothing_behind() {
    let source = r#"
    #include <stdio.h>
    #include <unistd.h>
    volatile int watched;
    __attribute__((noinline)) void start(void) { __asm__ volatile(""); }
    int main(void) {
        start();
        for (int i = 0; i < 1000; i++) watched += i;
        printf("%d\n", watched);
        return 0;
    }
    "#;
    let program = compile(source, &["-O0"]);
    for tier in TIERS {
        let mut debuggee = start(&program);
        watch(
            &mut debuggee,
            &program,
            "watched",
            4,
            AccessKinds::WRITE,
            tier,
        );
        debuggee.resume_all().unwrap();
        let first = debuggee.wait().unwrap();
        assert!(
            matches!(first, StopEvent::Accessed { .. }),
            "{tier:?} {first:?}"
        );
        let process = debuggee.pid();
        debuggee.detach().unwrap();
        while crate::support::is_running(process) {
            std::thread::yield_now();
        }
        assert_eq!(program.output(), "499500\n", "{tier:?}");
    }
}
