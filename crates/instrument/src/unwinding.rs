//! Frames that go without returning: `longjmp` and exceptions.
//!
//! While events after calls are awaited, juror's own points stand at the few
//! functions by which frames are dropped. At each of them the stack pointer
//! that the thread will have is known, so the calls below it are gone.

use crate::program::Program;
use juror_debuggee::{DebuggeeError, Owner, ThreadId};
use rustc_hash::FxHashMap;

/// The functions by which frames are dropped without returning.
const JUMPS: &[&str] = &["longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"];
/// Called by the frame that caught an exception, as the first thing.
const CATCHES: &[&str] = &["__cxa_begin_catch", "__rust_panic_cleanup"];

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
    for (names, drops) in [(JUMPS, Drops::Jump), (CATCHES, Drops::Caught)] {
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

    /// Where a thread at such a function goes on: where it jumps to, or where
    /// the frame that has caught goes on. Nothing when the address is not one
    /// of them.
    pub fn landing(
        &self,
        program: &Program,
        thread: ThreadId,
        address: u64,
    ) -> Result<Option<JumpTarget>, DebuggeeError> {
        Ok(match self.points.get(&address) {
            None => None,
            Some(Drops::Caught) => {
                let stack = program.registers(thread)?.rsp;
                Some(JumpTarget {
                    pc: program.debuggee.read_u64(stack)?,
                    stack: stack.wrapping_add(8),
                })
            }
            Some(Drops::Jump) => jump_target(program, thread)?,
        })
    }

    /// The stack pointer that a thread at such a function will have, or
    /// nothing when the address is not one of them.
    pub fn future_stack(
        &self,
        program: &Program,
        thread: ThreadId,
        address: u64,
    ) -> Result<Option<u64>, DebuggeeError> {
        Ok(match self.points.get(&address) {
            None => None,
            Some(Drops::Caught) => Some(program.registers(thread)?.rsp.wrapping_add(8)),
            Some(Drops::Jump) => jump_target(program, thread)?.map(|target| target.stack),
        })
    }
}
