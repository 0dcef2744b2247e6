//! Runs a command to its end, or to a deadline.
//!
//! The child is watched through a descriptor of the process, which stands for
//! this child alone even after its number is used again.

use crate::descendants::kill_descendants;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// What a command left.
#[derive(Debug, Clone)]
pub struct Output {
    /// How it ended.
    pub status: ExitStatus,
    /// Its standard output; what is not UTF-8 is replaced.
    pub stdout: String,
    /// Its standard error; what is not UTF-8 is replaced.
    pub stderr: String,
}

impl Output {
    /// The exit status, or `None` when a signal ended it.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Checks the exit status, and gives the output for further checks.
    ///
    /// # Panics
    ///
    /// The status is another one; the message has all output.
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

/// Why a command has no output.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It did not start.
    #[error("`{command}` does not start: {cause}")]
    Start {
        /// The command.
        command: String,
        /// What the system says.
        cause: io::Error,
    },
    /// It could not be waited for.
    #[error("`{command}` cannot be waited for: {cause}")]
    Wait {
        /// The command.
        command: String,
        /// What the system says.
        cause: io::Error,
    },
    /// It was still running at the deadline, and was killed.
    #[error(
        "`{command}` was killed after {deadline:?}\n--- standard output\n{stdout}\n--- standard error\n{stderr}"
    )]
    Deadline {
        /// The command.
        command: String,
        /// How long it ran.
        deadline: Duration,
        /// Its standard output until then.
        stdout: String,
        /// Its standard error until then.
        stderr: String,
    },
    /// It ended, and something that it started still holds its output.
    #[error("`{command}` ended, but a process that it started still runs")]
    Survivor {
        /// The command.
        command: String,
    },
}

/// Runs a command with this standard input, and gives its output.
///
/// # Errors
///
/// See [`RunError`]. The command itself has ended in every case, and at the
/// deadline all that it has started.
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
        // The child is not waited for yet, so its number is still its own.
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

/// How long output may take to arrive after its writer was killed.
const GRACE: Duration = Duration::from_secs(1);

/// Writes the input; a child that does not read it to its end is no error.
fn feed(child: &mut Child, input: Vec<u8>) {
    if let Some(mut pipe) = child.stdin.take() {
        thread::spawn(move || {
            let _ = pipe.write_all(&input);
        });
    }
}

/// Reads all of a pipe, and sends it when its last writer is gone.
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

/// True when the child ended before the deadline. It is not reaped.
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
