//! The effect of an instruction on the flow of control, for stepping by source.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Mnemonic};

/// How an instruction continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// It calls, and returns to this address.
    Call {
        /// The address of the instruction after it.
        back: u64,
    },
    /// It returns to the caller.
    Return,
    /// It continues with the next instruction, or jumps.
    Other,
}

/// Returns the flow of the instruction that starts these bytes at `address`.
pub fn flow_of(bytes: &[u8], address: u64) -> Flow {
    let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
    let instruction = decoder.decode();
    match instruction.flow_control() {
        // The decoder counts system calls as calls; they enter no function.
        FlowControl::Call | FlowControl::IndirectCall
            if instruction.mnemonic() == Mnemonic::Call =>
        {
            Flow::Call {
                back: instruction.next_ip(),
            }
        }
        FlowControl::Return => Flow::Return,
        _ => Flow::Other,
    }
}

/// Returns the length in bytes of the instruction that starts these bytes; none
/// if they are no instruction, or not all of it.
pub fn instruction_length(bytes: &[u8]) -> Option<usize> {
    let mut decoder = Decoder::new(64, bytes, DecoderOptions::NONE);
    let instruction = decoder.decode();
    (!instruction.is_invalid()).then(|| instruction.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_returns_are_told_apart() {
        for (bytes, expected) in [
            (&[0xe8, 0, 0, 0, 0][..], Flow::Call { back: 0x1005 }),
            (&[0xff, 0xd0], Flow::Call { back: 0x1002 }),
            (&[0xc3], Flow::Return),
            (&[0x90], Flow::Other),
            (&[0xeb, 0xfe], Flow::Other),
            (&[0x0f, 0x05], Flow::Other),
            (&[], Flow::Other),
        ] {
            assert_eq!(flow_of(bytes, 0x1000), expected, "{bytes:x?}");
        }
    }

    #[test]
    fn instructions_have_lengths() {
        for (bytes, expected) in [
            (&[0x90, 0x90][..], Some(1)),
            (&[0xf3, 0x0f, 0x1e, 0xfa], Some(4)),
            (&[0x48, 0x89], None),
            (&[0x06], None),
            (&[], None),
        ] {
            assert_eq!(instruction_length(bytes), expected, "{bytes:x?}");
        }
    }
}
