//! The feeding of recorded inputs.

use super::classes;
use super::entry::{Call, Comes, Ending, Entry, FileIdentity, Way};
use juror_debuggee::ThreadId;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// `MAP_FIXED` and `MAP_FIXED_NOREPLACE`.
const FIXED: u64 = 0x10;
const FIXED_NOREPLACE: u64 = 0x10_0000;

/// `MREMAP_FIXED`.
const REMAP_FIXED: u64 = 2;

/// `PR_SET_NAME`, `PR_SET_VMA`.
const OWN_OPTIONS: [u64; 2] = [15, 0x5356_4d41];

/// The arguments of a call that is made although it is fed, and whether the kernel must return the same
/// as in the recorded run.
type Made = ([u64; 6], bool);

/// A call that is made for another one: with these arguments it was entered, and this it returns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Substituted {
    pub(crate) arguments: [u64; 6],
    pub(crate) result: i64,
    /// Whether the kernel must return the same.
    pub(crate) is_checked: bool,
    /// Whether it opens a file: the result is the descriptor of the recorded run.
    pub(crate) opens: bool,
    /// The memory that holds the file's path meanwhile: its address, and its bytes before.
    pub(crate) scratch: Option<(u64, Vec<u8>)>,
    /// The signals that come behind it.
    pub(crate) signals: Vec<Vec<u8>>,
}

/// Entries that are taken one after the other. A copy shares them.
#[derive(Debug)]
struct Queue<T> {
    all: Rc<[T]>,
    taken: usize,
}

impl<T> Queue<T> {
    fn front(&self) -> Option<&T> {
        self.all.get(self.taken)
    }
}

impl<T: Clone> Queue<T> {
    fn pop_if(&mut self, is_meant: impl FnOnce(&T) -> bool) -> Option<T> {
        let front = self.front().filter(|it| is_meant(it)).cloned()?;
        self.taken += 1;
        Some(front)
    }
}

impl<T> Clone for Queue<T> {
    fn clone(&self) -> Queue<T> {
        Queue {
            all: Rc::clone(&self.all),
            taken: self.taken,
        }
    }
}

impl<T> Default for Queue<T> {
    fn default() -> Queue<T> {
        Vec::new().into()
    }
}

impl<T> From<Vec<T>> for Queue<T> {
    fn from(entries: Vec<T>) -> Queue<T> {
        Queue {
            all: entries.into(),
            taken: 0,
        }
    }
}

/// The inputs of a recorded run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Feeder {
    /// The calls of each thread.
    calls: Vec<Queue<Call>>,
    comes: Queue<(u64, u32, Comes)>,
    /// Signals before calls that the scheduler answers.
    before: Queue<(u64, u32, Vec<u8>)>,
    ids: Queue<u32>,
    pub(crate) substituted: FxHashMap<ThreadId, Substituted>,
    /// The calls that threads will have returned from when they go on.
    pub(crate) returned: FxHashMap<ThreadId, Call>,
    /// The descriptors that are really open, by the recorded ones.
    pub(crate) open: FxHashMap<u64, u64>,
    /// Why the recording ended before the program.
    pub(crate) stops: Option<String>,
    pub(crate) end: Option<(Ending, u64)>,
}

impl Feeder {
    pub(crate) fn new(entries: &[Entry]) -> Feeder {
        let mut feeder = Feeder::default();
        let mut all_calls: Vec<Vec<Call>> = Vec::new();
        let (mut comes, mut before, mut ids) = (Vec::new(), Vec::new(), Vec::new());
        for entry in entries {
            match entry {
                Entry::Call(call) => {
                    let thread = call.thread as usize;
                    if all_calls.len() <= thread {
                        all_calls.resize_with(thread + 1, Vec::new);
                    }
                    if let Some(calls) = all_calls.get_mut(thread) {
                        calls.push(call.clone());
                    }
                }
                Entry::Signal {
                    thread,
                    information,
                } => {
                    let calls = all_calls.get_mut(*thread as usize);
                    if let Some(call) = calls.and_then(|calls| calls.last_mut()) {
                        call.signals.push(information.clone());
                    }
                }
                Entry::SignalBefore {
                    inputs,
                    thread,
                    information,
                } => before.push((*inputs, *thread, information.clone())),
                Entry::Comes {
                    inputs,
                    thread,
                    what,
                } => comes.push((*inputs, *thread, *what)),
                Entry::Thread { id } => ids.push(*id),
                Entry::Stops { reason } => feeder.stops = Some(reason.clone()),
                Entry::End { ending, hash } => feeder.end = Some((*ending, *hash)),
            }
        }
        Feeder {
            calls: all_calls.into_iter().map(Queue::from).collect(),
            comes: comes.into(),
            before: before.into(),
            ids: ids.into(),
            ..feeder
        }
    }

    /// Returns whether the next call of a thread is one that the program made itself.
    pub(crate) fn is_next_own(&self, thread: u32) -> bool {
        self.next_call(thread)
            .is_some_and(|call| call.way == Way::Own)
    }

    /// Returns the next call of a thread.
    pub(crate) fn next_call(&self, thread: u32) -> Option<&Call> {
        self.calls.get(thread as usize)?.front()
    }

    pub(crate) fn take_call(&mut self, thread: u32) -> Option<Call> {
        self.calls.get_mut(thread as usize)?.pop_if(|_| true)
    }

    /// Returns the number of calls that a thread has made.
    pub(crate) fn calls_made(&self, thread: u32) -> usize {
        let calls = self.calls.get(thread as usize);
        calls.map_or(0, |calls| calls.taken)
    }

    /// Takes what comes when the scheduler has been told so many things.
    pub(crate) fn take_due(&mut self, inputs: u64) -> Option<(u32, Comes)> {
        let due = self.comes.pop_if(|(at, ..)| *at <= inputs)?;
        Some((due.1, due.2))
    }

    /// Takes a signal that comes to a thread before the call at whose entry it stands.
    pub(crate) fn take_signal_before(&mut self, inputs: u64, thread: u32) -> Option<Vec<u8>> {
        let is_now = |(at, number, _): &(u64, u32, Vec<u8>)| (*at, *number) == (inputs, thread);
        self.before
            .pop_if(is_now)
            .map(|(_, _, information)| information)
    }

    /// Takes the number of the thread that starts next.
    pub(crate) fn take_id(&mut self) -> Option<u32> {
        self.ids.pop_if(|_| true)
    }

    /// Returns the arguments with which a call is made although it is fed; nothing if it is not made.
    ///
    /// # Errors
    /// It must be made, and cannot be; why, in words.
    pub(crate) fn substitute(
        &mut self,
        call: &Call,
        arguments: [u64; 6],
    ) -> Result<Option<Made>, String> {
        let number = u64::from(call.number);
        let [first, ..] = arguments;
        if call.stream != 0 {
            return Ok(Some((with(arguments, 0, call.stream.into()), false)));
        }
        if call.result < 0 {
            return Ok(None);
        }
        Ok(match number {
            classes::MMAP => Some((self.mapping(call, arguments)?, true)),
            classes::MREMAP if call.result as u64 != first => {
                let moved = with(arguments, 3, arguments[3] | REMAP_FIXED);
                Some((with(moved, 4, call.result as u64), true))
            }
            _ if classes::is_of_memory(number) => Some((arguments, true)),
            classes::SET_TID_ADDRESS => Some((arguments, false)),
            classes::PRCTL if OWN_OPTIONS.contains(&first) => Some((arguments, true)),
            classes::CLOSE => {
                let real = self.open.remove(&first);
                real.map(|real| (with(arguments, 0, real), false))
            }
            _ => None,
        })
    }

    /// Returns the path of the file that a call opens in this run, too: it may be mapped. It is
    /// the same file as in the recorded run.
    pub(crate) fn opened_path(call: &Call) -> Option<&str> {
        let number = u64::from(call.number);
        let file = call
            .file
            .as_ref()
            .filter(|_| matches!(number, classes::OPEN | classes::OPENAT))?;
        (FileIdentity::of(&file.path).as_ref() == Some(file)).then_some(&*file.path)
    }

    /// Returns the arguments that map the same memory at the same place.
    fn mapping(&self, call: &Call, arguments: [u64; 6]) -> Result<[u64; 6], String> {
        let [_, _, _, flags, descriptor, _] = arguments;
        let mut made = arguments;
        if flags & FIXED == 0 {
            made = with(made, 0, call.result as u64);
            made = with(made, 3, flags | FIXED_NOREPLACE);
        }
        if flags & classes::ANONYMOUS != 0 {
            return Ok(made);
        }
        match self.open.get(&descriptor) {
            Some(real) => Ok(with(made, 4, *real)),
            None => {
                let path = call.file.as_ref().map_or("a file", |file| &*file.path);
                Err(format!(
                    "{path} was mapped, and was changed or removed since"
                ))
            }
        }
    }
}

/// Returns the arguments with another one at an index.
fn with(mut arguments: [u64; 6], index: usize, value: u64) -> [u64; 6] {
    if let Some(argument) = arguments.get_mut(index) {
        *argument = value;
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(number: u64, result: i64) -> Call {
        Call {
            thread: 0,
            number: u32::try_from(number).unwrap(),
            site: 0x1000,
            arguments: [0; 3],
            result,
            way: Way::AtOnce,
            stream: 0,
            writes: Vec::new(),
            is_unknown: false,
            file: None,
            signals: Vec::new(),
        }
    }

    #[test]
    fn each_thread_has_its_calls_and_signals_in_their_order() {
        let of = |thread, number| Call {
            thread,
            ..call(number, 0)
        };
        let entries = [
            Entry::Call(of(1, 5)),
            Entry::Call(of(0, 6)),
            Entry::Signal {
                thread: 1,
                information: vec![9],
            },
            Entry::Call(of(1, 7)),
        ];
        let mut feeder = Feeder::new(&entries);
        assert_eq!(feeder.next_call(0).map(|it| it.number), Some(6));
        let first = feeder.take_call(1).unwrap();
        assert_eq!((first.number, first.signals), (5, vec![vec![9]]));
        let second = feeder.take_call(1).unwrap();
        assert_eq!((second.number, second.signals.len()), (7, 0));
        assert!(feeder.take_call(1).is_none() && feeder.take_call(2).is_none());
    }

    #[test]
    fn what_comes_waits_for_its_moment() {
        let comes = |inputs, what| Entry::Comes {
            inputs,
            thread: 2,
            what,
        };
        let entries = [comes(4, Comes::Expired), comes(6, Comes::Returned)];
        let mut feeder = Feeder::new(&entries);
        assert_eq!(feeder.take_due(3), None);
        assert_eq!(feeder.take_due(4), Some((2, Comes::Expired)));
        assert_eq!(feeder.take_due(5), None);
        assert_eq!(feeder.take_due(7), Some((2, Comes::Returned)));
        assert_eq!(feeder.take_due(8), None);
    }

    #[test]
    fn calls_on_the_programs_own_memory_are_made() {
        let mut feeder = Feeder::default();
        let mut check = |call: &Call, arguments, expected| {
            assert_eq!(feeder.substitute(call, arguments), expected, "{call:?}");
        };
        let anonymous = [0, 4096, 3, 0x22, u64::MAX, 0];
        let fixed = [0x7000, 4096, 3, 0x10_0022, u64::MAX, 0];
        check(
            &call(classes::MMAP, 0x7000),
            anonymous,
            Ok(Some((fixed, true))),
        );
        // It failed, and fails again.
        check(&call(classes::MMAP, -12), anonymous, Ok(None));
        let there = [0x9000, 4096, 3, 0x32, u64::MAX, 0];
        check(&call(classes::MMAP, 0x9000), there, Ok(Some((there, true))));
        let grown = [0x9000, 4096, 8192, 1, 0, 0];
        check(
            &call(classes::MREMAP, 0x9000),
            grown,
            Ok(Some((grown, true))),
        );
        let moved = [0x9000, 4096, 8192, 3, 0x7000, 0];
        check(
            &call(classes::MREMAP, 0x7000),
            grown,
            Ok(Some((moved, true))),
        );
        let rest = [1, 2, 3, 4, 5, 6];
        check(&call(classes::MUNMAP, 0), rest, Ok(Some((rest, true))));
        check(&call(0, 3), rest, Ok(None));
        let shown = Call {
            stream: 2,
            ..call(1, 3)
        };
        check(&shown, rest, Ok(Some(([2, 2, 3, 4, 5, 6], false))));
    }

    #[test]
    fn a_file_is_mapped_by_the_descriptor_that_it_has_here() {
        let mut feeder = Feeder::default();
        let of_file = [0, 4096, 1, 2, 5, 0];
        let refused = feeder.substitute(&call(classes::MMAP, 0x7000), of_file);
        assert!(
            refused
                .unwrap_err()
                .contains("was changed or removed since")
        );
        feeder.open.insert(5, 9);
        let made = feeder.substitute(&call(classes::MMAP, 0x7000), of_file);
        assert_eq!(made, Ok(Some(([0x7000, 4096, 1, 0x10_0002, 9, 0], true))));
        let closed = feeder.substitute(&call(classes::CLOSE, 0), [5, 0, 0, 0, 0, 0]);
        assert_eq!(closed, Ok(Some(([9, 0, 0, 0, 0, 0], false))));
        let again = feeder.substitute(&call(classes::CLOSE, 0), [5, 0, 0, 0, 0, 0]);
        assert_eq!(again, Ok(None));
    }
}
