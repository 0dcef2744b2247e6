//! Stack overflows: a thread that has used up its stack, mostly by a recursion without an end.

use crate::program::Program;
use juror_debuggee::ThreadId;

/// A stack overflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackOverflow {
    /// The number of frames.
    pub frame_count: usize,
    /// The functions of the recursion, innermost first; empty if the frames show none.
    pub cycle: Vec<String>,
}

/// The distance from the end of the stack, in bytes, within which the stack pointer counts as
/// overflowed; large frames probe further down.
const NEAR: u64 = 1 << 20;
/// The most functions of a recursion that is recognized.
const CYCLE_MAX: usize = 64;
/// The number of frames that are examined for a recursion.
const EXAMINED_FRAMES: usize = 1_000;
/// The most innermost frames outside of the recursion.
const LEAF_FRAMES_MAX: usize = 16;

impl Program {
    /// Returns the stack overflow of a thread that has faulted at an address, or `None` if the
    /// fault has another cause.
    pub fn stack_overflow(&self, thread: ThreadId, fault_address: u64) -> Option<StackOverflow> {
        let own = self.own_stack(thread)?;
        let stack = self.registers(thread).ok()?.stack_pointer();
        let is_below = fault_address < own.start && own.start - fault_address < NEAR;
        if !is_below || stack > own.start.saturating_add(NEAR) {
            return None;
        }
        let mut frame_count = 0;
        let mut functions = Vec::new();
        let mut names = Vec::new();
        self.walk(thread, |frame| {
            frame_count += 1;
            if functions.len() < EXAMINED_FRAMES {
                let start = frame.function.as_ref().map_or(frame.pc, |it| it.low_pc);
                functions.push((start, frame.inline_depth));
                names.push(frame.name);
            }
            true
        });
        let cycle = find_cycle(&functions).unwrap_or(0..0);
        let names = names.get(cycle).unwrap_or(&[]).iter();
        Some(StackOverflow {
            frame_count,
            cycle: names
                .map(|it| it.clone().unwrap_or_else(|| "??".to_owned()))
                .collect(),
        })
    }
}

/// Returns the innermost round of the shortest cycle that the frames repeat.
fn find_cycle<T: PartialEq>(functions: &[T]) -> Option<std::ops::Range<usize>> {
    (1..=CYCLE_MAX).find_map(|length| {
        let start = (0..=LEAF_FRAMES_MAX).find(|&start| {
            let inner = functions.get(start..).unwrap_or(&[]);
            let rounds = inner.iter().zip(inner.iter().skip(length));
            inner.len() >= 4 * length && rounds.clone().all(|(one, next)| one == next)
        })?;
        Some(start..start + length)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_cycle_is_found_behind_the_leaves() {
        for (text, cycle) in [
            ("aaaaaaaa", Some("a")),
            ("xyabcabcabcabcabc", Some("abc")),
            ("abababab", Some("ab")),
            ("abcdefgh", None),
            ("abab", None),
            ("aabaabaabaab", Some("aab")),
        ] {
            let functions: Vec<char> = text.chars().collect();
            let found = find_cycle(&functions);
            let found = found.map(|it| functions[it].iter().collect::<String>());
            assert_eq!(found.as_deref(), cycle, "{text}");
        }
    }
}
