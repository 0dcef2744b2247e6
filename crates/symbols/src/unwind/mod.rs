//! Unwinding from a frame to its caller, with all registers: call frame information (DWARF
//! 5, section 6.4) from `.eh_frame` and `.debug_frame`.
//!
//! Register values and memory addresses are run-time ones; only `pc`, which selects the
//! rules, is a file address.

mod rules;
mod step;

use juror_arch::abi;
pub(crate) use rules::FrameRules;

use crate::SymbolFile;
use crate::location::Memory;
use juror_arch::dwarf::{self, FRAME_POINTER, INSTRUCTION_POINTER, STACK_POINTER, UNWOUND_COUNT};
use rules::EntryOffset;
use std::ops::Range;
use step::Step;
use thiserror::Error;

/// The registers of a frame, by DWARF number (see [`juror_arch::dwarf`]). Those that could
/// not be recovered are absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Registers {
    values: [Option<u64>; UNWOUND_COUNT],
}

impl Registers {
    /// Returns the value of a register; `None` for registers other than the 17.
    pub fn get(&self, number: u16) -> Option<u64> {
        self.values.get(usize::from(number)).copied().flatten()
    }

    /// Sets or clears a register; registers other than the 17 are ignored.
    pub fn set(&mut self, number: u16, value: Option<u64>) {
        if let Some(place) = self.values.get_mut(usize::from(number)) {
            *place = value;
        }
    }
}

/// The method by which a caller was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnwindMethod {
    /// The CFI rules for this address.
    Rules,
    /// The chain of frame pointers, without rules: a good guess.
    FramePointer,
    /// The first instruction of a function without rules.
    Entry,
    /// The word on top of the stack, which is a return address: a good guess in code
    /// without rules and without a frame.
    StackTop,
}

/// A caller's frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unwound {
    /// The caller's registers. The program counter is the return address; for lookups
    /// subtract one, unless `signal_frame`.
    pub registers: Registers,
    /// The addresses at which the frame saves the caller's registers.
    pub saved: Registers,
    /// The canonical frame address (CFA) of the unwound frame.
    pub cfa: u64,
    /// Whether the unwound frame is a signal frame of the kernel: the caller was
    /// interrupted, and its program counter is exact.
    pub signal_frame: bool,
    /// The method, which implies the reliability.
    pub method: UnwindMethod,
}

/// The reason why a caller cannot be found.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum UnwindError {
    /// The rules mark the outermost frame.
    #[error("this is the outermost frame")]
    Outermost,
    /// The file has no rules for this address, and no frame pointer helps.
    #[error("no unwind information for {pc:#x}")]
    NoRules {
        /// The file address.
        pc: u64,
    },
    /// A register that a rule needs is unknown.
    #[error("the value of {} is not known", dwarf::name(*register))]
    RegisterUnknown {
        /// The DWARF number.
        register: u16,
    },
    /// Stack memory is unreadable.
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
        /// The damage.
        why: String,
    },
}

impl SymbolFile {
    /// Finds the caller of the frame that executes at the file address `pc`: the return
    /// address minus one for any frame other than the innermost and interrupted ones.
    ///
    /// # Errors
    /// The frame is the outermost, `pc` has no rules, or the stack is unreadable.
    pub fn unwind(
        &self,
        pc: u64,
        registers: &Registers,
        memory: &dyn Memory,
    ) -> Result<Unwound, UnwindError> {
        self.unwind_at(pc, registers, memory, false)
    }

    /// Finds the caller of the innermost frame or an interrupted one, for which `pc` is the
    /// next instruction to execute.
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

    /// Returns the canonical frame address of a frame that executes at the file address
    /// `pc`, as the DWARF number of a register and an offset in bytes. `None` if the rules
    /// compute it otherwise, or there are none.
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

    /// Returns the range of file addresses that one entry of the CFI describes and that
    /// holds `pc`: a function, or a part of one that is placed by itself.
    pub fn unwind_range_at(&self, pc: u64) -> Option<Range<u64>> {
        self.inner.frame_rules().range_at(pc)
    }

    /// Returns the ranges of file addresses that the entries of the CFI describe, by ascending start:
    /// functions, and parts of them, also of a file that was stripped of its symbols.
    pub fn unwind_ranges(&self) -> impl Iterator<Item = &Range<u64>> {
        self.inner.frame_rules().ranges()
    }

    /// Returns whether the file has CFI rules for a file address.
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
            let stack = known(registers, STACK_POINTER)?;
            let back = read_word(memory, stack)?;
            return Ok(without_frame(registers, stack, back, UnwindMethod::Entry));
        }
        let guessed = guess(pc, registers, memory, is_exact);
        // The entry point of a program has no caller.
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

/// Finds the caller of a frame that executes code of no file, at the run-time address `pc`:
/// as [`SymbolFile::unwind_exact`] if `is_exact`, otherwise as [`SymbolFile::unwind`]. The
/// result is a guess, whose program counter follows a call instruction.
///
/// # Errors
/// No caller can be guessed, or the stack is unreadable.
pub fn unwind_without_file(
    pc: u64,
    registers: &Registers,
    memory: &dyn Memory,
    is_exact: bool,
) -> Result<Unwound, UnwindError> {
    let guessed = guess(pc, registers, memory, is_exact)?;
    let back = guessed.registers.get(INSTRUCTION_POINTER);
    if back.is_some_and(|back| follows_call(memory, back)) {
        Ok(guessed)
    } else {
        Err(UnwindError::NoRules { pc })
    }
}

fn known(registers: &Registers, register: u16) -> Result<u64, UnwindError> {
    let value = registers.get(register);
    value.ok_or(UnwindError::RegisterUnknown { register })
}

/// Returns the caller of a frame that has only a return address on the stack.
fn without_frame(registers: &Registers, stack: u64, back: u64, method: UnwindMethod) -> Unwound {
    let cfa = abi::frame_at_entry(stack);
    let mut caller = *registers;
    caller.set(INSTRUCTION_POINTER, Some(back));
    caller.set(STACK_POINTER, Some(cfa));
    let mut saved = Registers::default();
    saved.set(INSTRUCTION_POINTER, Some(stack));
    Unwound {
        registers: caller,
        saved,
        cfa,
        signal_frame: false,
        method,
    }
}

/// Guesses the caller of a frame without rules from the top of the stack or the frame
/// pointer.
fn guess(
    pc: u64,
    registers: &Registers,
    memory: &dyn Memory,
    is_exact: bool,
) -> Result<Unwound, UnwindError> {
    let stack = known(registers, STACK_POINTER)?;
    // Left-over data on the stack of a frame that makes calls looks the same.
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
    let frame = known(registers, FRAME_POINTER)?;
    // A frame pointer points up the stack, is aligned, and has a return address next to it.
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
    caller.set(INSTRUCTION_POINTER, Some(return_address));
    caller.set(STACK_POINTER, Some(cfa));
    caller.set(FRAME_POINTER, Some(read_word(memory, frame)?));
    let mut saved = Registers::default();
    saved.set(INSTRUCTION_POINTER, Some(frame.wrapping_add(8)));
    saved.set(FRAME_POINTER, Some(frame));
    Ok(Unwound {
        registers: caller,
        saved,
        cfa,
        signal_frame: false,
        method: UnwindMethod::FramePointer,
    })
}

/// Returns whether the instruction before an address is a near call: relative, or through a
/// register or memory (Intel SDM, volume 2A, CALL).
fn follows_call(memory: &dyn Memory, address: u64) -> bool {
    /// The maximum length in bytes; prefixes are irrelevant.
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

/// Returns the length in bytes of an indirect `call` by its second and third byte; `None`
/// for another instruction.
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

    /// Memory that consists of the given bytes, which end at an address.
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
