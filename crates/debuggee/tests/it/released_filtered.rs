//! Processes with a filter that run without juror: no call of theirs fails, whoever is left.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use crate::support::{Program, compile, is_running, run};
use juror_debuggee::{CallStops, Debuggee, Launch, StopEvent, SystemCalls};

/// Calls that are named come before, and long after, juror is gone.
const LASTING: &str = r#"
    #include <errno.h>
    #include <pthread.h>
    #include <signal.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/syscall.h>
    #include <sys/wait.h>
    #include <time.h>
    #include <unistd.h>
    static volatile int wrong, signals, sender;
    static void handle(int number, siginfo_t *about, void *unused) {
        signals++;
        sender = about->si_pid;
    }
    static void ask(void) { wrong += syscall(SYS_getuid) == -1 && errno == ENOSYS; }
    static void *work(void *unused) {
        for (;;) { ask(); struct timespec time = {0, 1000000}; nanosleep(&time, 0); }
    }
    /* Until the file is there, whose name is given. */
    static int last(const char *ends, const char *told) {
        while (access(ends, F_OK)) {
            for (int i = 0; i < 10; i++) ask();
            pid_t child = fork();
            if (!child) { ask(); _exit(wrong != 0); }
            int status = -1;
            while (waitpid(child, &status, 0) == -1 && errno == EINTR) {}
            wrong += status != 0;
            struct timespec time = {0, 1000000};
            nanosleep(&time, 0);
        }
        char name[4096];
        snprintf(name, sizeof name, "%s.new", told);
        FILE *file = fopen(name, "w");
        fprintf(file, "%d %d %d\n", wrong, signals, sender == getpid());
        fclose(file);
        rename(name, told);
        return 0;
    }
    int main(int argc, char **argv) {
        struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO };
        sigaction(SIGUSR1, &action, 0);
        pthread_t thread;
        if (!strcmp(argv[1], "threads"))
            for (int i = 0; i < 3; i++) pthread_create(&thread, 0, work, 0);
        if (!strcmp(argv[1], "child")) {
            if (fork()) return 0;
            setsid();
        }
        if (!strcmp(argv[1], "vfork")) {
            if (vfork()) return 0;
            setsid();
            execl(argv[0], argv[0], "alone", argv[2], argv[3], (char *)0);
        }
        if (!strcmp(argv[1], "alone")) kill(getpid(), SIGUSR1);
        return last(argv[2], argv[3]);
    }"#;

struct Lasting {
    program: Program,
}

impl Lasting {
    fn new() -> Lasting {
        Lasting {
            program: compile(LASTING, &["-O0", "-pthread"]),
        }
    }

    fn file(&self, name: &str) -> std::path::PathBuf {
        self.program.directory.path().join(name)
    }

    #[track_caller]
    fn start(&self, way: &str) -> Debuggee {
        let asked: BTreeSet<u64> = [libc::SYS_getuid as u64, libc::SYS_nanosleep as u64].into();
        let launch = Launch {
            arguments: vec![
                way.into(),
                self.file("end").into_os_string(),
                self.file("told").into_os_string(),
            ],
            call_stops: CallStops::FilterOnly(asked.clone()),
            ..self.program.launch()
        };
        let mut debuggee = Debuggee::launch(&launch).unwrap();
        debuggee.catch_system_calls(SystemCalls::Only(asked));
        debuggee
    }

    /// Lets it end, and returns what it tells.
    fn end(&self) -> String {
        fs::write(self.file("end"), "").unwrap();
        loop {
            if let Ok(told) = fs::read_to_string(self.file("told")) {
                return told;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn tracer(process: u32) -> u32 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|it| it.strip_prefix("TracerPid:"));
    line.unwrap().trim().parse().unwrap()
}

#[test]
fn a_child_that_nobody_follows_outlives_juror() {
    for way in ["child", "vfork"] {
        let lasting = Lasting::new();
        let mut debuggee = lasting.start(way);
        let run = run(&mut debuggee);
        run.assert_exited(0);
        drop(debuggee);
        let told = lasting.end();
        assert!(told.starts_with("0 "), "{way}: {told}");
    }
}

#[test]
fn a_detached_program_makes_its_calls() {
    for (way, stops) in [("alone", 0), ("alone", 40), ("threads", 300)] {
        let lasting = Lasting::new();
        let mut debuggee = lasting.start(way);
        let process = debuggee.pid();
        debuggee.resume_all().unwrap();
        let mut signal = None;
        for _ in 0..stops {
            let event = debuggee.wait().unwrap();
            if let StopEvent::Signal { .. } = event {
                signal = Some(());
            }
            if let Some(thread) = event.waiting_thread() {
                debuggee.resume(thread).unwrap();
            }
        }
        assert_eq!(signal, None);
        debuggee.halt_all().unwrap();
        debuggee.detach().unwrap();
        assert!(is_running(process));
        let keeper = tracer(process);
        assert_ne!(keeper, std::process::id());
        let name = fs::read_to_string(format!("/proc/{keeper}/comm")).unwrap();
        assert_eq!(name, "juror-keeper\n");
        let told = lasting.end();
        let expected = if way == "alone" { "0 1 1\n" } else { "0 0 0\n" };
        assert_eq!(told, expected, "{way} {stops}");
    }
}

/// What it traced ends with it; the next process gets another.
#[test]
fn a_keeper_that_was_killed_is_replaced() {
    let first = Lasting::new();
    let debuggee = first.start("alone");
    let process = debuggee.pid();
    debuggee.detach().unwrap();
    let keeper = tracer(process);
    let keeper = nix::unistd::Pid::from_raw(keeper as i32);
    nix::sys::signal::kill(keeper, nix::sys::signal::Signal::SIGKILL).unwrap();
    while is_running(process) {
        std::thread::yield_now();
    }
    let second = Lasting::new();
    let debuggee = second.start("alone");
    let process = debuggee.pid();
    debuggee.detach().unwrap();
    assert_ne!(tracer(process), keeper.as_raw() as u32);
    assert_eq!(second.end(), "0 1 1\n");
}
