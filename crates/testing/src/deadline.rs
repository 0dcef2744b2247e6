//! Runs a command to its end, or to a deadline.
//!
//! The child is waited for through a pidfd, which refers to this child only, even after its
//! process id is reused.

use crate::descendants::kill_descendants;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The output and the status of a command.
#[derive(Debug, Clone)]
pub struct Output {
    /// The exit status.
    pub status: ExitStatus,
    /// The standard output, with invalid UTF-8 replaced.
    pub stdout: String,
    /// The standard error, with invalid UTF-8 replaced.
    pub stderr: String,
}

impl Output {
    /// Returns the exit status, or `None` after a signal.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Asserts the exit status, and returns the output for further checks.
    ///
    /// # Panics
    ///
    /// The status is another one; the message includes all output.
    #[track_caller]
    pub fn assert_code(&self, code: i32) -> &Output {
        assert!(
            self.code() == Some(code),
            "{} instead of {code}\n--- standard output\n{}\n--- standard error\n{}",
            self.status,
            self.stdout,
            self.stderr
        );
        self
    }
}

/// The reason why a command has no output.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The command could not be started.
    #[error("`{command}` does not start: {cause}")]
    Start {
        /// The command.
        command: String,
        /// The system's error.
        cause: io::Error,
    },
    /// The command could not be waited for.
    #[error("`{command}` cannot be waited for: {cause}")]
    Wait {
        /// The command.
        command: String,
        /// The system's error.
        cause: io::Error,
    },
    /// The command was still running at the deadline, and was killed.
    #[error(
        "`{command}` was killed after {deadline:?}\n--- standard output\n{stdout}\n--- standard error\n{stderr}"
    )]
    Deadline {
        /// The command.
        command: String,
        /// The time it ran.
        deadline: Duration,
        /// The standard output until then.
        stdout: String,
        /// The standard error until then.
        stderr: String,
    },
    /// The command ended, and a process that it started still holds its output open.
    #[error("`{command}` ended, but a process that it started still runs")]
    Survivor {
        /// The command.
        command: String,
    },
}

/// Runs a command with this standard input; returns its output.
///
/// # Errors
///
/// See [`RunError`]. In every case the command itself has ended; at the deadline its
/// descendants are killed, too.
pub fn run_with_deadline(
    command: &mut Command,
    input: &[u8],
    deadline: Duration,
) -> Result<Output, RunError> {
    let name = command.get_program().to_string_lossy().into_owned();
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|cause| RunError::Start {
            command: name.clone(),
            cause,
        })?;
    feed(&mut child, input.to_vec());
    let stdout = collect(child.stdout.take());
    let stderr = collect(child.stderr.take());

    let ended = wait_until(&child, deadline);
    if !matches!(ended, Ok(true)) {
        // The child is not reaped yet, so its process id is still valid.
        kill_descendants(Pid::from_child(&child));
        let _ = child.kill();
    }
    let status = child.wait();
    let left = deadline.saturating_sub(start.elapsed()).max(GRACE);
    let (stdout, stderr) = (receive(&stdout, left), receive(&stderr, left));
    match (ended, status) {
        (Err(cause), _) | (_, Err(cause)) => Err(RunError::Wait {
            command: name,
            cause,
        }),
        (Ok(false), _) => Err(RunError::Deadline {
            command: name,
            deadline,
            stdout: stdout.unwrap_or_default(),
            stderr: stderr.unwrap_or_default(),
        }),
        (Ok(true), Ok(status)) => match (stdout, stderr) {
            (Some(stdout), Some(stderr)) => Ok(Output {
                status,
                stdout,
                stderr,
            }),
            _ => Err(RunError::Survivor { command: name }),
        },
    }
}

/// The time that output may take to arrive after its writer was killed.
const GRACE: Duration = Duration::from_secs(1);

/// Writes the input. It is no error if the child does not read all of it.
fn feed(child: &mut Child, input: Vec<u8>) {
    if let Some(mut pipe) = child.stdin.take() {
        thread::spawn(move || {
            let _ = pipe.write_all(&input);
        });
    }
}

/// Reads all of a pipe, and sends it when the last writer has closed it.
fn collect(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

fn receive(receiver: &Receiver<String>, timeout: Duration) -> Option<String> {
    receiver.recv_timeout(timeout).ok()
}

/// Returns whether the child ended before the deadline, without reaping it.
fn wait_until(child: &Child, deadline: Duration) -> io::Result<bool> {
    let process = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    let end = Instant::now() + deadline;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let timeout = Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        };
        let mut descriptors = [PollFd::from_borrowed_fd(process.as_fd(), PollFlags::IN)];
        match poll(&mut descriptors, Some(&timeout)) {
            Ok(0) => return Ok(false),
            Ok(_) => return Ok(true),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_command_gives_its_output_and_status() {
        let script = "cat; echo problem >&2; exit 3";
        let output =
            run_with_deadline(&mut shell(script), b"input", Duration::from_secs(60)).unwrap();
        output.assert_code(3);
        assert_eq!(output.stdout, "input");
        assert_eq!(output.stderr, "problem\n");
    }

    #[test]
    fn input_that_nobody_reads_is_no_error() {
        let input = vec![b'x'; 1 << 20];
        let output = run_with_deadline(&mut shell("exit 0"), &input, Duration::from_secs(60));
        output.unwrap().assert_code(0);
    }

    #[test]
    fn a_command_that_does_not_end_is_killed() {
        let mut command = shell("echo begun; exec tail -f /dev/null");
        let error = run_with_deadline(&mut command, b"", Duration::from_millis(50)).unwrap_err();
        assert!(matches!(error, RunError::Deadline { .. }), "{error}");
    }

    #[test]
    fn a_command_that_does_not_exist_is_an_error() {
        let mut command = Command::new("/nonexistent/program");
        let error = run_with_deadline(&mut command, b"", Duration::from_secs(60)).unwrap_err();
        assert!(error.to_string().contains("/nonexistent/program"));
    }
}
