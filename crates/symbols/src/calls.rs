//! The calls in the code of a line.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind};

/// Where a call leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallTarget {
    /// To this address.
    Address(u64),
    /// To the address in the word at this address.
    Word(u64),
    /// To an address that is computed.
    Computed,
}

/// A call instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallInstruction {
    /// The address of the instruction.
    pub address: u64,
    /// Where it leads.
    pub target: CallTarget,
}

/// Returns the calls that a thread at `pc` may make before it leaves some code, by ascending
/// address. The code is given as pieces of an address and bytes.
pub fn calls_ahead(code: &[(u64, Vec<u8>)], pc: u64) -> Vec<CallInstruction> {
    let instructions: Vec<Instruction> = code
        .iter()
        .flat_map(|(at, bytes)| Decoder::with_ip(64, bytes, *at, DecoderOptions::NONE))
        .filter(|instruction| !instruction.is_invalid())
        .collect();
    let mut first = pc;
    // A loop leads back to what is before.
    while let Some(before) = earliest_jump(&instructions, code, first) {
        first = before;
    }
    let ahead = instructions.iter().filter(|it| it.ip() >= first);
    let mut calls: Vec<CallInstruction> = ahead.filter_map(call).collect();
    calls.sort_unstable_by_key(|call| call.address);
    calls.dedup();
    calls
}

/// Returns the earliest address of the code before `first` to which an instruction from
/// `first` on jumps.
fn earliest_jump(instructions: &[Instruction], code: &[(u64, Vec<u8>)], first: u64) -> Option<u64> {
    let is_inside = |target: &u64| {
        let mut pieces = code.iter();
        pieces.any(|(at, bytes)| (*at..at.saturating_add(bytes.len() as u64)).contains(target))
    };
    let jumps = instructions.iter().filter(|it| {
        it.ip() >= first
            && matches!(
                it.flow_control(),
                FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
            )
    });
    let targets = jumps.map(Instruction::near_branch_target);
    targets
        .filter(|target| *target < first && is_inside(target))
        .min()
}

fn call(instruction: &Instruction) -> Option<CallInstruction> {
    if instruction.mnemonic() != Mnemonic::Call {
        return None;
    }
    let target = match instruction.op0_kind() {
        OpKind::NearBranch64 => CallTarget::Address(instruction.near_branch_target()),
        _ if instruction.is_ip_rel_memory_operand() => {
            CallTarget::Word(instruction.ip_rel_memory_address())
        }
        _ => CallTarget::Computed,
    };
    Some(CallInstruction {
        address: instruction.ip(),
        target,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two calls, with a jump back from behind the second to before the first.
    fn code() -> Vec<(u64, Vec<u8>)> {
        let first = vec![0xe8, 0xfb, 0x0f, 0, 0, 0x90];
        // call *0x10(%rip); call *%rax; jmp
        let second = vec![0xff, 0x15, 0x10, 0, 0, 0, 0xff, 0xd0, 0xeb, 0x00];
        vec![(0x1000, first), (0x2000, second)]
    }

    fn addresses(code: &[(u64, Vec<u8>)], pc: u64) -> Vec<u64> {
        let calls = calls_ahead(code, pc).into_iter();
        calls.map(|call| call.address).collect()
    }

    #[test]
    fn calls_say_where_they_lead() {
        let calls = calls_ahead(&code(), 0x1000);
        let targets: Vec<_> = calls.iter().map(|call| call.target).collect();
        let expected = [
            CallTarget::Address(0x2000),
            CallTarget::Word(0x2016),
            CallTarget::Computed,
        ];
        assert_eq!(targets, expected);
    }

    #[test]
    fn what_lies_behind_is_ahead_only_in_a_loop() {
        let mut code = code();
        assert_eq!(addresses(&code, 0x1000), [0x1000, 0x2000, 0x2006]);
        assert_eq!(addresses(&code, 0x2000), [0x2000, 0x2006]);
        assert_eq!(addresses(&code, 0x2006), [0x2006]);
        // Back to the second call of this piece.
        code[1].1[9] = 0xfc;
        assert_eq!(addresses(&code, 0x2008), [0x2006]);
        // Out of the code: it does not come back.
        code[1].1[9] = 0x80;
        assert_eq!(addresses(&code, 0x2008), []);
        assert_eq!(addresses(&[], 0x1000), []);
    }
}
