//! What may happen to a thread in the middle of an instruction with a point on
//! it: its page goes away, its process is killed, a person repairs its fault or
//! sets it elsewhere.

use juror_arch::Register;
use std::io::Read;
use std::os::fd::AsRawFd;

use crate::support::{Program, compile, run_with};
use juror_debuggee::{Debuggee, Owner, StepBy, StopEvent};

/// Every way to pass a site and to step.
const WAYS: [(bool, StepBy); 3] = [
    (false, StepBy::TraceFlag),
    (true, StepBy::TraceFlag),
    (true, StepBy::FollowSet),
];

fn start(program: &Program, (in_place, step_by): (bool, StepBy)) -> Debuggee {
    let mut launch = program.launch();
    (launch.in_place, launch.step_by) = (in_place, step_by);
    Debuggee::launch(&launch).unwrap()
}

/// `made(code)` says where code has been made that has a point to come.
const MADE: &str = r#"
    #define _GNU_SOURCE
    #include <pthread.h>
    #include <sched.h>
    #include <setjmp.h>
    #include <signal.h>
    #include <stdatomic.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <ucontext.h>
    #include <unistd.h>
    __attribute__((noinline)) void made(unsigned char *code) { __asm__ volatile("" : : "r"(code)); }
    static const int any = PROT_READ | PROT_WRITE | PROT_EXEC;
"#;

/// The code counts in memory and returns. While four threads run through it,
/// its page goes away; who finds it gone leaves, and waits for the next.
#[test]
fn a_page_may_go_away_under_threads_that_pass() {
    let rest = r#"
    static atomic_long counts[4];
    static atomic_int inside, generation, is_over;
    static __thread sigjmp_buf out;
    static unsigned char *code;
    /* lock incq (%rdi); ret */
    static const unsigned char bytes[] = { 0xf0, 0x48, 0xff, 0x07, 0xc3 };
    static void leave(int signal) { siglongjmp(out, 1); }
    static void *work(void *count) {
        int seen = 0;
        for (;;) {
            while (generation == seen && !is_over) sched_yield();
            if (is_over) return 0;
            seen = generation;
            if (!sigsetjmp(out, 1))
                for (;;) ((void (*)(void *))code)(count);
            inside--;
        }
    }
    int main(void) {
        signal(SIGSEGV, leave);
        pthread_t threads[4];
        for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, work, &counts[i]);
        code = mmap(0, 4096, any, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (int round = 0; round < 30; round++) {
            mmap(code, 4096, any, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
            memcpy(code, bytes, sizeof bytes);
            made(code);
            inside = 4;
            long wanted = counts[round % 4] + 20;
            generation++;
            while (counts[round % 4] < wanted) sched_yield();
            munmap(code, 4096);
            while (inside) sched_yield();
        }
        is_over = 1;
        for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
        long sum = 0;
        for (int i = 0; i < 4; i++) sum += counts[i];
        printf("%ld\n", sum);
        return 0;
    }"#;
    let program = compile(&format!("{MADE}{rest}"), &["-O1"]);
    for way in WAYS {
        let mut debuggee = start(&program, way);
        let made = program.address(&debuggee, "made");
        debuggee.insert(made, Owner::Internal).unwrap();
        let (mut code, mut hits, mut rounds) = (None, 0, 0);
        run_with(&mut debuggee, |debuggee, event| match *event {
            StopEvent::Hit {
                thread, address, ..
            } if address == made => {
                rounds += 1;
                // The trap of the last round is gone with its page.
                if let Some(code) = code {
                    debuggee.remove(code, Owner::Monitor).unwrap();
                }
                let made = debuggee.registers(thread).unwrap().arguments()[0];
                debuggee.insert(made, Owner::Monitor).unwrap();
                code = Some(made);
            }
            StopEvent::Hit { address, .. } => {
                assert_eq!(Some(address), code);
                hits += 1;
            }
            _ => {}
        })
        .assert_exited(0);
        let executed: usize = program.output().trim().parse().unwrap();
        assert_eq!(rounds, 30, "{way:?}");
        // A thread in each round may be told of and find its instruction gone.
        assert!(executed <= hits, "{executed} of {hits}: {way:?}");
        assert!(
            hits <= executed + 4 * rounds,
            "{executed} of {hits}: {way:?}"
        );
    }
}

/// An instruction whose second byte is on the next page, which may not be read
/// now and then: the fault is that of fetching it, and is told to the program
/// as if nobody watched.
#[test]
fn an_instruction_may_lie_across_pages_of_which_one_goes() {
    let rest = r#"
    static unsigned char *code;
    static volatile int faults, wrong;
    static void repair(int signal, siginfo_t *information, void *context) {
        unsigned char *at = (void *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
        wrong += at != code || information->si_addr != code + 1;
        faults++;
        mprotect(code + 1, 4096, any);
    }
    /* incl %edi; movl %edi, %eax; ret */
    static const unsigned char bytes[] = { 0xff, 0xc7, 0x89, 0xf8, 0xc3 };
    int main(void) {
        struct sigaction action = { .sa_sigaction = repair, .sa_flags = SA_SIGINFO };
        sigaction(SIGSEGV, &action, 0);
        code = mmap(0, 8192, any, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        code += 4095;
        memcpy(code, bytes, sizeof bytes);
        made(code);
        int good = 0;
        for (int i = 0; i < 10; i++) {
            mprotect(code + 1, 4096, PROT_NONE);
            good += ((int (*)(int))code)(i) == i + 1;
            good += ((int (*)(int))code)(i) == i + 1;
        }
        printf("%d %d %d\n", good, faults, wrong);
        return 0;
    }"#;
    let program = compile(&format!("{MADE}{rest}"), &["-O1"]);
    for way in WAYS {
        let mut debuggee = start(&program, way);
        let made = program.address(&debuggee, "made");
        debuggee.insert(made, Owner::Internal).unwrap();
        let mut hits = 0;
        run_with(&mut debuggee, |debuggee, event| match *event {
            StopEvent::Hit {
                thread, address, ..
            } if address == made => {
                let code = debuggee.registers(thread).unwrap().arguments()[0];
                debuggee.insert(code, Owner::Monitor).unwrap();
            }
            StopEvent::Hit { .. } => hits += 1,
            _ => {}
        })
        .assert_exited(0);
        assert_eq!(program.output(), "20 10 0\n", "{way:?}");
        assert_eq!(hits, 20, "{way:?}");
    }
}

/// A `rep movsb` faults in the middle and is interrupted by a timer: it is one
/// execution all the same.
#[test]
fn a_repeated_instruction_is_one_execution_whatever_interrupts_it() {
    let source = r#"
    #include <signal.h>
    #include <stdio.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <sys/time.h>
    void copy(void *to, const void *from, long length);
    __asm__(".globl copy, point\n.type copy,@function\ncopy: movq %rdx, %rcx\n"
            "point: rep movsb\nret\n");
    static char *page, text[600];
    static volatile int faults, ticks;
    static void repair(int signal) { faults++; mprotect(page + 4096, 4096, PROT_READ | PROT_WRITE); }
    static void tick(int signal) { ticks++; }
    int main(void) {
        page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memset(text, 'x', sizeof text);
        signal(SIGSEGV, repair);
        signal(SIGALRM, tick);
        struct itimerval often = { { 0, 700 }, { 0, 700 } };
        setitimer(ITIMER_REAL, &often, 0);
        int good = 0;
        for (int i = 0; i < 10; i++) {
            memset(page, 0, 8192);
            mprotect(page + 4096, 4096, PROT_NONE);
            copy(page + 4096 - 300, text, sizeof text);
            good += !memcmp(page + 4096 - 300, text, sizeof text);
        }
        printf("%d %d\n", good, faults);
        return 0;
    }"#;
    let program = compile(source, &["-O1"]);
    for way in WAYS {
        let mut debuggee = start(&program, way);
        let point = program.address(&debuggee, "point");
        debuggee.insert(point, Owner::Monitor).unwrap();
        let mut hits = 0;
        run_with(&mut debuggee, |_, event| {
            hits += usize::from(matches!(event, StopEvent::Hit { .. }));
        })
        .assert_exited(0);
        assert_eq!(program.output(), "10 10\n", "{way:?}");
        assert_eq!(hits, 10, "{way:?}");
    }
}

/// A load through a register that the person at the prompt puts right when it
/// has faulted: the program hears of nothing, and the load is one event.
#[test]
fn a_person_may_repair_a_fault_or_go_elsewhere() {
    let source = r#"
    #include <stdio.h>
    int load(int *from);
    __asm__(".globl load, skipped\n.type load,@function\n"
            "load: movl (%rdi), %eax\nskipped: ret\n");
    int good = 7;
    int main(void) {
        int sum = 0;
        for (int i = 0; i < 5; i++) sum += load((int *)8);
        for (int i = 0; i < 5; i++) sum += load(&good);
        printf("%d\n", sum);
        return 0;
    }"#;
    let program = compile(source, &["-O1"]);
    for way in WAYS {
        let mut debuggee = start(&program, way);
        let load = program.address(&debuggee, "load");
        let good = program.address(&debuggee, "good");
        let skipped = program.address(&debuggee, "skipped");
        debuggee.insert(load, Owner::Monitor).unwrap();
        debuggee.insert(skipped, Owner::Monitor).unwrap();
        let (mut loads, mut returns, mut faults) = (0, 0, 0);
        run_with(&mut debuggee, |debuggee, event| match *event {
            StopEvent::Hit {
                thread, address, ..
            } => {
                let mut registers = *debuggee.registers(thread).unwrap();
                assert_eq!(registers.instruction_pointer(), address, "{way:?}");
                loads += usize::from(address == load);
                returns += usize::from(address == skipped);
                // The ninth load is not made, and the last one is made twice.
                if (address, loads) == (load, 9) {
                    registers.set_result(100);
                    registers.set_instruction_pointer(skipped);
                } else if (address, returns) == (skipped, 10) {
                    registers.set_instruction_pointer(load);
                }
                debuggee.set_registers(thread, &registers).unwrap();
            }
            StopEvent::Signal { thread, signal, .. } => {
                faults += 1;
                assert_eq!(signal, libc::SIGSEGV);
                let mut registers = *debuggee.registers(thread).unwrap();
                assert_eq!(registers.instruction_pointer(), load, "{way:?}");
                registers.set(Register::Rdi, good);
                debuggee.set_registers(thread, &registers).unwrap();
                debuggee.set_delivery(thread, false).unwrap();
            }
            _ => {}
        })
        .assert_exited(0);
        assert_eq!(faults, 5, "{way:?}");
        assert_eq!((loads, returns), (11, 11), "{way:?}");
        assert_eq!(program.output(), format!("{}\n", 9 * 7 + 100), "{way:?}");
    }
}

/// The process is killed while its threads are everywhere on their way past
/// sites, and some in a `fork` or `vfork`: it is gone, and no process is left
/// standing.
#[test]
fn a_process_may_be_killed_in_the_middle_of_everything() {
    let source = r#"
    #include <pthread.h>
    #include <unistd.h>
    static volatile int sum;
    __attribute__((noinline)) void work(void) { sum++; }
    static void *pass(void *unused) { for (;;) work(); return unused; }
    static void *make(void *unused) {
        for (;;) {
            if (!fork()) { work(); _exit(0); }
            if (!vfork()) { for (int i = 0; i < 20; i++) work(); _exit(0); }
        }
        return unused;
    }
    int main(void) {
        pthread_t thread;
        for (int i = 0; i < 3; i++) pthread_create(&thread, 0, pass, 0);
        make(0);
        return 0;
    }"#;
    let program = compile(source, &["-O1"]);
    for way in WAYS {
        for last in [1, 20, 33, 47, 60, 81, 99, 120] {
            // Each process of the program has the writing end.
            let (mut reader, writer) = std::io::pipe().unwrap();
            let mut launch = program.launch();
            (launch.in_place, launch.step_by) = (way.0, way.1);
            launch.output =
                juror_debuggee::Redirection::File(format!("/dev/fd/{}", writer.as_raw_fd()).into());
            let mut debuggee = Debuggee::launch(&launch).unwrap();
            drop(writer);
            let work = program.address(&debuggee, "work");
            debuggee.insert(work, Owner::Monitor).unwrap();
            let process = debuggee.pid() as i32;
            let mut hits = 0;
            let run = run_with(&mut debuggee, |_, event| {
                if let StopEvent::Hit { .. } = event {
                    hits += 1;
                    if hits == last {
                        // SAFETY: a system call on plain numbers.
                        assert_eq!(unsafe { libc::kill(process, libc::SIGKILL) }, 0);
                    }
                }
            });
            let is_killed = matches!(
                run.end,
                Some(StopEvent::Killed {
                    signal: libc::SIGKILL,
                    ..
                })
            );
            assert!(is_killed, "{:?}: {way:?}", run.end);
            // It ends with the last process that has the pipe.
            let mut rest = Vec::new();
            reader.read_to_end(&mut rest).unwrap();
            assert_eq!(rest, b"", "{way:?}");
        }
    }
}
