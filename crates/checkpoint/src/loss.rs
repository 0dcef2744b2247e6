//! State that a checkpoint does not restore, with descriptions for the user.

use std::fmt;

/// State that stays as it is when a checkpoint is restored.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Loss {
    /// The time of day continues: always so.
    Clock,
    /// Data written to files that are opened after the checkpoint, and names
    /// and modes of files: always so.
    LaterFiles,
    /// Sockets: sent and received data.
    Sockets(Vec<i32>),
    /// The work of a kernel queue (`io_uring`).
    Rings(Vec<i32>),
    /// Awaited events (`epoll`, `inotify`, `signalfd`): those added and removed
    /// since.
    Watchers(Vec<i32>),
    /// Pipes with an end in another process: data read and written since.
    Pipes(Vec<i32>),
    /// Terminals and other devices.
    Devices(Vec<i32>),
    /// Child processes, for which the program can no longer wait.
    Children(Vec<u32>),
    /// Child processes without whose end no restore is possible.
    ChildrenUsingPid(Vec<u32>),
    /// Users and groups of threads that differ from the first one's.
    Users(usize),
    /// Semaphores and message queues of System V: operations on them.
    SystemFive,
    /// POSIX message queues: messages sent and received.
    Queues(Vec<i32>),
    /// Pipes that keep packets apart: the packets in them are restored as one.
    Packets(Vec<i32>),
    /// Record locks of files, which belong to the process that has ended.
    Locks(usize),
    /// Data overwritten in a file that is too large to be kept; appended data
    /// is cut off.
    LargeFile {
        /// The file.
        path: String,
        /// Its length in bytes.
        length: u64,
    },
    /// Data written to files, since contents are not to be kept.
    Contents {
        /// The number of files.
        count: usize,
    },
    /// Data written to a file that was not open at the checkpoint, and is open
    /// at the restore.
    LaterFile {
        /// The file.
        path: String,
    },
    /// A file that is also juror's own input or output.
    OwnStream {
        /// The file.
        path: String,
    },
    /// Shared memory that is too large to be kept, or that belongs to a device.
    SharedMemory {
        /// The name of the mapping.
        name: String,
        /// The number of bytes.
        length: u64,
    },
    /// Memory that no copy has (`MADV_WIPEONFORK`, `MADV_DONTFORK`).
    UncopiedMemory {
        /// The number of bytes.
        length: u64,
    },
    /// The process has another number: this user may not choose one.
    Pid,
    /// State that could not be restored because of a failure.
    Failure {
        /// The state.
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
                "data written to files that are opened later; names and modes of files"
            ),
            Loss::Sockets(numbers) => list(to, "socket", "sockets", numbers),
            Loss::Rings(numbers) => list(to, "io_uring", "io_urings", numbers),
            Loss::Watchers(numbers) => {
                write!(to, "changes of the events awaited by ")?;
                list(to, "descriptor", "descriptors", numbers)?;
                write!(to, " (epoll, inotify, signalfd)")
            }
            Loss::Pipes(numbers) => {
                list(to, "pipe", "pipes", numbers)?;
                write!(to, " with an end in another process")
            }
            Loss::Devices(numbers) => list(to, "device", "devices", numbers),
            Loss::Children(numbers) => {
                list(to, "child process", "child processes", numbers)?;
                write!(to, ", for which the program can no longer wait")
            }
            Loss::ChildrenUsingPid(numbers) => {
                let (who, lives) = match numbers.len() {
                    1 => ("child process", "lives"),
                    _ => ("child processes", "live"),
                };
                let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
                write!(
                    to,
                    "anything while {who} {} {lives} in the program's process group: no restore \
                     is possible before",
                    numbers.join(", ")
                )
            }
            Loss::Users(1) => write!(
                to,
                "the user and groups of 1 thread, which gets those of the first thread"
            ),
            Loss::Users(count) => write!(
                to,
                "the users and groups of {count} threads, which get those of the first thread"
            ),
            Loss::SystemFive => write!(to, "semaphores and message queues of System V"),
            Loss::Queues(numbers) => list(to, "message queue", "message queues", numbers),
            Loss::Packets(numbers) => {
                write!(to, "the packet boundaries in ")?;
                list(to, "pipe", "pipes", numbers)
            }
            Loss::Locks(1) => write!(to, "1 lock of a file"),
            Loss::Locks(count) => write!(to, "{count} locks of files"),
            Loss::LargeFile { path, length } => {
                write!(
                    to,
                    "data overwritten in {path}, which is large ({length} bytes)"
                )
            }
            Loss::Contents { count: 1 } => {
                write!(
                    to,
                    "data written to 1 file (set checkpoint-files on keeps it)"
                )
            }
            Loss::Contents { count } => write!(
                to,
                "data written to {count} files (set checkpoint-files on keeps it)"
            ),
            Loss::LaterFile { path } => write!(
                to,
                "data written to {path}, which was not open at the checkpoint"
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
                "its process number (this user may not choose one; in a PID namespace of its own it \
                 is restored: set checkpoint-namespace on, before run)"
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
            "child process 12, for which the program can no longer wait",
        );
        check(&Loss::Locks(2), "2 locks of files");
        check(
            &Loss::ChildrenUsingPid(vec![12]),
            "anything while child process 12 lives in the program's process group: no restore is \
             possible before",
        );
        check(&Loss::Packets(vec![4]), "the packet boundaries in pipe 4");
        check(
            &Loss::LaterFile {
                path: "/tmp/log".into(),
            },
            "data written to /tmp/log, which was not open at the checkpoint",
        );
        check(
            &Loss::Pipes(vec![0]),
            "pipe 0 with an end in another process",
        );
    }
}
