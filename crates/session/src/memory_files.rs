//! `dump`: memory of the program into a file.

use crate::options::CommandError;
use crate::session::Session;
use crate::view::Outcome;
use std::fs::File;
use std::io::Write;

/// How it is written.
const HELP: &str = "dump memory FILE FIRST END, dump value FILE EXPRESSION";
/// Bytes that are read at once.
const PIECE: u64 = 1 << 20;

fn word(text: &str) -> (&str, &str) {
    let text = text.trim();
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim())
}

impl Session {
    /// `dump memory FILE FIRST END`, `dump value FILE EXPRESSION`
    pub(crate) fn dump(&mut self, text: &str) -> Result<Outcome, CommandError> {
        let wrong = |message: &str| CommandError::with_help(message, HELP);
        let (mut what, mut rest) = word(text);
        if what == "binary" {
            // It is what is written in any case.
            (what, rest) = word(rest);
        }
        let (file, rest) = word(rest);
        if file.is_empty() || rest.is_empty() {
            return Err(wrong("a file, and what is to be written, are needed"));
        }
        match what {
            "memory" => {
                // As in gdb the first address has no spaces.
                let (first, end) = word(rest);
                if end.is_empty() {
                    return Err(wrong(
                        "the end is missing: the address behind the last byte",
                    ));
                }
                let (first, end) = (self.address_of(first)?, self.address_of(end)?);
                self.dump_range(file, first, end)
            }
            "value" => self.dump_value(file, rest),
            "" => Err(wrong("what is to be written?")),
            other => Err(wrong(&format!("`{other}` is neither memory nor value"))),
        }
    }

    fn dump_range(&self, file: &str, first: u64, end: u64) -> Result<Outcome, CommandError> {
        if end <= first {
            let message = format!("nothing is between {first:#x} and {end:#x}");
            return Err(CommandError::with_help(message, HELP));
        }
        let debuggee = &self.running()?.debuggee;
        // What cannot be read leaves the file as it was.
        let mut probe = [0];
        for at in [first, end - 1] {
            debuggee.read(at, &mut probe)?;
        }
        let mut output = create(file)?;
        let mut at = first;
        let mut bytes = Vec::new();
        while at < end {
            bytes.resize((end - at).min(PIECE) as usize, 0);
            debuggee.read(at, &mut bytes)?;
            let written = output.write_all(&bytes);
            written.map_err(|error| unwritable(file, &error))?;
            at += bytes.len() as u64;
        }
        Ok(said(file, end - first))
    }

    fn dump_value(&mut self, file: &str, expression: &str) -> Result<Outcome, CommandError> {
        let value = self.evaluate(expression)?;
        let size = value.r#type.size();
        let size = size.ok_or_else(|| CommandError::new("the size of this value is not known"))?;
        let bytes = value.bytes(self.running()?, size);
        let bytes = bytes.map_err(CommandError::new)?;
        let written = create(file)?.write_all(&bytes);
        written.map_err(|error| unwritable(file, &error))?;
        Ok(said(file, size))
    }
}

fn said(file: &str, count: u64) -> Outcome {
    let bytes = if count == 1 { "byte" } else { "bytes" };
    Outcome::Message(format!("{count} {bytes} in {file}"))
}

fn create(file: &str) -> Result<File, CommandError> {
    File::create(file).map_err(|error| unwritable(file, &error))
}

fn unwritable(file: &str, error: &std::io::Error) -> CommandError {
    CommandError::new(format!("{file} cannot be written: {error}"))
}
