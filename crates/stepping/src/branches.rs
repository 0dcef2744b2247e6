//! Branches of a piece of code: where control comes from elsewhere, and where it calls.

use crate::AccessState;
use crate::watch::value_of;
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, OpKind};
use std::ops::Range;

/// The branches in a piece of code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Branches {
    /// The jumps within the code, from and to.
    pub jumps: Vec<(u64, u64)>,
    /// The addresses of the calls, and of the jumps that may lead out of the code: a function may end
    /// by one to another function.
    pub calls: Vec<u64>,
}

/// A call of a function, or a jump to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Callee {
    /// The address where the function begins.
    pub address: u64,
    /// Whether it is reached by a jump, and so returns to the caller of the function that jumps.
    pub is_jumped_to: bool,
}

/// Returns the branches of code, given as ranges with their bytes. The instructions of a range behind
/// bytes that are no instruction are left out.
pub fn branches(code: &[(Range<u64>, Vec<u8>)]) -> Branches {
    let is_inside = |address: u64| code.iter().any(|(range, _)| range.contains(&address));
    let mut found = Branches::default();
    for (range, bytes) in code {
        let decoder = Decoder::with_ip(64, bytes, range.start, DecoderOptions::NONE);
        for instruction in decoder.into_iter().take_while(|it| !it.is_invalid()) {
            match instruction.flow_control() {
                FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
                    if is_inside(instruction.near_branch_target()) =>
                {
                    let jump = (instruction.ip(), instruction.near_branch_target());
                    found.jumps.push(jump);
                }
                FlowControl::Call | FlowControl::IndirectCall if is_call(&instruction) => {
                    found.calls.push(instruction.ip());
                }
                FlowControl::UnconditionalBranch
                | FlowControl::ConditionalBranch
                | FlowControl::IndirectBranch => found.calls.push(instruction.ip()),
                _ => {}
            }
        }
    }
    found
}

/// Returns the function that an instruction calls or jumps to with these registers; none if it does
/// neither, or the address cannot be read. `read` reads a word of memory.
pub fn callee_of(
    bytes: &[u8],
    address: u64,
    state: &AccessState,
    read: impl Fn(u64) -> Option<u64>,
) -> Option<Callee> {
    let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
    let instruction = decoder.decode();
    let is_jumped_to = match instruction.flow_control() {
        FlowControl::Call | FlowControl::IndirectCall if is_call(&instruction) => false,
        FlowControl::UnconditionalBranch
        | FlowControl::ConditionalBranch
        | FlowControl::IndirectBranch => true,
        _ => return None,
    };
    let address = match instruction.op0_kind() {
        OpKind::NearBranch64 => instruction.near_branch_target(),
        OpKind::Register => value_of(instruction.op0_register(), state)?,
        OpKind::Memory => {
            let place = instruction.virtual_address(0, 0, |it, _, _| value_of(it, state))?;
            read(place)?
        }
        _ => return None,
    };
    Some(Callee {
        address,
        is_jumped_to,
    })
}

/// The decoder counts system calls as calls; they enter no function.
fn is_call(instruction: &Instruction) -> bool {
    instruction.mnemonic() == iced_x86::Mnemonic::Call
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(bytes: &[u8]) -> Vec<(Range<u64>, Vec<u8>)> {
        vec![(0x10..0x10 + bytes.len() as u64, bytes.to_vec())]
    }

    #[test]
    fn jumps_and_calls_are_told_apart() {
        // jne 0x10; call 0x117; syscall; jmp 0x200; jmp rax
        let bytes = [
            0x75, 0xfe, 0xe8, 0, 1, 0, 0, 0x0f, 0x05, 0xe9, 0xe2, 1, 0, 0, 0xff, 0xe0,
        ];
        let expected = Branches {
            jumps: vec![(0x10, 0x10)],
            calls: vec![0x12, 0x19, 0x1e],
        };
        assert_eq!(branches(&code(&bytes)), expected);
        // Bytes that are no instruction end the code.
        assert_eq!(branches(&code(&[0x06, 0x75, 0xfe])), Branches::default());
    }

    #[test]
    fn the_callee_is_read_from_where_the_instruction_has_it() {
        let mut state = AccessState::default();
        state.general[0] = 0x4000;
        let read = |at: u64| (at == 0x4010).then_some(0x5000);
        let at = |bytes: &[u8]| callee_of(bytes, 0x10, &state, read);
        let callee = |address, is_jumped_to| {
            Some(Callee {
                address,
                is_jumped_to,
            })
        };
        assert_eq!(at(&[0xe8, 0, 1, 0, 0]), callee(0x115, false));
        assert_eq!(at(&[0xff, 0xd0]), callee(0x4000, false));
        assert_eq!(at(&[0xff, 0x50, 0x10]), callee(0x5000, false));
        assert_eq!(at(&[0xff, 0x50, 0x20]), None);
        assert_eq!(at(&[0xff, 0xe0]), callee(0x4000, true));
        assert_eq!(at(&[0x0f, 0x05]), None);
        assert_eq!(at(&[0x90]), None);
    }
}
