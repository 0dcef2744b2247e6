//! The control flow of a function, as needed to determine how often an instruction is
//! passed.

use crate::SymbolFile;
use crate::location::Uses;
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    Register,
};
use juror_arch::dwarf;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::ops::Range;

/// The instructions of a function by address, and the jumps between them.
pub(super) struct Code {
    instructions: BTreeMap<u64, Instruction>,
    /// The sources of the jumps to an instruction.
    jumps: FxHashMap<u64, Vec<u64>>,
    /// Whether some jumps have unknown targets.
    is_open: bool,
}

impl Code {
    /// Decodes the code of a function.
    pub fn of_function(file: &SymbolFile, ranges: &[Range<u64>]) -> Code {
        let mut instructions = BTreeMap::new();
        for range in ranges {
            let size = range.end.saturating_sub(range.start);
            if let Some(bytes) = file.bytes_at(range.start, size) {
                instructions.extend(decoded(range.start, &bytes));
            }
        }
        Code::of(instructions)
    }

    fn of(instructions: BTreeMap<u64, Instruction>) -> Code {
        let mut jumps: FxHashMap<u64, Vec<u64>> = FxHashMap::default();
        for (&at, instruction) in &instructions {
            if let Some(target) = jumps_to(instruction) {
                jumps.entry(target).or_default().push(at);
            }
        }
        let is_open = |it: &Instruction| it.flow_control() == FlowControl::IndirectBranch;
        Code {
            is_open: instructions.values().any(is_open),
            instructions,
            jumps,
        }
    }

    /// Returns the known sources of jumps to an instruction.
    pub fn jumps_to(&self, at: u64) -> &[u64] {
        self.jumps.get(&at).map_or(&[], Vec::as_slice)
    }

    /// Returns whether an instruction may be the target of a jump.
    pub fn may_be_jumped_to(&self, at: u64) -> bool {
        self.is_open || !self.jumps_to(at).is_empty()
    }

    /// Returns the preceding instruction if it falls through to this one.
    pub fn falls_into(&self, at: u64) -> Option<u64> {
        let (&before, instruction) = self.instructions.range(..at).next_back()?;
        (instruction.next_ip() == at && !ends(instruction)).then_some(before)
    }

    /// Returns the instructions from one on that are always executed with it: up to a
    /// branch or a jump target.
    pub fn straight_from(&self, at: u64) -> impl Iterator<Item = u64> {
        let mut goes_on = true;
        let from = self.instructions.range(at..);
        let mut expected = at;
        let block = from.take_while(move |(address, instruction)| {
            let is_next = goes_on && **address == expected;
            let is_joined = **address != at && !self.jumps_to(**address).is_empty();
            expected = instruction.next_ip();
            goes_on = goes_straight_on(instruction);
            is_next && !is_joined
        });
        block.map(|(address, _)| *address)
    }

    /// Returns the branch at the end of an instruction's basic block.
    pub fn branch_after(&self, at: u64) -> Option<u64> {
        let last = self.straight_from(at).last()?;
        let instruction = self.instructions.get(&last)?;
        (instruction.flow_control() == FlowControl::ConditionalBranch).then_some(last)
    }

    /// Returns the start of the alignment padding before an instruction, or its own
    /// address.
    pub fn padding_before(&self, at: u64) -> u64 {
        let before = self.instructions.range(..at).rev();
        let padding = before.scan(at, |next, (address, it)| {
            let is_padding = it.mnemonic() == Mnemonic::Nop && it.next_ip() == *next;
            *next = *address;
            is_padding.then_some(*address)
        });
        padding.last().unwrap_or(at)
    }

    /// Returns whether control always continues with the next instruction, possibly after a
    /// call.
    pub fn goes_on(&self, at: u64) -> bool {
        let instruction = self.instructions.get(&at);
        instruction.is_some_and(goes_straight_on)
    }

    /// Returns the instructions in these ranges.
    pub fn inside<'a>(&'a self, ranges: &'a [Range<u64>]) -> impl Iterator<Item = u64> + 'a {
        let of_range = |range: &Range<u64>| self.instructions.range(range.clone());
        let all = ranges.iter().flat_map(of_range);
        all.map(|(address, _)| *address)
    }

    /// Returns the instructions reachable from `entry` without executing any of `avoided`.
    /// Landing pads of exceptions and unknown jump targets are excluded.
    pub fn reached_without(&self, entry: u64, avoided: &[u64]) -> FxHashSet<u64> {
        let mut reached = FxHashSet::default();
        let mut rest = vec![entry];
        while let Some(at) = rest.pop() {
            let Some(instruction) = self.instructions.get(&at) else {
                continue;
            };
            if avoided.contains(&at) || !reached.insert(at) {
                continue;
            }
            rest.extend(jumps_to(instruction));
            if !ends(instruction) {
                rest.push(instruction.next_ip());
            }
        }
        reached
    }

    /// Returns whether an instruction is vector arithmetic.
    pub fn has_vector_arithmetic(&self, at: u64) -> bool {
        self.instructions.get(&at).is_some_and(is_vector_arithmetic)
    }

    /// Returns the changes made by the instructions from `from` up to `to`.
    pub fn changes(&self, from: u64, to: u64) -> Changes {
        let mut changes = Changes::default();
        let mut factory = InstructionInfoFactory::new();
        for instruction in self.instructions.range(from..to).map(|(_, it)| it) {
            let is_call = matches!(
                instruction.flow_control(),
                FlowControl::Call | FlowControl::IndirectCall
            );
            changes.calls |= is_call;
            let info = factory.info(instruction);
            let written = |access: OpAccess| {
                !matches!(
                    access,
                    OpAccess::None | OpAccess::Read | OpAccess::CondRead | OpAccess::NoMemAccess
                )
            };
            let registers = info.used_registers().iter();
            let registers = registers.filter(|it| written(it.access()));
            changes
                .registers
                .extend(registers.map(|it| it.register().full_register()));
            let is_push = instruction.mnemonic() == Mnemonic::Push;
            let mut memory = info.used_memory().iter();
            changes.memory |= !is_push && memory.any(|it| written(it.access()));
        }
        changes
    }
}

/// The registers and memory changed by some code.
#[derive(Debug, Default)]
pub(super) struct Changes {
    registers: FxHashSet<Register>,
    /// Memory other than by pushes.
    memory: bool,
    /// Calls, which may change anything.
    calls: bool,
}

impl Changes {
    /// Returns whether a value is unchanged by the code.
    pub fn leave(&self, uses: &Uses) -> bool {
        let mut registers = uses.registers.iter();
        let depends = uses.memory || !uses.registers.is_empty();
        let changes = self.calls
            || uses.memory && self.memory
            || registers.any(|number| self.has_register(*number));
        !(depends && changes)
    }

    /// Returns whether a register may change, by its DWARF number.
    fn has_register(&self, number: u16) -> bool {
        if let Some(encoding) = dwarf::encoding_of(number) {
            let register = Register::RAX + encoding as u32;
            self.registers.contains(&register)
        } else if let Some(index) = dwarf::vector_index(number) {
            let vector = Register::XMM0 + index as u32;
            self.registers.contains(&vector.full_register())
        } else {
            true
        }
    }
}

fn decoded(start: u64, bytes: &[u8]) -> BTreeMap<u64, Instruction> {
    let decoder = Decoder::with_ip(64, bytes, start, DecoderOptions::NONE);
    decoder.into_iter().map(|it| (it.ip(), it)).collect()
}

/// Returns whether control always continues with the next instruction, possibly after a
/// call.
fn goes_straight_on(instruction: &Instruction) -> bool {
    matches!(
        instruction.flow_control(),
        FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall
    )
}

/// Returns whether control never continues with the next instruction.
fn ends(instruction: &Instruction) -> bool {
    matches!(
        instruction.flow_control(),
        FlowControl::UnconditionalBranch
            | FlowControl::IndirectBranch
            | FlowControl::Return
            | FlowControl::Exception
    )
}

fn jumps_to(instruction: &Instruction) -> Option<u64> {
    let is_branch = matches!(
        instruction.flow_control(),
        FlowControl::ConditionalBranch
            | FlowControl::UnconditionalBranch
            | FlowControl::XbeginXabortXend
    );
    is_branch.then(|| instruction.near_branch_target())
}

/// Returns whether an instruction computes with several numbers at once. Compilers use
/// other vector instructions for scalars and copies, but not these.
fn is_vector_arithmetic(instruction: &Instruction) -> bool {
    const BEGINNINGS: [&str; 18] = [
        "Padd", "Psub", "Pmul", "Pmadd", "Pmin", "Pmax", "Pcmpeq", "Pcmpgt", "Pabs", "Pavg",
        "Psll", "Psra", "Psrl", "Por", "Pand", "Phadd", "Psad", "Pxor",
    ];
    const OF_FRACTIONS: [&str; 6] = ["Add", "Sub", "Mul", "Div", "Sqrt", "Fmadd"];
    let name = format!("{:?}", instruction.mnemonic());
    let name = match name.strip_prefix('V') {
        // The name continues without a capital letter.
        Some(rest) => capitalized(rest),
        None => name,
    };
    // `Pslldq` and `Psrldq` shift a whole register by bytes.
    let is_move = name.ends_with("dq") && (name.starts_with("Psll") || name.starts_with("Psrl"));
    let is_packed = name.ends_with("ps") || name.ends_with("pd");
    // A register compared or combined with itself yields a constant.
    let is_constant = (name.starts_with("Pcmp") || name == "Pxor")
        && instruction.op0_register() != Register::None
        && instruction.op0_register() == instruction.op1_register();
    let begins = |it: &str| name.starts_with(it);
    !is_move
        && !is_constant
        && (BEGINNINGS.iter().any(|it| begins(it))
            || is_packed && OF_FRACTIONS.iter().any(|it| begins(it)))
}

fn capitalized(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|it| it.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A loop while `edi` is not 0.
    #[rustfmt::skip]
    const LOOP: &[u8] = &[
        0x31, 0xc0,       // 0: xor eax, eax
        0x85, 0xff,       // 2: test edi, edi
        0x74, 0x04,       // 4: je 10
        0xff, 0xc0,       // 6: inc eax
        0xeb, 0xf8,       // 8: jmp 2
        0x0f, 0x1f, 0x00, // 10: nop
        0x90,             // 13: nop
        0xc3,             // 14: ret
    ];

    fn code(bytes: &[u8]) -> Code {
        Code::of(decoded(0, bytes))
    }

    #[test]
    fn jumps_are_known_by_their_targets() {
        let code = code(LOOP);
        assert_eq!((code.jumps_to(2), code.jumps_to(10)), (&[8][..], &[4][..]));
        assert_eq!(code.jumps_to(6), []);
        assert!(code.may_be_jumped_to(2) && !code.may_be_jumped_to(6));
        // jmp rax
        let open = Code::of(decoded(0, &[0xff, 0xe0, 0x90]));
        assert!(open.may_be_jumped_to(2));
    }

    #[test]
    fn what_is_executed_together_ends_at_branches_and_where_jumps_lead() {
        let code = code(LOOP);
        let from = |at| code.straight_from(at).collect::<Vec<u64>>();
        assert_eq!(from(0), [0]);
        assert_eq!(from(2), [2, 4]);
        assert_eq!(from(6), [6, 8]);
        assert_eq!(from(10), [10, 13, 14]);
        assert_eq!(code.branch_after(2), Some(4));
        assert_eq!(code.branch_after(6), None);
        assert_eq!(code.falls_into(2), Some(0));
        assert_eq!(code.falls_into(6), Some(4));
        assert_eq!(code.falls_into(10), None);
        assert!(code.goes_on(0) && !code.goes_on(4) && !code.goes_on(14));
    }

    #[test]
    fn padding_stands_before_what_it_aligns() {
        let code = code(LOOP);
        assert_eq!(code.padding_before(14), 10);
        assert_eq!(code.padding_before(6), 6);
    }

    #[test]
    fn ways_go_round_what_they_avoid() {
        let reached = |from, avoided: &[u64]| {
            let mut reached: Vec<u64> = code(LOOP)
                .reached_without(from, avoided)
                .into_iter()
                .collect();
            reached.sort_unstable();
            reached
        };
        assert_eq!(reached(0, &[6]), [0, 2, 4, 10, 13, 14]);
        assert_eq!(reached(6, &[4]), [2, 6, 8]);
        assert_eq!(reached(0, &[0]), []);
    }

    #[test]
    fn a_value_is_where_it_was_unless_that_is_changed() {
        let uses = |registers: &[u16], memory| Uses {
            registers: registers.to_vec(),
            memory,
        };
        let check = |bytes: &[u8], uses: &Uses, expected| {
            let changes = code(bytes).changes(0, bytes.len() as u64);
            assert_eq!(changes.leave(uses), expected, "{bytes:x?} {uses:?}");
        };
        let (rax, rbx, xmm1) = (uses(&[0], false), uses(&[3], false), uses(&[18], false));
        let xor_eax = [0x31, 0xc0];
        check(&xor_eax, &rax, false);
        check(&xor_eax, &rbx, true);
        check(&xor_eax, &uses(&[0], true), false);
        check(&xor_eax, &uses(&[3], true), true);
        // mov [rdi], al
        check(&[0x88, 0x07], &uses(&[3], true), false);
        check(&[0x88, 0x07], &rbx, true);
        // push rbx
        check(&[0x53], &uses(&[3], true), true);
        // movaps xmm1, xmm0
        check(&[0x0f, 0x28, 0xc8], &xmm1, false);
        check(&[0x0f, 0x28, 0xc1], &xmm1, true);
        // call 5
        check(&[0xe8, 0, 0, 0, 0], &rbx, false);
        check(&[0xe8, 0, 0, 0, 0], &uses(&[], false), true);
    }

    #[test]
    fn vector_arithmetic_is_told_from_copies() {
        for (bytes, expected) in [
            (&[0x66, 0x0f, 0xfe, 0xc1][..], true),  // paddd xmm0, xmm1
            (&[0xc5, 0xf9, 0xfe, 0xc1][..], true),  // vpaddd xmm0, xmm0, xmm1
            (&[0x0f, 0x58, 0xc1][..], true),        // addps xmm0, xmm1
            (&[0xf3, 0x0f, 0x58, 0xc1][..], false), // addss xmm0, xmm1
            (&[0x66, 0x0f, 0xef, 0xc0][..], false), // pxor xmm0, xmm0
            (&[0x66, 0x0f, 0xef, 0xc1][..], true),  // pxor xmm0, xmm1
            (&[0x66, 0x0f, 0x73, 0xf8, 0x04][..], false), // pslldq xmm0, 4
            (&[0x0f, 0x28, 0xc1][..], false),       // movaps xmm0, xmm1
            (&[0x01, 0xd8][..], false),             // add eax, ebx
        ] {
            assert_eq!(code(bytes).has_vector_arithmetic(0), expected, "{bytes:x?}");
        }
    }
}
