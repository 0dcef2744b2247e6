//! Ctrl-C at the terminal stops the debuggee and leaves juror alone.
//!
//! This test file runs itself again as the leader of a session on a terminal
//! of its own, and types.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::ptr;

use juror_debuggee::{Debuggee, Launch, Notice};

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
    // SAFETY: both were just made for us alone.
    unsafe { (File::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs)) }
}

/// Reads until the text has come; panics when the other side ends before.
fn expect(terminal: &mut File, seen: &mut String, text: &str) {
    loop {
        if let Some(start) = seen.find(text) {
            seen.drain(..start + text.len());
            return;
        }
        let mut bytes = [0; 256];
        let count = terminal.read(&mut bytes).unwrap_or(0);
        assert!(count > 0, "no {text:?} in {seen:?}");
        seen.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
}

#[test]
fn keys_stop_the_debuggee() {
    let (mut terminal, theirs) = open_terminal();
    let number = theirs.as_raw_fd();
    let stream = || Stdio::from(theirs.try_clone().unwrap());
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "as_debugger", "--ignored", "--nocapture"])
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
    let mut debugger = command.spawn().unwrap();
    drop(command);
    drop(theirs);
    let mut seen = String::new();
    expect(&mut terminal, &mut seen, "started");
    terminal.write_all(b"\x03").unwrap();
    expect(&mut terminal, &mut seen, "stopped by a key");
    terminal.write_all(b"typed to juror\n").unwrap();
    expect(&mut terminal, &mut seen, "juror read typed to juror");
    terminal.write_all(b"typed to cat\n").unwrap();
    // Once as the terminal's echo, once from the program.
    expect(&mut terminal, &mut seen, "typed to cat");
    expect(&mut terminal, &mut seen, "typed to cat");
    terminal.write_all(b"\x1a").unwrap();
    expect(&mut terminal, &mut seen, "stopped by a key");
    terminal.write_all(b"seen\n").unwrap();
    assert!(debugger.wait().unwrap().success());
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
        let notice = debuggee.wait().unwrap();
        if let Notice::Interrupted { .. } = notice {
            return debuggee.halt_all().unwrap();
        }
        if let Some(thread) = notice.waiting_thread() {
            debuggee.resume(thread).unwrap();
        }
    }
}
