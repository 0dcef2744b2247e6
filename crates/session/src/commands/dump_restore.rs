//! `dump`: writes memory of the program to a file; `restore FILE binary`: reads it back.

use crate::commands::examine;
use crate::inspect::expressions;
use crate::session::Session;
use juror_fault::CommandError;
use juror_view::{CopyView, Outcome};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

/// The help of syntax errors.
const HELP: &str = "dump memory FILE FIRST END, dump value FILE EXPRESSION";
/// The limit of bytes that are written to memory from a file.
const RESTORED_MAX: u64 = 1 << 30;
/// The number of bytes that are read at once.
const PIECE: u64 = 1 << 20;

fn word(text: &str) -> (&str, &str) {
    let text = text.trim();
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim())
}

/// `dump memory FILE FIRST END`, `dump value FILE EXPRESSION`
pub(crate) fn dump(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    let wrong = |message: &str| CommandError::with_help(message, HELP);
    let (mut what, mut rest) = word(text);
    if what == "binary" {
        // The default, raw bytes.
        (what, rest) = word(rest);
    }
    let (file, rest) = word(rest);
    if file.is_empty() || rest.is_empty() {
        return Err(wrong("`dump` needs a file and a range or value"));
    }
    match what {
        "memory" => {
            // As in gdb, the first address has no spaces.
            let (first, end) = word(rest);
            if end.is_empty() {
                return Err(wrong("the end is missing: the address after the last byte"));
            }
            let (first, end) = (
                examine::address_of(session, first)?,
                examine::address_of(session, end)?,
            );
            dump_range(session, file, first, end)
        }
        "value" => dump_value(session, file, rest),
        "" => Err(wrong("`dump` needs `memory` or `value`")),
        other => Err(wrong(&format!("`{other}` is neither memory nor value"))),
    }
}

fn dump_range(
    session: &Session,
    file: &str,
    first: u64,
    end: u64,
) -> Result<Outcome, CommandError> {
    if end <= first {
        let message = format!("the range from {first:#x} to {end:#x} is empty");
        return Err(CommandError::with_help(message, HELP));
    }
    let debuggee = &session.running()?.debuggee;
    // If the memory cannot be read, the file stays as it was.
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
    Ok(written_to_file(file, end - first))
}

fn dump_value(
    session: &mut Session,
    file: &str,
    expression: &str,
) -> Result<Outcome, CommandError> {
    let value = expressions::evaluate(session, expression)?;
    let size = value.r#type.size();
    let size = size.ok_or_else(|| CommandError::new("the size of this value is unknown"))?;
    let bytes = value.bytes(session.running()?, size);
    let bytes = bytes.map_err(CommandError::new)?;
    let written = create(file)?.write_all(&bytes);
    written.map_err(|error| unwritable(file, &error))?;
    Ok(written_to_file(file, size))
}

/// `restore FILE binary [OFFSET [START [END]]]`: writes the bytes of a file from START up to END to
/// their addresses, counted from OFFSET. `None` for other words, which refer to checkpoints.
pub(crate) fn restore_from_file(
    session: &mut Session,
    text: &str,
) -> Option<Result<Outcome, CommandError>> {
    is_from_file(text).then(|| {
        let (file, rest) = word(text);
        restore_bytes(session, file, word(rest).1)
    })
}

fn restore_bytes(session: &mut Session, file: &str, places: &str) -> Result<Outcome, CommandError> {
    let mut numbers = [None; 3];
    let mut rest = places;
    for number in &mut numbers {
        let (place, after) = word(rest);
        if !place.is_empty() {
            *number = Some(examine::address_of(session, place)?);
        }
        rest = after;
    }
    let [offset, start, end] = numbers;
    let start = start.unwrap_or(0);
    if !rest.is_empty() || end.is_some_and(|end| end <= start) {
        let help = "restore FILE binary ADDRESS, optionally followed by the offset of the first \
                    byte in the file and of the byte after the last";
        return Err(CommandError::with_help(
            "the range of bytes in the file is not valid",
            help,
        ));
    }
    let unreadable =
        |error: std::io::Error| CommandError::new(format!("{file} cannot be read: {error}"));
    let mut input = File::open(file).map_err(unreadable)?;
    input.seek(SeekFrom::Start(start)).map_err(unreadable)?;
    let most = end.map_or(u64::MAX, |end| end - start);
    let mut bytes = Vec::new();
    // One byte more reveals that there are too many.
    let mut part = input.take(most.min(RESTORED_MAX + 1));
    part.read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > RESTORED_MAX {
        let message = format!("{file} is larger than {RESTORED_MAX} bytes");
        return Err(CommandError::new(message));
    }
    let at = offset.unwrap_or(0).wrapping_add(start);
    session.running_mut()?.debuggee.write(at, &bytes)?;
    session.processes.nodes.note_written(at, bytes.len());
    // The shown frames may have changed.
    session.processes.selection.frames = None;
    Ok(Outcome::Copied(CopyView {
        byte_count: bytes.len() as u64,
        file: None,
        address: Some(at),
    }))
}

/// Returns whether the argument of `restore` refers to a file, and not to a checkpoint.
pub(crate) fn is_from_file(text: &str) -> bool {
    let (_, rest) = word(text);
    word(rest).0 == "binary"
}

fn written_to_file(file: &str, byte_count: u64) -> Outcome {
    Outcome::Copied(CopyView {
        byte_count,
        file: Some(file.to_owned()),
        address: None,
    })
}

fn create(file: &str) -> Result<File, CommandError> {
    File::create(file).map_err(|error| unwritable(file, &error))
}

fn unwritable(file: &str, error: &std::io::Error) -> CommandError {
    CommandError::new(format!("{file} cannot be written: {error}"))
}
