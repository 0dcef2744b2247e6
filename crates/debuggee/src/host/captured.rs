//! Other programs that the user runs where juror has no terminal to give.
//!
//! Such a program reads nothing, and its output is handed on as it comes. It is a process group
//! of its own, which is killed if the user interrupts it. What it leaves running in the
//! background is not waited for.

use std::io::{self, PipeReader, Read, pipe};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// The time after which it is looked whether the program has ended or is to end, in milliseconds.
const LOOK_MS: u16 = 20;

/// Runs a program without input, hands its output to `told`, and waits for its end. It is killed
/// once `is_interrupted`.
///
/// # Errors
/// It cannot be started, or its output cannot be read.
pub fn run_captured(
    mut command: Command,
    told: &mut dyn FnMut(&str),
    is_interrupted: &dyn Fn() -> bool,
) -> io::Result<ExitStatus> {
    let (reader, writer) = pipe()?;
    command
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .process_group(0);
    let mut child = command.spawn()?;
    // The command holds the other end of the pipe.
    drop(command);
    let mut output = Output {
        reader: Some(reader),
        pending: Vec::new(),
    };
    let done = follow(&mut child, &mut output, told, is_interrupted);
    if done.is_err() {
        kill(&child);
        let _ = child.wait();
    }
    output.tell_rest(told);
    done
}

fn follow(
    child: &mut Child,
    output: &mut Output,
    told: &mut dyn FnMut(&str),
    is_interrupted: &dyn Fn() -> bool,
) -> io::Result<ExitStatus> {
    loop {
        if is_interrupted() {
            kill(child);
        }
        if let Some(status) = child.try_wait()? {
            while output.tell_next(told, PollTimeout::ZERO)? {}
            return Ok(status);
        }
        output.tell_next(told, PollTimeout::from(LOOK_MS))?;
    }
}

fn kill(child: &Child) {
    let _ = killpg(Pid::from_raw(child.id().cast_signed()), Signal::SIGKILL);
}

/// The output of a program.
struct Output {
    /// The pipe; none at its end.
    reader: Option<PipeReader>,
    /// The beginning of a character.
    pending: Vec<u8>,
}

impl Output {
    /// Tells a piece. Returns whether there was one in this time.
    fn tell_next(&mut self, told: &mut dyn FnMut(&str), time: PollTimeout) -> io::Result<bool> {
        let Some(reader) = &mut self.reader else {
            // There is nothing to read, but the program goes on.
            poll(&mut [], time)?;
            return Ok(false);
        };
        let mut polled = [PollFd::new(reader.as_fd(), PollFlags::POLLIN)];
        match poll(&mut polled, time) {
            Ok(0) | Err(nix::errno::Errno::EINTR) => return Ok(false),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let mut bytes = [0; 8 << 10];
        let count = reader.read(&mut bytes)?;
        if count == 0 {
            self.reader = None;
            return Ok(false);
        }
        self.pending
            .extend_from_slice(bytes.get(..count).unwrap_or_default());
        let text = take_text(&mut self.pending);
        if !text.is_empty() {
            told(&text);
        }
        Ok(true)
    }

    /// Tells what is no whole character.
    fn tell_rest(&mut self, told: &mut dyn FnMut(&str)) {
        if !self.pending.is_empty() {
            told(&String::from_utf8_lossy(&self.pending));
        }
    }
}

/// Takes the whole characters; the beginning of another one stays.
fn take_text(bytes: &mut Vec<u8>) -> String {
    let mut end = bytes.len();
    let mut rest = &bytes[..];
    while let Err(error) = std::str::from_utf8(rest) {
        let after = error.valid_up_to() + error.error_len().unwrap_or(0);
        rest = rest.get(after..).unwrap_or_default();
        if error.error_len().is_none() {
            end = bytes.len() - rest.len();
            break;
        }
    }
    let taken: Vec<u8> = bytes.drain(..end).collect();
    String::from_utf8_lossy(&taken).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(script: &str, is_interrupted: bool) -> (String, ExitStatus) {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        let mut text = String::new();
        let status = run_captured(command, &mut |piece| text.push_str(piece), &|| {
            is_interrupted
        });
        (text, status.expect("a shell"))
    }

    #[test]
    fn both_streams_are_told_and_nothing_is_read() {
        let (text, status) = run(
            "echo one; cat; printf '\\303' >&2; printf '\\251\\377'; exit 3",
            false,
        );
        assert_eq!(text, "one\né\u{fffd}");
        assert_eq!(status.code(), Some(3));
    }

    #[test]
    fn an_interruption_ends_it() {
        let (_, status) = run("while :; do sleep 1000; done", true);
        assert!(!status.success());
    }

    #[test]
    fn neither_a_closed_output_nor_a_program_in_the_background_holds_it() {
        let (text, status) = run("exec >&- 2>&-; sleep 0.1; exit 4", false);
        assert_eq!((text.as_str(), status.code()), ("", Some(4)));

        // The program in the background waits for a writer of this pipe.
        let directory = tempfile::tempdir().expect("a directory");
        let pipe = directory.path().join("pipe");
        let script = format!("mkfifo '{0}'; read line < '{0}' & echo on", pipe.display());
        let (text, status) = run(&script, false);
        assert_eq!((text.as_str(), status.code()), ("on\n", Some(0)));
        std::fs::write(&pipe, "end\n").expect("a reader");
    }

    #[test]
    fn the_beginning_of_a_character_stays() {
        let mut bytes = b"a\xff\xe2\x82".to_vec();
        assert_eq!(take_text(&mut bytes), "a\u{fffd}");
        assert_eq!(bytes, b"\xe2\x82");
        bytes.extend(b"\xac");
        assert_eq!(take_text(&mut bytes), "€");
    }
}
