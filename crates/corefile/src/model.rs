//! What a core file says.

use juror_arch::WORD_COUNT;
use std::ops::Range;

/// A core file, without the contents of the memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CoreFile {
    /// The threads; the one that a signal ended is the first.
    pub threads: Vec<CoreThread>,
    /// The process, if the file says something of it.
    pub process: Option<ProcessInfo>,
    /// The auxiliary vector, as `/proc/PID/auxv` has it; empty if it is missing.
    pub auxiliary: Vec<u8>,
    /// The mapped files, in the order of their addresses.
    pub files: Vec<MappedFile>,
    /// The mapped memory, in the order of addresses; no two overlap.
    pub segments: Vec<Segment>,
    /// The length that the file would have if nothing were cut off; none if it is whole.
    pub whole_length: Option<u64>,
}

/// A thread at the moment of the core.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CoreThread {
    /// Its number.
    pub id: u32,
    /// The signal that ended the process, or that this thread was about to get; 0 for none. Only
    /// the thread that got it has information on it.
    pub signal: u32,
    /// The general registers.
    pub registers: [u64; WORD_COUNT],
    /// The x87 and SSE registers: the 512 bytes of `fxsave`.
    pub float_registers: Option<Vec<u8>>,
    /// All registers but the general ones, as `xsave` writes them.
    pub extended_state: Option<Vec<u8>>,
    /// The `siginfo_t` of its signal.
    pub signal_information: Option<Vec<u8>>,
}

/// The process of a core file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessInfo {
    /// Its number.
    pub id: u32,
    /// The number of its parent.
    pub parent: u32,
    /// Its process group.
    pub group: u32,
    /// Its session.
    pub session: u32,
    /// Its user.
    pub user: u32,
    /// Its group of users.
    pub user_group: u32,
    /// Its name, at most 15 bytes.
    pub name: Vec<u8>,
    /// The begin of its command line, at most 79 bytes.
    pub arguments: Vec<u8>,
}

/// A part of a file that was mapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MappedFile {
    /// Where it was mapped.
    pub range: Range<u64>,
    /// The offset of its first byte in the file.
    pub offset: u64,
    /// The path.
    pub path: Vec<u8>,
}

/// A range of mapped memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Its addresses.
    pub range: Range<u64>,
    /// Whether the process could read, write and execute it.
    pub access: [bool; 3],
    /// The offset of its first byte in the core file.
    pub offset: u64,
    /// The number of its leading bytes that are in the core file, as its header says. A truncated
    /// file has fewer.
    pub stored: u64,
}

/// Where the contents of memory are, from an address on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the core file: the offset, and the number of bytes that follow each other there.
    Stored {
        /// The offset.
        offset: u64,
        /// The number of bytes.
        count: u64,
    },
    /// Mapped, and left out of the core file; the number of bytes for which this is so.
    LeftOut {
        /// The number of bytes.
        count: u64,
    },
    /// Nothing was mapped there.
    Unmapped,
}

impl CoreFile {
    /// Returns where the memory at an address is.
    pub fn place_of(&self, address: u64) -> Place {
        let after = self
            .segments
            .partition_point(|segment| segment.range.start <= address);
        let before = after.checked_sub(1).and_then(|at| self.segments.get(at));
        let Some(segment) = before.filter(|segment| segment.range.contains(&address)) else {
            return Place::Unmapped;
        };
        let skipped = address - segment.range.start;
        match segment.stored.checked_sub(skipped) {
            Some(count) if count > 0 => Place::Stored {
                offset: segment.offset.saturating_add(skipped),
                count,
            },
            _ => Place::LeftOut {
                count: segment.range.end - address,
            },
        }
    }

    /// Returns the file that was mapped at an address.
    pub fn file_at(&self, address: u64) -> Option<&MappedFile> {
        self.files.iter().find(|file| file.range.contains(&address))
    }

    /// Returns the value of an entry of the auxiliary vector.
    pub fn auxiliary_entry(&self, number: u64) -> Option<u64> {
        let word = crate::bytes::u64_at;
        let pairs = self.auxiliary.chunks_exact(16);
        let mut pairs = pairs.take_while(|pair| word(pair, 0) != Some(0));
        pairs.find_map(|pair| (word(pair, 0)? == number).then(|| word(pair, 8))?)
    }
}
