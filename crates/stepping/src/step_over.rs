//! The step-over method that an instruction allows: pure analysis, done once
//! when a site is set.
//!
//! The order of preference is that of [`StepOver`]: emulate an instruction that
//! changes only the program counter (and for a direct call the stack), copy one
//! that runs the same elsewhere, and leave the rest to a step in place. The
//! idea of running the displaced instruction elsewhere is P. Kessler's, *Fast
//! Breakpoints: Design and Implementation* (PLDI 1990).
//!
//! Invariant: a method is only chosen if the debuggee cannot distinguish it
//! from its own instruction by its registers, flags, memory and stack, nor by
//! the faults of fetching it: an instruction that begins on one page and ends
//! on another is stepped in place, since the second page may be unmapped while
//! the first one stays. The x87 instruction pointer, which records the address
//! of a floating-point instruction, is the known exception.

use crate::StepOver;
use crate::out_of_line::{OutOfLineCode, relocate};
use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic};

/// Length of a page of memory in bytes.
const PAGE_LENGTH: u64 = 4096;

/// The step-over method for the instruction at a site, and the code that it
/// needs in the debuggee.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedStepOver {
    /// The method.
    pub step_over: StepOver,
    /// The code of [`StepOver::OutOfLine`], to be written to its slot before
    /// the site is inserted.
    pub code: Option<OutOfLineCode>,
    /// The length of the instruction in bytes; 0 if the bytes do not begin with
    /// an instruction.
    pub length: usize,
}

/// Chooses the step-over method for the instruction that starts `bytes`.
///
/// `bytes` are the original bytes at `address`, 15 if that many are mapped.
/// `slot` is the address of room for a copy of up to
/// [`OUT_OF_LINE_LENGTH_MAX`](crate::OUT_OF_LINE_LENGTH_MAX) bytes. Without a
/// slot, or with one farther than 2 GiB from a variable that the instruction
/// addresses relative to itself, an instruction that needs a copy is stepped in
/// place.
pub fn plan_step_over(bytes: &[u8], address: u64, slot: Option<u64>) -> PlannedStepOver {
    let stepped = |step_over, length| PlannedStepOver {
        step_over,
        code: None,
        length,
    };
    let Ok(mut decoder) = Decoder::try_with_ip(64, bytes, address, DecoderOptions::NONE) else {
        return stepped(StepOver::InPlace, 0);
    };
    let instruction = decoder.decode();
    if instruction.is_invalid() {
        return stepped(StepOver::InPlace, 0);
    }
    let length = instruction.len();
    let Some(original) = bytes.get(..length) else {
        return stepped(StepOver::InPlace, 0);
    };
    let code = match choose_method(&instruction, original) {
        // An instruction that may wait for other threads must not be stepped
        // while they are held.
        _ if crosses_pages(&instruction) && !is_system_call(&instruction) => None,
        Method::Emulate(step_over) => return stepped(step_over, length),
        Method::InPlace => None,
        Method::OutOfLine => {
            let offsets = decoder.get_constant_offsets(&instruction);
            slot.and_then(|slot| relocate(&instruction, original, &offsets, slot))
        }
    };
    match code {
        Some(code) => PlannedStepOver {
            step_over: StepOver::OutOfLine { at: code.at },
            code: Some(code),
            length,
        },
        None if is_repeated(&instruction) => stepped(StepOver::InPlaceRepeated, length),
        None => stepped(StepOver::InPlace, length),
    }
}

/// Returns true if an instruction begins on one page and ends on another.
fn crosses_pages(instruction: &Instruction) -> bool {
    let last = instruction.next_ip().wrapping_sub(1);
    instruction.ip() / PAGE_LENGTH != last / PAGE_LENGTH
}

fn is_system_call(instruction: &Instruction) -> bool {
    instruction.code() == Code::Syscall
        || instruction.code() == Code::Int_imm8 && instruction.immediate8() == 0x80
}

/// Returns true if the instruction may have to continue after a single step.
fn is_repeated(instruction: &Instruction) -> bool {
    instruction.is_string_instruction()
        && (instruction.has_rep_prefix() || instruction.has_repne_prefix())
}

/// The best method that the kind of an instruction allows.
enum Method {
    Emulate(StepOver),
    OutOfLine,
    InPlace,
}

fn choose_method(instruction: &Instruction, bytes: &[u8]) -> Method {
    // Processors disagree on what the operand-size prefix does to a relative
    // branch; the one that runs the program knows.
    let doubtful_branch =
        is_relative_branch(instruction) && has_operand_size_prefix(instruction, bytes);
    let to = instruction.near_branch_target();
    match instruction.flow_control() {
        _ if doubtful_branch => Method::InPlace,
        FlowControl::Next => choose_plain_method(instruction),
        FlowControl::UnconditionalBranch => Method::Emulate(StepOver::Skip { to }),
        FlowControl::Call if is_relative_branch(instruction) => Method::Emulate(StepOver::Call {
            to,
            back: instruction.next_ip(),
        }),
        FlowControl::ConditionalBranch => Method::OutOfLine,
        // These take the program counter from the stack or a register, where
        // it is the original one.
        FlowControl::Return | FlowControl::IndirectBranch => Method::OutOfLine,
        // A system call may block until another thread acts, so the others
        // must not be held for it: a step in place could wait for ever.
        _ if is_system_call(instruction) => Method::OutOfLine,
        // An indirect call pushes its own return address. A sequence that
        // pushes the original one would show a stack half-built when it
        // faults, as calls through wild pointers do. Program traps (`int3`, `int1`, `int n`, `ud2`) raise signals that
        // contain the address of the instruction. `sysenter` and its kin return
        // elsewhere. A transaction's abort address is relative, and a trap has
        // aborted it already.
        _ => Method::InPlace,
    }
}

/// Returns the method for an instruction after which the next one runs.
fn choose_plain_method(instruction: &Instruction) -> Method {
    match instruction.mnemonic() {
        Mnemonic::Nop | Mnemonic::Endbr64 | Mnemonic::Endbr32 | Mnemonic::Pause => {
            Method::Emulate(StepOver::Skip {
                to: instruction.next_ip(),
            })
        }
        // Privileged: it only ever faults.
        Mnemonic::Hlt => Method::InPlace,
        _ => Method::OutOfLine,
    }
}

fn is_relative_branch(instruction: &Instruction) -> bool {
    instruction.is_jcc_short_or_near()
        || instruction.is_jmp_short_or_near()
        || instruction.is_call_near()
        || instruction.is_loop()
        || instruction.is_loopcc()
        || instruction.is_jcx_short()
}

/// Returns true if 66 is among the prefixes of a relative branch, whose opcode
/// is one byte, or two beginning with 0F.
fn has_operand_size_prefix(instruction: &Instruction, bytes: &[u8]) -> bool {
    let near_jcc = instruction.is_jcc_near();
    let is_opcode = |byte: u8| if near_jcc { byte == 0x0f } else { byte >= 0x70 };
    let prefixes = bytes
        .iter()
        .take_while(|byte| !is_opcode(**byte) || is_repeat_prefix(**byte));
    prefixes.into_iter().any(|byte| *byte == 0x66)
}

fn is_repeat_prefix(byte: u8) -> bool {
    matches!(byte, 0xf0 | 0xf2 | 0xf3)
}

#[cfg(test)]
mod tests;
