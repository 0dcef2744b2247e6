//! Instructions that are missing in a window: a debugger that steps over a system call may be told one
//! instruction late, and a signal handler or a stop may let the thread run.

use crate::effects::{decode, effects};
use crate::location::Storage;
use crate::{Executed, INSTRUCTION_SIZE_MAX};
use iced_x86::{FlowControl, Instruction, Mnemonic};
use juror_arch::Registers;

/// The gap behind an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gap {
    None,
    /// One instruction, which writes the flags alone.
    Comparison,
    Any,
}

/// Returns what is missing between an instruction and the registers of the thread behind it.
pub(crate) fn gap_behind(executed: &Executed, after: &Registers) -> Gap {
    let instruction = decode(executed);
    let behind = after.instruction_pointer();
    if leads_to(&instruction, behind) {
        return Gap::None;
    }
    let is_call = instruction.mnemonic() == Mnemonic::Syscall;
    if is_call && is_comparison_behind(executed, &instruction, after) {
        Gap::Comparison
    } else {
        Gap::Any
    }
}

/// Returns whether an instruction may lead to an address.
fn leads_to(instruction: &Instruction, behind: u64) -> bool {
    let is_next = behind == instruction.next_ip();
    match instruction.flow_control() {
        _ if instruction.mnemonic() == Mnemonic::Syscall => is_next,
        FlowControl::Next => {
            // A repeated one stays.
            let repeats = instruction.has_rep_prefix() || instruction.has_repne_prefix();
            is_next || repeats && behind == instruction.ip()
        }
        FlowControl::ConditionalBranch => is_next || behind == instruction.near_branch_target(),
        FlowControl::UnconditionalBranch | FlowControl::Call => {
            behind == instruction.near_branch_target()
        }
        FlowControl::Return | FlowControl::IndirectBranch | FlowControl::IndirectCall => true,
        _ => is_next,
    }
}

/// Returns whether the thread stands behind the next instruction, and that only compares.
fn is_comparison_behind(executed: &Executed, call: &Instruction, after: &Registers) -> bool {
    let mut bytes = [0; INSTRUCTION_SIZE_MAX];
    let rest = executed.bytes.get(call.len()..).unwrap_or_default();
    for (to, from) in bytes.iter_mut().zip(rest) {
        *to = *from;
    }
    let mut registers = *after;
    registers.set_instruction_pointer(call.next_ip());
    let next = Executed {
        bytes,
        registers,
        stretch: executed.stretch,
    };
    let instruction = decode(&next);
    let effects = effects(&next, after);
    let mut writes = effects.writes.iter();
    !instruction.is_invalid()
        && instruction.flow_control() == FlowControl::Next
        && instruction.next_ip() == after.instruction_pointer()
        && !effects.is_barrier
        && writes.all(|write| write.to.storage == Storage::Flags)
}
