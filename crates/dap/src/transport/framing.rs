//! The frames of the protocol: a header with the length, an empty line, and JSON.
//!
//! Bytes that are no frame are reported, and the next frame is looked for where a header may begin,
//! also in what was taken for a message.

use serde_json::Value;
use std::collections::VecDeque;
use std::io::{self, BufRead, Write};

/// The limit of a header, in bytes.
const HEADER_MAX: usize = 4 << 10;

/// The limit of a message, in bytes.
const BODY_MAX: usize = 64 << 20;

/// The name of the only field of a header that matters, with which each begins.
const LENGTH: &str = "content-length:";

/// A received message.
#[derive(Debug, Clone, PartialEq)]
pub enum Frame {
    /// A message.
    Message(Value),
    /// Bytes that are no frame, or not JSON; with the number that they seem to have.
    Malformed {
        /// The number of the message, if one can be recognized.
        seq: Option<i64>,
        /// The error.
        error: String,
    },
}

/// The frames of a stream.
pub struct Frames<R> {
    input: R,
    /// Bytes that were read, and are read again.
    again: VecDeque<u8>,
}

/// The reason why there is no frame.
enum Fault {
    /// The stream cannot be read.
    Stream(io::Error),
    /// It does not speak the protocol: the bytes that were taken, and why they are no header.
    Header(Vec<u8>, &'static str),
}

impl<R: BufRead> Frames<R> {
    /// Creates the frames of a stream that begins.
    pub fn new(input: R) -> Frames<R> {
        Frames {
            input,
            again: VecDeque::new(),
        }
    }

    /// Reads the next frame; nothing at the end of the stream.
    ///
    /// # Errors
    /// The stream cannot be read.
    pub fn read(&mut self) -> io::Result<Option<Frame>> {
        let length = match self.read_header() {
            Ok(Some(length)) => length,
            Ok(None) => return Ok(None),
            Err(Fault::Stream(error)) => return Err(error),
            Err(Fault::Header(taken, why)) => {
                self.pass_to_header(taken)?;
                return Ok(Some(Frame::Malformed {
                    seq: None,
                    error: why.to_owned(),
                }));
            }
        };
        let mut body = Vec::new();
        while body.len() < length {
            let left = length - body.len();
            if self.take(left, &mut body)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(Some(match serde_json::from_slice(&body) {
            Ok(message) => Frame::Message(message),
            Err(error) => {
                let seq = number_in(&body);
                // The length may be wrong, and the next message in it.
                let at = header_in(&body).unwrap_or_else(|| begun_header_in(&body));
                self.read_again(body.get(at..).unwrap_or_default());
                Frame::Malformed {
                    seq,
                    error: error.to_string(),
                }
            }
        }))
    }

    /// Takes what is available, at most so many bytes. Returns their number; 0 at the end.
    fn take(&mut self, limit: usize, taken: &mut Vec<u8>) -> io::Result<usize> {
        if !self.again.is_empty() {
            let count = limit.min(self.again.len());
            taken.extend(self.again.drain(..count));
            return Ok(count);
        }
        loop {
            match self.input.fill_buf() {
                Ok(available) => {
                    let count = limit.min(available.len());
                    taken.extend_from_slice(available.get(..count).unwrap_or_default());
                    self.input.consume(count);
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn read_again(&mut self, bytes: &[u8]) {
        let rest = std::mem::take(&mut self.again);
        self.again = bytes.iter().copied().chain(rest).collect();
    }

    /// Reads a header. Returns the length of the message; nothing at the end of the stream.
    fn read_header(&mut self) -> Result<Option<usize>, Fault> {
        let mut taken = Vec::new();
        let mut length = None;
        loop {
            let begin = taken.len();
            while taken
                .get(begin..)
                .is_some_and(|line| !line.ends_with(b"\n"))
            {
                match self.take(1, &mut taken).map_err(Fault::Stream)? {
                    0 if taken.is_empty() => return Ok(None),
                    0 => return Err(Fault::Header(taken, "the stream ends in a header")),
                    _ => {}
                }
                if taken.len() > HEADER_MAX {
                    return Err(Fault::Header(taken, "a header is too long"));
                }
            }
            let line = taken.get(begin..).unwrap_or_default().trim_ascii_end();
            if line.is_empty() && begin > 0 {
                return match length {
                    Some(length) => Ok(Some(length)),
                    None => Err(Fault::Header(taken, "a header has no length")),
                };
            }
            let Some(value) = length_in(line) else {
                if begin == 0 {
                    let why = "a message does not begin with Content-Length";
                    return Err(Fault::Header(taken, why));
                }
                continue;
            };
            let given = std::str::from_utf8(value).ok();
            let given = given.and_then(|it| it.trim().parse().ok());
            length = given.filter(|&given: &usize| given <= BODY_MAX);
            if length.is_none() {
                let why = "the length of a message is not valid";
                return Err(Fault::Header(taken, why));
            }
        }
    }

    /// Passes what is no header, up to where one may begin.
    fn pass_to_header(&mut self, taken: Vec<u8>) -> io::Result<()> {
        // It does not begin where the last one did.
        let mut passed = taken.get(1..).unwrap_or_default().to_vec();
        loop {
            if let Some(at) = header_in(&passed) {
                self.read_again(passed.get(at..).unwrap_or_default());
                return Ok(());
            }
            // The end may be the beginning of the name.
            passed.drain(..passed.len().saturating_sub(LENGTH.len() - 1));
            if self.take(HEADER_MAX, &mut passed)? == 0 {
                return Ok(());
            }
        }
    }
}

/// Returns the value of a field if it is the length.
fn length_in(line: &[u8]) -> Option<&[u8]> {
    let (name, value) = line.split_at_checked(LENGTH.len())?;
    name.eq_ignore_ascii_case(LENGTH.as_bytes())
        .then_some(value)
}

/// Returns where a header may begin.
fn header_in(bytes: &[u8]) -> Option<usize> {
    let mut names = bytes.windows(LENGTH.len());
    names.position(|name| name.eq_ignore_ascii_case(LENGTH.as_bytes()))
}

/// Returns where the end of the bytes may be the beginning of a header; their length if it is not.
fn begun_header_in(bytes: &[u8]) -> usize {
    let first = bytes.len().saturating_sub(LENGTH.len() - 1);
    let begins = |at: &usize| {
        let end = bytes.get(*at..).unwrap_or_default();
        end.eq_ignore_ascii_case(LENGTH.as_bytes().get(..end.len()).unwrap_or_default())
    };
    (first..bytes.len()).find(begins).unwrap_or(bytes.len())
}

/// Writes a message as a frame.
///
/// # Errors
/// The stream cannot be written.
pub fn write(output: &mut impl Write, body: &[u8]) -> io::Result<()> {
    // One write: a frame is not split by another writer of the same stream.
    let mut frame = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    frame.extend_from_slice(body);
    output.write_all(&frame)?;
    output.flush()
}

/// Returns the number of a message that is not JSON, if it seems to have one.
fn number_in(body: &[u8]) -> Option<i64> {
    let text = String::from_utf8_lossy(body);
    let (_, after) = text.split_once("\"seq\"")?;
    let after = after.trim_start().strip_prefix(':')?.trim_start();
    let end = after.find(|c: char| !c.is_ascii_digit());
    after.get(..end.unwrap_or(after.len()))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn frames(bytes: &[u8]) -> Vec<Frame> {
        let mut frames = Frames::new(bytes);
        let mut found = Vec::new();
        while let Ok(Some(frame)) = frames.read() {
            found.push(frame);
        }
        found
    }

    #[test]
    fn what_is_written_is_read() {
        let mut stream = Vec::new();
        for body in [&br#"{"seq":1}"#[..], "{\"seq\":2,\"a\":\"é\"}".as_bytes()] {
            write(&mut stream, body).expect("memory");
        }
        let expected = [json!({"seq": 1}), json!({"seq": 2, "a": "é"})].map(Frame::Message);
        assert_eq!(frames(&stream), expected);
    }

    #[test]
    fn other_fields_and_small_letters_are_accepted() {
        let stream = b"content-length: 2\r\nContent-Type: x\r\n\r\n{}Content-Length:2\n\n[]";
        let expected = [json!({}), json!([])].map(Frame::Message);
        assert_eq!(frames(stream), expected);
    }

    #[test]
    fn after_a_malformed_message_the_next_is_read() {
        let stream = b"Content-Length: 15\r\n\r\n{\"seq\": 12, nonContent-Length: 2\r\n\r\n{}";
        match &frames(stream)[..] {
            [Frame::Malformed { seq: Some(12), .. }, Frame::Message(last)] => {
                assert_eq!(*last, json!({}));
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_not_the_protocol_is_reported_and_the_next_message_is_read() {
        let mut long = b"Content-Length: 2\r\nX: ".to_vec();
        long.resize(HEADER_MAX + 1, b'x');
        for (stream, words) in [
            (&b"GET / HTTP/1.1\r\nOrigin: x\r\n\r\n"[..], "begin with"),
            (b"garbage", "begin with"),
            (b"\xff\r\n\r\n", "begin with"),
            (b"Content-Length: -1\r\n\r\n{}", "not valid"),
            (b"Content-Length: 67108865\r\n\r\n", "not valid"),
            (b"Content-Length: \r\n\r\n", "not valid"),
            (&long, "too long"),
        ] {
            let stream = [stream, b"Content-Length: 8\r\n\r\n{\"a\": 1}"].concat();
            match &frames(&stream)[..] {
                [Frame::Malformed { seq: None, error }, Frame::Message(next)] => {
                    assert!(error.contains(words), "{error}");
                    assert_eq!(*next, json!({ "a": 1 }));
                }
                other => panic!("{words}: {other:?}"),
            }
        }
        let ended = frames(b"Content-Length: 2");
        assert!(matches!(&ended[..], [Frame::Malformed { .. }]), "{ended:?}");
        assert_eq!(frames(b""), []);
    }

    #[test]
    fn a_message_with_a_wrong_length_takes_no_other_with_it() {
        let next = "Content-Length: 2\r\n\r\n[]";
        for length in [5, 17, 30] {
            let stream = format!("Content-Length: {length}\r\n\r\n{{\"seq\": 3}}{next}{next}");
            let found = frames(stream.as_bytes());
            let whole = found.iter().filter(|it| **it == Frame::Message(json!([])));
            assert_eq!(whole.count(), 2, "{length}: {found:?}");
            assert!(matches!(found[0], Frame::Malformed { .. }), "{found:?}");
        }
    }
}
