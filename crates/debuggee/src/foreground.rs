//! Other programs that the user runs from juror's prompt.
//!
//! Such a program is a process group of its own and has the terminal until it
//! ends: Ctrl-C goes to it, not to juror. Invariant: however it ends, juror has
//! the terminal again, in its former modes.

use std::io::{self, IsTerminal, stdin};
use std::os::fd::BorrowedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus};

use nix::sys::signal::{SigHandler, Signal, killpg, signal};
use nix::sys::termios::{SetArg, tcgetattr, tcsetattr};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpgrp, tcgetpgrp, tcsetpgrp};

/// Runs a program in the foreground of juror's terminal, if there is one, and
/// waits for its end. A program that is stopped there (Ctrl-Z) is killed, since
/// nothing could continue it.
///
/// # Errors
/// It cannot be started.
pub fn run_in_foreground(command: &mut Command) -> io::Result<ExitStatus> {
    let has_terminal = stdin().is_terminal() && tcgetpgrp(stdin()) == Ok(getpgrp());
    if !has_terminal {
        return command.status();
    }
    // juror takes the terminal back from the background, which this signal
    // would stop.
    // SAFETY: ignoring a signal installs no handler.
    unsafe { signal(Signal::SIGTTOU, SigHandler::SigIgn) }?;
    let modes = tcgetattr(stdin()).ok();
    command.process_group(0);
    // SAFETY: between fork and exec only functions are called that may be called
    // there; descriptor 0 is the terminal that was found above.
    unsafe {
        let terminal = BorrowedFd::borrow_raw(0);
        command.pre_exec(move || {
            // Before anything of the program can read from the terminal.
            tcsetpgrp(terminal, getpgrp())?;
            signal(Signal::SIGTTOU, SigHandler::SigDfl)?;
            Ok(())
        });
    }
    let started = command.spawn();
    let ended = started.and_then(|child| wait(Pid::from_raw(child.id().cast_signed())));
    let _ = tcsetpgrp(stdin(), getpgrp());
    if let Some(modes) = &modes {
        let _ = tcsetattr(stdin(), SetArg::TCSADRAIN, modes);
    }
    ended
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

    fn check(script: &str, expected: (Option<i32>, Option<i32>)) {
        let mut command = Command::new("/bin/sh");
        let status = run_in_foreground(command.args(["-c", script])).expect("a shell");
        assert_eq!((status.code(), status.signal()), expected, "{script}");
    }

    #[test]
    fn its_end_is_told() {
        check("exit 0", (Some(0), None));
        check("exit 7", (Some(7), None));
        check("kill -9 $$", (None, Some(9)));
        let mut missing = Command::new("/nowhere/program");
        assert!(run_in_foreground(&mut missing).is_err());
    }
}
