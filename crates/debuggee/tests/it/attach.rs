//! Attaching to programs that run, and leaving them as they were.

use crate::support::bare::Bare;
use crate::support::{Program, compile, is_running};
use juror_debuggee::{Attach, AttachError, Debuggee, Owner, StopEvent};

/// Threads that call `work` until they are told to end, and count it.
const WORKERS: &str = r#"
    #include <pthread.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <unistd.h>
    static volatile int done;
    volatile long total;
    __attribute__((noinline)) void work(volatile long *count) { ++*count; }
    static void *run(void *unused) {
        volatile long count = 0;
        while (!done) {
            work(&count);
            __atomic_add_fetch(&total, 1, __ATOMIC_SEQ_CST);
        }
        return (void *)count;
    }
    int main(int argc, char **argv) {
        int threads = atoi(argv[1]);
        pthread_t others[64];
        for (int i = 0; i < threads; i++) pthread_create(&others[i], 0, run, 0);
        puts("ready");
        fflush(stdout);
        char byte;
        while (read(0, &byte, 1) == 1) {}
        done = 1;
        long sum = 0;
        for (int i = 0; i < threads; i++) {
            void *count;
            pthread_join(others[i], &count);
            sum += (long)count;
        }
        puts(sum == total ? "right" : "wrong");
        return 7;
    }"#;

/// Runs until the point was hit this often; the thread that hit it waits.
#[track_caller]
fn run_to_hits(debuggee: &mut Debuggee, wanted: u64) {
    debuggee.resume_all().unwrap();
    let mut hits = 0;
    loop {
        let event = debuggee.wait().unwrap();
        hits += u64::from(matches!(event, StopEvent::Hit { .. }));
        if hits == wanted {
            return;
        }
        if let Some(thread) = event.waiting_thread() {
            debuggee.resume(thread).unwrap();
        }
    }
}

#[track_caller]
fn assert_as_it_was(bare: Bare, program: &Program, text: [u8; 16], mappings: &[String]) {
    assert_eq!(bare.bytes_at(program, "work"), text);
    assert_eq!(bare.mappings(), mappings);
    assert_eq!(bare.finish(), "right\nstatus 7\n");
}

#[test]
fn no_pass_is_missed_from_the_attachment_on() {
    let program = compile(WORKERS, &["-O1"]);
    let bare = Bare::start(&program, &["4"]);
    let text = bare.bytes_at(&program, "work");
    let mappings = bare.mappings();
    let mut debuggee = bare.attach();
    assert_eq!(debuggee.pid(), bare.process());
    assert_eq!(debuggee.thread_ids().count(), 5);
    let total = program.address(&debuggee, "total");
    let before = debuggee.read_u64(total).unwrap();
    debuggee
        .insert(program.address(&debuggee, "work"), Owner::Monitor)
        .unwrap();
    run_to_hits(&mut debuggee, 3000);
    debuggee.halt_all().unwrap();
    let counted = debuggee.read_u64(total).unwrap() - before;
    // A thread may stand between the call and the count, at both ends.
    assert!(
        (2900..=3004).contains(&counted),
        "{counted} passes, 3000 reported"
    );
    debuggee.detach().unwrap();
    assert_as_it_was(bare, &program, text, &mappings);
}

#[test]
fn a_running_program_can_be_attached_to_again_and_again() {
    let program = compile(WORKERS, &["-O1"]);
    let bare = Bare::start(&program, &["3"]);
    let text = bare.bytes_at(&program, "work");
    let mappings = bare.mappings();
    for round in 0..30 {
        let mut debuggee = bare.attach();
        let work = program.address(&debuggee, "work");
        debuggee.insert(work, Owner::Developer).unwrap();
        run_to_hits(&mut debuggee, 1 + round);
        // By hand or by the end of juror's interest.
        match round % 2 {
            0 => debuggee.detach().unwrap(),
            _ => drop(debuggee),
        }
        assert_eq!(bare.bytes_at(&program, "work"), text, "round {round}");
    }
    assert_as_it_was(bare, &program, text, &mappings);
}

#[test]
fn threads_are_found_while_they_are_made() {
    let program = compile(
        r#"
        #include <pthread.h>
        #include <stdio.h>
        #include <unistd.h>
        static volatile int done;
        volatile long started, ended;
        __attribute__((noinline)) void work(void) { __atomic_add_fetch(&ended, 1, __ATOMIC_SEQ_CST); }
        static void *end(void *unused) { work(); return unused; }
        static void *make(void *unused) {
            while (!done) {
                pthread_t others[8];
                for (int i = 0; i < 8; i++) pthread_create(&others[i], 0, end, 0);
                for (int i = 0; i < 8; i++) pthread_join(others[i], 0);
                __atomic_add_fetch(&started, 8, __ATOMIC_SEQ_CST);
            }
            return unused;
        }
        int main(void) {
            pthread_t makers[3];
            for (int i = 0; i < 3; i++) pthread_create(&makers[i], 0, make, 0);
            puts("ready");
            fflush(stdout);
            char byte;
            while (read(0, &byte, 1) == 1) {}
            done = 1;
            for (int i = 0; i < 3; i++) pthread_join(makers[i], 0);
            puts(started == ended ? "right" : "wrong");
            return 7;
        }"#,
        &["-O1"],
    );
    let bare = Bare::start(&program, &[]);
    let text = bare.bytes_at(&program, "work");
    for round in 0..40 {
        let mut debuggee = bare.attach();
        let address = program.address(&debuggee, "work");
        debuggee.insert(address, Owner::Monitor).unwrap();
        run_to_hits(&mut debuggee, 5 * (round % 4) + 1);
        debuggee.detach().unwrap();
        assert_eq!(bare.bytes_at(&program, "work"), text, "round {round}");
    }
    assert_eq!(bare.finish(), "right\nstatus 7\n");
}

#[test]
fn interrupted_system_calls_go_on() {
    let program = compile(
        r#"
        #define _GNU_SOURCE
        #include <errno.h>
        #include <poll.h>
        #include <pthread.h>
        #include <semaphore.h>
        #include <stdio.h>
        #include <sys/epoll.h>
        #include <sys/select.h>
        #include <sys/wait.h>
        #include <time.h>
        #include <unistd.h>
        static int ends[2];
        static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
        static sem_t semaphore;
        static void *in_read(void *name) { char c; return read(ends[0], &c, 1) == 1 ? 0 : name; }
        static void *in_lock(void *name) { int e = pthread_mutex_lock(&mutex); pthread_mutex_unlock(&mutex); return e ? name : 0; }
        static void *in_wait(void *name) { return sem_wait(&semaphore) ? name : 0; }
        static void *in_sleep(void *name) { struct timespec t = {0, 300000000}; return nanosleep(&t, 0) ? name : 0; }
        static void *in_poll(void *name) { return poll(0, 0, 300) ? name : 0; }
        static void *in_select(void *name) { struct timeval t = {0, 300000}; return select(0, 0, 0, 0, &t) ? name : 0; }
        int main(void) {
            pipe(ends);
            sem_init(&semaphore, 0, 0);
            pthread_mutex_lock(&mutex);
            void *(*functions[])(void *) = {in_read, in_lock, in_wait, in_sleep, in_poll, in_select};
            char *names[] = {"read", "lock", "wait", "sleep", "poll", "select"};
            pthread_t threads[6];
            for (int i = 0; i < 6; i++) pthread_create(&threads[i], 0, functions[i], names[i]);
            puts("ready");
            fflush(stdout);
            char byte;
            if (read(0, &byte, 1) != 1) puts("main");
            write(ends[1], "x", 1);
            pthread_mutex_unlock(&mutex);
            sem_post(&semaphore);
            for (int i = 0; i < 6; i++) {
                void *failed;
                pthread_join(threads[i], &failed);
                if (failed) printf("%s failed\n", (char *)failed);
            }
            puts("right");
            return 7;
        }"#,
        &["-O1"],
    );
    let mut bare = Bare::start(&program, &[]);
    for _ in 0..10 {
        bare.attach().detach().unwrap();
    }
    bare.tell();
    assert_eq!(bare.finish(), "right\nstatus 7\n");
}

#[test]
fn signals_are_not_lost() {
    let program = compile(
        r#"
        #define _GNU_SOURCE
        #include <signal.h>
        #include <stdio.h>
        #include <unistd.h>
        volatile long handled;
        __attribute__((noinline)) void work(void) { __atomic_add_fetch(&handled, 1, __ATOMIC_SEQ_CST); }
        static void handle(int signal, siginfo_t *info, void *context) {
            // Its sender and value arrive, too.
            if (info->si_code == SI_QUEUE && info->si_value.sival_int == handled) work();
        }
        int main(void) {
            struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
            sigaction(SIGRTMIN, &action, 0);
            puts("ready");
            fflush(stdout);
            char byte;
            while (read(0, &byte, 1) != 0) {}
            printf("%ld\n", handled);
            return 7;
        }"#,
        &["-O1"],
    );
    let bare = Bare::start(&program, &[]);
    let mut sent = 0;
    let mut send = || {
        let value = libc::sigval {
            sival_ptr: std::ptr::without_provenance_mut(sent),
        };
        sent += 1;
        // SAFETY: a system call on plain numbers.
        let result = unsafe { libc::sigqueue(bare.process() as i32, libc::SIGRTMIN(), value) };
        assert_eq!(result, 0);
    };
    for _ in 0..20 {
        send();
        let mut debuggee = bare.attach();
        let work = program.address(&debuggee, "work");
        // Inside the handler, too.
        debuggee.insert(work, Owner::Developer).unwrap();
        send();
        run_to_hits(&mut debuggee, 1);
        send();
        debuggee.detach().unwrap();
    }
    assert_eq!(bare.finish(), "60\nstatus 7\n");
}

#[test]
fn a_stopped_program_stays_stopped() {
    let program = compile(WORKERS, &["-O1"]);
    let bare = Bare::start(&program, &["2"]);
    let text = bare.bytes_at(&program, "work");
    let mappings = bare.mappings();
    bare.send(libc::SIGSTOP);
    bare.await_state('T');
    let total = bare.bytes_at(&program, "total");
    for is_resumed in [false, true] {
        let mut debuggee = bare.attach();
        let work = program.address(&debuggee, "work");
        debuggee.insert(work, Owner::Developer).unwrap();
        if is_resumed {
            // It is job control that lets it run, not juror: asked to stop, it
            // has not moved.
            let before = debuggee.read_u64(program.address(&debuggee, "total"));
            let interrupter = debuggee.interrupter().unwrap();
            debuggee.resume_all().unwrap();
            interrupter.interrupt();
            let event = debuggee.wait().unwrap();
            assert!(matches!(event, StopEvent::Interrupted { .. }), "{event:?}");
            debuggee.halt_all().unwrap();
            let after = debuggee.read_u64(program.address(&debuggee, "total"));
            assert_eq!(after.unwrap(), before.unwrap());
        }
        debuggee.detach().unwrap();
        // It stops anew, and has done nothing meanwhile.
        bare.await_state('T');
        assert_eq!(bare.bytes_at(&program, "total"), total);
    }
    bare.send(libc::SIGCONT);
    assert_as_it_was(bare, &program, text, &mappings);
}

#[test]
fn a_stopped_program_goes_on_when_it_is_continued() {
    let program = compile(WORKERS, &["-O1"]);
    let bare = Bare::start(&program, &["2"]);
    let text = bare.bytes_at(&program, "work");
    let mappings = bare.mappings();
    bare.send(libc::SIGSTOP);
    bare.await_state('T');
    let mut debuggee = bare.attach();
    let work = program.address(&debuggee, "work");
    debuggee.insert(work, Owner::Developer).unwrap();
    debuggee.resume_all().unwrap();
    bare.send(libc::SIGCONT);
    run_to_hits(&mut debuggee, 100);
    debuggee.detach().unwrap();
    assert_as_it_was(bare, &program, text, &mappings);
}

#[test]
fn the_first_thread_may_have_ended() {
    let program = compile(
        r#"
        #include <pthread.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <unistd.h>
        volatile long count;
        __attribute__((noinline)) void work(void) { ++count; }
        static pthread_t first;
        static void *rest(void *unused) {
            pthread_join(first, 0);
            puts("ready");
            fflush(stdout);
            char byte;
            while (read(0, &byte, 1) == 1) work();
            printf("%ld\n", count);
            exit(7);
        }
        int main(void) {
            pthread_t thread;
            first = pthread_self();
            pthread_create(&thread, 0, rest, 0);
            pthread_exit(0);
        }"#,
        &["-O1"],
    );
    let mut bare = Bare::start(&program, &[]);
    let text = bare.bytes_at(&program, "work");
    let mappings = bare.mappings();
    let mut debuggee = bare.attach();
    assert_eq!(debuggee.thread_ids().count(), 1);
    let work = program.address(&debuggee, "work");
    debuggee.insert(work, Owner::Developer).unwrap();
    bare.tell();
    run_to_hits(&mut debuggee, 1);
    debuggee.detach().unwrap();
    assert_eq!(bare.bytes_at(&program, "work"), text);
    assert_eq!(bare.mappings(), mappings);
    // And to its end.
    let mut debuggee = bare.attach();
    bare.close();
    let run = crate::support::run(&mut debuggee);
    run.assert_exited(7);
    drop(debuggee);
    assert_eq!(bare.finish(), "1\nstatus 7\n");
}

#[test]
fn a_program_whose_file_was_replaced_is_known_by_what_runs() {
    let program = compile(WORKERS, &["-O1"]);
    let bare = Bare::start(&program, &["1"]);
    let other = program.directory.path().join("other");
    std::fs::copy("/bin/true", &other).unwrap();
    std::fs::rename(&other, &program.path).unwrap();
    let debuggee = bare.attach();
    let files = debuggee.module_files();
    let main = files.iter().find(|it| it.module.is_main).unwrap();
    crate::support::file_address(main.opened.as_ref().unwrap(), "work");
}

#[test]
fn an_attached_program_is_followed_to_its_end() {
    let program = compile(WORKERS, &["-O1"]);
    let mut bare = Bare::start(&program, &["2"]);
    let mut debuggee = bare.attach();
    bare.close();
    crate::support::run(&mut debuggee).assert_exited(7);
    assert!(!debuggee.is_alive());
    drop(debuggee);
    // Its parent hears of its end all the same.
    assert_eq!(bare.finish(), "right\nstatus 7\n");
}

#[test]
fn an_attached_program_can_be_killed() {
    let program = compile(WORKERS, &["-O1"]);
    let bare = Bare::start(&program, &["2"]);
    let mut debuggee = bare.attach();
    debuggee.kill().unwrap();
    assert!(!is_running(bare.process()));
    drop(debuggee);
    assert_eq!(bare.finish(), "status 137\n");
}

#[test]
fn a_panic_leaves_the_program_as_it_was() {
    let program = compile(WORKERS, &["-O1"]);
    let bare = Bare::start(&program, &["3"]);
    let text = bare.bytes_at(&program, "work");
    let mappings = bare.mappings();
    let process = bare.process();
    let path = program.path.clone();
    let bug = std::thread::spawn(move || {
        let mut debuggee = Debuggee::attach(&Attach::new(process)).unwrap();
        let main = debuggee.modules().iter().find(|it| it.is_main).unwrap();
        let work = main.bias + crate::support::file_address(&path, "work");
        debuggee.insert(work, Owner::Developer).unwrap();
        run_to_hits(&mut debuggee, 20);
        debuggee.resume_all().unwrap();
        std::panic::resume_unwind(Box::new("a bug of juror's"));
    });
    assert!(bug.join().is_err());
    assert_as_it_was(bare, &program, text, &mappings);
}

#[test]
fn what_cannot_be_attached_to_is_told() {
    #[track_caller]
    fn check(process: u32, expected: &str) {
        let error = Debuggee::attach(&Attach::new(process)).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    // Beyond what the kernel numbers.
    check(0x7fff_fff0, "there is no process 2147483632");
    check(0, "there is no process 0");
    check(std::process::id(), "cannot attach to itself");
    check(2, "is a thread of the kernel");

    let program = compile(WORKERS, &["-O1"]);
    let bare = Bare::start(&program, &["2"]);
    let tasks = std::fs::read_dir(format!("/proc/{}/task", bare.process())).unwrap();
    let other = tasks
        .flatten()
        .map(|task| task.file_name().to_str().unwrap().parse().unwrap())
        .find(|&thread| thread != bare.process())
        .unwrap();
    check(other, &format!("give the process: {}", bare.process()));
    let debuggee = bare.attach();
    check(bare.process(), "is traced by");
    drop(debuggee);
    // Nobody takes note of its end until the test does.
    let mut ended = std::process::Command::new("/bin/true").spawn().unwrap();
    let process = ended.id();
    while std::fs::read_to_string(format!("/proc/{process}/stat"))
        .is_ok_and(|it| !it.contains(") Z"))
    {
        std::thread::yield_now();
    }
    let error = Debuggee::attach(&Attach::new(process)).unwrap_err();
    assert!(matches!(error, AttachError::HasEnded(_)), "{error}");
    ended.wait().unwrap();
}
