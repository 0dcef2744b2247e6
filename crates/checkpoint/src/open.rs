//! The kinds of descriptors of the program, by the kernel's text on them.
//!
//! Pure: from texts of `/proc/PID/fd` and `/proc/PID/fdinfo` to what is to be
//! done. Invariant: every descriptor is either kept in full or leads to a loss,
//! or has no state that could be lost.

use crate::loss::Loss;
use std::collections::{BTreeMap, BTreeSet};

/// The kind of an open descriptor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A file with contents.
    File,
    /// A directory that is being listed.
    Directory,
    /// A pipe: whether it can be read and written, and its identity.
    Pipe {
        reads: bool,
        writes: bool,
        pipe: u64,
    },
    /// A timer: interval and time left, each in seconds and nanoseconds.
    Timer {
        times: [i64; 4],
    },
    /// A counter (`eventfd`).
    Counter {
        count: u64,
    },
    Socket,
    /// A POSIX message queue.
    Queue,
    Ring,
    Watcher,
    Device,
    /// A descriptor without a state of its own.
    Stateless,
}

/// The relevant types of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileType {
    Regular,
    Directory,
    Pipe,
    Socket,
    Queue,
    Device,
    Other,
}

/// Devices without a state.
const STATELESS_DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];

impl Kind {
    /// Returns the kind by the link in `/proc/PID/fd`, the text in
    /// `/proc/PID/fdinfo`, and the type and the inode of the open file.
    pub(crate) fn of(link: &str, information: &str, file: FileType, inode: u64) -> Kind {
        match file {
            FileType::Regular => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Socket => Kind::Socket,
            FileType::Queue => Kind::Queue,
            FileType::Device if STATELESS_DEVICES.contains(&link) => Kind::Stateless,
            FileType::Device => Kind::Device,
            FileType::Pipe => {
                let access = flags(information) & libc_access::MASK;
                Kind::Pipe {
                    reads: access != libc_access::WRITE_ONLY,
                    writes: access != libc_access::READ_ONLY,
                    pipe: inode,
                }
            }
            FileType::Other => Kind::of_anonymous(link, information),
        }
    }

    fn of_anonymous(link: &str, information: &str) -> Kind {
        let name = link.strip_prefix("anon_inode:").unwrap_or(link);
        match name.trim_matches(['[', ']']) {
            "timerfd" => Kind::Timer {
                times: timer_times(information),
            },
            "eventfd" => Kind::Counter {
                count: hexadecimal(information, "eventfd-count"),
            },
            "io_uring" => Kind::Ring,
            "eventpoll" | "inotify" | "signalfd" | "fanotify" => Kind::Watcher,
            "pidfd" => Kind::Stateless,
            _ => Kind::Device,
        }
    }
}

/// The access modes of `open`.
mod libc_access {
    pub(super) const MASK: u32 = 3;
    pub(super) const READ_ONLY: u32 = 0;
    pub(super) const WRITE_ONLY: u32 = 1;
}

/// Returns true if a descriptor can be written to, by its text in
/// `/proc/PID/fdinfo`.
pub(crate) fn is_writable(information: &str) -> bool {
    flags(information) & libc_access::MASK != libc_access::READ_ONLY
}

/// Returns true if a pipe keeps packets apart, by its text in
/// `/proc/PID/fdinfo`.
pub(crate) fn has_packets(information: &str) -> bool {
    /// `O_DIRECT`.
    const DIRECT: u32 = 0o40000;
    flags(information) & DIRECT != 0
}

fn value<'a>(information: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = information.lines();
    let found = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    found.map(str::trim)
}

/// Returns the number of record locks in these texts of `/proc/PID/fdinfo`. A
/// lock is listed at every descriptor of its file; locks of `flock` and of open
/// file descriptions belong to the open file, and stay.
pub(crate) fn locks<'a>(information: impl Iterator<Item = &'a str>) -> usize {
    let all = information.flat_map(|text| {
        text.lines().filter_map(|line| {
            // lock: N: POSIX ADVISORY WRITE process device:inode start end
            let (_, lock) = line.strip_prefix("lock:")?.split_once(": ")?;
            let lock = lock.trim();
            lock.starts_with("POSIX").then_some(lock)
        })
    });
    all.collect::<BTreeSet<&str>>().len()
}

/// Returns the flags of `open`, which the kernel writes in octal.
pub(crate) fn flags(information: &str) -> u32 {
    value(information, "flags")
        .and_then(|text| u32::from_str_radix(text, 8).ok())
        .unwrap_or(0)
}

/// Returns true if a list of `/proc/sysvipc` has an entry of a user, by the
/// names of its columns.
pub(crate) fn lists_something_of(list: &str, user: u32) -> bool {
    let mut lines = list.lines().map(str::split_whitespace);
    let heading = lines.next().into_iter().flatten();
    let column = heading.into_iter().position(|name| name == "uid");
    let user = user.to_string();
    column.is_some_and(|column| lines.any(|mut line| line.nth(column) == Some(&*user)))
}

fn hexadecimal(information: &str, name: &str) -> u64 {
    value(information, name)
        .and_then(|text| u64::from_str_radix(text, 16).ok())
        .unwrap_or(0)
}

/// Returns interval and time left. A timer that has expired and has not been
/// read expires at once.
fn timer_times(information: &str) -> [i64; 4] {
    let pair = |name: &str| -> (i64, i64) {
        let text = value(information, name).unwrap_or("");
        let mut numbers = text.trim_matches(['(', ')']).split(',').map(str::trim);
        let mut number = || numbers.next()?.parse().ok();
        (number().unwrap_or(0), number().unwrap_or(0))
    };
    let ticks: u64 = value(information, "ticks")
        .and_then(|text| text.parse().ok())
        .unwrap_or(0);
    let (interval_s, interval_ns) = pair("it_interval");
    let (left_s, left_ns) = match (ticks, pair("it_value")) {
        (0, left) => left,
        (_, _) => (0, 1),
    };
    [interval_s, interval_ns, left_s, left_ns]
}

/// Returns the losses of these descriptors, by number. A pipe is kept if the
/// program itself has both ends.
pub(crate) fn losses(kinds: &BTreeMap<i32, Kind>) -> Vec<Loss> {
    let inner = inner_pipes(kinds);
    let of = |is_meant: &dyn Fn(&Kind) -> bool| -> Vec<i32> {
        let meant = kinds.iter().filter(|(_, kind)| is_meant(kind));
        meant.map(|(&number, _)| number).collect()
    };
    let outer = |kind: &Kind| matches!(kind, Kind::Pipe { pipe, .. } if !inner.contains(pipe));
    let all = [
        (
            of(&|kind| *kind == Kind::Socket),
            Loss::Sockets as fn(_) -> _,
        ),
        (of(&|kind| *kind == Kind::Queue), Loss::Queues),
        (of(&|kind| *kind == Kind::Ring), Loss::Rings),
        (of(&|kind| *kind == Kind::Watcher), Loss::Watchers),
        (of(&outer), Loss::Pipes),
        (of(&|kind| *kind == Kind::Device), Loss::Devices),
    ];
    let found = all.into_iter().filter(|(numbers, _)| !numbers.is_empty());
    found.map(|(numbers, loss)| loss(numbers)).collect()
}

/// Returns the pipes of which the program has both ends.
pub(crate) fn inner_pipes(kinds: &BTreeMap<i32, Kind>) -> BTreeSet<u64> {
    let ends = |wants_read: bool| -> BTreeSet<u64> {
        let pipes = kinds.values().filter_map(|kind| match *kind {
            Kind::Pipe {
                reads,
                writes,
                pipe,
            } if if wants_read { reads } else { writes } => Some(pipe),
            _ => None,
        });
        pipes.collect()
    };
    ends(true).intersection(&ends(false)).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(link: &str, information: &str, file: FileType, expected: Kind) {
        assert_eq!(Kind::of(link, information, file, 7), expected);
    }

    #[test]
    fn queues_are_of_users() {
        let list = "       key      semid perms      nsems   uid   gid  cuid\n\
                    \x20        0          3   600          1   501     0   501\n";
        assert!(lists_something_of(list, 501));
        assert!(!lists_something_of(list, 0));
        assert!(!lists_something_of("", 0));
    }

    #[test]
    fn descriptors_are_what_the_kernel_says() {
        let pipe = |reads, writes| Kind::Pipe {
            reads,
            writes,
            pipe: 7,
        };
        check(
            "/tmp/file",
            "pos:\t12\nflags:\t0100002\n",
            FileType::Regular,
            Kind::File,
        );
        check(
            "pipe:[7]",
            "pos:\t0\nflags:\t00\n",
            FileType::Pipe,
            pipe(true, false),
        );
        check(
            "pipe:[7]",
            "pos:\t0\nflags:\t01\n",
            FileType::Pipe,
            pipe(false, true),
        );
        check(
            "/tmp/fifo",
            "pos:\t0\nflags:\t0100002\n",
            FileType::Pipe,
            pipe(true, true),
        );
        check("socket:[9]", "", FileType::Socket, Kind::Socket);
        check("/dev/null", "", FileType::Device, Kind::Stateless);
        check("/dev/pts/3", "", FileType::Device, Kind::Device);
        check("anon_inode:[eventpoll]", "", FileType::Other, Kind::Watcher);
        check("anon_inode:inotify", "", FileType::Other, Kind::Watcher);
        check("anon_inode:[io_uring]", "", FileType::Other, Kind::Ring);
        check(
            "anon_inode:[eventfd]",
            "pos:\t0\nflags:\t02\neventfd-count:               1f\neventfd-id: 3\n",
            FileType::Other,
            Kind::Counter { count: 0x1f },
        );
        check(
            "anon_inode:[timerfd]",
            "flags:\t02\nclockid: 1\nticks: 0\nsettime flags: 01\nit_value: (0, 49406829)\n\
             it_interval: (1, 5)\n",
            FileType::Other,
            Kind::Timer {
                times: [1, 5, 0, 49_406_829],
            },
        );
        check(
            "anon_inode:[timerfd]",
            "ticks: 2\nit_value: (0, 0)\nit_interval: (0, 0)\n",
            FileType::Other,
            Kind::Timer {
                times: [0, 0, 0, 1],
            },
        );
    }

    #[test]
    fn locks_of_records_are_counted_once() {
        let first = "pos:\t0\nflags:\t02\n\
                     lock:\t1: POSIX  ADVISORY  WRITE 12 08:02:131 0 9\n\
                     lock:\t2: FLOCK  ADVISORY  WRITE 12 08:02:131 0 EOF\n";
        let second = "pos:\t7\nlock:\t1: POSIX  ADVISORY  WRITE 12 08:02:131 0 9\n\
                      lock:\t2: POSIX  ADVISORY  READ 12 08:02:131 20 29\n\
                      lock:\t3: OFDLCK ADVISORY  READ -1 08:02:131 40 49\n";
        assert_eq!(locks([first, second].into_iter()), 2);
        assert_eq!(locks([first].into_iter()), 1);
        assert_eq!(locks(["pos:\t0\n"].into_iter()), 0);
    }

    #[test]
    fn flags_are_octal() {
        assert!(is_writable("pos:\t0\nflags:\t0100001\n"));
        assert!(is_writable("flags:\t02"));
        assert!(!is_writable("flags:\t0100000"));
        assert_eq!(flags("flags:\t02000\n"), 0o2000);
    }

    #[test]
    fn a_pipe_is_lost_when_another_process_has_its_other_end() {
        let end = |reads, pipe| Kind::Pipe {
            reads,
            writes: !reads,
            pipe,
        };
        let kinds = BTreeMap::from([
            (1, end(false, 9)),
            (3, end(true, 5)),
            (4, end(false, 5)),
            (6, Kind::Socket),
            (8, Kind::Socket),
            (9, Kind::File),
        ]);
        assert_eq!(inner_pipes(&kinds), BTreeSet::from([5]));
        assert_eq!(
            losses(&kinds),
            [Loss::Sockets(vec![6, 8]), Loss::Pipes(vec![1])]
        );
    }
}
