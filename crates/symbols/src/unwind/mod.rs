//! From a frame to its caller: call frame information (DWARF 5, section 6.4)
//! from `.eh_frame` and `.debug_frame`, all registers.
//!
//! Register values and memory addresses are run-time ones; only `pc` is a
//! file address, by which the rules are found.

mod rules;
mod step;

pub(crate) use rules::FrameRules;

use crate::SymbolFile;
use crate::location::Memory;
use crate::location::register::{RBP, RIP, RSP};
use rules::EntryOffset;
use step::Step;
use thiserror::Error;

/// How many registers a frame has: 16 general ones and the program counter.
const REGISTER_COUNT: usize = 17;

/// The registers of a frame, by their DWARF numbers (see [`crate::register`]);
/// those that could not be recovered are absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Registers {
    values: [Option<u64>; REGISTER_COUNT],
}

impl Registers {
    /// The value of a register; `None` for others than the 17 of a frame.
    pub fn get(&self, number: u16) -> Option<u64> {
        self.values.get(usize::from(number)).copied().flatten()
    }

    /// Sets or forgets a register; others than the 17 of a frame are ignored.
    pub fn set(&mut self, number: u16, value: Option<u64>) {
        if let Some(place) = self.values.get_mut(usize::from(number)) {
            *place = value;
        }
    }
}

/// How a caller was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnwindMethod {
    /// By the rules that the compiler wrote for this address.
    Rules,
    /// By the chain of frame pointers, without rules: a good guess.
    FramePointer,
    /// At the first instruction of a function without rules.
    Entry,
    /// By the word on top of the stack, which leads behind a call: a good guess
    /// in code without rules that has no frame.
    StackTop,
}

/// A caller's frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unwound {
    /// The caller's registers. Its program counter is the return address:
    /// look up the address before it, unless `signal_frame`.
    pub registers: Registers,
    /// The addresses at which the frame keeps registers of its caller.
    pub saved: Registers,
    /// The canonical frame address of the frame that was unwound.
    pub cfa: u64,
    /// The frame that was unwound is the one that the kernel made for a signal
    /// handler: the caller was interrupted, and its program counter is exact.
    pub signal_frame: bool,
    /// How sure this is.
    pub method: UnwindMethod,
}

/// Why a caller cannot be found.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum UnwindError {
    /// There is none: the rules mark the outermost frame.
    #[error("this is the outermost frame")]
    Outermost,
    /// The file has no rules for this address and no frame pointer helps.
    #[error("no unwind information for {pc:#x}")]
    NoRules {
        /// The file address.
        pc: u64,
    },
    /// A register that a rule needs is not known.
    #[error("the value of {} is not known", crate::register_name(*register))]
    RegisterUnknown {
        /// Its DWARF number.
        register: u16,
    },
    /// Stack memory cannot be read.
    #[error("the stack at {address:#x} cannot be read")]
    Unreadable {
        /// The run-time address.
        address: u64,
    },
    /// The rules are damaged.
    #[error("the unwind information for {pc:#x} is damaged: {why}")]
    Damaged {
        /// The file address.
        pc: u64,
        /// What is wrong.
        why: String,
    },
}

impl SymbolFile {
    /// Finds the caller of the frame that executes at the file address `pc`: for
    /// any frame but the innermost and interrupted ones, the address before the
    /// return address.
    ///
    /// # Errors
    /// There is no caller, no rules for `pc`, or the stack cannot be read.
    pub fn unwind(
        &self,
        pc: u64,
        registers: &Registers,
        memory: &dyn Memory,
    ) -> Result<Unwound, UnwindError> {
        self.unwind_at(pc, registers, memory, false)
    }

    /// The same for the innermost frame and interrupted ones, of which `pc` is the
    /// instruction that comes next.
    ///
    /// # Errors
    /// As [`SymbolFile::unwind`].
    pub fn unwind_exact(
        &self,
        pc: u64,
        registers: &Registers,
        memory: &dyn Memory,
    ) -> Result<Unwound, UnwindError> {
        self.unwind_at(pc, registers, memory, true)
    }

    fn unwind_at(
        &self,
        pc: u64,
        registers: &Registers,
        memory: &dyn Memory,
        is_exact: bool,
    ) -> Result<Unwound, UnwindError> {
        let rules = self.inner.frame_rules();
        match rules.entry_at(pc) {
            Some(EntryOffset::EhFrame(offset)) => {
                let step = Step {
                    pc,
                    registers,
                    memory,
                    section: &rules.eh_frame,
                    bases: &rules.bases,
                };
                step.by_entry(gimli::EhFrameOffset(offset))
            }
            Some(EntryOffset::DebugFrame(offset)) => {
                let step = Step {
                    pc,
                    registers,
                    memory,
                    section: &rules.debug_frame,
                    bases: &rules.bases,
                };
                step.by_entry(gimli::DebugFrameOffset(offset))
            }
            None => self.unwind_without_rules(pc, registers, memory, is_exact),
        }
    }

    /// The canonical frame address of a frame that executes at the file address
    /// `pc`: what a register holds, by its DWARF number, and a distance. `None`
    /// where the rules compute it otherwise, or there are none.
    pub fn frame_address_at(&self, pc: u64) -> Option<(u16, i64)> {
        let rules = self.inner.frame_rules();
        match rules.entry_at(pc)? {
            EntryOffset::EhFrame(offset) => step::frame_address(
                &rules.eh_frame,
                &rules.bases,
                gimli::EhFrameOffset(offset),
                pc,
            ),
            EntryOffset::DebugFrame(offset) => step::frame_address(
                &rules.debug_frame,
                &rules.bases,
                gimli::DebugFrameOffset(offset),
                pc,
            ),
        }
    }

    /// Whether the file has unwind rules for a file address.
    pub fn has_unwind_rules(&self, pc: u64) -> bool {
        self.inner.frame_rules().entry_at(pc).is_some()
    }

    fn unwind_without_rules(
        &self,
        pc: u64,
        registers: &Registers,
        memory: &dyn Memory,
        is_exact: bool,
    ) -> Result<Unwound, UnwindError> {
        if self.function_with_low_pc(pc).is_some() {
            let stack = known(registers, RSP)?;
            let back = read_word(memory, stack)?;
            return Ok(without_frame(registers, stack, back, UnwindMethod::Entry));
        }
        let guessed = guess(pc, registers, memory, is_exact);
        // Nothing has called the code by which a program begins.
        let is_first = || {
            let first = self.function_at(self.header().entry);
            first.is_some_and(|first| first.contains(pc))
        };
        match guessed {
            Err(UnwindError::NoRules { .. }) if is_first() => Err(UnwindError::Outermost),
            guessed => guessed,
        }
    }
}

/// Finds the caller of a frame that executes code of no file, at the run-time address `pc`,
/// as [`SymbolFile::unwind_exact`] and [`SymbolFile::unwind`] do: a guess at the best, which
/// leads behind a call.
///
/// # Errors
/// No caller can be guessed, or the stack cannot be read.
pub fn unwind_without_file(
    pc: u64,
    registers: &Registers,
    memory: &dyn Memory,
    is_exact: bool,
) -> Result<Unwound, UnwindError> {
    let guessed = guess(pc, registers, memory, is_exact)?;
    let back = guessed.registers.get(RIP);
    match back.is_some_and(|back| follows_call(memory, back)) {
        true => Ok(guessed),
        false => Err(UnwindError::NoRules { pc }),
    }
}

fn known(registers: &Registers, register: u16) -> Result<u64, UnwindError> {
    let value = registers.get(register);
    value.ok_or(UnwindError::RegisterUnknown { register })
}

/// The caller of a frame that has nothing on the stack but where it returns to.
fn without_frame(registers: &Registers, stack: u64, back: u64, method: UnwindMethod) -> Unwound {
    let cfa = stack.wrapping_add(8);
    let mut caller = *registers;
    caller.set(RIP, Some(back));
    caller.set(RSP, Some(cfa));
    let mut saved = Registers::default();
    saved.set(RIP, Some(stack));
    Unwound {
        registers: caller,
        saved,
        cfa,
        signal_frame: false,
        method,
    }
}

/// The caller of a frame of which no rules are known: by the top of the stack, or by the
/// frame pointer.
fn guess(
    pc: u64,
    registers: &Registers,
    memory: &dyn Memory,
    is_exact: bool,
) -> Result<Unwound, UnwindError> {
    let stack = known(registers, RSP)?;
    // What is left on the stack of a frame that calls looks the same.
    if is_exact
        && let Ok(word) = read_word(memory, stack)
        && follows_call(memory, word)
    {
        return Ok(without_frame(
            registers,
            stack,
            word,
            UnwindMethod::StackTop,
        ));
    }
    let frame = known(registers, RBP)?;
    // A frame pointer leads up the stack, is aligned, and leads to a
    // return address.
    let usable = frame >= stack && frame % 8 == 0 && frame - stack < 1 << 24;
    if !usable {
        return Err(UnwindError::NoRules { pc });
    }
    let return_address = read_word(memory, frame.wrapping_add(8))?;
    if return_address == 0 {
        return Err(UnwindError::Outermost);
    }
    let cfa = frame.wrapping_add(16);
    let mut caller = Registers::default();
    caller.set(RIP, Some(return_address));
    caller.set(RSP, Some(cfa));
    caller.set(RBP, Some(read_word(memory, frame)?));
    let mut saved = Registers::default();
    saved.set(RIP, Some(frame.wrapping_add(8)));
    saved.set(RBP, Some(frame));
    Ok(Unwound {
        registers: caller,
        saved,
        cfa,
        signal_frame: false,
        method: UnwindMethod::FramePointer,
    })
}

/// Whether the instruction before an address is a call: of a distance, or through a
/// register or memory (Intel SDM, volume 2A, CALL).
fn follows_call(memory: &dyn Memory, address: u64) -> bool {
    /// Of the longest, but for prefixes, which say nothing here.
    const LENGTH_MAX: usize = 7;
    let mut bytes = [0; LENGTH_MAX];
    if !memory.read(address.wrapping_sub(LENGTH_MAX as u64), &mut bytes) {
        return false;
    }
    let is_near = bytes[LENGTH_MAX - 5] == 0xe8;
    is_near
        || (2..=LENGTH_MAX).any(|length| {
            let call = &bytes[LENGTH_MAX - length..];
            call[0] == 0xff && indirect_length(call) == Some(length)
        })
}

/// The length of `call` through a register or memory, by its second byte and the
/// one behind it; none where it is another instruction.
fn indirect_length(call: &[u8]) -> Option<usize> {
    let modes = *call.get(1)?;
    if modes >> 3 & 7 != 2 {
        return None;
    }
    let (mode, place) = (modes >> 6, modes & 7);
    if mode == 3 {
        return Some(2);
    }
    let with_index = usize::from(place == 4);
    let is_distance_alone = match place {
        4 => mode == 0 && call.get(2)? & 7 == 5,
        5 => mode == 0,
        _ => false,
    };
    let distance = match mode {
        _ if is_distance_alone => 4,
        0 => 0,
        1 => 1,
        _ => 4,
    };
    Some(2 + with_index + distance)
}

fn read_word(memory: &dyn Memory, address: u64) -> Result<u64, UnwindError> {
    let mut bytes = [0; 8];
    if !memory.read(address, &mut bytes) {
        return Err(UnwindError::Unreadable { address });
    }
    Ok(u64::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that end at an address.
    struct Before(u64, &'static [u8]);

    impl Memory for Before {
        fn read(&self, address: u64, bytes: &mut [u8]) -> bool {
            bytes.fill(0x90);
            let start = self.0 - self.1.len() as u64;
            for (at, byte) in (address..).zip(bytes) {
                let known = at.checked_sub(start).and_then(|at| self.1.get(at as usize));
                *byte = known.copied().unwrap_or(*byte);
            }
            true
        }
    }

    #[test]
    fn a_return_address_follows_a_call() {
        let calls: [&[u8]; 12] = [
            &[0xe8, 1, 2, 3, 4],
            &[0xff, 0xd0],
            &[0x41, 0xff, 0xd3],
            &[0xff, 0x10],
            &[0xff, 0x50, 8],
            &[0xff, 0x90, 1, 2, 3, 4],
            &[0xff, 0x14, 0x24],
            &[0xff, 0x54, 0x24, 8],
            &[0xff, 0x15, 1, 2, 3, 4],
            &[0xff, 0x14, 0x25, 1, 2, 3, 4],
            &[0xff, 0x94, 0x24, 1, 2, 3, 4],
            &[0x41, 0xff, 0x94, 0x24, 1, 2, 3, 4],
        ];
        for call in calls {
            assert!(follows_call(&Before(0x1000, call), 0x1000), "{call:x?}");
        }
        let others: [&[u8]; 5] = [
            &[],
            &[0xff, 0xe0],
            &[0xff, 0x50],
            &[0xff, 0xc0],
            &[0xe8, 1, 2, 3],
        ];
        for other in others {
            assert!(!follows_call(&Before(0x1000, other), 0x1000), "{other:x?}");
        }
    }
}
