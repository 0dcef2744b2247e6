//! The entries of a recorded run: its inputs, in the order in which they came.

use serde::{Deserialize, Serialize};

/// A file of the user, and what says whether it was changed since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileIdentity {
    pub(crate) path: String,
    pub(crate) inode: u64,
    pub(crate) size: u64,
    /// The time of the last change, in nanoseconds since 1970.
    pub(crate) changed_ns: i64,
}

impl FileIdentity {
    /// Returns the identity of the file at a path.
    pub(crate) fn of(path: &str) -> Option<FileIdentity> {
        use std::os::unix::fs::MetadataExt;
        let metadata = std::fs::metadata(path).ok().filter(|it| it.is_file())?;
        Some(FileIdentity {
            path: path.to_owned(),
            inode: metadata.ino(),
            size: metadata.size(),
            changed_ns: metadata
                .mtime()
                .saturating_mul(1_000_000_000)
                .saturating_add(metadata.mtime_nsec()),
        })
    }
}

/// Bytes that the kernel has written for a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Written {
    pub(crate) address: u64,
    #[serde(with = "raw")]
    pub(crate) bytes: Vec<u8>,
}

/// Bytes at once: in the format of postcard they are what a sequence of them is.
mod raw {
    use serde::de::{Error, Visitor};
    use serde::{Deserializer, Serializer};
    use std::fmt;

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(bytes)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        from.deserialize_byte_buf(Bytes)
    }

    struct Bytes;

    impl Visitor<'_> for Bytes {
        type Value = Vec<u8>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("bytes")
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
            Ok(bytes.to_vec())
        }

        fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
            Ok(bytes)
        }
    }
}

/// A system call that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Call {
    /// The thread, by the number of threads that had started before it.
    pub(crate) thread: u32,
    pub(crate) number: u32,
    /// The address of its instruction.
    pub(crate) site: u64,
    pub(crate) arguments: [u64; 3],
    pub(crate) result: i64,
    pub(crate) way: Way,
    /// The standard stream to which it has written: 1 or 2; 0 for none.
    pub(crate) stream: u8,
    pub(crate) writes: Vec<Written>,
    /// Whether it is not known what it has written.
    pub(crate) is_unknown: bool,
    /// The file that it has opened to read it, or mapped.
    pub(crate) file: Option<FileIdentity>,
    /// The signals that came behind it ([`Entry::Signal`]).
    #[serde(skip)]
    pub(crate) signals: Vec<Vec<u8>>,
}

/// The way in which a call was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Way {
    /// It stopped, and was made at once.
    AtOnce,
    /// Others went on while it waited.
    Waited,
    /// The program has made and noted it: no point of the scheduler is there.
    Own,
}

/// The kind of a moment that comes from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Comes {
    /// A call that waited has returned.
    Returned,
    /// The time of a time-out has come.
    Expired,
}

/// The end of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Ending {
    /// With an exit status.
    Exited(i32),
    /// By a signal.
    Killed(i32),
}

/// An entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Entry {
    Call(Call),
    /// Something came for a thread, when the scheduler had been told so many things.
    Comes {
        inputs: u64,
        thread: u32,
        what: Comes,
    },
    /// A signal comes to a thread behind its last call: the bytes of its `siginfo_t`.
    Signal {
        thread: u32,
        information: Vec<u8>,
    },
    /// A signal comes to a thread before a call that the scheduler answers, when it had been told so many
    /// things: the bytes of its `siginfo_t`.
    SignalBefore {
        inputs: u64,
        thread: u32,
        information: Vec<u8>,
    },
    /// The number by which the program knows the thread that has started.
    Thread {
        id: u32,
    },
    /// The run was not recorded further, for this reason.
    Stops {
        reason: String,
    },
    End {
        ending: Ending,
        /// The hash of the points of the scheduler, and of the calls.
        hash: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_of_earlier_files_is_kept() {
        // Bytes as a sequence, and whether a call has waited as a bool.
        let bytes: Vec<u8> = (0..200).collect();
        let before = postcard::to_stdvec(&(7_u64, &bytes)).unwrap();
        let written = Written { address: 7, bytes };
        assert_eq!(postcard::to_stdvec(&written).unwrap(), before);
        assert_eq!(postcard::from_bytes::<Written>(&before).unwrap(), written);
        for (has_waited, way) in [(false, Way::AtOnce), (true, Way::Waited)] {
            let before = postcard::to_stdvec(&has_waited).unwrap();
            assert_eq!(postcard::from_bytes::<Way>(&before).unwrap(), way);
        }
    }
}
