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
/// Where glibc keeps the word by which it disguises pointers, from `fs`.
const POINTER_GUARD: u64 = 0x30;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Jump,
    Catch,
}

/// juror's own points at these functions.
#[derive(Debug, Default)]
pub struct UnwindPoints {
    points: FxHashMap<u64, Kind>,
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
        for (names, kind) in [(JUMPS, Kind::Jump), (CATCHES, Kind::Catch)] {
            for name in names {
                for bound in program.modules.definitions(name, |_| true) {
                    let address = bound.address();
                    if bound.function.indirect || self.points.contains_key(&address) {
                        continue;
                    }
                    self.points.insert(address, kind);
                    program.debuggee.insert(address, Owner::Internal)?;
                }
            }
        }
        Ok(())
    }

    /// Forgets them: the process has another program now.
    pub fn clear(&mut self) {
        self.points.clear();
    }

    /// The stack pointer that a thread at such a function will have, or
    /// nothing when the address is not one of them.
    pub fn future_stack(
        &self,
        program: &Program,
        thread: ThreadId,
        address: u64,
    ) -> Result<Option<u64>, DebuggeeError> {
        let registers = *program.registers(thread)?;
        let below = registers.rsp.wrapping_add(8);
        Ok(match self.points.get(&address) {
            None => None,
            Some(Kind::Catch) => Some(below),
            Some(Kind::Jump) => {
                let place = registers.rdi.wrapping_add(STACK_IN_JUMP_BUFFER);
                let Ok(stored) = program.debuggee.read_u64(place) else {
                    return Ok(None);
                };
                let guard = program
                    .debuggee
                    .read_u64(registers.fs_base.wrapping_add(POINTER_GUARD))
                    .unwrap_or(0);
                let plain = stored.rotate_right(0x11) ^ guard;
                // musl stores it as it is. A jump goes up its own stack.
                [plain, stored].into_iter().find(|&stack| {
                    stack > registers.rsp && stack % 8 == 0 && program.mapping_of(stack).is_some()
                })
            }
        })
    }
}
