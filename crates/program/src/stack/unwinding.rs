//! Frames that are removed without a return: `longjmp` and exceptions.
//!
//! While returns are awaited, internal breakpoints are inserted at the few functions that drop
//! frames. They determine which frames are dropped ([`Dropped`]).

mod dropped;
mod raised;

pub use dropped::Dropped;
pub use raised::Raised;

use crate::program::Program;
use juror_debuggee::{DebuggeeError, Owner, ThreadId};
use rustc_hash::FxHashMap;

/// The functions that raise or rethrow an exception; frames are dropped later.
const RAISES: &[&str] = &["_Unwind_RaiseException", "_Unwind_Resume_or_Rethrow"];
/// The functions that jump to another frame without returning.
const JUMPS: &[&str] = &["longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"];
/// The glibc function that restores a complete context, and the offset of the stack pointer in it,
/// which the program counter follows.
const CONTEXT_JUMPS: &[&str] = &["setcontext"];
const STACK_IN_CONTEXT: u64 = 160;
/// The functions that a C++ frame calls first after it has caught an exception.
const CATCHES: &[&str] = &["__cxa_begin_catch"];
/// The function by which Rust's `catch_unwind` catches, possibly called further in than its frame.
const LIBRARY_CATCHES: &[&str] = &["__rust_panic_cleanup"];

/// The offset of the stack pointer in the x86-64 `jmp_buf` of glibc and musl.
const STACK_IN_JUMP_BUFFER: u64 = 6 * 8;
/// The offset of the program counter in it.
const PC_IN_JUMP_BUFFER: u64 = 7 * 8;
/// The offset from `fs` of the word with which glibc mangles pointers.
const POINTER_GUARD: u64 = 0x30;

/// The way in which a function drops frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drops {
    /// An exception is raised; frames are dropped later.
    Raised,
    /// A jump to a saved `jmp_buf`.
    Jump,
    /// A jump to a saved `ucontext_t`.
    ContextJump,
    /// The calling frame has caught an exception.
    Caught,
    /// The calling frame, or a caller of it, has caught an exception.
    CaughtFurtherOut,
}

/// A function that drops frames without returning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameDropping {
    /// The address of its first instruction.
    pub address: u64,
    /// The way in which it drops frames.
    pub drops: Drops,
}

/// The destination of a jump or return.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct JumpTarget {
    /// The program counter.
    pub pc: u64,
    /// The stack pointer.
    pub stack: u64,
}

/// Returns the functions that drop frames in the modules that are loaded now.
pub fn frame_dropping_functions(program: &Program) -> Vec<FrameDropping> {
    let all = [
        (RAISES, Drops::Raised),
        (JUMPS, Drops::Jump),
        (CONTEXT_JUMPS, Drops::ContextJump),
        (CATCHES, Drops::Caught),
        (LIBRARY_CATCHES, Drops::CaughtFurtherOut),
    ];
    let names = all.iter().flat_map(|(names, _)| names.iter().copied());
    let names: Vec<&str> = names.collect();
    program.modules.search_ahead(&names);
    let mut found: Vec<FrameDropping> = Vec::new();
    for (names, drops) in all {
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

/// Returns the destination of a thread at the first instruction of a function that jumps, or `None`
/// if the saved context is invalid.
pub fn jump_target(
    program: &Program,
    thread: ThreadId,
    drops: Drops,
) -> Result<Option<JumpTarget>, DebuggeeError> {
    let registers = *program.registers(thread)?;
    let read = |address| program.debuggee.read_u64(address);
    let (stack_at, pc_at) = match drops {
        Drops::ContextJump => (STACK_IN_CONTEXT, STACK_IN_CONTEXT + 8),
        _ => (STACK_IN_JUMP_BUFFER, PC_IN_JUMP_BUFFER),
    };
    let saved = |offset| read(registers.arguments()[0].wrapping_add(offset));
    let (Ok(stack), Ok(pc)) = (saved(stack_at), saved(pc_at)) else {
        return Ok(None);
    };
    let guard = read(registers.thread_base().wrapping_add(POINTER_GUARD)).unwrap_or(0);
    let reveal = |word: u64| word.rotate_right(0x11) ^ guard;
    let revealed = (drops == Drops::Jump).then(|| (reveal(stack), reveal(pc)));
    // musl does not mangle. A jump goes up its stack, or to another stack.
    let own = program.own_stack(thread);
    let is_own = |stack: u64| own.as_ref().is_some_and(|own| own.contains(&stack));
    let mut candidates = revealed.into_iter().chain([(stack, pc)]);
    let target = candidates.find(|&(stack, _)| {
        let goes_up = stack > registers.stack_pointer()
            || !(is_own(stack) && is_own(registers.stack_pointer()));
        let is_there = || is_own(stack) || program.mapping_of(stack).is_some();
        goes_up && stack % 8 == 0 && is_there()
    });
    Ok(target.map(|(stack, pc)| JumpTarget { pc, stack }))
}

/// The internal breakpoints at the functions that drop frames.
#[derive(Debug, Clone, Default)]
pub struct UnwindPoints {
    points: FxHashMap<u64, Drops>,
    raised: Raised,
}

impl UnwindPoints {
    /// Inserts the breakpoints in the modules that are loaded now.
    pub fn insert(&mut self, program: &mut Program) -> Result<(), DebuggeeError> {
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

    /// Returns their addresses.
    pub fn addresses(&self) -> impl Iterator<Item = u64> {
        self.points.keys().copied()
    }

    /// Forgets all breakpoints after the process has executed another program.
    pub fn clear(&mut self) {
        self.points.clear();
        self.raised = Raised::default();
    }

    /// Returns the frames that a thread drops at one of the functions ([`Dropped::at`]), or `None`
    /// if the address is not one of them.
    pub fn dropped(
        &mut self,
        program: &Program,
        thread: ThreadId,
        address: u64,
        outermost: u64,
    ) -> Result<Option<Dropped>, DebuggeeError> {
        match self.points.get(&address) {
            None => Ok(None),
            Some(&drops) => Dropped::at(program, thread, drops, outermost, &mut self.raised),
        }
    }
}
