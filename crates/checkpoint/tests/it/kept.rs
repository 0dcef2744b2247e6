//! What a process has open, and the many checkpoints of one.

use crate::support::{compile, restore, run_hits};
use juror_checkpoint::{Checkpoint, Loss, Settings};
use juror_debuggee::StopEvent;
use juror_testing::may_choose_thread_numbers;

const KINDS: &str = r#"
    #define _GNU_SOURCE
    #include <fcntl.h>
    #include <signal.h>
    #include <stdint.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/eventfd.h>
    #include <sys/mman.h>
    #include <sys/socket.h>
    #include <sys/time.h>
    #include <sys/timerfd.h>
    #include <time.h>
    #include <unistd.h>

    static volatile int alarms, others;
    static void handle(int number) { number == SIGALRM ? alarms++ : others++; }
    __attribute__((noinline)) void point(void) { __asm__ volatile(""); }

    int main(int argc, char **argv) {
        signal(SIGALRM, handle);
        signal(SIGUSR1, handle);
        signal(SIGUSR2, handle);
        /* An overwritten file, and one that grows at its end. */
        int file = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
        char name[256];
        snprintf(name, sizeof name, "%s.log", argv[1]);
        int log = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
        write(file, "before", 6);
        write(log, "one\n", 4);
        int counter = eventfd(5, EFD_NONBLOCK), clock = timerfd_create(CLOCK_MONOTONIC, 0);
        struct itimerspec soon = {{0, 0}, {0, 300000000}};
        timerfd_settime(clock, 0, &soon, 0);
        timer_t timer;
        struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
        timer_create(CLOCK_MONOTONIC, &event, &timer);
        timer_delete(timer);
        timer_create(CLOCK_MONOTONIC, &event, &timer);
        timer_settime(timer, 0, &soon, 0);
        struct itimerval real = {{0, 0}, {0, 300000}};
        setitimer(ITIMER_REAL, &real, 0);
        char *shared = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        strcpy(shared + 70000, "first");
        /* A signal that waits. */
        sigset_t blocked;
        sigemptyset(&blocked);
        sigaddset(&blocked, SIGUSR2);
        sigprocmask(SIG_BLOCK, &blocked, 0);
        raise(SIGUSR2);
        if (argc > 2) socketpair(AF_UNIX, SOCK_STREAM, 0, (int[2]){0});
        int opened = open("/dev/null", O_RDONLY);

        point();

        close(opened);
        pwrite(file, "AFTER", 5, 0);
        lseek(file, 0, SEEK_END);
        write(log, "two\n", 4);
        uint64_t value = 2;
        write(counter, &value, 8);
        strcpy(shared + 70000, "second");
        strcpy(shared + 200000, "third");

        point();

        read(counter, &value, 8);
        char contents[7] = "", logged[64] = "";
        off_t offset = lseek(file, 0, SEEK_CUR);
        pread(file, contents, 6, 0);
        int reader = open(name, O_RDONLY);
        read(reader, logged, sizeof logged - 1);
        uint64_t ends;
        read(clock, &ends, 8);
        while (!alarms || !others) usleep(1000);
        sigprocmask(SIG_UNBLOCK, &blocked, 0);
        printf("file %s %ld log %zu counter %lu ends %lu shared %s%s signals %d %d\n", contents,
               (long)offset, strlen(logged), (unsigned long)value, (unsigned long)ends,
               shared + 70000, shared + 200000, alarms, others);
        return 0;
    }
"#;

#[test]
fn what_is_open_goes_back() {
    let program = compile(KINDS);
    let mut debuggee = program.start_at("point", &[]);
    assert_eq!(run_hits(&mut debuggee, 1), None);
    let checkpoint = Checkpoint::take(&mut debuggee, &Settings::default(), None).unwrap();
    let expected = "file AFTERe 6 log 8 counter 7 ends 1 shared secondthird signals 1 2\n";
    for hits in [1, 0, 1, 0] {
        run_hits(&mut debuggee, hits);
        if hits == 0 {
            assert_eq!(program.output(), expected);
        }
        restore(&checkpoint, &mut debuggee);
        let file = std::fs::read_to_string(program.file("lines")).unwrap();
        assert_eq!(file, "before");
        let log = std::fs::read_to_string(program.file("lines.log")).unwrap();
        assert_eq!(log, "one\n");
    }
    let end = run_hits(&mut debuggee, 0);
    assert_eq!(end, Some(StopEvent::Exited { status: 0 }));
    assert_eq!(program.output(), expected);
}

#[test]
fn contents_are_left_when_they_are_not_wanted_or_too_long() {
    let program = compile(KINDS);
    for (settings, is_large) in [
        (
            Settings {
                keeps_contents: false,
                ..Settings::default()
            },
            false,
        ),
        (
            Settings {
                file_bytes_max: 5,
                ..Settings::default()
            },
            true,
        ),
    ] {
        let mut debuggee = program.start_at("point", &[]);
        run_hits(&mut debuggee, 1);
        let checkpoint = Checkpoint::take(&mut debuggee, &settings, None).unwrap();
        let is_large_file = |loss: &Loss| matches!(loss, Loss::LargeFile { length: 6, .. });
        assert_eq!(checkpoint.losses().iter().any(is_large_file), is_large);
        let has_contents = |loss: &Loss| matches!(loss, Loss::Contents { .. });
        assert_eq!(checkpoint.losses().iter().any(has_contents), !is_large);
        run_hits(&mut debuggee, 1);
        restore(&checkpoint, &mut debuggee);
        let file = std::fs::read_to_string(program.file("lines")).unwrap();
        assert_eq!(file, "AFTERe");
        // What is not wanted stays as it is, at its end, too.
        let log = std::fs::read_to_string(program.file("lines.log")).unwrap();
        assert_eq!(log, if is_large { "one\n" } else { "one\ntwo\n" });
    }
}

#[test]
fn what_cannot_come_back_is_told() {
    let program = compile(KINDS);
    let mut debuggee = program.start_at("point", &["sockets"]);
    run_hits(&mut debuggee, 1);
    let checkpoint = Checkpoint::take(&mut debuggee, &Settings::default(), None).unwrap();
    let losses = checkpoint.losses();
    assert_eq!(losses[..2], [Loss::Clock, Loss::LaterFiles]);
    let sockets = losses.iter().find_map(|loss| match loss {
        Loss::Sockets(numbers) => Some(numbers.len()),
        _ => None,
    });
    assert_eq!(sockets, Some(2));
}

const LATER: &str = r#"
    #include <fcntl.h>
    #include <unistd.h>
    __attribute__((noinline)) void point(void) { __asm__ volatile(""); }
    int main(int argc, char **argv) {
        int file = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
        point();
        int same = open(argv[1], O_WRONLY), later = open(argv[2], O_WRONLY | O_CREAT, 0600);
        write(later, "later", 5);
        point();
        close(later);
        point();
        return file < 0 || same < 0;
    }
"#;

#[test]
fn files_that_are_opened_later_are_told_of() {
    let program = compile(LATER);
    let path = program.file("later").display().to_string();
    let mut debuggee = program.start_at("point", &[&path]);
    run_hits(&mut debuggee, 1);
    let checkpoint = Checkpoint::take(&mut debuggee, &Settings::default(), None).unwrap();
    for (hits, expected) in [(1, Some(&path)), (2, None), (0, None)] {
        run_hits(&mut debuggee, hits);
        let points = checkpoint.process().points().to_vec();
        let restored = checkpoint.restore(Some(&mut debuggee), &points).unwrap();
        let told = restored.losses.iter().find_map(|loss| match loss {
            Loss::LaterFile { path } => Some(path),
            _ => None,
        });
        assert_eq!(told, expected);
        debuggee = restored.thawed.debuggee;
    }
}

const UNCOPIED: &str = r#"
    #include <string.h>
    #include <sys/mman.h>
    __attribute__((noinline)) void point(void) { __asm__ volatile(""); }
    static char *map(long length) {
        return mmap(0, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    int main(void) {
        char *wiped = map(8 << 12), *empty = map(16 << 12), *out = map(32 << 12);
        strcpy(wiped + 5000, "wiped");
        strcpy(out, "out");
        madvise(wiped, 8 << 12, MADV_WIPEONFORK);
        madvise(empty, 16 << 12, MADV_WIPEONFORK);
        madvise(out, 32 << 12, MADV_DONTFORK);
        point();
        return 0;
    }
"#;

#[test]
fn memory_that_no_copy_has_is_told_of() {
    let program = compile(UNCOPIED);
    let mut debuggee = program.start_at("point", &[]);
    run_hits(&mut debuggee, 1);
    let checkpoint = Checkpoint::take(&mut debuggee, &Settings::default(), None).unwrap();
    let told = checkpoint.losses().iter().find_map(|loss| match loss {
        Loss::UncopiedMemory { length } => Some(*length),
        _ => None,
    });
    // Kernels that tell of no pages count what is empty, too.
    let expected = match checkpoint.process().uncopied_bytes() {
        Some(_) => (8 + 32) << 12,
        None => (8 + 16 + 32) << 12,
    };
    assert_eq!(told, Some(expected));
}

const CHILD: &str = r#"
    #include <stdio.h>
    #include <sys/wait.h>
    #include <unistd.h>
    __attribute__((noinline)) void point(void) { __asm__ volatile(""); }
    int main(void) {
        int child = fork();
        if (!child) for (;;) pause();
        setpgid(child, child);
        point();
        int other = fork();
        if (!other) for (;;) pause();
        setpgid(other, other);
        printf("%d\n", other);
        fflush(stdout);
        point();
        return 0;
    }
"#;

#[test]
fn children_are_told_of_and_later_ones_end() {
    let program = compile(CHILD);
    let mut debuggee = program.start_at("point", &[]);
    run_hits(&mut debuggee, 1);
    let checkpoint = Checkpoint::take(&mut debuggee, &Settings::default(), None).unwrap();
    let children = checkpoint.losses().iter().find_map(|loss| match loss {
        Loss::Children(children) => Some(children.clone()),
        _ => None,
    });
    let [child] = children.as_deref().unwrap() else {
        panic!("{children:?}");
    };
    run_hits(&mut debuggee, 1);
    let other: u32 = program.output().trim().parse().unwrap();
    restore(&checkpoint, &mut debuggee);
    let is_running = |process: u32| {
        std::fs::read_to_string(format!("/proc/{process}/stat"))
            .is_ok_and(|stat| !stat.contains(") Z "))
    };
    assert!(is_running(*child));
    while is_running(other) {
        std::thread::yield_now();
    }
    let killed = std::process::Command::new("kill")
        .arg(child.to_string())
        .status();
    assert!(killed.unwrap().success());
}

/// Children that stay in the group of the program, whose number that is.
const GROUP: &str = r#"
    #include <stdio.h>
    #include <stdlib.h>
    #include <unistd.h>
    __attribute__((noinline)) void point(void) { __asm__ volatile(""); }
    static void make(int ends) {
        int child = fork();
        if (!child && ends) _exit(0);
        if (!child) for (;;) pause();
        printf("%d\n", child);
        fflush(stdout);
    }
    int main(int argc, char **argv) {
        if (argc > 2) make(0);
        point();
        make(0);
        make(1);
        point();
        return 0;
    }
"#;

#[test]
fn children_since_then_do_not_keep_the_number() {
    let program = compile(GROUP);
    let mut debuggee = program.start_at("point", &[]);
    run_hits(&mut debuggee, 1);
    let checkpoint = Checkpoint::take(&mut debuggee, &Settings::default(), None).unwrap();
    for _ in 0..3 {
        assert_eq!(run_hits(&mut debuggee, 1), None);
        restore(&checkpoint, &mut debuggee);
    }
    for child in program.output().lines() {
        let status = std::fs::read_to_string(format!("/proc/{child}/stat"));
        assert!(status.is_err(), "{status:?}");
    }
}

/// A process that gets another number is in nobody's way.
#[test]
fn a_child_that_keeps_the_number_is_told_of() {
    let program = compile(GROUP);
    let mut debuggee = program.start_at("point", &["before"]);
    run_hits(&mut debuggee, 1);
    let child: u32 = program.output().trim().parse().unwrap();
    let checkpoint = Checkpoint::take(&mut debuggee, &Settings::default(), None).unwrap();
    let keeps_number = may_choose_thread_numbers();
    let tells = |loss: &Loss| checkpoint.losses().contains(loss);
    assert_eq!(tells(&Loss::ChildrenUsingPid(vec![child])), keeps_number);
    assert_eq!(tells(&Loss::Pid), !keeps_number);
    if keeps_number {
        let points = checkpoint.process().points().to_vec();
        let restored = checkpoint.restore(Some(&mut debuggee), &points);
        let message = restored.unwrap_err().to_string();
        assert!(message.contains(&child.to_string()), "{message}");
    } else {
        assert!(tells(&Loss::Children(vec![child])));
        let old = debuggee.pid();
        restore(&checkpoint, &mut debuggee);
        assert_ne!(debuggee.pid(), old);
    }
    // The program is as it was.
    assert_eq!(run_hits(&mut debuggee, 1), None);
    for child in program.output().lines() {
        let killed = std::process::Command::new("kill").arg(child).status();
        assert!(killed.is_ok());
    }
}

const OWN: &str = r#"
    #define _GNU_SOURCE
    #include <fcntl.h>
    #include <pthread.h>
    #include <sched.h>
    #include <stdio.h>
    #include <string.h>
    #include <sys/prctl.h>
    #include <sys/resource.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    static pthread_barrier_t barrier;
    static int packets[2], large[2];
    static char bytes[100000];
    __attribute__((noinline)) void point(void) { __asm__ volatile(""); }
    static void *work(void *unused) {
        struct sched_param none = {0};
        setpriority(PRIO_PROCESS, gettid(), 7);
        sched_setscheduler(gettid(), SCHED_BATCH, &none);
        prctl(PR_SET_TIMERSLACK, 12345);
        if (!geteuid()) syscall(SYS_setresuid, 0, 33, 0);
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        printf("nice %d policy %d slack %d", getpriority(PRIO_PROCESS, gettid()),
               sched_getscheduler(gettid()), prctl(PR_GET_TIMERSLACK));
        return unused;
    }
    int main(void) {
        pthread_t thread;
        pthread_barrier_init(&barrier, 0, 2);
        pthread_create(&thread, 0, work, 0);
        pthread_barrier_wait(&barrier);
        pipe2(packets, O_DIRECT);
        write(packets[1], "one", 3);
        pipe2(large, O_NONBLOCK);
        fcntl(large[1], F_SETPIPE_SZ, 1 << 20);
        write(large[1], bytes, sizeof bytes);
        point();
        pthread_barrier_wait(&barrier);
        pthread_join(thread, 0);
        printf(" read %zd", read(large[0], bytes, sizeof bytes));
        fcntl(large[1], F_SETPIPE_SZ, 4096);
        point();
        return 0;
    }
"#;

#[test]
fn what_a_thread_has_of_its_own_goes_back() {
    let program = compile(OWN);
    let Some(mut debuggee) = program.start_keeping_numbers_at("point", &[]) else {
        return;
    };
    run_hits(&mut debuggee, 1);
    let checkpoint = Checkpoint::take(&mut debuggee, &Settings::default(), None).unwrap();
    let has = |is_meant: fn(&Loss) -> bool| checkpoint.losses().iter().any(is_meant);
    assert!(has(
        |loss| matches!(loss, Loss::Packets(pipes) if pipes.len() == 1)
    ));
    let acts_as_root = is_root();
    assert_eq!(has(|loss| matches!(loss, Loss::Users(1))), acts_as_root);
    for _ in 0..2 {
        assert_eq!(run_hits(&mut debuggee, 1), None);
        restore(&checkpoint, &mut debuggee);
    }
    run_hits(&mut debuggee, 0);
    let expected = "nice 7 policy 3 slack 12345 read 100000";
    assert_eq!(program.output(), expected);
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

const LOOP: &str = r#"
    volatile int count;
    __attribute__((noinline)) void point(void) { count++; }
    int main(void) { for (int i = 0; i < 1100; i++) point(); return count == 1100; }
"#;

#[test]
fn a_thousand_checkpoints_are_kept() {
    let program = compile(LOOP);
    let mut debuggee = program.start_at("point", &[]);
    let mut checkpoints: Vec<Checkpoint> = Vec::new();
    for _ in 0..1000 {
        assert_eq!(run_hits(&mut debuggee, 1), None);
        let taken = Checkpoint::take(&mut debuggee, &Settings::default(), checkpoints.last());
        checkpoints.push(taken.unwrap());
    }
    for place in [999, 0, 500] {
        restore(&checkpoints[place], &mut debuggee);
        let mut hits = 0;
        while run_hits(&mut debuggee, 1).is_none() {
            hits += 1;
        }
        assert_eq!(hits, 1099 - place);
    }
    let processes: Vec<u32> = checkpoints
        .iter()
        .map(|it| it.process().template())
        .collect();
    drop(checkpoints);
    for process in processes {
        assert!(!std::path::Path::new(&format!("/proc/{process}")).exists());
    }
}
