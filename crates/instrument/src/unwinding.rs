//! Frames that go without returning: `longjmp` and exceptions.
//!
//! While ends of calls are awaited, juror's own points stand at the few functions
//! by which frames are dropped. A jump tells the stack pointer that the thread will
//! have, and so does the frame of C++ that catches; the calls below are gone. Of Rust the
//! library may call several functions in between. There the calls are gone that are not
//! on the stack any more ([`Dropped`]); a call is known by its frame address and the
//! address to which it returns, since another may have taken its place.

use crate::program::Program;
use juror_debuggee::{DebuggeeError, Owner, ThreadId};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The functions by which frames are dropped without returning.
const JUMPS: &[&str] = &["longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"];
/// Called by the frame that caught an exception, as the first thing: C++.
const CATCHES: &[&str] = &["__cxa_begin_catch"];
/// The same, by functions that the frame may have called for it: `catch_unwind` of Rust.
const LIBRARY_CATCHES: &[&str] = &["__rust_panic_cleanup"];

/// Where the x86-64 `jmp_buf` of glibc and musl keeps the stack pointer.
const STACK_IN_JUMP_BUFFER: u64 = 6 * 8;
/// Where it keeps the address to go to.
const PC_IN_JUMP_BUFFER: u64 = 7 * 8;
/// Where glibc keeps the word by which it disguises pointers, from `fs`.
const POINTER_GUARD: u64 = 0x30;

/// How frames are dropped at a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drops {
    /// It jumps to a place that was saved.
    Jump,
    /// The frame that calls it has caught an exception.
    Caught,
    /// A frame has caught one that calls it, or has called who does.
    CaughtFurtherOut,
}

/// A function at which frames are dropped without returning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameDropping {
    /// Its first instruction.
    pub address: u64,
    /// How.
    pub drops: Drops,
}

/// Where a jump goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JumpTarget {
    /// The address.
    pub pc: u64,
    /// The stack pointer there.
    pub stack: u64,
}

/// These functions, in what is loaded now.
pub fn frame_dropping_functions(program: &Program) -> Vec<FrameDropping> {
    let mut found: Vec<FrameDropping> = Vec::new();
    for (names, drops) in [
        (JUMPS, Drops::Jump),
        (CATCHES, Drops::Caught),
        (LIBRARY_CATCHES, Drops::CaughtFurtherOut),
    ] {
        for name in names {
            for bound in program.modules.definitions(name, |_| true) {
                let address = bound.address();
                if !bound.function.indirect && found.iter().all(|known| known.address != address) {
                    found.push(FrameDropping { address, drops });
                }
            }
        }
    }
    found
}

/// Where a thread at the first instruction of a `longjmp` will be; nothing
/// when what was saved makes no sense.
pub fn jump_target(
    program: &Program,
    thread: ThreadId,
) -> Result<Option<JumpTarget>, DebuggeeError> {
    let registers = *program.registers(thread)?;
    let saved = |offset| {
        let address = registers.rdi.wrapping_add(offset);
        program.debuggee.read_u64(address)
    };
    let (Ok(stack), Ok(pc)) = (saved(STACK_IN_JUMP_BUFFER), saved(PC_IN_JUMP_BUFFER)) else {
        return Ok(None);
    };
    let guard = program
        .debuggee
        .read_u64(registers.fs_base.wrapping_add(POINTER_GUARD))
        .unwrap_or(0);
    let reveal = |word: u64| word.rotate_right(0x11) ^ guard;
    // musl stores it as it is. A jump goes up its own stack.
    let candidates = [(reveal(stack), reveal(pc)), (stack, pc)];
    let target = candidates.into_iter().find(|&(stack, _)| {
        stack > registers.rsp && stack % 8 == 0 && program.mapping_of(stack).is_some()
    });
    Ok(target.map(|(stack, pc)| JumpTarget { pc, stack }))
}

/// Calls that a jump or an exception has taken from a thread's stack, or is about to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// The stack that they were on: calls on others are as they were.
    mapping: Range<u64>,
    which: Which,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Which {
    /// Those whose frames are below the stack as it will be.
    Below(JumpTarget),
    /// Those that are not among these, which are there, the innermost first: the frame
    /// that has caught an exception is not known.
    NotAmong(Vec<JumpTarget>),
}

impl Dropped {
    /// What a thread leaves that goes on at a place further out on its stack.
    pub fn below(program: &Program, target: JumpTarget) -> Option<Dropped> {
        Some(Dropped {
            mapping: program.mapping_of(target.stack)?,
            which: Which::Below(target),
        })
    }

    /// What a thread leaves that stands at the first instruction of a function by which
    /// frames are dropped; nothing where that does not tell. `outermost` is the frame of
    /// the outermost call that one will ask for.
    pub fn at(
        program: &Program,
        thread: ThreadId,
        drops: Drops,
        outermost: u64,
    ) -> Result<Option<Dropped>, DebuggeeError> {
        let target = match drops {
            Drops::Jump => jump_target(program, thread)?,
            Drops::Caught => {
                let stack = program.registers(thread)?.rsp;
                Some(JumpTarget {
                    pc: program.debuggee.read_u64(stack)?,
                    stack: stack.wrapping_add(8),
                })
            }
            Drops::CaughtFurtherOut => return Dropped::off_the_stack(program, thread, outermost),
        };
        Ok(target.and_then(|target| Dropped::below(program, target)))
    }

    /// What is not on a thread's stack any more, as far as a frame.
    fn off_the_stack(
        program: &Program,
        thread: ThreadId,
        outermost: u64,
    ) -> Result<Option<Dropped>, DebuggeeError> {
        let stack = program.registers(thread)?.rsp;
        let Some(mapping) = program.mapping_of(stack) else {
            return Ok(None);
        };
        let mut there = Vec::new();
        program.walk(thread, |frame| {
            if frame.is_inlined() {
                return true;
            }
            let Some(stack) = frame.cfa.filter(|_| !frame.guess) else {
                return false;
            };
            if let Ok(pc) = program.debuggee.read_u64(stack.wrapping_sub(8)) {
                there.push(JumpTarget { pc, stack });
            }
            stack < outermost || !mapping.contains(&stack)
        });
        let which = Which::NotAmong(there);
        Ok(Some(Dropped { mapping, which }))
    }

    /// Where the thread goes on when a call is among them, which would have returned to
    /// `call.pc` with the stack pointer `call.stack`; nothing when the call is there.
    pub fn goes_on(&self, call: JumpTarget) -> Option<JumpTarget> {
        match &self.which {
            _ if !self.mapping.contains(&call.stack) => None,
            Which::Below(target) => (call.stack <= target.stack).then_some(*target),
            Which::NotAmong(there) if there.contains(&call) => None,
            Which::NotAmong(there) => {
                let is_outside =
                    |it: &&JumpTarget| self.mapping.contains(&it.stack) && it.stack >= call.stack;
                there.iter().find(is_outside).copied()
            }
        }
    }
}

/// juror's own points at these functions.
#[derive(Debug, Clone, Default)]
pub struct UnwindPoints {
    points: FxHashMap<u64, Drops>,
}

impl UnwindPoints {
    /// Plants them in what is loaded now.
    pub fn plant(&mut self, program: &mut Program) -> Result<(), DebuggeeError> {
        let known = self.points.keys().copied();
        let gone: Vec<u64> = known
            .filter(|&address| program.modules.find(address).is_none())
            .collect();
        for address in gone {
            self.points.remove(&address);
            program.debuggee.remove(address, Owner::Internal)?;
        }
        for found in frame_dropping_functions(program) {
            if self.points.insert(found.address, found.drops).is_none() {
                program.debuggee.insert(found.address, Owner::Internal)?;
            }
        }
        Ok(())
    }

    /// Where they are.
    pub fn addresses(&self) -> impl Iterator<Item = u64> {
        self.points.keys().copied()
    }

    /// Forgets them: the process has another program now.
    pub fn clear(&mut self) {
        self.points.clear();
    }

    /// What a thread leaves that stands at such a function ([`Dropped::at`]); nothing
    /// when the address is not one of them.
    pub fn dropped(
        &self,
        program: &Program,
        thread: ThreadId,
        address: u64,
        outermost: u64,
    ) -> Result<Option<Dropped>, DebuggeeError> {
        match self.points.get(&address) {
            None => Ok(None),
            Some(&drops) => Dropped::at(program, thread, drops, outermost),
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
        let mapping = 0x1000..0x2000;
        let dropped = Dropped { mapping, which };
        assert_eq!(dropped.goes_on(asked), expected);
    }

    #[test]
    fn a_jump_drops_what_is_below() {
        let below = || Which::Below(call(7, 0x1100));
        check(below(), call(1, 0x10f0), Some(call(7, 0x1100)));
        check(below(), call(1, 0x1100), Some(call(7, 0x1100)));
        check(below(), call(1, 0x1110), None);
        check(below(), call(1, 0x900), None);
    }

    #[test]
    fn a_call_that_is_not_on_the_stack_any_more_was_dropped() {
        // What is called by who has caught has a frame in the place of the dropped one.
        let there = || Which::NotAmong(vec![call(5, 0x1080), call(6, 0x1100), call(8, 0x1200)]);
        check(there(), call(6, 0x1100), None);
        check(there(), call(7, 0x1100), Some(call(6, 0x1100)));
        check(there(), call(7, 0x10a0), Some(call(6, 0x1100)));
        check(there(), call(8, 0x1200), None);
        // Nothing is known of what lies beyond.
        check(there(), call(9, 0x1300), None);
        check(there(), call(7, 0x900), None);
    }

    #[test]
    fn a_handlers_stack_tells_nothing_of_another() {
        let there = || Which::NotAmong(vec![call(5, 0x1080), call(6, 0x5100)]);
        check(there(), call(7, 0x1100), None);
        check(there(), call(7, 0x1070), Some(call(5, 0x1080)));
    }
}
