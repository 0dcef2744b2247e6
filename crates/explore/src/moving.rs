//! Instructions at other addresses.

use iced_x86::{BlockEncoder, BlockEncoderOptions, Instruction, InstructionBlock};

/// Returns the code of an instruction at another address.
pub(crate) fn copy(instruction: &Instruction, to: u64) -> Option<Vec<u8>> {
    if instruction.is_call_near() {
        return Some(copy_of_call(instruction));
    }
    let instructions = [*instruction];
    let block = InstructionBlock::new(&instructions, to);
    let encoded = BlockEncoder::encode(64, block, BlockEncoderOptions::NONE).ok()?;
    Some(encoded.code_buffer)
}

/// Returns code that calls as an instruction does, and lets the callee return behind that.
fn copy_of_call(instruction: &Instruction) -> Vec<u8> {
    let returns_to = instruction.next_ip();
    // lea rsp, [rsp-8]; mov dword [rsp], …; mov dword [rsp+4], …: no flag changes.
    let mut code = vec![0x48, 0x8d, 0x64, 0x24, 0xf8, 0xc7, 0x04, 0x24];
    code.extend((returns_to as u32).to_le_bytes());
    code.extend([0xc7, 0x44, 0x24, 0x04]);
    code.extend(((returns_to >> 32) as u32).to_le_bytes());
    // jmp [rip]
    code.extend([0xff, 0x25, 0, 0, 0, 0]);
    code.extend(instruction.near_branch_target().to_le_bytes());
    code
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::{Decoder, DecoderOptions, Mnemonic};

    #[test]
    fn a_call_is_moved() {
        // call 0x2005
        let code = [0xe8, 0x00, 0x10, 0x00, 0x00];
        let call = Decoder::with_ip(64, &code, 0x1_0000_1000, DecoderOptions::NONE).decode();
        let copy = copy(&call, 0x5000).unwrap();
        let decoder = Decoder::with_ip(64, &copy, 0x5000, DecoderOptions::NONE);
        let instructions: Vec<Instruction> = decoder.into_iter().take(4).collect();
        let mnemonics: Vec<_> = instructions.iter().map(Instruction::mnemonic).collect();
        use Mnemonic::{Jmp, Lea, Mov};
        assert_eq!(mnemonics, [Lea, Mov, Mov, Jmp]);
        assert_eq!(instructions[1].immediate32(), 0x1005);
        assert_eq!(instructions[2].immediate32(), 1);
        assert_eq!(copy[copy.len() - 8..], 0x1_0000_2005_u64.to_le_bytes());
    }
}
