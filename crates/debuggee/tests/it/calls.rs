//! Functions called on stopped threads: what they return, and that the program
//! goes on as if they had not been called.

use crate::support::{Program, compile, run_with};
use juror_debuggee::{Call, CpuPolicy, Debuggee, Owner, Owners, StopEvent, ThreadId};

/// The System V registers of integer arguments, by their DWARF numbers.
const ARGUMENTS: [u16; 3] = [5, 4, 1];

/// Makes a thread stand at the entry of a function, called with these
/// arguments.
#[track_caller]
fn begin(debuggee: &mut Debuggee, thread: ThreadId, function: u64, arguments: &[u64]) {
    let stack = (debuggee.registers(thread).unwrap().stack_pointer() - 128) & !63;
    let call = Call {
        number: 1,
        function,
        stack: stack - 8,
        registers: ARGUMENTS
            .into_iter()
            .zip(arguments.iter().copied())
            .collect(),
        ..Call::default()
    };
    debuggee.begin_call(thread, &call).unwrap();
}

/// Calls a function and lets it return; also tells how many hits of other
/// points there were on the way.
#[track_caller]
fn call(
    debuggee: &mut Debuggee,
    thread: ThreadId,
    function: u64,
    arguments: &[u64],
) -> (u64, usize) {
    begin(debuggee, thread, function, arguments);
    debuggee.resume(thread).unwrap();
    let hits = run_to_return(debuggee, thread);
    let result = debuggee.registers(thread).unwrap().result();
    debuggee.end_calls(thread, 0).unwrap();
    (result, hits)
}

#[track_caller]
fn run_to_return(debuggee: &mut Debuggee, thread: ThreadId) -> usize {
    let mut hits = 0;
    loop {
        let event = debuggee.wait().unwrap();
        if debuggee.has_returned(thread) {
            return hits;
        }
        match event {
            StopEvent::Hit { thread: hit, .. } => {
                assert_eq!(hit, thread, "another thread ran");
                hits += 1;
                debuggee.resume(hit).unwrap();
            }
            // It was on its way already.
            StopEvent::ThreadEnded { .. } | StopEvent::Forked { .. } => {}
            other => panic!("in a call: {other:?}"),
        }
    }
}

const COUNTING: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static long passes;
__attribute__((noinline)) long work(long n) {
    __atomic_add_fetch(&passes, 1, __ATOMIC_SEQ_CST);
    return n + 1;
}
static void *run(void *unused) {
    for (long i = 0; i < 200; i++)
        if (work(i) != i + 1)
            abort();
    return unused;
}
int main(int argc, char **argv) {
    pthread_t threads[8];
    int count = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], 0, run, 0);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], 0);
    printf("%ld\n", passes);
    return 0;
}
"#;

fn start_counting(program: &Program, threads: &str) -> Debuggee {
    let mut launch = program.launch();
    launch.arguments = vec![threads.into()];
    Debuggee::launch(&launch).unwrap()
}

/// The classic: the site where the program stands is reached inside the call.
#[test]
fn a_call_may_pass_the_site_at_which_its_thread_stands() {
    for flags in [["-O0"], ["-O2"]] {
        let program = compile(COUNTING, &flags);
        for threads in ["1", "4"] {
            let mut debuggee = start_counting(&program, threads);
            let work = program.address(&debuggee, "work");
            debuggee.insert(work, Owner::Developer).unwrap();
            let mut inside = 0;
            let mut outside = 0;
            let run = run_with(&mut debuggee, |debuggee, event| {
                let &StopEvent::Hit { thread, .. } = event else {
                    return;
                };
                outside += 1;
                if outside % 7 != 0 {
                    return;
                }
                debuggee.halt_all().unwrap();
                for _ in 0..2 {
                    let (result, hits) = call(debuggee, thread, work, &[41]);
                    assert_eq!((result, hits), (42, 1));
                    inside += 1;
                }
                debuggee.resume_all().unwrap();
            });
            run.assert_exited(0);
            let passes: usize = program.output().trim().parse().unwrap();
            assert_eq!(outside, 200 * threads.parse::<usize>().unwrap());
            assert_eq!(passes, outside + inside, "{flags:?}, {threads} threads");
        }
    }
}

#[test]
fn calls_nest_and_end_in_the_middle() {
    let program = compile(COUNTING, &["-O0"]);
    let mut debuggee = start_counting(&program, "1");
    let work = program.address(&debuggee, "work");
    debuggee.insert(work, Owner::Developer).unwrap();
    let mut outside = 0;
    let mut entered = 0;
    let run = run_with(&mut debuggee, |debuggee, event| {
        let &StopEvent::Hit { thread, .. } = event else {
            return;
        };
        outside += 1;
        if outside % 50 != 0 {
            return;
        }
        debuggee.halt_all().unwrap();
        let before = *debuggee.registers(thread).unwrap();
        for depth in 0..3 {
            begin(debuggee, thread, work, &[depth]);
            debuggee.resume(thread).unwrap();
            let hit = debuggee.wait().unwrap();
            let expected = StopEvent::Hit {
                thread,
                address: work,
                owners: Owners::DEVELOPER,
            };
            assert_eq!(hit, expected);
        }
        assert_eq!(debuggee.open_calls().count(), 3);
        // The second and what is inside it; the first stands at its hit.
        debuggee.end_calls(thread, 1).unwrap();
        assert_eq!(
            debuggee.registers(thread).unwrap().instruction_pointer(),
            work
        );
        assert_eq!(debuggee.registers(thread).unwrap().arguments()[0], 0);
        debuggee.resume(thread).unwrap();
        assert_eq!(run_to_return(debuggee, thread), 0);
        assert_eq!(debuggee.registers(thread).unwrap().result(), 1);
        entered += 1;
        debuggee.end_calls(thread, 0).unwrap();
        assert_eq!(*debuggee.registers(thread).unwrap(), before);
        debuggee.resume_all().unwrap();
    });
    run.assert_exited(0);
    let passes: usize = program.output().trim().parse().unwrap();
    assert_eq!((outside, entered), (200, 4));
    assert_eq!(passes, outside + entered);
}

#[test]
fn an_interrupted_system_call_is_started_again() {
    let source = r#"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static int pipes[2];
long add(long a, long b) { return a + b; }
__attribute__((noinline)) void tick(void) { __asm__ volatile(""); }
static void *writer(void *unused) {
    for (int i = 0; i < 20; i++) {
        tick();
        if (write(pipes[1], "x", 1) != 1) return 0;
    }
    return unused;
}
int main(int argc, char **argv) {
    pthread_t thread;
    int got = 0;
    if (pipe(pipes)) return 2;
    pthread_create(&thread, 0, writer, 0);
    for (char c; got < 20;) {
        if (argc > 1) {
            struct pollfd one = {pipes[0], POLLIN, 0};
            if (poll(&one, 1, 100000) != 1) { printf("poll %d\n", errno); return 1; }
        }
        if (read(pipes[0], &c, 1) != 1) { printf("read %d\n", errno); return 1; }
        got++;
    }
    pthread_join(thread, 0);
    printf("%d\n", got);
    return 0;
}
"#;
    let program = compile(source, &["-O0"]);
    for arguments in [vec![], vec!["poll".into()]] {
        let mut launch = program.launch();
        launch.arguments = arguments;
        let mut debuggee = Debuggee::launch(&launch).unwrap();
        let (tick, add) = (
            program.address(&debuggee, "tick"),
            program.address(&debuggee, "add"),
        );
        let main = ThreadId(debuggee.pid());
        debuggee.insert(tick, Owner::Developer).unwrap();
        let run = run_with(&mut debuggee, |debuggee, event| {
            if let StopEvent::Hit { .. } = event {
                debuggee.halt_all().unwrap();
                assert_eq!(call(debuggee, main, add, &[2, 3]), (5, 0));
                debuggee.resume_all().unwrap();
            }
        });
        run.assert_exited(0);
        assert_eq!((run.hits, program.output()), (20, "20\n".to_owned()));
    }
}

/// The thread is halted wherever it is: waiting for a child, or inside `fork`,
/// where the kernel stops it before the result is known.
#[test]
fn a_thread_that_makes_a_process_can_call() {
    let source = r#"
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int stop;
long add(long a, long b) { return a + b; }
__attribute__((noinline)) void tick(void) { __asm__ volatile(""); }
static void *run(void *unused) {
    for (int i = 0; i < 200; i++)
        tick();
    stop = 1;
    return unused;
}
int main(void) {
    pthread_t other;
    pthread_create(&other, 0, run, 0);
    while (!stop) {
        int status, child = fork();
        if (child == 0) _exit(7);
        if (child < 0) { perror("fork"); return 1; }
        if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7) { perror("wait"); return 2; }
    }
    pthread_join(other, 0);
    puts("made");
    return 0;
}
"#;
    let program = compile(source, &["-O0"]);
    let mut launch = program.launch();
    launch.cpu = CpuPolicy::Free;
    let mut debuggee = Debuggee::launch(&launch).unwrap();
    let (add, tick) = (
        program.address(&debuggee, "add"),
        program.address(&debuggee, "tick"),
    );
    debuggee.insert(tick, Owner::Developer).unwrap();
    let main = ThreadId(debuggee.pid());
    let run = run_with(&mut debuggee, |debuggee, event| {
        if let StopEvent::Hit { .. } = event {
            debuggee.halt_all().unwrap();
            assert_eq!(call(debuggee, main, add, &[20, 22]), (42, 0));
            debuggee.resume_all().unwrap();
        }
    });
    run.assert_exited(0);
    assert_eq!((run.hits, program.output()), (200, "made\n".to_owned()));
}

#[test]
fn all_registers_are_as_before() {
    let source = r#"
#include <stdio.h>
#include <string.h>
__attribute__((noinline)) void stain(void) {
    __asm__ volatile(
        "fninit\n fldpi\n fldpi\n fldpi\n fldpi\n fldpi\n fldpi\n fldpi\n fldpi\n"
        "pcmpeqb %%xmm0, %%xmm0\n movdqa %%xmm0, %%xmm7\n movdqa %%xmm0, %%xmm15\n"
        "mov $-1, %%rax\n mov %%rax, %%rcx\n mov %%rax, %%r11\n fninit\n"
        ::: "rax", "rcx", "r11", "xmm0", "xmm7", "xmm15", "memory");
}
__attribute__((target("avx"), noinline)) void stain_high(void) {
    __asm__ volatile("vpcmpeqb %%xmm1, %%xmm1, %%xmm1\n vinsertf128 $1, %%xmm1, %%ymm1, %%ymm1\n"
        "vmovaps %%ymm1, %%ymm9\n" ::: "xmm1", "xmm9");
}
void spoil(void) { stain(); if (__builtin_cpu_supports("avx")) stain_high(); }
__attribute__((target("avx"), noinline)) static int high(void) {
    long in[4] = {1, 2, 3, 4}, out[4] = {0};
    __asm__ volatile("vmovdqu (%0), %%ymm9\n .globl site_high\nsite_high: nop\n vmovdqu %%ymm9, (%1)\n"
        :: "r"(in), "r"(out) : "xmm9", "memory");
    return memcmp(in, out, sizeof in);
}
int main(void) {
    long in[2] = {0x1122334455667788, 42}, out[2] = {0}, a = 0, b = 0;
    double one = 0;
    /* The red zone of a leaf is in use, the carry and direction flags are set. */
    __asm__ volatile("movq %4, %%rax\n movdqu (%%rax), %%xmm15\n mov $17, %%ecx\n mov $19, %%r11d\n"
        "movq $77, -120(%%rsp)\n fld1\n stc\n std\n .globl site\nsite: nop\n cld\n"
        "adc $0, %%rcx\n movq -120(%%rsp), %%rax\n add %%rax, %%r11\n fstpl %0\n movdqu %%xmm15, (%5)\n"
        "mov %%rcx, %1\n mov %%r11, %2\n"
        : "=m"(one), "=m"(a), "=m"(b) : "m"(*in), "r"(in), "r"(out)
        : "rax", "rcx", "r11", "xmm15", "memory");
    int wrong = memcmp(in, out, sizeof in) || one != 1.0 || a != 18 || b != 96;
    if (__builtin_cpu_supports("avx")) wrong |= high() ? 2 : 0;
    printf("%d\n", wrong);
    return wrong;
}
"#;
    let program = compile(source, &["-O1", "-fno-stack-protector"]);
    let mut debuggee = program.start();
    let spoil = program.address(&debuggee, "spoil");
    let sites = ["site", "site_high"].map(|name| program.address(&debuggee, name));
    for site in sites {
        debuggee.insert(site, Owner::Developer).unwrap();
    }
    let run = run_with(&mut debuggee, |debuggee, event| {
        if let &StopEvent::Hit { thread, .. } = event {
            call(debuggee, thread, spoil, &[]);
        }
    });
    assert!(run.hits >= 1);
    run.assert_exited(0);
}

#[test]
fn a_signal_that_waits_comes_after_the_call() {
    let source = r#"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
static volatile int value;
long twice(long n) { return 2 * n; }
int main(void) {
    int *nowhere = (int *)(long)value;
    *nowhere = 1;
    return 0;
}
"#;
    let program = compile(source, &["-O0"]);
    let mut debuggee = program.start();
    let twice = program.address(&debuggee, "twice");
    let mut seen = 0;
    let run = run_with(&mut debuggee, |debuggee, event| {
        if let &StopEvent::Signal { thread, .. } = event {
            seen += 1;
            assert_eq!(call(debuggee, thread, twice, &[21]), (42, 0));
        }
    });
    assert_eq!(seen, 1);
    assert!(matches!(
        run.end,
        Some(StopEvent::Killed {
            signal: libc::SIGSEGV,
            ..
        })
    ));
}

#[test]
fn a_process_that_ends_inside_a_call_is_gone() {
    let program = compile(COUNTING, &["-O0"]);
    let mut debuggee = start_counting(&program, "2");
    let work = program.address(&debuggee, "work");
    debuggee.insert(work, Owner::Developer).unwrap();
    let mut is_first = true;
    let exit = crate::support::file_address(&program.path, "main");
    let mut run = run_with(&mut debuggee, |debuggee, event| {
        if let &StopEvent::Hit { thread, .. } = event
            && std::mem::take(&mut is_first)
        {
            debuggee.halt_all().unwrap();
            // `main`, called again by a thread: counts on, and returns.
            let main = work - crate::support::file_address(&program.path, "work") + exit;
            begin(debuggee, thread, main, &[1, 0]);
            debuggee.resume(thread).unwrap();
            debuggee.kill().unwrap();
            assert_eq!(debuggee.open_calls().count(), 0);
        }
    });
    assert!(matches!(
        run.end.take(),
        Some(StopEvent::Killed {
            signal: libc::SIGKILL,
            ..
        })
    ));
}

#[test]
fn the_stack_grows_for_a_large_argument() {
    let source = r#"
#include <stdio.h>
long first(const char *text) { return text[0]; }
__attribute__((noinline)) void stop(void) { __asm__ volatile(""); }
int main(void) { stop(); puts("done"); return 0; }
"#;
    let program = compile(source, &["-O0"]);
    let mut debuggee = program.start();
    let (stop, first) = (
        program.address(&debuggee, "stop"),
        program.address(&debuggee, "first"),
    );
    debuggee.insert(stop, Owner::Developer).unwrap();
    let run = run_with(&mut debuggee, |debuggee, event| {
        if let &StopEvent::Hit { thread, .. } = event {
            let size = 1 << 20;
            let stack =
                ((debuggee.registers(thread).unwrap().stack_pointer() - 128 - size) & !63) - 8;
            let call = Call {
                function: first,
                stack,
                above: vec![b'z'; size as usize],
                registers: vec![(5, stack + 8)],
                ..Call::default()
            };
            debuggee.begin_call(thread, &call).unwrap();
            debuggee.resume(thread).unwrap();
            assert_eq!(run_to_return(debuggee, thread), 0);
            assert_eq!(
                debuggee.registers(thread).unwrap().result(),
                u64::from(b'z')
            );
            debuggee.end_calls(thread, 0).unwrap();
            // More than any stack has.
            let huge = Call {
                stack: 4096,
                above: vec![0; 16],
                ..call
            };
            let error = debuggee.begin_call(thread, &huge).unwrap_err();
            assert!(error.to_string().contains("stack left"), "{error}");
            assert_eq!(debuggee.open_calls().count(), 0);
        }
    });
    run.assert_exited(0);
    assert_eq!(program.output(), "done\n");
}

#[test]
fn detaching_puts_the_thread_back() {
    let program = compile(COUNTING, &["-O0"]);
    let mut debuggee = start_counting(&program, "1");
    let work = program.address(&debuggee, "work");
    debuggee.insert(work, Owner::Developer).unwrap();
    debuggee.resume_all().unwrap();
    let thread = loop {
        match debuggee.wait().unwrap() {
            StopEvent::Hit { thread, .. } => break thread,
            other => {
                if let Some(thread) = other.waiting_thread() {
                    debuggee.resume(thread).unwrap();
                }
            }
        }
    };
    debuggee.halt_all().unwrap();
    begin(&mut debuggee, thread, work, &[1]);
    let process = debuggee.pid();
    debuggee.detach().unwrap();
    // Nobody traces it now; it is still the child of this test.
    let mut status = 0;
    // SAFETY: a system call on a live integer.
    let waited = unsafe { libc::waitpid(process as i32, &raw mut status, 0) };
    assert_eq!(waited, process as i32);
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0);
    assert_eq!(program.output(), "200\n");
}
