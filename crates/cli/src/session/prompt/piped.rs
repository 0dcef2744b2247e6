//! Lines from a file or a pipe.
//!
//! **Invariant**: nothing after the line is read: the debuggee reads the rest of the
//! same file. Hence input is read one byte at a time.

use super::{Input, Lines};
use std::io::{self, Read};

/// The standard input, read without a buffer. Its descriptor is replaced when juror is to
/// end, so it is not duplicated.
pub struct StandardInput;

impl Read for StandardInput {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        nix::unistd::read(io::stdin(), bytes).map_err(io::Error::from)
    }
}

/// Lines that are read byte by byte.
pub struct Piped<R> {
    input: R,
}

impl Piped<StandardInput> {
    /// Reads the standard input.
    pub fn standard_input() -> io::Result<Piped<StandardInput>> {
        Ok(Piped::new(StandardInput))
    }
}

impl<R: Read> Piped<R> {
    /// Reads this input.
    pub fn new(input: R) -> Piped<R> {
        Piped { input }
    }
}

impl<R: Read> Lines for Piped<R> {
    fn next(&mut self, _: &str) -> io::Result<Input> {
        let mut line = Vec::new();
        let mut byte = [0];
        loop {
            let ended = match self.input.read(&mut byte) {
                Ok(0) if line.is_empty() => return Ok(Input::End),
                Ok(count) => count == 0 || byte == [b'\n'],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if ended {
                return Ok(Input::Line(String::from_utf8_lossy(&line).into_owned()));
            }
            line.extend(byte);
        }
    }

    fn is_typed(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_input_after_a_line_is_left_to_the_debuggee() {
        let mut input = &b"run\nthis is for the program\n"[..];
        let mut lines = Piped::new(&mut input);
        assert_eq!(lines.next("").ok(), Some(Input::Line("run".into())));
        assert_eq!(input, b"this is for the program\n");
    }
}
