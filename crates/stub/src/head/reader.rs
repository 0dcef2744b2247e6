//! The instructions at a site, read one by one.

use super::{HeadInstruction, Immovable, Obstacle, Place, Relocation, Site, Text, twin};
use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic};

/// The length of an `endbr64`, in bytes.
const LANDING_LENGTH: u64 = 4;

/// Reads instructions from the site on.
pub(super) struct Reader<'a> {
    decoder: Decoder<'a>,
    code: Text<'a>,
    site: Site<'a>,
    /// The address of the jump.
    pub(super) jump: u64,
    pub(super) instructions: Vec<HeadInstruction>,
    /// Whether the last instruction passes the control to somewhere else.
    pub(super) ended: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(code: Text<'a>, site: Site<'a>) -> Self {
        Self {
            decoder: Decoder::with_ip(64, code.bytes, code.address, DecoderOptions::NONE),
            code,
            site,
            jump: code.address,
            instructions: Vec::new(),
            ended: false,
        }
    }

    /// Reads instructions of at least so many bytes.
    pub(super) fn read(&mut self, length: u64) -> Result<(), Obstacle> {
        let mut read = 0;
        while read < length {
            if !self.decoder.can_decode() {
                return Err(Obstacle::TooShort(read));
            }
            let instruction = self.decoder.decode();
            if instruction.is_invalid() {
                return Err(Obstacle::Undecodable(instruction.ip()));
            }
            if instruction.code() == Code::Endbr64 {
                // Only the first may stay: an indirect branch leads to any other.
                if instruction.ip() != self.site.address {
                    return Err(self.immovable(&instruction, Immovable::Unusual));
                }
                self.jump += LANDING_LENGTH;
                continue;
            }
            if self.ended && !is_padding(&instruction) {
                if self.site.place == Place::Entry {
                    return Err(Obstacle::TooShort(read));
                }
                // Only branches of the same function lead here: they meet a byte that
                // traps.
                self.ended = false;
            }
            self.push(&instruction)?;
            read += instruction.len() as u64;
            let is_call = self
                .instructions
                .last()
                .is_some_and(|it| it.relocation.is_call());
            if is_call && read < length {
                return Err(Obstacle::ReturnInside(instruction.ip()));
            }
        }
        Ok(())
    }

    fn push(&mut self, instruction: &Instruction) -> Result<(), Obstacle> {
        let bytes = self
            .code
            .part(instruction.ip(), instruction.next_ip())
            .ok_or(Obstacle::Undecodable(instruction.ip()))?
            .bytes;
        let offsets = self.decoder.get_constant_offsets(instruction);
        let relocation = if self.ended {
            // Padding is not reached.
            Relocation::Copy
        } else {
            twin::classify(instruction, bytes, &offsets)
                .map_err(|why| self.immovable(instruction, why))?
        };
        if relocation.is_call() && self.site.shadow_stack {
            return Err(self.immovable(instruction, Immovable::ShadowStack));
        }
        self.ended = self.ended || ends_control(instruction);
        self.instructions.push(HeadInstruction {
            address: instruction.ip(),
            bytes: bytes.to_vec(),
            relocation,
        });
        Ok(())
    }

    fn immovable(&self, instruction: &Instruction, why: Immovable) -> Obstacle {
        Obstacle::NotRelocatable {
            address: instruction.ip(),
            why,
        }
    }
}

/// Tells whether the control never reaches the next instruction.
fn ends_control(instruction: &Instruction) -> bool {
    matches!(
        instruction.flow_control(),
        FlowControl::UnconditionalBranch | FlowControl::IndirectBranch | FlowControl::Return
    ) || instruction.mnemonic() == Mnemonic::Ud2
}

/// Tells whether an instruction fills the space between functions.
fn is_padding(instruction: &Instruction) -> bool {
    matches!(instruction.mnemonic(), Mnemonic::Nop | Mnemonic::Int3)
}
