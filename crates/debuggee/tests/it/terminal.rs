//! Ctrl-C at the terminal stops the debuggee and leaves juror alone.
//!
//! This executable runs itself again as the leader of a session on a terminal
//! of its own, and types.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::ptr;

use juror_debuggee::{Debuggee, Launch, StopEvent};

/// The two ends of a new terminal: ours, and the program's.
fn open_terminal() -> (File, OwnedFd) {
    let (mut ours, mut theirs) = (-1, -1);
    // SAFETY: the first two are live integers to be filled in; the others may
    // be null.
    let result = unsafe {
        libc::openpty(
            &raw mut ours,
            &raw mut theirs,
            ptr::null_mut(),
            ptr::null(),
            ptr::null(),
        )
    };
    assert_eq!(result, 0);
    // Programs that other tests of this process start meanwhile must not inherit them.
    for end in [ours, theirs] {
        // SAFETY: a system call on plain numbers.
        let result = unsafe { libc::fcntl(end, libc::F_SETFD, libc::FD_CLOEXEC) };
        assert_eq!(result, 0);
    }
    // SAFETY: both were just made for us alone.
    unsafe { (File::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs)) }
}

/// A debugger at a terminal, and what it has written and nobody has looked at.
struct Session {
    debugger: Child,
    terminal: File,
    seen: String,
}

impl Session {
    /// Reads until the text has come; panics when the other side ends before.
    fn expect(&mut self, text: &str) {
        loop {
            if let Some(start) = self.seen.find(text) {
                self.seen.drain(..start + text.len());
                return;
            }
            let mut bytes = [0; 256];
            let read = self.terminal.read(&mut bytes);
            let count = *read.as_ref().unwrap_or(&0);
            if count == 0 {
                let (seen, status) = (&self.seen, self.debugger.wait());
                panic!("no {text:?} in {seen:?}: {read:?}, {status:?}");
            }
            self.seen
                .push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
    }

    fn keys(&mut self, keys: &[u8]) {
        self.terminal.write_all(keys).unwrap();
    }
}

#[test]
fn keys_stop_the_debuggee() {
    let (terminal, theirs) = open_terminal();
    let number = theirs.as_raw_fd();
    let stream = || Stdio::from(theirs.try_clone().unwrap());
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([
            "--exact",
            "terminal::as_debugger",
            "--ignored",
            "--nocapture",
        ])
        .stdin(stream())
        .stdout(stream())
        .stderr(stream());
    // SAFETY: two system calls on plain numbers between fork and exec.
    unsafe {
        command.pre_exec(move || {
            if libc::setsid() == -1 || libc::ioctl(number, libc::TIOCSCTTY, 0) == -1 {
                return Err(std::io::Error::last_os_error());
            }
            Ok(())
        });
    }
    let debugger = command.spawn().unwrap();
    drop(command);
    drop(theirs);
    let mut session = Session {
        debugger,
        terminal,
        seen: String::new(),
    };
    session.expect("started");
    session.keys(b"\x03");
    session.expect("stopped by a key");
    session.keys(b"typed to juror\n");
    session.expect("juror read typed to juror");
    session.keys(b"typed to cat\n");
    // Once as the terminal's echo, once from the program.
    session.expect("typed to cat");
    session.expect("typed to cat");
    session.keys(b"\x1a");
    session.expect("stopped by a key");
    session.keys(b"seen\n");
    assert!(session.debugger.wait().unwrap().success());
}

#[test]
#[ignore = "the other side of keys_stop_the_debuggee"]
fn as_debugger() {
    let mut debuggee = Debuggee::launch(&Launch::new("cat")).unwrap();
    println!("started");
    debuggee.resume_all().unwrap();
    run_to_key(&mut debuggee);
    debuggee.take_terminal();
    println!("stopped by a key");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    println!("juror read {line}");
    debuggee.resume_all().unwrap();
    run_to_key(&mut debuggee);
    drop(debuggee);
    let foreground = nix::unistd::tcgetpgrp(std::io::stdin()).unwrap();
    assert_eq!(foreground, nix::unistd::getpgrp());
    println!("stopped by a key");
    // What is still on its way when the leader of a session ends is thrown away.
    std::io::stdin().read_line(&mut line).unwrap();
}

fn run_to_key(debuggee: &mut Debuggee) {
    loop {
        let event = debuggee.wait().unwrap();
        if let StopEvent::Interrupted { .. } = event {
            return debuggee.halt_all().unwrap();
        }
        if let Some(thread) = event.waiting_thread() {
            debuggee.resume(thread).unwrap();
        }
    }
}
