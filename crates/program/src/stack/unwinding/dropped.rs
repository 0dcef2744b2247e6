//! Determines which calls are dropped at a function that drops frames.
//!
//! On the stack that a thread started with, all calls below the target are dropped: a jump gives
//! the stack pointer of the target, and so does the C++ frame that catches. Rust's library may call
//! several functions in between; there the calls that are no longer on the stack are dropped.
//!
//! Stacks that the program has allocated may be adjacent, and a lower address may belong to a call
//! on another stack that continues later (fibers); or a thread leaves an alternate signal stack.
//! There a jump drops the calls between the thread and the target, and an exception drops the calls
//! that were on the stack when it was raised ([`Raised`]) and are no longer.
//!
//! A call is identified by its frame address and its return address, since another may have taken
//! its slot.

use super::raised::{Raised, visit_calls};
use super::{Drops, JumpTarget, jump_target};
use crate::program::Program;
use juror_arch::abi;
use juror_debuggee::{DebuggeeError, ThreadId};
use std::ops::Range;

/// Calls that a jump or an exception has dropped from a thread's stack, or is about to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped(Which);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Which {
    /// The calls on a stack whose frames are below the stack pointer of the target.
    Below {
        stack: Range<u64>,
        target: JumpTarget,
    },
    /// The calls on a stack that are not in `there`, the calls that are still on it, innermost
    /// first: the frame that has caught the exception is unknown.
    NotAmong {
        stack: Range<u64>,
        there: Vec<JumpTarget>,
    },
    /// These calls, sorted.
    Among {
        gone: Vec<JumpTarget>,
        target: JumpTarget,
    },
}

impl Dropped {
    /// Returns the calls that a thread drops when it continues at a frame further out on its stack.
    pub fn below(program: &Program, thread: ThreadId, target: JumpTarget) -> Option<Dropped> {
        let stack = program.stack_at(thread, target.stack)?;
        Some(Dropped(Which::Below { stack, target }))
    }

    /// Returns the calls that a thread drops at the first instruction of a function that drops
    /// frames, or `None` if that is not known there. `outermost` is the frame of the outermost
    /// pending call; `raised` has the exceptions that were raised while calls were pending.
    pub fn at(
        program: &Program,
        thread: ThreadId,
        drops: Drops,
        outermost: u64,
        raised: &mut Raised,
    ) -> Result<Option<Dropped>, DebuggeeError> {
        let registers = *program.registers(thread)?;
        let mut noted = || raised.take(thread, registers.arguments()[0]);
        match drops {
            Drops::Raised => {
                raised.note(program, thread)?;
                Ok(None)
            }
            Drops::Jump | Drops::ContextJump => match jump_target(program, thread, drops)? {
                Some(target) => Ok(Dropped::by_jump(
                    program,
                    thread,
                    registers.stack_pointer(),
                    target,
                )),
                None => Ok(None),
            },
            Drops::Caught => {
                let target = JumpTarget {
                    pc: program.debuggee.read_u64(registers.stack_pointer())?,
                    stack: abi::frame_at_entry(registers.stack_pointer()),
                };
                let since = noted().and_then(|noted| Dropped::since(program, thread, noted));
                Ok(match since {
                    Some((gone, _)) => Some(Dropped(Which::Among { gone, target })),
                    None => Dropped::below(program, thread, target),
                })
            }
            Drops::CaughtFurtherOut => {
                let since = noted().and_then(|noted| Dropped::since(program, thread, noted));
                Ok(match since {
                    Some((gone, target)) => Some(Dropped(Which::Among { gone, target })),
                    None => Dropped::off_the_stack(
                        program,
                        thread,
                        registers.stack_pointer(),
                        outermost,
                    ),
                })
            }
        }
    }

    /// Returns the calls that a jump drops.
    fn by_jump(
        program: &Program,
        thread: ThreadId,
        stack: u64,
        target: JumpTarget,
    ) -> Option<Dropped> {
        let own = program.own_stack(thread);
        if own.is_some_and(|own| own.contains(&stack) && own.contains(&target.stack)) {
            return Dropped::below(program, thread, target);
        }
        let mut gone = Vec::new();
        let mut is_reached = false;
        let is_certain = visit_calls(program, thread, |call, begin| {
            is_reached = begin <= target.stack && target.stack < call.stack;
            if !is_reached {
                gone.push(call);
            }
            !is_reached
        });
        match is_reached {
            true => {
                gone.sort_unstable();
                Some(Dropped(Which::Among { gone, target }))
            }
            // The target is on a stack that is not below this one: no call is dropped.
            false if is_certain => None,
            false => Dropped::below(program, thread, target),
        }
    }

    /// Returns the calls that have left the stack, sorted, and the innermost of the noted calls
    /// that is still on it. Returns `None` if none is.
    fn since(
        program: &Program,
        thread: ThreadId,
        mut noted: Vec<JumpTarget>,
    ) -> Option<(Vec<JumpTarget>, JumpTarget)> {
        let mut there = None;
        visit_calls(program, thread, |call, _| {
            there = noted.iter().position(|known| *known == call);
            there.is_none()
        });
        let position = there?;
        let target = *noted.get(position)?;
        noted.truncate(position);
        noted.sort_unstable();
        Some((noted, target))
    }

    /// Returns the calls that are no longer on a thread's stack, up to the frame `outermost`.
    fn off_the_stack(
        program: &Program,
        thread: ThreadId,
        stack: u64,
        outermost: u64,
    ) -> Option<Dropped> {
        let stack = program.stack_at(thread, stack)?;
        let mut there = Vec::new();
        visit_calls(program, thread, |call, _| {
            there.push(call);
            call.stack < outermost || !stack.contains(&call.stack)
        });
        Some(Dropped(Which::NotAmong { stack, there }))
    }

    /// Returns the place where the thread continues if the call with the return address `call.pc`
    /// and the frame `call.stack` is dropped, or `None` if it is still there.
    pub fn resumes_at(&self, call: JumpTarget) -> Option<JumpTarget> {
        match &self.0 {
            Which::Below { stack, target } => {
                let is_gone = stack.contains(&call.stack) && call.stack <= target.stack;
                is_gone.then_some(*target)
            }
            Which::NotAmong { stack, there } => {
                if !stack.contains(&call.stack) || there.contains(&call) {
                    return None;
                }
                let is_outside =
                    |it: &&JumpTarget| stack.contains(&it.stack) && it.stack >= call.stack;
                there.iter().find(is_outside).copied()
            }
            Which::Among { gone, target } => gone.binary_search(&call).is_ok().then_some(*target),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn call(pc: u64, stack: u64) -> JumpTarget {
        JumpTarget { pc, stack }
    }

    #[track_caller]
    fn check(which: Which, asked: JumpTarget, expected: Option<JumpTarget>) {
        assert_eq!(Dropped(which).resumes_at(asked), expected);
    }

    const STACK: Range<u64> = 0x1000..0x2000;

    fn not_among(there: &[JumpTarget]) -> Which {
        let there = there.to_vec();
        Which::NotAmong {
            stack: STACK,
            there,
        }
    }

    #[test]
    fn a_jump_drops_what_is_below() {
        let below = || Which::Below {
            stack: STACK,
            target: call(7, 0x1100),
        };
        check(below(), call(1, 0x10f0), Some(call(7, 0x1100)));
        check(below(), call(1, 0x1100), Some(call(7, 0x1100)));
        check(below(), call(1, 0x1110), None);
        check(below(), call(1, 0x900), None);
    }

    #[test]
    fn a_call_that_is_not_on_the_stack_any_more_was_dropped() {
        // A function that the catching frame has called may use the slot of a dropped frame.
        let there = || not_among(&[call(5, 0x1080), call(6, 0x1100), call(8, 0x1200)]);
        check(there(), call(6, 0x1100), None);
        check(there(), call(7, 0x1100), Some(call(6, 0x1100)));
        check(there(), call(7, 0x10a0), Some(call(6, 0x1100)));
        check(there(), call(8, 0x1200), None);
        // Calls beyond the outermost known one are undecided.
        check(there(), call(9, 0x1300), None);
        check(there(), call(7, 0x900), None);
    }

    #[test]
    fn a_handlers_stack_tells_nothing_of_another() {
        let there = || not_among(&[call(5, 0x1080), call(6, 0x5100)]);
        check(there(), call(7, 0x1100), None);
        check(there(), call(7, 0x1070), Some(call(5, 0x1080)));
    }

    #[test]
    fn of_a_stack_beside_others_only_what_was_on_it_is_dropped() {
        let among = || Which::Among {
            gone: vec![call(1, 0x1080), call(2, 0x1100)],
            target: call(7, 0x1180),
        };
        check(among(), call(1, 0x1080), Some(call(7, 0x1180)));
        check(among(), call(2, 0x1100), Some(call(7, 0x1180)));
        // Calls of other stacks have other frames; a call in a reused slot has another return
        // address.
        check(among(), call(1, 0x1040), None);
        check(among(), call(3, 0x1100), None);
    }
}
