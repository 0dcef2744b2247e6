//! A search that is ended, and programs that are stopped or ended, from outside.

use super::world::{JUROR, contents, is_gone, is_possible, processes, program};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The time within which the search has seen that a program was ended, and has confirmed it.
const CONFIRMED_WITHIN: Duration = Duration::from_secs(60);

/// A search that goes on for ever.
struct Search {
    juror: Child,
    directory: TempDir,
    marker: String,
    executable: PathBuf,
}

impl Search {
    /// Starts a search whose runs have a process each.
    fn start(name: &str, before: &str) -> Search {
        let executable = program(name, before, "return 0;");
        let directory = tempfile::tempdir().expect("a directory");
        let marker = format!("{name}-{}", std::process::id());
        let juror = Command::new(JUROR)
            .args(["explore", "--by", "ptrace", "--runs", "4000000000"])
            .args([executable.as_os_str(), marker.as_ref()])
            .current_dir(directory.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        Search {
            juror,
            directory,
            marker,
            executable,
        }
    }

    fn juror(&self) -> i32 {
        self.juror.id().cast_signed()
    }

    /// Waits for a process of the program.
    fn program(&mut self) -> i32 {
        let process = self.process_that(|_| true);
        process.unwrap_or_else(|| panic!("{} has ended", self.marker))
    }

    /// Waits for a process of the program that is in its own code, and not being loaded. None if the
    /// search has ended.
    fn program_inside(&mut self) -> Option<i32> {
        self.process_that(|process| {
            let name = fs::read_to_string(format!("/proc/{process}/comm"));
            name.is_ok_and(|name| name.trim_end() == INSIDE)
        })
    }

    fn process_that(&mut self, fits: impl Fn(i32) -> bool) -> Option<i32> {
        loop {
            let is_program = |process: &i32| {
                let link = fs::read_link(format!("/proc/{process}/exe"));
                link.is_ok_and(|link| link == self.executable) && fits(*process)
            };
            let found = processes(&self.marker);
            if let Some(process) = found.into_iter().find(is_program) {
                return Some(process);
            }
            if self.juror.try_wait().expect("it is a child").is_some() {
                return None;
            }
        }
    }

    /// Sends a signal to a process of the program, in which the search ends. One that has ended before the
    /// signal comes is followed by another one; but a run that is made to confirm the first is not to
    /// be ended, too.
    fn end_program(&mut self, signal: Signal) {
        while let Some(process) = self.program_inside() {
            let deadline = Instant::now() + CONFIRMED_WITHIN;
            if kill(Pid::from_raw(process), signal).is_err() {
                continue;
            }
            while Instant::now() < deadline {
                if self.juror.try_wait().expect("it is a child").is_some() {
                    return;
                }
                thread::sleep(Duration::from_millis(10));
            }
        }
    }

    fn send(&self, process: i32, signal: &str) {
        let sent = Command::new("kill")
            .args([signal, &process.to_string()])
            .stderr(Stdio::null())
            .status();
        assert!(sent.is_ok());
    }

    /// Returns its exit status and what it has written, once it has ended.
    fn end(self) -> (Option<i32>, String) {
        let output = self.juror.wait_with_output().expect("it ends");
        let text = [output.stdout, output.stderr].concat();
        assert!(is_gone(&self.marker), "{}", self.marker);
        let left = contents(self.directory.path());
        assert!(left.is_empty(), "{left:?}");
        (output.status.code(), String::from_utf8_lossy(&text).into())
    }
}

/// Lets the program take a while.
const WAITS: &str = "prctl(PR_SET_NAME, \"inside\");
             for (volatile long turn = 0; turn < 10000000; turn++);";

/// The name that a process has while it waits.
const INSIDE: &str = "inside";

#[test]
fn a_key_ends_the_search_with_the_runs_that_were_made() {
    if !is_possible() {
        eprintln!("left out: there are no worlds here");
        return;
    }
    let mut search = Search::start("key", "");
    search.program();
    search.send(search.juror(), "-INT");
    let (status, text) = search.end();
    assert_eq!(status, Some(130), "{text}");
    assert!(text.contains(" (ended by Ctrl-C"), "{text}");
}

#[test]
fn with_juror_all_ends() {
    if !is_possible() {
        eprintln!("left out: there are no worlds here");
        return;
    }
    let before = fs::read_to_string("/proc/self/mountinfo").expect("mounts");
    let daemon = "if (!fork()) { setsid(); for (;;) pause(); }";
    for before in ["", daemon] {
        let name = format!("killed-{}", before.len());
        let mut search = Search::start(&name, before);
        search.program();
        search.send(search.juror(), "-KILL");
        let (status, _) = search.end();
        assert_eq!(status, None);
    }
    let after = fs::read_to_string("/proc/self/mountinfo").expect("mounts");
    assert_eq!(before, after);
}

#[test]
fn a_signal_from_outside_is_no_failure() {
    if !is_possible() {
        eprintln!("left out: there are no worlds here");
        return;
    }
    for (signal, sent, said) in [
        ("-TERM", Signal::SIGTERM, "ended from outside"),
        ("-KILL", Signal::SIGKILL, "killed from outside"),
    ] {
        let mut search = Search::start(&format!("outside{signal}"), WAITS);
        search.end_program(sent);
        let (status, text) = search.end();
        assert_eq!(status, Some(2), "{signal}: {text}");
        assert!(text.contains(said), "{signal}: {text}");
    }
}

#[test]
fn a_program_that_is_stopped_from_outside_goes_on() {
    if !is_possible() {
        eprintln!("left out: there are no worlds here");
        return;
    }
    let mut search = Search::start("stopped", WAITS);
    for signal in ["-STOP", "-CONT", "-STOP", "-TSTP"] {
        let process = search.program_inside().expect("a process");
        search.send(process, signal);
    }
    // A later run is made.
    let then = search.program();
    while search.program() == then {}
    search.send(search.juror(), "-INT");
    let (status, text) = search.end();
    assert_eq!(status, Some(130), "{text}");
}
