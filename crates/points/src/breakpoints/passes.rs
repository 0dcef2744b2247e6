//! Which calls of a function that was inlined in parts have been seen at its beginning;
//! pure.
//!
//! gcc may copy only the beginning of a function into its callers, and call the rest
//! (`drop.part.0`). A call may come by both, or where the caller knows what the beginning
//! would decide, by the rest alone. Invariant: a call is seen once, at the first of the two
//! that it comes by. What tells calls from one another is the frame that they are made
//! in: a beginning is that of the next rest in the same frame, and an earlier one did
//! without a rest. A frame's address is used again when its function is entered again,
//! so that is seen, too.
//!
//! Not known: within one call of the caller, a beginning that needed no rest and then,
//! in another round of a loop, a rest without its beginning.

use juror_debuggee::ThreadId;
use rustc_hash::FxHashSet;

/// What a thread does at an address, to the copy whose first instruction is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passage {
    /// It enters the function that holds the copy.
    Enters(u64),
    /// It begins the call.
    Begins(u64),
    /// It goes on in the rest.
    GoesOn(u64),
}

/// The calls that were seen at their beginnings, and whose rest may come.
#[derive(Debug, Clone, Default)]
pub struct Passes {
    /// Thread, frame, first instruction of the copy.
    begun: FxHashSet<(ThreadId, u64, u64)>,
    /// Who goes on just now in the rest of a call that was seen, and where.
    going_on: Option<(ThreadId, u64)>,
}

impl Passes {
    /// A thread has come to an address in a frame; one whose frame is not known comes to a
    /// call that was not seen.
    pub fn arrive(
        &mut self,
        thread: ThreadId,
        address: u64,
        frame: Option<u64>,
        passages: &[Passage],
    ) {
        self.going_on = None;
        let Some(frame) = frame else {
            return;
        };
        for &passage in passages {
            match passage {
                Passage::Enters(copy) => {
                    self.begun.remove(&(thread, frame, copy));
                }
                Passage::Begins(copy) => {
                    self.begun.insert((thread, frame, copy));
                }
                Passage::GoesOn(copy) => {
                    if self.begun.remove(&(thread, frame, copy)) {
                        self.going_on = Some((thread, address));
                    }
                }
            }
        }
    }

    /// The same calls of threads that have other numbers now.
    pub fn renumbered(&self, number: impl Fn(ThreadId) -> ThreadId) -> Passes {
        let begun = self.begun.iter();
        Passes {
            begun: begun
                .map(|&(thread, frame, copy)| (number(thread), frame, copy))
                .collect(),
            going_on: None,
        }
    }

    /// Whether the call whose rest a thread comes to was seen at its beginning.
    pub fn has_begun(&self, thread: ThreadId, address: u64) -> bool {
        self.going_on == Some((thread, address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COPY: u64 = 0x100;
    const REST: u64 = 0x200;

    /// A walk of threads `a` and `b` in frames `1` to `9`: `e` enters the caller, `b`
    /// begins, `r` comes to the rest; which rests are of calls that were seen.
    fn check(walk: &str, expected: &[bool]) {
        let mut passes = Passes::default();
        let mut found = Vec::new();
        for step in walk.split(' ') {
            let [thread, frame, what] = step.as_bytes() else {
                panic!("{step}");
            };
            let thread = ThreadId(u32::from(*thread));
            let frame = Some(u64::from(*frame)).filter(|&it| it != u64::from(b'?'));
            let (address, passage) = match what {
                b'e' => (0x10, Passage::Enters(COPY)),
                b'b' => (COPY, Passage::Begins(COPY)),
                _ => (REST, Passage::GoesOn(COPY)),
            };
            passes.arrive(thread, address, frame, &[passage]);
            if let Passage::GoesOn(_) = passage {
                found.push(passes.has_begun(thread, address));
            }
        }
        assert_eq!(found, expected, "{walk}");
    }

    #[test]
    fn a_call_is_seen_once() {
        check("a1b a1r", &[true]);
        check("a1r", &[false]);
        check("a1b a1r a1r a1b a1r", &[true, false, true]);
    }

    #[test]
    fn calls_of_other_threads_and_frames_are_others() {
        check("a1b b1r a1r", &[false, true]);
        check("a1b a2b a2r a1r a2r", &[true, true, false]);
    }

    #[test]
    fn a_frame_that_is_entered_again_is_another_one() {
        check("a1e a1b a1e a1r", &[false]);
        check("a1e a1b a2e a2r a1r", &[false, true]);
    }

    #[test]
    fn a_rest_in_a_frame_that_is_not_known_is_seen() {
        check("a1b a?r a1r", &[false, true]);
    }
}
