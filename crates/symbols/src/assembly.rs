//! Instructions as text, in Intel notation.
//!
//! Symbol names are appended to addresses and never replace them, so that the text can be
//! typed back.

use iced_x86::{Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter, OpKind};

/// An instruction as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assembly {
    /// The address.
    pub address: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The text; `(bad)` for an invalid byte.
    pub text: String,
}

/// Disassembles the instructions that begin in `bytes`, located at `address`. An
/// instruction cut off at the end is omitted. `name_of` returns the symbol name of an
/// address.
pub fn disassemble(
    bytes: &[u8],
    address: u64,
    name_of: &dyn Fn(u64) -> Option<String>,
) -> Vec<Assembly> {
    let mut formatter = formatter();
    let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
    let mut instruction = Instruction::default();
    let mut found = Vec::new();
    while decoder.can_decode() {
        let start = decoder.position();
        let at = decoder.ip();
        decoder.decode_out(&mut instruction);
        if decoder.last_error() == iced_x86::DecoderError::NoMoreBytes {
            break;
        }
        let mut text = String::new();
        if instruction.is_invalid() {
            // The next byte may begin a valid instruction.
            let _ = decoder.set_position(start + 1);
            decoder.set_ip(at.wrapping_add(1));
            text.push_str("(bad)");
        } else {
            formatter.format(&instruction, &mut text);
            text.push_str(&remark(&instruction, name_of));
        }
        let bytes = bytes.get(start..decoder.position()).unwrap_or(&[]).to_vec();
        found.push(Assembly {
            address: at,
            bytes,
            text,
        });
    }
    found
}

fn formatter() -> IntelFormatter {
    let mut formatter = IntelFormatter::new();
    let options = formatter.options_mut();
    options.set_uppercase_all(false);
    options.set_uppercase_hex(false);
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_space_after_operand_separator(true);
    options.set_small_hex_numbers_in_decimal(true);
    options.set_branch_leading_zeros(false);
    options.set_show_branch_size(false);
    options.set_rip_relative_addresses(true);
    formatter
}

/// Returns the comment for the branch target or the RIP-relative operand of an instruction.
fn remark(instruction: &Instruction, name_of: &dyn Fn(u64) -> Option<String>) -> String {
    if instruction.is_ip_rel_memory_operand() {
        let address = instruction.ip_rel_memory_address();
        return match name_of(address) {
            Some(name) => format!("  # {address:#x} <{name}>"),
            None => format!("  # {address:#x}"),
        };
    }
    let mut kinds = (0..instruction.op_count()).map(|operand| instruction.op_kind(operand));
    if kinds.any(|kind| kind == OpKind::NearBranch64)
        && let Some(name) = name_of(instruction.near_branch_target())
    {
        return format!(" <{name}>");
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expected: &[(u64, &str)]) {
        let name = |address: u64| (address == 0x1010).then(|| "count".to_owned());
        let lines = disassemble(bytes, 0x1000, &name);
        let found: Vec<_> = lines
            .iter()
            .map(|line| (line.address, line.text.as_str()))
            .collect();
        assert_eq!(found, expected);
        let all: Vec<u8> = lines.iter().flat_map(|line| line.bytes.clone()).collect();
        assert!(bytes.starts_with(&all), "every byte once, in order");
    }

    #[test]
    fn instructions_are_written_with_the_names_of_their_places() {
        check(
            &[0x55, 0x48, 0x89, 0xe5],
            &[(0x1000, "push rbp"), (0x1001, "mov rbp, rsp")],
        );
        check(&[0xe8, 0x0b, 0, 0, 0], &[(0x1000, "call 0x1010 <count>")]);
        check(&[0xeb, 0x0e], &[(0x1000, "jmp 0x1010 <count>")]);
        check(
            &[0x8b, 0x05, 0x0a, 0, 0, 0],
            &[(0x1000, "mov eax, [rip+0xa]  # 0x1010 <count>")],
        );
        check(
            &[0xc7, 0x45, 0xfc, 0x40, 0, 0, 0],
            &[(0x1000, "mov dword ptr [rbp-4], 0x40")],
        );
    }

    #[test]
    fn bytes_that_are_no_instruction_are_passed_over_one_by_one() {
        check(&[0x06, 0xc3], &[(0x1000, "(bad)"), (0x1001, "ret")]);
    }

    #[test]
    fn an_instruction_that_is_cut_off_is_left_out() {
        check(&[0xc3, 0xe8, 0x0b], &[(0x1000, "ret")]);
        check(&[], &[]);
    }
}
