//! What a checkpoint does not bring back, in words for the user.

use std::fmt;

/// Something that stays as it is when a checkpoint is restored.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Loss {
    /// The time of day goes on: always so.
    Clock,
    /// What is written to files that are opened after the checkpoint, and names and modes
    /// of files: always so.
    LaterFiles,
    /// Descriptors that are sockets: what came and went.
    Sockets(Vec<i32>),
    /// What a queue of the kernel (`io_uring`) has done.
    Rings(Vec<i32>),
    /// What is waited for (`epoll`, `inotify`, `signalfd`): what was added and
    /// taken away since.
    Watchers(Vec<i32>),
    /// Pipes with an end in another process: what was read and written since.
    Pipes(Vec<i32>),
    /// Terminals and other devices.
    Devices(Vec<i32>),
    /// Processes that the program has made, which it cannot wait for any more.
    Children(Vec<u32>),
    /// Those of them without whose end no restore is possible.
    ChildrenUsingPid(Vec<u32>),
    /// Users and groups of threads that differ from the first one's.
    Users(usize),
    /// Semaphores and queues of messages of System V: what was done with them.
    SystemFive,
    /// Queues of messages: what was sent and received.
    Queues(Vec<i32>),
    /// Pipes that keep packets apart: what waits in them comes back as one.
    Packets(Vec<i32>),
    /// Locks of records of files, which belong to the process that is gone.
    Locks(usize),
    /// What is written over in a file that is too large to be kept; what is appended is
    /// cut off.
    LargeFile {
        /// The file.
        path: String,
        /// Its length in bytes.
        length: u64,
    },
    /// What was written to a file, since files are not to be kept.
    Contents {
        /// How many files.
        count: usize,
    },
    /// What was written to a file that was not open at the checkpoint, and is
    /// open at the restore.
    LaterFile {
        /// The file.
        path: String,
    },
    /// A file that juror's own input comes from or its output goes to, too.
    OwnStream {
        /// The file.
        path: String,
    },
    /// Shared memory that is too large to be kept, or that is a device's.
    SharedMemory {
        /// What is mapped.
        name: String,
        /// How many bytes.
        length: u64,
    },
    /// Memory that no copy has (`MADV_WIPEONFORK`, `MADV_DONTFORK`).
    UncopiedMemory {
        /// How many bytes.
        length: u64,
    },
    /// The process has another number: nobody may choose one here.
    Pid,
    /// Something could not be brought back that should have been.
    Failure {
        /// What.
        what: String,
        /// The reason.
        why: String,
    },
}

impl fmt::Display for Loss {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Loss::Clock => write!(to, "the time of day"),
            Loss::LaterFiles => write!(
                to,
                "what is written to files that are opened later; names and modes of files"
            ),
            Loss::Sockets(numbers) => list(to, "socket", "sockets", numbers),
            Loss::Rings(numbers) => list(to, "io_uring", "io_urings", numbers),
            Loss::Watchers(numbers) => {
                write!(to, "changes of what ")?;
                list(to, "descriptor", "descriptors", numbers)?;
                write!(to, " waits for (epoll, inotify, signalfd)")
            }
            Loss::Pipes(numbers) => {
                list(to, "pipe", "pipes", numbers)?;
                write!(to, " with an end in another process")
            }
            Loss::Devices(numbers) => list(to, "device", "devices", numbers),
            Loss::Children(numbers) => {
                list(to, "child process", "child processes", numbers)?;
                write!(to, ", which the program can wait for no more")
            }
            Loss::ChildrenUsingPid(numbers) => {
                let (who, lives) = match numbers.len() {
                    1 => ("child process", "lives"),
                    _ => ("child processes", "live"),
                };
                let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
                write!(
                    to,
                    "anything while {who} {} {lives}, in the program's process group: no restore \
                     is possible before",
                    numbers.join(", ")
                )
            }
            Loss::Users(1) => write!(
                to,
                "the user and groups of 1 thread: it comes back with those of the first thread"
            ),
            Loss::Users(count) => write!(
                to,
                "the users and groups of {count} threads: they come back with those of the first \
                 thread"
            ),
            Loss::SystemFive => write!(to, "semaphores and message queues of System V"),
            Loss::Queues(numbers) => list(to, "message queue", "message queues", numbers),
            Loss::Packets(numbers) => {
                write!(to, "the bounds of packets that wait in ")?;
                list(to, "pipe", "pipes", numbers)
            }
            Loss::Locks(1) => write!(to, "1 lock of a file"),
            Loss::Locks(count) => write!(to, "{count} locks of files"),
            Loss::LargeFile { path, length } => {
                write!(
                    to,
                    "what is written over in {path}, which is large ({length} bytes)"
                )
            }
            Loss::Contents { count: 1 } => {
                write!(
                    to,
                    "what is written to 1 file (set checkpoint-files on keeps it)"
                )
            }
            Loss::Contents { count } => write!(
                to,
                "what is written to {count} files (set checkpoint-files on keeps it)"
            ),
            Loss::LaterFile { path } => write!(
                to,
                "what was written to {path}, which was not open at the checkpoint"
            ),
            Loss::OwnStream { path } => {
                write!(to, "{path}, which is juror's own input or output, too")
            }
            Loss::SharedMemory { name, length } => {
                write!(to, "shared memory of {length} bytes ({name})")
            }
            Loss::UncopiedMemory { length } => write!(
                to,
                "{length} bytes of memory that the program keeps out of copies"
            ),
            Loss::Pid => write!(
                to,
                "its process number (this user may not choose one; where the program has numbers \
                 of its own, it comes back: set checkpoint-namespace on, before run)"
            ),
            Loss::Failure { what, why } => write!(to, "{what}: {why}"),
        }
    }
}

fn list(
    to: &mut fmt::Formatter<'_>,
    one: &str,
    several: &str,
    numbers: &[impl fmt::Display],
) -> fmt::Result {
    write!(to, "{}", if numbers.len() == 1 { one } else { several })?;
    for (index, number) in numbers.iter().enumerate() {
        let before = if index == 0 { " " } else { ", " };
        write!(to, "{before}{number}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(loss: &Loss, expected: &str) {
        assert_eq!(loss.to_string(), expected);
    }

    #[test]
    fn losses_are_told_in_words() {
        check(&Loss::Sockets(vec![3]), "socket 3");
        check(&Loss::Sockets(vec![3, 5]), "sockets 3, 5");
        check(
            &Loss::Children(vec![12]),
            "child process 12, which the program can wait for no more",
        );
        check(&Loss::Locks(2), "2 locks of files");
        check(
            &Loss::ChildrenUsingPid(vec![12]),
            "anything while child process 12 lives, in the program's process group: no restore is \
             possible before",
        );
        check(
            &Loss::Packets(vec![4]),
            "the bounds of packets that wait in pipe 4",
        );
        check(
            &Loss::LaterFile {
                path: "/tmp/log".into(),
            },
            "what was written to /tmp/log, which was not open at the checkpoint",
        );
        check(
            &Loss::Pipes(vec![0]),
            "pipe 0 with an end in another process",
        );
    }
}
