//! Faults in a trace and their positions.

/// The number of bytes of a line that are shown on each side of a fault.
const EXCERPT_BYTES: usize = 60;

/// A position in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// The line, from 1.
    Line(u64),
    /// The byte, from 0.
    Byte(u64),
}

/// A part of a line, to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The text around the fault; invalid UTF-8 has been replaced.
    pub text: String,
    /// The position of the fault in the text, in bytes.
    pub start: usize,
    /// The column in the line, from 1, in bytes.
    pub column: usize,
}

impl Excerpt {
    /// Extracts the text around a byte of a line.
    pub(crate) fn around(line: &[u8], at: usize) -> Excerpt {
        let at = at.min(line.len());
        let from = at.saturating_sub(EXCERPT_BYTES);
        let to = line.len().min(at + EXCERPT_BYTES);
        let before = String::from_utf8_lossy(line.get(from..at).unwrap_or(&[])).into_owned();
        let after = String::from_utf8_lossy(line.get(at..to).unwrap_or(&[])).into_owned();
        let lead = if from > 0 { "… " } else { "" };
        let trail = if to < line.len() { " …" } else { "" };
        Excerpt {
            start: lead.len() + before.len(),
            text: format!("{lead}{before}{after}{trail}"),
            column: at + 1,
        }
    }
}

/// A fault in a trace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct Fault {
    /// The kind of fault.
    pub kind: FaultKind,
    /// The position.
    pub position: Position,
    /// The surrounding text, in text formats.
    pub excerpt: Option<Excerpt>,
}

/// The kind of a fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// A record that cannot be parsed.
    #[error("invalid trace record: {0}")]
    Malformed(String),
    /// An unsupported version of the form.
    #[error("this trace has version {0} of the form, and juror reads version 1")]
    Version(u64),
    /// The file ends within a record.
    #[error("the trace ends in the middle of a record")]
    Cut,
    /// There is no end record.
    #[error("the trace has no end record: it is not complete")]
    NoEnd,
    /// The checksum of a record does not match.
    #[error("the checksum of this record does not match: the file is damaged")]
    Damaged,
    /// A sequence number occurs twice.
    #[error("event {0} is recorded twice")]
    Repeated(u64),
    /// A sequence number follows a higher one.
    #[error("event {sequence} comes after event {after}")]
    Reordered {
        /// The sequence number.
        sequence: u64,
        /// The highest sequence number before.
        after: u64,
    },
    /// Sequence numbers are missing.
    #[error("{}", missing(*first, *last))]
    Missing {
        /// The first missing number.
        first: u64,
        /// The last missing number.
        last: u64,
    },
    /// A time is before the previous one, and there are no sequence numbers.
    #[error("time goes back from {before_ns} to {time_ns}, and the events have no numbers")]
    TimeBack {
        /// The time, in nanoseconds.
        time_ns: u64,
        /// The previous time.
        before_ns: u64,
    },
    /// A location, string or layout is used before it is defined.
    #[error("{what} {number} has not been defined")]
    Undefined {
        /// `place`, `string` or `layout`.
        what: &'static str,
        /// The number.
        number: u64,
    },
    /// There are records after the end record.
    #[error("there are records after the end record")]
    AfterEnd,
    /// The end record has a wrong number of events.
    #[error("the end record counts {counted} events, and there are {found}")]
    Count {
        /// The number in the end record.
        counted: u64,
        /// The number of events read.
        found: u64,
    },
}

fn missing(first: u64, last: u64) -> String {
    if first == last {
        format!("event {first} is missing")
    } else {
        format!("the events {first} to {last} are missing")
    }
}

impl FaultKind {
    /// Returns a stable identifier of the kind.
    pub fn code(&self) -> &'static str {
        match self {
            FaultKind::Malformed(_) => "malformed-record",
            FaultKind::Version(_) => "trace-version",
            FaultKind::Cut | FaultKind::NoEnd => "truncated-trace",
            FaultKind::Damaged => "damaged-record",
            FaultKind::Repeated(_) => "repeated-event",
            FaultKind::Reordered { .. } => "reordered-event",
            FaultKind::Missing { .. } | FaultKind::Count { .. } => "missing-events",
            FaultKind::TimeBack { .. } => "time-goes-back",
            FaultKind::Undefined { .. } => "undefined-number",
            FaultKind::AfterEnd => "after-the-end",
        }
    }

    /// Returns what to do about the fault.
    pub fn help(&self) -> &'static str {
        match self {
            FaultKind::Malformed(_) | FaultKind::Undefined { .. } => {
                "--keep-going skips such records"
            }
            FaultKind::Version(_) => {
                "use the version of juror that recorded it, or record it again"
            }
            FaultKind::Cut | FaultKind::NoEnd => {
                "the recording was cut off, or the file was not copied whole; the records before \
                 it count; --follow waits for the rest of a run that is being recorded"
            }
            FaultKind::Damaged => {
                "copy or record the trace again; --keep-going continues with the next record"
            }
            FaultKind::Repeated(_) => "--keep-going skips the second one",
            FaultKind::Reordered { .. } => {
                "sort the records by their sequence numbers; --keep-going skips this one"
            }
            FaultKind::Missing { .. } | FaultKind::Count { .. } => {
                "a verdict may depend on them; --keep-going continues without them"
            }
            FaultKind::TimeBack { .. } => {
                "sort the trace by time, or number the events; --keep-going keeps their order"
            }
            FaultKind::AfterEnd => "a file holds one run; --keep-going skips the rest",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_shows_where_it_leaves_text_out() {
        let line = |length: usize| "abcdefghij".repeat(20)[..length].to_owned();
        for (length, at, from, to) in [
            (0, 0, 0, 0),
            (5, 9, 0, 5),
            (60, 0, 0, 60),
            (61, 0, 0, 60),
            (120, 60, 0, 120),
            (121, 60, 0, 120),
            (121, 61, 1, 121),
            (200, 100, 40, 160),
        ] {
            let line = line(length);
            let lead = if from == 0 { "" } else { "… " };
            let trail = if to == length { "" } else { " …" };
            let excerpt = Excerpt::around(line.as_bytes(), at);
            assert_eq!(excerpt.text, format!("{lead}{}{trail}", &line[from..to]));
            let at = at.min(length);
            assert_eq!(excerpt.column, at + 1, "{at} of {length}");
            assert_eq!(
                excerpt.text[excerpt.start..],
                format!("{}{trail}", &line[at..to])
            );
        }
    }

    /// Returns the kinds with their codes, their messages, and whether `--keep-going` is
    /// of use.
    fn kinds() -> Vec<(FaultKind, &'static str, &'static str, bool)> {
        let missing = |first, last| FaultKind::Missing { first, last };
        let (sequence, after) = (3, 4);
        let (time_ns, before_ns) = (8, 9);
        let (what, number) = ("place", 2);
        let (counted, found) = (3, 2);
        vec![
            (
                FaultKind::Malformed("a place".to_owned()),
                "malformed-record",
                "invalid trace record: a place",
                true,
            ),
            (
                FaultKind::Version(2),
                "trace-version",
                "this trace has version 2 of the form, and juror reads version 1",
                false,
            ),
            (
                FaultKind::Cut,
                "truncated-trace",
                "the trace ends in the middle of a record",
                false,
            ),
            (
                FaultKind::NoEnd,
                "truncated-trace",
                "the trace has no end record: it is not complete",
                false,
            ),
            (
                FaultKind::Damaged,
                "damaged-record",
                "the checksum of this record does not match: the file is damaged",
                true,
            ),
            (
                FaultKind::Repeated(3),
                "repeated-event",
                "event 3 is recorded twice",
                true,
            ),
            (
                FaultKind::Reordered { sequence, after },
                "reordered-event",
                "event 3 comes after event 4",
                true,
            ),
            (missing(2, 2), "missing-events", "event 2 is missing", true),
            (
                missing(2, 3),
                "missing-events",
                "the events 2 to 3 are missing",
                true,
            ),
            (
                FaultKind::TimeBack { time_ns, before_ns },
                "time-goes-back",
                "time goes back from 9 to 8, and the events have no numbers",
                true,
            ),
            (
                FaultKind::Undefined { what, number },
                "undefined-number",
                "place 2 has not been defined",
                true,
            ),
            (
                FaultKind::AfterEnd,
                "after-the-end",
                "there are records after the end record",
                true,
            ),
            (
                FaultKind::Count { counted, found },
                "missing-events",
                "the end record counts 3 events, and there are 2",
                true,
            ),
        ]
    }

    #[test]
    fn each_fault_has_a_code_a_message_and_a_help() {
        for (kind, code, message, goes_on) in kinds() {
            assert_eq!(kind.code(), code);
            assert_eq!(kind.to_string(), message);
            let help = kind.help();
            assert_eq!(help.contains("--keep-going"), goes_on, "{code}: {help}");
        }
    }
}
