//! The program's output: pseudoterminals whose other ends are read into `output` events.
//!
//! The program sees terminals, so that it writes line by line. A mark that juror itself writes
//! after the program has ended tells when all of its output has been read.

use crate::transport::outbox::Outbox;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::pty::{OpenptyResult, openpty};
use nix::sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// The mark; no program writes it by chance.
const MARK: &[u8] = b"\x00\x1bjuror has read all of it\x1b\x00";

/// How long the output of a program that has ended is waited for.
const DRAIN_MAX: Duration = Duration::from_secs(2);

/// The streams of a program.
pub(crate) struct DebuggeeOutput {
    output: Stream,
    error: Stream,
}

struct Stream {
    /// The end of the program, kept open between its runs.
    end: File,
    path: PathBuf,
    marks: Receiver<()>,
}

impl DebuggeeOutput {
    /// Opens the streams, and reads them into events until juror ends.
    pub(crate) fn open(outbox: &Outbox) -> io::Result<DebuggeeOutput> {
        Ok(DebuggeeOutput {
            output: Stream::open("stdout", outbox)?,
            error: Stream::open("stderr", outbox)?,
        })
    }

    /// Returns the path of the terminal for input and output.
    pub(crate) fn output(&self) -> &Path {
        &self.output.path
    }

    /// Returns the path of the terminal for errors.
    pub(crate) fn error(&self) -> &Path {
        &self.error.path
    }

    /// Waits until what the program has written so far is in events.
    pub(crate) fn drain(&mut self) {
        for stream in [&mut self.output, &mut self.error] {
            if stream.end.write_all(MARK).is_ok() {
                let _ = stream.marks.recv_timeout(DRAIN_MAX);
            }
        }
    }
}

impl Stream {
    fn open(category: &'static str, outbox: &Outbox) -> io::Result<Stream> {
        let OpenptyResult { master, slave } = openpty(None, None)?;
        // A program that goes on alone would hold its own terminal open, and wait for a reader.
        for end in [&master, &slave] {
            fcntl(end, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
        }
        let mut mode = tcgetattr(&slave)?;
        cfmakeraw(&mut mode);
        tcsetattr(&slave, SetArg::TCSANOW, &mode)?;
        let path = nix::unistd::ttyname(&slave)?;
        let (sender, marks) = channel();
        let outbox = outbox.clone();
        std::thread::Builder::new()
            .name(category.to_owned())
            .spawn(move || read(category, master, &outbox, &sender))?;
        Ok(Stream {
            end: slave.into(),
            path,
            marks,
        })
    }
}

/// Reads a stream until nothing can be written to it any more.
fn read(category: &str, master: OwnedFd, outbox: &Outbox, marks: &Sender<()>) {
    let mut master = File::from(master);
    let mut pending = Pending::default();
    let mut bytes = vec![0; 16 << 10];
    loop {
        let count = match master.read(&mut bytes) {
            Ok(0) => return,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        pending.push(bytes.get(..count).unwrap_or_default());
        while let Some(piece) = pending.next() {
            match piece {
                Piece::Text(text) => outbox.output(category, &text),
                Piece::Mark if marks.send(()).is_err() => return,
                Piece::Mark => {}
            }
        }
    }
}

/// A piece of a stream.
#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Mark,
}

/// Bytes that were read and not reported.
#[derive(Debug, Default)]
struct Pending(Vec<u8>);

impl Pending {
    fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Returns the next piece. The beginning of a mark or of a character stays.
    fn next(&mut self) -> Option<Piece> {
        if self.0.starts_with(MARK) {
            self.0.drain(..MARK.len());
            return Some(Piece::Mark);
        }
        let mut end = mark_or_its_begin(&self.0);
        if end == self.0.len() {
            end -= unfinished(&self.0);
        }
        if end == 0 {
            return None;
        }
        let taken: Vec<u8> = self.0.drain(..end).collect();
        Some(Piece::Text(String::from_utf8_lossy(&taken).into_owned()))
    }
}

/// Returns where the mark begins, or its beginning at the end of the bytes; else their number.
fn mark_or_its_begin(bytes: &[u8]) -> usize {
    let begins = |&at: &usize| {
        let rest = bytes.get(at..).unwrap_or_default();
        rest.starts_with(MARK) || MARK.starts_with(rest)
    };
    (0..bytes.len()).find(begins).unwrap_or(bytes.len())
}

/// Returns the number of bytes of an unfinished character at the end.
fn unfinished(bytes: &[u8]) -> usize {
    for length in 1..=bytes.len().min(3) {
        let byte = bytes.get(bytes.len() - length).copied().unwrap_or(0);
        let whole = match byte {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            0x80..=0xbf => continue,
            _ => return 0,
        };
        return if length < whole { length } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_characters_and_marks() {
        let stream = ["é\n".as_bytes(), MARK, "\u{0}€".as_bytes(), MARK].concat();
        for size in 1..stream.len() {
            let mut pending = Pending::default();
            let mut text = String::new();
            let mut marks = Vec::new();
            for part in stream.chunks(size) {
                pending.push(part);
                while let Some(piece) = pending.next() {
                    match piece {
                        Piece::Text(more) => text.push_str(&more),
                        Piece::Mark => marks.push(text.len()),
                    }
                }
            }
            assert_eq!(
                (text.as_str(), &marks[..]),
                ("é\n\u{0}€", &[3, 7][..]),
                "{size}"
            );
        }
    }

    #[test]
    fn what_is_no_character_is_replaced() {
        let mut pending = Pending::default();
        pending.push(b"a\xff\xc3(");
        assert_eq!(
            pending.next(),
            Some(Piece::Text("a\u{fffd}\u{fffd}(".into()))
        );
        assert_eq!(pending.next(), None);
    }

    #[test]
    fn all_that_was_written_is_told_before_the_drain_returns() {
        let outbox = Outbox::default();
        let mut streams = DebuggeeOutput::open(&outbox).unwrap();
        let mut program = File::options().write(true).open(streams.output()).unwrap();
        program.write_all(b"one\ntwo").unwrap();
        streams.drain();
        outbox.close(Duration::ZERO);
        let mut sent = Vec::new();
        outbox.drain(&mut sent);
        let sent = String::from_utf8(sent).unwrap();
        assert!(sent.contains(r#""output":"one\ntwo""#), "{sent}");
    }
}
