//! Instructions at other addresses.

use iced_x86::{BlockEncoder, BlockEncoderOptions, Instruction, InstructionBlock};

/// Returns the code of an instruction at another address.
pub(crate) fn copy(instruction: &Instruction, to: u64) -> Option<Vec<u8>> {
    let instructions = [*instruction];
    let block = InstructionBlock::new(&instructions, to);
    let encoded = BlockEncoder::encode(64, block, BlockEncoderOptions::NONE).ok()?;
    Some(encoded.code_buffer)
}
