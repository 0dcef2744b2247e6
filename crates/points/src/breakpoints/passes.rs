//! Tracks calls of partially inlined functions, to report each call once; pure.
//!
//! gcc may inline only the beginning of a function into its callers, and call the outlined part
//! (`drop.part.0`). A call may pass both, or only the outlined part if the caller knows the result
//! of the beginning.
//!
//! **Invariant**: a call is reported once, at the first of the two that it passes. Calls are
//! distinguished by their frame: a beginning belongs to the next outlined part in the same frame,
//! and an earlier beginning had no outlined part. A frame's address is reused when its function is
//! entered again, so entries are tracked too.
//!
//! Not detected: within one call of the caller, a beginning without an outlined part followed, in
//! another iteration of a loop, by an outlined part without its beginning.

use juror_debuggee::ThreadId;
use rustc_hash::FxHashSet;

/// The step of a call at an address; the copy is given by its first instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passage {
    /// Enters the function that contains the copy.
    Enters(u64),
    /// Begins the call.
    Begins(u64),
    /// Continues in the outlined part.
    GoesOn(u64),
}

/// The calls that were reported at their beginnings, and may reach the outlined part.
#[derive(Debug, Clone, Default)]
pub struct Passes {
    /// Thread, frame, first instruction of the copy.
    begun: FxHashSet<(ThreadId, u64, u64)>,
    /// The thread that is now in the outlined part of a reported call, and its address.
    going_on: Option<(ThreadId, u64)>,
}

impl Passes {
    /// Notes that a thread has reached an address in a frame; without a known frame, the call
    /// counts as unreported.
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

    /// Returns the same calls with other thread numbers.
    pub fn renumbered(&self, number: impl Fn(ThreadId) -> ThreadId) -> Passes {
        let begun = self.begun.iter();
        Passes {
            begun: begun
                .map(|&(thread, frame, copy)| (number(thread), frame, copy))
                .collect(),
            going_on: None,
        }
    }

    /// Returns whether the call whose outlined part a thread has reached was reported at its
    /// beginning.
    pub fn has_begun(&self, thread: ThreadId, address: u64) -> bool {
        self.going_on == Some((thread, address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COPY: u64 = 0x100;
    const REST: u64 = 0x200;

    /// Checks a walk of threads `a` and `b` in frames `1` to `9`: `e` enters the caller, `b`
    /// begins, `r` reaches the outlined part; `expected` says which parts belong to reported calls.
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
