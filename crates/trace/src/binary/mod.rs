//! The binary form: eight magic bytes, then records.
//!
//! A record is the length of its body (a varint), the body, and a two-byte checksum:
//! the low half of the CRC-32 of the body. The body begins with a tag. Strings and
//! layouts are numbered in the order in which they appear, and are written before the
//! first record that uses them. `book/src/traces.md` describes the form byte by byte.
//!
//! **Invariant:** a reader can tell for every record whether it is complete.

mod read;
mod write;

pub(crate) use read::BinaryDecoder;
pub(crate) use write::BinaryEncoder;

/// The magic bytes. Like those of PNG, they reveal converted line ends; the last byte
/// is the version.
pub(crate) const MAGIC: [u8; 8] = [0x89, b'J', b'T', b'R', b'\r', b'\n', 0x1a, 1];

/// The maximum length of a record; a greater length means that the file is damaged.
const RECORD_MAX: u64 = 1 << 28;

/// The tags of records.
mod tag {
    pub const HEADER: u8 = 0;
    pub const STRING: u8 = 1;
    pub const DECLARE: u8 = 2;
    pub const LAYOUT: u8 = 3;
    pub const PLACE: u8 = 4;
    pub const EVENT: u8 = 5;
    pub const END: u8 = 6;
    pub const UNBOUND: u8 = 7;
}

/// The bits of an event's flags, which say what follows them.
mod flag {
    pub const SEQUENCE: u8 = 1;
    pub const TIME: u8 = 2;
    pub const PLACE: u8 = 4;
    /// The sequence number is given by its low byte: the number with this low byte that
    /// is nearest to the number of the previous event plus one. So a repeated or
    /// missing event is detected.
    pub const NEXT: u8 = 8;
}

/// The tags of values.
mod value_tag {
    pub const NOT_CAPTURED: u8 = 0;
    pub const INTEGER: u8 = 1;
    pub const FALSE: u8 = 2;
    pub const TRUE: u8 = 3;
    pub const FLOAT: u8 = 4;
    pub const ADDRESS: u8 = 5;
    pub const TEXT: u8 = 6;
    pub const UNREADABLE: u8 = 7;
    pub const OPTIMIZED_OUT: u8 = 8;
    pub const SEQUENCE: u8 = 9;
    pub const NO_VALUE: u8 = 10;
    pub const NO_ELEMENT: u8 = 11;
}

/// How a run ended.
mod how {
    pub const EXITED: u8 = 0;
    pub const KILLED: u8 = 1;
    pub const DETACHED: u8 = 2;
    pub const STOPPED: u8 = 3;
}

/// Returns the checksum of a record's body.
fn check(body: &[u8]) -> [u8; 2] {
    let [low, high, ..] = crc32fast::hash(body).to_le_bytes();
    [low, high]
}

#[cfg(test)]
mod tests;
