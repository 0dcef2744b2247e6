//! Frames that go without returning: `longjmp` and exceptions.
//!
//! While ends of calls are awaited, juror's own points stand at the few functions
//! by which frames are dropped, and which those are is decided there ([`Dropped`]).

mod dropped;
mod raised;

pub use dropped::Dropped;
pub use raised::Raised;

use crate::program::Program;
use juror_debuggee::{DebuggeeError, Owner, ThreadId};
use rustc_hash::FxHashMap;

/// Called with what is thrown or rethrown; frames are dropped later.
const RAISES: &[&str] = &["_Unwind_RaiseException", "_Unwind_Resume_or_Rethrow"];
/// The functions by which frames are dropped without returning.
const JUMPS: &[&str] = &["longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"];
/// The one that takes a whole context (glibc): where that keeps the stack pointer, and the
/// address behind it.
const CONTEXT_JUMPS: &[&str] = &["setcontext"];
const STACK_IN_CONTEXT: u64 = 160;
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
    /// Not yet: an exception begins.
    Raised,
    /// It jumps to a place that was saved (`jmp_buf`).
    Jump,
    /// The same, where all registers were saved (`ucontext_t`).
    ContextJump,
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

/// Where a jump goes, or a call returns to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct JumpTarget {
    /// The address.
    pub pc: u64,
    /// The stack pointer there.
    pub stack: u64,
}

/// These functions, in what is loaded now.
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

/// Where a thread at the first instruction of a function that jumps will be; nothing
/// when what was saved makes no sense.
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
    let saved = |offset| read(registers.rdi.wrapping_add(offset));
    let (Ok(stack), Ok(pc)) = (saved(stack_at), saved(pc_at)) else {
        return Ok(None);
    };
    let guard = read(registers.fs_base.wrapping_add(POINTER_GUARD)).unwrap_or(0);
    let reveal = |word: u64| word.rotate_right(0x11) ^ guard;
    let revealed = (drops == Drops::Jump).then(|| (reveal(stack), reveal(pc)));
    // musl stores it as it is. A jump goes up its stack, or to another one.
    let own = program.own_stack(thread);
    let is_own = |stack: u64| own.as_ref().is_some_and(|own| own.contains(&stack));
    let mut candidates = revealed.into_iter().chain([(stack, pc)]);
    let target = candidates.find(|&(stack, _)| {
        let goes_up = stack > registers.rsp || !(is_own(stack) && is_own(registers.rsp));
        let is_there = || is_own(stack) || program.mapping_of(stack).is_some();
        goes_up && stack % 8 == 0 && is_there()
    });
    Ok(target.map(|(stack, pc)| JumpTarget { pc, stack }))
}

/// juror's own points at these functions.
#[derive(Debug, Clone, Default)]
pub struct UnwindPoints {
    points: FxHashMap<u64, Drops>,
    raised: Raised,
}

impl UnwindPoints {
    /// Plants them in what is loaded now.
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

    /// Where they are.
    pub fn addresses(&self) -> impl Iterator<Item = u64> {
        self.points.keys().copied()
    }

    /// Forgets them: the process has another program now.
    pub fn clear(&mut self) {
        self.points.clear();
        self.raised = Raised::default();
    }

    /// What a thread leaves that stands at such a function ([`Dropped::at`]); nothing
    /// when the address is not one of them.
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
