//! What can be wrong with a trace, and where.

/// Lines are shown up to so many bytes around the place of a fault.
const EXCERPT_BYTES: usize = 60;

/// Where something stands in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// In this line, from 1.
    Line(u64),
    /// At this byte, from 0.
    Byte(u64),
}

/// A part of a line, to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The text around the place; what is no UTF-8 has been replaced.
    pub text: String,
    /// Where in it the fault is, in bytes.
    pub start: usize,
    /// The column in the line, from 1, in bytes.
    pub column: usize,
}

impl Excerpt {
    /// The text around a byte of a line.
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

/// Something wrong with a trace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct Fault {
    /// What.
    pub kind: FaultKind,
    /// Where.
    pub position: Position,
    /// The text there, in traces that are text.
    pub excerpt: Option<Excerpt>,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// No record of a trace.
    #[error("this is no record of a trace: {0}")]
    Malformed(String),
    /// Another version of the form.
    #[error("this is version {0} of the trace form, and juror reads version 1")]
    Version(u64),
    /// The file ends inside of a record.
    #[error("the trace ends in the middle of a record")]
    Cut,
    /// There is no end record.
    #[error("the trace has no end record: it is not complete")]
    NoEnd,
    /// The bytes of a record are not those that were written.
    #[error("the check of this record is wrong: the file is damaged")]
    Damaged,
    /// The same number again.
    #[error("event {0} is there twice")]
    Repeated(u64),
    /// A lower number after a higher one.
    #[error("event {sequence} comes after event {after}")]
    Reordered {
        /// The number.
        sequence: u64,
        /// The highest before.
        after: u64,
    },
    /// Numbers are left out.
    #[error("{}", missing(*first, *last))]
    Missing {
        /// The first that is missing.
        first: u64,
        /// The last.
        last: u64,
    },
    /// A time before the one before it, and no numbers to tell the order.
    #[error("time goes back from {before_ns} to {time_ns}, and the events have no numbers")]
    TimeBack {
        /// The time, in nanoseconds.
        time_ns: u64,
        /// The time before.
        before_ns: u64,
    },
    /// A place, string or layout that nothing has defined.
    #[error("{what} {number} has not been defined")]
    Undefined {
        /// `place`, `string` or `layout`.
        what: &'static str,
        /// Its number.
        number: u64,
    },
    /// More records after the end.
    #[error("there is more after the end record")]
    AfterEnd,
    /// The end record counts other events than there are.
    #[error("the end record counts {counted} events, and there are {found}")]
    Count {
        /// What it says.
        counted: u64,
        /// What there was.
        found: u64,
    },
}

fn missing(first: u64, last: u64) -> String {
    match first == last {
        true => format!("event {first} is missing"),
        false => format!("the events {first} to {last} are missing"),
    }
}

impl FaultKind {
    /// A stable word for it.
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

    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            FaultKind::Malformed(_) | FaultKind::Undefined { .. } => {
                "--keep-going leaves such records out and goes on"
            }
            FaultKind::Version(_) => "use the juror that recorded it, or record it again",
            FaultKind::Cut | FaultKind::NoEnd => {
                "the recording was cut off, or the file was not copied whole; what came before \
                 counts; --follow waits for the rest of a run that is being recorded"
            }
            FaultKind::Damaged => "copy or record it again; --keep-going goes on with the next",
            FaultKind::Repeated(_) => "--keep-going leaves the second one out",
            FaultKind::Reordered { .. } => {
                "sort the records by their sequence numbers; --keep-going leaves it out"
            }
            FaultKind::Missing { .. } | FaultKind::Count { .. } => {
                "a verdict may depend on them; --keep-going goes on without them"
            }
            FaultKind::TimeBack { .. } => {
                "sort the trace by time, or number the events; --keep-going takes them as they stand"
            }
            FaultKind::AfterEnd => "a file holds one run; --keep-going leaves the rest out",
        }
    }
}
