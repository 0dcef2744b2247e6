//! Functions that consist of one jump: gcc makes one of a function whose code another has.

use super::{ElfFile, Symbol, SymbolKind};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind};
use rustc_hash::FxHashMap;

/// The largest size in bytes of a function that only jumps: `endbr64`, a jump and padding.
const JUMP_SIZE_MAX: u64 = 16;

/// The functions that consist of one jump, by its target.
pub(crate) type LoneJumps = FxHashMap<u64, Vec<u64>>;

/// Reads the functions that consist of one jump.
pub(crate) fn read_lone_jumps(elf: &ElfFile, functions: &[Symbol]) -> LoneJumps {
    let mut found = LoneJumps::default();
    let small = functions
        .iter()
        .filter(|it| (1..=JUMP_SIZE_MAX).contains(&it.size));
    for symbol in small.filter(|it| it.kind == SymbolKind::Function) {
        let bytes = elf
            .bytes_at(symbol.address, symbol.size)
            .unwrap_or_default();
        if let Some(target) = only_jump(symbol.address, &bytes) {
            let jumps = found.entry(target).or_default();
            if jumps.last() != Some(&symbol.address) {
                jumps.push(symbol.address);
            }
        }
    }
    found
}

/// Returns the target of the jump that code begins with.
fn only_jump(address: u64, code: &[u8]) -> Option<u64> {
    let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    let mut instruction = Instruction::default();
    decoder.decode_out(&mut instruction);
    if instruction.mnemonic() == Mnemonic::Endbr64 {
        decoder.decode_out(&mut instruction);
    }
    let is_jump = instruction.flow_control() == FlowControl::UnconditionalBranch
        && instruction.op0_kind() == OpKind::NearBranch64;
    let target = instruction.near_branch_target();
    let is_outside = !(address..address + code.len() as u64).contains(&target);
    (is_jump && is_outside).then_some(target)
}

#[cfg(test)]
mod tests {
    use super::only_jump;

    #[test]
    fn a_function_that_only_jumps_leads_elsewhere() {
        for (code, expected) in [
            (&[0xe9, 0xfb, 0x0f, 0, 0][..], Some(0x2000)),
            (&[0xf3, 0x0f, 0x1e, 0xfa, 0xeb, 0x7a], Some(0x1080)),
            (&[0xeb, 0xfe], None),
            (&[0x90, 0xeb, 0x7a], None),
            (&[0xff, 0xe0], None),
            (&[], None),
        ] {
            assert_eq!(only_jump(0x1000, code), expected, "{code:x?}");
        }
    }
}
