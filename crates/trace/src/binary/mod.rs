//! The binary form: eight bytes of magic, then records.
//!
//! A record is the length of its body (a varint), the body, and two bytes of
//! check: the low half of the CRC-32 of the body. The body begins with a tag.
//! Strings and layouts are numbered in the order in which they come, and stand
//! before the first record that uses them. `book/src/traces.md` has it byte by
//! byte.
//!
//! Invariant: a reader knows of every record whether it is whole.

mod read;
mod write;

pub(crate) use read::BinaryDecoder;
pub(crate) use write::BinaryEncoder;

/// What a file begins with: like PNG's, it shows when line ends were changed;
/// the last byte is the version.
pub(crate) const MAGIC: [u8; 8] = [0x89, b'J', b'T', b'R', b'\r', b'\n', 0x1a, 1];

/// Longer records are not written, and what says it is longer is damaged.
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
}

/// The bits of an event's flags: what follows them.
mod flag {
    pub const SEQUENCE: u8 = 1;
    pub const TIME: u8 = 2;
    pub const PLACE: u8 = 4;
    /// The number is given by its low byte: of the numbers with it, it is the
    /// nearest to the one after the event before. So an event that is there
    /// twice, or is missing, shows.
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

/// The check of a record's body.
fn check(body: &[u8]) -> [u8; 2] {
    let [low, high, ..] = crc32fast::hash(body).to_le_bytes();
    [low, high]
}

#[cfg(test)]
mod tests;
