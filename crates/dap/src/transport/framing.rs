//! The frames of the protocol: a header with the length, an empty line, and JSON.

use serde_json::Value;
use std::io::{self, BufRead, Write};

/// The limit of a header, in bytes.
const HEADER_MAX: usize = 4 << 10;

/// The limit of a message, in bytes.
const BODY_MAX: usize = 64 << 20;

/// The name of the only field of a header that matters.
const LENGTH: &str = "content-length";

/// A received message.
#[derive(Debug, Clone, PartialEq)]
pub enum Frame {
    /// A message.
    Message(Value),
    /// A frame that is not JSON; with the number that it seems to have.
    Malformed {
        /// The number of the message, if one can be recognized.
        seq: Option<i64>,
        /// The error.
        error: String,
    },
}

/// Reads the next frame; nothing at the end of the stream.
///
/// # Errors
/// The stream cannot be read, or does not speak the protocol: nothing that follows can be
/// understood.
pub fn read(input: &mut impl BufRead) -> io::Result<Option<Frame>> {
    let Some(length) = read_header(input)? else {
        return Ok(None);
    };
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    Ok(Some(match serde_json::from_slice(&body) {
        Ok(message) => Frame::Message(message),
        Err(error) => Frame::Malformed {
            seq: number_in(&body),
            error: error.to_string(),
        },
    }))
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

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

/// Reads a header. Returns the length of the message; nothing at the end of the stream.
fn read_header(input: &mut impl BufRead) -> io::Result<Option<usize>> {
    let mut length = None;
    let mut size = 0;
    loop {
        let Some(line) = read_line(input, HEADER_MAX - size)? else {
            return match size {
                0 => Ok(None),
                _ => Err(wrong("the stream ends in a header")),
            };
        };
        let is_first = size == 0;
        size += line.len();
        let line = line.trim_ascii_end();
        if line.is_empty() && !is_first {
            return length
                .map(Some)
                .ok_or_else(|| wrong("a header has no length"));
        }
        let text = std::str::from_utf8(line).map_err(|_| wrong("a header is not text"))?;
        let (name, value) = text.split_once(':').unwrap_or((text, ""));
        let is_length = name.trim().eq_ignore_ascii_case(LENGTH);
        if is_first && !is_length {
            // A browser, say: what it sends is never taken for a message.
            return Err(wrong("a message does not begin with Content-Length"));
        }
        if is_length {
            let given = value.trim().parse().ok();
            let given = given.filter(|&given: &usize| given <= BODY_MAX);
            length = Some(given.ok_or_else(|| wrong("the length of a message is not valid"))?);
        }
    }
}

/// Reads a line with its end, of at most `limit` bytes; nothing at the end of the stream.
fn read_line(input: &mut impl BufRead, limit: usize) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    loop {
        let available = match input.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if available.is_empty() {
            return match line.is_empty() {
                true => Ok(None),
                false => Err(wrong("the stream ends in a header")),
            };
        }
        let end = available.iter().position(|&byte| byte == b'\n');
        let taken = end.map_or(available.len(), |end| end + 1);
        if line.len() + taken > limit {
            return Err(wrong("a header is too long"));
        }
        line.extend_from_slice(available.get(..taken).unwrap_or_default());
        input.consume(taken);
        if end.is_some() {
            return Ok(Some(line));
        }
    }
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

    fn frames(mut bytes: &[u8]) -> Vec<Frame> {
        let mut found = Vec::new();
        while let Ok(Some(frame)) = read(&mut bytes) {
            found.push(frame);
        }
        found
    }

    fn refusal(mut bytes: &[u8]) -> String {
        read(&mut bytes).expect_err("it is refused").to_string()
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
    fn what_is_not_the_protocol_is_refused() {
        for (stream, words) in [
            (&b"GET / HTTP/1.1\r\nOrigin: x\r\n\r\n"[..], "begin with"),
            (b"Origin: x\r\nContent-Length: 2\r\n\r\n{}", "begin with"),
            (b"Content-Length: -1\r\n\r\n", "not valid"),
            (b"Content-Length: 67108865\r\n\r\n", "not valid"),
            (b"Content-Length: 2", "ends in a header"),
        ] {
            let said = refusal(stream);
            assert!(said.contains(words), "{said}");
        }
        let mut long = b"Content-Length: 2\r\nX: ".to_vec();
        long.resize(HEADER_MAX + 1, b'x');
        assert!(refusal(&long).contains("too long"));
        assert_eq!(frames(b""), []);
    }
}
