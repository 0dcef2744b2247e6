//! With a filter only some system calls stop; what is reported of them is the same as if every
//! call stopped.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::{Program, compile, run_with};
use juror_debuggee::{
    CallStops, Debuggee, Launch, StopEvent, SystemCallPhase, SystemCalls, ThreadId,
};

/// Makes calls of each kind, and prints how many of the counted ones it has made itself.
const KINDS: &str = r#"
    #define _GNU_SOURCE
    #include <errno.h>
    #include <pthread.h>
    #include <sched.h>
    #include <signal.h>
    #include <spawn.h>
    #include <stdio.h>
    #include <string.h>
    #include <sys/syscall.h>
    #include <sys/time.h>
    #include <sys/wait.h>
    #include <time.h>
    #include <unistd.h>
    static int counts[3];
    static volatile int signals;
    static long ask(void) {
        __atomic_add_fetch(&counts[0], 1, __ATOMIC_RELAXED);
        return syscall(SYS_getppid);
    }
    static void handle(int signal) { signals++; ask(); }
    static void *work(void *unused) {
        for (int i = 0; i < 20; i++) { ask(); syscall(SYS_gettid); }
        return unused;
    }
    static long narrow(long number) {
        long result;
        __asm__ volatile("int $0x80" : "=a"(result) : "0"(number) : "memory");
        return result;
    }
    int main(int argc, char **argv) {
        if (argc > 1) return syscall(SYS_getppid) == -1;
        setvbuf(stdout, 0, _IOFBF, 4096);
        int wrong = 0;
        for (int i = 0; i < 10; i++) { wrong += ask() < 0; syscall(SYS_getuid); }
        pthread_t threads[2];
        for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
        for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
        struct sigaction action = { .sa_handler = handle };
        sigaction(SIGUSR1, &action, 0);
        raise(SIGUSR1);
        /* 20 is getpid in programs of 32 bits, and writev in others; 110 is getppid. */
        for (int i = 0; i < 3; i++) narrow(20), narrow(64);
        /* x32 */
        wrong += syscall(0x40000000 | SYS_getppid) > 0 && 0;
        pid_t child = fork();
        if (child == 0) _exit(syscall(SYS_getppid) == -1 || syscall(SYS_getuid) == -1);
        int status = -1;
        waitpid(child, &status, 0);
        wrong += status != 0;
        child = vfork();
        if (child == 0) {
            syscall(SYS_getppid);
            execl(argv[0], argv[0], "again", (char *)0);
            _exit(9);
        }
        waitpid(child, &status, 0);
        wrong += status != 0;
        char *none[] = {"/nothing", 0};
        wrong += execve(none[0], none, none) != -1 || errno != ENOENT;
        counts[1]++;
        struct timespec time = {0, 1000};
        nanosleep(&time, 0);
        counts[2]++;
        ask();
        printf("%d %d %d %d %d\n", counts[0], counts[1], counts[2], signals, wrong);
        fflush(stdout);
        return 0;
    }"#;

const NAMED: [i64; 4] = [
    libc::SYS_getppid,
    libc::SYS_execve,
    libc::SYS_clock_nanosleep,
    libc::SYS_exit_group,
];

fn numbers(calls: &[i64]) -> BTreeSet<u64> {
    calls.iter().map(|&it| it as u64).collect()
}

#[track_caller]
fn start(program: &Program, call_stops: CallStops) -> Debuggee {
    Debuggee::launch(&Launch {
        call_stops,
        ..program.launch()
    })
    .unwrap()
}

/// What is told of a call: the result, or the first argument.
type Told = (u64, bool, u64);

/// The calls of each thread in the order of its creation, with what is told of each.
#[track_caller]
fn told(debuggee: &mut Debuggee) -> (Vec<Vec<Told>>, usize) {
    let mut threads: Vec<ThreadId> = Vec::new();
    let mut all: BTreeMap<usize, Vec<Told>> = BTreeMap::new();
    let mut stops = 0;
    let run = run_with(debuggee, |_, event| {
        let StopEvent::SystemCall {
            thread,
            number,
            phase,
        } = event
        else {
            return;
        };
        stops += 1;
        let index = threads
            .iter()
            .position(|it| it == thread)
            .unwrap_or_else(|| {
                threads.push(*thread);
                threads.len() - 1
            });
        let (is_entry, value) = match phase {
            // Addresses are the same in both runs, but for those of `vfork`.
            SystemCallPhase::Entry { .. } => (true, 0),
            SystemCallPhase::Exit { result } => (false, *result as u64),
        };
        all.entry(index)
            .or_default()
            .push((*number, is_entry, value));
    });
    run.assert_exited(0);
    // Threads that run side by side report in any order.
    let mut lists: Vec<Vec<Told>> = all.into_values().collect();
    lists.sort();
    (lists, stops)
}

#[test]
fn the_same_is_told_as_if_every_call_stopped() {
    for flags in [
        &["-O0", "-pthread"][..],
        &["-O2", "-pthread", "-static"][..],
    ] {
        let program = compile(KINDS, flags);
        let mut all_told = Vec::new();
        for stops in [
            CallStops::Unfiltered,
            CallStops::FilterOnly(numbers(&NAMED)),
        ] {
            let is_filtered = stops != CallStops::Unfiltered;
            let mut debuggee = start(&program, stops);
            assert_eq!(debuggee.call_stops().is_some(), is_filtered);
            debuggee.catch_system_calls(SystemCalls::Only(numbers(&NAMED)));
            let (told, stops) = told(&mut debuggee);
            assert_eq!(program.output(), "52 1 1 1 0\n");
            let is_ask = |it: &&Told| it.0 == libc::SYS_getppid as u64;
            assert_eq!(told.iter().flatten().filter(is_ask).count(), 104);
            assert_eq!(stops, 104 + 2 + 2 + 1);
            all_told.push(told);
        }
        assert_eq!(all_told[0], all_told[1], "{flags:?}");
    }
}

#[test]
fn an_exit_that_nobody_needs_does_not_stop() {
    let program = compile(KINDS, &["-O0", "-pthread"]);
    let mut debuggee = start(&program, CallStops::FilterOnly(numbers(&NAMED)));
    let exits = SystemCalls::Only(numbers(&[libc::SYS_execve]));
    debuggee.monitor_system_calls(SystemCalls::Only(numbers(&NAMED)), exits);
    let (told, _) = told(&mut debuggee);
    assert_eq!(program.output(), "52 1 1 1 0\n");
    let exits: Vec<&Told> = told.iter().flatten().filter(|it| !it.1).collect();
    let refused = -i64::from(libc::ENOENT) as u64;
    assert_eq!(exits, [&(libc::SYS_execve as u64, false, refused)]);
    assert_eq!(told.iter().flatten().count(), 52 + 2 + 1 + 1);
}

#[test]
fn needs_beyond_the_filter_make_every_call_stop_and_go_again() {
    let program = compile(KINDS, &["-O0", "-pthread"]);
    let mut debuggee = start(&program, CallStops::FilterOnly(numbers(&NAMED)));
    let named = SystemCalls::Only(numbers(&NAMED));
    debuggee.monitor_system_calls(named.clone(), named);
    let (mut asked, mut others, mut stops) = (0, 0, 0);
    let run = run_with(&mut debuggee, |debuggee, event| {
        let StopEvent::SystemCall { number, .. } = event else {
            return;
        };
        stops += 1;
        let is_ask = *number == libc::SYS_getppid as u64;
        asked += usize::from(is_ask);
        others += usize::from(*number == libc::SYS_getuid as u64);
        // The developer's calls change at entries and at exits.
        debuggee.catch_system_calls(match stops % 7 {
            0..3 => SystemCalls::None,
            _ => SystemCalls::Only(numbers(&[libc::SYS_getuid])),
        });
    });
    run.assert_exited(0);
    assert_eq!(program.output(), "52 1 1 1 0\n");
    assert_eq!(asked, 104);
    assert!((1..20).contains(&others), "{others}");
}

#[test]
fn a_filter_of_the_program_itself_hides_no_call() {
    let source = r#"
        #include <errno.h>
        #include <linux/filter.h>
        #include <linux/seccomp.h>
        #include <stddef.h>
        #include <stdio.h>
        #include <sys/prctl.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        int main(void) {
            int wrong = 0;
            for (int i = 0; i < 3; i++) wrong += syscall(SYS_getppid) <= 0;
            struct sock_filter code[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getuid, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE | 5),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
            };
            struct sock_fprog filter = {sizeof code / sizeof *code, code};
            prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) return 8;
            for (int i = 0; i < 4; i++)
                wrong += syscall(SYS_getppid) != -1 || errno != EPERM;
            /* There is no tracer, as far as the program can see. */
            wrong += syscall(SYS_getuid) != -1 || errno != ENOSYS;
            printf("%d\n", wrong);
            return 0;
        }"#;
    let program = compile(source, &["-O0"]);
    for stops in [
        CallStops::Unfiltered,
        CallStops::FilterOnly(numbers(&[libc::SYS_getppid])),
    ] {
        let mut debuggee = start(&program, stops);
        let asked = SystemCalls::Only(numbers(&[libc::SYS_getppid]));
        debuggee.monitor_system_calls(asked.clone(), asked);
        let (told, _) = told(&mut debuggee);
        assert_eq!(program.output(), "0\n");
        assert_eq!(told[0].len(), 14);
        let refused = -i64::from(libc::EPERM) as u64;
        let refusals = told[0].iter().filter(|it| it.2 == refused);
        assert_eq!(refusals.count(), 4);
    }
}

#[test]
fn a_number_that_is_changed_at_the_entry_is_another_call() {
    let source = r#"
        #include <stdio.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        int main(void) {
            long first = syscall(SYS_getppid), second = syscall(SYS_getppid);
            printf("%d %d\n", first == getpid(), second == getppid());
            return 0;
        }"#;
    let program = compile(source, &["-O0"]);
    let mut all = Vec::new();
    for stops in [
        CallStops::Unfiltered,
        CallStops::FilterOnly(numbers(&[libc::SYS_getppid])),
    ] {
        let mut debuggee = start(&program, stops);
        debuggee.catch_system_calls(SystemCalls::Only(numbers(&[libc::SYS_getppid])));
        let mut told = Vec::new();
        let run = run_with(&mut debuggee, |debuggee, event| {
            let StopEvent::SystemCall { thread, phase, .. } = event else {
                return;
            };
            let is_entry = matches!(phase, SystemCallPhase::Entry { .. });
            if told.is_empty() {
                let mut registers = *debuggee.registers(*thread).unwrap();
                registers.set_system_call(libc::SYS_getpid as u64);
                debuggee.set_registers(*thread, &registers).unwrap();
            }
            told.push(is_entry);
        });
        run.assert_exited(0);
        assert_eq!(program.output(), "1 1\n");
        all.push(told);
    }
    assert_eq!(all[0], all[1]);
    assert_eq!(all[0], [true, true, false, true, false]);
}

/// A call that a signal interrupts while it waits is left and entered again by the kernel.
#[test]
fn a_call_that_the_kernel_restarts_is_entered_twice() {
    let source = r#"
        #include <signal.h>
        #include <stdio.h>
        #include <string.h>
        #include <sys/syscall.h>
        #include <sys/wait.h>
        #include <unistd.h>
        static int handled, ends[2];
        static void handle(int signal) { handled++; write(ends[1], "x", 1); }
        static int waits(int process) {
            char name[64], text[256] = "";
            snprintf(name, sizeof name, "/proc/%d/stat", process);
            FILE *file = fopen(name, "r");
            if (!fgets(text, sizeof text, file)) text[0] = 0;
            fclose(file);
            return strstr(text, ") S ") != 0;
        }
        int main(void) {
            struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };
            sigaction(SIGUSR1, &action, 0);
            int parent = getpid();
            char byte = 0;
            pipe(ends);
            pid_t child = fork();
            if (child == 0) {
                while (!waits(parent)) {}
                kill(parent, SIGUSR1);
                _exit(0);
            }
            syscall(SYS_readv, ends[0], &(struct { char *to; size_t size; }){&byte, 1}, 1);
            waitpid(child, 0, 0);
            printf("%c %d\n", byte, handled);
            return 0;
        }"#;
    let program = compile(source, &["-O0"]);
    let named = numbers(&[libc::SYS_readv]);
    for stops in [CallStops::Unfiltered, CallStops::FilterOnly(named.clone())] {
        let mut debuggee = start(&program, stops);
        debuggee.catch_system_calls(SystemCalls::Only(named.clone()));
        let (told, _) = told(&mut debuggee);
        assert_eq!(program.output(), "x 1\n");
        let number = libc::SYS_readv as u64;
        let restarts = -512_i64 as u64;
        let once = [(number, true, 0), (number, false, restarts)];
        let again = [(number, true, 0), (number, false, 1)];
        assert_eq!(told, [[once, again].concat()]);
    }
}
