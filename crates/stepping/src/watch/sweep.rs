//! Finds the instruction that ends where another one begins.
//!
//! A debug register traps after the access, and instructions cannot be decoded
//! backwards; so they are decoded forwards from the start of one.

use iced_x86::{Decoder, DecoderOptions};

/// Returns the address of the last instruction of `bytes`, which begin with an
/// instruction at `start` and end where the next one begins; none if they do
/// not, as where data lies between code.
pub fn last_instruction(bytes: &[u8], start: u64) -> Option<u64> {
    let mut decoder = Decoder::with_ip(64, bytes, start, DecoderOptions::NONE);
    let end = start.wrapping_add(bytes.len() as u64);
    let mut last = None;
    while decoder.can_decode() {
        let instruction = decoder.decode();
        if instruction.is_invalid() {
            return None;
        }
        last = (instruction.next_ip() == end).then(|| instruction.ip());
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_instruction_ends_with_the_bytes() {
        // push rbp; mov rbp, rsp; mov dword [rax], 1
        let code = [0x55, 0x48, 0x89, 0xe5, 0xc7, 0, 1, 0, 0, 0];
        assert_eq!(last_instruction(&code, 0x1000), Some(0x1004));
        assert_eq!(last_instruction(&code[..4], 0x1000), Some(0x1001));
        assert_eq!(last_instruction(&code[..1], 0x1000), Some(0x1000));
        assert_eq!(last_instruction(&code[..6], 0x1000), None);
        assert_eq!(last_instruction(&[], 0x1000), None);
    }
}
