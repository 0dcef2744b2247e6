//! The descriptors of a recorded run: which file is behind them, and where in it the program reads.
//!
//! Uncertain places are unknown: the place in a file whose descriptor came from elsewhere, that other
//! processes share, or after a call of which it is not known where it leaves off.

use super::entry::{Call, Entry};
use rustc_hash::FxHashMap;

/// The known source of the result of a system call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSource {
    /// The number of the call.
    pub number: u64,
    /// The descriptor that it reads from, if it does.
    pub descriptor: Option<u64>,
    /// The file behind it, if it is known.
    pub file: Option<String>,
    /// The place in the file of the byte at the address that was asked for, if it is known.
    pub offset: Option<u64>,
}

const READ: u64 = 0;
const WRITE: u64 = 1;
const OPEN: u64 = 2;
const CLOSE: u64 = 3;
const LSEEK: u64 = 8;
const PREAD64: u64 = 17;
const READV: u64 = 19;
const WRITEV: u64 = 20;
const DUP: u64 = 32;
const DUP2: u64 = 33;
const SENDFILE: u64 = 40;
const RECVFROM: u64 = 45;
const RECVMSG: u64 = 47;
const CLONE: u64 = 56;
const FORK: u64 = 57;
const VFORK: u64 = 58;
const FCNTL: u64 = 72;
const CREAT: u64 = 85;
const GETDENTS64: u64 = 217;
const OPENAT: u64 = 257;
const SPLICE: u64 = 275;
const DUP3: u64 = 292;
const PREADV: u64 = 295;
const COPY_FILE_RANGE: u64 = 326;
const CLONE3: u64 = 435;
const CLOSE_RANGE: u64 = 436;

/// `O_APPEND`: writes go to the end.
const APPENDS: u64 = 0o2000;
/// `F_DUPFD`, `F_DUPFD_CLOEXEC`.
const DUPLICATES: [u64; 2] = [0, 1030];
/// `CLONE_FILES`: the child has the same descriptors.
const SAME_FILES: u64 = 0x400;

/// An open file, which several descriptors may lead to.
#[derive(Debug, Clone, Default)]
struct Open {
    file: Option<String>,
    /// The place at which the next call reads or writes, if it is known.
    position: Option<u64>,
    appends: bool,
}

/// The descriptors at a moment of a run.
#[derive(Debug, Default)]
struct Descriptors {
    opened: Vec<Open>,
    by_number: FxHashMap<u64, usize>,
}

/// Returns the source of what a call has returned.
pub(crate) fn source_of(
    entries: &[Entry],
    (thread, index): (u32, usize),
    arguments: [u64; 6],
    address: Option<u64>,
) -> Option<CallSource> {
    let mut descriptors = Descriptors::default();
    let mut made = 0;
    for (at, entry) in entries.iter().enumerate() {
        let Entry::Call(call) = entry else { continue };
        if call.thread == thread {
            if made == index {
                return Some(descriptors.source(call, arguments, address));
            }
            made += 1;
        }
        let is_thread = matches!(entries.get(at + 1), Some(Entry::Thread { .. }));
        descriptors.take(call, is_thread);
    }
    None
}

/// Returns the place of a byte among those that a call has written.
fn place_in(call: &Call, address: u64) -> Option<u64> {
    let mut before = 0;
    for written in &call.writes {
        let length = written.bytes.len() as u64;
        if let Some(within) = address
            .checked_sub(written.address)
            .filter(|it| *it < length)
        {
            return Some(before + within);
        }
        before += length;
    }
    None
}

impl Descriptors {
    fn get(&mut self, descriptor: u64) -> Option<&mut Open> {
        let index = self.by_number.get(&descriptor)?;
        self.opened.get_mut(*index)
    }

    fn open(&mut self, descriptor: u64, open: Open) {
        self.by_number.insert(descriptor, self.opened.len());
        self.opened.push(open);
    }

    fn source(&mut self, call: &Call, arguments: [u64; 6], address: Option<u64>) -> CallSource {
        let number = u64::from(call.number);
        let [first, _, _, fourth, ..] = arguments;
        let reads = matches!(
            number,
            READ | PREAD64 | READV | PREADV | RECVFROM | RECVMSG | GETDENTS64
        );
        let open = self.get(first).filter(|_| reads);
        let file = open.as_ref().and_then(|it| it.file.clone());
        let begin = match number {
            READ | READV => open.and_then(|it| it.position),
            PREAD64 | PREADV => open.map(|_| fourth),
            _ => None,
        };
        let within = address.and_then(|address| place_in(call, address));
        CallSource {
            number,
            descriptor: reads.then_some(first),
            file,
            offset: begin
                .zip(within)
                .and_then(|(begin, within)| begin.checked_add(within)),
        }
    }

    /// Takes a call that was made.
    fn take(&mut self, call: &Call, is_thread: bool) {
        let [first, second, third] = call.arguments;
        let Ok(result) = u64::try_from(call.result) else {
            return;
        };
        let advance = |open: &mut Open| {
            open.position = open.position.and_then(|it| it.checked_add(result));
        };
        match u64::from(call.number) {
            number @ (OPEN | OPENAT | CREAT) => {
                let flags = match number {
                    OPEN => second,
                    OPENAT => third,
                    _ => 0,
                };
                let file = call.file.as_ref().map(|file| file.path.clone());
                let open = Open {
                    file,
                    position: Some(0),
                    appends: flags & APPENDS != 0,
                };
                self.open(result, open);
            }
            CLOSE => {
                self.by_number.remove(&first);
            }
            CLOSE_RANGE => self
                .by_number
                .retain(|number, _| !(first..=second).contains(number)),
            READ | READV => {
                self.get(first).into_iter().for_each(advance);
            }
            WRITE | WRITEV => {
                if let Some(open) = self.get(first) {
                    advance(open);
                    open.position = open.position.filter(|_| !open.appends);
                }
            }
            LSEEK => {
                if let Some(open) = self.get(first) {
                    open.position = Some(result);
                }
            }
            number @ (DUP | DUP2 | DUP3 | FCNTL) => {
                if number == FCNTL && !DUPLICATES.contains(&second) {
                    return;
                }
                match self.by_number.get(&first).copied() {
                    Some(index) => self.by_number.insert(result, index),
                    None => self.by_number.remove(&result),
                };
            }
            SENDFILE | SPLICE | COPY_FILE_RANGE => {
                for descriptor in [first, second, third] {
                    if let Some(open) = self.get(descriptor) {
                        open.position = None;
                    }
                }
            }
            FORK | VFORK => self.share(),
            CLONE if first & SAME_FILES == 0 => self.share(),
            CLONE3 if !is_thread => self.share(),
            _ => {}
        }
    }

    /// Another process may move the places of all files that are open now.
    fn share(&mut self) {
        for open in &mut self.opened {
            open.position = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::entry::Way;
    use crate::input::{FileIdentity, Written};

    fn call(number: u64, arguments: [u64; 3], result: i64) -> Call {
        Call {
            thread: 0,
            number: u32::try_from(number).unwrap(),
            site: 0,
            arguments,
            result,
            way: Way::AtOnce,
            stream: 0,
            writes: Vec::new(),
            is_unknown: false,
            file: None,
            signals: Vec::new(),
        }
    }

    fn opened(path: &str, descriptor: i64) -> Call {
        Call {
            file: Some(FileIdentity {
                path: path.to_owned(),
                inode: 1,
                size: 100,
                changed_ns: 0,
            }),
            ..call(OPENAT, [0, 0, 0], descriptor)
        }
    }

    /// A read to address 1000.
    fn read(descriptor: u64, count: u8) -> Call {
        let written = Written {
            address: 1000,
            bytes: vec![0; usize::from(count)],
        };
        Call {
            writes: vec![written],
            ..call(READ, [descriptor, 1000, 64], count.into())
        }
    }

    /// Returns the file and the place of the byte at address 1002 that the last call has read.
    fn source(calls: &[Call]) -> (Option<String>, Option<u64>) {
        let entries: Vec<Entry> = calls.iter().cloned().map(Entry::Call).collect();
        let [first, second, third] = calls.last().unwrap().arguments;
        let arguments = [first, second, third, 40, 0, 0];
        let last = calls.len() - 1;
        let source = source_of(&entries, (0, last), arguments, Some(1002)).unwrap();
        assert_eq!(source.descriptor, Some(first));
        (source.file, source.offset)
    }

    #[test]
    fn reads_seeks_and_duplicates_move_the_place() {
        let file = Some("a.txt".to_owned());
        let open = opened("a.txt", 3);
        let check = |between: &[Call], last: Call, expected| {
            let calls = [std::slice::from_ref(&open), between, &[last]].concat();
            assert_eq!(source(&calls), (file.clone(), expected), "{calls:?}");
        };
        check(&[], read(3, 10), Some(2));
        check(&[read(3, 10), read(3, 5)], read(3, 10), Some(17));
        check(&[call(LSEEK, [3, 50, 0], 50)], read(3, 10), Some(52));
        check(
            &[call(DUP, [3, 0, 0], 7), read(7, 8)],
            read(3, 10),
            Some(10),
        );
        check(&[call(READ, [3, 0, 0], -4)], read(3, 10), Some(2));
        let positioned = Call {
            number: u32::try_from(PREAD64).unwrap(),
            ..read(3, 10)
        };
        check(&[read(3, 9)], positioned, Some(42));
        // A child may read from it, too.
        check(&[call(FORK, [0; 3], 500)], read(3, 10), None);
        check(&[call(SENDFILE, [1, 3, 0], 20)], read(3, 10), None);
    }

    #[test]
    fn a_descriptor_that_came_from_elsewhere_has_no_file() {
        assert_eq!(source(&[read(0, 10)]), (None, None));
        let closed = [opened("a.txt", 3), call(CLOSE, [3, 0, 0], 0), read(3, 10)];
        assert_eq!(source(&closed), (None, None));
    }
}
