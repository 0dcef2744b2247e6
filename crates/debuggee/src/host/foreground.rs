//! Other programs that the user runs from juror's prompt.
//!
//! Such a program is a process group of its own and has the terminal until it
//! ends: Ctrl-C goes to it, not to juror. Invariant: however it ends, juror has
//! the terminal again, in its former modes.

use std::io::{self, IsTerminal, PipeReader, Read, Write, stdin};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigHandler, Signal, killpg, signal};
use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::{Pid, getpgrp, tcgetpgrp, tcsetpgrp};

/// The time after which it is looked whether a program that takes no input has been stopped, in
/// milliseconds.
const LOOK_MS: u16 = 200;

/// Runs a program in the foreground of juror's terminal, if there is one, and
/// waits for its end. A program that is stopped there (Ctrl-Z) is killed, since
/// nothing could continue it.
///
/// # Errors
/// It cannot be started.
pub fn run_in_foreground(command: &mut Command) -> io::Result<ExitStatus> {
    Foreground::start(command)?.finish()
}

/// A program in the foreground of juror's terminal, if there is one. juror has the terminal again
/// when the program has ended, or when this is dropped.
///
/// What is written here is the input of the program, if its standard input is
/// [piped](std::process::Stdio::piped). Once the program has ended, that is a broken pipe.
#[derive(Debug)]
pub struct Foreground {
    child: Child,
    /// The modes of the terminal; none if the program has not been given one.
    modes: Option<Option<Termios>>,
    has_ended: bool,
    /// The other end of its input, if it is asked what it has read.
    unread: Option<PipeReader>,
    /// The bytes that its input took.
    taken: usize,
}

impl Foreground {
    /// Starts a program.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(command: &mut Command) -> io::Result<Foreground> {
        let has_terminal = stdin().is_terminal() && tcgetpgrp(stdin()) == Ok(getpgrp());
        if !has_terminal {
            return Foreground::of(command.spawn()?, None);
        }
        // juror takes the terminal back from the background, which this signal
        // would stop.
        // SAFETY: ignoring a signal installs no handler.
        unsafe { signal(Signal::SIGTTOU, SigHandler::SigIgn) }?;
        let modes = tcgetattr(stdin()).ok();
        // The program's own standard input may be a pipe.
        let terminal = stdin().as_fd().try_clone_to_owned()?;
        command.process_group(0);
        // SAFETY: between fork and exec only functions are called that may be called
        // there.
        unsafe {
            command.pre_exec(move || {
                // Before anything of the program can read from the terminal.
                tcsetpgrp(&terminal, getpgrp())?;
                signal(Signal::SIGTTOU, SigHandler::SigDfl)?;
                Ok(())
            });
        }
        match command.spawn() {
            Ok(child) => Foreground::of(child, Some(modes)),
            Err(error) => {
                take_back(modes.as_ref());
                Err(error)
            }
        }
    }

    /// Starts a program whose input is written here, and which is asked at its end whether it has read
    /// any of it.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start_reading(command: &mut Command) -> io::Result<Foreground> {
        let (reader, writer) = io::pipe()?;
        let mut program = Foreground::start(command.stdin(reader.try_clone()?))?;
        program.child.stdin = Some(OwnedFd::from(writer).into());
        program.unread = Some(reader);
        set_nonblocking(&program.child)?;
        Ok(program)
    }

    fn of(child: Child, modes: Option<Option<Termios>>) -> io::Result<Foreground> {
        let program = Foreground {
            child,
            modes,
            has_ended: false,
            unread: None,
            taken: 0,
        };
        set_nonblocking(&program.child)?;
        Ok(program)
    }

    /// Waits for the end of the program, whose input ends now.
    ///
    /// # Errors
    /// It cannot be waited for.
    pub fn finish(mut self) -> io::Result<ExitStatus> {
        self.wait_for_end()
    }

    /// As [`Foreground::finish`]. Returns also whether the program has read any of its input.
    ///
    /// # Errors
    /// It cannot be waited for.
    pub fn finish_reading(mut self) -> io::Result<(ExitStatus, bool)> {
        let status = self.wait_for_end()?;
        let mut rest = Vec::new();
        if let Some(mut reader) = self.unread.take() {
            // The pipe has no writer any more.
            reader.read_to_end(&mut rest)?;
        }
        Ok((status, rest.len() < self.taken))
    }

    fn wait_for_end(&mut self) -> io::Result<ExitStatus> {
        self.has_ended = true;
        drop(self.child.stdin.take());
        match self.modes {
            Some(_) => wait(self.id()),
            None => self.child.wait(),
        }
    }

    fn id(&self) -> Pid {
        Pid::from_raw(self.child.id().cast_signed())
    }

    /// Waits until the program may take more input, or for a moment. Kills it if it has been
    /// stopped. Returns whether it has ended: while the other end of its input is open here, only
    /// that says that it takes no more.
    fn wait_for_room(&self) -> bool {
        if let Some(input) = &self.child.stdin {
            let mut waited = [PollFd::new(input.as_fd(), PollFlags::POLLOUT)];
            let _ = poll(&mut waited, PollTimeout::from(LOOK_MS));
        }
        let flags = WaitPidFlag::WSTOPPED
            | WaitPidFlag::WEXITED
            | WaitPidFlag::WNOHANG
            | WaitPidFlag::WNOWAIT;
        match waitid(Id::Pid(self.id()), flags) {
            Ok(WaitStatus::Stopped(..)) => {
                let _ = killpg(self.id(), Signal::SIGKILL);
                false
            }
            Ok(WaitStatus::Exited(..) | WaitStatus::Signaled(..)) => true,
            _ => false,
        }
    }
}

impl Write for Foreground {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            let Some(input) = &self.child.stdin else {
                return Err(io::ErrorKind::BrokenPipe.into());
            };
            match nix::unistd::write(input, bytes) {
                Err(Errno::EAGAIN) if self.wait_for_room() => {
                    return Err(io::ErrorKind::BrokenPipe.into());
                }
                Err(Errno::EAGAIN) => {}
                written => {
                    let count = written?;
                    self.taken += count;
                    return Ok(count);
                }
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Foreground {
    fn drop(&mut self) {
        if !self.has_ended {
            let _ = self.wait_for_end();
        }
        if let Some(modes) = &self.modes {
            take_back(modes.as_ref());
        }
    }
}

/// Gives the terminal to juror, with these modes.
fn take_back(modes: Option<&Termios>) {
    let _ = tcsetpgrp(stdin(), getpgrp());
    if let Some(modes) = modes {
        let _ = tcsetattr(stdin(), SetArg::TCSADRAIN, modes);
    }
}

/// Makes writing return if the program takes no more, so that it is noticed when it is stopped.
fn set_nonblocking(child: &Child) -> io::Result<()> {
    if let Some(input) = &child.stdin {
        let flags = OFlag::from_bits_retain(fcntl(input, FcntlArg::F_GETFL)?);
        fcntl(input, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
    }
    Ok(())
}

fn wait(child: Pid) -> io::Result<ExitStatus> {
    loop {
        match waitpid(child, Some(WaitPidFlag::WUNTRACED)) {
            Ok(WaitStatus::Exited(_, status)) => return Ok(ExitStatus::from_raw(status << 8)),
            Ok(WaitStatus::Signaled(_, by, _)) => return Ok(ExitStatus::from_raw(by as i32)),
            Ok(WaitStatus::Stopped(..)) => {
                let _ = killpg(child, Signal::SIGKILL);
            }
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    fn check(script: &str, expected: (Option<i32>, Option<i32>)) {
        let mut command = Command::new("/bin/sh");
        let status = run_in_foreground(command.args(["-c", script])).expect("a shell");
        assert_eq!((status.code(), status.signal()), expected, "{script}");
    }

    #[test]
    fn more_than_it_takes_is_a_broken_pipe() {
        let mut command = Command::new("/bin/sh");
        let command = command.args(["-c", "read line"]).stdin(Stdio::piped());
        let mut program = Foreground::start(command).expect("a shell");
        // More than a pipe holds.
        let text = "line\n".repeat(100_000);
        let error = program
            .write_all(text.as_bytes())
            .expect_err("nobody reads");
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        assert!(program.finish().expect("an end").success());
    }

    #[test]
    fn it_is_known_whether_it_has_read_its_input() {
        for (script, has_read) in [
            ("exit 0", false),
            ("exit 3", false),
            ("read line", true),
            ("cat > /dev/null", true),
        ] {
            for text in ["line\n".to_owned(), "line\n".repeat(100_000)] {
                let mut command = Command::new("/bin/sh");
                let command = command.args(["-c", script]);
                let mut program = Foreground::start_reading(command).expect("a shell");
                let written = program.write_all(text.as_bytes());
                // More than a pipe holds is taken only by who reads it.
                let takes_all = text.len() < 10 || script.starts_with("cat");
                assert_eq!(written.is_ok(), takes_all, "{script}");
                let (_, found) = program.finish_reading().expect("an end");
                assert_eq!(found, has_read, "{script}");
            }
        }
    }

    #[test]
    fn its_end_is_told() {
        check("exit 0", (Some(0), None));
        check("exit 7", (Some(7), None));
        check("kill -9 $$", (None, Some(9)));
        let mut command = Command::new("/bin/sh");
        let command = command.args(["-c", "read line; test \"$line\" = taken"]);
        let mut program = Foreground::start(command.stdin(Stdio::piped())).expect("a shell");
        program.write_all(b"taken\n").expect("a pipe");
        assert!(program.finish().expect("an end").success());
        let mut missing = Command::new("/nowhere/program");
        assert!(run_in_foreground(&mut missing).is_err());
    }
}
